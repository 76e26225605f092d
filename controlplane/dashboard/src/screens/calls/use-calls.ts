/**
 * The calls to show. Live, the newest are asked for every two seconds and put before those that are here already; while
 * somebody has scrolled down or marked text, or the page is hidden, nothing moves under their eyes. Where the server says
 * that too many are looking, it is asked as rarely as it wants.
 */
import { ApiError } from '@acg/client/api-errors';
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import {
  type CallFilters,
  type CallPage,
  type CallRow,
  fetchCallPage,
  fetchNewestCalls,
  LIVE_ROWS_MAX,
  toApiFilters,
} from './call-queries.js';

const LIVE_REFETCH_MS = 2_000;
const SCROLLED_PX = 120;

interface CallListState {
  readonly query: UseQueryResult<CallPage>;
  /** Seconds until the next look, where the server has asked for patience; else 0. */
  readonly waitSeconds: number;
  /** Calls that match and are not in the list. */
  readonly hiddenCount: number;
  /** Live, but held still. */
  readonly isPaused: boolean;
}

export function useCalls(values: CallFilters, live: boolean): CallListState {
  const filters = toApiFilters(values);
  const key = JSON.stringify(filters);
  const paused = useIsReading() && live;
  const query = useQuery({
    queryKey: ['calls', key, live ? 'newest' : values.page],
    queryFn: ({ signal }) => (live ? fetchNewestCalls(filters) : fetchCallPage(filters, values.page, signal)),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (live && !paused ? Math.max(LIVE_REFETCH_MS, retryAfterMs(state.error)) : false),
    retry: (failures, error) => failures < 2 && !(error instanceof ApiError && error.status < 500),
  });
  const shown = useLiveRows(query.isPlaceholderData ? undefined : query.data, key, live);
  const waiting = live ? Math.ceil(retryAfterMs(query.error) / 1_000) : 0;
  const data = shown ?? query.data;
  return {
    // Somebody who must wait still sees what was there.
    query: {
      ...query,
      data,
      error: waiting > 0 && data !== undefined ? null : query.error,
    } as UseQueryResult<CallPage>,
    waitSeconds: waiting,
    hiddenCount: data === undefined ? 0 : Math.max(0, data.total - data.logs.length),
    isPaused: paused,
  };
}

const retryAfterMs = (error: unknown): number =>
  error instanceof ApiError && error.status === 429 ? (error.retryAfter ?? 5) * 1_000 : 0;

/** What has come so far, each once, newest first; null unless live. */
function useLiveRows(page: CallPage | undefined, key: string, live: boolean): CallPage | null {
  const seen = useRef<{ key: string; rows: readonly CallRow[] }>({ key: '', rows: [] });
  return useMemo(() => {
    if (!live || page === undefined) return null;
    const before = seen.current.key === key ? seen.current.rows : [];
    const fresh = new Set(page.logs.map(({ id }) => id));
    const rows = [...page.logs, ...before.filter(({ id }) => !fresh.has(id))].slice(0, LIVE_ROWS_MAX);
    seen.current = { key, rows };
    return { ...page, logs: [...rows] };
  }, [page, key, live]);
}

/** Whether somebody reads: has scrolled down or marked text, or looks elsewhere. */
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
