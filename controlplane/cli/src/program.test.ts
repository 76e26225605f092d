/** Which request a command line becomes, and what is printed for users. */
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
beforeEach(() => {
  requests = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    const { pathname, searchParams } = new URL(request.url);
    const text = await request.text();
    const body: unknown = request.method === 'GET' ? Object.fromEntries(searchParams) : text && JSON.parse(text);
    requests.push({ method: request.method, path: pathname, body });
    return Response.json(RESPONSE);
  });
});
afterEach(() => vi.unstubAllGlobals());

async function run(line: string): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) => ({
    write(text: string) {
      written[name] += text;
    },
  });
  const terminal = {
    env: { ACG_URL: 'http://127.0.0.1:1', ACG_TOKEN: 'token' },
    cwd: '/',
    home: '/nonexistent',
    platform: 'linux',
    uid: 0,
    stdin: {},
    stdout: stream('stdout'),
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
  [`custom-providers set ${ID} --slug groq-own`, { slug: 'groq-own' }],
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
