/** WebSockets of a gateway that runs as real processes end when the API takes their access away, and no others do. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { REAL } from '../providers/credentials.js';
import { SupabaseStandIn } from '../providers/supabase.js';
import { Stack, type Tenant } from '../stack.js';
import { until } from '../until.js';

const provider = new SupabaseStandIn();
let stack: Stack;
let tenant: Tenant;
let url: string;

beforeAll(async () => {
  await provider.start();
  stack = await Stack.start();
  ({ url } = await stack.addDataPlane());
  tenant = await stack.tenant();
});
afterAll(async () => {
  await stack?.stop();
  await provider.close();
});

interface Joined {
  readonly agentId: string;
  readonly keyId: string;
  readonly accountId: string;
  readonly socket: WebSocket;
  readonly closed: Promise<[code: number, reason: string]>;
}

/** A new agent whose realtime connection is open and answers. */
async function joined(): Promise<Joined> {
  const agent = await tenant.agent();
  const created = await tenant.call('POST', '/v1/api-keys', { name: 'key', agentId: agent.id });
  const accountId = await tenant.account(agent.id, 'supabase', { apiKey: REAL.supabase, url: provider.origin });
  const target = `${url.replace('http', 'ws')}/v1/proxy/supabase/realtime/v1/websocket`;
  const socket = new WebSocket(`${target}?apikey=${created.body.secretKey}&vsn=1.0.0`);
  const closed = new Promise<[number, string]>((resolve) =>
    socket.once('close', (code, reason) => resolve([code, reason.toString()])),
  );
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  await answers(socket);
  return { agentId: agent.id, keyId: created.body.key.id, accountId, socket, closed };
}

/** Resolves when a message went up and its answer came back. */
async function answers(socket: WebSocket): Promise<void> {
  const answer = new Promise((resolve) => socket.once('message', resolve));
  socket.send(JSON.stringify({ topic: 'phoenix', event: 'heartbeat', payload: {}, ref: '1' }));
  await answer;
}

test.each([
  ['its key is revoked', (one: Joined) => tenant.call('DELETE', `/v1/api-keys/${one.keyId}`)],
  [
    'its agent is paused',
    (one: Joined) => tenant.call('PATCH', `/v1/agents/${one.agentId}/status`, { status: 'paused' }),
  ],
  ['its account is removed', (one: Joined) => tenant.call('DELETE', `/v1/providers/accounts/${one.accountId}`)],
  ['its agent is deleted', (one: Joined) => tenant.call('DELETE', `/v1/agents/${one.agentId}`)],
])('websocket: one is closed when %s, and the others stay', async (_name, revoke) => {
  const [one, other] = [await joined(), await joined()];
  expect((await revoke(one)).status).toBe(200);
  expect(await one.closed).toEqual([1008, 'access was revoked']);
  await answers(other.socket);
  expect(other.socket.readyState).toBe(WebSocket.OPEN);
  other.socket.close();
});

test('websocket: a revoked session is in the log, with its status and bytes', async () => {
  const one = await joined();
  await tenant.call('DELETE', `/v1/api-keys/${one.keyId}`);
  await one.closed;
  const log = await until('the session is in the log', async () => {
    const { body } = await tenant.call('GET', `/v1/usage/agents/${one.agentId}/logs`);
    return body.logs[0];
  });
  expect(log).toMatchObject({ providerSlug: 'supabase', status: 101, keyId: one.keyId });
  expect(log.bytesIn).toBeGreaterThan(0);
  expect(log.bytesOut).toBeGreaterThan(0);
});

test('websocket: a change that takes no access away leaves it open', async () => {
  const one = await joined();
  await tenant.call('PATCH', `/v1/agents/${one.agentId}`, { rpmLimit: 1 });
  // The change has reached the data plane when another connection is refused by it.
  const target = `${url.replace('http', 'ws')}/v1/proxy/supabase/realtime/v1/websocket`;
  const { body } = await tenant.call('POST', '/v1/api-keys', { name: 'second', agentId: one.agentId });
  await until('the new limit refuses', async () => {
    const refused = new WebSocket(`${target}?apikey=${body.secretKey}&vsn=1.0.0`);
    const status = await new Promise((resolve) => {
      refused.once('unexpected-response', (_request, response) => resolve(response.statusCode));
      refused.once('open', () => resolve(101));
      refused.once('error', () => {});
    });
    refused.terminate();
    return status === 429;
  });
  await answers(one.socket);
  one.socket.close();
});
