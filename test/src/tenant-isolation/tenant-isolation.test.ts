/**
 * Beside a second tenant with some of everything, no route of the API and no call of the plane link shows, counts or
 * changes anything of it. Generated from the route table.
 */

import { createHash, randomBytes } from 'node:crypto';
import { DAY_MS } from '@acg/base/time-and-money-units';
import type { RouteEntry } from '@acg/controlplane/http/record-declared-routes';
import { ControlPlaneClient } from '@acg/proto/control-plane-client';
import { beforeAll, expect, test } from 'vitest';
import { callExample, exampleOf, routesWithExample } from '../controlplane/route-examples/index.js';
import type { ExampleCall } from '../controlplane/route-examples/route-example.js';
import type { ApiResponse } from '../fixtures/api-call.js';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { encodeReport, newId, usageRecord } from '../ledger/usage-fixture.js';
import { findRowsMentioning, findTenantIds, findUuids, readAllRows } from './find-rows-of-tenant.js';

// No delivery of the neighbour is tried a second time while the tests compare its rows.
const plane = useControlPlane({ WEBHOOK_RETRY_DELAYS_MS: `${DAY_MS},${DAY_MS},${DAY_MS}` });
const routes = (): readonly RouteEntry[] => routesWithExample(plane().service.app.routeTable);

let otherTenant: Member;
let otherTenantIds: ReadonlySet<string>;
/** Texts that only the other tenant has, in addition to its ids. */
let otherTenantTexts: readonly string[];

beforeAll(async () => {
  otherTenant = await plane().createMember('owner');
  for (const route of routes()) {
    // Another member each time, because some examples end their session.
    const owner = await plane().createMember('owner', otherTenant.orgId);
    await exampleOf(route).prepare({ plane: plane(), owner, caller: owner });
  }
  // Evaluations change these rows in the background: none is due during the test.
  await plane().database.sql`
    update alert_rules set evaluated_at = now() + interval '1 day', revision = revision + 1`;
  // So do tests of next credentials: each has run once, and the next one is not due.
  await waitUntil('next credentials are tested', async () => {
    const [open] = await plane().database.sql<{ n: number }[]>`
      select count(*) as n from credential_rotations where state = 'testing' and problem is null`;
    return open!.n === 0;
  });
  await plane().database.sql`update credential_rotations set next_test_at = now() + interval '1 day'`;
  // And checks of bills: none starts any more, and those that run have ended.
  await plane().database.sql`update billing_accounts set next_check_at = now() + interval '1 day'`;
  await waitUntil('checks of bills have ended', async () => {
    const [open] = await plane().database.sql<{ n: number }[]>`
      select count(*) as n from billing_accounts where lease is not null`;
    return open!.n === 0;
  });
  await reportUsage(otherTenant);
  await waitForDeliveries();
  const rows = await readAllRows(plane().database.sql);
  otherTenantIds = findTenantIds(rows, otherTenant.orgId);
  otherTenantTexts = [...new Set([...rows.values()].flat().flatMap(uniqueTexts))];
  expect(otherTenantIds.size).toBeGreaterThan(100);
  expect(otherTenantTexts.length).toBeGreaterThan(10);
});

/** Random parts of names, slugs, addresses and key prefixes. */
const uniqueTexts = (row: string): readonly string[] =>
  row.match(/(?:own-|acg_|acgm_)[0-9a-f]{8}|[0-9a-f]{12}@example\.com/g) ?? [];

/** Two calls of each of the owner's agents, one rejected call, and one call of a deleted agent. */
async function reportUsage({ orgId }: Member): Promise<void> {
  const agents = await plane().database.sql<{ id: string }[]>`select id from agents where org_id = ${orgId}`;
  const records = [...agents.map(({ id }) => id), newId()].flatMap((agentId) =>
    [200, 500].map((status) => usageRecord({ orgId, agentId, keyId: newId(), accountId: newId(), status })),
  );
  const rejections = agents.map(({ id: agentId }) => ({
    id: newId(),
    orgId,
    agentId,
    providerSlug: 'openai',
    reason: 'rpm',
    minuteMs: Date.now() - (Date.now() % 60_000),
    count: 3,
  }));
  await plane().service.usage.ingest.ingestReport(encodeReport({ records, rejections }));
}

/** What follows events has followed: everything fanned out, everything due sent. */
async function waitForDeliveries(): Promise<void> {
  await waitUntil('events and deliveries have settled', async () => {
    const [open] = await plane().database.sql<{ n: number }[]>`
      select (select count(*) from events where fanned_out_at is null)
           + (select count(*) from webhook_deliveries where status = 'pending' and attempts = 0) as n`;
    return open!.n === 0;
  });
}

const readOtherTenantRows = async (): Promise<readonly string[]> =>
  findRowsMentioning(await readAllRows(plane().database.sql), otherTenantIds);

/** Rows that are in one list only. Expired ones may go: a sweep deletes them. */
function findChangedRows(before: readonly string[], after: readonly string[]): readonly string[] {
  const wereThere = new Set(before);
  const areThere = new Set(after);
  const isGone = (row: string): boolean => !areThere.has(row) && !hasExpired(row);
  return after.filter((row) => !wereThere.has(row)).concat(before.filter(isGone));
}

function hasExpired(row: string): boolean {
  const expiresAt = /"expires_at": "([^"]+)"/.exec(row)?.[1];
  return expiresAt !== undefined && Date.parse(expiresAt) < Date.now();
}

/** What of the neighbour a text shows. */
const findOtherTenantTexts = (text: string): readonly string[] => [
  ...findUuids(text).filter((id) => otherTenantIds.has(id)),
  ...otherTenantTexts.filter((own) => text.includes(own)),
];

const textOf = ({ body }: ApiResponse): string => (typeof body === 'string' ? body : JSON.stringify(body));

/** The call as it is, without any filter, and without each one. */
function callVariants(call: ExampleCall): readonly ExampleCall[] {
  const names = Object.keys(call.query ?? {});
  const without = (gone: readonly string[]): ExampleCall => ({
    ...call,
    query: {
      limit: '100',
      ...Object.fromEntries(Object.entries(call.query!).filter(([name]) => !gone.includes(name))),
    },
  });
  return [call, ...(names.length > 0 ? [without(names), ...names.map((name) => without([name]))] : [])];
}

/** A list that fits on its page counts what it shows. */
function hasWrongTotal({ body }: ApiResponse): boolean {
  if (typeof body?.total !== 'number') return false;
  const items = Object.values(body).find(Array.isArray) ?? [];
  return items.length < 50 && body.total !== items.length;
}

/** Comparing all rows of the database takes longer than a route. */
const ROUTES_BETWEEN_COMPARISONS = 10;

test('no route shows, counts or changes anything of another tenant', async () => {
  const before = await readOtherTenantRows();
  let answers = 0;
  let sinceComparison: string[] = [];
  for (const route of routes()) {
    const me = await plane().createMember('owner');
    const prepared = await exampleOf(route).prepare({ plane: plane(), owner: me, caller: me });
    await reportUsage(me);
    for (const call of route.method === 'GET' ? callVariants(prepared) : [prepared]) {
      const answer = await callExample(me, route, call);
      const seen = { route: `${route.method} ${route.url}`, call, status: answer.status };
      expect({ ...seen, shown: findOtherTenantTexts(textOf(answer)), miscounted: hasWrongTotal(answer) }).toEqual({
        ...seen,
        shown: [],
        miscounted: false,
      });
      if (answer.status < 300) answers++;
    }
    sinceComparison.push(`${route.method} ${route.url}`);
    if (sinceComparison.length < ROUTES_BETWEEN_COMPARISONS) continue;
    const changed = findChangedRows(before, await readOtherTenantRows());
    expect({ routes: sinceComparison, changed }).toEqual({ routes: sinceComparison, changed: [] });
    sinceComparison = [];
  }
  expect(answers).toBeGreaterThan(routes().length * 0.9);
  await waitForDeliveries(); // events of all those calls reach the endpoints that are subscribed to them
  const changed = findChangedRows(before, await readOtherTenantRows());
  expect({ routes: sinceComparison, changed }).toEqual({ routes: sinceComparison, changed: [] });
});

interface ScopedAgent {
  readonly id: string;
  readonly projectId: string;
}

/** The hash of a gateway token with that scope around the agent, created in the database. */
async function insertGatewayToken(
  agent: ScopedAgent,
  orgId: string,
  scope: 'agent' | 'project' | 'org',
): Promise<Buffer> {
  const token = `acg_${randomBytes(32).toString('hex')}`;
  const hash = createHash('sha256').update(token).digest();
  await plane().database.sql`
    insert into api_keys (id, org_id, agent_id, project_id, name, key_prefix, token_hash, scope)
    values (${newId()}, ${orgId}, ${scope === 'agent' ? agent.id : null},
            ${scope === 'project' ? agent.projectId : null}, 'k', ${token.slice(0, 12)}, ${hash}, ${scope})`;
  return hash;
}

test('no token resolves to anything of another tenant, whichever agent it names', async () => {
  const { sql } = plane().database;
  const me = await plane().createMember('owner');
  for (const route of routes().filter(({ url }) => /agents|accounts|custom/.test(url))) {
    await exampleOf(route).prepare({ plane: plane(), owner: me, caller: me });
  }
  // The neighbour's agents have slugs that no agent of this organization has.
  await sql`update agents set slug = 'theirs-' || left(id::text, 13) where org_id = ${otherTenant.orgId}`;
  const theirs = await sql<{ id: string; slug: string }[]>`
    select id, slug from agents where org_id = ${otherTenant.orgId} limit 3`;
  const [mine] = await sql<ScopedAgent[]>`
    select a.id, a.project_id as "projectId" from agents a join provider_accounts p on p.agent_id = a.id
     where a.org_id = ${me.orgId} limit 1`;
  const client = new ControlPlaneClient([plane().grpcAddress], plane().config.link);
  try {
    for (const scope of ['agent', 'project', 'org'] as const) {
      const tokenHash = await insertGatewayToken(mine!, me.orgId, scope);
      const ask = async (agentRef: string): Promise<string> =>
        JSON.stringify(await client.resolveToken({ tokenHash, agentRef }, 10_000));
      const own = await ask(scope === 'agent' ? '' : mine!.id);
      expect(own).toContain(mine!.id);
      expect({ scope, shown: findOtherTenantTexts(own) }).toEqual({ scope, shown: [] });
      for (const { id, slug } of theirs) {
        for (const ref of [id, slug]) {
          const answer = await ask(ref);
          expect({ scope, ref, context: answer.includes('"context":{'), shown: findOtherTenantTexts(answer) }).toEqual({
            scope,
            ref,
            context: false,
            shown: [],
          });
        }
      }
    }
  } finally {
    client.close();
  }
});

test('no row that names something of another tenant serves it', async () => {
  const { sql } = plane().database;
  const me = await plane().createMember('owner');
  for (const route of routes().filter(({ url }) => /agents|accounts/.test(url))) {
    await exampleOf(route).prepare({ plane: plane(), owner: me, caller: me });
  }
  const [mine] = await sql<ScopedAgent[]>`
    select a.id, a.project_id as "projectId" from agents a join provider_accounts p on p.agent_id = a.id
     where a.org_id = ${me.orgId} limit 1`;
  const [theirs] = await sql<(ScopedAgent & { slug: string })[]>`
    select a.id, a.project_id as "projectId", a.slug from agents a where a.org_id = ${otherTenant.orgId} limit 1`;
  const client = new ControlPlaneClient([plane().grpcAddress], plane().config.link);
  try {
    for (const scope of ['agent', 'project'] as const) {
      const tokenHash = await insertGatewayToken(theirs!, me.orgId, scope);
      for (const agentRef of ['', theirs!.id, theirs!.slug]) {
        const answer = JSON.stringify(await client.resolveToken({ tokenHash, agentRef }, 10_000));
        expect({
          scope,
          agentRef,
          context: answer.includes('"context":{'),
          shown: findOtherTenantTexts(answer),
        }).toEqual({
          scope,
          agentRef,
          context: false,
          shown: [],
        });
      }
    }
    const [account] = await sql<{ id: string }[]>`
      update provider_accounts set org_id = ${otherTenant.orgId} where agent_id = ${mine!.id} returning id`;
    const tokenHash = await insertGatewayToken(mine!, me.orgId, 'agent');
    const answer = JSON.stringify(await client.resolveToken({ tokenHash, agentRef: '' }, 10_000));
    expect(answer).toContain(mine!.id);
    expect(answer).not.toContain(account!.id);
  } finally {
    client.close();
  }
});
