/**
 * Every route still works beside a tenant that has used up all its quotas: limits, unique names and last owners are
 * checked per organization. Generated from the route table.
 */
import type { RouteEntry } from '@acg/controlplane/http/record-declared-routes';
import { expect, test } from 'vitest';
import { callExample, exampleOf, routesWithExample } from '../controlplane/route-examples/index.js';
import { useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const routes = (): readonly RouteEntry[] => routesWithExample(plane().service.app.routeTable);

/** More than the largest bound, 1000 shared credentials. */
const COPIES = 1_001;

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

/**
 * Columns of unique indexes on tables of which an organization has many rows, each with an id. Alerts: one per rule.
 * Rotations: one per credential.
 */
const listUniqueColumns = (): Promise<Column[]> => plane().database.sql<Column[]>`
  select distinct c.relname as table, a.attname as name, format_type(a.atttypid, null) as type
    from pg_class c join pg_index i on i.indrelid = c.oid and i.indisunique
    join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
   where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
     and exists (select from pg_attribute o where o.attrelid = c.oid and o.attname = 'org_id')
     and exists (select from pg_attribute o where o.attrelid = c.oid and o.attname = 'id' and o.atttypid = 'uuid'::regtype)
     and not exists (select from pg_constraint f where f.conrelid = c.oid and f.contype = 'f' and 1 = any(f.conkey))
     and not exists (select from pg_index u join pg_attribute o on o.attrelid = c.oid and o.attnum = u.indkey[0]
                      where u.indrelid = c.oid and u.indisunique and u.indnkeyatts = 1 and o.attname = 'org_id')
     and c.relname not in ('events', 'webhook_deliveries', 'audit_entries', 'sessions', 'alerts', 'credential_rotations')
     and a.attname not like '%\\_id' and a.atttypid in ('uuid'::regtype, 'text'::regtype, 'bytea'::regtype)`;

const NEW_VALUE_SQL: Readonly<Record<string, string>> = {
  uuid: 'gen_random_uuid()::text',
  text: "'copy-' || left(gen_random_uuid()::text, 18)",
  bytea: "'\\x' || md5(random()::text) || md5(random()::text)",
};

/** All but generated ones. */
async function listWritableColumns(table: string): Promise<string[]> {
  const columns = await plane().database.sql<{ name: string }[]>`
    select quote_ident(attname) as name from pg_attribute
     where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = ''`;
  return columns.map(({ name }) => name);
}

/** As many copies of one of the organization's rows in each table as no organization may have. */
async function fillTables(orgId: string): Promise<readonly string[]> {
  const columns = await listUniqueColumns();
  const filled: string[] = [];
  for (const table of new Set(columns.map((column) => column.table))) {
    const fresh = columns
      .filter((column) => column.table === table)
      .map(({ name, type }) => `'${name}', ${NEW_VALUE_SQL[type]!}`);
    const names = await listWritableColumns(table);
    const { count } = await plane().database.sql.unsafe(`
      insert into ${table} (${names.join()}) select ${names.map((name) => `(r).${name}`).join()} from (
        select jsonb_populate_record(null::${table}, to_jsonb(t) || jsonb_build_object(${fresh.join()})) as r
          from (select * from ${table} where org_id = '${orgId}' limit 1) t, generate_series(1, ${COPIES})) copies`);
    if (count > 0) filled.push(table);
  }
  return filled;
}

test('no quota of an organization counts rows of another', async () => {
  const neighbour = await plane().createMember('owner');
  for (const route of routes()) {
    const owner = await plane().createMember('owner', neighbour.orgId);
    await exampleOf(route).prepare({ plane: plane(), owner, caller: owner });
  }
  const filled = await fillTables(neighbour.orgId);
  expect(filled).toEqual(
    expect.arrayContaining(['credentials', 'custom_providers', 'management_tokens', 'projects', 'webhook_endpoints']),
  );
  for (const route of routes()) {
    const owner = await plane().createMember('owner');
    const call = await exampleOf(route).prepare({ plane: plane(), owner, caller: owner });
    const { status, body } = await callExample(owner, route, call);
    const seen = { route: `${route.method} ${route.url}`, status };
    expect({ ...seen, error: body?.error }).toMatchObject({ ...seen, status: exampleOf(route).success ?? 200 });
  }
});
