/** Whether the management API answers, as the last calls found; the shell shows a banner while it does not. */
import { useSyncExternalStore } from 'react';

let reachable = true;
const listeners = new Set<() => void>();

export function setReachable(value: boolean): void {
  if (value === reachable) return;
  reachable = value;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const useReachable = (): boolean => useSyncExternalStore(subscribe, () => reachable);
