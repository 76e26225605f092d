/**
 * `npm run chaos [-- --seed N --minutes M]`: mixed traffic over three data planes and two control planes, while their
 * parts are killed, frozen, cut off and restarted as the seed says. Exits with 1 when an invariant is violated.
 * docs/operations.md#chaos-tests
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ChaosRun } from './chaos-run.js';
import { buildReport, formatReport } from './check-invariants-and-report.js';
import { planFaults } from './faults/fault-plan.js';
import { planBursts } from './faults/limit-burst-plan.js';
import { killDescendants } from './kill-descendants.js';

const EXIT_USAGE = 64;
const EXIT_INTERRUPTED = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const PROGRESS_MS = 10_000;
const MINUTE_MS = 60_000;

const { values } = parseArgs({ options: { seed: { type: 'string' }, minutes: { type: 'string' } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
const minutes = Number(values.minutes ?? 10);
if (!Number.isInteger(seed) || seed < 0 || !(minutes >= 0.5 && minutes <= 600)) {
  console.error('--seed is a whole number, --minutes 0.5 to 600');
  process.exit(EXIT_USAGE);
}
const durationMs = minutes * MINUTE_MS;
const plan = planFaults(seed, durationMs);
const startedAt = Date.now();
const say = (text: string): void =>
  console.log(`${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${text}`);

/** Contains all files of the run. */
const home = mkdtempSync(join(tmpdir(), 'acg-chaos-run-'));
chmodSync(home, 0o711); // the user that runs Postgres must be able to enter
process.env.TMPDIR = home;

/** Kills all processes and removes all files of the run, whatever its state. */
function exitAfterCleanup(exitCode: number): never {
  killDescendants();
  rmSync(home, { recursive: true, force: true });
  console.log(`seed ${seed}: exit ${exitCode}`);
  process.exit(exitCode);
}

for (const [signal, exitCode] of Object.entries(EXIT_INTERRUPTED)) {
  process.once(signal, () => {
    say('interrupted: stopping everything');
    exitAfterCleanup(exitCode);
  });
}
process.on('uncaughtException', (error) => {
  console.error(error);
  exitAfterCleanup(1);
});

console.log(`seed ${seed}, ${minutes} minutes, ${plan.length} faults`);
const run = new ChaosRun({ plan, bursts: planBursts(plan, durationMs), durationMs, log: say });
let exitCode = 1;
let progress: NodeJS.Timeout | undefined;
try {
  await run.start();
  say('everything runs');
  progress = setInterval(() => {
    const { calls, inflightCount: underWay } = run.traffic;
    say(
      `${calls.length} calls, ${underWay} under way${run.faultedVictims.size === 0 ? '' : `; hurt: ${[...run.faultedVictims].join(', ')}`}`,
    );
  }, PROGRESS_MS);
  await run.run();
  say('healed: many calls without faults, to see what they leave in memory');
  const memoryGrowths = await run.measureMemoryGrowth();
  say('waiting for usage and events');
  const ledger = await run.waitUntilQuiescent();
  const usageChanges = await run.measureProcessUsage();
  run.scanLogsForSecrets();
  const report = buildReport(run, ledger, usageChanges, memoryGrowths);
  console.log(formatReport(report));
  exitCode = Object.values(report.violations).every((problems) => problems.length === 0) ? 0 : 1;
} catch (error) {
  console.error(error);
}
clearInterval(progress);
await run.stop();
exitAfterCleanup(exitCode);
