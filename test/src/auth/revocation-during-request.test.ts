/**
 * A client delays the body of a request until its rights are revoked: no write happens. The same holds for a request
 * that waited inside its transaction. A revocation waits for writes that passed their last check before it.
 */
import { randomUUID } from 'node:crypto';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { acceptsIdempotencyKey } from '@acg/controlplane/idempotency/idempotency';
import { expect, test } from 'vitest';
import { callExample, exampleOf, routesWithExample } from '../controlplane/route-examples/index.js';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { countLockWaiters, holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { waitUntil } from '../fixtures/wait-until.js';

/** Requests that were authenticated and whose body is still expected. */
let authenticated = 0;
const plane = useControlPlane({}, ({ app }) => {
  app.addHook('preParsing', async () => {
    authenticated++;
  });
});

interface DelayedResponse {
  readonly status: number;
  readonly body: string;
}

/** Sends head and first byte; the returned function sends the rest. Resolves once the server has authenticated the call. */
async function sendWithDelayedBody(
  token: string,
  method: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<() => Promise<DelayedResponse>> {
  const payload = JSON.stringify(body ?? {});
  const auth = headers.cookie === undefined ? { authorization: `Bearer ${token}` } : {};
  const length = { 'content-type': 'application/json', 'content-length': String(payload.length) };
  const before = authenticated;
  const request: ClientRequest = httpRequest(plane().url + path, {
    method,
    headers: { ...auth, ...headers, ...length },
  });
  const answer = new Promise<DelayedResponse>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      text(response).then((answered) => resolve({ status: response.statusCode!, body: answered }), reject);
    });
  });
  request.write(payload.slice(0, 1));
  await waitUntil('the call is authenticated', () => authenticated > before);
  return () => {
    request.end(payload.slice(1));
    return answer;
  };
}

const REVOCATIONS = {
  'membership removed': ({ userId, orgId }: Member) =>
    plane().database.sql`delete from memberships where org_id = ${orgId} and user_id = ${userId}`,
  'session ended': ({ userId }: Member) => plane().database.sql`delete from sessions where user_id = ${userId}`,
} as const;

test.each(Object.entries(REVOCATIONS))(
  '%s while the body was held back: no write of any route happens',
  async (_how, revoke) => {
    const writes = routesWithExample(plane().service.app.routeTable).filter(
      ({ method, access }) => method !== 'GET' && access !== 'public',
    );
    expect(writes.length).toBeGreaterThan(40);
    const done: unknown[] = [];
    for (const route of writes) {
      const owner = await plane().createMember('owner');
      const caller = await plane().createMember('owner', owner.orgId);
      const call = await exampleOf(route).prepare({ plane: plane(), owner, caller });
      let rest: (() => Promise<DelayedResponse>) | null = null;
      const held: Pick<Member, 'call'> = {
        async call(method, path, body, headers) {
          rest = await sendWithDelayedBody(caller.token, method, path, body, headers);
          return { status: 0, headers: new Headers(), body: null };
        },
      };
      const key = acceptsIdempotencyKey(route) ? { 'idempotency-key': randomUUID() } : {};
      await callExample(held, route, { ...call, headers: { ...key, ...call.headers } });
      await revoke(caller);
      const entries = await auditEntries(owner.orgId);
      const { status, body } = await rest!();
      if (status !== 401 || (await auditEntries(owner.orgId)) !== entries) {
        done.push({ route: `${route.method} ${route.url}`, status, body });
      }
    }
    expect(done).toEqual([]);
  },
);

async function auditEntries(orgId: string): Promise<number> {
  const [row] = await plane().database.sql<{ n: number }[]>`
    select count(*) as n from audit_entries where org_id = ${orgId}`;
  return row!.n;
}

test('an admin who became a viewer while the body was delayed creates no key', async () => {
  const owner = await plane().createMember('owner');
  const admin = await plane().createMember('admin', owner.orgId);
  const rest = await sendWithDelayedBody(admin.token, 'POST', '/v1/api-keys', { name: 'held', scope: 'org' });
  expect((await owner.call('PATCH', `/v1/members/${admin.userId}`, { role: 'viewer' })).status).toBe(200);
  expect((await rest()).status).toBe(403);
  expect((await owner.call('GET', '/v1/api-keys')).body.total).toBe(0);
});

test('a deleted management token creates nothing with a delayed body and gets no stored response', async () => {
  const owner = await plane().createMember('owner');
  const { token, secretToken } = (await owner.call('POST', '/v1/management-tokens', { name: 'ci', role: 'admin' }))
    .body;
  const key = { 'idempotency-key': randomUUID() };
  const body = { name: 'ci', scope: 'org' };
  const first = await plane().call('POST', '/v1/api-keys', { token: secretToken, body, headers: key });
  expect(first.status).toBe(201);
  const held = [
    await sendWithDelayedBody(secretToken, 'POST', '/v1/api-keys', body),
    await sendWithDelayedBody(secretToken, 'POST', '/v1/api-keys', body, key),
  ];
  expect((await owner.call('DELETE', `/v1/management-tokens/${token.id}`)).status).toBe(200);
  for (const rest of held) expect((await rest()).status).toBe(401);
  expect((await owner.call('GET', '/v1/api-keys')).body.total).toBe(1);
});

/** What mints something; `path` of a call that waits for a lock of {@link holdProjectLock} inside of its transaction. */
const CREATING_CALLS = [
  ['API key', '/v1/api-keys', {}, (projectId: string) => ({ name: 'k', scope: 'project', projectId })],
  [
    'API key, with an Idempotency-Key',
    '/v1/api-keys',
    { 'idempotency-key': randomUUID() },
    (projectId: string) => ({ name: 'k', scope: 'project', projectId }),
  ],
  ['management token', '/v1/management-tokens', {}, (projectId: string) => ({ name: 'k', role: 'admin', projectId })],
  ['agent', '/v1/agents', {}, (projectId: string) => ({ name: 'k', projectId })],
] as const;

const holdProjectLock = (projectId: string) =>
  holdPostgresLock(plane().database.sql, (tx) => tx`select 1 from projects where id = ${projectId} for update`);

test.each(CREATING_CALLS)(
  '%s: not made when the actor was removed while its transaction waited',
  async (_what, path, headers, bodyOf) => {
    const owner = await plane().createMember('owner');
    const admin = await plane().createMember('admin', owner.orgId);
    const { id } = (await owner.call('POST', '/v1/projects', { name: 'P' })).body.project;
    const release = await holdProjectLock(id);
    const mint = admin.call('POST', path, bodyOf(id), headers);
    await expect.poll(() => countLockWaiters(plane().database.sql)).toBe(1);
    expect((await owner.call('DELETE', `/v1/members/${admin.userId}`)).status).toBe(200);
    await release();
    expect((await mint).status).toBe(401);
    const [row] = await plane().database.sql<{ n: number }[]>`
    select (select count(*) from api_keys where org_id = ${owner.orgId})
         + (select count(*) from management_tokens where org_id = ${owner.orgId})
         + (select count(*) from agents where org_id = ${owner.orgId}) as n`;
    expect(row!.n).toBe(0);
  },
);

test('a removal waits for a management token that passed its last check, and deletes it', async () => {
  const { sql } = plane().database;
  const owner = await plane().createMember('owner');
  const admin = await plane().createMember('admin', owner.orgId);
  // The response for the Idempotency-Key is written last, so this lock stops the call between its check and its commit.
  const release = await holdPostgresLock(sql, (tx) => tx`lock table idempotency_keys in share mode`);
  const body = { name: 'late', role: 'admin' };
  const mint = admin.call('POST', '/v1/management-tokens', body, { 'idempotency-key': randomUUID() });
  await expect.poll(() => countLockWaiters(sql)).toBe(1);
  const removal = owner.call('DELETE', `/v1/members/${admin.userId}`);
  await expect.poll(() => countLockWaiters(sql)).toBe(2);
  await release();
  expect((await mint).status).toBe(201);
  expect((await removal).status).toBe(200);
  expect((await owner.call('GET', '/v1/management-tokens')).body.total).toBe(0);
});

test('a call that waits for the revocation of its session holds no lock that the revocation needs', async () => {
  const { sql } = plane().database;
  const owner = await plane().createMember('owner');
  const { orgId, userId } = owner;
  // The order of an account takeover by its e-mail owner: sessions first, then memberships and the rest.
  const release = await holdPostgresLock(sql, (tx) => tx`delete from sessions where user_id = ${userId}`);
  const calls = [
    owner.call('POST', '/v1/projects', { name: 'P' }),
    owner.call('PATCH', `/v1/orgs/${orgId}`, { name: 'New' }),
  ];
  await expect.poll(() => countLockWaiters(sql)).toBe(calls.length);
  const free = await sql`
    select 1 from memberships where org_id = ${orgId} and user_id = ${userId} for update skip locked`;
  const referable = await sql`select 1 from organizations where id = ${orgId} for key share skip locked`;
  await release();
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([401, 401]);
  expect([free.length, referable.length]).toEqual([1, 1]);
});

test('a deletion of the organization that waits for the revocation of its session does not lock the organization', async () => {
  const { sql } = plane().database;
  const { body } = await plane().call('POST', '/v1/auth/signup', {
    body: { email: `${randomUUID()}@example.org`, password: 'a long enough password', name: 'A', orgName: 'A' },
  });
  const { token, user, org } = body;
  expect((await plane().call('POST', '/v1/orgs', { token, body: { name: 'Other' } })).status).toBe(201);
  const release = await holdPostgresLock(sql, (tx) => tx`delete from sessions where user_id = ${user.id}`);
  const call = plane().call('DELETE', `/v1/orgs/${org.id}`, { token, body: { password: 'a long enough password' } });
  await expect.poll(() => countLockWaiters(sql)).toBe(1);
  const free = await sql`select 1 from organizations where id = ${org.id} for key share skip locked`;
  await release();
  expect((await call).status).toBe(401);
  expect(free).toHaveLength(1);
});

test('a switch of the organization that waits for its account does not hold its session', async () => {
  const { sql } = plane().database;
  const owner = await plane().createMember('owner');
  // As when the password changes: the account first, then the sessions.
  const release = await holdPostgresLock(
    sql,
    (tx) => tx`select 1 from users where id = ${owner.userId} for no key update`,
  );
  const call = owner.call('POST', '/v1/auth/switch-org', { orgId: owner.orgId });
  await expect.poll(() => countLockWaiters(sql)).toBe(1);
  const free = await sql`select 1 from sessions where user_id = ${owner.userId} for update skip locked`;
  await release();
  expect((await call).status).toBe(200);
  expect(free).toHaveLength(1);
});

test('a session that was revoked while the call waited creates no organization', async () => {
  const { sql } = plane().database;
  const { userId, call } = await plane().createMember('owner');
  const release = await holdPostgresLock(sql, (tx) => tx`select 1 from users where id = ${userId} for no key update`);
  const created = call('POST', '/v1/orgs', { name: 'Late' });
  await expect.poll(() => countLockWaiters(sql)).toBe(1);
  await sql`delete from sessions where user_id = ${userId}`;
  await release();
  expect((await created).status).toBe(401);
  expect(await sql`select 1 from organizations where created_by = ${userId}`).toEqual([]);
});
