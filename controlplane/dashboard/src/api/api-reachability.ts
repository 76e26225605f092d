/**
 * Whether the management API responds, and whether it responds in time. The shell shows one banner for the whole page
 * with the cause and since when.
 */
import { useEffect, useState, useSyncExternalStore } from 'react';

/** `database`: the control plane responds and says that its database is away. */
type Cause = 'offline' | 'unreachable' | 'timeout' | 'database';

export interface Outage {
  readonly cause: Cause;
  /** Unix ms. */
  readonly sinceMs: number;
}

let outage: Outage | null = null;
const listeners = new Set<() => void>();
const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Null: it responds. Returns true when an outage began or ended; another cause keeps its beginning. */
export function setOutage(cause: Cause | null): boolean {
  const before = outage;
  if (cause === (before?.cause ?? null)) return false;
  outage = cause === null ? null : { cause, sinceMs: before?.sinceMs ?? Date.now() };
  for (const listener of listeners) listener();
  return (before === null) !== (cause === null);
}

export const getOutage = (): Outage | null => outage;
export const useOutage = (): Outage | null => useSyncExternalStore(subscribe, () => outage);

/** What takes longer is said to the user, ms. */
const SLOW_MS = 3_000;
/** Start of what the page waits for: reads and parts of the program, Unix ms. */
const waits = new Map<symbol, number>();

/** Counts the promise as something that the page waits for. */
export function trackWait<T>(promise: Promise<T>): Promise<T> {
  const wait = Symbol('wait');
  waits.set(wait, Date.now());
  for (const listener of listeners) listener();
  return promise.finally(() => {
    waits.delete(wait);
    for (const listener of listeners) listener();
  });
}

/** Whether the page waits for something. */
export const hasWaits = (): boolean => waits.size > 0;

const oldestWait = (): number | null => (waits.size === 0 ? null : Math.min(...waits.values()));

/** Start of the oldest wait, once it has lasted {@link SLOW_MS}; otherwise null. */
export function useSlowSince(): number | null {
  const oldest = useSyncExternalStore(subscribe, oldestWait);
  const [slow, setSlow] = useState<number | null>(null);
  useEffect(() => {
    if (oldest === null) return undefined;
    const timer = setTimeout(() => setSlow(oldest), Math.max(0, oldest + SLOW_MS - Date.now()));
    return () => clearTimeout(timer);
  }, [oldest]);
  // A wait that has ended is no longer slow.
  return slow === oldest ? slow : null;
}
