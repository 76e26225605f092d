/** The upstream connection of a WebSocket: when the limits count it, and where it stays when the handshake is not sent. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HeldDials } from '../call/testing/held-dials-fixture.js';
import {
  createContext,
  createRejectedAdmission,
  createUpstream,
  GATEWAY_TOKEN,
  ProxyFixture,
} from '../call/testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream, waitUntil } from '../call/testing/raw-peer-fixture.js';
import {
  createCertificate,
  createLocalDialer,
  trustCertificate,
} from '../upstream/testing/dialer-recorder-certificate-fixture.js';

let upstream: RawUpstream;
let gateway: ProxyFixture;
let dials: HeldDials;

beforeEach(async () => {
  upstream = await RawUpstream.start();
  dials = new HeldDials();
  const context = createContext([createUpstream(upstream.origin, { allowsWebSocket: true })]);
  gateway = await ProxyFixture.start(context, {}, null, { dialer: dials });
});

afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

async function upgrade(path: string): Promise<RawPeer> {
  const agent = await connectRaw(gateway.port);
  agent.send(
    `GET /v1/proxy/openai${path} HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\nConnection: Upgrade\r\n` +
      'Upgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  );
  return agent;
}

/** Accepts the handshake that the provider's end has received. */
async function accept(provider: RawPeer, path: string): Promise<void> {
  await provider.waitForText(`GET ${path} `);
  await provider.waitForText('\r\n\r\n');
  const key = /sec-websocket-key: (.*)\r\n/i.exec(provider.text)![1]!;
  const accepted = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  provider.send(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accepted}\r\n\r\n`,
  );
}

/** An upgrade that the limits reject after its dial: its connection is kept. */
async function keepConnection(): Promise<RawPeer> {
  const { admission } = gateway;
  gateway.admission = createRejectedAdmission('rpm', 1_900_000_000);
  dials.isHolding = false;
  const agent = await upgrade('/rejected');
  await agent.waitForText('HTTP/1.1 429 ');
  gateway.admission = admission;
  expect([gateway.pools.idleConnectionCount, upstream.text, gateway.records.length]).toEqual([1, '', 0]);
  return upstream.connection();
}

test('the limits are asked when the connection stands, and the handshake is sent then', async () => {
  const agent = await upgrade('/live');
  await waitUntil(() => dials.begun.length === 1);
  expect(gateway.admissions).toHaveLength(0);
  dials.begun[0]!.connect();
  await accept(await upstream.connection(), '/live');
  await agent.waitForText('HTTP/1.1 101 ');
  expect([gateway.admissions.length, gateway.pools.poolCount]).toEqual([1, 0]);
});

test('the same over TLS, also on a kept connection', async () => {
  const certificate = createCertificate('IP:127.0.0.1');
  trustCertificate(certificate);
  const secure = await RawUpstream.start(certificate);
  const account = createUpstream(`https://127.0.0.1:${secure.port}`, { allowsWebSocket: true });
  const own = await ProxyFixture.start(createContext([account]), {}, null, { dialer: createLocalDialer() });
  await gateway.stop();
  gateway = own;
  const { admission } = gateway;
  gateway.admission = createRejectedAdmission('rpm', 1_900_000_000);
  await (await upgrade('/rejected')).waitForText('HTTP/1.1 429 ');
  gateway.admission = admission;
  const agent = await upgrade('/live');
  await accept(await secure.connection(), '/live');
  await agent.waitForText('HTTP/1.1 101 ');
  expect(secure.connections).toHaveLength(1);
  secure.stop();
});

test('a connection whose upgrade was rejected carries the next upgrade, and no call', async () => {
  const provider = await keepConnection();
  const agent = await connectRaw(gateway.port);
  agent.send(`GET /v1/proxy/openai/call HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
  await (await upstream.connection(1)).waitForText('GET /call ');
  const next = await upgrade('/next');
  await accept(provider, '/next');
  await next.waitForText('HTTP/1.1 101 ');
  expect(dials.begun).toHaveLength(2);
});

test('a kept connection leaves the pool when the upstream closes it, or sends something', async () => {
  for (const end of [(peer: RawPeer) => peer.socket.end(), (peer: RawPeer) => peer.send('unasked')]) {
    const count = upstream.connections.length;
    const agent = await upgrade('/gone');
    await waitUntil(() => dials.begun.length > count);
    agent.socket.destroy();
    await waitUntil(() => gateway.server.inflight === 0);
    dials.begun[count]!.connect();
    const provider = await upstream.connection(count);
    await waitUntil(() => gateway.pools.idleConnectionCount === 1);
    end(provider);
    await waitUntil(() => gateway.pools.poolCount === 0);
    await provider.waitForClose();
  }
  expect([gateway.admissions.length, gateway.records.length, gateway.server.webSocketSlotsUsed]).toEqual([0, 0, 0]);
});

test('an upgrade over a kept connection that the upstream closes is sent once more, admitted again', async () => {
  const provider = await keepConnection();
  const agent = await upgrade('/again');
  await provider.waitForText('\r\n\r\n');
  provider.socket.destroy();
  const fresh = await upstream.connection(1);
  await accept(fresh, '/again');
  await agent.waitForText('HTTP/1.1 101 ');
  expect([gateway.admissions.length, gateway.records.length]).toEqual([3, 0]);
});

test('an upgrade whose second admission is rejected gets 429 and one record', async () => {
  const provider = await keepConnection();
  const agent = await upgrade('/again');
  await provider.waitForText('\r\n\r\n');
  gateway.admission = createRejectedAdmission('rpm', 1_900_000_000);
  provider.socket.destroy();
  await agent.waitForText('HTTP/1.1 429 ');
  await waitUntil(() => gateway.server.inflight === 0);
  expect(gateway.records).toMatchObject([
    { error: 'retry_rejected', responseStatus: 429, circuitOutcome: 0, websocket: true },
  ]);
  expect([gateway.admissions.length, gateway.server.webSocketSlotsUsed, gateway.bugs]).toEqual([3, 0, 0]);
});

test('an upgrade over a new connection that the upstream closes is not sent once more', async () => {
  dials.isHolding = false;
  const agent = await upgrade('/once');
  const provider = await upstream.connection();
  await provider.waitForText('\r\n\r\n');
  provider.socket.destroy();
  await agent.waitForText('HTTP/1.1 502 ');
  expect([upstream.connections.length, gateway.admissions.length]).toEqual([1, 1]);
});

test('a dial that fails consumes no limit and is booked', async () => {
  const agent = await upgrade('/live');
  await waitUntil(() => dials.begun.length === 1);
  dials.begun[0]!.fail(new Error('refused'));
  await agent.waitForText('HTTP/1.1 502 ');
  await waitUntil(() => gateway.server.inflight === 0);
  expect(gateway.records).toMatchObject([{ error: 'connect', status: 0, circuitOutcome: 2, websocket: true }]);
  expect([gateway.admissions.length, gateway.server.webSocketSlotsUsed]).toEqual([0, 0]);
});

test('the connection closes while the store is asked: it is replaced, and the handshake is sent once', async () => {
  const asked: (() => void)[] = [];
  gateway.pendingAdmissions = asked;
  dials.isHolding = false;
  const gone = await upgrade('/gone');
  await waitUntil(() => asked.length === 1);
  const agent = await upgrade('/live');
  await waitUntil(() => asked.length === 2);
  gone.socket.destroy();
  await waitUntil(() => gateway.pools.idleConnectionCount === 1);
  upstream.connections[1]!.socket.end();
  await upstream.connections[1]!.waitForClose(); // by the gateway
  asked[1]!();
  await accept(upstream.connections[0]!, '/live');
  await agent.waitForText('HTTP/1.1 101 ');
  expect([dials.begun.length, gateway.admissions.length]).toEqual([2, 2]);
});
