/** Converts audit entries to CSV (RFC 4180). */
import type { AuditEntry } from './fetch-audit-entries.js';

/** Prefixes text that a spreadsheet would run as a formula. */
function escapeCell(text: string): string {
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

export function auditEntriesToCsv(entries: readonly AuditEntry[]): string {
  const rows = entries.map(({ at, actor, action, target, ip, changes }) => [
    at,
    'email' in actor ? actor.email : `token ${actor.name}`,
    action,
    target.type,
    target.id,
    ip,
    JSON.stringify(changes),
  ]);
  return [['at', 'actor', 'action', 'targetType', 'targetId', 'ip', 'changes'], ...rows]
    .map((row) => `${row.map(escapeCell).join(',')}\r\n`)
    .join('');
}
