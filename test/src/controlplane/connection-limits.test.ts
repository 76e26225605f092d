/**
 * Unauthenticated clients that open connections and send nothing: each port bounds its connections and closes silent
 * ones after 10 s.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';

const sockets: Socket[] = [];
let plane: TestControlPlane | null = null;
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await plane?.stop();
  plane = null;
});

/** Silent connections, each open in the server or closed by it. */
async function openSilentConnections(port: number, count: number): Promise<readonly Socket[]> {
  const opened = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1', allowHalfOpen: false }));
  for (const socket of opened) {
    sockets.push(socket.resume());
    socket.on('error', () => {});
    await once(socket, 'connect');
  }
  return opened;
}

/** Reads a value from /metrics by name and labels. */
async function readMetric(line: string): Promise<number> {
  const { body } = await plane!.call('GET', '/metrics');
  return Number(new RegExp(`^${line.replace(/[{}]/g, '\\$&')} (.*)$`, 'm').exec(body)?.[1]);
}

const CONNECTION_LIMITS = {
  CONTROLPLANE_MAX_CONNECTIONS: '8',
  GRPC_MAX_CONNECTIONS: '2',
  CONTROLPLANE_METRICS_PORT: '',
};

test('the API port closes further connections when full and silent ones after 10 s, then serves again', async () => {
  plane = await startControlPlane(CONNECTION_LIMITS);
  const port = Number(new URL(plane.url).port);
  const since = performance.now();
  const opened = await openSilentConnections(port, 12);
  await expect.poll(() => opened.filter(({ closed }) => closed).length).toBe(4);
  await expect(plane.call('GET', '/healthz')).rejects.toThrow();
  await expect.poll(() => opened.filter(({ closed }) => closed).length, { timeout: 30_000 }).toBe(12);
  expect(performance.now() - since).toBeGreaterThan(9_000);
  expect((await plane.call('GET', '/healthz')).status).toBe(200);
  expect(await readMetric('gateway_control_connections_rejected_total{reason="api_total"}')).toBeGreaterThanOrEqual(5);
  expect(await readMetric('gateway_control_connections_rejected_total{reason="api_idle"}')).toBe(8);
  expect(await readMetric('gateway_control_connections')).toBeGreaterThanOrEqual(1);
  expect(plane.logLines.filter((line) => line.includes('connection to the API port closed'))).toHaveLength(1);
});

test('the gRPC port closes further connections when full and silent ones after 10 s', async () => {
  plane = await startControlPlane(CONNECTION_LIMITS);
  const opened = await openSilentConnections(Number(plane.grpcAddress.split(':')[1]), 4);
  await expect.poll(() => opened.filter(({ closed }) => closed).length).toBe(2);
  expect(await readMetric('gateway_control_grpc_connections')).toBe(2);
  await expect.poll(() => opened.filter(({ closed }) => closed).length, { timeout: 30_000 }).toBe(4);
  expect(await readMetric('gateway_control_connections_rejected_total{reason="grpc_total"}')).toBe(2);
  expect(await readMetric('gateway_control_connections_rejected_total{reason="grpc_idle"}')).toBe(2);
});

test('a request head that trickles in gets 408', async () => {
  plane = await startControlPlane();
  const [socket] = await openSilentConnections(Number(new URL(plane.url).port), 1);
  let answer = '';
  socket!.on('data', (bytes) => {
    answer += String(bytes);
  });
  socket!.write('GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ');
  const drops = setInterval(() => socket!.write('a'), 500);
  await once(socket!, 'close');
  clearInterval(drops);
  expect(answer).toMatch(/^HTTP\/1.1 408 /);
});
