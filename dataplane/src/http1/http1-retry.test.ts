/** Connections that the upstream closed in the moment in which the next call went out. */

import { afterEach, expect, test } from 'vitest';
import { type RawPeer, RawUpstream } from '../call/testing/raw-peer-fixture.js';
import { UpstreamPools } from '../upstream/pools.js';
import { localDialer, OWNER, RecordedCall } from '../upstream/upstream-call-fixture.js';
import type { UpstreamCall } from './upstream-call.js';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const answer = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/** A connection that has carried a call, and a next call that has arrived on it. */
async function secondCall(given: Partial<UpstreamCall>) {
  const upstream = await RawUpstream.start();
  const pools = new UpstreamPools({ headersTimeoutMs: 60_000, bodyTimeoutMs: 60_000, dialer: localDialer() });
  closing.push(
    () => pools.close(),
    () => upstream.stop(),
  );
  const send = (more: Partial<UpstreamCall>): RecordedCall =>
    new RecordedCall(pools.acquire(upstream.origin, null, OWNER), more);
  const first = send({ path: '/first' });
  const peer = await upstream.connection();
  await peer.sees('/first ');
  peer.send(answer('one'));
  await first.ends();
  const second = send({ path: '/second', ...given });
  await peer.sees('/second ');
  return { upstream, peer, second, send };
}

const hangsUp = (peer: RawPeer): void => void peer.socket.destroy();
const resets = (peer: RawPeer): void => void peer.socket.resetAndDestroy();

test.each([
  ['GET', 'is closed', hangsUp],
  ['GET', 'is reset', resets],
  ['HEAD', 'is closed', hangsUp],
  ['PUT', 'is closed', hangsUp],
  ['DELETE', 'is closed', hangsUp],
] as const)(
  'retry: %s on a reused connection that %s goes out once more on a fresh one',
  async (method, _how, ends) => {
    const body = method === 'PUT' ? Buffer.from('the body') : null;
    const { upstream, peer, second } = await secondCall({ method, body });
    ends(peer);
    const fresh = await upstream.connection(1);
    await fresh.sees(method === 'PUT' ? 'the body' : '\r\n\r\n');
    expect(fresh.text).toBe(peer.text.slice(peer.text.indexOf(`${method} /second `)));
    fresh.send(method === 'HEAD' ? 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n' : answer('two'));
    expect((await second.ends()).body.toString()).toBe(method === 'HEAD' ? '' : 'two');
    expect(second.errors).toBe(0);
  },
);

test.each([
  ['POST', { method: 'POST', body: Buffer.from('x') }],
  ['PATCH', { method: 'PATCH', body: Buffer.from('x') }],
  ['a call with a condition', { method: 'PUT', headers: ['If-Match', '"1"'], body: Buffer.from('x') }],
] as const)('retry: %s does not', async (_what, given) => {
  const { upstream, peer, second } = await secondCall(given as unknown as Partial<UpstreamCall>);
  hangsUp(peer);
  await second.fails();
  expect(upstream.connections).toHaveLength(1);
});

test('retry: not once a byte of the answer is here', async () => {
  const { upstream, peer, second } = await secondCall({});
  peer.send('H');
  peer.socket.end();
  await second.fails();
  expect(upstream.connections).toHaveLength(1);
});

test('retry: once, and never of a connection that is new', async () => {
  const { upstream, peer, second } = await secondCall({});
  hangsUp(peer);
  const fresh = await upstream.connection(1);
  await fresh.sees('/second ');
  hangsUp(fresh);
  await second.fails();
  expect(upstream.connections).toHaveLength(2);
});

test('retry: a call that its agent has left is not sent again', async () => {
  const { upstream, second, send } = await secondCall({});
  second.abort!(new Error('gone'));
  await second.fails();
  const next = send({ path: '/next' });
  const fresh = await upstream.connection(1);
  await fresh.sees('/next ');
  expect(fresh.text).not.toContain('/second');
  fresh.send(answer('ok'));
  await next.ends();
  expect(upstream.connections).toHaveLength(2);
});

test('retry: the fresh connection carries the calls after it', async () => {
  const { upstream, peer, second, send } = await secondCall({});
  hangsUp(peer);
  const fresh = await upstream.connection(1);
  await fresh.sees('/second ');
  fresh.send(answer('two'));
  await second.ends();
  const third = send({ path: '/third' });
  await fresh.sees('/third ');
  fresh.send(answer('three'));
  expect((await third.ends()).body.toString()).toBe('three');
});
