/** Finds all rows of a database that concern one tenant by the ids in them, so that every change is visible. */
import type { Sql } from '@acg/controlplane/db/postgres-client';

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Table → rows as JSON text. */
type TableRows = ReadonlyMap<string, readonly string[]>;

/** `mention`: only rows that contain this text. */
export async function readAllRows(sql: Sql, mention = ''): Promise<TableRows> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by relname`;
  const selects = tables.map(
    ({ name }) => `select '${name}' as name, to_jsonb(t)::text as row from ${name} t where strpos(t::text, $1) > 0`,
  );
  const found = await sql.unsafe<{ name: string; row: string }[]>(selects.join(' union all '), [mention], {
    prepare: true,
  });
  const rows = new Map<string, string[]>(tables.map(({ name }) => [name, []]));
  for (const { name, row } of found) rows.get(name)!.push(row);
  for (const texts of rows.values()) texts.sort();
  return rows;
}

/** Belongs to no tenant; used in sample events. */
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

export const findUuids = (text: string): readonly string[] => (text.match(UUID) ?? []).filter((id) => id !== NIL_UUID);

/** `orgId` and every id in a row that also contains an id of the tenant. */
export function findTenantIds(rows: TableRows, orgId: string): ReadonlySet<string> {
  const ids = new Set([orgId]);
  for (let known = 0; known !== ids.size; ) {
    known = ids.size;
    for (const texts of rows.values()) {
      for (const text of texts) {
        const found = findUuids(text);
        if (found.some((id) => ids.has(id))) for (const id of found) ids.add(id);
      }
    }
  }
  return ids;
}

/** The rows that mention one of the ids, as `table row`, sorted. */
export function findRowsMentioning(rows: TableRows, ids: ReadonlySet<string>): readonly string[] {
  const concerned: string[] = [];
  for (const [table, texts] of rows) {
    for (const text of texts) if (findUuids(text).some((id) => ids.has(id))) concerned.push(`${table} ${text}`);
  }
  return concerned;
}
