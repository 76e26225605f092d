import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { isSignatureValid, type Receiver, startReceiver } from './webhook-receiver.js';

const plane = useControlPlane({ WEBHOOK_RETRY_DELAYS_MS: '20,30,40', WEBHOOK_TIMEOUT_MS: '2000' });
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

let paths = 0;
const newPath = (): string => `/hook-${++paths}`;

async function createEndpoint(admin: Member, path: string, events: readonly string[] = ['agent.created']) {
  const answer = await admin.call('POST', '/v1/webhooks', { url: receiver.url + path, events });
  expect(answer.status).toBe(201);
  return answer.body.endpoint as { id: string; secret: string };
}
const at = (path: string) => receiver.received.filter((one) => one.path === path);
const awaitDeliveryStatus = (admin: Member, id: string, status: string) =>
  waitUntil(`delivery ${id} is ${status}`, async () => {
    const { body } = await admin.call('GET', `/v1/webhooks/deliveries/${id}`);
    return body.delivery.status === status && body.delivery;
  });

test('webhooks: an endpoint is created with a secret shown once, listed, changed and deleted; other organizations see nothing', async () => {
  const admin = await plane().createMember('admin');
  const stranger = await plane().createMember('owner');
  const created = await admin.call('POST', '/v1/webhooks', {
    url: `${receiver.url}/crud`,
    events: ['agent.created', 'usage.threshold'],
  });
  expect(created.status).toBe(201);
  const { secret, ...shown } = created.body.endpoint;
  expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/);
  expect(shown).toEqual({
    id: expect.any(String),
    url: `${receiver.url}/crud`,
    kind: 'webhook',
    events: ['agent.created', 'usage.threshold'],
    status: 'active',
    pausedReason: null,
    previousSecretUntil: null,
    failingSince: null,
    recent: { delivered: 0, failed: 0, pending: 0 },
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  const list = await admin.call('GET', '/v1/webhooks');
  expect(list.body).toEqual({ endpoints: [shown], total: 1, limit: 50, offset: 0 });

  const patched = await admin.call('PATCH', `/v1/webhooks/${shown.id}`, { events: ['agent.deleted'] });
  expect(patched).toMatchObject({ status: 200, body: { endpoint: { ...shown, events: ['agent.deleted'] } } });
  for (const [method, path, body] of [
    ['GET', `/v1/webhooks/${shown.id}`, undefined],
    ['PATCH', `/v1/webhooks/${shown.id}`, { status: 'paused' }],
    ['DELETE', `/v1/webhooks/${shown.id}`, undefined],
    ['POST', `/v1/webhooks/${shown.id}/test`, undefined],
    ['GET', `/v1/webhooks/${shown.id}/deliveries`, undefined],
  ] as const) {
    expect((await stranger.call(method, path, body)).status).toBe(404);
  }
  expect((await stranger.call('GET', '/v1/webhooks')).body.total).toBe(0);
  expect((await admin.call('DELETE', `/v1/webhooks/${shown.id}`)).body).toEqual({ deleted: true });
  expect((await admin.call('DELETE', `/v1/webhooks/${shown.id}`)).status).toBe(404);
});

test('webhooks: an organization has at most a hundred endpoints, also with concurrent creates', async () => {
  const admin = await plane().createMember('admin');
  const { id } = await createEndpoint(admin, newPath());
  const { sql } = plane().database;
  await sql`
    insert into webhook_endpoints
    select (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid()))).*
    from webhook_endpoints e, generate_series(1, 98) where e.id = ${id}`;
  const make = () => admin.call('POST', '/v1/webhooks', { url: receiver.url, events: ['agent.created'] });
  // The transaction locks the organization's rows until all three requests wait.
  const answers = await sql.begin(async (tx) => {
    await tx`select 1 from organizations where id = ${admin.orgId} for update`;
    const made = [make(), make(), make()];
    await waitUntil('all wait', async () => {
      const [waiting] = await sql`
        select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting!.n === made.length;
    });
    return { made };
  });
  expect((await Promise.all(answers.made)).map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  const rejected = await make();
  expect(rejected).toMatchObject({ status: 409, body: { error: expect.stringContaining('100 webhook endpoints') } });
  expect((await admin.call('GET', '/v1/webhooks')).body.total).toBe(100);
});

test.each([
  ['an unknown event', { url: 'https://example.com/x', events: ['agent.sneezed'] }],
  ['no events', { url: 'https://example.com/x', events: [] }],
  ['an event twice', { url: 'https://example.com/x', events: ['agent.created', 'agent.created'] }],
  ['no url', { events: ['agent.created'] }],
  ['another scheme', { url: 'ftp://example.com/x', events: ['agent.created'] }],
  ['a private address', { url: 'http://10.1.2.3/x', events: ['agent.created'] }],
  ['a user in the url', { url: 'https://a:b@example.com/', events: ['agent.created'] }],
  ['a secret of its own', { url: 'https://example.com/x', events: ['agent.created'], secret: 'whsec_mine' }],
])('webhooks: %s is rejected with 400', async (_name, body) => {
  const admin = await plane().createMember('admin');
  expect((await admin.call('POST', '/v1/webhooks', body)).status).toBe(400);
});

test.each(['http://10.1.2.3/x', 'http://169.254.169.254/latest', 'ftp://example.com/x', 'https://a:b@example.com/'])(
  'webhooks: a change to %s is rejected with 400, and the endpoint stays unchanged',
  async (url) => {
    const admin = await plane().createMember('admin');
    const { id } = await createEndpoint(admin, newPath());
    const before = (await admin.call('GET', '/v1/webhooks')).body.endpoints;
    const answer = await admin.call('PATCH', `/v1/webhooks/${id}`, { url });
    expect({ status: answer.status, error: typeof answer.body.error }).toEqual({ status: 400, error: 'string' });
    expect((await admin.call('GET', '/v1/webhooks')).body.endpoints).toEqual(before);
  },
);

test('webhooks: members may read and retry, but not manage', async () => {
  const member = await plane().createMember('member');
  const body = { url: `${receiver.url}/x`, events: ['agent.created'] };
  expect((await member.call('POST', '/v1/webhooks', body)).status).toBe(403);
  expect((await member.call('GET', '/v1/webhooks')).status).toBe(200);
});

test('webhooks: a test delivery arrives signed over its raw body, and its detail shows the request', async () => {
  const admin = await plane().createMember('admin');
  const path = newPath();
  const { id, secret } = await createEndpoint(admin, path, ['agent.budget_exceeded']);
  const answer = await admin.call('POST', `/v1/webhooks/${id}/test`);
  expect(answer).toMatchObject({ status: 201, body: { delivery: { status: 'pending', attempts: 0, endpointId: id } } });
  const delivery = await awaitDeliveryStatus(admin, answer.body.delivery.id, 'success');
  expect(delivery).toMatchObject({ statusCode: '200', attempts: 1, error: null, event: 'agent.budget_exceeded' });
  const [got] = at(path);
  expect(got).toMatchObject({ deliveryId: delivery.id, event: 'agent.budget_exceeded' });
  expect(got!.headers['content-type']).toBe('application/json');
  expect(isSignatureValid(secret, got!)).toBe(true);
  expect(isSignatureValid(`${secret}0`, got!)).toBe(false);
  expect(JSON.parse(got!.body)).toEqual(delivery.payload);
  expect(Object.keys(delivery.payload)).toEqual(['event', 'timestamp', 'data']);
});

test('webhooks: a failing delivery is tried four times, fails, and a manual retry starts a new attempt at once', async () => {
  const admin = await plane().createMember('admin');
  const path = newPath();
  const { id } = await createEndpoint(admin, path);
  receiver.on(path, (response) => response.writeHead(500).end('sk-live-answer-of-the-receiver'));
  const { body } = await admin.call('POST', `/v1/webhooks/${id}/test`);
  const failed = await awaitDeliveryStatus(admin, body.delivery.id, 'failed');
  expect(failed).toMatchObject({ attempts: 4, statusCode: '500', error: 'status' });
  expect(at(path)).toHaveLength(4);
  expect(new Set(at(path).map((one) => one.deliveryId))).toEqual(new Set([failed.id]));
  const listed = await admin.call('GET', `/v1/webhooks/${id}/deliveries?status=failed`);
  expect(listed.body).toMatchObject({ total: 1, limit: 50, offset: 0, deliveries: [{ id: failed.id }] });
  expect((await admin.call('GET', `/v1/webhooks/${id}/deliveries?status=success`)).body.total).toBe(0);
  expect(JSON.stringify(listed.body)).not.toContain('sk-live');
  // Each attempt is kept with the start of the response, which only admins see.
  expect(failed.attemptLog).toHaveLength(4);
  expect(failed.attemptLog[0]).toMatchObject({
    statusCode: '500',
    error: 'status',
    responseBody: 'sk-live-answer-of-the-receiver',
    durationMs: expect.any(Number),
  });
  const reader = await plane().createMember('member', admin.orgId);
  const seen = (await reader.call('GET', `/v1/webhooks/deliveries/${failed.id}`)).body.delivery;
  expect(seen.attemptLog).toHaveLength(4);
  expect(JSON.stringify(seen)).not.toContain('sk-live');
  expect((await admin.call('GET', `/v1/webhooks/${id}`)).body.endpoint).toMatchObject({
    failingSince: expect.any(String),
    recent: { delivered: 0, failed: 1, pending: 0 },
  });

  receiver.on(path, (response) => response.writeHead(204).end());
  const stranger = await plane().createMember('owner');
  expect((await stranger.call('POST', `/v1/webhooks/deliveries/${failed.id}/retry`)).status).toBe(404);
  expect(await awaitDeliveryStatus(admin, failed.id, 'failed')).toEqual(failed);
  const member = await plane().createMember('member', admin.orgId);
  const retried = await member.call('POST', `/v1/webhooks/deliveries/${failed.id}/retry`);
  expect(retried).toMatchObject({ status: 200, body: { delivery: { status: 'pending', attempts: 0 } } });
  expect(await awaitDeliveryStatus(admin, failed.id, 'success')).toMatchObject({ attempts: 1, statusCode: '204' });
  expect((await member.call('POST', `/v1/webhooks/deliveries/${failed.id}/retry`)).status).toBe(409);
  expect((await stranger.call('POST', `/v1/webhooks/deliveries/${failed.id}/retry`)).status).toBe(404);
  expect((await stranger.call('GET', `/v1/webhooks/deliveries/${failed.id}`)).status).toBe(404);
});

test('webhooks: neither search, order nor name in the audit trail shows the secret part of a chat URL', async () => {
  const admin = await plane().createMember('admin');
  const viewer = await plane().createMember('viewer', admin.orgId);
  const ids: string[] = [];
  for (const part of ['/services/T0/zzz', '?sig=aaa']) {
    const body = { url: `https://example.com${part}`, kind: 'slack', events: ['agent.created'] };
    ids.push((await admin.call('POST', '/v1/webhooks', body)).body.endpoint.id);
  }
  const list = async (query: string) => (await viewer.call('GET', `/v1/webhooks?${query}`)).body;
  for (const search of ['zzz', 'services/T0', 'sig=', 'aaa']) expect((await list(`search=${search}`)).total).toBe(0);
  expect((await list('search=//EXAMPLE.com')).total).toBe(2);
  // By their ids, because they look alike.
  const sorted = (await list('sort=url&order=asc')).endpoints.map(({ id }: { id: string }) => id);
  expect(sorted).toEqual(ids);
  const trail = (await admin.call('GET', '/v1/audit')).body.entries;
  expect(trail.map(({ target }: { target: { name: string } }) => target.name)).toEqual(
    ids.map(() => 'https://example.com/…'),
  );
});

test('webhooks: a paused endpoint receives nothing, and gets its waiting deliveries when it is active again', async () => {
  const admin = await plane().createMember('admin');
  const path = newPath();
  const { id } = await createEndpoint(admin, path);
  receiver.on(path, (response) => response.writeHead(503).end());
  const { body } = await admin.call('POST', `/v1/webhooks/${id}/test`);
  await awaitDeliveryStatus(admin, body.delivery.id, 'failed');
  expect((await admin.call('PATCH', `/v1/webhooks/${id}`, { status: 'paused' })).body.endpoint.status).toBe('paused');
  expect((await admin.call('POST', `/v1/webhooks/${id}/test`)).status).toBe(409);
  await admin.call('POST', `/v1/webhooks/deliveries/${body.delivery.id}/retry`);
  // A delivery of another endpoint overtakes the waiting one.
  const other = newPath();
  const { id: otherId } = await createEndpoint(admin, other);
  const { body: passing } = await admin.call('POST', `/v1/webhooks/${otherId}/test`);
  await awaitDeliveryStatus(admin, passing.delivery.id, 'success');
  expect(at(path)).toHaveLength(4);
  expect((await admin.call('GET', `/v1/webhooks/deliveries/${body.delivery.id}`)).body.delivery).toMatchObject({
    status: 'pending',
    attempts: 0,
  });
  receiver.on(path, (response) => response.writeHead(200).end());
  await admin.call('PATCH', `/v1/webhooks/${id}`, { status: 'active' });
  await awaitDeliveryStatus(admin, body.delivery.id, 'success');
  expect(at(path)).toHaveLength(5);
});

test('webhooks: an event reaches the subscribed endpoints that were active when it occurred', async () => {
  const admin = await plane().createMember('admin');
  const { id: projectId } = (await admin.call('POST', '/v1/projects', { name: 'P' })).body.project;
  const [both, deleted, paused, late] = [newPath(), newPath(), newPath(), newPath()];
  const { secret } = await createEndpoint(admin, both, ['agent.created', 'agent.deleted']);
  await createEndpoint(admin, deleted, ['agent.deleted']);
  const { id: pausedId } = await createEndpoint(admin, paused);
  await admin.call('PATCH', `/v1/webhooks/${pausedId}`, { status: 'paused' });
  const { agent } = (await admin.call('POST', '/v1/agents', { projectId, name: 'Ada' })).body;
  await createEndpoint(admin, late);
  await waitUntil('the creation event arrives', () => at(both).length === 1);
  expect((await admin.call('DELETE', `/v1/agents/${agent.id}`)).status).toBe(200);
  await waitUntil('the deletion event arrives', () => at(both).length === 2 && at(deleted).length === 1);
  await admin.call('PATCH', `/v1/webhooks/${pausedId}`, { status: 'active' });
  const data = { agentId: agent.id, agentName: 'Ada', projectId, orgId: admin.orgId };
  const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(at(both).map((one) => JSON.parse(one.body))).toEqual([
    { event: 'agent.created', timestamp, data },
    { event: 'agent.deleted', timestamp, data },
  ]);
  expect(at(both).every((one) => isSignatureValid(secret, one))).toBe(true);
  expect(at(deleted)[0]!.event).toBe('agent.deleted');
  // An event from before the first endpoint that is fanned out only now.
  const { sql } = plane().database;
  const [event] = await sql<{ id: string }[]>`
    insert into events (id, org_id, event, data, occurred_at)
    values (gen_random_uuid(), ${admin.orgId}, 'agent.created', ${sql.json(data)}, now() - interval '1 hour')
    returning id`;
  await waitUntil('it was looked at', async () => {
    const [row] = await sql<{ done: boolean }[]>`
      select fanned_out_at is not null as done from events where id = ${event!.id}`;
    return row!.done;
  });
  expect(await sql`select from webhook_deliveries where event_id = ${event!.id}`).toHaveLength(0);
  // A later delivery overtakes everything that could still arrive at the others.
  const { id } = await createEndpoint(admin, newPath());
  const { body } = await admin.call('POST', `/v1/webhooks/${id}/test`);
  await awaitDeliveryStatus(admin, body.delivery.id, 'success');
  expect([...at(paused), ...at(late)]).toEqual([]);
});

test('webhooks: deleting an endpoint deletes its deliveries', async () => {
  const admin = await plane().createMember('admin');
  const { id } = await createEndpoint(admin, newPath());
  const { body } = await admin.call('POST', `/v1/webhooks/${id}/test`);
  await awaitDeliveryStatus(admin, body.delivery.id, 'success');
  await admin.call('DELETE', `/v1/webhooks/${id}`);
  expect((await admin.call('GET', `/v1/webhooks/deliveries/${body.delivery.id}`)).status).toBe(404);
});

test('webhooks: the database does not contain the signing secret in plain text', async () => {
  const admin = await plane().createMember('admin');
  const { id, secret } = await createEndpoint(admin, newPath());
  const { body } = await admin.call('POST', `/v1/webhooks/${id}/test`);
  await awaitDeliveryStatus(admin, body.delivery.id, 'success');
  const { sql } = plane().database;
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public'`;
  expect(tables.length).toBeGreaterThan(15);
  const bytes = Buffer.from(secret.slice('whsec_'.length)).toString('hex');
  for (const { name } of tables) {
    const [hit] = await sql.unsafe(
      `select 1 from ${name} t where t::text like '%${secret}%' or t::text like '%${bytes}%'`,
    );
    expect(hit, name).toBeUndefined();
  }
});

test('webhooks: an endpoint paused for failing shows that reason while paused, and starts with no failures when activated', async () => {
  const admin = await plane().createMember('admin');
  const { body } = await admin.call('POST', '/v1/webhooks', {
    url: `${receiver.url}/failing`,
    events: ['agent.created'],
  });
  const { id } = body.endpoint;
  const { sql } = plane().database;
  await sql`
    update webhook_endpoints set status = 'paused', paused_reason = 'failing', failed_attempts = 60,
           failing_since = now() - interval '4 days' where id = ${id}`;
  const patch = async (change: object) => (await admin.call('PATCH', `/v1/webhooks/${id}`, change)).body.endpoint;
  expect(await patch({ events: ['agent.deleted'] })).toMatchObject({ status: 'paused', pausedReason: 'failing' });
  expect(await patch({ status: 'active' })).toMatchObject({ status: 'active', pausedReason: null });
  expect(await sql`select failed_attempts, failing_since from webhook_endpoints where id = ${id}`).toEqual([
    { failed_attempts: 0, failing_since: null },
  ]);
  expect(await patch({ status: 'paused' })).toMatchObject({ status: 'paused', pausedReason: null });
});

test('webhooks: a chat gets a message instead of the event, and no response shows its URL', async () => {
  const admin = await plane().createMember('admin');
  for (const kind of ['slack', 'teams'] as const) {
    const path = newPath();
    const url = `${receiver.url}${path}`;
    const created = await admin.call('POST', '/v1/webhooks', { url, kind, events: ['agent.budget_exceeded'] });
    expect(created.body.endpoint).toMatchObject({ kind, url: `${new URL(url).origin}/…` });
    const { id } = created.body.endpoint;
    const { body } = await admin.call('POST', `/v1/webhooks/${id}/test`);
    await awaitDeliveryStatus(admin, body.delivery.id, 'success');
    const message = JSON.parse(at(path)[0]!.body);
    if (kind === 'slack') expect(message.blocks[0].text).toEqual({ type: 'plain_text', text: 'Budget exceeded' });
    else expect(message.attachments[0].content.body[0].text).toBe('Budget exceeded');
    const shown = await Promise.all(
      ['/v1/webhooks', `/v1/webhooks/${id}`, '/v1/audit'].map((read) => admin.call('GET', read)),
    );
    expect(JSON.stringify(shown)).not.toContain(path);
  }
});
