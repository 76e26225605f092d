/** Queries of the audit trail. */
import { api } from '../../api/api-client.js';

export const DEFAULT_AUDIT_FILTERS = { action: '', actor: '', start: '', end: '', page: 1 };
export const PAGE_SIZE = 50;

export type AuditEntry = Awaited<ReturnType<typeof fetchAuditEntries>>['entries'][number];

export function fetchAuditEntries({ action, actor, start, end, page }: typeof DEFAULT_AUDIT_FILTERS) {
  const filters = {
    ...(action === '' ? {} : { action }),
    ...(actor === '' ? {} : { actorId: actor }),
    ...(start === '' ? {} : { start }),
    ...(end === '' ? {} : { end }),
  };
  const query = { ...filters, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE };
  return api.get('/v1/audit', { params: { query } });
}
