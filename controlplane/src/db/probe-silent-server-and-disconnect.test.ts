/** Tests the detection of a dead Postgres server. */
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSocketFactory } from './probe-silent-server-and-disconnect.js';

const TEST_TIMEOUTS = { idleMs: 10, probeTimeoutMs: 600_000 };
let server: Server;
let accepted: Socket[];
let monitored: Socket;

beforeEach(async () => {
  accepted = [];
  server = createServer((socket) => void accepted.push(socket.on('error', () => {})));
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  monitored.destroy();
  for (const socket of accepted) socket.destroy();
  server.close();
});

async function connectMonitoredSocket(): Promise<void> {
  const { port } = server.address() as AddressInfo;
  monitored = createSocketFactory(TEST_TIMEOUTS)({ host: ['127.0.0.1'], port: [port] });
  monitored.on('error', () => {});
  await once(monitored, 'connect');
}

test('a process without free descriptors does not declare the server dead', async () => {
  let probes = 0;
  const opened = channel('net.client.socket');
  const fail = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    if (socket === monitored) return; // Node 24 reports this socket, too
    probes++;
    process.nextTick(() => socket.destroy(Object.assign(new Error('no descriptor'), { code: 'EMFILE' })));
  };
  opened.subscribe(fail);
  try {
    await connectMonitoredSocket(); // probes start by themselves
    await expect.poll(() => probes).toBeGreaterThan(3);
    expect(monitored.destroyed).toBe(false);
  } finally {
    opened.unsubscribe(fail);
  }
});

test('a probe of a TLS server completes the handshake, because the server logs aborted ones', async () => {
  await connectMonitoredSocket();
  await expect.poll(() => accepted.length).toBe(2);
  const probe = accepted[1]!;
  await once(probe, 'data');
  probe.write('S');
  const [hello] = (await once(probe, 'data')) as [Buffer];
  expect(hello[0]).toBe(22);
  probe.destroy();
  await expect.poll(() => accepted.length).toBeGreaterThan(2);
  expect(monitored.destroyed).toBe(false);
});

test('keeps to the first reachable host, and tries hosts in turn when a writable one is required', async () => {
  const { port } = server.address() as AddressInfo;
  const closedPort = 1;
  const address = { host: ['127.0.0.1', '127.0.0.1', '127.0.0.1'], port: [closedPort, port, closedPort] };
  const portOf = (socket: Socket): number => {
    monitored = socket.on('error', () => {});
    return (socket as Socket & { port: number }).port;
  };
  const keepFirstReachable = createSocketFactory(TEST_TIMEOUTS);
  expect(portOf(keepFirstReachable(address))).toBe(closedPort);
  await new Promise((closed) => monitored.once('close', closed));
  for (let n = 0; n < 3; n++) {
    expect(portOf(keepFirstReachable(address))).toBe(port);
    await once(monitored, 'connect');
    monitored.destroy();
  }
  const tryInTurn = createSocketFactory(TEST_TIMEOUTS);
  const ports = Array.from({ length: 4 }, () => {
    const triedPort = portOf(tryInTurn({ ...address, target_session_attrs: 'read-write' }));
    monitored.destroy();
    return triedPort;
  });
  expect(ports).toEqual([closedPort, port, closedPort, closedPort]);
});
