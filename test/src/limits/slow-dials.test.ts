/**
 * Requests per minute at the provider's door: three data planes with one Redis call a provider whose first TLS handshakes
 * take nearly a whole window, and later ones no time. Calls that are counted before they dial arrive together with those
 * of the next window. Windows are shortened; `bench/dist/rpm-limit-slow-dials.js` has the real ones, and processes.
 */
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from '@acg/dataplane/call/testing/proxy-fixture';
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import {
  createCertificate,
  trustCertificate,
} from '@acg/dataplane/upstream/testing/dialer-recorder-certificate-fixture';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countInFullestWindow } from '../fixtures/arrival-windows.js';
import { RedisServer } from '../fixtures/redis-server.js';
import { TcpProxy } from '../fixtures/tcp-proxy.js';
import { CountingMetrics, silentLogger } from './counters-fixture.js';

const LIMIT = 20;
const WINDOW_MS = 2_000;
/**
 * How much longer the store holds the window. 30 ms in production; here as long as a loaded machine may take from the
 * store's answer to the provider's journal.
 */
const MARGIN_MS = 1_000;
const SLOW_DIAL_MS = 1_900;
const BURSTS = 24;
const BURST_CALLS = 15;
const GAP_MS = 250;
/** The dials of these bursts are slow. */
const SLOW_BURSTS = 4;

let redis: RedisServer;
let provider: Server;
let proxy: TcpProxy;
const planes: ProxyFixture[] = [];
const counters: RedisCounters[] = [];
/** Instants at which calls reached the provider, `performance.now()`. */
const arrivalsMs: number[] = [];

beforeAll(async () => {
  redis = await RedisServer.start();
  const certificate = createCertificate('IP:127.0.0.1');
  trustCertificate(certificate);
  provider = createServer(certificate, (call, response) => {
    arrivalsMs.push(performance.now());
    call.resume();
    // Half of the connections are kept.
    response.writeHead(200, arrivalsMs.length % 2 === 0 ? { connection: 'close' } : {}).end('{}');
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  proxy = await TcpProxy.start((provider.address() as AddressInfo).port);
  const upstream = createUpstream(`https://127.0.0.1:${proxy.port}`);
  const agentLimits = createTestLimits({ agentId: 'agent-1', rpmLimit: LIMIT, rpdLimit: 1_000_000 });
  for (let plane = 0; plane < 3; plane++) {
    const options = {
      urls: [redis.url],
      connectionName: 'acg-test',
      tlsCa: null,
      timeoutMs: 60_000,
      windows: { minute: WINDOW_MS + MARGIN_MS },
    };
    const store = new RedisCounters(options, silentLogger, new CountingMetrics());
    await store.waitForStoreAndCheckEviction();
    counters.push(store);
    const context = createContext([upstream], { agentLimits });
    planes.push(await ProxyFixture.start(context, {}, null, {}, { counters: store }));
  }
});

afterAll(async () => {
  await Promise.all(planes.map((plane) => plane.stop()));
  await Promise.all(counters.map((store) => store.close()));
  await proxy.stop();
  provider.closeAllConnections();
  provider.close();
  await redis.stop();
});

test('no window at the provider holds more calls than the limit, however long connects take', async () => {
  const dispatcher = new Agent({ connections: 400 });
  const statuses = new Map<number, number>();
  const call = async (index: number): Promise<void> => {
    const { statusCode, body } = await request(
      `http://127.0.0.1:${planes[index % planes.length]!.port}/v1/proxy/openai/${index}`,
      { headers: { authorization: `Bearer ${GATEWAY_TOKEN}` }, dispatcher },
    );
    await body.dump();
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
  };
  const calls: Promise<void>[] = [];
  for (let burst = 0; burst < BURSTS; burst++) {
    proxy.connectDelayMs = () => (burst < SLOW_BURSTS ? SLOW_DIAL_MS * (1 - Math.random() / 10) : 0);
    for (let i = 0; i < BURST_CALLS; i++) calls.push(call(calls.length));
    await new Promise((resolve) => setTimeout(resolve, GAP_MS));
  }
  await Promise.all(calls);
  await dispatcher.close();
  expect([...statuses.keys()].sort()).toEqual([200, 429]);
  expect(arrivalsMs).toHaveLength(statuses.get(200)!);
  // The limit was reached, and windows that followed were used, too.
  expect(arrivalsMs.length).toBeGreaterThan(LIMIT);
  expect(countInFullestWindow(arrivalsMs, WINDOW_MS)).toBeLessThanOrEqual(LIMIT);
  expect(planes.map(({ bugs }) => bugs)).toEqual([0, 0, 0]);
});
