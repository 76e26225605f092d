/** Queries of calls, and formats of their fields. */
import { ApiError } from '@acg/client/api-errors';
import { api } from '../../api/api-client.js';
import { formatCount, formatMilliseconds, formatUsd, NO_VALUE } from '../../format/format.js';

const PAGE_SIZE = 50;
/** Calls per request in live mode and of an export; the API's maximum. */
export const LIVE_PAGE_SIZE = 100;
export const LIVE_ROWS_MAX = 500;
/** Requests of one search before the user decides whether to continue; they take some seconds. */
const SEARCH_REQUESTS_MAX = 20;
/** A bound of an export for the browser. */
export const EXPORT_ROWS_MAX = 10_000;

export const DEFAULT_CALL_FILTERS = {
  agent: '',
  project: '',
  provider: '',
  model: '',
  status: '',
  /** `forwarded` or `rejected`; empty: both. */
  state: '',
  /** Why the gateway rejected the call. */
  reason: '',
  key: '',
  /** Id of a run. */
  run: '',
  /** US cents. */
  minCost: '',
  search: '',
  from: '',
  to: '',
  /** `off`: pages of calls instead of the live list. */
  live: 'on',
  /** Id of the open call; empty: none. */
  call: '',
  /** Where the page starts; empty: with the newest call. */
  cursor: '',
};

export type CallFilters = typeof DEFAULT_CALL_FILTERS;
export type CallPage = Awaited<ReturnType<typeof fetchNewestCalls>>;
export type CallRow = CallPage['calls'][number];

/**
 * Times in the address are instants in UTC, so that a link shows the same calls in every time zone. Text without a zone,
 * which older links have, is read as local time.
 */
const parseInstant = (text: string): string | null => {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
};

/** Returns only the filters that are set. */
export function toApiFilters(values: CallFilters) {
  const { agent, project, provider, model, status, state, reason, key, run, minCost, search, from, to } = values;
  const [startTime, endTime] = [parseInstant(from), parseInstant(to)];
  return {
    ...(agent === '' ? {} : { agentId: agent }),
    ...(project === '' ? {} : { projectId: project }),
    ...(minCost === '' || !Number.isFinite(Number(minCost)) ? {} : { minCost: Number(minCost) }),
    ...(provider === '' ? {} : { provider }),
    ...(model === '' ? {} : { model }),
    ...(status === '' ? {} : { status }),
    ...(state === 'forwarded' || state === 'rejected' ? { state: state as 'forwarded' | 'rejected' } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(key === '' ? {} : { keyId: key }),
    ...(run === '' ? {} : { runId: run }),
    ...(search === '' ? {} : { search }),
    ...(startTime === null ? {} : { startTime }),
    ...(endTime === null ? {} : { endTime }),
  };
}

export type ApiCallFilters = ReturnType<typeof toApiFilters>;

/** The newest calls, without searching further back: the live list repeats this request. */
export const fetchNewestCalls = (filters: ApiCallFilters) =>
  api.get('/v1/usage/calls', { params: { query: { ...filters, limit: LIVE_PAGE_SIZE } } });

/** A page of calls, searching back as far as needed. `cursor`: '' for the newest calls. */
export async function fetchCallPage(filters: ApiCallFilters, cursor: string, signal: AbortSignal): Promise<CallPage> {
  const load = (limit: number, from: string) =>
    api.get('/v1/usage/calls', {
      params: { query: { ...filters, limit, ...(from === '' ? {} : { cursor: from }) } },
      signal,
    });
  let page = await load(PAGE_SIZE, cursor);
  for (let requests = 1; requests < SEARCH_REQUESTS_MAX && page.searchedFrom !== null; requests++) {
    const older = await load(PAGE_SIZE - page.calls.length, page.nextCursor ?? '');
    page = { ...older, calls: [...page.calls, ...older.calls] };
  }
  return page;
}

/** A call by its id: the record of a forwarded one, or else a rejected one, which is found by its request id. */
export async function fetchCall(id: string): Promise<Pick<CallRow, 'forwarded' | 'rejected'>> {
  try {
    const { log } = await api.get('/v1/usage/logs/{id}', { params: { path: { id } } });
    return { forwarded: log, rejected: null };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    const { calls } = await api.get('/v1/usage/calls', { params: { query: { search: id, limit: 100 } } });
    const call = calls.find((row) => row.id === id);
    if (call === undefined) throw error;
    return call;
  }
}

/** US dollars; null: the gateway rejected the call. */
export const costUsdOf = ({ forwarded }: CallRow): number | null =>
  forwarded === null ? null : forwarded.costCents / 100;
export const formatCost = (call: CallRow): string => formatUsd(costUsdOf(call));
export const formatLatency = ({ forwarded }: CallRow): string => formatMilliseconds(forwarded?.durationMs ?? null);
export const formatTokens = ({ forwarded }: CallRow): string =>
  forwarded === null || forwarded.tokensIn + forwarded.tokensOut === 0
    ? NO_VALUE
    : `${formatCount(forwarded.tokensIn)} → ${formatCount(forwarded.tokensOut)}`;
