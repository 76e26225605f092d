import { Readable } from 'node:stream';
import { NameResolutionError } from '@acg/base/dns/name-resolver-interface';
import { Client } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import { type RawPeer, RawUpstream } from '../../call/testing/raw-peer-fixture.js';
import type { UpstreamConnection, UpstreamRequest } from '../../http1/upstream-request-interface.js';
import {
  acquireConnection,
  createLocalDialer,
  OWNER,
  RecordedRequest,
  TENANT,
} from '../testing/dialer-recorder-certificate-fixture.js';
import {
  ConnectionPools,
  type ConnectionPoolsOptions,
  classifyFailure,
  isInvalidRequest,
} from './connection-pools-per-origin-and-owner.js';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

function createPools(over: Partial<ConnectionPoolsOptions> = {}, originsMax?: number): ConnectionPools {
  const options: ConnectionPoolsOptions = {
    headersTimeoutMs: 60_000,
    bodyTimeoutMs: 60_000,
    dialer: createLocalDialer(),
    ...over,
  };
  const pools = new ConnectionPools(options, originsMax);
  closing.push(() => pools.closeGracefully());
  return pools;
}

async function startRawUpstream(host = '127.0.0.1'): Promise<RawUpstream> {
  const upstream = await RawUpstream.start(null, host);
  closing.push(() => upstream.stop());
  return upstream;
}

const EMPTY = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

/** Resolves when the peer has received a request with its declared body. */
async function waitForWholeRequest(peer: RawPeer): Promise<void> {
  await peer.waitUntil(() => {
    const head = peer.text.indexOf('\r\n\r\n');
    if (head === -1) return false;
    if (peer.text.slice(0, head).includes('transfer-encoding: chunked')) return peer.text.endsWith('0\r\n\r\n');
    const length = /^content-length: (\d+)\r$/m.exec(peer.text.slice(0, head + 2));
    return peer.received.length >= head + 4 + Number(length?.[1] ?? 0);
  });
}

/** A connection of undici, as the reference. */
function createUndiciConnection(origin: string): RecordedRequest['connection'] {
  const client = new Client(origin);
  closing.push(() => void client.destroy());
  return {
    isConnected: true,
    isRequestSent: true,
    connect: () => {},
    dispatch: (call, handler) => void client.dispatch(call, handler as never),
    release: () => {},
  };
}

/** Resolves when the connection stands. */
const connectTo = (connection: UpstreamConnection): Promise<void> =>
  new Promise((resolve, reject) => connection.connect((error) => (error === null ? resolve() : reject(error))));

/** Sends one request over `connection` and returns all bytes that the upstream received. */
async function recordWireBytes(
  connection: RecordedRequest['connection'],
  upstream: RawUpstream,
  given: Partial<UpstreamRequest>,
) {
  const index = upstream.connections.length;
  const call = new RecordedRequest(connection, given);
  const peer = await upstream.connection(index);
  await waitForWholeRequest(peer);
  peer.socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  await call.waitForEnd();
  await peer.waitForClose();
  return peer.received;
}

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
const sized = (bytes: number): Buffer => Buffer.alloc(bytes, everyByte);
const HEADERS = ['accept', '*/*', 'x-bytes', 'caf\xe9 \x80\xff\ta', 'X-Case', 'Kept', 'x-empty', '', 'accept', 'a, b'];
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

describe('ConnectionPools writes the same bytes as undici', () => {
  test.each([
    ...methods.map((method) => [`${method} without a body`, { method }] as const),
    ...methods.map((method) => [`${method} with an empty body`, { method, body: Buffer.alloc(0) }] as const),
    ...[1, 255, 8_191, 8_192, 8_193, 262_144, 3_000_000].map(
      (bytes) => [`POST of ${bytes} B`, { method: 'POST', body: sized(bytes) }] as const,
    ),
    ['DELETE with a body', { method: 'DELETE', body: sized(300) }] as const,
    ['GET with a body', { method: 'GET', body: sized(300) }] as const,
    ['headers', { headers: HEADERS }] as const,
    ['headers and a body', { method: 'PUT', headers: HEADERS, body: sized(300) }] as const,
    ['headers and a longer body', { method: 'PUT', headers: HEADERS, body: sized(20_000) }] as const,
    ['a target', { path: '//a/../b/%2e?x=%2F&y=ü\x7f[]{}"|^`<>\\' }] as const,
  ])('%s', async (_name, given) => {
    const upstream = await startRawUpstream();
    const call = { path: '/v1/x', ...given } as Partial<UpstreamRequest> & { body?: Buffer };
    const ours = await recordWireBytes(acquireConnection(createPools(), upstream.origin, null, OWNER), upstream, call);
    const theirs = await recordWireBytes(createUndiciConnection(upstream.origin), upstream, call);
    expect(ours.length).toBeGreaterThan(40);
    const { method = '' } = call;
    const closes = 'body' in call && call.body!.length > 0 && ['GET', 'DELETE'].includes(method);
    const expected = closes ? theirs.toString('latin1').replace(': keep-alive', ': close') : theirs.toString('latin1');
    expect(ours.toString('latin1')).toBe(expected);
    if (given === undefined || !('body' in given)) return;
    expect(ours.subarray(ours.length - given.body.length).equals(given.body)).toBe(true);
  });

  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1', 'localhost'],
    ['::1', '[::1]'],
  ])('host header of an upstream at %s addressed as %s', async (address, host) => {
    const upstream = await startRawUpstream(address);
    const origin = `http://${host}:${upstream.port}`;
    const ours = await recordWireBytes(acquireConnection(createPools(), origin, null, OWNER), upstream, {});
    expect(ours.toString('latin1')).toContain(`\r\nhost: ${host}:${upstream.port}\r\n`);
    expect(ours.toString('latin1')).toBe(
      (await recordWireBytes(createUndiciConnection(origin), upstream, {})).toString('latin1'),
    );
  });

  test.each([
    ['', ['content-length', '5000']],
    [' chunked', []],
  ])('a streamed body%s', async (_how, framing) => {
    const upstream = await startRawUpstream();
    const pieces = [1, 254, 4_745].map(sized);
    const streamed = (): Partial<UpstreamRequest> => ({
      method: 'PUT',
      body: Readable.from(pieces),
      headers: ['x', 'y', ...framing],
    });
    const wire = (connection: RecordedRequest['connection']) => recordWireBytes(connection, upstream, streamed());
    const ours = await wire(acquireConnection(createPools(), upstream.origin, null, OWNER));
    expect(ours.length).toBeGreaterThan(5_000);
    expect(ours.toString('latin1')).toBe((await wire(createUndiciConnection(upstream.origin))).toString('latin1'));
  });
});

describe.each([
  ['buffered', () => Buffer.from('a')],
  ['streamed', () => Readable.from([Buffer.from('a')])],
])('ConnectionPools, invalid request, body %s', (_name, bodyOf) => {
  test.each([
    { headers: ['x', 'a\r\nb'] },
    { headers: ['x', 'a\nb'] },
    { headers: ['x', 'a\0b'] },
    { headers: ['x', 'a\x7fb'] },
    { headers: ['x', 'a\u0100b'] },
    { headers: ['x y', 'a'] },
    { headers: ['x:', 'a'] },
    { headers: ['', 'a'] },
    { headers: ['x\r\n', 'a'] },
    { headers: ['x\xe9', 'a'] },
    { path: '/a b' },
    { path: '/a\r\nb' },
    { path: '/a\u0100' },
  ])('rejects %j and sends no byte', async (given) => {
    const upstream = await startRawUpstream();
    const pools = createPools();
    const handler = { error: null as Error | null };
    const connection = acquireConnection(pools, upstream.origin, null, OWNER);
    await connectTo(connection);
    try {
      connection.dispatch(
        { method: 'POST', path: '/', headers: [], body: bodyOf(), ...given },
        {
          onConnect: () => {},
          onHeaders: () => {},
          onData: () => true,
          onComplete: () => {},
          onError: (error) => {
            handler.error = error;
          },
        },
      );
    } catch (error) {
      handler.error = error as Error;
    }
    while (handler.error === null) await new Promise((resolve) => setImmediate(resolve));
    expect(isInvalidRequest(handler.error)).toBe(true);
    expect(handler.error.message).not.toContain('a\r');
    connection.release();
    // The connection stays usable.
    const next = new RecordedRequest(acquireConnection(pools, upstream.origin, null, OWNER), { path: '/next' });
    const peer = await upstream.connection();
    await waitForWholeRequest(peer);
    expect(peer.text.startsWith('GET /next HTTP/1.1\r\n')).toBe(true);
    peer.send(EMPTY);
    await next.waitForEnd();
    expect(upstream.connections).toHaveLength(1);
  });
});

describe.each([
  ['buffered', false, false],
  ['streamed', false, true],
  ['buffered, guarded', true, false],
  ['streamed, guarded', true, true],
])('classifyFailure, body %s', (_name, guarded, streamed) => {
  async function failureOf(
    origin: string,
    over: Partial<ConnectionPoolsOptions>,
    whenSent: (() => Promise<void>) | null = null,
  ): Promise<string> {
    const pools = createPools(over);
    const body = streamed ? Readable.from([Buffer.from('body')]) : Buffer.from('body');
    const call = new RecordedRequest(acquireConnection(pools, origin, guarded ? TENANT : null, OWNER), {
      method: 'POST',
      body,
    });
    let sent = false;
    const { onConnect } = call;
    call.onConnect = (abort) => {
      sent = true;
      onConnect.call(call, abort);
    };
    await whenSent?.();
    const error = await call.waitForError();
    const head = call.heads.length > 0;
    return `${classifyFailure(error, sent)}${head ? ' after the head' : ''}`;
  }

  test('a closed port is a connect failure', async () => {
    expect(await failureOf('http://127.0.0.1:1', {})).toBe('connect');
  });

  test('an unresolvable host name is a connect failure', async () => {
    expect(await failureOf('http://nowhere.invalid', {})).toBe('connect');
  });

  test('a connection closed before the response is a reset', async () => {
    const upstream = await startRawUpstream();
    const hangUp = async () => {
      const peer = await upstream.connection();
      await peer.waitForText('body');
      peer.socket.destroy();
    };
    expect(await failureOf(upstream.origin, {}, hangUp)).toBe('reset');
  });

  test('a TCP reset before the response is a reset', async () => {
    const upstream = await startRawUpstream();
    const reset = async () => {
      const peer = await upstream.connection();
      await peer.waitForText('body');
      peer.socket.resetAndDestroy();
    };
    expect(await failureOf(upstream.origin, {}, reset)).toBe('reset');
  });

  test('a response that is not HTTP is a reset', async () => {
    const upstream = await startRawUpstream();
    const babble = async () => (await upstream.connection()).send('220 mail.example.com ESMTP\r\n');
    expect(await failureOf(upstream.origin, {}, babble)).toBe('reset');
  });

  test('a missing response is a timeout', async () => {
    const upstream = await startRawUpstream();
    expect(await failureOf(upstream.origin, { headersTimeoutMs: 40 })).toBe('timeout');
  });

  test('a stalled response body is a timeout', async () => {
    const upstream = await startRawUpstream();
    const stop = async () => {
      const peer = await upstream.connection();
      await peer.waitForText('body');
      peer.send('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc');
    };
    expect(await failureOf(upstream.origin, { bodyTimeoutMs: 40 }, stop)).toBe('timeout after the head');
  });

  test('a response body that is cut off is a reset', async () => {
    const upstream = await startRawUpstream();
    const breakOff = async () => {
      const peer = await upstream.connection();
      await peer.waitForText('body');
      peer.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc');
    };
    expect(await failureOf(upstream.origin, {}, breakOff)).toBe('reset after the head');
  });

  test('an address outside the egress policy is egress_refused', async () => {
    const upstream = await startRawUpstream();
    if (!guarded) return;
    const dialer = createLocalDialer({ allowCidrs: [] });
    expect(await failureOf(upstream.origin, { dialer })).toBe('egress_refused');
    expect(upstream.connections).toHaveLength(0);
  });

  test('a tenant over its DNS lookup limit is lookups_busy', async () => {
    if (!guarded) return;
    const resolve = (name: string) => Promise.reject(new NameResolutionError(name, 'LOOKUPS_BUSY'));
    const dialer = createLocalDialer({ tenantNames: { resolve } });
    expect(await failureOf('http://one-of-many.example', { dialer })).toBe('lookups_busy');
  });
});

test('a pool is removed with its last connection, whatever the outcome of its calls', async () => {
  const upstream = await startRawUpstream();
  const other = await startRawUpstream();
  const pools = createPools({}, 1);
  const begin = (given: Partial<UpstreamRequest> = {}): RecordedRequest =>
    new RecordedRequest(acquireConnection(pools, upstream.origin, null, OWNER), given);

  const answered = begin();
  const peer = await upstream.connection();
  await waitForWholeRequest(peer);
  peer.send(EMPTY);
  await answered.waitForEnd();

  const aborted = begin();
  await aborted.waitUntil(() => aborted.abort !== null);
  aborted.abort!(new Error('gone'));
  await aborted.waitForError();

  const cut = begin({ method: 'HEAD' });
  const cutPeer = await upstream.connection(1);
  await waitForWholeRequest(cutPeer);
  cutPeer.socket.destroy();
  await cut.waitForError();

  const connection = acquireConnection(pools, upstream.origin, null, OWNER);
  expect(() => connection.dispatch({ method: 'GET', path: '/ ', headers: [], body: null }, answered)).toThrow();
  connection.release();
  expect(() => acquireConnection(pools, 'http://host:99999', null, OWNER)).toThrow();
  expect(() => acquireConnection(pools, 'http://host:99999', null, OWNER)).toThrow();

  // One connection may be idle. Busy connections do not count towards this limit.
  const busy = begin();
  const next = new RecordedRequest(acquireConnection(pools, other.origin, null, OWNER), {});
  expect(pools.poolCount).toBe(2);
  await busy.waitUntil(() => busy.abort !== null);
  busy.abort!();
  await busy.waitForError();
  const last = await other.connection();
  await waitForWholeRequest(last);
  last.send(EMPTY);
  await next.waitForEnd();
  expect([pools.poolCount, pools.idleConnectionCount]).toEqual([1, 1]);
});

test('closes the connection that is idle for longest when there are too many', async () => {
  const upstream = await startRawUpstream();
  const pools = createPools({}, 2);
  const answered = async (owner: string, index: number): Promise<RawPeer> => {
    const call = new RecordedRequest(acquireConnection(pools, upstream.origin, null, owner), { path: `/${owner}` });
    const peer = await upstream.connection(index);
    await peer.waitUntil(() => peer.text.endsWith('\r\n\r\n') && peer.text.includes(`GET /${owner} `));
    peer.send(EMPTY);
    await call.waitForEnd();
    return peer;
  };
  const first = await answered('a', 0);
  const second = await answered('b', 1);
  await answered('a', 0);
  await answered('c', 2);
  await second.waitForClose();
  expect(first.socket.destroyed).toBe(false);
  await answered('a', 0);
  expect([pools.poolCount, pools.idleConnectionCount]).toEqual([2, 2]);
});

test('limits the idle connections of one pool to a part of the total', async () => {
  const upstream = await startRawUpstream();
  const pools = createPools({}, 16);
  const calls = Array.from(
    { length: 5 },
    () => new RecordedRequest(acquireConnection(pools, upstream.origin, null, OWNER), {}),
  );
  for (const [i, call] of calls.entries()) {
    const peer = await upstream.connection(i);
    await waitForWholeRequest(peer);
    peer.send(EMPTY);
    await call.waitForEnd();
  }
  expect(pools.idleConnectionCount).toBe(2);
});

test('never sends calls of two owners over one connection', async () => {
  const upstream = await startRawUpstream();
  const pools = createPools();
  const callers = ['org-a', 'org-b', 'org-a', 'org-b'];
  for (const [i, owner] of callers.entries()) {
    const call = new RecordedRequest(acquireConnection(pools, upstream.origin, null, owner), { path: `/${i}` });
    const peer = await upstream.connection(owner === 'org-a' ? 0 : 1);
    await peer.waitForText(`GET /${i} `);
    peer.send(EMPTY);
    await call.waitForEnd();
  }
  expect(upstream.connections).toHaveLength(2);
});

// Some servers do not read the body of these methods. They would take it for the next request on the connection.
test.each(['GET', 'HEAD', 'DELETE', 'OPTIONS'] as const)(
  'closes the connection after a %s with a body',
  async (method) => {
    const upstream = await startRawUpstream();
    const pools = createPools();
    for (const body of [Buffer.from('POST /notes HTTP/1.1'), Readable.from([Buffer.from('POST /notes')])]) {
      const index = upstream.connections.length;
      const call = new RecordedRequest(acquireConnection(pools, upstream.origin, null, OWNER), { method, body });
      const peer = await upstream.connection(index);
      await peer.waitForText('POST /notes');
      expect(peer.text).toContain('\r\nconnection: close\r\n');
      peer.send(EMPTY);
      await call.waitForEnd();
      expect(pools.idleConnectionCount).toBe(0);
      await peer.waitForClose();
    }
  },
);

test('closes the connection when the response began before the request body was sent', async () => {
  const upstream = await startRawUpstream();
  const pools = createPools();
  const body = new Readable({ read: () => {} });
  const call = new RecordedRequest(acquireConnection(pools, upstream.origin, null, OWNER), {
    method: 'POST',
    headers: ['content-length', '8'],
    body,
  });
  const peer = await upstream.connection();
  body.push('half');
  await peer.waitForText('half');
  peer.send('HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\n');
  await call.waitUntil(() => call.status === 404);
  body.push('rest');
  body.push(null);
  await peer.waitForText('rest');
  peer.send('gone');
  await call.waitForEnd();
  expect(pools.idleConnectionCount).toBe(0);
  await peer.waitForClose();
});

test('tenant and operator addresses never share a connection', async () => {
  const upstream = await startRawUpstream();
  const pools = createPools();
  const callers = [null, TENANT, null, TENANT];
  for (const [i, tenant] of callers.entries()) {
    const call = new RecordedRequest(acquireConnection(pools, upstream.origin, tenant, OWNER), { path: `/${i}` });
    const peer = await upstream.connection(tenant === null ? 0 : 1);
    await peer.waitForText(`GET /${i} `);
    peer.send(EMPTY);
    await call.waitForEnd();
  }
  expect(upstream.connections).toHaveLength(2);
});
