import { connect, createServer } from 'node:net';
import { bytesToClientNetworkKey } from '@acg/base/client-network-key';
import { expect, test } from 'vitest';
import { AddressConnectionLimiter } from './address-connection-limiter.js';
import { addConnectionCounts, countConnectionsToPort } from './count-connections-per-network.js';

const v4 = (text: string): Buffer => Buffer.from(text.split('.').map(Number));
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function scene(perAddressMax = 4) {
  const real = new Map<string, number>();
  const state = { warnings: 0, recounts: 0, known: true };
  const connections = new AddressConnectionLimiter({
    perAddressMax,
    isExempt: (address) => address === '10.0.0.1',
    countConnections: async () => {
      state.recounts++;
      return state.known ? new Map(real) : null;
    },
    log: { warn: () => void state.warnings++ } as never,
  });
  const open = (address: string): boolean => {
    const network = bytesToClientNetworkKey(v4(address));
    real.set(network, (real.get(network) ?? 0) + 1); // the kernel knows it first
    const admitted = connections.tryOpenConnection(v4(address), () => address);
    if (!admitted) real.set(network, real.get(network)! - 1);
    return admitted;
  };
  const times = (n: number, address: string): number =>
    Array.from({ length: n }, () => open(address)).filter(Boolean).length;
  return { open, times, state, real };
}

test('connection limiter: bounds one address without affecting others, and logs it once', () => {
  const { times, state } = scene();
  expect(times(20, '192.0.2.1')).toBe(4);
  expect(times(4, '192.0.2.2')).toBe(4);
  expect(state.warnings).toBe(1);
});

test('connection limiter: ended connections do not count', async () => {
  const { times, real, state } = scene();
  expect(times(2, '192.0.2.1')).toBe(2);
  real.clear(); // both have ended; the server does not report that
  expect(times(1, '192.0.2.1')).toBe(1);
  await tick();
  expect(state.recounts).toBe(1);
  expect(times(9, '192.0.2.1')).toBe(3);
});

test('connection limiter: exempts front proxies, and rejects no connection where the kernel cannot be queried', async () => {
  expect(scene().times(100, '10.0.0.1')).toBe(100);
  const { times, state } = scene();
  state.known = false;
  times(4, '192.0.2.1');
  await tick();
  expect(times(100, '192.0.2.1')).toBe(100);
});

test('connection limiter: counts IPv6 by /64 and IPv4-mapped addresses as IPv4', () => {
  const v6 = (hex: string): Buffer => Buffer.from(hex.padEnd(32, '0'), 'hex');
  expect(bytesToClientNetworkKey(v6('20010db800010002aaaa'))).toBe(bytesToClientNetworkKey(v6('20010db800010002bbbb')));
  expect(bytesToClientNetworkKey(v6('20010db800010002'))).not.toBe(bytesToClientNetworkKey(v6('20010db800010003')));
  expect(bytesToClientNetworkKey(Buffer.from('00000000000000000000ffffc0000201', 'hex'))).toBe(
    bytesToClientNetworkKey(v4('192.0.2.1')),
  );
});

test('connection limiter: parses the kernel’s tables', () => {
  const counts = new Map<string, number>();
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1
   1: 0100007F:1F91 010200C0:C350 01 00000000:00000000 00:00000000 00000000     0        0 2
   2: 0100007F:1F91 010200C0:C351 08 00000000:00000000 00:00000000 00000000     0        0 3
   3: 0100007F:1F91 010200C0:C352 06 00000000:00000000 00:00000000 00000000     0        0 4
   4: 0100007F:1F90 020200C0:C353 01 00000000:00000000 00:00000000 00000000     0        0 5
`;
  addConnectionCounts(table, 8081, counts);
  const mapped = `   0: 0000000000000000FFFF00000100007F:1F91 0000000000000000FFFF0000010200C0:C354 01 0:0 0:0 0 0 0 6`;
  addConnectionCounts(mapped, 8081, counts);
  expect([...counts]).toEqual([[bytesToClientNetworkKey(v4('192.0.2.1')), 3]]);
});

test('connection limiter: reads the tables of this machine’s kernel', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const accepted = new Promise((resolve) => server.once('connection', resolve));
  const client = connect(port, '127.0.0.1');
  await accepted;
  const counts = await countConnectionsToPort(port);
  client.destroy();
  server.close();
  if (process.platform === 'linux') expect(counts?.get(bytesToClientNetworkKey(v4('127.0.0.1')))).toBe(1);
});
