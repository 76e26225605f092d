/**
 * Gateway tokens of an organization: their agents, and rotation without a gap and without leaving the old token valid.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type ConnectedContextCache, connectContextCache } from '../plane-link/connected-context-cache.js';

const plane = useControlPlane();
/** Two data planes' caches. */
let caches: readonly ConnectedContextCache[];
let admin: Member;
let projectId: string;

beforeAll(async () => {
  caches = [0, 1].map(() => connectContextCache([plane().grpcAddress], plane().config.link));
  await waitUntil('both watch', async () => caches.every(({ source }) => source.isUp));
  admin = await plane().createMember('admin');
  projectId = (await admin.call('POST', '/v1/projects', { name: 'Keys' })).body.project.id;
});
afterAll(() => {
  for (const cache of caches) cache.stop();
});

async function createKey(body: Record<string, unknown> = {}) {
  const agent = (await admin.call('POST', '/v1/agents', { projectId, name: 'Rotating' })).body.agent;
  const made = await admin.call('POST', '/v1/api-keys', { name: 'ci', agentId: agent.id, ...body });
  expect(made.status).toBe(201);
  return { agent, id: made.body.key.id as string, secretKey: made.body.secretKey as string };
}

const resolveInAllCaches = (secretKey: string) => Promise.all(caches.map((cache) => cache.resolve(secretKey)));
const rotateKey = (id: string, body?: object) => admin.call('POST', `/v1/api-keys/${id}/rotate`, body);

test('keys: the list of the organization names the agent of each, and filters by status and text', async () => {
  const { agent, id } = await createKey({ name: 'Needle' });
  const row = (await admin.call('GET', '/v1/api-keys?search=needle')).body;
  expect(row).toMatchObject({ total: 1, keys: [{ id, agentId: agent.id, agentName: 'Rotating', projectId }] });
  expect(row.keys[0]).toMatchObject({ scope: 'agent', status: 'active', replacedBy: null, lastUsedAt: null });
  expect((await admin.call('GET', `/v1/api-keys?search=${row.keys[0].keyPrefix}`)).body.total).toBe(1);
  expect((await admin.call('GET', '/v1/api-keys?search=100%25')).body.total).toBe(0); // not a pattern
  await plane().database.sql`update api_keys set expires_at = now() - interval '1 hour' where id = ${id}`;
  const expired = (await admin.call('GET', '/v1/api-keys?status=expired')).body;
  expect(expired.keys.map((key: { id: string }) => key.id)).toEqual([id]);
  expect((await admin.call('GET', '/v1/api-keys?status=active&search=needle')).body.total).toBe(0);
  expect((await admin.call('PATCH', `/v1/api-keys/${id}`, { expiresAt: null })).status).toBe(409);
  expect((await rotateKey(id)).status).toBe(409);
});

test('keys: a key is renamed and its expiry changed, and every cache is invalidated', async () => {
  const { id, secretKey } = await createKey();
  for (const { context } of await resolveInAllCaches(secretKey)) expect(context!.keyExpiresAtMs).toBeNull();
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const { status, body } = await admin.call('PATCH', `/v1/api-keys/${id}`, { name: 'renamed', expiresAt });
  expect([status, body.key]).toMatchObject([200, { id, name: 'renamed', expiresAt }]);
  await waitUntil('caches know the new end', async () =>
    (await resolveInAllCaches(secretKey)).every(({ context }) => context!.keyExpiresAtMs === Date.parse(expiresAt)),
  );
  const [entry] = (await admin.call('GET', '/v1/audit?action=api_key.update')).body.entries;
  expect(entry.changes).toEqual({ name: ['ci', 'renamed'], expiresAt: [null, expiresAt] });
});

test('rotation: both tokens work during the overlap, then the old one is rejected and its open calls are aborted', async () => {
  const { id, secretKey, agent } = await createKey();
  for (const { context } of await resolveInAllCaches(secretKey)) expect(context!.agentId).toBe(agent.id);
  const { status, body } = await rotateKey(id, { graceSeconds: 3_600 });
  expect(status).toBe(201);
  expect(body.previous).toMatchObject({ id, replacedBy: body.key.id, status: 'active' });
  expect(body.key).toMatchObject({ name: 'ci', scope: 'agent', agentId: agent.id, projectId, expiresAt: null });
  const ends = Date.parse(body.previous.expiresAt);
  expect(ends - Date.now()).toBeLessThanOrEqual(3_600_000);
  await waitUntil('every cache knows when the old one ends', async () =>
    (await resolveInAllCaches(secretKey)).every(({ context }) => context?.keyExpiresAtMs === ends),
  );
  for (const { context } of await resolveInAllCaches(body.secretKey)) expect(context!.agentId).toBe(agent.id);
  // It never lives longer than promised, whatever the request says.
  expect((await rotateKey(id)).status).toBe(409);
  expect((await admin.call('PATCH', `/v1/api-keys/${id}`, { expiresAt: null })).status).toBe(409);
  const later = new Date(ends + 1_000).toISOString();
  expect((await admin.call('PATCH', `/v1/api-keys/${id}`, { expiresAt: later })).status).toBe(409);

  await plane().database.sql`update api_keys set expires_at = now() where id = ${id}`;
  await waitUntil('what it has opened is ended', async () => caches.every(({ ended }) => ended.includes(`key ${id}`)));
  for (const { rejection: refusal } of await resolveInAllCaches(secretKey)) expect(refusal).toBe('unknown_token');
  for (const { context } of await resolveInAllCaches(body.secretKey)) expect(context!.agentId).toBe(agent.id);
  expect((await admin.call('GET', `/v1/api-keys?agentId=${agent.id}`)).body.keys).toMatchObject([{ id: body.key.id }]);
});

test('rotation: without an overlap the old token is revoked at once', async () => {
  const { id, secretKey } = await createKey();
  await resolveInAllCaches(secretKey);
  const { body } = await rotateKey(id, { graceSeconds: 0 });
  await waitUntil('what it has opened is ended', async () => caches.every(({ ended }) => ended.includes(`key ${id}`)));
  for (const { rejection: refusal } of await resolveInAllCaches(secretKey)) expect(refusal).toBe('unknown_token');
  for (const { context } of await resolveInAllCaches(body.secretKey)) expect(context).not.toBeNull();
});

test('rotation: an overlap never extends the old token; the new one gets the lifetime of the old one', async () => {
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  const { id } = await createKey({ expiresAt });
  await plane().database.sql`update api_keys set created_at = created_at - interval '1 hour' where id = ${id}`;
  const { body } = await rotateKey(id, { graceSeconds: 86_400 });
  expect(body.previous.expiresAt).toBe(expiresAt);
  expect(Date.parse(body.key.expiresAt) - Date.now()).toBeGreaterThan(3_600_000);
});

test('rotation: with an Idempotency-Key a repetition returns the same new token', async () => {
  const { id } = await createKey();
  const headers = { 'idempotency-key': 'rotate once' };
  const first = await admin.call('POST', `/v1/api-keys/${id}/rotate`, {}, headers);
  const again = await admin.call('POST', `/v1/api-keys/${id}/rotate`, {}, headers);
  expect([first.status, again.status, again.body.secretKey]).toEqual([201, 201, first.body.secretKey]);
});

test('instants behind the last that can be written are the last: keys, their successors, tokens, replays', async () => {
  const LAST = '9999-12-31T23:59:59.999Z';
  const beyond = '9999-12-31T23:59:59-12:00';
  const { agent, id } = await createKey({ expiresAt: beyond });
  const shown = async () => (await admin.call('GET', `/v1/api-keys?agentId=${agent.id}`)).body.keys[0].expiresAt;
  expect(await shown()).toBe(LAST);
  await plane().database.sql`update api_keys set created_at = now() - interval '2 days' where id = ${id}`;
  const rotated = await rotateKey(id);
  expect(rotated).toMatchObject({ status: 201, body: { key: { expiresAt: LAST } } });
  const { id: newest } = rotated.body.key;
  expect((await admin.call('PATCH', `/v1/api-keys/${newest}`, { expiresAt: beyond })).status).toBe(200);
  const token = { name: 't', role: 'viewer', expiresAt: beyond };
  const made = await admin.call('POST', '/v1/management-tokens', token);
  expect(made).toMatchObject({ status: 201, body: { token: { expiresAt: LAST } } });
  const hook = { url: 'https://hooks.example.org/x', events: ['agent.created'] };
  const { id: hookId } = (await admin.call('POST', '/v1/webhooks', hook)).body.endpoint;
  const range = { start: '0001-01-01T00:00:00+12:00', end: beyond };
  expect((await admin.call('POST', `/v1/webhooks/${hookId}/replay`, range)).status).toBe(200);
});
