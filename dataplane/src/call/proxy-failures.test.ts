import type { Dialer } from '@acg/base/dialer/dialer';
import { NameResolutionError } from '@acg/base/dns/name-resolver-interface';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Upstream } from '../context/agent-context.js';
import {
  createCertificate,
  createLocalDialer,
  trustCertificate,
} from '../upstream/testing/dialer-recorder-certificate-fixture.js';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

/** Bodies up to this length are sent at once; longer ones stream. */
const BUFFERED_BYTES_MAX = 16;

let upstream: RawUpstream;
const gateways: ProxyFixture[] = [];

beforeEach(async () => {
  upstream = await RawUpstream.start();
});

afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.stop();
  upstream.stop();
});

const dials = createLocalDialer();

test('an agent that disconnects after its call does not affect the next call on its upstream connection', async () => {
  const gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)]));
  gateways.push(gateway);
  const get = (path: string): string =>
    `GET /v1/proxy/openai${path} HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`;
  const first = await connectRaw(gateway.port);
  first.send(get('/1'));
  const provider = await upstream.connection();
  await provider.waitForText('GET /1 ');
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none');
  await first.waitForText('one');
  const second = await connectRaw(gateway.port);
  second.send(get('/2'));
  await provider.waitForText('GET /2 ');
  first.socket.destroy();
  const third = await connectRaw(gateway.port); // The server has processed the disconnect by the time it answers this connection.
  third.send(get('/3'));
  await upstream.connection(1);
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo');
  await second.waitForText('two');
  expect(provider.closed).toBe(false);
});

test('a call that cannot begin releases its connection and its probe lease, and is not booked', async () => {
  const gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)]));
  gateways.push(gateway);
  const call = async (answer: string): Promise<void> => {
    const agent = await connectRaw(gateway.port);
    agent.send(`GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
    await agent.waitForText(answer);
    agent.socket.destroy();
  };
  const good = call('\r\n\r\nok');
  const provider = await upstream.connection();
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  await good;
  const { lookup } = gateway;
  const { injection } = createUpstream(upstream.origin);
  const broken = { ...injection, value: 'Bearer a\nb' } as typeof injection;
  gateway.lookup = {
    context: createContext([createUpstream(upstream.origin, { injection: broken })]),
    rejection: null,
  };
  gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
  await call('HTTP/1.1 400 ');
  expect([gateway.releasedProbes, gateway.records.length]).toEqual([['lease-1'], 1]); // The record of the valid call.
  gateway.lookup = lookup;
  const next = call('\r\n\r\nok');
  await provider.waitUntil(() => provider.text.split('GET /x ').length === 3);
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  await next;
  expect(upstream.connections).toHaveLength(1);
});

test('a slow agent pauses a TLS upstream, gets every byte, and its next call uses the same connection', async () => {
  const certificate = createCertificate('IP:127.0.0.1');
  trustCertificate(certificate);
  const secure = await RawUpstream.start(certificate);
  const gateway = await ProxyFixture.start(createContext([createUpstream(`https://127.0.0.1:${secure.port}`)]));
  gateways.push(gateway);
  const get = (path: string): string =>
    `GET /v1/proxy/openai${path} HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`;
  const agent = await connectRaw(gateway.port);
  // Around the size of one TLS record, of one read, and far more than any buffer holds.
  for (const [i, bytes] of [40_000, 100_000, 16_777_216, 10].entries()) {
    agent.socket.pause();
    agent.received = Buffer.alloc(0);
    agent.send(get(`/${i}`));
    const provider = await secure.connection();
    await provider.waitForText(`GET /${i} `);
    provider.send(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`);
    for (let left = bytes; left > 0; left -= 65_536) provider.send(Buffer.alloc(Math.min(left, 65_536), 'x'));
    if (bytes > 1_000_000) {
      for (let turn = 0; turn < 1_000; turn++) await new Promise((resolve) => setImmediate(resolve));
      expect(provider.socket.writableLength).toBeGreaterThan(4_000_000);
    }
    agent.socket.resume();
    await agent.waitUntil(() => {
      const head = agent.received.indexOf('\r\n\r\n');
      return head !== -1 && agent.received.length === head + 4 + bytes;
    });
  }
  expect(secure.connections).toHaveLength(1);
  secure.stop();
});

describe.each([
  ['a body at hand', 8, false],
  ['a streamed body', 64, false],
  ['a body at hand, a tenant’s address', 8, true],
  ['a streamed body, a tenant’s address', 64, true],
])('failures: %s', (_name, bodyBytes, tenantAddress) => {
  async function begin(
    over: Partial<{ origin: string; timeoutMs: number; egress: Pick<Dialer, 'dial'> | null; credential: string }> = {},
  ) {
    const timeoutMs = over.timeoutMs ?? 20_000;
    const usual = createUpstream(over.origin ?? upstream.origin, { isTenantAddress: tenantAddress });
    const injection = { ...usual.injection, ...(over.credential === undefined ? {} : { value: over.credential }) };
    const context = createContext([{ ...usual, injection: injection as Upstream['injection'] }]);
    const options = { bufferedBodyBytesMax: BUFFERED_BYTES_MAX };
    const gateway = await ProxyFixture.start(context, options, null, {
      headersTimeoutMs: timeoutMs,
      bodyTimeoutMs: timeoutMs,
    });
    gateways.push(gateway);
    gateway.egress = over.egress === undefined ? dials : over.egress;
    const agent = await connectRaw(gateway.port);
    agent.send(
      `POST /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\nContent-Length: ${bodyBytes}\r\n\r\n${'b'.repeat(bodyBytes)}`,
    );
    return { gateway, agent };
  }

  async function sent(): Promise<RawPeer> {
    const provider = await upstream.connection();
    await provider.waitForText('b'.repeat(bodyBytes));
    return provider;
  }

  async function booked(gateway: ProxyFixture) {
    await waitUntil(() => gateway.records.length > 0 && gateway.server.inflight === 0);
    expect(gateway.records).toHaveLength(1);
    expect(gateway.bugs).toBe(0);
    return gateway.records[0]!;
  }

  test('an upstream without a listener: 502, connect', async () => {
    const { gateway, agent } = await begin({ origin: 'http://127.0.0.1:1' });
    await agent.waitForText('HTTP/1.1 502 ');
    expect(await booked(gateway)).toMatchObject({
      error: 'connect',
      status: 0,
      responseStatus: 502,
      circuitOutcome: 2,
    });
  });

  test('an upstream that closes the connection: 502, reset', async () => {
    const { gateway, agent } = await begin();
    (await sent()).socket.destroy();
    await agent.waitForText('HTTP/1.1 502 ');
    expect(await booked(gateway)).toMatchObject({ error: 'reset', status: 0, responseStatus: 502, circuitOutcome: 2 });
  });

  test.each([
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\na',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na',
    'HTTP/1.1 200 OK\nContent-Length: 1\n\na',
    '\x15\x03\x01\x00\x02\x02\x46',
  ])('an upstream whose head is not HTTP/1.1: 502, reset: %j', async (text) => {
    const { gateway, agent } = await begin();
    const provider = await sent();
    provider.send(Buffer.from(text, 'latin1'));
    await agent.waitForText('HTTP/1.1 502 ');
    expect(await booked(gateway)).toMatchObject({ error: 'reset', status: 0, responseStatus: 502 });
    await provider.waitForClose();
  });

  test('an upstream that sends nothing: 504, timeout', async () => {
    const { gateway, agent } = await begin({ timeoutMs: 60 });
    await agent.waitForText('HTTP/1.1 504 ');
    expect(await booked(gateway)).toMatchObject({
      error: 'timeout',
      status: 0,
      responseStatus: 504,
      circuitOutcome: 2,
    });
  });

  test('an upstream that stalls in its body: closes the agent’s connection, timeout', async () => {
    const { gateway, agent } = await begin({ timeoutMs: 60 });
    (await sent()).send('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab ');
    await agent.waitForClose();
    expect(agent.text.endsWith('ab ')).toBe(true);
    expect(await booked(gateway)).toMatchObject({ error: 'timeout', status: 200, circuitOutcome: 2 });
  });

  test.each([
    ['a fixed', 'Content-Length: 10\r\n\r\nab '],
    ['a chunked', 'Transfer-Encoding: chunked\r\n\r\n3\r\nab \r\n'],
    ['a damaged', 'Transfer-Encoding: chunked\r\n\r\n3\r\nab \r\nx'],
  ])('an upstream that aborts in %s body: closes the agent’s connection, upstream_cut', async (_what, text) => {
    const { gateway, agent } = await begin();
    const provider = await sent();
    provider.send(`HTTP/1.1 200 OK\r\n${text}`);
    await agent.waitForText('ab ');
    provider.socket.end('yz\r\n');
    await agent.waitForClose();
    expect(agent.text).not.toContain('\r\n0\r\n\r\n');
    expect(await booked(gateway)).toMatchObject({ error: 'upstream_cut', status: 200, circuitOutcome: 2 });
  });

  test('an agent that disconnects before the response: client_aborted, and the upstream call is aborted', async () => {
    const { gateway, agent } = await begin();
    const provider = await sent();
    agent.socket.destroy();
    await provider.waitForClose();
    expect(await booked(gateway)).toMatchObject({ error: 'client_aborted', status: 0, circuitOutcome: 0 });
  });

  test('bytes after a response reach no agent', async () => {
    const { gateway, agent } = await begin();
    const provider = await sent();
    const answer = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    provider.send(answer('mine') + answer('smuggled'));
    await agent.waitForText('mine');
    await booked(gateway);
    agent.send(`GET /v1/proxy/openai/y HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
    const next = await upstream.connection(1);
    await next.waitForText('GET /y ');
    next.send(answer('yours'));
    await agent.waitForText('yours');
    expect(agent.text).not.toContain('smuggled');
    await provider.waitForClose();
  });

  test('a request that does not fit an HTTP/1.1 head: 400, nothing sent, and the next call succeeds', async () => {
    const { gateway, agent } = await begin({ credential: 'Bearer a\nb' });
    await agent.waitForText('HTTP/1.1 400 ');
    expect(agent.text).not.toContain('Bearer');
    await waitUntil(() => gateway.server.inflight === 0);
    expect([gateway.bugs, upstream.connections.every((peer) => peer.text === '')]).toEqual([0, true]);
    for (const record of gateway.records) expect(record).toMatchObject({ status: 0, circuitOutcome: 0 });
    gateway.lookup = {
      context: createContext([createUpstream(upstream.origin, { isTenantAddress: tenantAddress })]),
      rejection: null,
    };
    const next = await connectRaw(gateway.port);
    next.send(`GET /v1/proxy/openai/y HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
    await waitUntil(() => upstream.connections.some((peer) => peer.text.startsWith('GET /y ')));
  });

  if (!tenantAddress) return;

  test('an address that the egress guard rejects: 502, egress_refused, no failure of the provider', async () => {
    const { gateway, agent } = await begin({ egress: null });
    await agent.waitForText('HTTP/1.1 ');
    expect(await booked(gateway)).toMatchObject({ error: 'egress_refused', status: 0, circuitOutcome: 0 });
    expect(upstream.connections).toHaveLength(0);
  });

  test('a tenant with too many name lookups: 502, no failure of the provider', async () => {
    const busy = new NameResolutionError('one-of-many.example', 'LOOKUPS_BUSY');
    const { gateway, agent } = await begin({ egress: { dial: (_target, _onread, done) => done(busy, null) } });
    await agent.waitForText('HTTP/1.1 502 ');
    expect(await booked(gateway)).toMatchObject({ error: 'lookups_busy', status: 0, circuitOutcome: 0 });
  });

  test('an agent that disconnects while the upstream connection opens: nothing is sent or counted, the connection is kept', async () => {
    let made: (() => void) | null = null;
    const { gateway, agent } = await begin({
      egress: {
        dial: (target, onread, done) => {
          made = () => dials.dial(target, onread, done);
        },
      },
    });
    await waitUntil(() => made !== null);
    agent.socket.destroy();
    await waitUntil(() => gateway.server.inflight === 0);
    made!();
    await waitUntil(() => gateway.pools.idleConnectionCount === 1);
    expect([upstream.text, gateway.admissions.length, gateway.records.length]).toEqual(['', 0, 0]);
  });
});

/** The record of an upload of which the agent has sent 64 of 100 bytes when the provider acts. */
async function stalledUpload(end: (provider: RawPeer) => void) {
  const gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)]), {
    bufferedBodyBytesMax: BUFFERED_BYTES_MAX,
  });
  gateways.push(gateway);
  const agent = await connectRaw(gateway.port);
  agent.send(
    `POST /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\nContent-Length: 100\r\n\r\n${'b'.repeat(64)}`,
  );
  const provider = await upstream.connection();
  await provider.waitForText('b'.repeat(64));
  end(provider);
  await waitUntil(() => gateway.records.length === 1);
  return gateway.records[0]!;
}

test.each([
  ['ends the connection without a word', (provider: RawPeer) => provider.socket.destroy(), 'reset', 0],
  ['answers 408', (provider: RawPeer) => provider.send('HTTP/1.1 408 Slow\r\nContent-Length: 0\r\n\r\n'), '', 0],
  ['answers 200', (provider: RawPeer) => provider.send('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'), '', 0],
  ['answers 503', (provider: RawPeer) => provider.send('HTTP/1.1 503 Away\r\nContent-Length: 0\r\n\r\n'), '', 2],
])('a stalled upload is neutral for a provider that %s, except for a 5xx', async (_what, end, error, outcome) => {
  expect(await stalledUpload(end)).toMatchObject({ error, circuitOutcome: outcome });
});

test('a connect that fails because this machine lacks a resource is neutral for the provider', async () => {
  for (const [code, outcome] of [
    ['EMFILE', 0],
    ['EADDRNOTAVAIL', 0],
    ['ECONNREFUSED', 2],
  ] as const) {
    const gateway = await ProxyFixture.start(
      createContext([createUpstream(upstream.origin, { isTenantAddress: true })]),
    );
    gateways.push(gateway);
    gateway.egress = {
      dial: (_target, _onread, done) => void setImmediate(() => done(Object.assign(new Error(code), { code }), null)),
    };
    const agent = await connectRaw(gateway.port);
    agent.send(`GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
    await agent.waitForText('HTTP/1.1 502 ');
    await waitUntil(() => gateway.records.length === 1);
    expect(gateway.records[0]).toMatchObject({ error: 'connect', circuitOutcome: outcome });
  }
});
