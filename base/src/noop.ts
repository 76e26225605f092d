/** For callbacks whose outcome is known or does not matter where they are passed. */
export const noop = (): void => {};
