/** Two POSTs with one Idempotency-Key take effect once; no secret is stored for them. */
import { createHash, randomUUID } from 'node:crypto';
import type { ControlPlane } from '@acg/controlplane/control-plane';
import { tryLockIdempotencyKey } from '@acg/controlplane/idempotency/stored-responses';
import { expect, test } from 'vitest';
import { type Member, startControlPlane, useControlPlane } from '../fixtures/control-plane.js';
import { cutLockWaiters, holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { TcpProxy } from '../fixtures/tcp-proxy.js';

/** Calls that wait here before their response is sent, until they are released. */
const pausedCalls: (() => void)[] = [];
let isPausing = false;
const pauseBeforeResponse = (service: ControlPlane) => {
  service.app.addHook('preSerialization', async (_request, _reply, payload) => {
    if (isPausing) await new Promise<void>((go) => pausedCalls.push(go));
    return payload;
  });
};
const plane = useControlPlane({}, pauseBeforeResponse);
const sql = () => plane().database.sql;

const post = (by: Pick<Member, 'call'>, key: string, path: string, body?: unknown) =>
  by.call('POST', path, body, { 'idempotency-key': key });
/** Waits until Postgres has noticed the loss of the first attempt's connection, which locks the key until then. */
const retryPost = async (...call: Parameters<typeof post>) => {
  for (;;) {
    const answer = await post(...call);
    if (!(answer.status === 409 && answer.headers.has('retry-after'))) return answer;
  }
};
const count = async (by: Member) => (await by.call('GET', '/v1/projects')).body.total;

test('a repeated call gets the first response and takes effect once', async () => {
  const owner = await plane().createMember('owner');
  const key = randomUUID();
  const first = await post(owner, key, '/v1/projects', { name: 'Once' });
  const again = await post(owner, key, '/v1/projects', { name: 'Once' });
  expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
  expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
    null,
    'true',
  ]);
  expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
  expect(await count(owner)).toBe(1);
  expect((await owner.call('GET', '/v1/audit?action=project.create')).body.total).toBe(1);
  expect((await post(owner, randomUUID(), '/v1/projects', { name: 'Once' })).body.project.id).not.toBe(
    first.body.project.id,
  );
});

test('a stored response is returned even while it is being sent to another caller', async () => {
  const owner = await plane().createMember('owner');
  const key = randomUUID();
  const first = await post(owner, key, '/v1/projects', { name: 'Once' });
  const { orgId, userId } = owner;
  const keyHash = createHash('sha256').update(key).digest();
  // Simulates a control plane that is returning the stored response at this moment.
  const release = await holdPostgresLock(sql(), (tx) => tryLockIdempotencyKey(tx, { orgId, actorId: userId, keyHash }));
  const again = await post(owner, key, '/v1/projects', { name: 'Once' });
  await release();
  expect([again.status, again.body]).toEqual([201, first.body]);
});

test('another body or path under the same key is 409 and has no effect', async () => {
  const owner = await plane().createMember('owner');
  const key = randomUUID();
  await post(owner, key, '/v1/projects', { name: 'One' });
  const other = await post(owner, key, '/v1/projects', { name: 'Two' });
  expect([other.status, other.body.error]).toEqual([409, expect.stringContaining('another call')]);
  expect((await post(owner, key, '/v1/orgs', { name: 'One' })).status).toBe(409);
  expect(await count(owner)).toBe(1);
});

test('keys belong to one actor: another member, organization or token of the same member has separate keys', async () => {
  const owner = await plane().createMember('owner');
  const admin = await plane().createMember('admin', owner.orgId);
  const stranger = await plane().createMember('owner');
  const secret = (await owner.call('POST', '/v1/management-tokens', { name: 'CI', role: 'admin' })).body.secretToken;
  const program: Pick<Member, 'call'> = {
    call: (method, path, body, headers = {}) => plane().call(method, path, { token: secret, body, headers }),
  };
  const key = randomUUID();
  const ids = new Set<string>();
  for (const by of [owner, admin, stranger, program]) {
    const answer = await post(by, key, '/v1/projects', { name: 'Mine' });
    expect(answer.status).toBe(201);
    ids.add(answer.body.project.id);
  }
  expect(ids.size).toBe(4);
});

test('keys belong to one organization: the same user has separate keys in another', async () => {
  const first = await plane().createMember('owner');
  const { orgId } = await plane().createMember('owner');
  await sql()`insert into memberships (org_id, user_id, role) values (${orgId}, ${first.userId}, 'owner')`;
  const key = randomUUID();
  const inFirst = await post(first, key, '/v1/projects', { name: 'Mine' });
  const { token } = (await first.call('POST', '/v1/auth/switch-org', { orgId })).body;
  const second: Pick<Member, 'call'> = {
    call: (method, path, body, headers = {}) => plane().call(method, path, { token, body, headers }),
  };
  const inSecond = await post(second, key, '/v1/projects', { name: 'Mine' });
  expect([inSecond.status, inSecond.headers.get('idempotency-replayed')]).toEqual([201, null]);
  const back = (await second.call('POST', '/v1/auth/switch-org', { orgId: first.orgId })).body.token;
  const again = await plane().call('POST', '/v1/projects', {
    token: back,
    body: { name: 'Mine' },
    headers: { 'idempotency-key': key },
  });
  expect([again.headers.get('idempotency-replayed'), again.body]).toEqual(['true', inFirst.body]);
});

test('a call that is still running is 409 with Retry-After; its response is available when it has finished', async () => {
  const owner = await plane().createMember('owner');
  const key = randomUUID();
  isPausing = true;
  const running = post(owner, key, '/v1/projects', { name: 'Slow' });
  await expect.poll(() => pausedCalls.length).toBe(1);
  isPausing = false;
  const meanwhile = await post(owner, key, '/v1/projects', { name: 'Slow' });
  expect([meanwhile.status, meanwhile.headers.get('retry-after'), meanwhile.body.error]).toEqual([
    409,
    '1',
    expect.stringContaining('still running'),
  ]);
  expect(await count(owner)).toBe(0); // its effect is not visible before its row
  for (const go of pausedCalls.splice(0)) go();
  const first = await running;
  expect((await post(owner, key, '/v1/projects', { name: 'Slow' })).body).toEqual(first.body);
  expect(await count(owner)).toBe(1);
});

test('ten at once happen once', async () => {
  const owner = await plane().createMember('owner');
  const key = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => post(owner, key, '/v1/projects', { name: 'Ten' })),
  );
  expect(new Set(answers.map((answer) => answer.status))).toEqual(
    new Set(answers.some((a) => a.status === 409) ? [201, 409] : [201]),
  );
  expect(await count(owner)).toBe(1);
});

test('a failed call has no effect and may be retried with the same key and another body', async () => {
  const owner = await plane().createMember('owner');
  const key = randomUUID();
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'P' })).body.project.id;
  const agentId = (await owner.call('POST', '/v1/agents', { projectId, name: 'A' })).body.agent.id;
  const account = { agentId, providerSlug: 'openai', credentials: { apiKey: 'sk-0123456789' } };
  expect((await owner.call('POST', '/v1/providers/accounts', account)).status).toBe(201);
  expect((await post(owner, key, '/v1/providers/accounts', account)).status).toBe(409); // by a unique index, inside
  expect((await post(owner, key, '/v1/projects', { name: 7 })).status).toBe(400);
  expect((await post(owner, key, '/v1/agents', { projectId: randomUUID(), name: 'x' })).status).toBe(404);
  expect((await post(owner, key, '/v1/projects', { name: 'At last' })).status).toBe(201);
});

test.each([
  ['an API key', '/v1/api-keys', 'secretKey', /^acg_[0-9a-f]{64}$/],
  ['a management token', '/v1/management-tokens', 'secretToken', /^acgm_[0-9a-f]{64}$/],
  ['a signing secret', '/v1/webhooks', 'endpoint.secret', /^whsec_[0-9a-f]{64}$/],
])('%s is given again without being stored', async (_what, path, field, form) => {
  const owner = await plane().createMember('owner');
  const body = {
    '/v1/api-keys': { name: 'k', scope: 'org' },
    '/v1/management-tokens': { name: 'CI', role: 'admin' },
    '/v1/webhooks': { url: 'http://127.0.0.1:9/hook', events: ['agent.created'] },
  }[path];
  const key = randomUUID();
  const secretOf = (answer: unknown) =>
    field.split('.').reduce((at, name) => (at as Record<string, unknown>)[name], answer) as string;
  const [first, again] = [await post(owner, key, path, body), await post(owner, key, path, body)];
  expect([first.status, again.status]).toEqual([201, 201]);
  const secret = secretOf(first.body);
  expect([secret, secretOf(again.body)]).toEqual([expect.stringMatching(form), secret]);
  const [row] =
    await sql()`select body, row_to_json(k)::text as everything from idempotency_keys k where org_id = ${owner.orgId}`;
  const bare = secret.split('_')[1]!;
  expect([row!.body.includes(bare), row!.everything.includes(bare), row!.everything.includes(key)]).toEqual([
    false,
    false,
    false,
  ]);
  const other = await post(owner, randomUUID(), path, body);
  expect(secretOf(other.body)).not.toBe(secret);
});

test('the returned token is the valid one', async () => {
  const owner = await plane().createMember('owner');
  const key = randomUUID();
  const body = { name: 'CI', role: 'admin' };
  await post(owner, key, '/v1/management-tokens', body);
  const token = (await post(owner, key, '/v1/management-tokens', body)).body.secretToken;
  expect((await plane().call('GET', '/v1/projects', { token })).status).toBe(200);
});

test('after a change of the master key the same token is still given', async () => {
  const owner = await plane().createMember('owner');
  const key = randomUUID();
  const body = { name: 'k', scope: 'org' };
  const { secretKey } = (await post(owner, key, '/v1/api-keys', body)).body;
  const [old, fresh] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64'));
  const at = async (MASTER_KEYS: string) => {
    const other = await startControlPlane({ MASTER_KEYS }, plane().database);
    const answer = await other.call('POST', '/v1/api-keys', {
      token: owner.token,
      body,
      headers: { 'idempotency-key': key },
    });
    await other.stop();
    return [answer.status, answer.body.secretKey];
  };
  expect(await at(`new:${fresh},test:${old}`)).toEqual([201, secretKey]);
});

test('the role is checked again before a response is repeated', async () => {
  const owner = await plane().createMember('owner');
  const admin = await plane().createMember('admin', owner.orgId);
  const key = randomUUID();
  const body = { name: 'k', scope: 'org' };
  expect((await post(admin, key, '/v1/api-keys', body)).status).toBe(201);
  await owner.call('PATCH', `/v1/members/${admin.userId}`, { role: 'viewer' });
  expect((await post(admin, key, '/v1/api-keys', body)).status).toBe(403);
  await owner.call('DELETE', `/v1/members/${admin.userId}`);
  expect((await post(admin, key, '/v1/api-keys', body)).status).toBe(401);
});

test('a response is stored for a day', async () => {
  const owner = await plane().createMember('owner');
  const key = randomUUID();
  const first = await post(owner, key, '/v1/projects', { name: 'Day' });
  await sql()`update idempotency_keys set created_at = now() - interval '23 hours 59 minutes' where org_id = ${owner.orgId}`;
  expect((await post(owner, key, '/v1/projects', { name: 'Day' })).body).toEqual(first.body);
  await sql()`update idempotency_keys set created_at = now() - interval '24 hours 1 minute' where org_id = ${owner.orgId}`;
  expect((await post(owner, key, '/v1/projects', { name: 'Another' })).status).toBe(201);
  expect(await count(owner)).toBe(2);
});

test('the key has 1 to 255 characters; routes that log in or send e-mail ignore it', async () => {
  const owner = await plane().createMember('owner');
  expect((await post(owner, 'x'.repeat(255), '/v1/projects', { name: 'x' })).status).toBe(201);
  expect((await post(owner, 'x'.repeat(256), '/v1/projects', { name: 'x' })).status).toBe(400);
  expect((await post(owner, '', '/v1/projects', { name: 'x' })).status).toBe(400);
  const key = randomUUID();
  for (const email of ['a@example.org', 'b@example.org']) {
    expect((await post(owner, key, '/v1/members', { email, role: 'viewer' })).status).toBe(201);
  }
  expect(await sql()`select 1 from idempotency_keys where org_id = ${owner.orgId}`).toHaveLength(1);
});

test('a process that dies before the commit leaves neither the effect nor the row', async () => {
  const owner = await plane().createMember('owner');
  const key = randomUUID();
  isPausing = true;
  const lost = post(owner, key, '/v1/projects', { name: 'Lost' });
  await expect.poll(() => pausedCalls.length).toBe(1);
  isPausing = false;
  await sql()`
    select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'acg-api' and state = 'idle in transaction'`;
  for (const go of pausedCalls.splice(0)) go();
  expect((await lost).status).toBe(503);
  expect(await count(owner)).toBe(0);
  expect((await retryPost(owner, key, '/v1/projects', { name: 'Lost' })).status).toBe(201);
  expect(await count(owner)).toBe(1);
});

test('a connection that is lost in the middle of a call is 503 in the words of the contract', async () => {
  const owner = await plane().createMember('owner');
  const release = await holdPostgresLock(sql(), (tx) => tx`lock table projects in share mode`);
  const lost = post(owner, randomUUID(), '/v1/projects', { name: 'Lost' });
  await expect.poll(() => cutLockWaiters(sql())).toBe(1);
  const { status, headers, body } = await lost;
  await release();
  expect({ status, body }).toEqual({
    status: 503,
    body: { error: 'the database is unavailable. Retry in a few seconds.' },
  });
  expect(headers.get('retry-after')).toBe('2');
});

// Between the failure of an unprepared statement and its end, the client accepts further statements and answers none.
// The rollback to the call's savepoint is among them.
test('a connection that breaks during an unprepared statement is 503 as well, and the call finishes', async () => {
  const url = new URL(plane().database.url.reveal());
  const way = await TcpProxy.start(Number(url.port));
  url.port = String(way.port);
  const through = await startControlPlane({ DATABASE_URL: url.href }, plane().database);
  const owner = await through.createMember('owner');
  way.resetOnText = 'insert into projects';
  const key = randomUUID();
  const { status, body } = await post(owner, key, '/v1/projects', { name: 'Lost' });
  expect({ status, body }).toEqual({
    status: 503,
    body: { error: 'the database is unavailable. Retry in a few seconds.' },
  });
  way.resetOnText = null;
  expect((await retryPost(owner, key, '/v1/projects', { name: 'Lost' })).status).toBe(201);
  expect(await count(owner)).toBe(1);
  await through.stop();
  await way.stop();
});
