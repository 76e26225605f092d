import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type RawPeer, RawUpstream } from '../call/testing/raw-peer-fixture.js';
import {
  ConnectionPools,
  type ConnectionPoolsOptions,
} from '../upstream/connections/connection-pools-per-origin-and-owner.js';
import {
  acquireConnection,
  type Certificate,
  createCertificate,
  createLocalDialer,
  OWNER,
  RecordedRequest,
  TENANT,
  trustCertificate,
} from '../upstream/testing/dialer-recorder-certificate-fixture.js';
import type { UpstreamRequest } from './upstream-request-interface.js';

let certificate: Certificate;
beforeAll(() => {
  certificate = createCertificate('DNS:localhost,IP:127.0.0.1');
  trustCertificate(certificate);
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

function createPools(over: Partial<ConnectionPoolsOptions> = {}): ConnectionPools {
  const pools = new ConnectionPools({
    headersTimeoutMs: 60_000,
    bodyTimeoutMs: 60_000,
    dialer: createLocalDialer(),
    ...over,
  });
  closing.push(() => pools.closeGracefully());
  return pools;
}

const answer = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
/** Number of complete requests on a connection that receives no bodies. */
const countRequests = (peer: RawPeer): number => peer.text.split('\r\n\r\n').length - 1;

describe.each([
  ['plain', false, false],
  ['TLS', true, false],
  ['plain, guarded', false, true],
  ['TLS, guarded', true, true],
])('connection: %s', (_name, secure, guarded) => {
  async function start(over: Partial<ConnectionPoolsOptions> = {}) {
    const upstream = await RawUpstream.start(secure ? certificate : null);
    closing.push(() => upstream.stop());
    const pools = createPools(over);
    const origin = secure ? `https://127.0.0.1:${upstream.port}` : upstream.origin;
    const call = (given: Partial<UpstreamRequest> = {}): RecordedRequest =>
      new RecordedRequest(acquireConnection(pools, origin, guarded ? TENANT : null, OWNER), given);
    return { upstream, pools, call };
  }

  test('sends consecutive calls over one connection', async () => {
    const { upstream, call } = await start();
    for (let i = 0; i < 3; i++) {
      const sent = call({ method: 'POST', body: Buffer.from(`body ${i}\xff`, 'latin1') });
      const peer = await upstream.connection();
      await peer.waitForText(`body ${i}\xff`);
      peer.send(Buffer.from(answer(`answer ${i}\xff`), 'latin1'));
      expect((await sent.waitForEnd()).body.toString('latin1')).toBe(`answer ${i}\xff`);
    }
    expect(upstream.connections).toHaveLength(1);
  });

  test.each([200, 40_000, 300_000])(
    'delivers a paused response of %i bytes completely, and the next call as well',
    async (bytes) => {
      const { upstream, call } = await start();
      const first = call();
      first.accepts = false;
      const peer = await upstream.connection();
      await peer.waitUntil(() => countRequests(peer) === 1);
      const body = Array.from({ length: bytes / 4 }, (_, i) => String(i % 10_000).padStart(4)).join('');
      peer.send(answer(body));
      await first.waitUntil(() => first.chunks.length > 0);
      while (!first.isFinished) {
        first.resume?.(); // accepts no piece without a further resume
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(first.body.toString('latin1')).toBe(body);
      const second = call();
      await peer.waitUntil(() => countRequests(peer) === 2);
      peer.send(answer('second'));
      expect((await second.waitForEnd()).body.toString()).toBe('second');
      expect(upstream.connections).toHaveLength(1);
    },
  );

  test('applies backpressure to the upstream while paused', async () => {
    const { upstream, call } = await start();
    const sent = call();
    sent.accepts = false;
    const peer = await upstream.connection();
    await peer.waitUntil(() => countRequests(peer) === 1);
    const bytes = 32 * 1024 * 1024;
    peer.send(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\n\r\n`);
    const block = Buffer.alloc(1024 * 1024, 'x');
    for (let i = 0; i < 32; i++) peer.send(block);
    await sent.waitUntil(() => sent.chunks.length > 0);
    // The kernel buffers take some bytes; the rest must stay with the sender during all these turns.
    for (let i = 0; i < 2_000; i++) await new Promise((resolve) => setImmediate(resolve));
    const held = sent.body.length;
    expect(held).toBeLessThan(1024 * 1024);
    expect(peer.socket.writableLength).toBeGreaterThan(8 * 1024 * 1024);
    sent.accepts = true;
    sent.resume!();
    expect((await sent.waitForEnd()).body.length).toBe(bytes);
  });

  test('closes the connection when bytes follow a response', async () => {
    const { upstream, call } = await start();
    const first = call();
    const peer = await upstream.connection();
    await peer.waitUntil(() => countRequests(peer) === 1);
    peer.send(answer('one') + answer('smuggled'));
    expect((await first.waitForEnd()).body.toString()).toBe('one');
    const second = call();
    const other = await upstream.connection(1);
    await other.waitUntil(() => countRequests(other) === 1);
    other.send(answer('two'));
    expect((await second.waitForEnd()).body.toString()).toBe('two');
    await peer.waitForClose();
  });

  test('closes an idle connection when bytes arrive', async () => {
    const { upstream, call } = await start();
    const first = call();
    const peer = await upstream.connection();
    await peer.waitUntil(() => countRequests(peer) === 1);
    peer.send(answer('one'));
    await first.waitForEnd();
    peer.send(answer('smuggled'));
    await peer.waitForClose();
    const second = call();
    const other = await upstream.connection(1);
    await other.waitUntil(() => countRequests(other) === 1);
    other.send(answer('two'));
    expect((await second.waitForEnd()).body.toString()).toBe('two');
  });

  test('accepts a response that arrives before the request, once', async () => {
    const { upstream, call } = await start();
    const first = call();
    const peer = await upstream.connection();
    peer.send(answer('early'));
    expect((await first.waitForEnd()).body.toString()).toBe('early');
    peer.send(answer('late'));
    await peer.waitForClose();
  });

  test('does not reuse a connection that the server closed while idle', async () => {
    const { upstream, call } = await start();
    const first = call();
    const peer = await upstream.connection();
    await peer.waitUntil(() => countRequests(peer) === 1);
    peer.send(answer('one'));
    await first.waitForEnd();
    peer.socket.end();
    await peer.waitForClose();
    await new Promise((resolve) => setImmediate(resolve));
    const second = call();
    const other = await upstream.connection(1);
    await other.waitUntil(() => countRequests(other) === 1);
    other.send(answer('two'));
    expect((await second.waitForEnd()).body.toString()).toBe('two');
  });

  test('completes a body that ends with the connection, also when paused', async () => {
    const { upstream, call } = await start();
    const sent = call();
    sent.accepts = false;
    const peer = await upstream.connection();
    await peer.waitUntil(() => countRequests(peer) === 1);
    peer.send('HTTP/1.1 200 OK\r\n\r\nall of it');
    await sent.waitUntil(() => sent.chunks.length > 0);
    peer.socket.end(' and more');
    sent.accepts = true;
    sent.resume!();
    expect((await sent.waitForEnd()).body.toString()).toBe('all of it and more');
  });

  test.each([
    ['before its head', ''],
    ['in its head', 'HTTP/1.1 200 OK\r\ncont'],
    ['in a fixed body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
    ['in a chunked body', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'],
  ])('reports a response that ends %s as one error', async (_where, text) => {
    const { upstream, call } = await start();
    const sent = call();
    const peer = await upstream.connection();
    await peer.waitUntil(() => countRequests(peer) === 1);
    peer.socket.end(text);
    expect(await sent.waitForError()).toBeInstanceOf(Error);
    expect([sent.errors, sent.completed]).toEqual([1, 0]);
    expect(sent.body.toString()).toBe(text.includes('abc') ? 'abc' : '');
  });

  test('an aborted call closes its connection and no other', async () => {
    const { upstream, call } = await start();
    const kept = call();
    const keptPeer = await upstream.connection();
    const aborted = call();
    const peer = await upstream.connection(1);
    await peer.waitUntil(() => countRequests(peer) === 1);
    aborted.abort!(new Error('gone'));
    expect((await aborted.waitForError()).message).toBe('gone');
    await peer.waitForClose();
    await keptPeer.waitUntil(() => countRequests(keptPeer) === 1);
    keptPeer.send(answer('kept'));
    expect((await kept.waitForEnd()).body.toString()).toBe('kept');
  });

  test('an abort from within onData reports only the error', async () => {
    const { upstream, call } = await start();
    const sent = call();
    sent.onDataHook = () => sent.abort?.(new Error('gone'));
    const peer = await upstream.connection();
    await peer.waitUntil(() => countRequests(peer) === 1);
    peer.send(answer('abc'));
    expect((await sent.waitForError()).message).toBe('gone');
    await peer.waitForClose();
    expect([sent.errors, sent.completed, sent.chunks.length]).toEqual([1, 0, 1]);
  });

  test('closes the connection after a response to an incompletely sent request', async () => {
    const { upstream, call } = await start();
    const sent = call({ method: 'POST', body: Buffer.alloc(32 * 1024 * 1024, 'b') });
    const peer = await upstream.connection();
    peer.socket.pause();
    peer.send(answer('refused'));
    expect((await sent.waitForEnd()).body.toString()).toBe('refused');
    peer.socket.resume();
    await peer.waitForClose();
    expect(peer.received.length).toBeLessThan(32 * 1024 * 1024);
  });

  test('honors the server’s connection and keep-alive headers', async () => {
    const { upstream, call } = await start();
    const heads = [
      'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n',
      'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n',
      'HTTP/1.1 200 OK\r\nkeep-alive: timeout=2\r\ncontent-length: 0\r\n\r\n',
    ];
    for (const [i, head] of heads.entries()) {
      const sent = call();
      const peer = await upstream.connection(i);
      await peer.waitUntil(() => countRequests(peer) === 1);
      peer.send(head);
      await sent.waitForEnd();
      await peer.waitForClose();
    }
    const sent = call({ method: 'HEAD' });
    const peer = await upstream.connection(heads.length);
    await peer.waitUntil(() => countRequests(peer) === 1);
    peer.send('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n');
    expect((await sent.waitForEnd()).body.length).toBe(0);
    await peer.waitForClose();
  });

  test('times out a silent upstream before the head and in the body, but not while paused', async () => {
    const { upstream, call } = await start({ headersTimeoutMs: 40, bodyTimeoutMs: 40 });
    const startedTick = performance.now();
    const silent = call();
    expect(await silent.waitForError()).toMatchObject({ code: 'ETIMEDOUT' });
    expect(performance.now() - startedTick).toBeGreaterThanOrEqual(40);
    const stuck = call();
    const peer = await upstream.connection(1);
    peer.send('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc');
    expect(await stuck.waitForError()).toMatchObject({ code: 'ETIMEDOUT' });
    expect(stuck.body.toString()).toBe('abc');
    const paused = call();
    paused.accepts = false;
    const patient = await upstream.connection(2);
    patient.send('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc');
    await paused.waitUntil(() => paused.chunks.length > 0);
    const bystander = call();
    await bystander.waitForError(); // waits as long as the timeout of the paused call would take
    expect(paused.isFinished).toBe(false);
    paused.accepts = true;
    paused.resume!();
    patient.send('def');
    expect((await paused.waitForEnd()).body.toString()).toBe('abcdef');
  });

  test('closed pools finish running calls and then close their connections', async () => {
    const { upstream, pools, call } = await start();
    const free = call();
    const freePeer = await upstream.connection();
    await freePeer.waitUntil(() => countRequests(freePeer) === 1);
    const busy = call();
    const busyPeer = await upstream.connection(1);
    await busyPeer.waitUntil(() => countRequests(busyPeer) === 1);
    freePeer.send(answer('free'));
    await free.waitForEnd();
    pools.closeGracefully();
    await freePeer.waitForClose();
    expect(busyPeer.closed).toBe(false);
    busyPeer.send(answer('busy'));
    expect((await busy.waitForEnd()).body.toString()).toBe('busy');
    await busyPeer.waitForClose();
  });

  test('does not keep the request body of its first call in memory', async () => {
    const { upstream, call } = await start();
    let body: WeakRef<Buffer> | null = null;
    const first = ((): RecordedRequest => {
      const bytes = Buffer.allocUnsafeSlow(40_000).fill('b');
      body = new WeakRef(bytes);
      return call({ method: 'POST', body: bytes });
    })();
    const peer = await upstream.connection();
    await peer.waitUntil(() => peer.text.endsWith('b'.repeat(40_000)));
    peer.send(answer('one'));
    await first.waitForEnd();
    for (let turn = 0; turn < 100 && body!.deref() !== undefined; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
    }
    expect(body!.deref()).toBeUndefined();
    expect(peer.closed).toBe(false);
  });

  test('a closed connection is garbage collected', async () => {
    const { upstream, call } = await start();
    for (const how of ['aborted', 'cut', 'closed by the server']) {
      const ref = await (async (): Promise<WeakRef<object>> => {
        const index = upstream.connections.length;
        const sent = call();
        const peer = await upstream.connection(index);
        await peer.waitUntil(() => countRequests(peer) === 1);
        if (how === 'aborted') sent.abort!();
        else if (how === 'cut') peer.socket.destroy();
        else peer.socket.end(answer('one'));
        await sent.waitUntil(() => sent.isFinished);
        await peer.waitForClose();
        return new WeakRef(sent.connection);
      })();
      for (let turn = 0; turn < 100 && ref.deref() !== undefined; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
        collectGarbage();
      }
      expect([how, ref.deref()]).toEqual([how, undefined]);
    }
  });

  test('closed pools still time out a silent call', async () => {
    const { upstream, pools, call } = await start({ headersTimeoutMs: 40 });
    const silent = call();
    const peer = await upstream.connection();
    await peer.waitUntil(() => countRequests(peer) === 1);
    pools.closeGracefully();
    expect(await silent.waitForError()).toMatchObject({ code: 'ETIMEDOUT' });
    await peer.waitForClose();
  });
});
