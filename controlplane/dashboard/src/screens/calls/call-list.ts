/** What is asked of calls, and how one of them reads. */
import { searchBack } from '@acg/client/search-back';
import { api } from '../../api/api.js';
import { milliseconds } from '../../format/format.js';

export const PAGE_SIZE = 50;
/** Of the newest calls, each time; the most that the API gives at once. */
const LIVE_SIZE = 100;
export const LIVE_ROWS_MAX = 500;
/** Of one search before somebody says whether to go on: some seconds. */
const ANSWERS_MAX = 20;

export const CALL_FILTERS = {
  agent: '',
  provider: '',
  model: '',
  status: '',
  key: '',
  search: '',
  from: '',
  to: '',
  /** `off`: pages instead of the newest ones. */
  live: 'on',
  /** The one that is looked at. */
  call: '',
  page: 1,
};

export type CallFilters = typeof CALL_FILTERS;
export type CallPage = Awaited<ReturnType<typeof readNewest>>;
export type CallRow = CallPage['logs'][number];

/** A local time of an input as the API takes it. */
const instant = (local: string): string | null => {
  const ms = Date.parse(local);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
};

/** Only what is set. */
export function filtersOf({ agent, provider, model, status, key, search, from, to }: CallFilters) {
  const [startTime, endTime] = [instant(from), instant(to)];
  return {
    ...(agent === '' ? {} : { agentId: agent }),
    ...(provider === '' ? {} : { provider }),
    ...(model === '' ? {} : { model }),
    ...(status === '' ? {} : { status }),
    ...(key === '' ? {} : { keyId: key }),
    ...(search === '' ? {} : { search }),
    ...(startTime === null ? {} : { startTime }),
    ...(endTime === null ? {} : { endTime }),
  };
}

type Asked = ReturnType<typeof filtersOf>;

/** The newest ones, as far as one answer looks: they are asked for again and again. */
export const readNewest = (filters: Asked) =>
  api.get('/v1/usage/logs', { params: { query: { ...filters, limit: LIVE_SIZE, offset: 0 } } });

/** A page, however far back its calls are found. */
export function readPage(filters: Asked, page: number, signal: AbortSignal): Promise<CallPage> {
  const load = (query: object) => api.get('/v1/usage/logs', { params: { query: { ...filters, ...query } }, signal });
  const { endTime } = filters;
  const range = endTime === undefined ? {} : { endTime };
  return searchBack(load, { ...range, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE }, ANSWERS_MAX);
}

/** What `instant` reads as the same time. */
export function localTime(at: string): string {
  const ms = Date.parse(at);
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}

/** US dollars. */
export const costOf = ({ costCents }: CallRow): number => costCents / 100;
export const latencyOf = ({ durationMs }: CallRow): string => milliseconds(durationMs);
