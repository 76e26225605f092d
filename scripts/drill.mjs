// npm run drill [-- NAME…]: the failovers, crashes and upgrades that operators must be able to rely on, with real
// processes. Each drill compares the ledger with the calls that the provider or the client saw. Prints a verdict for each
// and exits with 1 when one fails. Run before each release; docs/operations.md has the results.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const DRILLS = {
  'postgres-lossy': ['test/src/durability/database-failover.test.ts', 'with a lagging standby'],
  'postgres-clean': ['test/src/durability/database-failover.test.ts', 'with a synchronous standby'],
  'postgres-hosts': ['test/src/durability/database-hosts.test.ts'],
  'postgres-restore': ['test/src/durability/point-in-time-recovery.test.ts'],
  'redis-sentinel': ['test/src/limits/redis-failover.test.ts', 'sentinel:'],
  'redis-cluster': ['test/src/limits/redis-cluster.test.ts', 'cluster: when a master dies'],
  'plane-crash': ['test/src/durability/plane-crash.test.ts'],
  'worker-crash': ['test/src/durability/worker-crash.test.ts'],
  'rolling-restart': ['test/src/durability/replace-planes.test.ts', 'rolling restart'],
  'rolling-upgrade': ['test/src/plane-link/rolling-upgrade.test.ts'],
  upgrade: ['test/src/durability/replace-planes.test.ts', 'from an earlier build', buildEarlierCommit],
  'stolen-identity': ['test/src/plane-link/data-plane-identities.test.ts'],
  secrets: ['test/src/plane-link/secret-files.test.ts'],
  'disk-full': ['test/src/durability/exhausted-machine.test.ts', 'full disk'],
  descriptors: ['test/src/durability/exhausted-machine.test.ts', 'no file descriptors'],
  'removed-plane': ['test/src/durability/ship-spool.test.ts'],
  clock: ['test/src/plane-link/clock.test.ts'],
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in DRILLS));
if (unknown.length > 0) {
  process.stderr.write(`drill: unknown: ${unknown.join(', ')}. Known: ${Object.keys(DRILLS).join(', ')}\n`);
  process.exit(64);
}

/** The last commit before the work on operations. Another one: DRILL_UPGRADE_FROM. */
const EARLIER_COMMIT = process.env.DRILL_UPGRADE_FROM || '1822593b';

/** Builds the earlier commit in a directory of its own, once; EARLIER_BUILD names one that is already built. */
function buildEarlierCommit() {
  if (process.env.EARLIER_BUILD) return;
  const directory = join(tmpdir(), `acg-earlier-${EARLIER_COMMIT}`);
  const script = `set -e; mkdir -p "$1"; git archive "$2" | tar -x -C "$1"; cd "$1"; npm ci --ignore-scripts --no-audit; npm run build`;
  const { status } = spawnSync('sh', ['-c', script, 'sh', directory, EARLIER_COMMIT], { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`commit ${EARLIER_COMMIT} cannot be built in ${directory}`);
  process.env.EARLIER_BUILD = directory;
}

/** Runs one drill; returns its verdict and what it printed about itself. */
function run([file, title, prepare]) {
  const home = mkdtempSync(join(tmpdir(), 'acg-drill-'));
  const report = join(home, 'report.json');
  const args = ['vitest', 'run', file, '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`];
  try {
    prepare?.();
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    return { passed: false, checks: 0, seconds: 0, failed: [error.message] };
  }
  const startMs = performance.now();
  spawnSync('npx', title === undefined ? args : [...args, '-t', title], { stdio: ['ignore', 'ignore', 'inherit'] });
  const seconds = Math.round((performance.now() - startMs) / 1_000);
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const failed = testResults.flatMap(({ message, assertionResults }) => [
      ...(assertionResults.length === 0 && message ? [message] : []),
      ...assertionResults.flatMap(({ status, failureMessages }) => (status === 'failed' ? failureMessages : [])),
    ]);
    // A drill without a single check has proved nothing.
    const passed = numPassedTests > 0 && numFailedTests === 0 && failed.length === 0;
    return { passed, checks: numPassedTests + numFailedTests, seconds, failed };
  } catch (error) {
    return { passed: false, checks: 0, seconds, failed: [error.message] };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

let broken = 0;
process.stdout.write('| drill | verdict | checks | seconds |\n|---|---|--:|--:|\n');
for (const [name, drill] of Object.entries(DRILLS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const { passed, checks, seconds, failed } = run(drill);
  process.stdout.write(`| ${name} | ${passed ? 'passed' : 'FAILED'} | ${checks} | ${seconds} |\n`);
  for (const message of failed) process.stderr.write(`${message}\n`);
  if (!passed) broken++;
}
process.exitCode = broken === 0 ? 0 : 1;
