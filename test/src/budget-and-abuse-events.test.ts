/** Budget and abuse events on a real Postgres: each is sent once, regardless of the writer and the number of writes. */

import { randomUUID } from 'node:crypto';
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import { uuidv7 } from '@acg/base/uuidv7';
import { type AbuseSignals, deleteOldAbuseCounts, detectAbuse } from '@acg/controlplane/detectors/abuse-event-detector';
import {
  detectReachedBudgets,
  recheckBudgetOfAgent,
  sweepBudgetAlerts,
} from '@acg/controlplane/detectors/budget-alerts';
import { appendEvent } from '@acg/controlplane/events/append-events';
import { expect, test } from 'vitest';
import { useTestDatabase } from './fixtures/test-database.js';

const database = useTestDatabase();
const month = new Date().toISOString().slice(0, 7);
const LIMITS = { rejections: 300, authFailures: 50, addresses: 20 };

interface TestAgent {
  readonly id: string;
  readonly orgId: string;
}

async function createAgent(budgetCents: number | null = 1_000, thresholds = [50, 80]): Promise<TestAgent> {
  const { sql } = database();
  const [orgId, project, id] = [uuidv7(Date.now()), uuidv7(Date.now()), uuidv7(Date.now())];
  await sql`insert into organizations (id, name, slug) values (${orgId}, 'O', ${orgId})`;
  await sql`insert into projects (id, org_id, name, slug) values (${project}, ${orgId}, 'P', 'p')`;
  await sql`
    insert into agents (id, org_id, project_id, name, slug, budget_cents_monthly, usage_thresholds)
    values (${id}, ${orgId}, ${project}, 'Ada', 'a', ${budgetCents}, ${thresholds})`;
  return { id, orgId };
}

/** Records spend as the ledger does: the month's row first, then the facts, in one transaction. */
async function recordSpend({ id, orgId }: TestAgent, cents: number): Promise<void> {
  await database().sql.begin(async (tx) => {
    const nanos = cents * NANOS_PER_CENT;
    const [row] = await tx<{ spent: number }[]>`
      insert into month_spend as m (agent_id, month, org_id, spent_nanos) values (${id}, ${month}, ${orgId}, ${nanos})
      on conflict (agent_id, month) do update set spent_nanos = m.spent_nanos + excluded.spent_nanos
      returning spent_nanos as spent`;
    await detectReachedBudgets(tx, [
      { agentId: id, orgId, month, beforeNanos: row!.spent - nanos, afterNanos: row!.spent },
    ]);
  });
}
const listEvents = async ({ orgId }: TestAgent): Promise<{ event: string; data: Record<string, unknown> }[]> => [
  ...(await database().sql<{ event: string; data: Record<string, unknown> }[]>`
    select event, data from events where org_id = ${orgId} order by id`),
];
/** Sorted, because events of one millisecond have no order. */
const eventNames = async (of: TestAgent): Promise<string[]> =>
  (await listEvents(of)).map(({ event, data }) => `${event} ${data.thresholdPercent ?? ''}`.trim()).sort();

test('events: thresholds and the budget fire once each while 60 bookings run at once', async () => {
  const ada = await createAgent();
  await Promise.all(Array.from({ length: 60 }, () => recordSpend(ada, 20)));
  expect(await eventNames(ada)).toEqual(['agent.budget_exceeded', 'usage.threshold 50', 'usage.threshold 80']);
  const exceeded = (await listEvents(ada)).find(({ event }) => event === 'agent.budget_exceeded')!;
  expect(exceeded.data).toEqual({
    agentId: ada.id,
    agentName: 'Ada',
    budgetCentsMonthly: 1_000,
    spentCents: 1_000,
    orgId: ada.orgId,
  });
});

test('events: one large booking passes every limit at once', async () => {
  const ada = await createAgent();
  await recordSpend(ada, 499);
  expect(await eventNames(ada)).toEqual([]);
  await recordSpend(ada, 5_000);
  expect(await eventNames(ada)).toEqual(['agent.budget_exceeded', 'usage.threshold 50', 'usage.threshold 80']);
});

test('events: a budget lowered to the spend fires at once, and raised and reached again fires nothing new', async () => {
  const { sql } = database();
  const ada = await createAgent(null);
  await recordSpend(ada, 600);
  expect(await eventNames(ada)).toEqual([]);
  const setBudget = (cents: number) =>
    sql.begin(async (tx) => {
      await tx`update agents set budget_cents_monthly = ${cents} where id = ${ada.id}`;
      await recheckBudgetOfAgent(tx, ada.id);
    });
  await setBudget(1_000);
  expect(await eventNames(ada)).toEqual(['usage.threshold 50']);
  await setBudget(600);
  const all = ['agent.budget_exceeded', 'usage.threshold 50', 'usage.threshold 80'];
  expect(await eventNames(ada)).toEqual(all);
  await setBudget(2_000);
  await recordSpend(ada, 1_400);
  await setBudget(100);
  await sweepBudgetAlerts(sql);
  expect(await eventNames(ada)).toEqual(all);
});

test('events: the sweep finds missed alerts, once', async () => {
  const { sql } = database();
  const ada = await createAgent(null, [80]);
  await recordSpend(ada, 850);
  await sql`update agents set budget_cents_monthly = 1000 where id = ${ada.id}`;
  await Promise.all([sweepBudgetAlerts(sql), sweepBudgetAlerts(sql), sweepBudgetAlerts(sql)]);
  expect(await sweepBudgetAlerts(sql)).toBe(0); // sent alerts do not displace missed ones
  expect(await eventNames(ada)).toEqual(['usage.threshold 80']);
});

test('events: a budget of zero without spend is no news', async () => {
  const ada = await createAgent(0);
  await database().sql.begin((tx) => recheckBudgetOfAgent(tx, ada.id));
  expect(await eventNames(ada)).toEqual([]);
  await recordSpend(ada, 1);
  expect(await eventNames(ada)).toContain('agent.budget_exceeded');
});

test('events: what is rolled back never happened, and may happen later', async () => {
  const { sql } = database();
  const ada = await createAgent(1_000, []);
  const facts = { agentId: ada.id, orgId: ada.orgId, month, beforeNanos: 0, afterNanos: 1_000 * NANOS_PER_CENT };
  await sql
    .begin(async (tx) => {
      await detectReachedBudgets(tx, [facts]);
      throw new Error('undone');
    })
    .catch(() => {});
  expect(await eventNames(ada)).toEqual([]);
  await sql.begin((tx) => detectReachedBudgets(tx, [facts]));
  expect(await eventNames(ada)).toEqual(['agent.budget_exceeded']);
});

test('events: data outside its schema never reaches the outbox', async () => {
  const ada = await createAgent();
  const wrong = { agentId: ada.id, agentName: 'Ada', projectId: ada.id, orgId: ada.orgId, secretKey: 'acg_x' };
  await expect(database().sql.begin((tx) => appendEvent(tx, ada.orgId, 'agent.created', wrong))).rejects.toThrow(
    'data of agent.created',
  );
  expect(await eventNames(ada)).toEqual([]);
});

const nowMinuteMs = () => Date.now() - (Date.now() % 60_000);
const recordAbuseSigns = (signs: Partial<AbuseSignals>) =>
  database().sql.begin((tx) => detectAbuse(tx, LIMITS, { entries: [], rejections: [], ipObservations: [], ...signs }));
const recordRejections = ({ id: agentId }: TestAgent, count: number, minutesAgo = 0, reason = 'rpm') => ({
  rejections: [{ agentId, reason, minuteMs: nowMinuteMs() - minutesAgo * 60_000, count }],
});

test('abuse: 300 rejections in five minutes, counted by several control planes at once, are one event', async () => {
  const ada = await createAgent();
  await recordAbuseSigns(recordRejections(ada, 200, 6)); // too old to count with the rest
  await recordAbuseSigns(recordRejections(ada, 500, 0, 'circuit_open')); // not the agent's doing
  await recordAbuseSigns(recordRejections(ada, 100, 1));
  await recordAbuseSigns(recordRejections(ada, 199, 0));
  expect(await eventNames(ada)).toEqual([]);
  await Promise.all([
    recordAbuseSigns(recordRejections(ada, 1)),
    recordAbuseSigns(recordRejections(ada, 50)),
    recordAbuseSigns(recordRejections(ada, 50)),
  ]);
  const events = await listEvents(ada);
  expect(events).toHaveLength(1);
  expect(events[0]!.data).toMatchObject({
    agentId: ada.id,
    reason: 'rejections',
    windowSeconds: 300,
    orgId: ada.orgId,
  });
  expect(events[0]!.data.count).toBeGreaterThanOrEqual(300);
});

test('abuse: 50 upstream 401 and 403 are one event; the next follows after an hour at the earliest', async () => {
  const { sql } = database();
  const ada = await createAgent();
  const calls = (count: number, upstreamStatus: number) => ({
    entries: Array.from({ length: count }, () => ({ agentId: ada.id, upstreamStatus, startedAtMs: Date.now() })),
  });
  await recordAbuseSigns(calls(500, 200));
  await recordAbuseSigns(calls(49, 401));
  expect(await eventNames(ada)).toEqual([]);
  await recordAbuseSigns(calls(1, 403));
  expect((await listEvents(ada))[0]!.data).toMatchObject({ reason: 'auth_failures', count: 50 });
  await recordAbuseSigns(calls(100, 401));
  await recordAbuseSigns(recordRejections(ada, 1_000));
  expect(await eventNames(ada)).toHaveLength(1);
  const later = (minutes: number) => sql`
    update event_facts set at = at - make_interval(mins => ${minutes}) where fact = ${`abuse:${ada.id}`}`;
  await later(58);
  await recordAbuseSigns(calls(1, 401));
  expect(await eventNames(ada)).toHaveLength(1);
  await later(2);
  await recordAbuseSigns(calls(1, 401));
  expect(await eventNames(ada)).toHaveLength(2);
});

test('abuse: one token from 20 addresses is an event; old ones do not count, and the table stays bounded', async () => {
  const { sql } = database();
  const ada = await createAgent();
  const keyId = randomUUID();
  const seen = (from: number, count: number, agoMs = 0) => ({
    ipObservations: Array.from({ length: count }, (_, i) => ({
      agentId: ada.id,
      keyId,
      addressHash: (from + i).toString(16).padStart(64, '0'),
      seenAtMs: Date.now() - agoMs,
    })),
  });
  await recordAbuseSigns(seen(0, 15, 11 * 60_000));
  await recordAbuseSigns(seen(100, 19));
  await recordAbuseSigns(seen(100, 19));
  expect(await eventNames(ada)).toEqual([]);
  await recordAbuseSigns(seen(200, 1));
  expect((await listEvents(ada))[0]!.data).toMatchObject({ reason: 'addresses', count: 20, windowSeconds: 600 });
  await deleteOldAbuseCounts(sql);
  for (let i = 0; i < 10; i++) await recordAbuseSigns(seen(1_000 * (i + 1), 500));
  const [kept] = await sql<{ count: number }[]>`select count(*) as count from abuse_addresses where key_id = ${keyId}`;
  expect(kept!.count).toBe(25);
});
