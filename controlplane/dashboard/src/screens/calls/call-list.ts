/** What is asked of calls, and how one of them reads. */
import { api } from '../../api/api.js';
import { milliseconds } from '../../format/format.js';

export const PAGE_SIZE = 50;
/** Of the newest calls, each time; the most that the API gives at once. */
export const LIVE_SIZE = 100;
export const LIVE_ROWS_MAX = 500;

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
export type CallPage = Awaited<ReturnType<typeof readCalls>>;
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

export const readCalls = (filters: ReturnType<typeof filtersOf>, limit: number, offset: number) =>
  api.get('/v1/usage/logs', { params: { query: { ...filters, limit, offset } } });

export const toneOf = ({ status, error }: CallRow): 'good' | 'warn' | 'bad' => {
  if (status >= 500 || error !== null) return 'bad';
  return status >= 400 ? 'warn' : 'good';
};

/** US dollars. */
export const costOf = ({ costCents }: CallRow): number => costCents / 100;
export const latencyOf = ({ durationMs }: CallRow): string => milliseconds(durationMs);
