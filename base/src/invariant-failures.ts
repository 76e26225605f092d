/**
 * Checks of conditions that hold unless this program has a fault. A failed check never ends the process: it is counted
 * by name, logged once per name, and the caller takes the safe path. One set of counts per process.
 */
import type { Logger } from './log.js';

const failures = new Map<string, number>();
let logger: Pick<Logger, 'error'> | null = null;

/**
 * Returns `condition`, so that the caller can take the safe path when it is false.
 *
 * @param name Identifies the check in the log and in `gateway_invariant_failures_total`. A literal, never tenant data.
 */
export function invariant(condition: boolean, name: string): boolean {
  if (!condition) recordFailure(name);
  return condition;
}

/** Number of failed checks since the process started, by name. */
export const invariantFailures = (): ReadonlyMap<string, number> => failures;

/** Logs the first failure of each check to `log` from now on. */
export function logInvariantFailures(log: Pick<Logger, 'error'>): void {
  logger = log;
}

function recordFailure(name: string): void {
  const count = failures.get(name) ?? 0;
  failures.set(name, count + 1);
  if (count === 0) logger?.error({ invariant: name, stack: new Error(name).stack }, 'invariant failed');
}
