/** Does nothing. For callbacks whose result the caller does not need. */
export const noop = (): void => {};
