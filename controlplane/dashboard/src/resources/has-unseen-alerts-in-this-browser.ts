/**
 * Whether there are alerts that the user of this browser has not seen. Only the time of the last seen alert is stored
 * in the browser, one for each organization; no event data.
 */

import { useSyncExternalStore } from 'react';
import { api } from '../api/api-client.js';
import { useMe } from '../api/session.js';
import { useQuery } from '../api/use-query.js';
import { useEventTypes } from './use-event-types.js';

/** Number of newest events that are checked; it covers routine events between alerts. */
const LATEST_EVENTS_LIMIT = 20;
const REFETCH_MS = 30_000;

/** The newest events; all users of this hook share one request. */
export const useLatestEvents = () =>
  useQuery({
    queryKey: ['events', 'latest'],
    queryFn: () => api.get('/v1/events', { params: { query: { limit: LATEST_EVENTS_LIMIT } } }),
    refetchInterval: REFETCH_MS,
  });

/** Time of the newest alert; null: none, or still loading. */
function useNewestAlertTime(): string | null {
  const events = useLatestEvents().data?.events ?? [];
  const { needsAttention } = useEventTypes();
  return events.find(({ event }) => needsAttention(event))?.occurredAt ?? null;
}

const listeners = new Set<() => void>();
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
}

const storageKey = (orgId: string): string => `acg-alerts-seen-${orgId}`;

/** If the browser blocks storage, no alert counts as seen, and none is shown as new. */
export function readSeenUntil(orgId: string): string | null {
  try {
    return localStorage.getItem(storageKey(orgId));
  } catch {
    return null;
  }
}

/** `until` is the time of the newest event shown. */
export function markAlertsSeen(orgId: string, until: string): void {
  if ((readSeenUntil(orgId) ?? '') >= until) return;
  try {
    localStorage.setItem(storageKey(orgId), until);
  } catch {
    return;
  }
  for (const listener of listeners) listener();
}

export function useHasUnseenAlerts(): boolean {
  const orgId = useMe().data?.orgId ?? '';
  const newest = useNewestAlertTime();
  const seen = useSyncExternalStore(subscribe, () => readSeenUntil(orgId));
  return newest !== null && newest > (seen ?? '');
}
