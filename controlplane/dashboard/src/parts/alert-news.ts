/**
 * Whether something has happened that the person at this browser has not seen yet. What was seen last is a time in the
 * browser, one for each organization; nothing of the events themselves is kept.
 */
import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { api } from '../api/api.js';
import { useMe } from '../api/session.js';
import type { EventName } from './event-name.js';

/** So many of the newest events are looked at: those of one's own doing between them do not matter. */
const LOOKED_AT = 20;
const EVERY_MS = 30_000;
/** Whether somebody has to be told of it, or it is one's own doing. */
const CALLS: Readonly<Record<EventName, boolean>> = {
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

export const callsForSomebody = (event: EventName): boolean => CALLS[event];

/** The newest events, one question for all who ask. */
export const useLatestEvents = () =>
  useQuery({
    queryKey: ['events', 'latest'],
    queryFn: () => api.get('/v1/events', { params: { query: { limit: LOOKED_AT } } }),
    refetchInterval: EVERY_MS,
  });

/** Of the newest event that calls for somebody; null: there is none, or it is not known yet. */
function useNewest(): string | null {
  const events = useLatestEvents().data?.events ?? [];
  return events.find(({ event }) => callsForSomebody(event))?.occurredAt ?? null;
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

const keyOf = (orgId: string): string => `acg-alerts-seen-${orgId}`;

/** Browsers may forbid storage: then nothing was ever seen, and nothing is new either. */
export function seenUntil(orgId: string): string | null {
  try {
    return localStorage.getItem(keyOf(orgId));
  } catch {
    return null;
  }
}

/** `until` is the time of the newest event that was shown. */
export function markSeen(orgId: string, until: string): void {
  if ((seenUntil(orgId) ?? '') >= until) return;
  try {
    localStorage.setItem(keyOf(orgId), until);
  } catch {
    return;
  }
  for (const listener of listeners) listener();
}

export function useUnseenAlerts(): boolean {
  const orgId = useMe().data?.orgId ?? '';
  const newest = useNewest();
  const seen = useSyncExternalStore(subscribe, () => seenUntil(orgId));
  return newest !== null && newest > (seen ?? '');
}
