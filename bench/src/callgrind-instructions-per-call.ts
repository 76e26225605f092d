/**
 * Instructions that a call executes on the data plane's thread in user space, and its cache misses of first and second
 * level, counted by a simulated processor (callgrind of valgrind). Unlike times these counts hardly change with other
 * load on the machine. One call at a time, as at low rates; usage is spooled and not sent meanwhile.
 *
 *   node bench/dist/callgrind-instructions-per-call.js [--mcp] [ROOT …]
 *
 * --mcp: a call of a tool of an MCP server with a policy, and a POST of the same length with a policy of models.
 * ROOT: built trees to compare with this one. `apt-get install valgrind`; takes a minute each.
 */
import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { planeProgram } from '@acg/test/fixtures/plane-process';
import { waitUntil } from '@acg/test/fixtures/wait-until';
import { type GatewayStack, startGateway } from './gateway-stack.js';
import { KeepAliveConnection, postRequest } from './load/keep-alive-connection.js';
import { PROXY_PATH, REQUEST_BODY } from './scenario-request.js';
import { startProvider } from './start-mock-provider.js';
import { median } from './statistics.js';
import { stopAtTeardown, tearDown, tearDownOnSignals, temporaryDirectory } from './teardown.js';

const OWN_ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Enough calls for V8 to optimize the code of a call. */
const WARM_CALLS = 20_000;
const SETTLING_CALLS = 200;
/** The results are those of the median window: V8 compiles and collects at any time. */
const WINDOWS = 7;
const WINDOW_CALLS = 200;
/** First level 32 KiB each for code and data, second level 1 MiB, as of current server processors. */
const CACHES = ['--I1=32768,8,64', '--D1=32768,8,64', '--LL=1048576,8,64'];

type Event = 'Ir' | 'I1mr' | 'D1mr' | 'D1mw' | 'ILmr' | 'DLmr' | 'DLmw';

interface MeasuredCall {
  readonly name: string;
  readonly path: string;
  readonly token: string;
  readonly body: string;
}

const PLAIN_BYTES = 2_048;

async function createCalls(gateway: GatewayStack): Promise<readonly MeasuredCall[]> {
  if (!process.argv.includes('--mcp'))
    return [{ name: 'plain', path: PROXY_PATH, token: gateway.token, body: REQUEST_BODY }];
  const { tenant } = gateway;
  const agent = await tenant.createAgent({
    rpmLimit: 1_000_000,
    rpdLimit: 1_000_000_000,
    budgetCentsMonthly: 1_000_000_000,
    policy: { openai: { models: { allow: ['gpt-5*'] } }, 'github-mcp': { tools: { allow: ['get_*', 'list_*'] } } },
  });
  await tenant.createAccount(agent.id, 'openai', { apiKey: 'sk-real-0123456789' });
  await tenant.createAccount(agent.id, 'github-mcp', { apiKey: 'github_pat_0123456789abcdefghij' });
  const token = await tenant.createToken(agent.id);
  const bodyOf = (build: (text: string) => object): string => {
    const bytes = JSON.stringify(build('')).length;
    return JSON.stringify(build('Say hello to the reader. '.repeat(PLAIN_BYTES).slice(0, PLAIN_BYTES - bytes)));
  };
  return [
    {
      name: 'model policy',
      path: PROXY_PATH,
      token,
      body: bodyOf((content) => ({ model: 'gpt-5-mini', messages: [{ role: 'user', content }] })),
    },
    {
      name: 'tools/call',
      path: '/v1/proxy/github-mcp/mcp/',
      token,
      body: bodyOf((text) => {
        const params = { name: 'get_issue', arguments: { owner: 'acme', issue_number: 7, text } };
        return { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      }),
    },
  ];
}

async function count(
  gateway: GatewayStack,
  root: string,
  call: MeasuredCall,
): Promise<Readonly<Record<string, unknown>>> {
  const directory = temporaryDirectory();
  const output = join(directory, 'callgrind.out');
  const options = ['--tool=callgrind', '--cache-sim=yes', ...CACHES, '--instr-atstart=no', '--separate-threads=yes'];
  const program = [process.execPath, planeProgram('dataplane', root)];
  const child = spawn('valgrind', [...options, `--callgrind-out-file=${output}`, ...program], {
    // Under the simulator every response of the store would exceed the default timeout.
    env: { ...gateway.dataPlane.env, PATH: process.env.PATH, GATEWAY_DATA_DIR: directory, COUNTERS_TIMEOUT_MS: '5000' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const stop = stopAtTeardown(child);
  const { port, metricsPort } = await new Promise<{ port: number; metricsPort: number }>((done, failed) => {
    child.once('message', done);
    child.once('error', failed);
    child.once('exit', (code) => failed(new Error(`the data plane ended (${code}) under valgrind`)));
  });
  const metricsUrl = `http://127.0.0.1:${metricsPort}`;
  await waitUntil('the data plane is ready', async () => (await fetch(`${metricsUrl}/readyz`)).status === 200);
  const url = `http://127.0.0.1:${port}${call.path}`;
  const connection = new KeepAliveConnection(new URL(url).origin);
  const request = postRequest(url, { authorization: `Bearer ${call.token}` }, call.body);
  const calls = async (total: number): Promise<void> => {
    for (let call = 0; call < total; call++) {
      const status = await new Promise<number>((done) => connection.send(request, done));
      if (status !== 200) throw new Error(`a call was answered ${status}`);
    }
  };
  const control = (...what: string[]) =>
    execFileSync('callgrind_control', [...what, String(child.pid)], { stdio: 'ignore' });

  await calls(1); // caches the context
  gateway.stack.controlPlane.pause();
  try {
    await calls(WARM_CALLS);
    control('-i', 'on');
    await calls(SETTLING_CALLS);
    control('-z');
    for (let window = 0; window < WINDOWS; window++) {
      await calls(WINDOW_CALLS);
      control('-d'); // and starts a new count
    }
  } finally {
    gateway.stack.controlPlane.resume();
  }
  connection.close();
  child.kill('SIGKILL');
  await stop();
  const windows = windowsOfMainThread(directory);
  const per = (...events: Event[]): number => {
    const sums = windows.map((sum) => events.reduce((all, event) => all + sum[event], 0));
    return Math.round(median(sums) / WINDOW_CALLS);
  };
  return {
    tree: root === OWN_ROOT ? 'this' : root,
    call: call.name,
    instructions: per('Ir'),
    'code past L1': per('I1mr'),
    'data past L1': per('D1mr', 'D1mw'),
    'code past L2': per('ILmr'),
    'data past L2': per('DLmr', 'DLmw'),
  };
}

function windowsOfMainThread(directory: string): Record<Event, number>[] {
  const files = readdirSync(directory).filter((name) => /\.\d+-01$/.test(name));
  return files.map((file) => {
    const text = readFileSync(join(directory, file), 'utf8');
    const events = /^events: (.+)$/m.exec(text)![1]!.split(' ');
    const sums = /^summary: (.+)$/m.exec(text)![1]!.split(' ');
    return Object.fromEntries(events.map((event, i) => [event, Number(sums[i] ?? 0)])) as Record<Event, number>;
  });
}

tearDownOnSignals();
try {
  const provider = await startProvider();
  const gateway = await startGateway(provider);
  const rows = [];
  const others = process.argv.slice(2).filter((argument) => argument !== '--mcp');
  for (const root of [OWN_ROOT, ...others.map((path) => resolve(path))])
    for (const call of await createCalls(gateway)) rows.push(await count(gateway, root, call));
  console.log(`per call, Node ${process.versions.node}`);
  console.table(rows);
} finally {
  await tearDown();
}
