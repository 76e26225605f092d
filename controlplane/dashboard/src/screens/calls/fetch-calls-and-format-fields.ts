/** Queries of calls, and formats of their fields. */
import { searchOlderCalls } from '@acg/client/search-older-calls';
import { api } from '../../api/api-client.js';
import { formatMilliseconds } from '../../format/format.js';

export const PAGE_SIZE = 50;
/** Newest calls per request in live mode; the API's maximum. */
const LIVE_PAGE_SIZE = 100;
export const LIVE_ROWS_MAX = 500;
/** Requests of one search before the user decides whether to continue; they take some seconds. */
const SEARCH_REQUESTS_MAX = 20;

export const DEFAULT_CALL_FILTERS = {
  agent: '',
  project: '',
  provider: '',
  model: '',
  status: '',
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
  page: 1,
};

export type CallFilters = typeof DEFAULT_CALL_FILTERS;
export type CallPage = Awaited<ReturnType<typeof fetchNewestCalls>>;
export type CallRow = CallPage['logs'][number];

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
  const { agent, project, provider, model, status, key, run, minCost, search, from, to } = values;
  const [startTime, endTime] = [parseInstant(from), parseInstant(to)];
  return {
    ...(agent === '' ? {} : { agentId: agent }),
    ...(project === '' ? {} : { projectId: project }),
    ...(minCost === '' || !Number.isFinite(Number(minCost)) ? {} : { minCost: Number(minCost) }),
    ...(provider === '' ? {} : { provider }),
    ...(model === '' ? {} : { model }),
    ...(status === '' ? {} : { status }),
    ...(key === '' ? {} : { keyId: key }),
    ...(run === '' ? {} : { runId: run }),
    ...(search === '' ? {} : { search }),
    ...(startTime === null ? {} : { startTime }),
    ...(endTime === null ? {} : { endTime }),
  };
}

type ApiCallFilters = ReturnType<typeof toApiFilters>;

/** The newest calls, without searching further back: the live list repeats this request. */
export const fetchNewestCalls = (filters: ApiCallFilters) =>
  api.get('/v1/usage/logs', { params: { query: { ...filters, limit: LIVE_PAGE_SIZE, offset: 0 } } });

/** A page of calls, searching back as far as needed. */
export function fetchCallPage(filters: ApiCallFilters, page: number, signal: AbortSignal): Promise<CallPage> {
  const load = (query: object) => api.get('/v1/usage/logs', { params: { query: { ...filters, ...query } }, signal });
  const { endTime } = filters;
  const range = endTime === undefined ? {} : { endTime };
  return searchOlderCalls(load, { ...range, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE }, SEARCH_REQUESTS_MAX);
}

/** US dollars. */
export const costUsdOf = ({ costCents }: CallRow): number => costCents / 100;
export const formatLatency = ({ durationMs }: CallRow): string => formatMilliseconds(durationMs);
