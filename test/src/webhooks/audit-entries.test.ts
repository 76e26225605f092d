import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AUDIT_EVENT_TYPE } from '../../../controlplane/src/events/audit-event-type.js';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { isSignatureValid, type Receiver, startReceiver } from './webhook-receiver.js';

const plane = useControlPlane({ WEBHOOK_RETRY_DELAYS_MS: '20,30,40', WEBHOOK_TIMEOUT_MS: '2000' });
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

const subscribe = async (admin: Member, path: string, fields: object = {}) => {
  const { status, body } = await admin.call('POST', '/v1/webhooks', {
    url: receiver.url + path,
    events: ['audit.entry'],
    ...fields,
  });
  expect(status).toBe(201);
  return body.endpoint as { id: string; secret: string };
};
/** Creates an agent in a new project. */
async function createAgent(owner: Member, fields: object) {
  const { body } = await owner.call('POST', '/v1/projects', { name: 'Project' });
  return owner.call('POST', '/v1/agents', { projectId: body.project.id, ...fields });
}
const entriesAt = (path: string) =>
  receiver.received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body).data);
const findEntry = (path: string, action: string) =>
  waitUntil(`${path} gets ${action}`, async () => entriesAt(path).find((entry) => entry.action === action));

test('audit entries: each is sent to a subscribed endpoint, signed, as in the trail', async () => {
  const admin = await plane().createMember('admin');
  const { secret } = await subscribe(admin, '/trail');
  await findEntry('/trail', 'webhook.create');
  const agent = await createAgent(admin, { name: 'Audited' });
  expect(agent.status).toBe(201);
  const sent = await findEntry('/trail', 'agent.create');
  const { body } = await admin.call('GET', '/v1/audit?action=agent.create');
  const [entry] = body.entries;
  expect(sent).toMatchObject({
    id: entry.id,
    actorUserId: entry.actor.userId,
    actorEmail: entry.actor.email,
    targetId: agent.body.agent.id,
    changes: entry.changes,
    ip: entry.ip,
  });
  expect(Date.parse(sent.at)).toBe(Date.parse(entry.at));
  for (const one of receiver.received.filter(({ path }) => path === '/trail')) {
    expect(isSignatureValid(secret, one)).toBe(true);
    expect(Compile(AUDIT_EVENT_TYPE.schema).Check(JSON.parse(one.body).data)).toBe(true);
    expect(one.body).not.toContain(secret);
  }
});

test('audit entries: of one organization alone, only while an active endpoint subscribes, and not when the change fails', async () => {
  const admin = await plane().createMember('admin');
  const stranger = await plane().createMember('owner');
  const { id } = await subscribe(admin, '/own');
  await createAgent(stranger, { name: 'Foreign' });
  expect((await createAgent(admin, { name: '' })).status).toBe(400);
  await admin.call('PATCH', `/v1/webhooks/${id}`, { status: 'paused' });
  await createAgent(admin, { name: 'Unseen' });
  await admin.call('PATCH', `/v1/webhooks/${id}`, { status: 'active' });
  await findEntry('/own', 'webhook.update');
  await createAgent(admin, { name: 'Seen' });
  const created = await findEntry('/own', 'agent.create');
  expect(created.changes.name).toEqual([null, 'Seen']);
  expect(new Set(entriesAt('/own').map(({ orgId }) => orgId))).toEqual(new Set([admin.orgId]));
  const [stored] = await plane().database
    .sql`select count(*) as n from events where org_id = ${stranger.orgId} and event = 'audit.entry'`;
  expect(stored!.n).toBe(0);
});

test('audit entries: a change of the own account reaches the endpoint of the organization', async () => {
  const admin = await plane().createMember('admin');
  await subscribe(admin, '/account');
  expect((await admin.call('PATCH', '/v1/me', { name: 'Renamed' })).status).toBe(200);
  expect(await findEntry('/account', 'user.update')).toMatchObject({ targetType: 'user', orgId: admin.orgId });
});

test('audit entries: `changes` above 16 KiB is null in the event', async () => {
  const admin = await plane().createMember('admin');
  await subscribe(admin, '/large');
  const calls = Array.from({ length: 100 }, (_, at) => `POST /${at}${'x'.repeat(190)}`);
  const answer = await createAgent(admin, { name: 'Large', policy: { openai: { calls } } });
  expect(answer.status).toBe(201);
  expect(await findEntry('/large', 'agent.create')).toMatchObject({ changes: null, targetId: answer.body.agent.id });
});

test('audit entries: only admins see the payload, no list of events has them, and no mail', async () => {
  const admin = await plane().createMember('admin');
  const viewer = await plane().createMember('viewer', admin.orgId);
  const { id } = await subscribe(admin, '/secret');
  await findEntry('/secret', 'webhook.create');
  const { body: list } = await viewer.call('GET', `/v1/webhooks/${id}/deliveries`);
  const path = `/v1/webhooks/deliveries/${list.deliveries[0].id}`;
  expect((await viewer.call('GET', path)).body.delivery.payload).toMatchObject({ event: 'audit.entry', data: {} });
  expect((await viewer.call('GET', path)).body.delivery.payload.data).toEqual({});
  expect((await admin.call('GET', path)).body.delivery.payload.data).toMatchObject({ action: 'webhook.create' });
  for (const query of ['', '?event=audit.entry'])
    expect((await admin.call('GET', `/v1/events${query}`)).body).toMatchObject({ events: [], total: 0 });
  expect(await admin.call('PUT', `/v1/event-mail/${admin.userId}`, { events: ['audit.entry'] })).toMatchObject({
    status: 400,
    body: { error: 'events: audit.entry is sent to webhooks only' },
  });
});
