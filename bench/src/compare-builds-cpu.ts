/**
 * CPU of a call in two builds of the data plane, in alternating windows of a second under the same load: other load on
 * the machine affects both. Each round restarts both, because two processes of the same code can differ in speed. The
 * result is the median of the differences of neighbouring windows.
 *
 *   node bench/dist/compare-builds-cpu.js ROOT [ROUNDS]     ROOT: a built tree to compare with this one
 */
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { startGateway } from './gateway-stack.js';
import { runClosedLoop } from './load/closed-loop.js';
import { REQUEST_BODY } from './scenario-request.js';
import { startProvider } from './start-mock-provider.js';
import { type Build, runTimeUs, startTwoBuilds } from './start-two-builds.js';
import { median, percentile } from './statistics.js';
import { tearDown, tearDownOnSignals } from './teardown.js';

const PAIRS = 20;
const WINDOW_SECONDS = 1;
const WARM_SECONDS = 4;
const CONNECTIONS = 64;

/** µs per call. */
async function window({ plane, url }: Build, token: string, seconds: number): Promise<number> {
  const before = runTimeUs(plane.pid);
  const headers = { authorization: `Bearer ${token}` };
  const load = await runClosedLoop({ url, connections: CONNECTIONS, seconds, headers, body: REQUEST_BODY });
  if (load.errors > 0) throw new Error(`${load.errors} calls failed`);
  return (runTimeUs(plane.pid) - before) / load.requests;
}

async function run(root: string, rounds: number): Promise<void> {
  const gateway = await startGateway(await startProvider());
  const [ours, theirs, differences]: [number[], number[], number[]] = [[], [], []];
  const loadBefore = loadavg()[0]!;
  for (let round = 0; round < rounds; round++) {
    const [one, other] = await startTwoBuilds(gateway, root, round);
    // One agent's highest limit is a million calls per minute: two agents share the load.
    const tokens = [gateway.token, gateway.otherToken];
    for (const build of [one, other]) await window(build, tokens[0]!, WARM_SECONDS);
    for (let pair = 0; pair < PAIRS; pair++) {
      const order = pair % 2 === 0 ? [one, other] : [other, one];
      const token = tokens[pair % 2]!;
      const first = await window(order[0]!, token, WINDOW_SECONDS);
      const second = await window(order[1]!, token, WINDOW_SECONDS);
      const [our, their] = pair % 2 === 0 ? [first, second] : [second, first];
      ours.push(our);
      theirs.push(their);
      differences.push(our - their);
    }
    await Promise.all([one.plane.kill(), other.plane.kill()]);
    console.log(`round ${round + 1}: ${median(differences.slice(-PAIRS)).toFixed(2)} µs a call more than the other`);
  }
  const quartiles = [25, 50, 75].map((p) => percentile(differences, p).toFixed(2));
  console.table([
    {
      'this, µs a call': median(ours).toFixed(2),
      'the other': median(theirs).toFixed(2),
      difference: quartiles[1],
      quartiles: `${quartiles[0]} … ${quartiles[2]}`,
      pairs: differences.length,
    },
  ]);
  const load = `load average ${loadBefore.toFixed(1)} → ${loadavg()[0]!.toFixed(1)}`;
  console.log(`${cpus().length} × ${cpus()[0]!.model}, Node ${process.versions.node}, ${load}`);
}

const [root, rounds = '3'] = process.argv.slice(2);
if (root === undefined) {
  console.error('usage: node bench/dist/compare-builds-cpu.js ROOT [ROUNDS]');
  process.exit(64);
}
tearDownOnSignals();
try {
  await run(resolve(root), Number(rounds));
} finally {
  await tearDown();
}
