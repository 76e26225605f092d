/** How a server is asked whether it is there. */
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSocketFactory } from './dead-peer-detection.js';

const TIMEOUTS = { idleMs: 10, probeTimeoutMs: 600_000 };
let server: Server;
let accepted: Socket[];
let watched: Socket;

beforeEach(async () => {
  accepted = [];
  server = createServer((socket) => void accepted.push(socket.on('error', () => {})));
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  watched.destroy();
  for (const socket of accepted) socket.destroy();
  server.close();
});

async function watch(): Promise<void> {
  const { port } = server.address() as AddressInfo;
  watched = createSocketFactory(TIMEOUTS)({ host: ['127.0.0.1'], port: [port] });
  watched.on('error', () => {});
  await once(watched, 'connect');
}

test('database: a process that cannot ask, having no descriptor left, does not take the server for gone', async () => {
  let asked = 0;
  const opened = channel('net.client.socket');
  const fail = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    if (socket === watched) return; // Node 24 tells of it, too
    asked++;
    process.nextTick(() => socket.destroy(Object.assign(new Error('no descriptor'), { code: 'EMFILE' })));
  };
  opened.subscribe(fail);
  try {
    await watch(); // it begins to ask by itself
    await expect.poll(() => asked).toBeGreaterThan(3);
    expect(watched.destroyed).toBe(false);
  } finally {
    opened.unsubscribe(fail);
  }
});

test('database: a server that speaks TLS is left when it does, as it logs whoever goes before', async () => {
  await watch();
  await expect.poll(() => accepted.length).toBe(2);
  const asking = accepted[1]!;
  await once(asking, 'data');
  asking.write('S');
  const [hello] = (await once(asking, 'data')) as [Buffer];
  expect(hello[0]).toBe(22);
  asking.destroy();
  await expect.poll(() => accepted.length).toBeGreaterThan(2);
  expect(watched.destroyed).toBe(false);
});

test('database: of several hosts the first that can be reached is kept to; which one takes writes is looked for in turn', async () => {
  const { port } = server.address() as AddressInfo;
  const nobody = 1;
  const to = { host: ['127.0.0.1', '127.0.0.1', '127.0.0.1'], port: [nobody, port, nobody] };
  const portOf = (socket: Socket): number => {
    watched = socket.on('error', () => {});
    return (socket as Socket & { port: number }).port;
  };
  const first = createSocketFactory(TIMEOUTS);
  expect(portOf(first(to))).toBe(nobody);
  await new Promise((closed) => watched.once('close', closed));
  for (let n = 0; n < 3; n++) {
    expect(portOf(first(to))).toBe(port);
    await once(watched, 'connect');
    watched.destroy();
  }
  const inTurn = createSocketFactory(TIMEOUTS);
  const asked = Array.from({ length: 4 }, () => {
    const at = portOf(inTurn({ ...to, target_session_attrs: 'read-write' }));
    watched.destroy();
    return at;
  });
  expect(asked).toEqual([nobody, port, nobody, nobody]);
});
