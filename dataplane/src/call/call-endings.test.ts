/**
 * Covers every way in which a forwarded call can end, with a provider that repeats the credential wherever it can.
 * Agent, record and log never show the credential. The call is booked once, with the error class of its ending.
 */
import { expect, test } from 'vitest';
import { createLocalDialer } from '../upstream/testing/dialer-recorder-certificate-fixture.js';
import type { CallMetering } from './call-metering-interface.js';
import { createContext, createUpstream, GATEWAY_TOKEN, PROVIDER_KEY, ProxyFixture } from './testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

interface Ends {
  readonly agent: RawPeer;
  readonly provider: RawPeer;
  readonly gateway: ProxyFixture;
}

interface Ending {
  readonly what: string;
  /** Error class of the record; null: the call is rejected before it is forwarded, so there is no record. */
  readonly error: string | null;
  /** Ends the call once the provider has the request. Left out: the request never reaches the provider. */
  readonly end?: (ends: Ends) => Promise<void> | void;
  readonly origin?: string;
  readonly credential?: string;
  readonly timeoutMs?: number;
  /** A tenant configured the address, and the egress guard rejects it. */
  readonly refused?: true;
}

const HEAD = `HTTP/1.1 200 ${PROVIDER_KEY}\r\nX-Echo: ${PROVIDER_KEY}\r\nX-Form: a=${PROVIDER_KEY}&b\r\n`;
const BEGUN = `${HEAD}Content-Length: 999\r\n\r\n{"you sent":"${PROVIDER_KEY}"} and more`;

/** The provider starts its response, and the agent has its first bytes. */
async function begun({ agent, provider }: Ends): Promise<void> {
  provider.send(BEGUN);
  await agent.waitForText('you sent');
}

const ENDINGS: readonly Ending[] = [
  {
    what: 'a whole answer',
    error: '',
    end: ({ provider }) => provider.send(`${HEAD}Content-Length: ${PROVIDER_KEY.length + 1}\r\n\r\n${PROVIDER_KEY}\n`),
  },
  {
    what: 'a whole answer in pieces, with informational ones before it and trailers behind it',
    error: '',
    end: async ({ provider }) => {
      provider.send(`HTTP/1.1 103 Early Hints\r\nLink: <${PROVIDER_KEY}>\r\n\r\n`);
      provider.send(`${HEAD}Transfer-Encoding: chunked\r\nTrailer: X-After\r\n\r\n`);
      for (const byte of `key: ${PROVIDER_KEY}\n`) {
        provider.send(`1\r\n${byte}\r\n`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      provider.send(`0\r\nX-After: ${PROVIDER_KEY}\r\n\r\n`);
    },
  },
  {
    what: 'an error of the provider',
    error: '',
    end: ({ provider }) => {
      const body = `invalid key ${PROVIDER_KEY}`;
      provider.send(`HTTP/1.1 401 ${PROVIDER_KEY}\r\nWWW-Authenticate: ${PROVIDER_KEY}\r\n`);
      provider.send(`Content-Length: ${body.length}\r\n\r\n${body}`);
    },
  },
  { what: 'nobody listens', error: 'connect', origin: 'http://127.0.0.1:1' },
  { what: 'an address that is refused', error: 'egress_refused', refused: true },
  { what: 'a credential that no head can hold', error: null, credential: `${PROVIDER_KEY}\nx` },
  { what: 'a provider that hangs up', error: 'reset', end: ({ provider }) => void provider.socket.destroy() },
  {
    what: 'a provider that speaks no HTTP',
    error: 'reset',
    end: ({ provider }) => provider.send(`${PROVIDER_KEY} ${PROVIDER_KEY}\r\n\r\n`),
  },
  {
    what: 'a header that cannot be read',
    error: 'reset',
    end: ({ provider }) => provider.send(`HTTP/1.1 200 OK\r\nX ${PROVIDER_KEY}\r\n\r\n`),
  },
  { what: 'a provider that says nothing', error: 'timeout', timeoutMs: 60, end: () => {} },
  { what: 'a provider that falls silent', error: 'timeout', timeoutMs: 60, end: begun },
  {
    what: 'a provider that breaks off, inside the credential',
    error: 'upstream_cut',
    end: async (ends) => {
      await begun(ends);
      ends.provider.socket.end(PROVIDER_KEY.slice(0, -1));
    },
  },
  {
    what: 'an agent that leaves before the answer',
    error: 'client_aborted',
    end: ({ agent }) => void agent.socket.destroy(),
  },
  {
    what: 'an agent that leaves in the middle',
    error: 'client_aborted',
    end: async (ends) => {
      await begun(ends);
      ends.agent.socket.destroy();
    },
  },
  {
    what: 'a shutdown',
    error: 'shutdown',
    end: async (ends) => {
      await begun(ends);
      await ends.gateway.server.drain(1);
    },
  },
];

interface Ran extends Omit<Ends, 'provider'> {
  readonly upstream: RawUpstream;
}

/** The call, up to where it ends. `held`: its record waits in {@link ProxyFixture.pendingRecords}. */
async function run(ending: Ending, held: boolean): Promise<Ran> {
  const upstream = await RawUpstream.start();
  const { origin = upstream.origin, credential, timeoutMs, refused = false } = ending;
  const plain = createUpstream(origin, { isTenantAddress: refused });
  if (plain.injection.kind !== 'header') throw new Error('the fixture injects a header');
  const injection = { ...plain.injection, ...(credential === undefined ? {} : { value: `Bearer ${credential}` }) };
  const timeouts = timeoutMs === undefined ? {} : { headersTimeoutMs: timeoutMs, bodyTimeoutMs: timeoutMs };
  const dialer = createLocalDialer({ connectTimeoutMs: 30_000 });
  const gateway = await ProxyFixture.start(createContext([{ ...plain, injection }]), {}, null, {
    ...timeouts,
    ...(refused ? {} : { dialer }),
  });
  gateway.costNanos = 7;
  if (held) gateway.pendingRecords = [];
  const agent = await connectRaw(gateway.port);
  agent.send(
    `GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\nConnection: close\r\n\r\n`,
  );
  if (ending.end !== undefined) {
    const provider = await upstream.connection();
    await provider.waitForText(`Bearer ${PROVIDER_KEY}\r\n`);
    await ending.end({ agent, provider, gateway });
  }
  return { agent, gateway, upstream };
}

test.each(ENDINGS)('$what books the call once or rejects it, and shows the credential nowhere', async (ending) => {
  const { agent, gateway, upstream } = await run(ending, false);
  await agent.waitForClose();
  await waitUntil(() => (ending.error === null || gateway.records.length > 0) && gateway.server.inflight === 0);
  // The gateway aborts the upstream call at once, not only when it times out.
  if (ending.error === 'client_aborted' || ending.error === 'shutdown')
    await (await upstream.connection()).waitForClose();
  await gateway.stop(); // Any further record would be written by now.
  upstream.stop();
  expect(gateway.records.map(({ error }) => error)).toEqual(ending.error === null ? [] : [ending.error]);
  expect(gateway.settlements.length).toBeLessThanOrEqual(1);
  expect(gateway.bugs).toBe(0);
  for (const text of [agent.text, JSON.stringify(gateway.records), gateway.logLines.join('')]) {
    for (const secret of [PROVIDER_KEY, PROVIDER_KEY.slice(0, -1), GATEWAY_TOKEN]) expect(text).not.toContain(secret);
  }
});

const BOOKED = ENDINGS.filter(({ error }) => error !== null);

test.each(BOOKED)(
  '$what books the call once when the agent disconnects while the record is written',
  async (ending) => {
    const { agent, gateway, upstream } = await run(ending, true);
    await waitUntil(() => gateway.records.length > 0);
    agent.socket.destroy();
    await waitUntil(() => gateway.server.inflight === 0);
    for (const written of gateway.pendingRecords!) written(null);
    await gateway.stop();
    upstream.stop();
    expect(gateway.records.map(({ error }) => error)).toEqual([ending.error]);
    expect(gateway.settlements.length).toBeLessThanOrEqual(1);
    expect(gateway.bugs).toBe(0);
  },
);

test.each(BOOKED)('$what books the call once when the process stops while the record is written', async (ending) => {
  const { agent, gateway, upstream } = await run(ending, true);
  await waitUntil(() => gateway.records.length > 0);
  await gateway.server.drain(1);
  for (const written of gateway.pendingRecords!) written(null);
  agent.socket.destroy();
  await gateway.stop();
  upstream.stop();
  expect(gateway.records.map(({ error }) => error)).toEqual([ending.error]);
  expect(gateway.settlements.length).toBeLessThanOrEqual(1);
  expect(gateway.bugs).toBe(0);
});

test('a gateway token that is sent as a model name is not in the record', async () => {
  const upstream = await RawUpstream.start();
  const metering: CallMetering = {
    requestBytesToBufferForEdit: () => 0,
    scanAndEditRequestBody: (x, body) => {
      x.metering.requestModel = `ft:${GATEWAY_TOKEN}`;
      return body;
    },
    createRequestScanner: () => null,
    createMeterAndBodyEdit: () => null,
    estimateUnanswered: () => null,
    mustDropRangeHeaders: () => false,
    priceUsage: () => ({ costNanos: 0, source: 'none' }),
    maxCostNanos: () => 0,
  };
  const gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)]), {}, metering);
  const agent = await connectRaw(gateway.port);
  agent.send(
    `POST /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\nContent-Length: 2\r\n\r\n{}`,
  );
  const provider = await upstream.connection();
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  await waitUntil(() => gateway.records.length === 1);
  expect(gateway.records[0]!.model).toBe('ft:acg_[masked]');
  agent.socket.destroy();
  await gateway.stop();
  upstream.stop();
});
