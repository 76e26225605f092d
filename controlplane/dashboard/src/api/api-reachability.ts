/** Whether the management API responded to the last calls. The shell shows a banner while it does not. */
import { useSyncExternalStore } from 'react';

let isReachable = true;
const listeners = new Set<() => void>();

/** Returns true when the value changed. */
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
