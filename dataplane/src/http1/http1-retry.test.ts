/** Connections that the upstream closed in the moment in which the next call went out. */

import { afterEach, expect, test } from 'vitest';
import { type RawPeer, RawUpstream } from '../call/testing/raw-peer-fixture.js';
import { ConnectionPools } from '../upstream/connections/connection-pools.js';
import { createLocalDialer, OWNER, RecordedRequest } from '../upstream/testing/upstream-request-fixture.js';
import type { UpstreamRequest } from './upstream-request.js';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const answer = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/** A connection that has carried a call, and a next call that has arrived on it. */
async function secondCall(given: Partial<UpstreamRequest>) {
  const upstream = await RawUpstream.start();
  const pools = new ConnectionPools({ headersTimeoutMs: 60_000, bodyTimeoutMs: 60_000, dialer: createLocalDialer() });
  closing.push(
    () => pools.close(),
    () => upstream.stop(),
  );
  const send = (more: Partial<UpstreamRequest>): RecordedRequest =>
    new RecordedRequest(pools.acquire(upstream.origin, null, OWNER), more);
  const first = send({ path: '/first' });
  const peer = await upstream.connection();
  await peer.waitForText('/first ');
  peer.send(answer('one'));
  await first.waitForEnd();
  const second = send({ path: '/second', ...given });
  await peer.waitForText('/second ');
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
    await fresh.waitForText(method === 'PUT' ? 'the body' : '\r\n\r\n');
    expect(fresh.text).toBe(peer.text.slice(peer.text.indexOf(`${method} /second `)));
    fresh.send(method === 'HEAD' ? 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n' : answer('two'));
    expect((await second.waitForEnd()).body.toString()).toBe(method === 'HEAD' ? '' : 'two');
    expect(second.errors).toBe(0);
  },
);

test.each([
  ['POST', { method: 'POST', body: Buffer.from('x') }],
  ['PATCH', { method: 'PATCH', body: Buffer.from('x') }],
  ['a call with a condition', { method: 'PUT', headers: ['If-Match', '"1"'], body: Buffer.from('x') }],
] as const)('retry: %s does not', async (_what, given) => {
  const { upstream, peer, second } = await secondCall(given as unknown as Partial<UpstreamRequest>);
  hangsUp(peer);
  await second.waitForError();
  expect(upstream.connections).toHaveLength(1);
});

test('retry: not once a byte of the answer is here', async () => {
  const { upstream, peer, second } = await secondCall({});
  peer.send('H');
  peer.socket.end();
  await second.waitForError();
  expect(upstream.connections).toHaveLength(1);
});

test('retry: once, and never of a connection that is new', async () => {
  const { upstream, peer, second } = await secondCall({});
  hangsUp(peer);
  const fresh = await upstream.connection(1);
  await fresh.waitForText('/second ');
  hangsUp(fresh);
  await second.waitForError();
  expect(upstream.connections).toHaveLength(2);
});

test('retry: a call that its agent has left is not sent again', async () => {
  const { upstream, second, send } = await secondCall({});
  second.abort!(new Error('gone'));
  await second.waitForError();
  const next = send({ path: '/next' });
  const fresh = await upstream.connection(1);
  await fresh.waitForText('/next ');
  expect(fresh.text).not.toContain('/second');
  fresh.send(answer('ok'));
  await next.waitForEnd();
  expect(upstream.connections).toHaveLength(2);
});

test('retry: the fresh connection carries the calls after it', async () => {
  const { upstream, peer, second, send } = await secondCall({});
  hangsUp(peer);
  const fresh = await upstream.connection(1);
  await fresh.waitForText('/second ');
  fresh.send(answer('two'));
  await second.waitForEnd();
  const third = send({ path: '/third' });
  await fresh.waitForText('/third ');
  fresh.send(answer('three'));
  expect((await third.waitForEnd()).body.toString()).toBe('three');
});
