/** Open calls through real planes end when the API revokes their access, and no other calls do. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { createTestDatabase, type TestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { SupabaseStandIn } from '../stand-in-providers/supabase.js';

const provider = new SupabaseStandIn();
/** Starts a response and never ends it. */
const endless = createServer((_request, response) => void response.writeHead(200).write('data: 1\n\n'));
let database: TestDatabase;
let stack: Stack;
let tenant: Tenant;
let url: string;

beforeAll(async () => {
  await provider.start();
  await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
  const { port } = endless.address() as AddressInfo;
  database = await createTestDatabase();
  stack = await Stack.start({ database, providers: { openai: `http://127.0.0.1:${port}` } });
  ({ url } = await stack.addDataPlane());
  tenant = await stack.signUpTenant();
});
afterAll(async () => {
  // First closes the connections that do not end by themselves, because the data plane would wait for them.
  endless.closeAllConnections();
  endless.close();
  await stack?.stop();
  await provider.close();
});

interface RealtimeAgent {
  readonly agentId: string;
  readonly keyId: string;
  readonly accountId: string;
  readonly socket: WebSocket;
  readonly closed: Promise<[code: number, reason: string]>;
}

/** Creates an agent with an open realtime connection that responds. */
async function connectRealtimeAgent(): Promise<RealtimeAgent> {
  const agent = await tenant.createAgent();
  const created = await tenant.call('POST', '/v1/api-keys', { name: 'key', agentId: agent.id });
  const accountId = await tenant.createAccount(agent.id, 'supabase', {
    apiKey: PROVIDER_CREDENTIALS.supabase,
    url: provider.origin,
  });
  const target = `${url.replace('http', 'ws')}/v1/proxy/supabase/realtime/v1/websocket`;
  const socket = new WebSocket(`${target}?apikey=${created.body.secretKey}&vsn=1.0.0`);
  const closed = new Promise<[number, string]>((resolve) =>
    socket.once('close', (code, reason) => resolve([code, reason.toString()])),
  );
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  await expectEcho(socket);
  return { agentId: agent.id, keyId: created.body.key.id, accountId, socket, closed };
}

/** Resolves when a message was sent and its response came back; rejects when the connection closes before. */
async function expectEcho(socket: WebSocket): Promise<void> {
  const answer = new Promise((resolve, reject) => {
    socket.once('message', resolve);
    socket.once('error', reject);
    socket.once('close', (code) => reject(new Error(`closed with ${code}`)));
  });
  socket.send(JSON.stringify({ topic: 'phoenix', event: 'heartbeat', payload: {}, ref: '1' }));
  await answer;
}

test.each([
  ['its key is revoked', (one: RealtimeAgent) => tenant.call('DELETE', `/v1/api-keys/${one.keyId}`)],
  [
    'its agent is paused',
    (one: RealtimeAgent) => tenant.call('PATCH', `/v1/agents/${one.agentId}/status`, { status: 'paused' }),
  ],
  ['its account is removed', (one: RealtimeAgent) => tenant.call('DELETE', `/v1/providers/accounts/${one.accountId}`)],
  ['its agent is deleted', (one: RealtimeAgent) => tenant.call('DELETE', `/v1/agents/${one.agentId}`)],
])('websocket: a connection is closed when %s, and the others stay open', async (_name, revoke) => {
  const [one, other] = [await connectRealtimeAgent(), await connectRealtimeAgent()];
  expect((await revoke(one)).status).toBe(200);
  expect(await one.closed).toEqual([1008, 'access was revoked']);
  await expectEcho(other.socket);
  expect(other.socket.readyState).toBe(WebSocket.OPEN);
  other.socket.close();
});

test('websocket: a revoked session is in the log, with its status and bytes', async () => {
  const one = await connectRealtimeAgent();
  await tenant.call('DELETE', `/v1/api-keys/${one.keyId}`);
  await one.closed;
  const log = await waitUntil('the session is in the log', async () => {
    const { body } = await tenant.call('GET', `/v1/usage/agents/${one.agentId}/logs`);
    return body.logs[0];
  });
  expect(log).toMatchObject({ providerSlug: 'supabase', status: 101, keyId: one.keyId, error: 'revoked' });
  expect(log.bytesIn).toBeGreaterThan(0);
  expect(log.bytesOut).toBeGreaterThan(0);
});

test('websocket: a change that revokes no access keeps the connection open', async () => {
  const one = await connectRealtimeAgent();
  const { body } = await tenant.call('POST', '/v1/api-keys', { name: 'second', agentId: one.agentId });
  const target = `${url.replace('http', 'ws')}/v1/proxy/supabase/realtime/v1/websocket`;
  await tenant.call('PATCH', `/v1/agents/${one.agentId}`, { rpmLimit: 1 });
  // The change has arrived when the new limit is visible; only the open session has used it.
  await waitUntil('the new limit is there', async () => {
    const self = await fetch(`${url}/v1/self`, { headers: { authorization: `Bearer ${body.secretKey}` } });
    return ((await self.json()) as { limits: { rpm: number } }).limits.rpm === 1;
  });
  const rejected = new WebSocket(`${target}?apikey=${body.secretKey}&vsn=1.0.0`);
  const status = await new Promise((resolve, reject) => {
    rejected.once('unexpected-response', (_request, response) => resolve(response.statusCode));
    rejected.once('open', () => resolve(101));
    rejected.once('error', reject);
  });
  expect(status).toBe(429);
  await expectEcho(one.socket);
  one.socket.close();
});

/**
 * Revokes as another control-plane instance would while the data plane is disconnected, and prunes the invalidation.
 */
async function revokeWithoutNotification(keyId: string): Promise<void> {
  await database.sql.begin(async (tx) => {
    await tx`update api_keys set revoked_at = now() where id = ${keyId}`;
    await tx`insert into invalidations (kind, id, ends_sessions) values ('key', ${keyId}, true)`;
    await tx`insert into invalidations (kind, id) values ('org', ${tenant.orgId})`;
    await tx`delete from invalidations where revision < (select max(revision) from invalidations)`;
  });
}

/** A call whose response has begun and does not end. */
async function startStreamingCall() {
  const agent = await tenant.createAgent();
  const accountId = await tenant.createAccount(agent.id, 'openai', { apiKey: PROVIDER_CREDENTIALS.openai });
  const created = await tenant.call('POST', '/v1/api-keys', { name: 'key', agentId: agent.id });
  const answer = await fetch(`${url}/v1/proxy/openai/v1/x`, {
    headers: { authorization: `Bearer ${created.body.secretKey}` },
  });
  const reader = answer.body!.getReader();
  await reader.read();
  return { agentId: agent.id, keyId: created.body.key.id as string, accountId, ended: reader.read() };
}

const readCallError = (agentId: string) =>
  waitUntil('the call is in the log', async () => {
    const { body } = await tenant.call('GET', `/v1/usage/agents/${agentId}/logs`);
    return body.logs[0]?.error as string | undefined;
  });

test.each([
  ['its key is revoked', (one: StreamingCall) => tenant.call('DELETE', `/v1/api-keys/${one.keyId}`)],
  [
    'its agent is paused',
    (one: StreamingCall) => tenant.call('PATCH', `/v1/agents/${one.agentId}/status`, { status: 'paused' }),
  ],
  ['its account is removed', (one: StreamingCall) => tenant.call('DELETE', `/v1/providers/accounts/${one.accountId}`)],
])('stream: a response is aborted when %s, and the record says so', async (_name, revoke) => {
  const one = await startStreamingCall();
  const ended = expect(one.ended).rejects.toThrow();
  expect((await revoke(one)).status).toBe(200);
  await ended;
  expect(await readCallError(one.agentId)).toBe('revoked');
});
type StreamingCall = Awaited<ReturnType<typeof startStreamingCall>>;

test('resync: calls revoked during an outage of the plane link end when it is back', async () => {
  const socket = await connectRealtimeAgent();
  const [revoked, other] = [await startStreamingCall(), await startStreamingCall()];
  const ended = expect(revoked.ended).rejects.toThrow();
  await stack.controlPlane.terminate('SIGKILL');
  await revokeWithoutNotification(socket.keyId);
  await revokeWithoutNotification(revoked.keyId);
  await expectEcho(socket.socket);
  await stack.startControlPlane();
  expect(await socket.closed).toEqual([1008, 'access was revoked']);
  await ended;
  const still = await Promise.race([
    other.ended.then(() => 'ended'),
    expectEcho((await connectRealtimeAgent()).socket).then(() => 'open'),
  ]);
  expect(still).toBe('open');
});
