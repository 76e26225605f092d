/** Converts audit entries to CSV. */
import { toCsv } from '../../format/csv.js';
import type { AuditEntry } from './fetch-audit-entries.js';

export function auditEntriesToCsv(entries: readonly AuditEntry[]): string {
  const rows = entries.map(({ at, actor, action, target, ip, changes }) => [
    at,
    'email' in actor ? actor.email : `token ${actor.name}`,
    action,
    target.type,
    target.id,
    target.name,
    ip,
    JSON.stringify(changes),
  ]);
  return toCsv(['at', 'actor', 'action', 'targetType', 'targetId', 'targetName', 'ip', 'changes'], rows);
}
