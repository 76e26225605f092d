/** Inflight calls whose access ends. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

let upstream: RawUpstream;
let gateway: ProxyFixture;

beforeEach(async () => {
  upstream = await RawUpstream.start();
  gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)]));
});

afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

/** Starts a call whose response streams. */
async function streaming(): Promise<{ agent: RawPeer; provider: RawPeer }> {
  const agent = await connectRaw(gateway.port);
  const index = upstream.connections.length;
  agent.send(`GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
  const provider = await upstream.connection(index);
  await provider.waitForText('\r\n\r\n');
  provider.send(
    'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n8\r\ndata: 1\n\r\n',
  );
  await agent.waitForText('data: 1\n');
  return { agent, provider };
}

async function brokenOff({ agent, provider }: { agent: RawPeer; provider: RawPeer }): Promise<void> {
  await agent.waitForClose();
  await provider.waitForClose();
  await waitUntil(() => gateway.records.length === 1 && gateway.server.inflight === 0);
  expect(agent.text).not.toContain('\r\n0\r\n\r\n');
  expect(gateway.records[0]).toMatchObject({ error: 'revoked', status: 200, bytesOut: 8, circuitOutcome: 0 });
}

test('revocation: aborts a stream, and only the revoked one', async () => {
  const call = await streaming();
  gateway.server.sessionRevoker.revokeMatching(
    (context, { providerSlug }) => context.agentId === 'agent-2' || providerSlug === 'anthropic',
  );
  call.provider.send('8\r\ndata: 2\n\r\n');
  await call.agent.waitForText('data: 2\n');
  const other = await streaming();
  gateway.server.sessionRevoker.revokeMatching(
    (context, { providerSlug }) => context.agentId === 'agent-1' && providerSlug === 'openai',
  );
  for (const one of [call, other]) {
    await one.agent.waitForClose();
    await one.provider.waitForClose();
  }
  await waitUntil(() => gateway.records.length === 2);
  for (const record of gateway.records) expect(record).toMatchObject({ error: 'revoked' });
});

test('revocation: aborts a call that waits for the response head', async () => {
  const agent = await connectRaw(gateway.port);
  agent.send(`GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
  const provider = await upstream.connection();
  await provider.waitForText('\r\n\r\n');
  gateway.server.sessionRevoker.revokeMatching(() => true);
  await agent.waitForClose();
  await provider.waitForClose();
  await waitUntil(() => gateway.records.length === 1);
  expect(gateway.records[0]).toMatchObject({ error: 'revoked', status: 0, circuitOutcome: 0 });
});

test('revocation: stops a call between admission and dispatch', async () => {
  gateway.admitLater = true;
  const agent = await connectRaw(gateway.port);
  agent.send(`GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
  gateway.onAdmit = () => gateway.server.sessionRevoker.revokeMatching(() => true);
  await agent.waitForText('HTTP/1.1 403 ');
  expect([gateway.records.length, upstream.text]).toEqual([0, '']);
});

test('expiry: aborts a stream when its key expires', async () => {
  const keyExpiresAtMs = Date.now() + 3_600_000;
  gateway.lookup = { context: createContext([createUpstream(upstream.origin)], { keyExpiresAtMs }), rejection: null };
  const call = await streaming();
  gateway.server.sessionRevoker.revokeExpired(keyExpiresAtMs - 1);
  expect(gateway.server.inflight).toBe(1);
  gateway.server.sessionRevoker.revokeExpired(keyExpiresAtMs);
  await brokenOff(call);
});

test.each([
  ['the key is gone', { context: null, rejection: 'unknown_token' } as const],
  [
    'the agent is paused',
    { context: createContext([createUpstream('http://x')], { agentStatus: 'paused' }), rejection: null },
  ],
  ['the account is gone', { context: createContext([]), rejection: null }],
  [
    'it is another account',
    { context: createContext([createUpstream('http://x', { accountId: 'other' })]), rejection: null },
  ],
  [
    'the account needs credentials',
    { context: createContext([createUpstream('http://x', { accountStatus: 'needs_credentials' })]), rejection: null },
  ],
])('recheck: aborts a call when %s', async (_what, lookup) => {
  for (const later of [false, true]) {
    gateway.lookup = { context: createContext([createUpstream(upstream.origin)]), rejection: null };
    gateway.lookupLater = false;
    gateway.records.length = 0;
    const call = await streaming();
    gateway.lookup = lookup;
    gateway.lookupLater = later;
    gateway.server.sessionRevoker.recheckAll();
    await brokenOff(call);
  }
});

test('recheck: keeps calls that are still authorized, and retries when the control plane does not answer', async () => {
  const call = await streaming();
  gateway.server.sessionRevoker.recheckAll();
  gateway.lookup = { context: null, rejection: 'unavailable' };
  gateway.lookupLater = true;
  gateway.server.sessionRevoker.recheckAll();
  call.provider.send('8\r\ndata: 2\n\r\n');
  await call.agent.waitForText('data: 2\n');
  expect(gateway.records).toHaveLength(0);
  gateway.lookup = { context: null, rejection: 'unknown_token' };
  await call.agent.waitForClose(); // Without another recheck.
});
