/** What is asked of the audit trail. */
import { api } from '../../api/api.js';

export const AUDIT_FILTERS = { action: '', actor: '', start: '', end: '', page: 1 };
export const PAGE_SIZE = 50;

export type AuditEntry = Awaited<ReturnType<typeof readEntries>>['entries'][number];

export function readEntries({ action, actor, start, end, page }: typeof AUDIT_FILTERS) {
  const filters = {
    ...(action === '' ? {} : { action }),
    ...(actor === '' ? {} : { actorId: actor }),
    ...(start === '' ? {} : { start }),
    ...(end === '' ? {} : { end }),
  };
  const query = { ...filters, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE };
  return api.get('/v1/audit', { params: { query } });
}
