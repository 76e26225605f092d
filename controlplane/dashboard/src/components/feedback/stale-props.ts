/**
 * Attributes for content of a previous query that stays visible while the next one loads, so that the layout does not
 * jump. It is shown pale and marked as busy, because it does not match the current filters.
 */
export const staleProps = (isStale: boolean) => (isStale ? { 'data-stale': true, 'aria-busy': true } : {});
