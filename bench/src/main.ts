/**
 * `npm run bench [scenario …]`: measures every result beside a reference of the same run, in at most ten minutes,
 * loopback only. Scenarios: cpu latency bodies streams soak tenants cold cli (default: all). Ctrl-C stops all started
 * processes.
 */
import { loadavg } from 'node:os';
import { startGateway } from './gateway-stack.js';
import { checkRequiredPrograms } from './missing-programs.js';
import { machine, type Section, writeReport } from './report.js';
import { addedLatency } from './scenarios/added-latency.js';
import { bigBodies } from './scenarios/big-bodies.js';
import { cliStart } from './scenarios/cli-start.js';
import { coldContextCache } from './scenarios/cold-context-cache.js';
import { cpuPerRequest } from './scenarios/cpu-per-request.js';
import { hostileTenant } from './scenarios/hostile-tenant.js';
import { openStreams } from './scenarios/open-streams.js';
import type { Bench, Scenario } from './scenarios/scenario.js';
import { soak } from './scenarios/soak.js';
import { startProvider } from './start-mock-provider.js';
import { tearDown, tearDownOnSignals, wasInterrupted } from './teardown.js';

const EXIT = { usage: 64, requirement: 69 } as const;
const RUN_SECONDS_MAX = 600;
/** Cold start last: it fills the context cache, which would distort the memory of the soak. */
const SCENARIOS: readonly Scenario[] = [
  cpuPerRequest,
  addedLatency,
  bigBodies,
  openStreams,
  soak,
  hostileTenant,
  coldContextCache,
  cliStart,
];

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !SCENARIOS.some((scenario) => scenario.name === name));
if (unknown.length > 0) {
  console.error(`unknown scenario ${unknown.join(', ')}: choose from ${SCENARIOS.map((s) => s.name).join(' ')}`);
  process.exit(EXIT.usage);
}
const requirements = checkRequiredPrograms();
for (const line of requirements.advice) console.error(line);
if (!requirements.redis) process.exit(EXIT.requirement);
tearDownOnSignals();

const startMs = performance.now();
const secondsSince = (tickMs: number): number => Math.round((performance.now() - tickMs) / 100) / 10;
const load = (): number => Math.round(100 * loadavg()[0]!) / 100;

const figures: Record<string, unknown> = {};
const sections: Section[] = [];
if (requirements.advice.length > 0) sections.push({ title: 'Missing', charts: [], notes: requirements.advice });

async function runScenario(scenario: Scenario, bench: Bench): Promise<void> {
  const title = `${scenario.name}: ${scenario.title}`;
  console.log(`\n${title}`);
  const before = load();
  const tickMs = performance.now();
  const { figures: own, rows, charts, notes } = await scenario.run(bench);
  const seconds = secondsSince(tickMs);
  const loadAverage = [before, load()];
  console.table(rows);
  const lines = [...notes, `${seconds} s, load average ${loadAverage.join(' → ')}`];
  for (const line of lines) console.log(`  ${line}`);
  figures[scenario.name] = { seconds, loadAverage, notes, figures: own };
  sections.push({ title, charts, notes: lines });
}

/** After each scenario, so that results are kept when a later one fails. */
const write = () => writeReport('bench', { missing: requirements.advice, ...figures }, sections);

async function run(): Promise<void> {
  console.log('machine', { ...machine(), loadAverage: load() });
  const provider = await startProvider();
  const gateway = await startGateway(provider);
  const bench = { gateway, provider, secondsLeft: () => RUN_SECONDS_MAX - secondsSince(startMs) };
  for (const scenario of SCENARIOS) {
    if (wanted.length > 0 && !wanted.includes(scenario.name)) continue;
    await runScenario(scenario, bench);
    write();
  }
  for (const path of write()) console.log('written:', path);
  console.log(`${secondsSince(startMs)} s in all`);
}

try {
  await run();
} catch (error) {
  if (!wasInterrupted()) console.error(error);
  process.exitCode = 1;
} finally {
  await tearDown();
}
