/** Calls with minted credentials: an expired one is never sent. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestHeaderInjection } from '../upstream/testing/upstream-and-injection-fixture.js';
import {
  createContext,
  createRejectedAdmission,
  createUpstream,
  GATEWAY_TOKEN,
  ProxyFixture,
} from './testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

let upstream: RawUpstream;
let gateway: ProxyFixture;

const createMinted = (secret: string, life: Partial<ReturnType<typeof createUpstream>>) =>
  createContext([
    {
      ...createUpstream(upstream.origin),
      injection: createTestHeaderInjection({ name: 'authorization', value: `Bearer ${secret}`, secretForms: [secret] }),
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

const UNAUTHORIZED = 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}';
const useAfterMint = (context: ReturnType<typeof createMinted>): void => {
  gateway.afterMint = () => {
    gateway.lookup = use(context);
    return gateway.lookup;
  };
};
const createNext = () =>
  createMinted('new-token', { credentialGeneration: 8, credentialExpiresAtMs: performance.now() + 60_000 });

test('a 401 without another credential passes and is reported once for each context', async () => {
  for (let i = 0; i < 3; i++) {
    const agent = await send();
    const provider = await upstream.connection();
    await waitUntil(() => provider.text.split('\r\n\r\n').length === i + 2);
    provider.send(UNAUTHORIZED);
    await agent.waitForText('401 Unauthorized');
    await waitUntil(() => gateway.records.length === i + 1);
  }
  expect(gateway.mintedAccounts).toHaveLength(1);
  expect(gateway.records).toMatchObject(Array(3).fill({ status: 401, error: '' }));
  expect(gateway.admissions).toHaveLength(3);
});

const withBody = (method: string, body: string): string =>
  `${method} /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n` +
  `Content-Length: ${body.length}\r\n\r\n${body}`;

test.each(['POST', 'PUT', 'DELETE'])(
  '%s: after a 401 the call is sent once more with the next credential',
  async (method) => {
    useAfterMint(createNext());
    const agent = await connectRaw(gateway.port);
    agent.send(withBody(method, '{"a":1}'));
    const provider = await upstream.connection();
    await provider.waitForText('{"a":1}');
    provider.send(UNAUTHORIZED);
    const second = await upstream.connection(1);
    await second.waitForText('Bearer new-token');
    await waitUntil(() => second.text.endsWith('\r\n\r\n{"a":1}'));
    await answer(agent, second);
    expect(agent.text).toMatch(/^HTTP\/1.1 200 /);
    expect(agent.text).not.toContain('HTTP/1.1 401');
    await waitUntil(() => gateway.records.length === 1);
    expect(gateway.records).toMatchObject([{ status: 200, error: '' }]);
    // Every send is admitted, and the call is settled once.
    expect([gateway.admissions.length, gateway.settlements.length, gateway.mintedAccounts.length]).toEqual([2, 1, 1]);
  },
);

test('a second 401 passes: one exchange and one repetition', async () => {
  useAfterMint(createNext());
  const agent = await send();
  for (const [i, token] of ['old-token', 'new-token'].entries()) {
    const provider = await upstream.connection(i);
    await provider.waitForText(token);
    provider.send(UNAUTHORIZED);
  }
  await agent.waitForText('401 Unauthorized');
  await waitUntil(() => gateway.records.length === 1);
  expect([gateway.admissions.length, gateway.mintedAccounts.length]).toEqual([2, 1]);
});

test('calls that get a 401 at once wait for the same exchange, and each is repeated', async () => {
  useAfterMint(createNext());
  gateway.pendingMints = [];
  const agents = [await send(), await send(), await send()];
  const providers = await Promise.all(agents.map((_, i) => upstream.connection(i)));
  for (const provider of providers) {
    await provider.waitForText('old-token');
    provider.send(UNAUTHORIZED);
  }
  await waitUntil(() => gateway.pendingMints!.length === 3);
  for (const done of gateway.pendingMints) done();
  for (let i = 0; i < agents.length; i++) {
    const provider = await upstream.connection(agents.length + i);
    await provider.waitForText('new-token');
    provider.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
  }
  for (const agent of agents) await agent.waitForText('200 OK');
});

test('a newer credential that the data plane has already is used without a request', async () => {
  const agent = await send();
  const provider = await upstream.connection();
  await provider.waitForText('old-token');
  gateway.lookup = use(createNext());
  provider.send(UNAUTHORIZED);
  const second = await upstream.connection(1);
  await second.waitForText('new-token');
  await answer(agent, second);
  expect(gateway.mintedAccounts).toEqual([]);
});

test('where the limits do not admit the repetition, the response is their 429', async () => {
  useAfterMint(createNext());
  const agent = await send();
  const provider = await upstream.connection();
  await provider.waitForText('old-token');
  gateway.admission = createRejectedAdmission('rpm', Date.now() / 1_000 + 30);
  provider.send(UNAUTHORIZED);
  await agent.waitForText('429 Too Many Requests');
  await waitUntil(() => gateway.records.length === 1);
  expect(gateway.records).toMatchObject([{ error: 'retry_rejected' }]);
});

test('a body that streams is not at hand: the 401 passes, and the credential is reported', async () => {
  useAfterMint(createNext());
  const body = 'x'.repeat(200_000);
  const agent = await connectRaw(gateway.port);
  agent.send(withBody('POST', body));
  const provider = await upstream.connection();
  await waitUntil(() => provider.text.length > body.length);
  provider.send(UNAUTHORIZED);
  await agent.waitForText('401 Unauthorized');
  expect(gateway.mintedAccounts).toHaveLength(1);
  expect(gateway.admissions).toHaveLength(1);
});

test('a long 401 is held with one read of its body, and passes whole', async () => {
  const body = `${'e'.repeat(300_000)}END`;
  const agent = await send();
  const provider = await upstream.connection();
  await provider.waitForText('old-token');
  provider.send(`HTTP/1.1 401 Unauthorized\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  await agent.waitForText('END');
  expect(agent.text).toContain(body);
});

test('the credential of a 401 that passes is masked, although a newer context has another account state', async () => {
  useAfterMint(
    createMinted('', { credentialGeneration: 7, credentialExpiresAtMs: 0, accountStatus: 'needs_credentials' }),
  );
  const agent = await send();
  const provider = await upstream.connection();
  await provider.waitForText('old-token');
  provider.send('HTTP/1.1 401 Unauthorized\r\nContent-Length: 17\r\n\r\n{"e":"old-token"}');
  await agent.waitForText('401 Unauthorized');
  await agent.waitForText('}');
  expect(agent.text).not.toContain('old-token');
});

test('an agent that disconnects while the 401 is held: no repetition, one record', async () => {
  useAfterMint(createNext());
  gateway.pendingMints = [];
  const agent = await send();
  const provider = await upstream.connection();
  await provider.waitForText('old-token');
  provider.send(UNAUTHORIZED);
  await waitUntil(() => gateway.pendingMints!.length === 1);
  agent.socket.destroy();
  await waitUntil(() => gateway.records.length === 1);
  gateway.pendingMints[0]!();
  await waitUntil(() => gateway.server.inflight === 0);
  gateway.pendingMints = null;
  const next = await send();
  const other = await upstream.connection(1);
  await other.waitForText('new-token');
  await answer(next, other);
  expect(provider.text).not.toContain('new-token');
});

test('an upstream that breaks while its 401 is held: the call is repeated over a new connection', async () => {
  useAfterMint(createNext());
  gateway.pendingMints = [];
  const agent = await send();
  const provider = await upstream.connection();
  await provider.waitForText('old-token');
  provider.send('HTTP/1.1 401 Unauthorized\r\nContent-Length: 20\r\n\r\n{');
  await waitUntil(() => gateway.pendingMints!.length === 1);
  provider.socket.destroy();
  await provider.waitForClose();
  gateway.pendingMints[0]!();
  const other = await upstream.connection(1);
  await other.waitForText('new-token');
  await answer(agent, other);
  expect(agent.text).toContain('200 OK');
});
