/** Items that need attention: each kind appears as soon as it applies, and never for another organization. */
import { ATTENTION_KINDS } from '@acg/controlplane/attention/schema';
import { beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { createIngest, insertAgent, usageRecord } from '../ledger/usage-fixture.js';

const plane = useControlPlane();
let owner: Member;
let projectId: string;
beforeAll(async () => {
  owner = await plane().createMember('owner');
  projectId = (await owner.call('POST', '/v1/projects', { name: 'Default' })).body.project.id;
});

const NANOS_PER_CENT = 10_000_000;
const fetchAttention = async (of = owner) => {
  const { status, body } = await of.call('GET', '/v1/attention');
  expect(status).toBe(200);
  return body.attention as { kind: string; total: number; things: Record<string, unknown>[] }[];
};
const itemsOfKind = async (kind: string, of = owner) => (await fetchAttention(of)).find((item) => item.kind === kind);

async function createAgent(name: string, budgetCents: number | null): Promise<string> {
  const made = await owner.call('POST', '/v1/agents', { projectId, name, budgetCentsMonthly: budgetCents });
  return made.body.agent.id;
}

test('attention: a new organization has no items', async () => {
  expect(await fetchAttention()).toEqual([]);
});

test('attention: budgets from 80 percent on, the most used first; agents without one, the dearest first', async () => {
  const { sql } = plane().database;
  const spend = [790, 900, 3_000, 20];
  const names = ['Well below', 'Nearly', 'Over', 'Free'];
  const ids = await Promise.all(names.map((name) => createAgent(name, name === 'Free' ? null : 1_000)));
  const records = ids.map((agentId, i) =>
    usageRecord({ agentId, orgId: owner.orgId, costNanos: spend[i]! * NANOS_PER_CENT }),
  );
  await createIngest(sql).report({ dataPlaneId: 'd', records });
  const budgets = (await itemsOfKind('budget'))!;
  expect(budgets.total).toBe(2);
  expect(budgets.things).toMatchObject([
    { id: ids[2], name: 'Over', agentId: ids[2], monthCents: 3_000, budgetCents: 1_000 },
    { id: ids[1], name: 'Nearly', monthCents: 900 },
  ]);
  expect(await itemsOfKind('no_budget')).toMatchObject({ total: 1, things: [{ id: ids[3], monthCents: 20 }] });
  await owner.call('PATCH', `/v1/agents/${ids[2]}`, { budgetCentsMonthly: 9_000 });
  expect((await itemsOfKind('budget'))!.things.map(({ name }) => name)).toEqual(['Nearly']);
  await owner.call('PATCH', `/v1/agents/${ids[1]}/status`, { status: 'revoked' });
  expect(await itemsOfKind('budget')).toBeUndefined();
});

test('attention: an agent with a budget of 0 comes first although it has spent nothing, because each call is rejected', async () => {
  const used = await createAgent('Used up', 1);
  const records = [usageRecord({ agentId: used, orgId: owner.orgId, costNanos: 2 * NANOS_PER_CENT })];
  await createIngest(plane().database.sql).report({ dataPlaneId: 'd', records });
  const shut = await createAgent('Shut', 0);
  const budgets = (await itemsOfKind('budget'))!;
  expect(budgets).toMatchObject({
    total: 2,
    things: [
      { id: shut, monthCents: 0, budgetCents: 0 },
      { id: used, budgetCents: 1 },
    ],
  });
  await owner.call('PATCH', `/v1/agents/${shut}`, { budgetCentsMonthly: 100 });
  await owner.call('PATCH', `/v1/agents/${used}/status`, { status: 'revoked' });
  expect(await itemsOfKind('budget')).toBeUndefined();
});

test('attention: credentials that a provider rejects, of accounts and shared', async () => {
  const { sql } = plane().database;
  const agentId = await createAgent('Support bot', 1_000);
  const credentials = { apiKey: 'sk-none-0123456789' };
  const account = { agentId, providerSlug: 'openai', credentials };
  const own: string = (await owner.call('POST', '/v1/providers/accounts', account)).body.account.id;
  const shared = { name: 'For all', providerSlug: 'anthropic', credentials };
  const credentialId: string = (await owner.call('POST', '/v1/credentials', shared)).body.credential.id;
  expect(await itemsOfKind('needs_credentials')).toBeUndefined();
  await sql`update provider_accounts set status = 'needs_credentials', refused_at = now() where id = ${own}`;
  await sql`update credentials set status = 'needs_credentials' where id = ${credentialId}`;
  const item = (await itemsOfKind('needs_credentials'))!;
  expect(item).toMatchObject({
    total: 2,
    things: [
      { id: own, agentId, agentName: 'Support bot', providerSlug: 'openai' },
      { id: credentialId, name: 'For all', agentId: null, providerSlug: 'anthropic', at: null },
    ],
  });
  expect(item.things[0]!.at).toMatch(/Z$/);
});

test('attention: keys that expire within a week, and keys unused for a day after their creation', async () => {
  const { sql } = plane().database;
  const agentId = await createAgent('Crawler', 1_000);
  const key = async (name: string, days: number | null) => {
    const expiresAt = days === null ? null : new Date(Date.now() + days * 86_400_000).toISOString();
    return (await owner.call('POST', '/v1/api-keys', { name, agentId, expiresAt })).body.key.id as string;
  };
  await key('far', 30);
  const soon = await key('soon', 6);
  const sooner = await key('sooner', 2);
  await sql`update api_keys set created_at = now() - interval '60 days', last_used_at = now() where id in ${sql([soon, sooner])}`;
  await key('of acg run', 0.5);
  const idle = await key('idle', null);
  await key('new', null);
  await sql`update api_keys set created_at = now() - interval '25 hours' where id = ${idle}`;
  expect(await itemsOfKind('key_expiring')).toMatchObject({
    total: 2,
    things: [{ id: sooner, agentId }, { id: soon }],
  });
  expect(await itemsOfKind('key_unused')).toMatchObject({ total: 1, things: [{ id: idle, name: 'idle' }] });
  await sql`update api_keys set last_used_at = now() where id = ${idle}`;
  await owner.call('DELETE', `/v1/api-keys/${sooner}`);
  expect(await itemsOfKind('key_unused')).toBeUndefined();
  expect((await itemsOfKind('key_expiring'))!.total).toBe(1);
});

test('attention: failing endpoints, paused ones first; endpoints paused by a member do not count', async () => {
  const { sql } = plane().database;
  const endpoint = async (path: string) => {
    const body = { url: `https://example.com/${path}`, events: ['agent.created'] };
    return (await owner.call('POST', '/v1/webhooks', body)).body.endpoint.id as string;
  };
  const [failing, paused, rested] = [await endpoint('failing'), await endpoint('paused'), await endpoint('rested')];
  await owner.call('PATCH', `/v1/webhooks/${rested}`, { status: 'paused' });
  await sql`update webhook_endpoints set failing_since = now(), failed_attempts = 3 where id = ${failing}`;
  await sql`update webhook_endpoints set failing_since = now(), status = 'paused', paused_reason = 'failing' where id = ${paused}`;
  expect(await itemsOfKind('webhook_failing')).toMatchObject({
    total: 2,
    things: [
      { id: paused, name: 'https://example.com/paused', paused: true },
      { id: failing, paused: false },
    ],
  });
});

test('attention: an open circuit of a provider that an agent uses, before all else', async () => {
  const { sql } = plane().database;
  const [{ key } = { key: '' }] = await sql<{ key: string }[]>`
    select circuit_key as key from provider_accounts where org_id = ${owner.orgId} and provider_slug = 'openai'`;
  expect(await itemsOfKind('circuit_open')).toBeUndefined();
  await sql`
    insert into circuits (circuit_key, provider_slug, org_id, state, reason, epoch, changed_at, open_until)
    values (${`${key}|${owner.orgId}`}, 'openai', ${owner.orgId}, 'OPEN', 'error_rate', 2, now(),
            now() + interval '1 minute')
    on conflict (circuit_key) do update set state = 'OPEN', epoch = 2`;
  const [first] = await fetchAttention();
  const thing = { id: 'openai', providerSlug: 'openai', agents: expect.any(Number), origin: expect.any(String) };
  expect(first).toMatchObject({ kind: 'circuit_open', total: 1, things: [{ ...thing, circuitState: 'OPEN' }] });
  // The cooldown is over, and no call has tried the provider yet: it is not well.
  await sql`update circuits set state = 'HALF_OPEN' where org_id = ${owner.orgId}`;
  expect(await itemsOfKind('circuit_open')).toMatchObject({ things: [{ ...thing, circuitState: 'HALF_OPEN' }] });
});

test('attention: at most five of a kind, with the total; another organization sees none of it', async () => {
  const { sql } = plane().database;
  await Promise.all(Array.from({ length: 6 }, () => insertAgent(sql, owner.orgId)));
  const item = (await itemsOfKind('no_budget'))!;
  expect(item.things).toHaveLength(5);
  expect(item.total).toBeGreaterThanOrEqual(7);
  // Creates items of every kind; otherwise the empty response of the other organization would prove nothing.
  await sql`update agents set budget_cents_monthly = 1 where org_id = ${owner.orgId} and name = 'Over'`;
  await sql`update api_keys set created_at = now() - interval '25 hours' where org_id = ${owner.orgId} and name = 'new'`;
  await sql`
    insert into minted_credentials (id, org_id, account_id, failure, failed_at)
    select gen_random_uuid(), org_id, id, 'invalid_grant', now() from provider_accounts
     where org_id = ${owner.orgId} limit 1`;
  const rule = { name: 'r', metric: 'spend', windowHours: 1, increasePercent: 50, atLeast: 100 };
  const ruleId = (await owner.call('POST', '/v1/alert-rules', rule)).body.rule.id;
  await sql`
    insert into alerts (id, org_id, rule_id, value) values (gen_random_uuid(), ${owner.orgId}, ${ruleId}, 200)`;
  expect((await fetchAttention()).map(({ kind }) => kind)).toEqual(
    ATTENTION_KINDS.filter((kind) => kind !== 'sensitive_call'),
  );
  expect(await fetchAttention(await plane().createMember('owner'))).toEqual([]);
});

test('attention: a budget above 2^31 cents is shown as it is', async () => {
  const { sql } = plane().database;
  const rich = await plane().createMember('owner');
  const project = (await rich.call('POST', '/v1/projects', { name: 'Rich' })).body.project.id;
  const budgetCentsMonthly = 5_000_000_000;
  const made = await rich.call('POST', '/v1/agents', { projectId: project, name: 'Rich', budgetCentsMonthly });
  const { id } = made.body.agent;
  const records = [usageRecord({ agentId: id, orgId: rich.orgId, costNanos: NANOS_PER_CENT })];
  await createIngest(sql).report({ dataPlaneId: 'd', records });
  await sql`update month_spend set spent_nanos = ${budgetCentsMonthly}::bigint * ${NANOS_PER_CENT}::bigint where agent_id = ${id}`;
  expect((await itemsOfKind('budget', rich))!.things).toMatchObject([
    { id, monthCents: budgetCentsMonthly, budgetCents: budgetCentsMonthly },
  ]);
});

test('attention: sensitive attempts name key, call and network for admins, until the key is revoked', async () => {
  const { sql } = plane().database;
  const agentId = await createAgent('Curious', 1_000);
  const key = (await owner.call('POST', '/v1/api-keys', { name: 'nightly', agentId })).body.key.id;
  await sql`
    insert into rejected_calls (org_id, agent_id, rejected_at, id, key_id, provider_slug, reason, status, method, path,
                                model, tool, client_network)
    select ${owner.orgId}, ${agentId}, now() - n * interval '1 hour', gen_random_uuid(), ${key}, 'openai', 'sensitive_path',
           403, 'GET', '/v1/organization/admin_api_keys', '', '', '203.0.113.7'
      from generate_series(1, 3) n`;
  expect(await itemsOfKind('sensitive_call')).toMatchObject({
    total: 1,
    things: [
      {
        id: key,
        name: 'nightly',
        agentName: 'Curious',
        call: 'GET /v1/organization/admin_api_keys',
        calls: 3,
        clientNetwork: '203.0.113.7',
      },
    ],
  });
  expect((await fetchAttention())[0]!.kind).toBe('sensitive_call');
  const member = await plane().createMember('member', owner.orgId);
  expect(await itemsOfKind('sensitive_call', member)).toBeUndefined();
  const stranger = await plane().createMember('owner');
  expect(await itemsOfKind('sensitive_call', stranger)).toBeUndefined();
  await owner.call('DELETE', `/v1/api-keys/${key}`);
  expect(await itemsOfKind('sensitive_call')).toBeUndefined();
});
