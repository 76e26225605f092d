/** Requests with a streamed body. */
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { RawUpstream } from '../call/testing/raw-peer-fixture.js';
import { ConnectionPools, classifyFailure } from '../upstream/connections/connection-pools-per-origin-and-owner.js';
import {
  acquireConnection,
  createLocalDialer,
  OWNER,
  RecordedRequest,
} from '../upstream/testing/dialer-recorder-certificate-fixture.js';
import { parseRequestWithNode } from './testing/node-request-parser-fixture.js';
import type { UpstreamRequest } from './upstream-request-interface.js';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const OK = 'HTTP/1.1 200 OK\r\n';
const EMPTY = `${OK}content-length: 0\r\n\r\n`;

/** A body that the test pushes piece by piece. */
class PushedBody extends Readable {
  override _read(): void {}
}

async function start(headersTimeoutMs = 60_000) {
  const upstream = await RawUpstream.start();
  const pools = new ConnectionPools({ headersTimeoutMs, bodyTimeoutMs: 60_000, dialer: createLocalDialer() });
  closing.push(
    () => pools.closeGracefully(),
    () => upstream.stop(),
  );
  const send = (given: Partial<UpstreamRequest> = {}): RecordedRequest =>
    new RecordedRequest(acquireConnection(pools, upstream.origin, null, OWNER), { method: 'POST', ...given });
  return { upstream, send };
}

test.each([false, true])('sends a streamed body unchanged in any pieces (chunked: %s)', async (chunked) => {
  const { upstream, send } = await start();
  let calls = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 70_000 }), { maxLength: 8 }), async (arrays) => {
      const pieces = arrays.map((bytes) => Buffer.from(bytes));
      const whole = Buffer.concat(pieces);
      const peer = calls === 0 ? null : upstream.connections[0]!;
      const from = peer?.received.length ?? 0;
      const headers = chunked ? [] : ['content-length', String(whole.length)];
      const call = send({ path: `/${calls++}`, headers, body: Readable.from(pieces, { objectMode: true }) });
      const carrier = await upstream.connection(0);
      await carrier.waitUntil(() => parseRequestWithNode(carrier.received.subarray(from)).ended);
      carrier.send(EMPTY);
      await call.waitForEnd();
      const read = parseRequestWithNode(carrier.received.subarray(from));
      expect(read.body.equals(whole)).toBe(true);
    }),
    { numRuns: 40 },
  );
  expect(upstream.connections).toHaveLength(1);
});

test('pauses the body while the upstream reads slowly', async () => {
  const { upstream, send } = await start();
  const block = Buffer.alloc(1024 * 1024, 'x');
  let given = 0;
  const body = new Readable({
    highWaterMark: block.length,
    read() {
      if (given++ < 64) this.push(block);
      else this.push(null);
    },
  });
  const call = send({ body });
  const peer = await upstream.connection();
  peer.socket.removeAllListeners('data').pause();
  // The kernel buffers take some bytes; the rest must stay with the sender during all these turns.
  for (let i = 0; i < 2_000; i++) await new Promise((resolve) => setImmediate(resolve));
  expect(given).toBeLessThan(32);
  peer.socket.resume();
  await new Promise<void>((resolve) => {
    let received = 0;
    peer.socket.on('data', (chunk) => {
      received += chunk.length;
      if (received > 64 * block.length) resolve();
    });
  });
  peer.send(EMPTY);
  await call.waitForEnd();
});

test.each([
  ['shorter', '5'],
  ['longer', '3'],
])('fails a body %s than its content-length and closes the connection', async (_how, length) => {
  const { upstream, send } = await start();
  const call = send({ headers: ['content-length', length], body: Readable.from([Buffer.from('four')]) });
  expect((await call.waitForError()).message).toContain('content-length');
  const peer = await upstream.connection();
  await peer.waitForClose();
  expect(peer.text.endsWith('\r\n\r\n') || peer.text.endsWith('four')).toBe(true);
});

test.each([
  ['breaks', (body: PushedBody) => body.destroy(new Error('damaged')), 'damaged'],
  ['goes away', (body: PushedBody) => body.destroy(), 'ended early'],
])('never completes upstream a body that %s', async (_how, end, message) => {
  const { upstream, send } = await start();
  const body = new PushedBody();
  const call = send({ body });
  body.push(Buffer.from('half'));
  const peer = await upstream.connection();
  await peer.waitForText('half');
  end(body);
  expect((await call.waitForError()).message).toContain(message);
  await peer.waitForClose();
  expect(peer.text).not.toContain('0\r\n\r\n');
});

test('fails the call of a body that was destroyed before the connect', async () => {
  const { send } = await start();
  const body = new PushedBody();
  body.destroy();
  const call = send({ body });
  await call.waitForError();
});

test('destroys the body of an aborted call', async () => {
  const { upstream, send } = await start();
  const body = new PushedBody();
  const call = send({ body });
  body.push(Buffer.from('half'));
  const peer = await upstream.connection();
  await peer.waitForText('half');
  call.abort!(new Error('gone'));
  expect((await call.waitForError()).message).toBe('gone');
  expect(body.destroyed).toBe(true);
  await peer.waitForClose();
});

test('delivers a response that arrives before the end of the body, then closes the connection', async () => {
  const { upstream, send } = await start();
  const body = new PushedBody();
  const call = send({ body });
  body.push(Buffer.from('half'));
  const peer = await upstream.connection();
  await peer.waitForText('half');
  peer.send('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno');
  await call.waitForEnd();
  expect([call.status, call.body.toString(), body.destroyed]).toEqual([413, 'no', true]);
  await peer.waitForClose();
  const next = send({ method: 'GET' });
  const other = await upstream.connection(1);
  await other.waitForText('\r\n\r\n');
  other.send(EMPTY);
  await next.waitForEnd();
});

test('times out a silent upstream, but not a slow agent', async () => {
  const { upstream, send } = await start(40);
  const body = new PushedBody();
  const call = send({ body });
  body.push(Buffer.from('half'));
  const peer = await upstream.connection();
  await peer.waitForText('half');
  // Much longer than the timeout: a second, silent call times out meanwhile.
  const silent = send({ method: 'GET' });
  expect(classifyFailure(await silent.waitForError(), true)).toBe('timeout');
  expect(call.isFinished).toBe(false);
  body.push(null);
  expect(classifyFailure(await call.waitForError(), true)).toBe('timeout');
});

test.each(['PUT', 'DELETE'] as const)('does not retry %s with a streamed body', async (method) => {
  const { upstream, send } = await start();
  const first = send({ method: 'GET' });
  const peer = await upstream.connection();
  await peer.waitForText('\r\n\r\n');
  peer.send(EMPTY);
  await first.waitForEnd();
  const second = send({ method, body: Readable.from([Buffer.from('once')]) });
  await peer.waitForText('once');
  peer.socket.destroy();
  await second.waitForError();
  expect(upstream.connections).toHaveLength(1);
});

/** undici 7 terminates the process in this case: nodejs/undici#5360. */
test('delivers the whole response when the upstream closes while the agent reads slowly', async () => {
  const { upstream, send } = await start();
  const call = send({ body: Readable.from([Buffer.from('body')]) });
  call.accepts = false;
  const peer = await upstream.connection();
  await peer.waitForText('0\r\n\r\n');
  const bytes = 300_000;
  peer.socket.end(`${OK}connection: close\r\ncontent-length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`);
  await call.waitUntil(() => call.chunks.length > 0);
  while (!call.isFinished) {
    await new Promise((resolve) => setImmediate(resolve));
    call.resume?.();
  }
  expect((await call.waitForEnd()).body.length).toBe(bytes);
});
