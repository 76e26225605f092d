/** Calls with minted credentials: an expired one is never sent. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestHeaderInjection } from '../upstream/testing/upstream-and-injection-fixture.js';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

let upstream: RawUpstream;
let gateway: ProxyFixture;

const createMinted = (secret: string, life: Partial<ReturnType<typeof createUpstream>>) =>
  createContext([
    {
      ...createUpstream(upstream.origin),
      injection: createTestHeaderInjection({ name: 'authorization', value: `Bearer ${secret}` }),
      credentialGeneration: 7,
      ...life,
    },
  ]);

beforeEach(async () => {
  upstream = await RawUpstream.start();
  gateway = await ProxyFixture.start(createMinted('old-token', { credentialExpiresAtMs: performance.now() + 60_000 }));
});

afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

async function send(): Promise<RawPeer> {
  const agent = await connectRaw(gateway.port);
  agent.send(`GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
  return agent;
}

async function answer(agent: RawPeer, provider: RawPeer): Promise<void> {
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
  await agent.waitForText('{}');
}

const use = (context: ReturnType<typeof createMinted>) => ({ context, rejection: null });

test('a valid credential is sent without a further request', async () => {
  const agent = await send();
  const provider = await upstream.connection(0);
  await provider.waitForText('Bearer old-token');
  await answer(agent, provider);
  expect(gateway.mintedAccounts).toEqual([]);
});

test('an expired credential is replaced first', async () => {
  gateway.lookup = use(createMinted('old-token', { credentialExpiresAtMs: performance.now() - 1 }));
  gateway.afterMint = () => {
    gateway.lookup = use(createMinted('new-token', { credentialExpiresAtMs: performance.now() + 60_000 }));
    return gateway.lookup;
  };
  const agent = await send();
  const provider = await upstream.connection(0);
  await provider.waitForText('Bearer new-token');
  await answer(agent, provider);
  expect(gateway.mintedAccounts).toHaveLength(1);
  expect(provider.text).not.toContain('old-token');
});

test('no valid credential: 503 with the time of the next attempt, and no request before it', async () => {
  const missing = createMinted('old-token', {
    credentialExpiresAtMs: Number.NEGATIVE_INFINITY,
    credentialRetryAtMs: performance.now() + 30_000,
  });
  gateway.lookup = use(createMinted('old-token', { credentialExpiresAtMs: 0 }));
  gateway.afterMint = () => use(missing);
  const first = await send();
  await first.waitForText('503 Service Unavailable');
  gateway.lookup = use(missing);
  const second = await send();
  await second.waitForText('}');
  expect(second.text).toMatch(/retry-after: (29|30)\r\n/i);
  expect(gateway.mintedAccounts).toHaveLength(1);
  expect(gateway.rejections).toEqual(['openai credential_refreshing', 'openai credential_refreshing']);
  expect(upstream.connections).toHaveLength(0);
});

test('a 401 of the provider passes and is reported once for each context', async () => {
  for (let i = 0; i < 2; i++) {
    const agent = await send();
    const provider = await upstream.connection(i);
    await provider.waitForText('\r\n\r\n');
    provider.send('HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}');
    await agent.waitForText('401 Unauthorized');
    await waitUntil(() => gateway.records.length === i + 1);
  }
  expect(gateway.mintedAccounts).toHaveLength(1);
});
