/**
 * Whether something has happened that the person at this browser has not seen yet. What was seen last is a time in the
 * browser, one for each organization; nothing of the events themselves is kept.
 */
import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { api } from '../api/api-client.js';
import { useMe } from '../api/session.js';
import type { EventName } from '../messages/event-labels.js';

/** So many of the newest events are looked at: those of one's own doing between them do not matter. */
const LATEST_EVENTS_LIMIT = 20;
const REFETCH_MS = 30_000;
/** Whether somebody has to be told of it, or it is one's own doing. */
const NEEDS_ATTENTION: Readonly<Record<EventName, boolean>> = {
  'agent.created': false,
  'agent.deleted': false,
  'agent.budget_exceeded': true,
  'provider.circuit_opened': true,
  'provider.circuit_closed': true,
  'abuse.detected': true,
  'credential.refused': true,
  'credential.accepted': true,
  'webhook.paused': true,
  'usage.threshold': true,
};

export const needsAttention = (event: EventName): boolean => NEEDS_ATTENTION[event];

/** The newest events, one question for all who ask. */
export const useLatestEvents = () =>
  useQuery({
    queryKey: ['events', 'latest'],
    queryFn: () => api.get('/v1/events', { params: { query: { limit: LATEST_EVENTS_LIMIT } } }),
    refetchInterval: REFETCH_MS,
  });

/** Of the newest event that calls for somebody; null: there is none, or it is not known yet. */
function useNewestAlertTime(): string | null {
  const events = useLatestEvents().data?.events ?? [];
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

/** Browsers may forbid storage: then nothing was ever seen, and nothing is new either. */
export function readSeenUntil(orgId: string): string | null {
  try {
    return localStorage.getItem(storageKey(orgId));
  } catch {
    return null;
  }
}

/** `until` is the time of the newest event that was shown. */
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
