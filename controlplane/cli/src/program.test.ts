/** Which request a command line becomes, and what is printed for users. */
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runCommandLine } from './program.js';
import type { Terminal } from './terminal/terminal.js';

const ID = '01a200de-16d8-74de-8093-48e13086089c';
const OTHER_ID = '01a200de-16d8-74de-8093-48e13086089d';
/** Holds what the commands below read from a response. */
const RESPONSE = {
  agent: { slug: 'bot', status: 'paused' },
  provider: { slug: 'groq' },
  endpoint: { secret: 'whsec_new', previousSecretUntil: null },
  keys: [{ keyPrefix: 'acg_1', name: 'ci', agentName: null, scope: 'org', status: 'active', replacedBy: null, id: ID }],
  circuits: [],
  prices: [],
  total: 3,
  offset: 0,
};

let requests: { readonly method: string; readonly path: string; readonly body: unknown }[] = [];
/** Replaced by a test that needs another response. */
let respond: (path: string) => Response | Promise<Response>;
beforeEach(() => {
  requests = [];
  respond = () => Response.json(RESPONSE);
  vi.stubGlobal('fetch', async (input: Request | string) => {
    const request = new Request(input);
    const { pathname, searchParams } = new URL(request.url);
    const text = await request.text();
    const body: unknown = request.method === 'GET' ? Object.fromEntries(searchParams) : text && JSON.parse(text);
    requests.push({ method: request.method, path: pathname, body });
    return respond(pathname);
  });
});
afterEach(() => vi.unstubAllGlobals());

interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Columns of the terminal; without them stdout is a pipe. */
  readonly columns?: number;
}

async function run(
  line: string,
  { input, env, columns }: RunOptions = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) => ({
    write(text: string) {
      written[name] += text;
    },
  });
  const terminal = {
    env: { ACG_URL: 'http://127.0.0.1:1', ACG_TOKEN: 'token', ...env },
    cwd: '/',
    home: '/nonexistent',
    platform: 'linux',
    uid: 0,
    stdin: input === undefined ? {} : Readable.from([input]),
    stdout: { ...stream('stdout'), ...(columns === undefined ? {} : { isTTY: true, columns }) },
    stderr: stream('stderr'),
  } as unknown as Terminal;
  return { code: await runCommandLine(line.split(' '), terminal), ...written };
}

const PAGE = { limit: '100', offset: '0' };
test.each([
  ['custom-providers add groq', { slug: 'groq', displayName: 'groq', baseUrl: '', authType: 'bearer' }],
  [
    'custom-providers add groq --name Groq --base-url https://groq.example --auth header --usage-format none',
    { slug: 'groq', displayName: 'Groq', baseUrl: 'https://groq.example', authType: 'header', usageFormat: null },
  ],
  [`custom-providers set ${ID} --sensitive-path /a --sensitive-path /b`, { sensitivePaths: ['/a', '/b'] }],
  [
    `agents set ${ID} --budget none --rpm none --tpm 5 --threshold none --on-store-loss default`,
    { budgetCentsMonthly: null, rpmLimit: null, tpmLimit: 5, usageThresholds: [], onStoreLoss: null },
  ],
  [`agents set ${ID} --no-policy --yes`, { policy: null }],
  [`agents set ${ID}`, {}],
  [`agents pause ${ID}`, { status: 'paused' }],
  [`keys set ${ID} --expires none`, { expiresAt: null }],
  [`keys rotate ${ID} --grace 0`, { graceSeconds: 0 }],
  [`webhooks rotate ${ID} --grace 1h`, { graceSeconds: 3_600 }],
  [`webhooks retry ${ID}`, ''],
  [`event-mail set ${ID} --events none`, { events: [] }],
  [`members role ${ID} admin`, { role: 'admin' }],
  ['circuits hold openai --for 90s --yes', { providerSlug: 'openai', state: 'OPEN', holdMinutes: 2 }],
  ['circuits --state half_open --limit 5', { state: 'HALF_OPEN', limit: '5', offset: '0' }],
  ['prices gpt-5 --source built-in', { model: 'gpt-5', source: 'built_in', ...PAGE }],
  [`keys ls --never-used --project ${OTHER_ID}`, { neverUsed: 'true', projectId: OTHER_ID, ...PAGE }],
  [`keys ls --agent ${ID} --project ${OTHER_ID}`, { agentId: ID, ...PAGE }],
])('the request of acg %s', async (line, body) => {
  await run(line);
  expect(requests.map((request) => request.body)).toEqual([body]);
});

test('the id is in the path, and the answer is printed for users', async () => {
  expect(await run(`agents pause ${ID}`)).toEqual({ code: 0, stdout: '✓ bot is paused\n', stderr: '' });
  expect(await run(`webhooks rotate ${ID}`)).toEqual({
    code: 0,
    stdout: 'whsec_new\n',
    stderr: 'shown once; the old secret signs no more\n',
  });
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `PATCH /v1/agents/${ID}/status`,
    `POST /v1/webhooks/${ID}/rotate`,
  ]);
});

test('a list says how many rows it leaves out', async () => {
  const { stdout, stderr } = await run('keys ls');
  expect(stdout.split('\n')[0]).toBe('KEY\tNAME\tAGENT\tSTATUS\tLAST USED\tEXPIRES\tID');
  expect(stdout).toContain(`acg_1\tci\t– (org)\tactive`);
  expect(stderr).toBe('1 of 3; the next: --offset 1\n');
});

test('nothing is sent before the question is answered', async () => {
  const { code, stderr } = await run(`agents revoke ${ID}`);
  expect([code, stderr]).toEqual([3, expect.stringContaining(`Revoke the agent ${ID} at http://127.0.0.1:1?`)]);
  expect(requests).toEqual([]);
});

test('a policy is read from stdin; null is no policy, which only --no-policy removes', async () => {
  const policy = { openai: { calls: ['GET /v1/models'] } };
  await run(`agents set ${ID} --policy-file -`, { input: JSON.stringify(policy) });
  expect(requests.map(({ body }) => body)).toEqual([{ policy }]);
  const removed = await run(`agents set ${ID} --policy-file -`, { input: 'null' });
  expect([removed.code, removed.stderr]).toEqual([2, expect.stringContaining('--no-policy')]);
  const unasked = await run(`agents set ${ID} --no-policy`);
  expect([unasked.code, unasked.stderr]).toEqual([3, expect.stringContaining('It may then make every call.')]);
  expect(requests).toHaveLength(1);
});

const refuseConnection = (): never => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) });
};

test('doctor names the connection failure, and which checks it did not make', async () => {
  respond = refuseConnection;
  const { code, stdout } = await run('doctor --agent bot');
  expect(code).toBe(1);
  expect(stdout).toContain('✗ control plane: http://127.0.0.1:1/readyz: no answer: ECONNREFUSED\n  → is it running?');
  expect(stdout).toContain('– clock: not checked: the control plane has not answered\n');
  expect(stdout).toContain('– session: not checked');
  expect(stdout).toContain('– data plane: not checked');
  expect(stdout).not.toContain('version');
  const { checks } = JSON.parse((await run('doctor --json')).stdout);
  expect(checks.find(({ name }: { name: string }) => name === 'clock')).toMatchObject({ ok: null });
});

test('the port of agents is not taken for the management API', async () => {
  respond = () => Response.json({ error: 'no' }, { status: 401, headers: { 'x-gateway-request-id': ID } });
  for (const line of ['doctor', 'whoami', 'status'])
    expect(Object.values(await run(line)).join()).toContain('http://127.0.0.1:1 is the port of agents');
});

test('a terminal that reports no width has 80 columns', async () => {
  const wide = await run('keys ls', { columns: 80 });
  expect((await run('keys ls', { columns: 0 })).stdout).toBe(wide.stdout);
  expect(wide.stdout).toContain('acg_1');
});
