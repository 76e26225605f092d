import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect, test } from 'vitest';
import { ConnectionPools } from '../upstream/connections/connection-pools-per-origin-and-owner.js';
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

/** Deterministic pseudo-random numbers. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

const KINDS = ['fixed', 'chunked', 'until_close', 'empty', 'close', 'more', 'broken', 'early_close', 'hints'] as const;
type Kind = (typeof KINDS)[number];

/** The server's response to a request, and whether it closes the connection afterwards. */
function formatReply(kind: Kind, text: string): [string, boolean] {
  const ok = 'HTTP/1.1 200 OK\r\n';
  const fixed = `content-length: ${text.length}\r\n\r\n${text}`;
  switch (kind) {
    case 'fixed':
      return [`${ok}${fixed}`, false];
    case 'hints':
      return [`HTTP/1.1 103 Hints\r\nlink: x\r\n\r\n${ok}${fixed}`, false];
    case 'empty':
      return ['HTTP/1.1 204 No Content\r\n\r\n', false];
    case 'until_close':
      return [`${ok}\r\n${text}`, true];
    case 'close':
      return [`${ok}connection: close\r\n${fixed}`, false];
    case 'early_close':
      return [`${ok}${fixed}`, true]; // without announcing it
    case 'more':
      return [`${ok}${fixed}HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nsmuggled`, false];
    case 'broken':
      return [`${ok}content-length: ${text.length + 1}\r\n\r\n${text}`, true];
    case 'chunked': {
      const half = text.length >> 1;
      const chunk = (part: string): string => `${part.length.toString(16)};x=y\r\n${part}\r\n`;
      return [
        `${ok}transfer-encoding: chunked\r\n\r\n${chunk(text.slice(0, half))}${chunk(text.slice(half))}0\r\nt: x\r\n\r\n`,
        false,
      ];
    }
  }
}

/** Answers `/{kind}/{id}/{repeats}` with `{id}` repeated, written in one piece or in several. */
function createRandomServer(certificate: Certificate | null, random: (below: number) => number): Server {
  const accept = (socket: Socket): void => {
    let seen = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      seen += chunk.toString('latin1');
      const end = seen.indexOf('\r\n\r\n');
      if (end === -1) return;
      const [, kind, id, repeats] = seen.slice(0, seen.indexOf(' HTTP/')).split('/') as [string, Kind, string, string];
      seen = '';
      const [text, ends] = formatReply(kind, `${id},`.repeat(Number(repeats)));
      const cut = random(3) === 0 && kind !== 'more' ? random(text.length) : text.length;
      socket.write(text.slice(0, cut), 'latin1');
      setImmediate(() => {
        if (cut < text.length) socket.write(text.slice(cut), 'latin1');
        if (ends) socket.end();
      });
    });
  };
  return certificate === null ? createServer(accept) : createTlsServer(certificate, accept);
}

test.each([
  ['plain', false, false],
  ['TLS', true, false],
  ['plain, guarded', false, true],
])('concurrent calls, some paused, aborted or cut off, get their own responses: %s', async (_name, secure, guarded) => {
  const certificate = secure ? createCertificate('IP:127.0.0.1') : null;
  if (certificate !== null) trustCertificate(certificate);
  const random = createRandom(7);
  const server = createRandomServer(certificate, random);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `${secure ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pools = new ConnectionPools({
    headersTimeoutMs: 30_000,
    bodyTimeoutMs: 30_000,
    dialer: createLocalDialer({ connectTimeoutMs: 30_000 }),
  });
  const outcomes = { whole: 0, failed: 0 };

  async function one(id: number): Promise<void> {
    const kind = KINDS[random(KINDS.length)]!;
    const repeats = random(4) === 0 ? 1 + random(40_000) : random(50);
    const aborts = random(8) === 0;
    const pauses = random(3) === 0;
    const call = new RecordedRequest(acquireConnection(pools, origin, guarded ? TENANT : null, OWNER), {
      path: `/${kind}/${id}/${repeats}`,
    });
    if (pauses) call.accepts = false;
    if (aborts) {
      const turns = random(12);
      for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
      call.abort?.(new Error('aborted'));
    }
    while (!call.isFinished) {
      await new Promise((resolve) => setImmediate(resolve));
      if (call.resume !== null) call.resume();
    }
    const wanted = kind === 'empty' ? '' : `${id},`.repeat(repeats);
    const got = call.body.toString('latin1');
    expect([call.completed + call.errors, wanted.startsWith(got)]).toEqual([1, true]);
    if (call.completed === 0) {
      outcomes.failed++;
      return;
    }
    expect(kind).not.toBe('broken');
    expect(got === wanted).toBe(true);
    expect(call.status).toBe(kind === 'empty' ? 204 : 200);
    outcomes.whole++;
  }

  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < 1_500) await one(next++);
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  pools.closeGracefully();
  server.close();
  // Failed calls were aborted, cut off, or on a connection that the server was about to close.
  expect(outcomes.whole + outcomes.failed).toBe(1_500);
  expect(outcomes.whole).toBeGreaterThan(900);
});
