/** Queries of the audit trail. */
import { api } from '../../api/api-client.js';

export const DEFAULT_AUDIT_FILTERS = { action: '', actor: '', target: '', search: '', start: '', end: '', page: 1 };
export const PAGE_SIZE = 50;

export type AuditEntry = Awaited<ReturnType<typeof fetchAuditEntries>>['entries'][number];

const EXPORT_PAGE_SIZE = 100;
/** A bound for the browser; the page says when there are more. */
export const EXPORTED_MAX = 10_000;

/** All entries of the filters, up to {@link EXPORTED_MAX}. */
export async function fetchAllAuditEntries(filters: typeof DEFAULT_AUDIT_FILTERS) {
  const entries: AuditEntry[] = [];
  for (;;) {
    const query = { ...toQuery(filters), limit: EXPORT_PAGE_SIZE, offset: entries.length };
    const reply = await api.get('/v1/audit', { params: { query } });
    entries.push(...reply.entries);
    if (reply.entries.length === 0 || entries.length >= reply.total) return { entries, isComplete: true };
    if (entries.length >= EXPORTED_MAX) return { entries, isComplete: false };
  }
}

export function fetchAuditEntries(filters: typeof DEFAULT_AUDIT_FILTERS, order: 'asc' | 'desc') {
  const query = { ...toQuery(filters), order, limit: PAGE_SIZE, offset: (filters.page - 1) * PAGE_SIZE };
  return api.get('/v1/audit', { params: { query } });
}

function toQuery({ action, actor, target, search, start, end }: typeof DEFAULT_AUDIT_FILTERS) {
  return {
    ...(action === '' ? {} : { action }),
    ...(actor === '' ? {} : { actorId: actor }),
    ...(target === '' ? {} : { targetId: target }),
    ...(search === '' ? {} : { search }),
    ...(start === '' ? {} : { start }),
    ...(end === '' ? {} : { end }),
  };
}
