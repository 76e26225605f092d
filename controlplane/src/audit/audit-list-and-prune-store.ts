import { deleteInBatches, ROWS_PER_BATCH } from '../db/delete-in-batches.js';
import { containsPattern } from '../db/like-pattern.js';
import { orderBy, type Sorting } from '../db/order-by.js';
import type { Sql } from '../db/postgres-client.js';
import { SHOWN_ENDPOINT_URL } from '../db/shown-endpoint-url.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';

export interface AuditRow {
  readonly id: string;
  readonly at: Date;
  readonly userId: string | null;
  readonly email: string;
  readonly tokenId: string | null;
  readonly tokenName: string | null;
  readonly action: string;
  readonly targetType: string;
  readonly targetId: string;
  readonly targetName: string | null;
  readonly ip: string;
  readonly changes: Record<string, unknown[]>;
}

/** Absent fields do not filter; `start` and `end` are UTC days, both inclusive. */
interface AuditFilter extends Sorting<'at'> {
  readonly actorId?: string;
  readonly action?: string;
  readonly start?: string;
  readonly end?: string;
  readonly targetType?: string;
  readonly targetId?: string;
  /** Part of the actor's e-mail address or name, the action, the target id or the IP address. */
  readonly search?: string;
}

/** Names of the targets that have one, looked up by primary key within the organization. */
const NAMED_TARGETS = {
  agent: { table: 'agents', name: 'n.name' },
  api_key: { table: 'api_keys', name: 'n.name' },
  project: { table: 'projects', name: 'n.name' },
  credential: { table: 'credentials', name: 'n.name' },
  management_token: { table: 'management_tokens', name: 'n.name' },
  account: {
    table: 'provider_accounts',
    name: "(select a.name from agents a where a.id = n.agent_id) || ' at ' || n.provider_slug",
  },
  webhook: { table: 'webhook_endpoints', name: SHOWN_ENDPOINT_URL },
  run: { table: 'runs', name: "nullif(n.label, '')" },
  trust_rule: { table: 'trust_rules', name: 'n.name' },
  alert_rule: { table: 'alert_rules', name: 'n.name' },
} as const;

function targetNameExpression(sql: Sql, orgId: string) {
  const cases = Object.entries(NAMED_TARGETS).map(
    ([type, { table, name }]) => sql`when target_type = ${type} and target_id ~ '^[0-9a-f-]{36}$'
        then (select ${sql.unsafe(name)} from ${sql(table)} n where n.id = audit_entries.target_id::uuid and n.org_id = ${orgId})`,
  );
  return sql`case ${cases} end`;
}

const ORDER = { at: { by: 'at' } } as const;

export async function listAuditEntries(
  sql: Sql,
  orgId: string,
  { actorId, action, start, end, targetType, targetId, search = '', ...sorting }: AuditFilter,
  page: Page,
): Promise<ListResult<AuditRow>> {
  const where = sql`
    where org_id = ${orgId}
      ${actorId === undefined ? sql`` : sql`and (actor_user_id = ${actorId} or actor_token_id = ${actorId})`}
      ${action === undefined ? sql`` : sql`and action = ${action}`}
      ${start === undefined ? sql`` : sql`and at >= ${start}::date`}
      ${end === undefined ? sql`` : sql`and at < ${end}::date + 1`}
      ${targetType === undefined ? sql`` : sql`and target_type = ${targetType}`}
      ${targetId === undefined ? sql`` : sql`and target_id = ${targetId}`}
      ${
        search === ''
          ? sql``
          : sql`and concat_ws(' ', actor_email, actor_token_name, action, target_id, ip) ilike ${containsPattern(search)}`
      }`;
  const rows = await sql<AuditRow[]>`
    select id, at, actor_user_id as "userId", actor_email as email,
           actor_token_id as "tokenId", actor_token_name as "tokenName", action, target_type as "targetType",
           target_id as "targetId", ${targetNameExpression(sql, orgId)} as "targetName", ip, changes
      from audit_entries ${where} ${orderBy(sql, ORDER, sorting)} limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from audit_entries ${where}`;
  return { rows, total: count!.total };
}

/**
 * Deletes entries older than AUDIT_RETENTION_DAYS, at most about 100 000 per call. Entries contain names and IP addresses,
 * so they are not kept longer.
 */
export async function pruneAuditEntries(sql: Sql, retentionDays: number): Promise<void> {
  await deleteInBatches(async () => {
    const rows = await sql`
      delete from audit_entries where id in (
        select id from audit_entries where at < now() - ${retentionDays} * interval '1 day'
         order by at limit ${ROWS_PER_BATCH} for update skip locked)`;
    return rows.count;
  });
}
