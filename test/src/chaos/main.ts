/**
 * `npm run chaos [-- --seed N --minutes M]`: mixed traffic over three data planes and two control planes, whose parts are
 * killed, frozen, cut off and restarted as the seed says. Ends with 1 when an invariant is broken. docs/operations.md#chaos
 */
import { parseArgs } from 'node:util';
import { ChaosRun } from './chaos-run.js';
import { planOf } from './plan.js';
import { printed, reportOn } from './report.js';

const EXIT_USAGE = 64;
const EXIT_INTERRUPTED = 130;
const PROGRESS_MS = 10_000;
const MINUTE_MS = 60_000;

const { values } = parseArgs({ options: { seed: { type: 'string' }, minutes: { type: 'string' } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
const minutes = Number(values.minutes ?? 10);
if (!Number.isInteger(seed) || seed < 0 || !(minutes >= 0.5 && minutes <= 600)) {
  console.error('--seed is a whole number, --minutes 0.5 to 600');
  process.exit(EXIT_USAGE);
}
const plan = planOf(seed, minutes * MINUTE_MS);
const startedAt = Date.now();
const say = (text: string): void =>
  console.log(`${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${text}`);
const run = new ChaosRun({ plan, durationMs: minutes * MINUTE_MS, say });

let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupted) return;
    interrupted = true;
    say('interrupted: stopping everything');
    void run.stop().then(() => process.exit(EXIT_INTERRUPTED));
  });
}

console.log(`seed ${seed}, ${minutes} minutes, ${plan.length} faults`);
let progress: NodeJS.Timeout | undefined;
try {
  await run.start();
  say('everything runs');
  progress = setInterval(() => {
    const { calls, underWay } = run.traffic;
    say(
      `${calls.length} calls, ${underWay} under way${run.hurtNow.size === 0 ? '' : `; hurt: ${[...run.hurtNow].join(', ')}`}`,
    );
  }, PROGRESS_MS);
  await run.run();
  say('healed: waiting for usage and events');
  const ledger = await run.settle();
  const figures = await run.figures();
  run.lookAtLogs();
  const report = reportOn(run, ledger, figures);
  console.log(printed(report));
  process.exitCode = Object.values(report.broken).every((problems) => problems.length === 0) ? 0 : 1;
} catch (error) {
  if (!interrupted) {
    console.error(error);
    process.exitCode = 1;
  }
} finally {
  clearInterval(progress);
  if (!interrupted) {
    await run.stop();
    console.log(`seed ${seed}: exit ${process.exitCode}`);
    process.exit();
  }
}
