import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLocalDialer } from '../upstream/testing/dialer-recorder-certificate-fixture.js';
import { ADMITTED, createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream } from './testing/raw-peer-fixture.js';

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

const REQUEST = `GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`;

async function answeredCall(): Promise<{ agent: RawPeer; provider: RawPeer }> {
  const agent = await connectRaw(gateway.port);
  agent.send(REQUEST);
  const provider = await upstream.connection();
  await provider.waitForText('\r\n\r\n');
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  await agent.waitForText('\r\n\r\nok');
  return { agent, provider };
}

test('drain: rejects a call on a kept connection after the drain has ended', async () => {
  const { agent, provider } = await answeredCall();
  const before = provider.text;
  await gateway.server.drain(1_000);
  agent.send(REQUEST);
  await agent.waitForClose();
  expect(agent.text).toContain('HTTP/1.1 503 ');
  expect(agent.text).toContain('retry-after: 1');
  expect(provider.text).toBe(before);
  expect(gateway.admissions).toHaveLength(1);
});

test('limits: sends the rate-limit headers when the limits were not checked', async () => {
  gateway.admission = { ...ADMITTED, outcome: 'unchecked', rpmRemaining: 60 };
  const { agent } = await answeredCall();
  expect(agent.text).toContain('x-ratelimit-limit: 60\r\nx-ratelimit-remaining: 60\r\nx-ratelimit-reset: 1900000000');
});

test('pools: uses no connection for two organizations', async () => {
  await answeredCall();
  gateway.lookup = { context: createContext([createUpstream(upstream.origin)], { orgId: 'org-2' }), rejection: null };
  const agent = await connectRaw(gateway.port);
  agent.send(REQUEST);
  const provider = await upstream.connection(1);
  await provider.waitForText('\r\n\r\n');
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  await agent.waitForText('\r\n\r\nok');
});

test('loop: rejects a call whose provider is the gateway itself', async () => {
  gateway.egress = createLocalDialer();
  const { injection } = createUpstream(upstream.origin);
  const own = createUpstream(`http://127.0.0.1:${gateway.port}`, {
    basePath: '/v1/proxy/openai',
    isTenantAddress: true,
    injection: { ...injection, value: `Bearer ${GATEWAY_TOKEN}`, secretForms: [] } as typeof injection,
  });
  gateway.lookup = { context: createContext([own]), rejection: null };
  const agent = await connectRaw(gateway.port);
  agent.send(REQUEST);
  await agent.waitForText('Loop detected: the base URL');
  expect(agent.text).toContain('HTTP/1.1 508 Loop Detected\r\n');
  expect(gateway.admissions).toHaveLength(1);
});
