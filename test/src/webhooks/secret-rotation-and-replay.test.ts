/**
 * Secret rotation with an overlap, and replay of deliveries of a time range: bounded, and only of the own organization.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { isSignatureValid, type Receiver, startReceiver } from './webhook-receiver.js';

const plane = useControlPlane({ WEBHOOK_RETRY_DELAYS_MS: '20,30,40' });
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

let paths = 0;
async function createEndpoint(admin: Member, events: readonly string[] = ['agent.created', 'agent.deleted']) {
  const path = `/hook-${++paths}`;
  const made = await admin.call('POST', '/v1/webhooks', { url: receiver.url + path, events });
  const { id, secret } = made.body.endpoint as { id: string; secret: string };
  const at = () => receiver.received.filter((one) => one.path === path);
  const call = (method: string, action: string, body?: object) =>
    admin.call(method, `/v1/webhooks/${id}${action}`, body);
  /** Waits for the next request. */
  const next = async () => {
    const before = at().length;
    expect((await call('POST', '/test')).status).toBe(201);
    return waitUntil('it came', () => at()[before] ?? false);
  };
  return { id, secret, path, at, call, next };
}

test('rotation: both secrets sign during the overlap, then only the new one', async () => {
  const admin = await plane().createMember('admin');
  const one = await createEndpoint(admin);
  const before = await one.next();
  expect(before.headers['x-webhook-signatures']).toBe(`v1=${before.signature}`);
  const { status, body } = await one.call('POST', '/rotate', { graceSeconds: 3_600 });
  expect([status, body.endpoint.secret]).toEqual([200, expect.stringMatching(/^whsec_[0-9a-f]{64}$/)]);
  const fresh: string = body.endpoint.secret;
  expect(fresh).not.toBe(one.secret);
  expect(Date.parse(body.endpoint.previousSecretUntil)).toBeGreaterThan(Date.now());
  const shown = (await one.call('GET', '')).body.endpoint;
  expect(shown.previousSecretUntil).toBe(body.endpoint.previousSecretUntil);
  expect(JSON.stringify(shown)).not.toContain('whsec_');

  const both = await one.next();
  // A receiver with only the old secret still verifies, and so does one with the new secret.
  expect(isSignatureValid(one.secret, both)).toBe(true);
  const [first, second, ...none] = String(both.headers['x-webhook-signatures']).split(',');
  expect(none).toEqual([]);
  expect(isSignatureValid(fresh, { ...both, signature: first!.slice('v1='.length) })).toBe(true);
  expect(isSignatureValid(one.secret, { ...both, signature: second!.slice('v1='.length) })).toBe(true);

  await plane().database.sql`update webhook_previous_secrets set until = now() where id = ${one.id}`;
  const after = await one.next();
  expect([isSignatureValid(fresh, after), after.headers['x-webhook-signatures']]).toEqual([
    true,
    `v1=${after.signature}`,
  ]);
  expect((await one.call('GET', '')).body.endpoint.previousSecretUntil).toBeNull();
});

test('rotation: without an overlap neither the old secret nor an earlier one signs', async () => {
  const admin = await plane().createMember('admin');
  const one = await createEndpoint(admin);
  const second = (await one.call('POST', '/rotate')).body.endpoint.secret;
  const third = (await one.call('POST', '/rotate', { graceSeconds: 0 })).body.endpoint.secret;
  const sent = await one.next();
  expect(sent.headers['x-webhook-signatures']).toBe(`v1=${sent.signature}`);
  expect([one.secret, second, third].map((secret) => isSignatureValid(secret, sent))).toEqual([false, false, true]);
});

test('test delivery: any event that the endpoint subscribes to, and no other', async () => {
  const admin = await plane().createMember('admin');
  const one = await createEndpoint(admin);
  const answer = await one.call('POST', '/test', { event: 'agent.deleted' });
  expect(answer.body.delivery.event).toBe('agent.deleted');
  expect((await one.call('POST', '/test', { event: 'usage.threshold' })).status).toBe(400);
  await plane().database.sql`
    update throttle_windows set count = 120 where key = ${`webhook-test:${admin.orgId}`}`;
  expect((await one.call('POST', '/test')).status).toBe(429);
});

const ALWAYS = { start: '2026-01-01T00:00:00.000Z', end: '2999-01-01T00:00:00.000Z' };

/** Inserts deliveries with this status, created this many minutes ago. */
async function insertDeliveries(id: string, orgId: string, status: string, minutesAgo: readonly number[]) {
  await plane().database.sql`
    insert into webhook_deliveries (id, endpoint_id, org_id, event_id, event, payload, status, attempts, created_at)
    select gen_random_uuid(), ${id}, ${orgId}, gen_random_uuid(), 'agent.created', '{"n":' || m || '}', ${status}, 4,
           now() - m * interval '1 minute' from unnest(${[...minutesAgo]}::int[]) as m`;
}

test('replay: sends the failed deliveries of the range again, each once, with their payload and id', async () => {
  const admin = await plane().createMember('admin');
  const one = await createEndpoint(admin);
  const other = await createEndpoint(admin);
  await insertDeliveries(one.id, admin.orgId, 'failed', [1, 30, 90]);
  await insertDeliveries(one.id, admin.orgId, 'success', [31]);
  await insertDeliveries(other.id, admin.orgId, 'failed', [30]);
  const start = new Date(Date.now() - 3_600_000).toISOString();
  const end = new Date(Date.now() - 600_000).toISOString();
  const { status, body } = await one.call('POST', '/replay', { start, end });
  expect([status, body]).toEqual([200, { replayed: 1, remaining: 0, until: expect.any(String) }]);
  await waitUntil('it came', () => one.at().length === 1);
  expect(one.at()[0]!.body).toBe('{"n":30}');
  expect((await one.call('POST', '/replay', { start, end, status: ['success'] })).body.replayed).toBe(2);
  await waitUntil('they came', () => one.at().length === 3);
  expect(other.at()).toEqual([]);
  const stranger = await plane().createMember('owner');
  expect((await stranger.call('POST', `/v1/webhooks/${one.id}/replay`, { start, end })).status).toBe(404);
  const member = await plane().createMember('member', admin.orgId);
  expect((await member.call('POST', `/v1/webhooks/${one.id}/replay`, { start, end })).status).toBe(403);
  for (const range of [
    { start: end, end: start },
    { start, end: start },
  ])
    expect((await one.call('POST', '/replay', range)).status).toBe(400);
  await one.call('PATCH', '', { status: 'paused' });
  expect((await one.call('POST', '/replay', { start, end })).status).toBe(409);
});

test('replay: at most a thousand per request, continued by the next request; twenty requests per hour', async () => {
  const admin = await plane().createMember('admin');
  const one = await createEndpoint(admin);
  receiver.on(one.path, (response) => response.writeHead(200).end());
  const minutes = Array.from({ length: 1_200 }, (_, i) => 2_000 - i);
  await insertDeliveries(one.id, admin.orgId, 'failed', minutes);
  const { body } = await one.call('POST', '/replay', ALWAYS);
  expect([body.replayed, body.remaining]).toEqual([1_000, 200]);
  const rest = await one.call('POST', '/replay', { ...ALWAYS, start: body.until });
  expect(rest.body).toMatchObject({ replayed: 200, remaining: 0 });
  for (let calls = 2; calls < 20; calls++) expect((await one.call('POST', '/replay', ALWAYS)).status).toBe(200);
  const rejected = await one.call('POST', '/replay', ALWAYS);
  expect([rejected.status, Number(rejected.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
});
