import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CallMetering } from '../call-metering-interface.js';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from '../testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream, waitUntil } from '../testing/raw-peer-fixture.js';

const KIB = 1024;
const EDITED = Buffer.from('edited:');

let upstream: RawUpstream;
let gateway: ProxyFixture;

/** Buffers every body of up to 300 KiB whole, and edits it. */
const metering: CallMetering = {
  requestBytesToBufferForEdit: () => 300 * KIB,
  scanAndEditRequestBody: (_x, body) => Buffer.concat([EDITED, body]),
  createRequestScanner: () => null,
  createMeterAndBodyEdit: () => null,
  estimateUnanswered: () => null,
  mustDropRangeHeaders: () => false,
  priceUsage: () => ({ costNanos: 0, source: 'none' }),
  maxCostNanos: () => 0,
};

beforeEach(async () => {
  upstream = await RawUpstream.start();
  const options = { bufferedBodyBytesMax: 16 * KIB, editedBodiesBytesMax: 256 * KIB };
  gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)]), options, metering);
});

afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

const LINE = `POST /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n`;

/** Starts a call whose head was read and whose body has not begun. */
async function begun(framing: string): Promise<RawPeer> {
  const agent = await connectRaw(gateway.port);
  const before = gateway.limitPeeks.length;
  agent.send(`${LINE}${framing}\r\n\r\n`);
  await waitUntil(() => gateway.limitPeeks.length > before);
  return agent;
}

const bodyOf = (peer: RawPeer): string => peer.text.slice(peer.text.indexOf('\r\n\r\n') + 4);

/** Sends a call with a body of `bytes` in two parts; resolves with the first bytes that the provider got. */
async function edited(bytes: number): Promise<boolean> {
  const seen = upstream.connections.length;
  const agent = await begun(`Content-Length: ${bytes}`);
  agent.send(Buffer.alloc(bytes - 1, 'b'));
  agent.send('b');
  const provider = await upstream.connection(seen);
  await provider.waitUntil(() => bodyOf(provider).length >= bytes);
  const isEdited = bodyOf(provider).startsWith('edited:');
  provider.send('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok');
  await agent.waitForText('\r\n\r\nok');
  agent.socket.destroy();
  return isEdited;
}

test('buffer body: slow uploads use only the memory of the bytes sent, so another body is edited', async () => {
  // Together they announce four times the available memory.
  const slow = await Promise.all(Array.from({ length: 4 }, () => begun(`Content-Length: ${256 * KIB}`)));
  const chunked = await begun('Transfer-Encoding: chunked');
  for (const agent of slow) agent.send(Buffer.alloc(20 * KIB, 'a'));
  chunked.send('1\r\na\r\n');
  expect(await edited(150 * KIB)).toBe(true);
  for (const agent of [...slow, chunked]) agent.socket.destroy();
});

test('buffer body: a body without memory streams unedited, and sent bytes release their memory', async () => {
  const agents = { a: await begun(`Content-Length: ${250 * KIB}`), b: await begun(`Content-Length: ${250 * KIB}`) };
  agents.a.send(Buffer.alloc(180 * KIB, 'a'));
  agents.b.send(Buffer.alloc(180 * KIB, 'b'));
  // One body finds no memory and is forwarded as it arrives; the other is still buffered.
  const provider = await upstream.connection();
  await provider.waitUntil(() => bodyOf(provider).length >= 180 * KIB);
  expect(bodyOf(provider)).toMatch(/^(a+|b+)$/);
  (bodyOf(provider).startsWith('a') ? agents.b : agents.a).socket.destroy();
  await waitUntil(() => gateway.server.inflight === 1);
  // The first body may stream for any time and uses no memory.
  expect(await edited(250 * KIB)).toBe(true);
});

test('buffer body: releases the memory of an agent that disconnects', async () => {
  for (let i = 0; i < 5; i++) {
    const agent = await begun(`Content-Length: ${256 * KIB}`);
    agent.send(Buffer.alloc(200 * KIB, 'a'));
    agent.socket.end();
    await waitUntil(() => gateway.server.inflight === 0);
  }
  expect(await edited(256 * KIB)).toBe(true);
});
