import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { ConnectionLimits, type ConnectionRejection } from './connection-limits.js';
import { defaultConnectionLimits, descriptorsMax } from './connection-limits-from-descriptors.js';

const servers: Server[] = [];
const clients: Socket[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, 'close');
  }
});

interface TestLimits {
  readonly connectionsMax?: number;
  readonly perNetworkMax?: number;
  readonly firstByteTimeoutMs?: number;
  readonly exempt?: string;
}

/**
 * Starts a server with these limits. Clients connect from any address of 127.0.0.0/8; each /24 counts as one network.
 */
async function startLimitedServer({
  connectionsMax = 100,
  perNetworkMax = 100,
  firstByteTimeoutMs = 60_000,
  exempt = '',
}: TestLimits) {
  const rejections: ConnectionRejection[] = [];
  const warnings: string[] = [];
  const limits = new ConnectionLimits({
    port: 'the test port',
    connectionsMax,
    perNetworkMax,
    firstByteTimeoutMs,
    networkOf: (address) => address.split('.').slice(0, 3).join('.'),
    isExempt: (address) => address === exempt,
    onReject: (reason) => rejections.push(reason),
    log: { warn: (...line: unknown[]) => void warnings.push(String(line[1])) } as never,
  });
  const server = createServer();
  servers.push(server);
  limits.install(server);
  server.on('connection', (socket) => {
    socket.on('error', () => {});
    if (!socket.destroyed) socket.resume().write('hello');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  /** Opens a connection. Null: the server closed it at once. */
  const open = async (localAddress = '127.0.0.1'): Promise<Socket | null> => {
    const client = connect({ port, host: '127.0.0.1', localAddress });
    clients.push(client);
    client.on('error', () => {});
    const first = await Promise.race([once(client, 'data'), once(client, 'close')]);
    return Buffer.isBuffer(first[0]) ? client.resume() : null;
  };
  return { limits, rejections, warnings, open };
}

test('closes connections above the total limit, and accepts new ones when others have closed', async () => {
  const { limits, rejections, warnings, open } = await startLimitedServer({ connectionsMax: 3 });
  const first = await open();
  await open();
  await open();
  expect(await open()).toBeNull();
  expect(await open('127.0.1.1')).toBeNull();
  expect(rejections).toEqual(['total', 'total']);
  expect(warnings).toEqual(['connection to the test port closed: the port has reached its connection limit']);
  first!.destroy();
  await expect.poll(() => limits.openConnections).toBe(2);
  expect(await open()).not.toBeNull();
});

test('closes connections above the limit of a network, but not those of other networks or exempt addresses', async () => {
  const { limits, rejections, open } = await startLimitedServer({ perNetworkMax: 2, exempt: '127.0.2.1' });
  const first = await open('127.0.1.1');
  await open('127.0.1.2');
  expect(await open('127.0.1.3')).toBeNull();
  expect(await open('127.0.3.1')).not.toBeNull();
  for (let n = 0; n < 4; n++) expect(await open('127.0.2.1')).not.toBeNull();
  expect(rejections).toEqual(['network']);
  first!.destroy();
  await expect.poll(() => limits.openConnections).toBe(6);
  expect(await open('127.0.1.3')).not.toBeNull();
});

test('closes a connection without a first byte after the timeout, and keeps one that sent a byte', async () => {
  const { limits, rejections, open } = await startLimitedServer({ firstByteTimeoutMs: 300 });
  const speaking = await open();
  speaking!.write('a byte');
  const silent = await open();
  await once(silent!, 'close');
  expect(rejections).toEqual(['idle']);
  expect(speaking!.destroyed).toBe(false);
  await expect.poll(() => limits.openConnections).toBe(1);
});

test.each([
  [256, { api: 64, link: 64 }],
  [700, { api: 141, link: 64 }],
  [1_024, { api: 384, link: 128 }],
  [20_000, { api: 8_192, link: 1_024 }],
  [Number.POSITIVE_INFINITY, { api: 8_192, link: 1_024 }],
])('default connection limits with %s file descriptors', (descriptors, expected) => {
  expect(defaultConnectionLimits(descriptors)).toEqual(expected);
});

test('reads the descriptor limit of this process, or Infinity', () => {
  expect(descriptorsMax()).toBeGreaterThan(200);
});
