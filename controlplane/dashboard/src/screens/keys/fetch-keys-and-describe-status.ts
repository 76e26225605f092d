/** Queries of the organization's gateway tokens, and their display status. */
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';

export const PAGE_SIZE = 25;
export const DEFAULT_KEY_FILTERS = { search: '', project: '', status: '', sort: 'createdAt', order: 'desc', page: 1 };
type KeyFilters = typeof DEFAULT_KEY_FILTERS;

export const STATUSES = ['active', 'expired', 'revoked'] as const;
const SORTS = ['createdAt', 'name', 'lastUsedAt', 'expiresAt'] as const;

export function fetchKeys({ search, project, status, sort, order, page }: KeyFilters) {
  const known = STATUSES.find((name) => name === status);
  const query = {
    sort: SORTS.find((name) => name === sort) ?? 'createdAt',
    order: order === 'asc' ? ('asc' as const) : ('desc' as const),
    limit: PAGE_SIZE,
    offset: (page - 1) * PAGE_SIZE,
    ...(search.trim() === '' ? {} : { search: search.trim() }),
    ...(project === '' ? {} : { projectId: project }),
    ...(known === undefined ? {} : { status: known }),
  };
  return api.get('/v1/api-keys', { params: { query } });
}

export type Key = Awaited<ReturnType<typeof fetchKeys>>['keys'][number];

export const fetchKey = async (id: string) => (await api.get('/v1/api-keys/{id}', { params: { path: { id } } })).key;

export const refreshKeys = (): void => void queryClient.invalidateQueries({ queryKey: ['keys'] });

const MS_PER_DAY = 86_400_000;
const SOON_DAYS = 7;
const UNUSED_DAYS = 30;

interface KeyState {
  readonly tone: 'success' | 'warning' | 'error' | 'neutral';
  readonly text: string;
}

/** The most important fact about a token. */
export function describeKeyState({ status, replacedBy, expiresAt, lastUsedAt }: Key, nowMs: number): KeyState {
  if (status === 'revoked') return { tone: 'error', text: 'revoked' };
  if (status === 'expired') return { tone: 'error', text: 'expired' };
  if (replacedBy !== null) return { tone: 'warning', text: 'replaced, still valid' };
  if (expiresAt !== null && Date.parse(expiresAt) - nowMs < SOON_DAYS * MS_PER_DAY) {
    return { tone: 'warning', text: 'expires soon' };
  }
  if (lastUsedAt === null) return { tone: 'neutral', text: 'never used' };
  if (nowMs - Date.parse(lastUsedAt) > UNUSED_DAYS * MS_PER_DAY) {
    return { tone: 'warning', text: `unused for ${UNUSED_DAYS} days` };
  }
  return { tone: 'success', text: 'in use' };
}
