/** Rotation of stored keys with overlap: store, test, use, retire (docs/contract.md#rotation-with-overlap). */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countLockWaiters, holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';

/** Keys that the provider accepts. */
const accepted = new Set<string>();
/** What the provider answers to a key, because the gateway masks the key itself. */
const labels = new Map<string, string>();
/** Held responses of `/held`, by key. */
const held = new Map<string, ServerResponse>();
const seen: { readonly key: string; readonly url: string }[] = [];
let probeStatus = 200;
/** Keys whose rate the provider limits. */
const limited = new Set<string>();

function serve(request: IncomingMessage, response: ServerResponse): void {
  const key = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  seen.push({ key, url: request.url! });
  if (request.url === '/me' && probeStatus !== 200) return void response.writeHead(probeStatus).end('{}');
  if (limited.has(key)) return void response.writeHead(429).end('{}');
  if (!accepted.has(key)) return void response.writeHead(401).end('{"error":"bad key"}');
  if (request.url === '/forbidden') return void response.writeHead(401).end('{"error":"not yours"}');
  response.writeHead(200, { 'content-type': 'text/plain' });
  if (request.url !== '/held') return void response.end(labels.get(key));
  response.write('begun');
  held.set(key, response);
}

const provider = createServer(serve);
const elsewhere = createServer(serve);
let stack: Stack;
let dataPlane: string;
let tenant: Tenant;
let sql: postgres.Sql;

const originOf = (server: typeof provider): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  for (const server of [provider, elsewhere])
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack = await Stack.start();
  dataPlane = (await stack.addDataPlane()).url;
  tenant = await stack.signUpTenant();
  sql = postgres(stack.database.url.reveal(), { max: 1 });
});
afterAll(async () => {
  await sql?.end();
  for (const server of [provider, elsewhere]) {
    server.closeAllConnections();
    server.close();
  }
  await stack?.stop();
});

const definition = (origin: string, probe: object = { path: '/me', refused: [{ status: 401 }] }) => ({
  credentials: { kind: 'api_key', fields: [{ name: 'apiKey', label: 'Key', secret: true, required: true }] },
  origins: { default: origin },
  inject: [{ header: 'authorization', value: 'Bearer {apiKey}' }],
  usage: { format: 'none' },
  probe,
});

let created = 0;
const newKey = (): string => {
  const key = `provider-key-${created++}-${'x'.repeat(20)}`;
  accepted.add(key);
  labels.set(key, `label ${created}`);
  return key;
};

async function createProvider(probe?: object): Promise<{ slug: string; providerId: string }> {
  const slug = `rotated-${created++}`;
  const body = { slug, displayName: slug, definition: definition(originOf(provider), probe) };
  const made = await tenant.call('POST', '/v1/custom-providers', body);
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  return { slug, providerId: made.body.provider.id };
}

/** An agent with an account that has its own key, or uses a shared credential with it. */
async function setUp(shared = false) {
  probeStatus = 200;
  const { slug, providerId } = await createProvider();
  const former = newKey();
  const agent = await tenant.createAgent({ rpmLimit: 10_000 });
  const credentials = { apiKey: former };
  let path: string;
  let read: () => Promise<{ rotation: Record<string, unknown> | null; status: string }>;
  if (shared) {
    const made = await tenant.call('POST', '/v1/credentials', { name: slug, providerSlug: slug, credentials });
    const { id } = made.body.credential;
    await tenant.call('POST', '/v1/providers/accounts', { agentId: agent.id, providerSlug: slug, credentialId: id });
    path = `/v1/credentials/${id}`;
    read = async () => (await tenant.call('GET', path)).body.credential;
  } else {
    path = `/v1/providers/accounts/${await tenant.createAccount(agent.id, slug, credentials)}`;
    read = async () => (await tenant.call('GET', `/v1/providers/accounts?agentId=${agent.id}`)).body.accounts[0];
  }
  const token = await tenant.createToken(agent.id);
  const call = (url: string) =>
    fetch(`${dataPlane}/v1/proxy/${slug}${url}`, { headers: { authorization: `Bearer ${token}` } });
  const rotate = (key: string, options: object = {}) =>
    tenant.call('POST', `${path}/rotate`, {
      credentials: { apiKey: key },
      testFirst: true,
      keepSeconds: 0,
      ...options,
    });
  const act = (action: string) => tenant.call('POST', `${path}/rotation`, { action });
  const waitForState = (state: string) =>
    waitUntil(`the rotation is ${state}`, async () => {
      const { rotation } = await read();
      return rotation?.state === state && rotation;
    });
  const isUsed = async (key: string) => (await (await call('/who')).text()) === labels.get(key);
  /** A call in flight, whose first bytes the client has; `rest` is what follows, or `cut`. */
  const hold = async () => {
    const response = await call('/held');
    const reader = response.body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('begun');
    const read = async (): Promise<string> => {
      const { done, value } = await reader.read();
      return done ? '' : Buffer.from(value).toString() + (await read());
    };
    return { rest: read().catch(() => 'cut') };
  };
  return { slug, providerId, former, path, read, call, rotate, act, waitForState, isUsed, hold };
}

const events = async (type: string, slug: string): Promise<Record<string, unknown>[]> => {
  const { body } = await tenant.call('GET', `/v1/events?event=${type}&limit=50`);
  return body.events
    .map(({ data }: { data: Record<string, unknown> }) => data)
    .filter((data: Record<string, unknown>) => data.providerSlug === slug);
};

const storedSecrets = async (): Promise<number> => {
  const [row] = await sql`select count(*)::int as secrets from credential_rotations where ciphertext is not null`;
  return row!.secrets;
};

test.each([
  ['of an account', false],
  ['of a shared credential', true],
])('the next key %s is used once tested, and the former retires after its last call', async (_name, shared) => {
  const { slug, former, rotate, waitForState, isUsed, hold } = await setUp(shared);
  const next = newKey();
  const { rest } = await hold();
  expect((await rotate(next)).status).toBe(200);
  await waitForState('retiring');
  await waitUntil('new calls carry the next key', () => isUsed(next));
  expect(
    await waitUntil('the data plane has reported', async () => (await waitForState('retiring')).callsInFlight),
  ).toBe(1);
  expect(await storedSecrets()).toBe(1);
  held.get(former)!.end('ended');
  expect(await rest).toBe('ended');
  await waitForState('retired');
  expect(await storedSecrets()).toBe(0);
  expect(await isUsed(next)).toBe(true);
  expect(await events('credential.rotated', slug)).toHaveLength(1);
  expect(await events('credential.retired', slug)).toMatchObject([{ compromised: false }]);
});

test('a key that the provider rejects changes nothing', async () => {
  const { slug, former, rotate, waitForState, isUsed } = await setUp();
  const bad = newKey();
  accepted.delete(bad);
  await rotate(bad);
  const rotation = await waitForState('rejected');
  expect(rotation).toMatchObject({ testStatus: 401, problem: expect.stringContaining('rejects this credential') });
  expect(await isUsed(former)).toBe(true);
  expect(await storedSecrets()).toBe(0);
  expect(await events('credential.rotation_failed', slug)).toHaveLength(1);
});

test('a provider without an answer leaves the next key waiting, and a person may cancel', async () => {
  const { former, rotate, act, waitForState, isUsed, read } = await setUp();
  probeStatus = 503;
  await rotate(newKey());
  await waitUntil('a test has failed', async () => (await read()).rotation?.testStatus === 503);
  expect(await waitForState('testing')).toMatchObject({ nextTestAt: expect.any(String) });
  expect(await isUsed(former)).toBe(true);
  expect((await act('roll_back')).status).toBe(409);
  expect((await act('cancel')).body.account.rotation.state).toBe('cancelled');
  expect(await storedSecrets()).toBe(0);
  expect((await act('cancel')).status).toBe(409);
});

test('only the test of the gateway puts the former key back, not a 401 of an agent', async () => {
  const { slug, path, former, rotate, waitForState, isUsed, call, act } = await setUp();
  const next = newKey();
  await rotate(next, { keepSeconds: 600 });
  await waitForState('retiring');
  await waitUntil('new calls carry the next key', () => isUsed(next));
  const countProbes = () => seen.filter(({ key, url }) => key === next && url === '/me').length;
  const probes = countProbes();
  expect((await call('/forbidden')).status).toBe(401);
  await waitUntil('the gateway has tested the next key', () => countProbes() > probes);
  expect((await tenant.call('POST', `${path}/test`)).body.ok).toBe(true);
  expect(await isUsed(next)).toBe(true);
  expect((await rotate(newKey())).body.error).toContain('the previous credential of the last rotation is still kept');
  accepted.delete(next);
  expect((await tenant.call('POST', `${path}/test`)).body.hint).toContain('the previous one is in use again');
  await waitForState('rolled_back');
  await waitUntil('new calls carry the former key', () => isUsed(former));
  expect(await storedSecrets()).toBe(0);
  expect(await events('credential.rolled_back', slug)).toHaveLength(1);
  expect(await events('credential.refused', slug)).toHaveLength(0);
  expect((await act('roll_back')).status).toBe(409);
});

test('a former key whose rate the provider limits is kept, and put back when the provider accepts it', async () => {
  const { former, path, read, rotate, waitForState, isUsed } = await setUp();
  const next = newKey();
  await rotate(next, { keepSeconds: 600 });
  const { id } = (
    await sql`select id from credential_rotations where state = 'testing' or state = 'retiring' order by started_at desc limit 1`
  )[0]!;
  await waitForState('retiring');
  await waitUntil('new calls carry the next key', () => isUsed(next));
  accepted.delete(next);
  limited.add(former);
  expect((await tenant.call('POST', `${path}/test`)).body.hint).toContain('rejects this credential');
  expect(await read()).toMatchObject({ status: 'needs_credentials', rotation: { state: 'retiring' } });
  // Nothing uses the former key and its time is over, but a later test may put it back.
  await sql`update credential_rotations set keep_seconds = 0 where id = ${id}`;
  const isReported = async () =>
    (await sql`select from credential_rotation_uses where rotation_id = ${id} and calls is distinct from 0`).length ===
    0;
  await waitUntil('no data plane has calls with it', isReported);
  const other = await setUp();
  await other.rotate(newKey());
  await other.waitForState('retired');
  expect((await read()).rotation).toMatchObject({ state: 'retiring' });
  limited.delete(former);
  expect((await tenant.call('POST', `${path}/test`)).body.hint).toContain('the previous one is in use again');
  await waitUntil('new calls carry the former key', () => isUsed(former));
});

test('a control plane of the previous release that replaces or moves a credential ends the rotation', async () => {
  for (const change of [
    sql`update provider_accounts set rotated_at = now() where id = `,
    sql`update provider_accounts set status = 'needs_credentials', refused_at = null where id = `,
  ]) {
    const { path, rotate, waitForState } = await setUp();
    probeStatus = 503;
    await rotate(newKey());
    await waitForState('testing');
    await sql`${change}${path.split('/').at(-1)!}`;
    expect(await waitForState('cancelled')).toMatchObject({ problem: expect.any(String) });
  }
  expect(await storedSecrets()).toBe(0);
});

test('a person rolls back, if the provider accepts the former key', async () => {
  const { former, rotate, act, waitForState, isUsed } = await setUp();
  await rotate(newKey(), { keepSeconds: 600 });
  await waitForState('retiring');
  accepted.delete(former);
  expect(await act('roll_back')).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('stays out of use') },
  });
  accepted.add(former);
  expect((await act('roll_back')).body.account.rotation.state).toBe('rolled_back');
  await waitUntil('new calls carry the former key', () => isUsed(former));
});

test('a compromised former key is never used again, and only its calls in flight end', async () => {
  const { slug, path, rotate, act, waitForState, isUsed, hold, read, call } = await setUp();
  const next = newKey();
  const formerCall = await hold();
  await rotate(next, { keepSeconds: 600 });
  await waitForState('retiring');
  await waitUntil('new calls carry the next key', () => isUsed(next));
  const nextCall = await hold();
  expect((await act('compromised')).body.account.rotation).toMatchObject({ state: 'retired', compromised: true });
  expect(await formerCall.rest).toBe('cut');
  held.get(next)!.end('ended');
  expect(await nextCall.rest).toBe('ended');
  expect(await storedSecrets()).toBe(0);
  accepted.delete(next);
  await tenant.call('POST', `${path}/test`);
  await waitUntil('the account is out of use', async () => (await read()).status === 'needs_credentials');
  await waitUntil('calls are rejected', async () => (await call('/who')).status === 403);
  expect(await events('credential.retired', slug)).toMatchObject([{ compromised: true }]);
});

test('a key that is compromised during the test of the next one is replaced at once', async () => {
  const { rotate, act, waitForState, isUsed, hold } = await setUp();
  const next = newKey();
  probeStatus = 503;
  const formerCall = await hold();
  await rotate(next);
  await waitForState('testing');
  expect((await act('compromised')).body.account.rotation).toMatchObject({ state: 'retired', compromised: true });
  expect(await formerCall.rest).toBe('cut');
  await waitUntil('new calls carry the next key', () => isUsed(next));
});

test('a compromised key is replaced without a test, and its calls in flight end', async () => {
  const { rotate, isUsed, hold, read } = await setUp(true);
  const next = newKey();
  const formerCall = await hold();
  const both = await rotate(next, { compromised: true });
  expect([both.status, both.body.error]).toEqual([400, expect.stringContaining('leave testFirst out')]);
  expect((await rotate(next, { testFirst: false, keepSeconds: undefined, compromised: true })).status).toBe(200);
  expect(await formerCall.rest).toBe('cut');
  await waitUntil('new calls carry the next key', () => isUsed(next));
  expect((await read()).rotation).toBeNull();
});

test('a provider that moves to another host gets neither the next nor the former key', async () => {
  const { slug, providerId, former, rotate, waitForState, path } = await setUp();
  const next = newKey();
  await rotate(next, { keepSeconds: 600 });
  await waitForState('retiring');
  const moved = { definition: definition(originOf(elsewhere)) };
  expect((await tenant.call('PUT', `/v1/custom-providers/${providerId}`, moved)).status).toBe(200);
  expect(await waitForState('cancelled')).toMatchObject({ problem: expect.stringContaining('another address') });
  expect(await storedSecrets()).toBe(0);
  const before = seen.length;
  await tenant.call('POST', `${path}/test`);
  await rotate(newKey()); // the new one may be sent to the new host
  await waitForState('retired');
  expect(seen.slice(before).some(({ key }) => key === next || key === former)).toBe(false);
  expect(await events('credential.rolled_back', slug)).toHaveLength(0);
});

test('a roll back that waits for the move of the provider does not test the former key at the new host', async () => {
  const { providerId, former, path, rotate, act, waitForState } = await setUp();
  await rotate(newKey(), { keepSeconds: 600 });
  await waitForState('retiring');
  const holder = postgres(stack.database.url.reveal(), { max: 1 });
  const waiters = (count: number) =>
    waitUntil(`${count} statements wait`, async () => Number(await countLockWaiters(sql as never)) === count);
  const accountId = path.split('/').at(-1)!;
  const release = await holdPostgresLock(
    holder as never,
    (tx) => tx`select from provider_accounts where id = ${accountId} for update`,
  );
  const moved = tenant.call('PUT', `/v1/custom-providers/${providerId}`, {
    definition: definition(originOf(elsewhere)),
  });
  await waiters(1); // has the provider's lock
  const before = seen.length;
  const rolledBack = act('roll_back');
  await waiters(2);
  await release();
  await holder.end();
  expect((await moved).status).toBe(200);
  expect((await rolledBack).status).toBe(409);
  expect(seen.slice(before).some(({ key }) => key === former)).toBe(false);
});

test('a data plane that does not report delays the end, up to a day', async () => {
  const [silent, heard] = [await setUp(), await setUp()];
  // The registration of a data plane that has just died.
  await sql`
    insert into data_planes (id, counters, control_plane_id, connection_id, version)
    values ('silent', 'memory', gen_random_uuid(), gen_random_uuid(), '0')`;
  for (const one of [silent, heard]) await one.rotate(newKey(), { keepSeconds: 600 });
  for (const one of [silent, heard]) await one.waitForState('retiring');
  await sql`delete from data_planes where id = 'silent'`;
  await waitUntil('the living data plane has reported', async () => {
    const [row] = await sql`
      select count(*)::int as planes, count(u.calls)::int as reported
        from credential_rotation_uses u join credential_rotations r on r.id = u.rotation_id and r.state = 'retiring'`;
    return row!.planes === 4 && row!.reported === 2;
  });
  const pass = (hours: number) => sql`
    update credential_rotations set switched_at = switched_at - ${hours} * interval '1 hour' where state = 'retiring'`;
  await sql`update credential_rotation_uses set calls = 0
             where rotation_id = (select max(id::text)::uuid from credential_rotations where state = 'retiring')`;
  await pass(1);
  await heard.waitForState('retired');
  expect((await silent.read()).rotation?.state).toBe('retiring');
  await pass(24);
  await silent.waitForState('retired');
  expect((await silent.act('retire')).status).toBe(409);
});

test('a provider without a test has no rotation with overlap', async () => {
  const { slug } = await createProvider({ none: 'It has no free call.' });
  const agent = await tenant.createAgent();
  const id = await tenant.createAccount(agent.id, slug, { apiKey: newKey() });
  const body = { credentials: { apiKey: newKey() }, testFirst: true };
  expect(await tenant.call('POST', `/v1/providers/accounts/${id}/rotate`, body)).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('It has no free call.') },
  });
});

test('another organization sees no rotation', async () => {
  const { path, rotate, act } = await setUp();
  const stranger = await stack.signUpTenant();
  await rotate(newKey(), { keepSeconds: 600 });
  expect((await stranger.call('POST', `${path}/rotation`, { action: 'cancel' })).status).toBe(404);
  expect(
    (await stranger.call('POST', `${path}/rotate`, { credentials: { apiKey: 'x'.repeat(20) }, testFirst: true }))
      .status,
  ).toBe(404);
  expect((await act('nothing')).status).toBe(400);
});
