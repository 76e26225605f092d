/** Whether the management API answers, as the last calls found; the shell shows a banner while it does not. */
import { useSyncExternalStore } from 'react';

let isReachable = true;
const listeners = new Set<() => void>();

/** Whether that is news. */
export function setReachable(value: boolean): boolean {
  if (value === isReachable) return false;
  isReachable = value;
  for (const listener of listeners) listener();
  return true;
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const useIsReachable = (): boolean => useSyncExternalStore(subscribe, () => isReachable);
