/**
 * Users who are also members of a second organization, with invitations, e-mails and management tokens there. No call
 * in the first organization uses the role of the second, or shows or changes anything of it. User ids exist in both, so
 * only the organization in a statement distinguishes the rows. Generated from the route table.
 */
import type { RouteEntry } from '@acg/controlplane/http/record-declared-routes';
import { expect, test } from 'vitest';
import { callExample, exampleOf, routesWithExample } from '../controlplane/route-examples/index.js';
import { useControlPlane } from '../fixtures/control-plane.js';
import { readAllRows } from './find-rows-of-tenant.js';

const plane = useControlPlane();
const routes = (): readonly RouteEntry[] => routesWithExample(plane().service.app.routeTable);

/** Makes all members of `first` viewers of `second`, and returns the ids of their items there. */
async function addAllMembersToOrganization(first: string, second: string): Promise<readonly string[]> {
  const { sql } = plane().database;
  const hash = sql`sha256(gen_random_uuid()::text::bytea)`;
  await sql`
    insert into memberships (org_id, user_id, role)
    select ${second}, user_id, 'viewer' from memberships where org_id = ${first}`;
  await sql`
    insert into event_mail_recipients (org_id, user_id, events)
    select ${second}, user_id, '{agent.created}' from memberships where org_id = ${first}`;
  const tokens = await sql<{ id: string }[]>`
    insert into management_tokens (id, org_id, name, role, token_prefix, token_hash, created_by)
    select gen_random_uuid(), ${second}, 'There', 'viewer', 'acgm_', ${hash}, user_id from memberships
     where org_id = ${first} returning id`;
  const invited = await sql<{ id: string }[]>`
    insert into invitations (id, org_id, email, role, token_hash, invited_by, expires_at)
    select gen_random_uuid(), ${second}, email, 'viewer', ${hash}, invited_by, now() + interval '1 day' from (
      select email, invited_by from invitations where org_id = ${first}
      union select gen_random_uuid() || '@example.com', user_id from memberships where org_id = ${first}) i
    returning id`;
  // A statement that finds both memberships finds the second one first.
  await sql`update memberships set role = role where org_id = ${first}`;
  return [...tokens, ...invited].map(({ id }) => id);
}

async function readOrganizationRows(orgId: string): Promise<readonly string[]> {
  const rows = await readAllRows(plane().database.sql, orgId);
  return [...rows].flatMap(([table, texts]) => texts.map((text) => `${table} ${text}`));
}

test('no call in one organization touches its members’ items in another', async () => {
  for (const route of routes()) {
    const name = `${route.method} ${route.url}`;
    const [me, other] = [await plane().createMember('owner'), await plane().createMember('owner')];
    const call = await exampleOf(route).prepare({ plane: plane(), owner: me, caller: me });
    const theirs = await addAllMembersToOrganization(me.orgId, other.orgId);
    const before = await readOrganizationRows(other.orgId);
    const { status, body } = await callExample(me, route, call);
    expect({ name, status, error: body?.error }).toMatchObject({ name, status: exampleOf(route).success ?? 200 });
    const text = JSON.stringify(body);
    expect({ name, shown: theirs.filter((id) => text.includes(id)) }).toEqual({ name, shown: [] });
    const after = await readOrganizationRows(other.orgId);
    expect({ name, gone: before.filter((row) => !after.includes(row)) }).toEqual({ name, gone: [] });
  }
});
