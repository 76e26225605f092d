/** Moves rows between their tables and `suspended_items`. No other code reads the contents of suspended rows. */
import type { Sql, Tx } from '../db/postgres-client.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { SUSPENDABLE_TABLES, type SuspendableKind } from './suspendable-tables.js';

export interface SuspendedRow {
  readonly id: string;
  readonly kind: SuspendableKind;
  readonly name: string;
  readonly detail: string;
  readonly createdAt: Date;
  readonly suspendedAt: Date;
}

const SECRET_COLUMNS = ['key_id', 'nonce', 'ciphertext'];

/** Suspends all rows of the organization except the founder's own membership. Returns the number of rows. */
export async function suspendOrganizationRows(tx: Tx, orgId: string, founderId: string): Promise<number> {
  let total = 0;
  for (const {
    kind,
    table,
    nameSql: name,
    detailSql: detail,
    suspendCondition: where,
    encrypted,
  } of SUSPENDABLE_TABLES) {
    const secret = encrypted ? 't.key_id, t.nonce, t.ciphertext' : 'null, null::bytea, null::bytea';
    const moved = await tx.unsafe(
      `with t as (
         delete from ${table} t where t.org_id = $1 and ${where.replace('$founder', '$2::uuid')}
           and $2::uuid is not null returning t.*)
       insert into suspended_items
         (id, org_id, kind, name, detail, contents, key_id, nonce, ciphertext, made_at)
       select coalesce((to_jsonb(t) ->> 'id')::uuid, gen_random_uuid()), t.org_id, $3::text, coalesce(${name}, ''),
              coalesce(${detail}, ''), to_jsonb(t) - $4::text[], ${secret}, t.created_at
         from t`,
      [orgId, founderId, kind, SECRET_COLUMNS],
    );
    total += moved.count;
  }
  await tx`
    update users set active_org_id = null
     where active_org_id = ${orgId} and id not in (select user_id from memberships where org_id = ${orgId})`;
  return total;
}

interface SuspendedFilter {
  readonly kind?: SuspendableKind;
}

const columns = (sql: Sql | Tx) => sql`
  id, kind, name, detail, made_at as "createdAt", suspended_at as "suspendedAt"`;

export async function listSuspended(
  sql: Sql,
  orgId: string,
  { kind }: SuspendedFilter,
  page: Page,
): Promise<ListResult<SuspendedRow>> {
  const where = sql`org_id = ${orgId} ${kind === undefined ? sql`` : sql`and kind = ${kind}`}`;
  const rows = await sql<SuspendedRow[]>`
    select ${columns(sql)} from suspended_items where ${where}
     order by kind, made_at desc, id desc limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from suspended_items where ${where}`;
  return { rows, total: count!.total };
}

/** Null: the organization has no such item. */
export async function deleteSuspendedRow(tx: Tx, orgId: string, id: string): Promise<SuspendedRow | null> {
  const [row] = await tx<SuspendedRow[]>`
    delete from suspended_items where org_id = ${orgId} and id = ${id} returning ${columns(tx)}`;
  return row ?? null;
}

/**
 * Moves the row back to its table unchanged. Null: the organization has no such item. False: its restore condition no
 * longer holds. Throws a key violation when the row conflicts with another one or refers to a missing one.
 */
export async function restoreRow(tx: Tx, orgId: string, id: string): Promise<SuspendedRow | false | null> {
  const [item] = await tx<(SuspendedRow & { columns: string[] })[]>`
    select ${columns(tx)}, array(select jsonb_object_keys(contents)) ||
           case when key_id is null then array[]::text[] else ${SECRET_COLUMNS}::text[] end as columns
      from suspended_items where org_id = ${orgId} and id = ${id} for update`;
  if (item === undefined) return null;
  const { table, restoreCondition } = SUSPENDABLE_TABLES.find(({ kind }) => kind === item.kind)!;
  // Only the columns that the row had: a column that a migration has added since gets its default.
  const names = tx(item.columns);
  const [row] = await tx`
    insert into ${tx(table)} (${names})
    select ${names} from (
      select r.* from suspended_items s, jsonb_populate_record(null::${tx(table)}, s.contents ||
        case when s.key_id is null then '{}'::jsonb
             else jsonb_build_object('key_id', s.key_id, 'nonce', s.nonce, 'ciphertext', s.ciphertext) end) r
       where s.org_id = ${orgId} and s.id = ${id}) t
     where ${tx.unsafe(restoreCondition)} returning 1`;
  if (row === undefined) return false;
  await tx`set constraints all immediate`;
  await tx`delete from suspended_items where org_id = ${orgId} and id = ${id}`;
  const { columns: _, ...kept } = item;
  return kept;
}
