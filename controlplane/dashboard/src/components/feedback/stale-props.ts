/**
 * While the answer to another question is on its way, e.g. for another time, what was shown before stays, so that nothing
 * jumps. It must not pass for that answer: it is pale, and said to be busy. For the element around it.
 */
export const staleProps = (isStale: boolean) => (isStale ? { 'data-stale': true, 'aria-busy': true } : {});
