/** Retries on connections that the upstream closed at the moment of the next call. */

import { afterEach, expect, test } from 'vitest';
import { type RawPeer, RawUpstream } from '../call/testing/raw-peer-fixture.js';
import { ConnectionPools } from '../upstream/connections/connection-pools-per-origin-and-owner.js';
import { createLocalDialer, OWNER, RecordedRequest } from '../upstream/testing/dialer-recorder-certificate-fixture.js';
import type { UpstreamRequest } from './upstream-request-interface.js';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const answer = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/** Creates a connection that has carried one call, and sends a second call that the peer has received. */
async function startSecondCall(given: Partial<UpstreamRequest>) {
  const upstream = await RawUpstream.start();
  const pools = new ConnectionPools({ headersTimeoutMs: 60_000, bodyTimeoutMs: 60_000, dialer: createLocalDialer() });
  closing.push(
    () => pools.closeGracefully(),
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

const closeConnection = (peer: RawPeer): void => void peer.socket.destroy();
const resetConnection = (peer: RawPeer): void => void peer.socket.resetAndDestroy();

test.each([
  ['GET', 'is closed', closeConnection],
  ['GET', 'is reset', resetConnection],
  ['HEAD', 'is closed', closeConnection],
  ['PUT', 'is closed', closeConnection],
  ['DELETE', 'is closed', closeConnection],
] as const)('retries %s on a new connection when the reused one %s', async (method, _how, ends) => {
  const body = method === 'PUT' ? Buffer.from('the body') : null;
  const { upstream, peer, second } = await startSecondCall({ method, body });
  ends(peer);
  const fresh = await upstream.connection(1);
  await fresh.waitForText(method === 'PUT' ? 'the body' : '\r\n\r\n');
  expect(fresh.text).toBe(peer.text.slice(peer.text.indexOf(`${method} /second `)));
  fresh.send(method === 'HEAD' ? 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n' : answer('two'));
  expect((await second.waitForEnd()).body.toString()).toBe(method === 'HEAD' ? '' : 'two');
  expect(second.errors).toBe(0);
});

test.each([
  ['POST', { method: 'POST', body: Buffer.from('x') }],
  ['PATCH', { method: 'PATCH', body: Buffer.from('x') }],
  ['a call with a condition', { method: 'PUT', headers: ['If-Match', '"1"'], body: Buffer.from('x') }],
] as const)('does not retry %s', async (_what, given) => {
  const { upstream, peer, second } = await startSecondCall(given as unknown as Partial<UpstreamRequest>);
  closeConnection(peer);
  await second.waitForError();
  expect(upstream.connections).toHaveLength(1);
});

test('does not retry after the first byte of the response', async () => {
  const { upstream, peer, second } = await startSecondCall({});
  peer.send('H');
  peer.socket.end();
  await second.waitForError();
  expect(upstream.connections).toHaveLength(1);
});

test('retries once, and never on a new connection', async () => {
  const { upstream, peer, second } = await startSecondCall({});
  closeConnection(peer);
  const fresh = await upstream.connection(1);
  await fresh.waitForText('/second ');
  closeConnection(fresh);
  await second.waitForError();
  expect(upstream.connections).toHaveLength(2);
});

test('does not retry a call that the agent aborted', async () => {
  const { upstream, second, send } = await startSecondCall({});
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

test('reuses the new connection for later calls', async () => {
  const { upstream, peer, second, send } = await startSecondCall({});
  closeConnection(peer);
  const fresh = await upstream.connection(1);
  await fresh.waitForText('/second ');
  fresh.send(answer('two'));
  await second.waitForEnd();
  const third = send({ path: '/third' });
  await fresh.waitForText('/third ');
  fresh.send(answer('three'));
  expect((await third.waitForEnd()).body.toString()).toBe('three');
});
