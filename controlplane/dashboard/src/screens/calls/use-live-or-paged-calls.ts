/**
 * The calls to show. In live mode the newest calls are fetched every 2 s and put before the loaded ones. The list
 * stands still while the user has scrolled down or selected text, or the page is hidden. After a 429 the next request
 * waits as long as Retry-After says.
 */
import { ApiError } from '@acg/client/api-errors';
import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useQuery } from '../../api/use-query.js';
import {
  type CallFilters,
  type CallPage,
  type CallRow,
  fetchCallPage,
  fetchNewestCalls,
  LIVE_ROWS_MAX,
  toApiFilters,
} from './fetch-calls-and-format-fields.js';

const LIVE_REFETCH_MS = 2_000;
const SCROLLED_PX = 120;

interface CallListState {
  readonly query: UseQueryResult<CallPage>;
  /** Seconds until the next request, after the server's 429; otherwise 0. */
  readonly waitSeconds: number;
  /** Live, but held still while the user reads. */
  readonly isPaused: boolean;
}

export function useLiveOrPagedCalls(values: CallFilters, live: boolean): CallListState {
  const filters = toApiFilters(values);
  const key = JSON.stringify(filters);
  const isPaused = useIsReading() && live;
  const query = useQuery({
    queryKey: ['calls', key, live ? 'newest' : values.cursor],
    queryFn: ({ signal }) => (live ? fetchNewestCalls(filters) : fetchCallPage(filters, values.cursor, signal)),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (live && !isPaused ? Math.max(LIVE_REFETCH_MS, retryAfterMs(state.error)) : false),
    retry: (failures, error) => failures < 2 && !(error instanceof ApiError && error.status < 500),
  });
  const shown = useLiveRows(query.isPlaceholderData ? undefined : query.data, key, live);
  const waitSeconds = live ? Math.ceil(retryAfterMs(query.error) / 1_000) : 0;
  const data = shown ?? query.data;
  return {
    // While waiting after a 429, the loaded calls stay visible instead of the error.
    query: {
      ...query,
      data,
      error: waitSeconds > 0 && data !== undefined ? null : query.error,
    } as UseQueryResult<CallPage>,
    waitSeconds,
    isPaused,
  };
}

const retryAfterMs = (error: unknown): number =>
  error instanceof ApiError && error.status === 429 ? (error.retryAfter ?? 5) * 1_000 : 0;

/** All calls loaded so far, without duplicates, newest first; null unless live. */
function useLiveRows(page: CallPage | undefined, key: string, live: boolean): CallPage | null {
  const seen = useRef<{ key: string; rows: readonly CallRow[] }>({ key: '', rows: [] });
  return useMemo(() => {
    if (!live || page === undefined) return null;
    const before = seen.current.key === key ? seen.current.rows : [];
    const fresh = new Set(page.calls.map(({ id }) => id));
    const rows = [...page.calls, ...before.filter(({ id }) => !fresh.has(id))].slice(0, LIVE_ROWS_MAX);
    seen.current = { key, rows };
    return { ...page, calls: [...rows] };
  }, [page, key, live]);
}

/** Whether the user is reading: scrolled down, selected text, or left the tab. */
function useIsReading(): boolean {
  const [reading, setReading] = useState(false);
  useEffect(() => {
    const updateReading = (): void =>
      setReading(document.hidden || scrollY > SCROLLED_PX || (getSelection()?.toString() ?? '') !== '');
    const events = ['scroll', 'selectionchange', 'visibilitychange'] as const;
    for (const event of events) document.addEventListener(event, updateReading, { passive: true });
    return () => {
      for (const event of events) document.removeEventListener(event, updateReading);
    };
  }, []);
  return reading;
}
