/**
 * Data planes report ids, and only the organization in a statement distinguishes rows with equal ids. When another
 * organization's calls use the ids of this one's calls, agents, keys or projects, neither sees, names or counts
 * anything of the other.
 */
import { createLogger } from '@acg/base/log';
import { uuidv7 } from '@acg/base/uuidv7';
import { DailyRollups } from '@acg/controlplane/ledger/daily-rollups';
import { beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { createIngest, type InsertedAgent, insertAgent, newId, usageRecord } from '../ledger/usage-fixture.js';

const plane = useControlPlane();
const DAY = 86_400_000;
const now = Date.now();

/** The first existed before the second, and its rows precede the second's. */
let first: Member;
let second: Member;

beforeAll(async () => {
  first = await plane().createMember('owner');
  second = await plane().createMember('owner');
});

interface OwnAgent extends InsertedAgent {
  readonly projectId: string;
}

/** Belongs to the second organization, with a budget, in a project with a budget. */
async function createAgentOfSecondOrganization(): Promise<OwnAgent> {
  const { sql } = plane().database;
  const agent = await insertAgent(sql, second.orgId, { budgetCents: 1_000 });
  const [row] = await sql<{ projectId: string }[]>`
    update projects set budget_cents_monthly = 500
     where id = (select project_id from agents where id = ${agent.id}) returning id as "projectId"`;
  return { ...agent, ...row! };
}

const reportUsage = (message: Parameters<ReturnType<typeof createIngest>['report']>[0]) =>
  createIngest(plane().database.sql).report({ dataPlaneId: 'd', ...message });

async function fetchJson({ call }: Member, path: string) {
  const { status, body } = await call('GET', `/v1/usage/${path}`);
  expect([path, status]).toEqual([path, 200]);
  return body;
}

test('shared ids: a call is visible to its organization and shows no names of the other', async () => {
  const agent = await createAgentOfSecondOrganization();
  const { projectId } = agent;
  const key = { name: 'ci', projectId, agentId: agent.id };
  const keyId = (await second.call('POST', '/v1/api-keys', key)).body.key.id;
  const ids = { id: uuidv7(now), startedAtMs: now, agentId: agent.id, projectId, keyId };
  await reportUsage({ records: [usageRecord({ ...ids, orgId: first.orgId, model: 'first' })] });
  await reportUsage({ records: [usageRecord({ ...ids, orgId: second.orgId, model: 'second' })] });
  const nameless = { agentName: null, projectName: null, keyName: null, keyPrefix: null };
  const named = { agentName: agent.name, projectName: 'P', keyName: 'ci' };
  for (const [member, expected] of [
    [first, { model: 'first', ...nameless }],
    [second, { model: 'second', ...named }],
  ] as const) {
    expect((await fetchJson(member, `logs/${ids.id}`)).log).toMatchObject(expected);
    expect((await fetchJson(member, 'logs')).logs).toMatchObject([expected]);
  }
  const { logs } = await fetchJson(second, `agents/${agent.id}/logs`);
  expect(new Set(logs.map(({ model }: { model: string }) => model))).toEqual(new Set(['second']));
  const names = async (member: Member) =>
    Promise.all(
      ['project', 'agent', 'key'].map(async (by) => (await fetchJson(member, `breakdown?by=${by}`)).rows[0].name),
    );
  expect(await names(first)).toEqual([null, null, null]);
  expect(await names(second)).toEqual(['P', agent.name, 'ci']);
});

test('shared ids: an agent’s and a project’s budget and spend are shown to their organization alone', async () => {
  const agent = await createAgentOfSecondOrganization();
  const ids = { agentId: agent.id, projectId: agent.projectId, costNanos: 30_000_000 };
  await reportUsage({ records: [usageRecord({ ...ids, orgId: second.orgId, model: 'second' })] });
  await reportUsage({ records: [usageRecord({ ...ids, orgId: first.orgId, model: 'first' })] });
  const [ofAgent, ofProject] = [`summary?agentId=${agent.id}`, `summary?projectId=${agent.projectId}`];
  expect(await fetchJson(first, ofAgent)).toMatchObject({ requests: 1, budgetCents: null, monthCents: 0 });
  expect(await fetchJson(first, ofProject)).toMatchObject({ requests: 1, budgetCents: null });
  expect(await fetchJson(second, ofAgent)).toMatchObject({ requests: 1, budgetCents: 1_000, monthCents: 6 });
  expect(await fetchJson(second, ofProject)).toMatchObject({ requests: 1, budgetCents: 500 });
});

test('shared ids: agents are sorted by the rejections of their own organization', async () => {
  const [few, many] = [await createAgentOfSecondOrganization(), await createAgentOfSecondOrganization()];
  const minuteMs = now - (now % 60_000);
  const refused = (agent: InsertedAgent, orgId: string, reason: string, count: number) => {
    return { id: newId(), agentId: agent.id, orgId, providerSlug: 'openai', reason, count, minuteMs };
  };
  const rejections = [refused(few, second.orgId, 'rpm', 1), refused(many, second.orgId, 'rpm', 2)];
  await reportUsage({ rejections: [...rejections, refused(few, first.orgId, 'rpd', 5)] });
  const { agents } = await fetchJson(second, 'agents?sort=rejectedRequests&order=desc');
  expect(agents.slice(0, 2).map(({ id }: InsertedAgent) => id)).toEqual([many.id, few.id]);
});

test('shared ids: values from another organization’s daily rollups are not shown', async () => {
  const { sql } = plane().database;
  const third = await plane().createMember('owner');
  const ids = { agentId: newId(), projectId: newId() };
  await reportUsage({ records: [usageRecord({ ...ids, orgId: third.orgId, startedAtMs: now - 5 * DAY })] });
  await new DailyRollups(sql, createLogger('test', 'silent')).rollUpFinishedAndLateDays(now);
  await sql`delete from usage_hourly where org_id = ${third.orgId}`;
  for (const path of [`agentId=${ids.agentId}`, `projectId=${ids.projectId}`]) {
    const asked = `summary?${path}&period=30d`;
    expect(await fetchJson(third, asked)).toMatchObject({ requests: 1 });
    expect((await first.call('GET', `/v1/usage/${asked}`)).status).toBe(404);
  }
});

test('shared ids: deferred usage belongs to the call of the organization that fetched it', async () => {
  const { sql } = plane().database;
  const record = usageRecord({ agentId: newId(), lined: true, costNanos: 0, tokensOut: 0 });
  const { keyId, agentId, startedAtMs } = record as Required<typeof record>;
  const recordId = record.id!;
  const line = { id: 'r1', model: 'm', tokensOut: 5, costNanos: 700 };
  const fetch = { recordId, keyId, agentId, startedAtMs, providerSlug: 'openai', sourceId: 'batch_1', lines: [line] };
  await reportUsage({ records: [{ ...record, orgId: first.orgId }] });
  await reportUsage({ records: [{ ...record, orgId: second.orgId }], lines: [{ ...fetch, orgId: second.orgId }] });
  const booked = await sql<{ orgId: string; cost: number }[]>`
    select org_id as "orgId", cost_nanos as cost from usage_records where id = ${recordId} order by cost`;
  expect([...booked]).toEqual([
    { orgId: first.orgId, cost: 0 },
    { orgId: second.orgId, cost: 700 },
  ]);
});

test('shared ids: a line that two organizations received in part is recorded completely for both', async () => {
  const { sql } = plane().database;
  const part = { id: '', model: 'm', tokensOut: 100, costNanos: 100 };
  const whole = { id: '', model: 'm', tokensOut: 500, costNanos: 500 };
  const members = [first, second].map(({ orgId }) => {
    return { orgId, agentId: newId(), keyId: newId(), providerSlug: 'openai', sourceId: 'resp_1', startedAtMs: now };
  });
  for (const step of [{ seen: [part] }, { lines: [whole] }]) {
    for (const member of members) await reportUsage({ lines: [{ ...member, recordId: newId(), ...step }] });
  }
  for (const { agentId } of members) {
    const [row] = await sql`select sum(cost_nanos)::int as cost from usage_hourly where agent_id = ${agentId}`;
    expect(row).toEqual({ cost: 500 });
  }
});

test('shared names: a provider has the name of its own organization, and only that organization’s accounts count', async () => {
  const { sql } = plane().database;
  const third = await plane().createMember('owner');
  for (const [{ call, orgId }, displayName] of [
    [second, 'Second'],
    [first, 'First'],
    [third, 'Third'],
  ] as const) {
    const provider = { slug: 'ours', displayName, baseUrl: 'https://models.example.com/v1', authType: 'bearer' };
    expect((await call('POST', '/v1/custom-providers', provider)).status).toBe(201);
    const agent = await insertAgent(sql, orgId);
    await sql`
      insert into provider_accounts (id, org_id, agent_id, provider_slug, custom_provider_id, key_id, nonce, ciphertext)
      select gen_random_uuid(), ${orgId}, ${agent.id}, slug, id, 'k', ''::bytea, ''::bytea
        from (select slug, id from custom_providers where org_id = ${orgId} union all select 'openai', null) p`;
  }
  const { circuits } = (await second.call('GET', '/v1/circuits')).body;
  expect(circuits).toMatchObject([
    { providerSlug: 'openai', accounts: 1 },
    { providerSlug: 'ours', displayName: 'Second', builtIn: false, accounts: 1 },
  ]);
});
