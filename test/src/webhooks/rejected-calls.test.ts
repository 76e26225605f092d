/** `calls.rejected`: sums of rejected calls to subscribed endpoints, bounded whatever an agent does. */
import { uuidv7 } from '@acg/base/uuidv7';
import { sendRejectionSummaries } from '@acg/controlplane/detectors/rejection-summaries';
import { REJECTED_CALLS_EVENT_TYPE } from '@acg/controlplane/events/rejected-calls-event-type';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { encodeReport } from '../ledger/usage-fixture.js';
import { isSignatureValid, type Receiver, startReceiver } from './webhook-receiver.js';

const plane = useControlPlane();
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

const MINUTE_MS = 60_000;
const thisMinute = (): number => Date.now() - (Date.now() % MINUTE_MS);

const subscribe = async (admin: Member, path: string) => {
  const url = receiver.url + path;
  const { status, body } = await admin.call('POST', '/v1/webhooks', { url, events: ['calls.rejected'] });
  expect(status).toBe(201);
  return body.endpoint as { id: string; secret: string };
};

async function createAgent(admin: Member, name: string): Promise<string> {
  const { body } = await admin.call('POST', '/v1/projects', { name });
  return (await admin.call('POST', '/v1/agents', { projectId: body.project.id, name })).body.agent.id;
}

interface Rejected {
  readonly orgId: string;
  readonly agentId: string;
  readonly reason?: string;
  readonly count?: number;
  readonly minuteMs?: number;
  readonly calls?: readonly object[];
}

/** What a data plane reports: counts of a minute, each with some of the calls. */
const report = (rejected: readonly Rejected[]) =>
  plane().service.usage.ingest.ingestReport(
    encodeReport({
      dataPlaneId: 'dp',
      rejections: rejected.map((one) => ({
        ...{ id: uuidv7(Date.now()), providerSlug: 'openai', reason: 'rpm', count: 1, minuteMs: thisMinute() },
        ...one,
        calls: one.calls?.map((call) => ({ ...call })) ?? [],
      })),
    }),
  );

const createCall = (path: string, rejectedAtMs = Date.now()) => ({
  ...{ id: uuidv7(Date.now()), keyId: uuidv7(0), rejectedAtMs, status: 429, method: 'POST', path },
  clientNetwork: '203.0.113.7',
});

// biome-ignore lint/suspicious/noExplicitAny: bodies of any kind
const eventsAt = (path: string): any[] =>
  receiver.received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body).data);
const countAt = (path: string): number => eventsAt(path).reduce((sum, { count }) => sum + count, 0);
const send = () => sendRejectionSummaries(plane().database.sql, 0);

test('rejected calls: a flood becomes one event with counts and the last call, signed', async () => {
  const admin = await plane().createMember('admin');
  const agentId = await createAgent(admin, 'Flood');
  const { secret } = await subscribe(admin, '/flood');
  const { orgId } = admin;
  const minuteMs = thisMinute();
  const last = createCall('/v1/last', minuteMs + 900);
  for (let batch = 0; batch < 20; batch++)
    await report([
      { orgId, agentId, count: 100_000, minuteMs, calls: [createCall('/v1/earlier', minuteMs + batch)] },
      { orgId, agentId, count: 1, minuteMs: minuteMs - MINUTE_MS, calls: batch === 7 ? [last] : [] },
      { orgId, agentId, reason: 'sensitive_path', count: 2, minuteMs },
    ]);
  await send();
  await waitUntil('the event', () => countAt('/flood') === 20 * 100_003);
  const sums = new Map<string, number>();
  for (const one of receiver.received.filter(({ path }) => path === '/flood')) {
    expect(isSignatureValid(secret, one)).toBe(true);
    const { data } = JSON.parse(one.body);
    expect(Compile(REJECTED_CALLS_EVENT_TYPE.schema).Check(data)).toBe(true);
    expect(data).toMatchObject({ orgId, omitted: 0 });
    for (const { reason, count } of data.rejections) sums.set(reason, (sums.get(reason) ?? 0) + count);
  }
  expect([...sums]).toEqual([
    ['rpm', 2_000_020],
    ['sensitive_path', 40],
  ]);
  const rpm = eventsAt('/flood')
    .flatMap(({ rejections }) => rejections)
    .filter(({ reason }) => reason === 'rpm')
    .at(-1);
  expect(rpm).toMatchObject({
    ...{ agentId, agentName: 'Flood', providerSlug: 'openai' },
    firstMinute: new Date(minuteMs - MINUTE_MS).toISOString(),
    lastMinute: new Date(minuteMs).toISOString(),
    lastCall: { id: last.id, path: '/v1/last', model: null, budgetId: null, clientNetwork: '203.0.113.7' },
  });
});

test('rejected calls: an event lists 50 sums, the highest first, and counts the rest', async () => {
  const admin = await plane().createMember('admin');
  await subscribe(admin, '/many');
  const { orgId } = admin;
  await report(Array.from({ length: 80 }, (_, i) => ({ orgId, agentId: uuidv7(Date.now()), count: i + 1 })));
  await send();
  await waitUntil('all are counted', () => countAt('/many') === (80 * 81) / 2);
  for (const { rejections, omitted, count } of eventsAt('/many')) {
    expect(rejections.length).toBeLessThanOrEqual(50);
    const listed: number[] = rejections.map((one: { count: number }) => one.count);
    expect(listed).toEqual([...listed].sort((a, b) => b - a));
    expect(listed.reduce((sum, one) => sum + one, omitted)).toBe(count);
  }
  expect(eventsAt('/many')[0].rejections[0].agentName).toBeNull(); // deleted since
});

test('rejected calls: each is in one event, with senders and bookings at once', async () => {
  const admin = await plane().createMember('admin');
  const agentId = await createAgent(admin, 'Racing');
  await subscribe(admin, '/racing');
  const one = { orgId: admin.orgId, agentId };
  for (let round = 0; round < 15; round++)
    await Promise.all([report([one, { ...one, reason: 'rpd' }]), send(), report([one]), send()]);
  await waitUntil('the rest is sent', async () => {
    await send();
    return countAt('/racing') >= 45;
  });
  expect(countAt('/racing')).toBe(45);
});

test('rejected calls: of one organization alone, only while an active endpoint subscribes, and once a minute', async () => {
  const { sql } = plane().database;
  const [admin, stranger] = [await plane().createMember('admin'), await plane().createMember('admin')];
  const { id } = await subscribe(admin, '/own');
  const own = { orgId: admin.orgId, agentId: await createAgent(admin, 'Own') };
  const foreign = { orgId: stranger.orgId, agentId: await createAgent(stranger, 'Foreign') };
  const storedOf = async ({ orgId }: { orgId: string }) =>
    (await sql`select 1 from rejection_summaries where org_id = ${orgId}`).length;
  await admin.call('PATCH', `/v1/webhooks/${id}`, { status: 'paused' });
  await report([own, foreign]);
  expect([await storedOf(own), await storedOf(foreign)]).toEqual([0, 0]);
  await admin.call('PATCH', `/v1/webhooks/${id}`, { status: 'active' });
  await report([own, foreign]);
  await sendRejectionSummaries(sql, 86_400);
  expect([await storedOf(own), await storedOf(foreign)]).toEqual([1, 0]);
  await send();
  await waitUntil('the event', () => countAt('/own') === 1);
  expect(eventsAt('/own')[0].rejections).toMatchObject([{ agentName: 'Own', count: 1 }]);
  await sql`insert into rejection_summaries (org_id, agent_id, provider_slug, reason, count, first_minute, last_minute)
    values (${uuidv7(0)}, ${own.agentId}, '', 'rpm', 1, now(), now())`; // of an organization that is gone
  await send();
  expect(await sql`select 1 from rejection_summaries where org_id not in (select id from organizations)`).toEqual([]);
});

test('rejected calls: only admins subscribe and see the payload, no list of events has them, and no mail', async () => {
  const admin = await plane().createMember('admin');
  const member = await plane().createMember('member', admin.orgId);
  const endpoint = { url: `${receiver.url}/secret`, events: ['calls.rejected'] };
  expect((await member.call('POST', '/v1/webhooks', endpoint)).status).toBe(403);
  const { id } = await subscribe(admin, '/secret');
  await report([{ orgId: admin.orgId, agentId: await createAgent(admin, 'Secret'), calls: [createCall('/v1/x')] }]);
  await send();
  await waitUntil('the event', () => countAt('/secret') === 1);
  const { body: list } = await member.call('GET', `/v1/webhooks/${id}/deliveries`);
  const path = `/v1/webhooks/deliveries/${list.deliveries[0].id}`;
  expect((await member.call('GET', path)).body.delivery.payload.data).toEqual({});
  expect((await admin.call('GET', path)).body.delivery.payload.data).toMatchObject({ count: 1 });
  for (const query of ['', '?event=calls.rejected'])
    expect((await admin.call('GET', `/v1/events${query}`)).body.events).not.toContainEqual(
      expect.objectContaining({ event: 'calls.rejected' }),
    );
  expect(await admin.call('PUT', `/v1/event-mail/${admin.userId}`, { events: ['calls.rejected'] })).toMatchObject({
    status: 400,
    body: { error: 'events: calls.rejected is sent to webhooks only' },
  });
});
