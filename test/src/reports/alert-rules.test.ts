/** Alert rules: calls are booked, rules are evaluated on rollups, and people acknowledge and silence their alerts. */
import { createLogger } from '@acg/base/log';
import { evaluateDueAlertRules } from '@acg/controlplane/alert-rules/evaluate-alert-rules';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { createIngest, insertAgent, usageRecord } from '../ledger/usage-fixture.js';

const plane = useControlPlane();
const log = createLogger('test', 'silent');
const WEEK_MS = 7 * 86_400_000;
const NANOS_PER_CENT = 10_000_000;
let owner: Member;
let agent: { readonly id: string; readonly projectId: string };

beforeAll(async () => {
  await createIngest(plane().database.sql).report({ dataPlaneId: 'd', records: [usageRecord()] });
});
beforeEach(async () => {
  owner = await plane().createMember('owner');
  const { id } = await insertAgent(plane().database.sql, owner.orgId);
  const [row] = await plane().database.sql<{ projectId: string }[]>`
    select project_id as "projectId" from agents where id = ${id}`;
  agent = { id, ...row! };
});

interface Calls {
  readonly count?: number;
  readonly cents?: number;
  readonly status?: number;
  readonly durationMs?: number;
  readonly agoMs?: number;
}

async function book({ count = 1, cents = 0, status = 200, durationMs = 100, agoMs = 0 }: Calls): Promise<void> {
  const { id: agentId, projectId } = agent;
  const records = Array.from({ length: count }, () =>
    usageRecord({
      ...{ agentId, projectId, orgId: owner.orgId, startedAtMs: Date.now() - agoMs, durationMs },
      ...{ costNanos: (cents * NANOS_PER_CENT) / count, responseStatus: status },
    }),
  );
  await createIngest(plane().database.sql).report({ dataPlaneId: 'd', records });
}

const createRule = async (more: object) =>
  (await owner.call('POST', '/v1/alert-rules', { name: 'r', windowHours: 2, ...more })).body.rule;
const ruleOf = async (id: string) => (await owner.call('GET', `/v1/alert-rules/${id}`)).body.rule;
const alertsOf = async (ruleId: string) => (await owner.call('GET', `/v1/alerts?ruleId=${ruleId}`)).body.alerts;
const eventsOf = async () =>
  (await owner.call('GET', '/v1/events')).body.events.filter(({ event }: { event: string }) =>
    event.startsWith('alert.'),
  );

/** The background job of the control plane may evaluate it instead. */
async function evaluate(id: string): Promise<void> {
  const { sql } = plane().database;
  // An evaluation that has begun before has no effect.
  await sql`update alert_rules set evaluated_at = null, revision = revision + 1 where id = ${id}`;
  await waitUntil('the rule is evaluated', async () => {
    await evaluateDueAlertRules(sql, log);
    return (await ruleOf(id)).evaluatedAt !== null;
  });
}

test('spend: opens once, is acknowledged, and resolves an hour after it was last met', async () => {
  const { sql } = plane().database;
  const rule = await createRule({ metric: 'spend', atLeast: 100, increasePercent: 50 });
  await book({ cents: 100, agoMs: WEEK_MS });
  await book({ cents: 149 });
  await evaluate(rule.id);
  expect(await ruleOf(rule.id)).toMatchObject({ value: 149, baseline: 100, openAlertId: null, scope: 'org' });
  expect(await alertsOf(rule.id)).toEqual([]);

  await book({ cents: 1 });
  await evaluate(rule.id);
  await evaluate(rule.id);
  const [alert, ...others] = await alertsOf(rule.id);
  expect([alert, others]).toMatchObject([{ state: 'open', value: 150, baseline: 100, ruleName: 'r' }, []]);
  expect(await eventsOf()).toMatchObject([
    { event: 'alert.opened', data: { alertId: alert.id, ruleId: rule.id, metric: 'spend', value: 150, baseline: 100 } },
  ]);

  const attention = async () => (await owner.call('GET', '/v1/attention')).body.attention;
  const inAttention = async () => (await attention()).find(({ kind }: { kind: string }) => kind === 'alert_open');
  const item = { id: alert.id, name: 'r', metric: 'spend', at: alert.openedAt };
  expect(await inAttention()).toMatchObject({ total: 1, things: [item] });
  await sql`update alert_rules set silenced_until = now() + interval '1 hour' where id = ${rule.id}`;
  expect(await inAttention()).toBeUndefined();
  await sql`update alert_rules set silenced_until = now() - interval '1 hour' where id = ${rule.id}`;
  expect(await inAttention()).toMatchObject({ total: 1 });
  const viewer = await plane().createMember('viewer', owner.orgId);
  expect((await viewer.call('POST', `/v1/alerts/${alert.id}/acknowledge`)).status).toBe(403);
  const member = await plane().createMember('member', owner.orgId);
  const seen = await member.call('POST', `/v1/alerts/${alert.id}/acknowledge`);
  expect(seen.body.alert).toMatchObject({ state: 'acknowledged', acknowledgedBy: expect.any(String) });
  expect(await inAttention()).toBeUndefined();
  await member.call('POST', `/v1/alerts/${alert.id}/acknowledge`);
  const audit = (await owner.call('GET', '/v1/audit?action=alert.acknowledge')).body.entries;
  expect(audit).toMatchObject([{ actor: { userId: member.userId }, target: { id: alert.id } }]);

  await sql`update alert_rules set at_least = 1000 where id = ${rule.id}`;
  await evaluate(rule.id);
  expect((await alertsOf(rule.id))[0].resolvedAt).toBeNull();
  await sql`update alerts set met_at = met_at - interval '1 hour' where id = ${alert.id}`;
  await evaluate(rule.id);
  expect(await alertsOf(rule.id)).toMatchObject([{ state: 'resolved' }]);
  expect((await eventsOf()).map(({ event }: { event: string }) => event)).toEqual(['alert.resolved', 'alert.opened']);
  expect((await member.call('POST', `/v1/alerts/${alert.id}/acknowledge`)).status).toBe(409);
});

test('a silence holds alert.opened back until its end, and no alert.resolved of an alert that was sent', async () => {
  const rule = await createRule({ metric: 'spend', atLeast: 1, agentId: agent.id });
  await book({ cents: 5 });
  const silencedUntil = new Date(Date.now() + 3_600_000).toISOString();
  await owner.call('PATCH', `/v1/alert-rules/${rule.id}`, { silencedUntil });
  await evaluate(rule.id);
  expect(await alertsOf(rule.id)).toMatchObject([{ state: 'open', baseline: null, silencedUntil, agentId: agent.id }]);
  expect(await eventsOf()).toEqual([]);
  await owner.call('PATCH', `/v1/alert-rules/${rule.id}`, { silencedUntil: null });
  await evaluate(rule.id);
  expect(await eventsOf()).toMatchObject([{ event: 'alert.opened', data: { scope: 'agent', agentId: agent.id } }]);

  const [{ id }] = await alertsOf(rule.id);
  const until = new Date(Date.now() + 60_000).toISOString();
  expect((await owner.call('POST', `/v1/alerts/${id}/silence`, { until })).body.alert.silencedUntil).toBe(until);
  const audit = (await owner.call('GET', '/v1/audit?action=alert.silence')).body.entries;
  expect(audit[0].changes.silencedUntil).toEqual([null, until]);
  for (const wrong of [new Date(Date.now() - 1_000), new Date(Date.now() + 31 * 86_400_000)])
    expect((await owner.call('POST', `/v1/alerts/${id}/silence`, { until: wrong.toISOString() })).status).toBe(400);
  await plane().database.sql`update alert_rules set at_least = 1000 where id = ${rule.id}`;
  await plane().database.sql`update alerts set met_at = met_at - interval '1 hour' where id = ${id}`;
  await evaluate(rule.id);
  expect(await alertsOf(rule.id)).toMatchObject([{ state: 'resolved', silencedUntil: until }]);
  expect((await eventsOf())[0]).toMatchObject({ event: 'alert.resolved', data: { alertId: id } });
});

test('only another condition, or the switch, makes a rule due at once; switching off resolves its alert', async () => {
  const rule = await createRule({ metric: 'spend', atLeast: 1, agentId: agent.id });
  await book({ cents: 5 });
  await evaluate(rule.id);
  const patch = async (body: object) => (await owner.call('PATCH', `/v1/alert-rules/${rule.id}`, body)).body.rule;
  const silencedUntil = new Date(Date.now() + 3_600_000).toISOString();
  const { evaluatedAt } = await ruleOf(rule.id);
  for (const body of [{ name: 'other' }, { silencedUntil }, { atLeast: 1, enabled: true }])
    expect(await patch(body)).toMatchObject({ evaluatedAt, value: 5 });
  expect(await patch({ atLeast: 2 })).toMatchObject({ evaluatedAt: null, value: null });
  await evaluate(rule.id);
  expect(await patch({ enabled: false })).toMatchObject({ evaluatedAt: null, openAlertId: null });
  expect(await alertsOf(rule.id)).toMatchObject([{ state: 'resolved' }]);
});

test('rules and alerts of another organization are not found', async () => {
  const rule = await createRule({ metric: 'spend', atLeast: 1 });
  await book({ cents: 5 });
  await evaluate(rule.id);
  const [{ id }] = await alertsOf(rule.id);
  const other = await plane().createMember('owner');
  const until = new Date(Date.now() + 60_000).toISOString();
  for (const [method, path, body] of [
    ['GET', `/v1/alert-rules/${rule.id}`],
    ['PATCH', `/v1/alert-rules/${rule.id}`, { name: 'x' }],
    ['DELETE', `/v1/alert-rules/${rule.id}`],
    ['GET', `/v1/alerts?ruleId=${rule.id}`],
    ['POST', `/v1/alerts/${id}/acknowledge`],
    ['POST', `/v1/alerts/${id}/silence`, { until }],
  ] as const)
    expect([path, (await other.call(method, path, body)).status]).toEqual([path, 404]);
  expect(await ruleOf(rule.id)).toMatchObject({ name: 'r', silencedUntil: null, openAlertId: id });
  expect(await alertsOf(rule.id)).toMatchObject([{ state: 'open' }]);
});

test('error rate and latency need 20 calls, and compare with the same hours of last week', async () => {
  const errors = await createRule({ metric: 'error_rate', atLeast: 10, projectId: agent.projectId });
  const latency = await createRule({ metric: 'latency', atLeast: 500, agentId: agent.id });
  await book({ count: 20, durationMs: 900, agoMs: WEEK_MS });
  await book({ count: 15, durationMs: 2_000 });
  await book({ count: 4, durationMs: 2_000, status: 500 });
  for (const { id } of [errors, latency]) await evaluate(id);
  expect(await ruleOf(errors.id)).toMatchObject({ value: null, openAlertId: null, scope: 'project' });
  await book({ durationMs: 2_000, status: 500 });
  for (const { id } of [errors, latency]) await evaluate(id);
  expect(await ruleOf(errors.id)).toMatchObject({ value: 25, baseline: 0, openAlertId: expect.any(String) });
  const measured = await ruleOf(latency.id);
  expect(measured.openAlertId).not.toBeNull();
  expect(measured.value).toBeCloseTo(2_000, -2);
  expect(measured.baseline).toBeCloseTo(900, -2);
});

test('an organization has at most 50 rules, for its own projects and agents only', async () => {
  const other = await plane().createMember('owner');
  const foreign = { name: 'r', metric: 'spend', atLeast: 1 };
  expect((await other.call('POST', '/v1/alert-rules', { ...foreign, agentId: agent.id })).status).toBe(404);
  expect((await other.call('POST', '/v1/alert-rules', { ...foreign, projectId: agent.projectId })).status).toBe(404);
  const both = await owner.call('POST', '/v1/alert-rules', {
    ...foreign,
    agentId: agent.id,
    projectId: agent.projectId,
  });
  expect(both.status).toBe(400);
  expect((await owner.call('POST', '/v1/alert-rules', { ...foreign, metric: 'error_rate', atLeast: 101 })).status).toBe(
    400,
  );
  for (let i = 0; i < 50; i++) await createRule({ metric: 'spend', atLeast: 1 });
  const refused = await owner.call('POST', '/v1/alert-rules', foreign);
  expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('at most 50 alert rules')]);
});
