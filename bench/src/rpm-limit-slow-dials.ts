/**
 * The RPM limit at the provider while connects are slow: three data planes with one Redis, bursts of 10 000 calls, and a
 * provider behind a proxy that delays each TLS handshake by 0 to 5 s. Half of the responses close their connection.
 * Reports the fullest 60 s at any position among the calls that reached the provider.
 *
 *   node bench/dist/rpm-limit-slow-dials.js [CALLS]
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { countInFullestWindow, shortestSpanMs } from '@acg/test/fixtures/arrival-windows';
import { TcpProxy } from '@acg/test/fixtures/tcp-proxy';
import { Agent, request } from 'undici';
import { startGateway } from './gateway-stack.js';
import { createCertificateFiles } from './start-mock-provider.js';
import { tearDown, tearDownOnSignals } from './teardown.js';

const LIMIT = 100;
const WINDOW_MS = 60_000;
const DIAL_MS_MAX = 5_000;
const BURST_CALLS = 100;
/** Mean gap between bursts: 10 000 calls take three minutes and a half. */
const GAP_MS = 2_000;

tearDownOnSignals();
const calls = Number(process.argv[2] ?? 10_000);
const files = createCertificateFiles();
const arrivalsMs: number[] = [];
const provider = createServer(
  { key: readFileSync(files.key), cert: readFileSync(files.certificate) },
  (call, response) => {
    arrivalsMs.push(performance.now());
    call.resume();
    response.writeHead(200, arrivalsMs.length % 2 === 0 ? { connection: 'close' } : {}).end('{}');
  },
);
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
const proxy = await TcpProxy.start((provider.address() as AddressInfo).port);
proxy.connectDelayMs = () => Math.random() * DIAL_MS_MAX;
const trust = { NODE_EXTRA_CA_CERTS: files.certificate };
const gateway = await startGateway(
  { origin: `https://127.0.0.1:${proxy.port}`, trust },
  { COUNTERS_TIMEOUT_MS: '5000' },
);
const urls = [gateway.url];
for (let plane = 1; plane < 3; plane++) urls.push((await gateway.stack.addDataPlane()).url);
const agent = await gateway.tenant.createAgent({ name: 'Bursts', rpmLimit: LIMIT, rpdLimit: 1_000_000 });
await gateway.tenant.createAccount(agent.id, 'openai', { apiKey: 'sk-real-0123456789' });
const token = await gateway.tenant.createToken(agent.id);
const dispatcher = new Agent({ connections: 1_000 });

const statuses = new Map<number, number>();
async function call(index: number): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const url = `${urls[index % urls.length]!}/v1/proxy/openai/v1/models`;
  const { statusCode, body } = await request(url, { headers, dispatcher });
  await body.dump();
  statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
}

const pending: Promise<void>[] = [];
while (pending.length < calls) {
  for (let i = 0; i < BURST_CALLS; i++) pending.push(call(pending.length));
  await new Promise((resolve) => setTimeout(resolve, -Math.log(1 - Math.random()) * GAP_MS));
}
await Promise.all(pending);

console.log(`asked ${pending.length}, answers ${JSON.stringify(Object.fromEntries(statuses))}`);
console.log(`arrived ${arrivalsMs.length} over ${proxy.connections} connections`);
console.log(`limit ${LIMIT}; fullest 60 s at the provider: ${countInFullestWindow(arrivalsMs, WINDOW_MS)}`);
console.log(`shortest time that ${LIMIT + 1} arrivals took: ${shortestSpanMs(arrivalsMs, LIMIT + 1).toFixed(1)} ms`);
await tearDown();
await proxy.stop();
provider.closeAllConnections();
provider.close();
await dispatcher.close();
