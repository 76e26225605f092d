/**
 * The calls to show. Live, the newest are asked for every two seconds and put before those that are here already; while
 * somebody has scrolled down or marked text, or the page is hidden, nothing moves under their eyes. Where the server says
 * that too many are looking, it is asked as rarely as it wants.
 */
import { ApiError } from '@acg/client/api-error';
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import {
  type CallFilters,
  type CallPage,
  type CallRow,
  filtersOf,
  LIVE_ROWS_MAX,
  readNewest,
  readPage,
} from './call-list.js';

const LIVE_MS = 2_000;
const SCROLLED_PX = 120;

interface ShownCalls {
  readonly query: UseQueryResult<CallPage>;
  /** Seconds until the next look, where the server has asked for patience; else 0. */
  readonly waiting: number;
  /** Calls that match and are not in the list. */
  readonly notShown: number;
  /** Live, but held still. */
  readonly paused: boolean;
}

export function useCalls(values: CallFilters, live: boolean): ShownCalls {
  const filters = filtersOf(values);
  const key = JSON.stringify(filters);
  const paused = useReading() && live;
  const query = useQuery({
    queryKey: ['calls', key, live ? 'newest' : values.page],
    queryFn: ({ signal }) => (live ? readNewest(filters) : readPage(filters, values.page, signal)),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (live && !paused ? Math.max(LIVE_MS, patienceMs(state.error)) : false),
    retry: (failures, error) => failures < 2 && !(error instanceof ApiError && error.status < 500),
  });
  const shown = useNewestFirst(query.isPlaceholderData ? undefined : query.data, key, live);
  const waiting = live ? Math.ceil(patienceMs(query.error) / 1_000) : 0;
  const data = shown ?? query.data;
  return {
    // Somebody who must wait still sees what was there.
    query: {
      ...query,
      data,
      error: waiting > 0 && data !== undefined ? null : query.error,
    } as UseQueryResult<CallPage>,
    waiting,
    notShown: data === undefined ? 0 : Math.max(0, data.total - data.logs.length),
    paused,
  };
}

const patienceMs = (error: unknown): number =>
  error instanceof ApiError && error.status === 429 ? (error.retryAfter ?? 5) * 1_000 : 0;

/** What has come so far, each once, newest first; null unless live. */
function useNewestFirst(page: CallPage | undefined, key: string, live: boolean): CallPage | null {
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
function useReading(): boolean {
  const [reading, setReading] = useState(false);
  useEffect(() => {
    const look = (): void =>
      setReading(document.hidden || scrollY > SCROLLED_PX || (getSelection()?.toString() ?? '') !== '');
    const events = ['scroll', 'selectionchange', 'visibilitychange'] as const;
    for (const event of events) document.addEventListener(event, look, { passive: true });
    return () => {
      for (const event of events) document.removeEventListener(event, look);
    };
  }, []);
  return reading;
}
