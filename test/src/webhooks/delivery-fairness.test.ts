/** Organizations share the webhook slots: the receivers of one organization cost the others nothing. */
import { randomUUID } from 'node:crypto';
import { createLogger } from '@acg/base/log';
import { assertEventData, type EventName } from '@acg/controlplane/events/event-catalogue';
import { deleteOldEvents } from '@acg/controlplane/events/event-retention';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { DeliveryDispatcher } from '../../../controlplane/src/webhooks/delivery-dispatcher.js';
import { claimDeliveries, recordOutcomes } from '../../../controlplane/src/webhooks/delivery-queue.js';
import { fanOutEvents } from '../../../controlplane/src/webhooks/event-fanout.js';
import { useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';

// The dispatcher loop is stopped: the tests claim and send.
const plane = useControlPlane();
const sql = () => plane().database.sql;
beforeAll(() => plane().service.stop());
afterEach(() => sql()`delete from webhook_deliveries`);

const LEASE = {
  endpointSlots: 4,
  restrictedEndpoints: [],
  orgSlots: 100,
  restrictedOrgs: [],
  leaseMs: 60_000,
  afterEndpointId: null,
};

async function createOrganization(): Promise<string> {
  const [row] = await sql()<{ id: string }[]>`
    insert into organizations (id, name, slug) select id, 'org', id from (select gen_random_uuid() as id) i returning id`;
  return row!.id;
}

/** Inserts deliveries due since `agoMin` minutes: `each` for each of `endpoints` endpoints. */
async function insertDueDeliveries(orgId: string, endpoints: number, each: number, agoMin = 0): Promise<void> {
  await sql()`
    with e as (
      insert into webhook_endpoints (id, org_id, url, events, key_id, nonce, ciphertext)
      select gen_random_uuid(), ${orgId}, 'https://hooks.example.com', '{agent.created}', 'k', '', ''
        from generate_series(1, ${endpoints}) returning id)
    insert into webhook_deliveries (id, endpoint_id, org_id, event_id, event, payload, next_attempt_at)
    select gen_random_uuid(), e.id, ${orgId}, gen_random_uuid(), 'agent.created', '{}',
           now() - ${agoMin} * interval '1 minute' from e, generate_series(1, ${each})`;
}

test('fairness: due deliveries are claimed round-robin over organizations, within the limit of each', async () => {
  const [big, small, full] = [await createOrganization(), await createOrganization(), await createOrganization()];
  await insertDueDeliveries(big, 5, 10, 60);
  await insertDueDeliveries(full, 1, 10, 50);
  await insertDueDeliveries(small, 1, 2, 1);
  const first = await claimDeliveries(sql(), { ...LEASE, limit: 5, restrictedOrgs: [{ orgId: full, freeSlots: 1 }] });
  const count = (orgId: string) => first.deliveries.filter((one) => one.orgId === orgId).length;
  expect([count(big), count(small), count(full)]).toEqual([2, 2, 1]);
  const second = await claimDeliveries(sql(), {
    ...LEASE,
    limit: 50,
    restrictedOrgs: [{ orgId: full, freeSlots: 0 }],
    orgSlots: 6,
  });
  expect(second.deliveries.map((one) => one.orgId)).toEqual(new Array(6).fill(big));
});

test('fairness: organizations whose receivers all hang leave slots for the next one', async () => {
  const healthy = await createOrganization();
  const hostile = [await createOrganization(), await createOrganization(), await createOrganization()];
  for (const orgId of hostile) await insertDueDeliveries(orgId, 100, 4);
  const attempted: string[] = [];
  const dispatcher = new DeliveryDispatcher({
    sql: sql(),
    log: createLogger('test', 'silent'),
    attempt: async ({ orgId }, stop) => {
      attempted.push(orgId);
      if (orgId !== healthy) await new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
      return { statusCode: 200, error: null, durationMs: 1, responseBody: '' };
    },
    retryDelaysMs: [],
    timeoutMs: 3_600_000,
    workersMax: 16,
    observe: () => {},
  });
  await dispatcher.start();
  await waitUntil('the hostile ones hold all they may', () => attempted.length >= 12);
  await insertDueDeliveries(healthy, 5, 4);
  dispatcher.wake();
  await waitUntil('the healthy one has everything', () => attempted.filter((orgId) => orgId === healthy).length === 20);
  for (const orgId of hostile) expect(attempted.filter((other) => other === orgId).length).toBeLessThanOrEqual(5);
  await dispatcher.stop();
});

/** Inserts events that wait for their deliveries since `agoMin` minutes. */
async function insertEvents(orgId: string, count: number, agoMin = 0): Promise<void> {
  await sql()`
    insert into events (id, org_id, event, data, occurred_at)
    select gen_random_uuid(), ${orgId}, 'agent.created', '{}', now() - ${agoMin} * interval '1 minute'
      from generate_series(1, ${count})`;
}

const endpoints = async (orgId: string, count: number): Promise<void> => {
  await insertDueDeliveries(orgId, count, 0);
  await sql()`update webhook_endpoints set created_at = now() - interval '1 day' where org_id = ${orgId}`;
};

const deliveriesOf = async (orgId: string): Promise<number> => {
  const [row] = await sql()<{ n: number }[]>`select count(*) as n from webhook_deliveries where org_id = ${orgId}`;
  return row!.n;
};

test('fan-out: any number of events and endpoints of one organization delays no other organization', async () => {
  const [hostile, healthy] = [await createOrganization(), await createOrganization()];
  await endpoints(hostile, 100);
  await endpoints(healthy, 1);
  await insertEvents(hostile, 1_000, 60);
  await insertEvents(healthy, 1);
  await fanOutEvents(sql(), null);
  expect(await deliveriesOf(healthy)).toBe(1);
  expect(await deliveriesOf(hostile)).toBeLessThanOrEqual(2_000);
  await sql()`delete from events`;
});

test('fan-out: events wait while their organization has enough pending deliveries, and continue afterwards', async () => {
  const [full, healthy] = [await createOrganization(), await createOrganization()];
  await endpoints(healthy, 1);
  await insertDueDeliveries(full, 2, 5);
  await sql()`update webhook_endpoints set created_at = now() - interval '1 day' where org_id = ${full}`;
  for (const orgId of [full, healthy]) await insertEvents(orgId, 2);
  expect((await fanOutEvents(sql(), null, 10)).events).toBe(2);
  expect([await deliveriesOf(full), await deliveriesOf(healthy)]).toEqual([10, 2]);
  await sql()`
    update webhook_deliveries set status = 'success' where id in (
      select id from webhook_deliveries where org_id = ${full} limit 1)`;
  expect((await fanOutEvents(sql(), null, 10)).events).toBe(2);
  expect(await deliveriesOf(full)).toBe(14);
});

test('fan-out: deliveries of a paused endpoint delay no event', async () => {
  const orgId = await createOrganization();
  await insertDueDeliveries(orgId, 1, 5);
  await sql()`update webhook_endpoints set status = 'paused' where org_id = ${orgId}`;
  await endpoints(orgId, 1);
  await insertEvents(orgId, 1);
  expect((await fanOutEvents(sql(), null, 5)).events).toBe(1);
  expect(await deliveriesOf(orgId)).toBe(6);
});

test('fan-out: a dispatcher handles all organizations, and each event reaches each endpoint once', async () => {
  const orgs = await Promise.all(Array.from({ length: 150 }, createOrganization));
  for (const orgId of orgs) await endpoints(orgId, 2);
  for (const orgId of orgs) await insertEvents(orgId, 3);
  const dispatcher = new DeliveryDispatcher({
    sql: sql(),
    log: createLogger('test', 'silent'),
    attempt: async () => ({ statusCode: 200, error: null, durationMs: 1, responseBody: '' }),
    retryDelaysMs: [],
    timeoutMs: 3_600_000,
    pollMs: 3_600_000,
    observe: () => {},
  });
  await dispatcher.start();
  const counts = async () => sql()<{ n: number; each: number }[]>`
    select count(*) as n, count(distinct (endpoint_id, event_id)) as each from webhook_deliveries
     where org_id = any(${orgs})`;
  await waitUntil('all of it', async () => (await counts())[0]!.n === 900);
  await dispatcher.stop();
  expect((await counts())[0]).toEqual({ n: 900, each: 900 });
});

const attemptOf = (statusCode: number, error: string | null) => ({
  at: new Date().toISOString(),
  statusCode,
  error,
  durationMs: 1,
  responseBody: '',
});

async function recordOutcome(endpointId: string, status: 'success' | 'failed', count = 1): Promise<void> {
  const rows = await sql()<{ id: string; lease: string }[]>`
    insert into webhook_deliveries (id, endpoint_id, org_id, event_id, event, payload, lease)
    select gen_random_uuid(), ${endpointId}, org_id, gen_random_uuid(), 'agent.created', '{}', gen_random_uuid()
      from webhook_endpoints, generate_series(1, ${count}) where id = ${endpointId} returning id, lease`;
  const statusCode = status === 'success' ? 200 : 500;
  const error = status === 'success' ? null : 'status';
  await recordOutcomes(
    sql(),
    rows.map((row) => ({ ...row, status, statusCode, error, delayMs: 0, attempt: attemptOf(statusCode, error) })),
  );
}

async function createFailingEndpoint(days: number, attempts: number): Promise<string> {
  const [row] = await sql()<{ id: string }[]>`
    insert into webhook_endpoints (id, org_id, url, events, key_id, nonce, ciphertext, failing_since, failed_attempts)
    select ${randomUUID()}::uuid, id, 'https://hooks.example.com', '{agent.created}', 'k', '', '',
           now() - ${days} * interval '1 day', ${attempts} from organizations limit 1 returning id`;
  return row!.id;
}

const readEndpointHealth = async (id: string) => {
  const [row] = await sql()`
    select status, paused_reason, failed_attempts, failing_since is null as well from webhook_endpoints where id = ${id}`;
  return row;
};

test.each([
  ['3 days and 50 attempts', 3.01, 49, 1, 'paused'],
  ['3 days, but fewer attempts', 3.01, 48, 1, 'active'],
  ['50 attempts, but not for long', 2.9, 80, 1, 'active'],
  ['the last ones together', 4, 40, 10, 'paused'],
] as const)('failing: %s', async (_name, days, before, more, status) => {
  const id = await createFailingEndpoint(days, before);
  await recordOutcome(id, 'failed', more);
  expect(await readEndpointHealth(id)).toMatchObject({ status, paused_reason: status === 'paused' ? 'failing' : null });
  const events = await sql()<{ event: EventName; data: { endpointId: string; failedAttempts: number } }[]>`
    select event, data from events where data ->> 'endpointId' = ${id}`;
  for (const { event, data } of events) assertEventData(event, data);
  expect(events.map(({ event, data }) => [event, data.failedAttempts])).toEqual(
    status === 'paused' ? [['webhook.paused', before + more]] : [],
  );
});

test('failing: counts from the first failure, not from the last', async () => {
  const id = await createFailingEndpoint(3.01, 48);
  await recordOutcome(id, 'failed');
  expect(await readEndpointHealth(id)).toMatchObject({ status: 'active', failed_attempts: 49 });
  await recordOutcome(id, 'failed');
  expect(await readEndpointHealth(id)).toMatchObject({ status: 'paused', failed_attempts: 50 });
});

test('failing: a success resets it, and the next failure starts a new count', async () => {
  const id = await createFailingEndpoint(5, 49);
  await recordOutcome(id, 'success');
  expect(await readEndpointHealth(id)).toMatchObject({ status: 'active', failed_attempts: 0, well: true });
  await recordOutcome(id, 'failed');
  expect(await readEndpointHealth(id)).toMatchObject({ status: 'active', failed_attempts: 1, well: false });
});

test('queue: a result without the lease is not written and does not count against the endpoint', async () => {
  const id = await createFailingEndpoint(5, 49);
  const [row] = await sql()<{ id: string }[]>`
    insert into webhook_deliveries (id, endpoint_id, org_id, event_id, event, payload, lease)
    select gen_random_uuid(), ${id}, org_id, gen_random_uuid(), 'agent.created', '{}', gen_random_uuid()
      from webhook_endpoints where id = ${id} returning id`;
  const lost = {
    id: row!.id,
    lease: randomUUID(),
    status: 'failed',
    statusCode: 500,
    error: 'status',
    delayMs: 0,
    attempt: attemptOf(500, 'status'),
  } as const;
  expect([...(await recordOutcomes(sql(), [lost]))]).toEqual([]);
  expect(await sql()`select status, attempts from webhook_deliveries where id = ${row!.id}`).toMatchObject([
    { status: 'pending', attempts: 0 },
  ]);
  expect(await readEndpointHealth(id)).toMatchObject({ status: 'active', failed_attempts: 49 });
});

test('retention: the newest finished deliveries of an endpoint stay, and all pending ones', async () => {
  const orgId = await createOrganization();
  await insertDueDeliveries(orgId, 3, 1);
  await insertDueDeliveries(await createOrganization(), 20, 0); // more than one sweep handles together
  const ids = await sql()<{ id: string }[]>`select id from webhook_endpoints where org_id = ${orgId}`;
  const [mixed, few, many] = ids.map(({ id }) => id) as [string, string, string];
  await sql()`delete from webhook_deliveries where org_id = ${orgId}`;
  const insert = (endpointId: string, minutesAgo: number, status: string, count = 1) => sql()`
    insert into webhook_deliveries (id, endpoint_id, org_id, event_id, event, payload, status, created_at)
    select gen_random_uuid(), ${endpointId}, ${orgId}, gen_random_uuid(), 'agent.created', '{}', ${status},
           now() - ${minutesAgo} * interval '1 minute' from generate_series(1, ${count})`;
  for (const [minute, status] of ['success', 'failed', 'success', 'pending', 'failed'].entries()) {
    await insert(mixed, minute, status);
  }
  await insert(few, 90, 'success', 2);
  await insert(many, 5, 'failed', 4_500);
  await insert(many, 4, 'success');
  await deleteOldEvents(sql(), 2);
  const left = async (endpointId: string) => {
    const rows = await sql()`
      select status from webhook_deliveries where endpoint_id = ${endpointId} order by created_at desc`;
    return rows.map(({ status }) => status);
  };
  expect(await left(mixed)).toEqual(['success', 'failed', 'pending']);
  expect(await left(few)).toEqual(['success', 'success']);
  expect(await left(many)).toEqual(['success', 'failed']);
  await sql()`delete from webhook_endpoints where org_id = ${orgId}`;
});
