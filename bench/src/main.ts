/**
 * `npm run bench [scenario …]`: every figure beside a reference measured in the same run, bounded to ten minutes,
 * loopback only. Scenarios: cpu latency streams bodies cold soak (default: all).
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startChild } from './child.js';
import { freePort } from './free-port.js';
import { startGateway } from './gateway-stack.js';
import { type Chart, machine, writeReport } from './report.js';
import { addedLatency } from './scenarios/added-latency.js';
import { bigBodies } from './scenarios/big-bodies.js';
import { coldStart } from './scenarios/cold-start.js';
import { cpuPerRequest } from './scenarios/cpu-per-request.js';
import { openStreams } from './scenarios/open-streams.js';
import { soak } from './scenarios/soak.js';

const SCENARIOS = ['cpu', 'latency', 'streams', 'bodies', 'cold', 'soak'] as const;
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(SCENARIOS as readonly string[]).includes(name));
if (unknown.length > 0) {
  console.error(`unknown scenario ${unknown.join(', ')}: choose from ${SCENARIOS.join(' ')}`);
  process.exit(64);
}
if (
  spawnSync('wrk', ['--version']).error !== undefined ||
  spawnSync('redis-server', ['--version']).error !== undefined
) {
  console.error(
    'The bench needs wrk and redis-server; nginx, libnginx-mod-http-lua and lua-nginx-redis for the references:',
  );
  console.error('  apt-get install wrk redis-server nginx libnginx-mod-http-lua lua-nginx-redis');
  process.exit(69);
}
const runs = (name: (typeof SCENARIOS)[number]): boolean => wanted.length === 0 || wanted.includes(name);

console.log('machine', machine());
const providerPort = await freePort();
const mockScript = fileURLToPath(new URL('./mock-provider.js', import.meta.url));
const mock = await startChild('mock provider', process.execPath, [mockScript, String(providerPort)], providerPort);
const gateway = await startGateway(`http://127.0.0.1:${providerPort}`);
const figures: Record<string, unknown> = {};
const charts: Chart[] = [];
try {
  if (runs('cpu')) {
    console.log('cpu: CPU per request, 64 connections …');
    const list = await cpuPerRequest(gateway, providerPort, { rounds: 3, seconds: 6 });
    figures.cpu = list;
    console.table(
      list.map(({ name, requestsPerSecond, cpuUs, errors }) => ({ name, requestsPerSecond, ...cpuUs, errors })),
    );
    charts.push({
      title: 'CPU per request (proxy process)',
      unit: 'µs',
      bars: list.map((f) => ({ label: f.name, value: f.cpuUs.proxy ?? 0 })),
    });
  }
  if (runs('latency')) {
    console.log('latency: added latency at fixed rates …');
    const list = await addedLatency(gateway, providerPort, { rates: [500, 2000], blocks: 3, blockSeconds: 4 });
    figures.latency = list;
    console.table(list);
    charts.push({
      title: 'Added latency, p50',
      unit: 'µs',
      bars: list.map((f) => ({ label: `${f.name} @ ${f.perSecond}/s`, value: f.addedP50Us })),
    });
  }
  if (runs('bodies')) {
    console.log('bodies: 100 MiB down and up …');
    figures.bodies = await bigBodies(gateway, providerPort, 100);
    console.table(figures.bodies);
  }
  if (runs('streams')) {
    console.log('streams: 5000 open event streams …');
    figures.streams = await openStreams(gateway, providerPort, { streams: 5_000, seconds: 12 });
    console.table([figures.streams]);
  }
  if (runs('soak')) {
    console.log('soak: a million requests …');
    figures.soak = await soak(gateway, 1_000_000, 120);
    console.table([figures.soak]);
  }
  if (runs('cold')) {
    console.log('cold: 100 000 distinct tokens …');
    figures.cold = await coldStart(gateway, 100_000);
    console.table([figures.cold]);
  }
} finally {
  await gateway.stop();
  await mock.stop();
}
for (const path of writeReport('bench', figures, charts)) console.log('written:', path);
