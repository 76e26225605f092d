import type { Sql } from '../db/postgres-client.js';
import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { type AuditRow, listAuditEntries } from './audit-list-and-prune-store.js';
import { type AuditEntry, AuditList, AuditQuery } from './schema.js';

export function auditRoutes(app: App, sql: Sql): void {
  app.get(
    '/v1/audit',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Audit', 'listAuditEntries', 'List the entries of the audit trail, newest first'),
        querystring: AuditQuery,
        response: { 200: AuditList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await listAuditEntries(sql, actor.orgId, query, { limit, offset });
      return { entries: rows.map(present), total, limit, offset };
    },
  );
}

const present = ({ id, at, action, targetType, targetId, targetName, ip, changes, ...who }: AuditRow): AuditEntry => ({
  id,
  at: at.toISOString(),
  actor:
    who.tokenId === null
      ? { userId: who.userId, email: who.email }
      : { tokenId: who.tokenId, name: who.tokenName ?? '' },
  action,
  target: { type: targetType, id: targetId, name: targetName },
  ip,
  changes,
});
