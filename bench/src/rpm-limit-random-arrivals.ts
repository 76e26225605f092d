/**
 * The RPM limit at the provider: random arrivals at two data planes with two workers for 75 s (or the given seconds),
 * then the fullest 60 s window at any position among the calls that reached the provider.
 *
 *   node bench/dist/rpm-limit-random-arrivals.js [seconds]
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { countInFullestWindow, shortestSpanMs } from '@acg/test/fixtures/arrival-windows';
import { Agent, request } from 'undici';
import { startGateway } from './gateway-stack.js';
import { tearDown, tearDownOnSignals } from './teardown.js';

const LIMIT = 50;
const WINDOW_MS = 60_000;
/** Mean gap between bursts; far more requests than the limit allows. */
const GAP_MS = 40;
const BURST_MAX = 4;

tearDownOnSignals();
const seconds = Number(process.argv[2] ?? 75);
const arrivalsMs: number[] = [];
const provider = createServer((call, response) => {
  arrivalsMs.push(performance.now());
  call.resume();
  response.end('{}');
});
provider.listen(0, '127.0.0.1');
await once(provider, 'listening');
const origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
const gateway = await startGateway({ origin, trust: {} }, { DATAPLANE_WORKERS: '2', COUNTERS_TIMEOUT_MS: '5000' });
const urls = [gateway.url, (await gateway.stack.addDataPlane()).url];
const agent = await gateway.tenant.createAgent({ name: 'Random', rpmLimit: LIMIT, rpdLimit: 1_000_000 });
await gateway.tenant.createAccount(agent.id, 'openai', { apiKey: 'sk-real-0123456789' });
const token = await gateway.tenant.createToken(agent.id);
const dispatcher = new Agent({ connections: 64 });

const statuses = new Map<number, number>();
async function call(url: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const { statusCode, body } = await request(`${url}/v1/proxy/openai/v1/models`, { headers, dispatcher });
  await body.dump();
  statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
}

const pending: Promise<void>[] = [];
const end = performance.now() + seconds * 1000;
while (performance.now() < end) {
  const burst = Math.ceil(Math.random() * BURST_MAX);
  for (let i = 0; i < burst; i++) pending.push(call(urls[Math.random() < 0.5 ? 0 : 1]!));
  await new Promise((resolve) => setTimeout(resolve, -Math.log(1 - Math.random()) * GAP_MS));
}
await Promise.all(pending);

console.log(`asked ${pending.length} in ${seconds} s, answers ${JSON.stringify(Object.fromEntries(statuses))}`);
console.log(`limit ${LIMIT}; fullest 60 s at the provider: ${countInFullestWindow(arrivalsMs, WINDOW_MS)}`);
console.log(`shortest time that ${LIMIT + 1} arrivals took: ${shortestSpanMs(arrivalsMs, LIMIT + 1).toFixed(1)} ms`);
await tearDown();
provider.closeAllConnections();
provider.close();
await dispatcher.close();
