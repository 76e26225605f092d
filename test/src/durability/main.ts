/** `npm run durability [calls]`: the full crash run (default 2 000 calls per victim); exits with 1 on any loss. */
import { CrashRun } from './crash-run.js';

const calls = Number(process.argv[2] ?? 2_000);
if (!Number.isInteger(calls) || calls < 20) {
  console.error('calls must be a whole number of at least 20');
  process.exit(64);
}
const run = await CrashRun.start({ concurrency: 32 });
let lost = 0;
let repeated = 0;
try {
  for (const kill of [run.killDataPlane, run.killControlPlane, run.killPostgres]) {
    const report = await kill.call(run, calls);
    const { requestIds, summary } = await run.readLedger();
    const known = new Set(requestIds);
    lost += run.received.filter((id) => !known.has(id)).length;
    repeated += requestIds.length - known.size + Math.abs(summary.totalRequests - requestIds.length);
    console.log({ ...report, inLog: requestIds.length, lost, repeated });
  }
} finally {
  await run.stop();
}
process.exitCode = lost + repeated === 0 ? 0 : 1;
