import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import type { DialerOptions } from '@acg/base/dialer/dialer';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  acquireConnection,
  type Certificate,
  createCertificate,
  createLocalDialer,
  OWNER,
  RecordedRequest,
  TENANT,
  trustCertificate,
} from '../testing/dialer-recorder-certificate-fixture.js';
import { ConnectionPools, classifyFailure } from './connection-pools-per-origin-and-owner.js';

let trusted: Certificate;
let untrusted: Certificate;
beforeAll(() => {
  trusted = createCertificate('DNS:localhost,IP:127.0.0.1');
  untrusted = createCertificate('DNS:localhost,IP:127.0.0.1');
  trustCertificate(trusted);
});

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Handshake {
  readonly servername: string | false | null;
  readonly resumed: boolean;
  readonly alpn: string | false | null;
  readonly version: string | null;
}

/** Answers each request and closes the connection after the response. */
async function startTlsServer(
  options: TlsOptions,
): Promise<{ port: number; handshakes: Handshake[]; requests: () => number }> {
  const handshakes: Handshake[] = [];
  let requests = 0;
  const server = createTlsServer({ ALPNProtocols: ['h2', 'http/1.1'], ...options }, (socket: TLSSocket) => {
    handshakes.push({
      servername: socket.servername as Handshake['servername'],
      resumed: socket.isSessionReused(),
      alpn: socket.alpnProtocol,
      version: socket.getProtocol(),
    });
    socket.on('error', () => {});
    socket.once('data', () => {
      requests++;
      socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok');
    });
  });
  server.on('tlsClientError', () => {});
  return { port: await listenOnLoopback(server), handshakes, requests: () => requests };
}

function listenOnLoopback(server: Server): Promise<number> {
  closing.push(() => server.close());
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
}

function createPools(connectTimeoutMs = 5_000, over: Partial<DialerOptions> = {}): ConnectionPools {
  const created = new ConnectionPools({
    headersTimeoutMs: 60_000,
    bodyTimeoutMs: 60_000,
    dialer: createLocalDialer({ connectTimeoutMs, ...over }),
  });
  closing.push(() => created.closeGracefully());
  return created;
}

describe.each([
  ['operator', false],
  ['guarded', true],
])('TLS: %s connections', (_name, guarded) => {
  test('send the host name as SNI, offer only HTTP/1.1, and complete the call', async () => {
    const server = await startTlsServer(trusted);
    const from = createPools();
    const call = new RecordedRequest(
      acquireConnection(from, `https://localhost:${server.port}`, guarded ? TENANT : null, OWNER),
    );
    expect((await call.waitForEnd()).body.toString()).toBe('ok');
    expect(server.handshakes).toEqual([
      { servername: 'localhost', resumed: false, alpn: 'http/1.1', version: 'TLSv1.3' },
    ]);
  });

  test('send no SNI for an IP address, and check the certificate for that address', async () => {
    const server = await startTlsServer(trusted);
    const call = new RecordedRequest(
      acquireConnection(createPools(), `https://127.0.0.1:${server.port}`, guarded ? TENANT : null, OWNER),
    );
    await call.waitForEnd();
    expect(server.handshakes[0]!.servername).toBe(false);
  });

  test.each([
    ['of an unknown issuer', () => untrusted, 'localhost'],
    ['for another name', () => makeAndTrust('DNS:other.example'), 'localhost'],
    ['for another address', () => makeAndTrust('DNS:localhost,IP:127.0.0.2'), '127.0.0.1'],
  ])('reject a certificate %s before any byte of the request is sent', async (_what, certificate, host) => {
    const server = await startTlsServer(certificate());
    const call = new RecordedRequest(
      acquireConnection(createPools(), `https://${host}:${server.port}`, guarded ? TENANT : null, OWNER),
    );
    const error = await call.waitForError();
    expect(classifyFailure(error, call.abort !== null)).toBe('connect');
    expect(call.heads).toEqual([]);
    expect(server.requests()).toBe(0);
  });

  test('time out when the server sends no TLS handshake', async () => {
    let accepted: ((socket: Socket) => void) | null = null;
    const arrival = new Promise<Socket>((resolve) => {
      accepted = resolve;
    });
    const port = await listenOnLoopback(createTcpServer((socket) => accepted!(socket)));
    const call = new RecordedRequest(
      acquireConnection(createPools(50), `https://localhost:${port}`, guarded ? TENANT : null, OWNER),
    );
    expect(classifyFailure(await call.waitForError(), false)).toBe('timeout');
    const socket = await arrival;
    if (!socket.destroyed)
      await new Promise((resolve) =>
        socket
          .resume()
          .on('error', () => {})
          .once('close', resolve),
      );
  });

  test('fail when the server speaks plain HTTP', async () => {
    const port = await listenOnLoopback(
      createTcpServer((socket) => {
        socket.on('error', () => {});
        socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      }),
    );
    const call = new RecordedRequest(
      acquireConnection(createPools(), `https://localhost:${port}`, guarded ? TENANT : null, OWNER),
    );
    expect(classifyFailure(await call.waitForError(), false)).toBe('connect');
  });
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)('TLS: later handshakes resume the session: %s', async (version) => {
  const server = await startTlsServer({ ...trusted, minVersion: version, maxVersion: version });
  const from = createPools();
  for (let i = 0; i < 3; i++) {
    await new RecordedRequest(acquireConnection(from, `https://localhost:${server.port}`, null, OWNER)).waitForEnd();
  }
  expect(server.handshakes.map(({ resumed }) => resumed)).toEqual([false, true, true]);
});

test('TLS: a session is resumed only for its own origin and only by the same pools', async () => {
  const server = await startTlsServer(trusted);
  const from = createPools();
  await new RecordedRequest(acquireConnection(from, `https://localhost:${server.port}`, null, OWNER)).waitForEnd();
  await new RecordedRequest(acquireConnection(from, `https://127.0.0.1:${server.port}`, null, OWNER)).waitForEnd();
  await new RecordedRequest(
    acquireConnection(createPools(), `https://localhost:${server.port}`, null, OWNER),
  ).waitForEnd();
  expect(server.handshakes.map(({ resumed }) => resumed)).toEqual([false, false, false]);
});

test('TLS: tenant and operator connections never share a session', async () => {
  const server = await startTlsServer(trusted);
  const from = createPools();
  const origin = `https://localhost:${server.port}`;
  for (const tenant of [TENANT, null, TENANT, null])
    await new RecordedRequest(acquireConnection(from, origin, tenant, OWNER)).waitForEnd();
  expect(server.handshakes.map(({ resumed }) => resumed)).toEqual([false, false, true, true]);
});

test.each([
  ['plain', false],
  ['TLS', true],
])('connects to the next address of a name when the first does not answer: %s', async (_name, secure) => {
  const answer = (socket: Socket): void => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok'));
  };
  const certificate = makeAndTrust('DNS:two-addresses.test');
  const port = await listenOnLoopback(secure ? createTlsServer(certificate, answer) : createTcpServer(answer));
  const addresses = [
    { address: '127.0.0.2', family: 4 },
    { address: '::1', family: 6 },
    { address: '127.0.0.1', family: 4 },
  ];
  const names = { resolve: async () => addresses };
  const origin = `${secure ? 'https' : 'http'}://two-addresses.test:${port}`;
  const call = new RecordedRequest(
    acquireConnection(createPools(5_000, { operatorNames: names }), origin, null, OWNER),
  );
  expect((await call.waitForEnd()).body.toString()).toBe('ok');
});

function makeAndTrust(names: string): Certificate {
  const certificate = createCertificate(names);
  trustCertificate(certificate);
  return certificate;
}
