/**
 * What further budget rows cost a whole call through the gateway: agents with one soft row and with six, with one hard
 * row and in a run three levels deep, in alternating blocks of a second at a fixed rate. A ratio is the median over
 * pairs of neighbouring blocks. The time before the upstream call is from `server-timing`: it ends with the admission.
 *
 *   node bench/dist/budget-call-latency.js [TURNS [RATE …]]
 */
import { cpus, loadavg } from 'node:os';
import { request } from 'undici';
import { type GatewayStack, startGateway } from './gateway-stack.js';
import { runClosedLoop } from './load/closed-loop.js';
import { runOpenLoop } from './load/open-loop.js';
import { PROXY_PATH, REQUEST_BODY } from './scenario-request.js';
import { startProvider } from './start-mock-provider.js';
import { runTimeUs } from './start-two-builds.js';
import { median, percentile } from './statistics.js';
import { tearDown, tearDownOnSignals } from './teardown.js';

const TURNS = 16;
const RATES = [500, 2_000];
const BLOCK_SECONDS = 1;
const WARM = { connections: 16, seconds: 3 };
const CENTS = 1_000_000_000;
const LEVELS = 3;
/** Of the top run. A sub-run ends before its parent. */
const RUN_SECONDS = 3_600;

interface Caller {
  readonly name: string;
  readonly token: string;
}

interface Block {
  readonly beforeUpstreamP50Us: number;
  readonly p50Us: number;
  readonly dataPlaneCpuUs: number;
  readonly redisCpuUs: number;
}

const FIGURES = ['beforeUpstreamP50Us', 'p50Us', 'dataPlaneCpuUs', 'redisCpuUs'] as const;

async function startAgent({ tenant }: GatewayStack, budgets: object): Promise<string> {
  const { id } = await tenant.createAgent({ rpmLimit: 1_000_000, rpdLimit: 1_000_000_000, ...budgets });
  await tenant.createAccount(id, 'openai', { apiKey: 'sk-real-0123456789' });
  return tenant.createToken(id);
}

async function startRun(url: string, parent: string, expiresIn: number): Promise<string> {
  const headers = { authorization: `Bearer ${parent}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ budgetCents: CENTS, expiresIn, label: 'bench' });
  const answer = await request(`${url}/v1/runs`, { method: 'POST', headers, body });
  const text = await answer.body.text();
  if (answer.statusCode !== 201) throw new Error(`start of a run: ${answer.statusCode} ${text}`);
  return (JSON.parse(text) as { secretKey: string }).secretKey;
}

/** In pairs: a caller, and the same with more rows. */
async function startCallers(gateway: GatewayStack): Promise<readonly Caller[]> {
  const month = { budgetCentsMonthly: CENTS };
  const hard = { ...month, budgetMode: 'hard' };
  const soft = { cents: CENTS, mode: 'soft' };
  const six = [
    { window: 'month', ...soft },
    { window: 'day', ...soft },
    { window: 'week', ...soft },
    { window: 'total', ...soft },
    { window: 'day', models: ['gpt-5*'], ...soft },
    { window: 'month', models: ['gpt-*'], ...soft },
  ];
  let run = await startAgent(gateway, hard);
  for (let level = 0; level < LEVELS; level++) run = await startRun(gateway.url, run, RUN_SECONDS - 60 * level);
  return [
    { name: 'one soft row', token: await startAgent(gateway, month) },
    { name: 'six soft rows', token: await startAgent(gateway, { budgets: six }) },
    { name: 'one hard row', token: await startAgent(gateway, hard) },
    { name: 'hard row and three levels of runs', token: run },
  ];
}

async function measure(gateway: GatewayStack, token: string, perSecond: number): Promise<Block> {
  const cpu = () => [runTimeUs(gateway.dataPlane.pid), runTimeUs(gateway.redis.pid)] as const;
  const before = cpu();
  const load = await runOpenLoop({
    url: `${gateway.url}${PROXY_PATH}`,
    headers: { authorization: `Bearer ${token}` },
    body: REQUEST_BODY,
    perSecond,
    seconds: BLOCK_SECONDS,
  });
  const after = cpu();
  if (load.errors > 0) console.error(`${load.errors} errors`);
  const calls = load.latenciesUs.length;
  return {
    beforeUpstreamP50Us: median(load.stagesUs.map(([gatewayUs]) => gatewayUs)),
    p50Us: percentile(load.latenciesUs, 50),
    dataPlaneCpuUs: (after[0] - before[0]) / calls,
    redisCpuUs: (after[1] - before[1]) / calls,
  };
}

function report(callers: readonly Caller[], rate: number, blocks: readonly (readonly Block[])[]): void {
  const figures = (at: number, value: (block: Block, turn: number) => number) => median(blocks[at]!.map(value));
  console.table(
    callers.map(({ name }, at) => ({
      name,
      rate,
      ...Object.fromEntries(FIGURES.map((figure) => [figure, Math.round(figures(at, (block) => block[figure]))])),
      ...(at % 2 === 1
        ? Object.fromEntries(
            FIGURES.map((figure) => [
              `${figure} ×`,
              Number(figures(at, (block, turn) => block[figure] / blocks[at - 1]![turn]![figure]).toFixed(2)),
            ]),
          )
        : {}),
    })),
  );
}

async function run(turns: number, rates: readonly number[]): Promise<void> {
  const gateway = await startGateway(await startProvider());
  const callers = await startCallers(gateway);
  const loadBefore = loadavg()[0]!;
  for (const { token } of callers) {
    const headers = { authorization: `Bearer ${token}` };
    await runClosedLoop({ url: `${gateway.url}${PROXY_PATH}`, headers, body: REQUEST_BODY, ...WARM });
  }
  for (const rate of rates) {
    const blocks = callers.map((): Block[] => []);
    for (let turn = 0; turn < turns; turn++) {
      const order = callers.map((_, at) => (turn % 2 === 0 ? at : callers.length - 1 - at));
      for (const at of order) blocks[at]!.push(await measure(gateway, callers[at]!.token, rate));
    }
    report(callers, rate, blocks);
  }
  const load = `load average ${loadBefore.toFixed(1)} → ${loadavg()[0]!.toFixed(1)}`;
  console.log(`${cpus().length} × ${cpus()[0]!.model}, Node ${process.versions.node}, ${load}`);
}

const [turns, ...rates] = process.argv.slice(2).map(Number);
tearDownOnSignals();
try {
  await run(turns ?? TURNS, rates.length > 0 ? rates : RATES);
} finally {
  await tearDown();
}
