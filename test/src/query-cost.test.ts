/**
 * Cost of a small tenant's queries beside a large tenant's rows, as the pages that Postgres reads. A query with an
 * index on its organization reads a handful of pages, whatever other tenants store.
 */
import { createHash } from 'node:crypto';
import * as agents from '@acg/controlplane/agents/store';
import { listAlerts } from '@acg/controlplane/alert-rules/store';
import * as keys from '@acg/controlplane/api-keys/store';
import * as audit from '@acg/controlplane/audit/audit-list-and-prune-store';
import { loadContextRows } from '@acg/controlplane/contexts/agent-context-store';
import type { Sql } from '@acg/controlplane/db/postgres-client';
import { listEvents } from '@acg/controlplane/events/store';
import * as projects from '@acg/controlplane/projects/store';
import * as shared from '@acg/controlplane/provider-accounts/shared-credential-store';
import * as accounts from '@acg/controlplane/provider-accounts/store';
import { listOrgCircuits } from '@acg/controlplane/providers/circuit-view-store';
import * as customProviders from '@acg/controlplane/providers/custom/custom-provider-store';
import { listRuns } from '@acg/controlplane/runs/list-store';
import * as runs from '@acg/controlplane/runs/store';
import * as webhooks from '@acg/controlplane/webhooks/endpoint-and-delivery-store';
import { beforeAll, expect, test } from 'vitest';
import { seedTenants } from './fixtures/seed-skewed-tenants.js';
import { useTestDatabase } from './fixtures/test-database.js';

const BIG_AGENTS = 10_000;
const SMALL_ORGS = 2_000;
/** Pages of 8 KiB, of tables with hundreds of pages: for a list of a few rows, and for one token, which reads small tables by index, too. */
const LIST_PAGES_MAX = 9;
const TOKEN_PAGES_MAX = 70;
const PAGE = { limit: 50, offset: 0 };

const database = useTestDatabase();
let small: { orgId: string; projectId: string };
let big: { orgId: string; projectId: string };
beforeAll(async () => {
  const { sql } = database();
  await seedTenants(sql, { bigAgents: BIG_AGENTS, smallOrgs: SMALL_ORGS });
  const rows = await sql<{ orgId: string; projectId: string }[]>`
    select org_id as "orgId", p.id as "projectId" from projects p join organizations o on o.id = p.org_id
     where o.slug in ('tenant-0', 'tenant-7') order by o.slug`;
  [big, small] = rows as unknown as [typeof big, typeof small];
});

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

/** Runs the work on queries that are explained before they run; the pages of the dearest. */
async function countPagesRead(work: (sql: Sql) => Promise<unknown>): Promise<number> {
  const { sql } = database();
  let dearest = 0;
  const tag = (first: unknown, ...values: unknown[]) => {
    const query = (sql as unknown as (...all: unknown[]) => Promise<unknown>)(first, ...values);
    if (!Array.isArray(first) || !('raw' in first)) return query;
    const run = query.then.bind(query);
    const explained = (done: never, failed: never) =>
      (sql as unknown as (
        strings: TemplateStringsArray,
        ...all: unknown[]
      ) => Promise<{ 'QUERY PLAN': { Plan: Plan }[] }[]>)`explain (analyze, buffers, format json) ${query}`.then(
        (rows) => {
          const plan = rows[0]!['QUERY PLAN'][0]!.Plan;
          dearest = Math.max(dearest, plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
          return run(done, failed);
        },
        failed,
      );
    Reflect.set(query, 'then', explained);
    return query;
  };
  await work(Object.assign(tag, { unsafe: sql.unsafe, json: sql.json }) as unknown as Sql);
  expect(dearest).toBeGreaterThan(0);
  return dearest;
}

const ANY_KEY = {
  agentId: null,
  projectId: null,
  status: 'active',
  search: 'k',
  neverUsed: null,
  unusedSince: null,
} as const;
const listQueries: readonly [string, (sql: Sql) => Promise<unknown>][] = [
  ['agents', (sql) => agents.listAgents(sql, small.orgId, { projectId: small.projectId }, PAGE)],
  [
    'accounts',
    (sql) =>
      accounts.listAccounts(
        sql,
        small.orgId,
        { agentId: null, projectId: null, status: null, credentialId: null, providerSlug: null },
        PAGE,
      ),
  ],
  ['keys', (sql) => keys.listKeys(sql, small.orgId, ANY_KEY, {}, PAGE)],
  ['revoked keys', (sql) => keys.listKeys(sql, small.orgId, { ...ANY_KEY, status: 'revoked' }, {}, PAGE)],
  ['projects', (sql) => projects.listProjects(sql, small.orgId, null, {}, PAGE)],
  ['custom providers', (sql) => customProviders.listProviders(sql, small.orgId, PAGE)],
  ['webhook endpoints', (sql) => webhooks.listEndpoints(sql, small.orgId, {}, PAGE)],
  ['events', (sql) => listEvents(sql, small.orgId, {}, PAGE)],
  [
    'shared credentials',
    (sql) =>
      shared.listSharedCredentials(
        sql,
        small.orgId,
        { projectId: null, providerSlug: null, status: null, search: null },
        PAGE,
      ),
  ],
  [
    'circuits',
    (sql) =>
      listOrgCircuits(
        sql,
        { orgId: small.orgId, fixed: [], fixedDefaults: [], own: [], states: null, providerSlug: null },
        PAGE,
      ),
  ],
  ['audit entries', (sql) => audit.listAuditEntries(sql, small.orgId, {}, PAGE)],
];

test.each(listQueries)('cost: the list of %s of a small tenant looks at its own rows', async (_name, work) => {
  expect(await countPagesRead(work)).toBeLessThanOrEqual(LIST_PAGES_MAX);
});

test('cost: the list of keys of an organization without keys looks at no key of others, in any order', async () => {
  const [empty] = await database().sql<{ id: string }[]>`
    insert into organizations (id, name, slug) values (gen_random_uuid(), 'e', 'without-keys') returning id`;
  const filter = { agentId: null, projectId: null, status: null, search: null, neverUsed: null, unusedSince: null };
  for (const sort of ['createdAt', 'name', 'lastUsedAt', 'expiresAt'] as const) {
    const work = (sql: Sql) => keys.listKeys(sql, empty!.id, filter, { sort }, PAGE);
    expect(await countPagesRead(work), sort).toBeLessThanOrEqual(LIST_PAGES_MAX);
  }
});

test('cost: the list of an empty project’s agents does not look at its organization’s other ones', async () => {
  const [project] = await database().sql<{ id: string }[]>`
    insert into projects (id, org_id, name, slug) values (gen_random_uuid(), ${big.orgId}, 'q', 'q') returning id`;
  const work = (sql: Sql) => agents.listAgents(sql, big.orgId, { projectId: project!.id }, PAGE);
  expect(await countPagesRead(work)).toBeLessThanOrEqual(LIST_PAGES_MAX);
});

test('cost: the alerts of one rule do not look at those of other rules', async () => {
  const { sql } = database();
  const ids = await sql<{ id: string }[]>`
    insert into alert_rules (id, org_id, name, metric, window_hours, increase_percent, at_least)
    select gen_random_uuid(), ${big.orgId}, 'r', 'spend', 1, 50, 1 from generate_series(1, 2) returning id`;
  const [many, few] = ids as unknown as [{ id: string }, { id: string }];
  await sql`
    insert into alerts (id, org_id, rule_id, value, opened_at, resolved_at)
    select gen_random_uuid(), ${big.orgId}, case when n <= 5 then ${few.id}::uuid else ${many.id}::uuid end, 1,
           now() - (20000 - n) * interval '1 minute', now() from generate_series(1, 20000) n`;
  await sql`analyze alerts, alert_rules`;
  const work = (on: Sql) => listAlerts(on, big.orgId, { ruleId: few.id }, PAGE);
  expect(await countPagesRead(work)).toBeLessThanOrEqual(4 * LIST_PAGES_MAX);
});

test('cost: sorted runs read the figures of a page, not of every run', async () => {
  const { sql } = database();
  const [agent] = await sql<{ id: string }[]>`select id from agents where org_id = ${big.orgId} limit 1`;
  await sql`
    insert into runs (id, org_id, agent_id, root_id, label, budget_cents, token_hash, key_prefix, created_at, expires_at)
    select u, ${big.orgId}, ${agent!.id}, u, 'run ' || n, 100, decode(md5(n::text), 'hex'), 'acg_00000000', now(),
           now() + n * interval '1 second'
      from (select gen_random_uuid() as u, n from generate_series(1, 2000) n) made`;
  await sql`analyze runs`;
  const work = (on: Sql) => listRuns(on, big.orgId, { sort: 'label' }, PAGE);
  // Each run has at least three pages of figures: its spend, its calls and its sub-runs.
  expect(await countPagesRead(work)).toBeLessThan(3 * 2_000);
});

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
const NO_ID = { agentRefId: null };

test.each([
  ['an agent token of the big tenant', 'agent-0', ''],
  ['a project token of the big tenant', 'project-0', 'agent-5000'],
  ['an organization token of the big tenant', 'org-0', 'agent-5000'],
  ['an organization token that names nobody', 'org-0', 'nobody'],
  ['an agent token of a small tenant', 'agent-7', ''],
  ['a token that does not exist', 'nothing', ''],
])('cost: resolving %s goes by the index', async (_name, token, agentRef) => {
  const work = async (sql: Sql) => loadContextRows(sql, [{ tokenHash: hashOf(token), agentRef, ...NO_ID }], true);
  expect(await countPagesRead(work)).toBeLessThanOrEqual(TOKEN_PAGES_MAX);
});

test('cost: resolving by the id of an agent goes by the index', async () => {
  const [row] = await database().sql<
    { id: string }[]
  >`select id from agents where org_id = ${big.orgId} and slug = 'agent-4321'`;
  const queries = ['org-0', 'project-0'].map((token) => ({
    tokenHash: hashOf(token),
    agentRef: row!.id,
    agentRefId: row!.id,
  }));
  expect(await countPagesRead(async (sql) => loadContextRows(sql, queries, true))).toBeLessThanOrEqual(
    2 * TOKEN_PAGES_MAX,
  );
});

test('cost: a batch of tokens costs so many times one, and no more', async () => {
  const queries = Array.from({ length: 100 }, (_, i) => ({ tokenHash: hashOf(`agent-${i}`), agentRef: '', ...NO_ID }));
  expect(await countPagesRead(async (sql) => loadContextRows(sql, queries, true))).toBeLessThanOrEqual(
    100 * TOKEN_PAGES_MAX,
  );
});

test('cost: resolving scans no table, so a plan that was made while tables were small stays right', async () => {
  const queries = [{ tokenHash: hashOf('agent-7'), agentRef: '', ...NO_ID }];
  await database().sql.begin(async (tx) => {
    // The settings apply from the second execution on.
    await loadContextRows(tx as unknown as Sql, queries, true);
    const scans = async () => (await tx`select coalesce(sum(seq_scan), 0) as n from pg_stat_xact_user_tables`)[0]!.n;
    const before = await scans();
    for (let i = 0; i < 3; i++) await loadContextRows(tx as unknown as Sql, queries, true);
    expect(await scans()).toBe(before);
  });
});

test('cost: a plan that was made while few runs were open scans no other open runs', async () => {
  await database().sql.begin(async (tx) => {
    const orgId = big.orgId;
    const openRuns = (count: number, prefix: string) => tx`
      insert into runs (id, org_id, agent_id, root_id, ancestors, budget_cents, token_hash, key_prefix, created_at, expires_at)
      select r.id, ${orgId}, a.id, top, case when i = 0 then '{}' else array[top] end, 10,
             sha256(convert_to(${prefix} || i, 'UTF8')), 'acg_run', now(), now() + interval '1 hour'
        from (select id from agents where org_id = ${orgId} order by id limit 1) a
       cross join (select gen_random_uuid() as top) t
       cross join lateral (select i, case when i = 0 then top else gen_random_uuid() end as id
                             from generate_series(0, ${count - 1}) as i) r
      returning id, agent_id as "agentId", token_hash as "tokenHash"`;
    await openRuns(2_000, 'old');
    await tx`update runs set ended_at = now(), end_reason = 'ended'`;
    const [, caller] = await openRuns(2, 'few');
    await tx`analyze runs`;
    const calls = {
      context: () =>
        loadContextRows(tx as unknown as Sql, [{ tokenHash: hashOf('few1'), agentRef: '', agentRefId: null }], true),
      starter: () => runs.lockStarters(tx, orgId, [caller as { tokenHash: Buffer; agentId: string }]),
      end: () => runs.endRuns(tx, orgId, [caller!.id]),
    };
    // The settings apply from the second execution on; nothing is ended yet, so that each plan is that of open runs.
    const noRuns = () => runs.endRuns(tx, orgId, []);
    for (const work of [calls.context, calls.starter, noRuns, calls.context, calls.starter, noRuns]) await work();
    await openRuns(5_000, 'many');
    const fetched = async (): Promise<number> =>
      (await tx`select idx_tup_fetch as n from pg_stat_xact_user_tables where relname = 'runs'`)[0]!.n;
    for (const [name, work] of Object.entries(calls)) {
      const before = await fetched();
      await work();
      expect(`${name}: ${(await fetched()) - before < 100}`).toBe(`${name}: true`);
    }
  });
});
