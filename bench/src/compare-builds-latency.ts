/**
 * Added latency of two builds of the data plane, and of nginx with Lua and Redis, in alternating blocks of a second at
 * a fixed rate: other load on the machine affects all of them. A result is the median over blocks.
 *
 *   node bench/dist/compare-builds-latency.js ROOT [ROUNDS [RATE …]] [--other-node-options=…]
 *
 * ROOT: a built tree to compare with this one, or this tree itself to compare Node options only.
 */
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { startGateway } from './gateway-stack.js';
import { runClosedLoop } from './load/closed-loop.js';
import { runOpenLoop } from './load/open-loop.js';
import { startLua } from './references/start-comparison-targets.js';
import { PROVIDER_PATH, REQUEST_BODY } from './scenario-request.js';
import { startProvider } from './start-mock-provider.js';
import { runTimeUs, startTwoBuilds } from './start-two-builds.js';
import { median, percentile } from './statistics.js';
import { tearDown, tearDownOnSignals } from './teardown.js';

const TURNS = 12;
const BLOCK_SECONDS = 1;
const WARM_SECONDS = 3;
const WARM_CONNECTIONS = 16;

interface Target {
  readonly name: string;
  readonly url: string;
  /** 0: the CPU is not measured. */
  readonly pid: number;
}

interface Block {
  readonly p50: number;
  readonly p99: number;
  readonly cpuUs: number;
}

async function block({ url, pid }: Target, token: string, perSecond: number): Promise<Block> {
  const before = pid === 0 ? 0 : runTimeUs(pid);
  const headers = { authorization: `Bearer ${token}` };
  const load = await runOpenLoop({ url, headers, body: REQUEST_BODY, perSecond, seconds: BLOCK_SECONDS });
  const cpuUs = pid === 0 ? 0 : (runTimeUs(pid) - before) / load.latenciesUs.length;
  if (load.errors > 0) console.error(`${url}: ${load.errors} errors`);
  return { p50: percentile(load.latenciesUs, 50), p99: percentile(load.latenciesUs, 99), cpuUs };
}

async function measure(targets: readonly Target[], tokens: readonly string[], rate: number, blocks: Block[][]) {
  for (let turn = 0; turn < TURNS; turn++) {
    const order = targets.map((_, i) => (turn % 2 === 0 ? i : targets.length - 1 - i));
    for (const i of order) blocks[i]!.push(await block(targets[i]!, tokens[turn % tokens.length]!, rate));
  }
}

function report(targets: readonly Target[], rate: number, blocks: readonly (readonly Block[])[]): void {
  const added = (i: number, p: 'p50' | 'p99'): number[] => blocks[i]!.map((b, n) => b[p] - blocks[0]![n]![p]);
  const whole = (us: number): number => Math.round(us);
  console.table(
    targets.map(({ name }, i) => ({
      name,
      rate,
      'added p50': whole(median(added(i, 'p50'))),
      'added p99': whole(median(added(i, 'p99'))),
      'p50 less this': whole(median(blocks[i]!.map((b, n) => b.p50 - blocks[1]![n]!.p50))),
      'p99 less this': whole(median(blocks[i]!.map((b, n) => b.p99 - blocks[1]![n]!.p99))),
      'CPU, µs a call': whole(median(blocks[i]!.map((b) => b.cpuUs))),
      blocks: blocks[i]!.length,
    })),
  );
}

async function run(root: string, rounds: number, rates: readonly number[], nodeOptions: string): Promise<void> {
  const provider = await startProvider();
  const gateway = await startGateway(provider);
  const tokens = [gateway.token, gateway.otherToken];
  const headers = { authorization: `Bearer ${gateway.token}` };
  const lua = await startLua(provider, headers);
  const loadBefore = loadavg()[0]!;
  const names = ['direct', 'this', 'the other', lua.name];
  const blocks = rates.map(() => names.map((): Block[] => []));
  for (let round = 0; round < rounds; round++) {
    const [ours, theirs] = await startTwoBuilds(gateway, root, round, nodeOptions);
    const targets: Target[] = [
      { name: 'direct', url: `${provider.origin}${PROVIDER_PATH}`, pid: 0 },
      { name: 'this', url: ours.url, pid: ours.plane.pid },
      { name: 'the other', url: theirs.url, pid: theirs.plane.pid },
      { name: lua.name, url: lua.url, pid: lua.processes.proxy![0]! },
    ];
    for (const { url } of targets) {
      await runClosedLoop({ url, connections: WARM_CONNECTIONS, seconds: WARM_SECONDS, headers, body: REQUEST_BODY });
    }
    for (const [at, rate] of rates.entries()) {
      await measure(targets, tokens, rate, blocks[at]!);
      report(targets, rate, blocks[at]!);
    }
    await Promise.all([ours.plane.kill(), theirs.plane.kill()]);
  }
  const load = `load average ${loadBefore.toFixed(1)} → ${loadavg()[0]!.toFixed(1)}`;
  console.log(`${cpus().length} × ${cpus()[0]!.model}, Node ${process.versions.node}, ${load}`);
}

const OPTION = '--other-node-options=';
const args = process.argv.slice(2);
const nodeOptions = args.find((arg) => arg.startsWith(OPTION))?.slice(OPTION.length) ?? '';
const [root, rounds = '2', ...rates] = args.filter((arg) => !arg.startsWith(OPTION));
if (root === undefined) {
  console.error(`usage: node bench/dist/compare-builds-latency.js ROOT [ROUNDS [RATE …]] [${OPTION}…]`);
  process.exit(64);
}
tearDownOnSignals();
try {
  await run(resolve(root), Number(rounds), rates.length === 0 ? [500, 2_000] : rates.map(Number), nodeOptions);
} finally {
  await tearDown();
}
