/**
 * From reported usage to the webhook receiver: two control planes on one database record the reports of data planes.
 */

import { uuidv7 } from '@acg/base/uuidv7';
import { formatCircuitKey } from '@acg/controlplane/breaker/provider-origin-org-circuit-key';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import type { IUsageRecord } from '@acg/proto/messages';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startControlPlane, type TestControlPlane, useControlPlane } from './fixtures/control-plane.js';
import { waitUntil } from './fixtures/wait-until.js';
import { encodeReport, newId, usageRecord } from './ledger/usage-fixture.js';
import { type Receiver, startReceiver } from './webhooks/webhook-receiver.js';

const plane = useControlPlane();
let second: TestControlPlane;
let receiver: Receiver;
beforeAll(async () => {
  second = await startControlPlane({}, plane().database);
  receiver = await startReceiver();
});
afterAll(async () => {
  await second.stop();
  await receiver.close();
});

test('detectors: reported usage fires budget, threshold and abuse events once, on any control plane', async () => {
  const admin = await plane().createMember('admin');
  const { id: projectId } = (await admin.call('POST', '/v1/projects', { name: 'P' })).body.project;
  const input = { projectId, name: 'Ada', budgetCentsMonthly: 100 };
  const { agent } = (await admin.call('POST', '/v1/agents', input)).body;
  const events = ['agent.budget_exceeded', 'usage.threshold', 'abuse.detected'];
  await admin.call('POST', '/v1/webhooks', { url: `${receiver.url}/conclusions`, events });
  const record = (): IUsageRecord => ({
    id: uuidv7(Date.now()),
    keyId: uuidv7(0),
    agentId: agent.id,
    orgId: admin.orgId,
    providerSlug: 'openai',
    accountId: uuidv7(0),
    startedAtMs: Date.now(),
    method: 'POST',
    path: '/v1/chat/completions',
    status: 401,
    costNanos: 20_000_000, // 2 cents
    circuitKey: 'openai|https://api.openai.com',
    circuitOutcome: 1,
  });
  const batches = Array.from({ length: 20 }, () => Array.from({ length: 3 }, record));
  const report = (target: TestControlPlane, records: IUsageRecord[]) =>
    target.service.usage.ingest.ingestReport(encodeReport({ dataPlaneId: 'dp', records }));
  // Every batch arrives twice, at both control planes: a repeated record must not count again.
  await Promise.all(batches.flatMap((records) => [report(plane(), records), report(second, records)]));
  await waitUntil('all three have arrived', () => receiver.received.length >= 3);
  await waitUntil('nothing waits any more', async () => {
    const [row] = await plane().database.sql<{ left: number }[]>`
      select (select count(*) from events where fanned_out_at is null)
           + (select count(*) from webhook_deliveries where status = 'pending') as left`;
    return row!.left === 0;
  });
  expect(receiver.received.map((one) => one.event).sort()).toEqual([...events].sort());
  const data = (event: string) => JSON.parse(receiver.received.find((one) => one.event === event)!.body).data;
  expect(data('agent.budget_exceeded')).toMatchObject({ agentId: agent.id, agentName: 'Ada', budgetCentsMonthly: 100 });
  expect(data('agent.budget_exceeded').spentCents).toBeGreaterThanOrEqual(100);
  expect(data('usage.threshold')).toMatchObject({ thresholdPercent: 80, orgId: admin.orgId });
  expect(data('abuse.detected')).toMatchObject({ reason: 'auth_failures', agentId: agent.id });
});

test('detectors: lowering a budget below the spend through the API fires at once', async () => {
  const admin = await plane().createMember('admin');
  const { id: projectId } = (await admin.call('POST', '/v1/projects', { name: 'P' })).body.project;
  const { agent } = (await admin.call('POST', '/v1/agents', { projectId, name: 'Bob' })).body;
  await admin.call('POST', '/v1/webhooks', { url: `${receiver.url}/lowered`, events: ['agent.budget_exceeded'] });
  const month = new Date().toISOString().slice(0, 7);
  await plane().database.sql`
    insert into month_spend (agent_id, month, org_id, spent_nanos)
    values (${agent.id}, ${month}, ${admin.orgId}, 500000000)`;
  expect((await admin.call('PATCH', `/v1/agents/${agent.id}`, { budgetCentsMonthly: 50 })).status).toBe(200);
  const got = await waitUntil('it is told', () => receiver.received.find((one) => one.path === '/lowered'));
  expect(JSON.parse(got.body).data).toMatchObject({ agentId: agent.id, budgetCentsMonthly: 50, spentCents: 50 });
});

test.each([
  ['agent.budget_exceeded', { budgetCentsMonthly: 50 }],
  ['usage.threshold', { usageThresholds: [10, 95] }],
])('conclusions: %s is written in the transaction of the change that makes it true', async (event, patch) => {
  const admin = await plane().createMember('admin');
  const { id: projectId } = (await admin.call('POST', '/v1/projects', { name: 'P' })).body.project;
  const input = { projectId, name: 'Cy', budgetCentsMonthly: 200 };
  const { agent } = (await admin.call('POST', '/v1/agents', input)).body;
  await plane().database.sql`
    insert into month_spend (agent_id, month, org_id, spent_nanos)
    values (${agent.id}, ${new Date().toISOString().slice(0, 7)}, ${admin.orgId}, 500000000)`;
  const told = async (): Promise<number> => {
    const [row] = await plane().database.sql<{ n: number }[]>`
      select count(*) as n from events where org_id = ${admin.orgId} and event = ${event}`;
    return row!.n;
  };
  expect(await told()).toBe(0);
  expect((await admin.call('PATCH', `/v1/agents/${agent.id}`, patch)).status).toBe(200);
  expect(await told()).toBe(1);
});

test('detectors: rejections by a hard budget fire the exceeded event once; those of a soft budget do not', async () => {
  const { sql } = plane().database;
  const admin = await plane().createMember('admin');
  const { id: projectId } = (await admin.call('POST', '/v1/projects', { name: 'P' })).body.project;
  const refused = async (budgetMode: 'hard' | 'soft', reason: string) => {
    const input = { projectId, name: `${budgetMode} ${reason}`, budgetCentsMonthly: 100 };
    const { agent } = (await admin.call('POST', '/v1/agents', input)).body;
    await sql`update agents set budget_mode = ${budgetMode} where id = ${agent.id}`;
    const minuteMs = Date.now() - (Date.now() % 60_000);
    return {
      id: uuidv7(Date.now()),
      orgId: admin.orgId,
      agentId: agent.id,
      providerSlug: 'openai',
      reason,
      minuteMs,
      count: 1,
    };
  };
  const rejections = [await refused('hard', 'rpm'), await refused('soft', 'budget'), await refused('hard', 'budget')];
  // Delayed reports, or reports of several data planes, contain several counts of an agent.
  rejections.push({ ...rejections.at(-1)!, id: uuidv7(Date.now()) });
  await plane().service.usage.ingest.ingestReport(encodeReport({ dataPlaneId: 'dp', rejections }));
  const exceeded = await sql<{ agent: string }[]>`
    select data->>'agentName' as agent from events where org_id = ${admin.orgId} and event = 'agent.budget_exceeded'`;
  expect([...exceeded]).toEqual([{ agent: 'hard budget' }]);
});

test('detectors: recorded failures open the breaker that they name', async () => {
  const { orgId } = await plane().createMember('owner');
  const circuit = formatCircuitKey({ providerSlug: 'own', origin: `https://${orgId}.example`, orgId });
  const records = Array.from({ length: 50 }, () =>
    usageRecord({
      orgId,
      agentId: newId(),
      providerSlug: 'own',
      circuitKey: circuit,
      circuitEpoch: 0,
      circuitOutcome: 2,
    }),
  );
  await plane().service.usage.ingest.ingestReport(encodeReport({ dataPlaneId: 'dp', records }));
  await waitUntil('it is open', async () => {
    const [row] = await plane().database.sql`select state from circuits where circuit_key = ${circuit}`;
    return row?.state === 'OPEN';
  });
});

test('status: a burst of requests shares one query and needs no session', async () => {
  const answers = await Promise.all(Array.from({ length: 300 }, () => plane().call('GET', '/v1/status')));
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
  const times = new Set(answers.map((answer) => answer.body.lastUpdated));
  expect(times.size).toBeLessThan(20);
  const [first] = answers;
  expect(new Set(first!.body.providers.map((one: { slug: string }) => one.slug))).toEqual(
    new Set(new Catalogue().slugs),
  );
  expect(Object.keys(first!.body)).toEqual(['status', 'providers', 'counterStoreOutage', 'lastUpdated']);
});
