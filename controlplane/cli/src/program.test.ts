/** Which request a command line becomes, and what is printed for users. */
import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { EXAMPLES } from './commands/examples.js';
import { COMMAND_GROUPS } from './commands/registry.js';
import { ID, OTHER_ID, RESPONSE, run, stubApi } from './testing/run-command-line.js';

const api = stubApi();

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
  expect(api.requests.map((request) => request.body)).toEqual([body]);
});

test('the id is in the path, and the answer is printed for users', async () => {
  expect(await run(`agents pause ${ID}`)).toEqual({ code: 0, stdout: '✓ bot is paused\n', stderr: '' });
  expect(await run(`webhooks rotate ${ID}`)).toEqual({
    code: 0,
    stdout: 'whsec_new\n',
    stderr: 'shown once; the old secret signs no more\n',
  });
  expect(api.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
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
  expect(api.requests).toEqual([]);
});

test('a policy is read from stdin; null is no policy, which only --no-policy removes', async () => {
  const policy = { openai: { calls: ['GET /v1/models'] } };
  await run(`agents set ${ID} --policy-file -`, { input: JSON.stringify(policy) });
  expect(api.requests.map(({ body }) => body)).toEqual([{ policy }]);
  const removed = await run(`agents set ${ID} --policy-file -`, { input: 'null' });
  expect([removed.code, removed.stderr]).toEqual([2, expect.stringContaining('--no-policy')]);
  const unasked = await run(`agents set ${ID} --no-policy`);
  expect([unasked.code, unasked.stderr]).toEqual([3, expect.stringContaining('It may then make every call.')]);
  expect(api.requests).toHaveLength(1);
});

const refuseConnection = (): never => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) });
};

test('doctor names the connection failure, and which checks it did not make', async () => {
  api.respond = refuseConnection;
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
  api.respond = () => Response.json({ error: 'no' }, { status: 401, headers: { 'x-gateway-request-id': ID } });
  for (const line of ['doctor', 'whoami', 'status'])
    expect(Object.values(await run(line)).join()).toContain('http://127.0.0.1:1 is the port of agents');
});

test('a terminal that reports no width has 80 columns', async () => {
  const wide = await run('keys ls', { columns: 80 });
  expect((await run('keys ls', { columns: 0 })).stdout).toBe(wide.stdout);
  expect(wide.stdout).toContain('acg_1');
});

const LOGGED_IN = { ...RESPONSE, agents: [{ id: ID, name: 'bot', slug: 'bot' }] };

test('--jq prints what a filter selects, and names a filter that is wrong', async () => {
  api.respond = () => Response.json({ ...LOGGED_IN, total: 1 });
  expect((await run('agents ls --jq .agents[].slug')).stdout).toBe('bot\n');
  expect((await run('agents ls --jq [.agents[].name,.total]')).stdout).toBe('["bot",1]\n');
  expect(await run('agents ls --jq .agents[')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('acg: --jq: '),
  });
  api.respond = () => Response.json({ agents: [{ name: 'a\u001b[2J\u202e' }], total: 1, offset: 0 });
  expect((await run('agents ls --jq .agents[].name')).stdout).toBe('a\\u001b[2J\\u202e\n');
});

test('fields of the API become options in errors', async () => {
  const problem = (error: string): void => {
    api.respond = () => Response.json({ error }, { status: 400 });
  };
  const stderr = async (line: string): Promise<string> => (await run(line)).stderr;
  problem('rpmLimit must be >= 1');
  expect(await stderr(`agents set ${ID} --rpm 0`)).toBe(
    'acg: --rpm must be at least 1\n     → acg agents set --help\n',
  );
  problem('baseUrl must NOT have fewer than 1 characters');
  expect(await stderr('custom-providers add groq')).toContain('acg: --base-url is missing\n');
  problem('the body must have at least one field');
  expect(await stderr(`agents set ${ID}`)).toContain('nothing to change: give at least one option');
  problem('id must match format "uuid"');
  expect(await stderr('call x')).toContain('acg: <call> must be an id\n');
  problem('url the port 21500 is not allowed (443 are)');
  expect(await stderr('webhooks add https://a.example:21500 --events agent.created')).toContain('EGRESS_ALLOW_CIDRS');
});

test('hints fit the command that was wrong', async () => {
  expect((await run(`agents set ${ID} --nothing`)).stderr).toContain('→ acg agents set --help\n');
  expect((await run('agents sett')).stderr).toContain('→ acg agents --help\n');
  expect((await run('run node -e 1')).stderr).toContain('put -- before the program');
  expect((await run('api FOO /v1/me')).stderr).toContain('It must be GET, POST, PUT, PATCH, DELETE.');
  api.respond = () => Response.json({ error: 'a management token cannot do this: log in as a user' }, { status: 403 });
  expect((await run('org create Acme')).stderr).toBe('acg: a management token cannot do this: log in as a user\n');
});

test('an empty list says so on a terminal only', async () => {
  api.respond = () => Response.json({ keys: [], total: 0, offset: 0 });
  expect(await run('keys ls', { columns: 80 })).toMatchObject({ stdout: '', stderr: 'none\n' });
  expect(await run('keys ls')).toMatchObject({ stdout: '', stderr: '' });
});

test('two webhooks with one URL are told apart by their ids', async () => {
  const endpoint = { url: 'https://a.example/x', events: [], status: 'active' };
  api.respond = () =>
    Response.json({
      endpoints: [
        { ...endpoint, id: ID },
        { ...endpoint, id: OTHER_ID },
      ],
      total: 2,
      offset: 0,
    });
  const { code, stderr } = await run('webhooks rm https://a.example/x --yes');
  expect([code, stderr]).toEqual([2, expect.stringContaining(`2 webhooks have this URL: ${ID}, ${OTHER_ID}`)]);
  expect(api.requests.map(({ method }) => method)).toEqual(['GET']);
});

test('the name of a rotated key means the new one', async () => {
  const old = { id: ID, name: 'ci', keyPrefix: 'acg_1', replacedBy: OTHER_ID };
  const keys = [old, { ...old, id: OTHER_ID, keyPrefix: 'acg_2', replacedBy: null }];
  api.respond = () => Response.json({ keys, key: keys[1], total: 2, offset: 0 });
  await run('keys set ci --name cd');
  expect(api.requests.at(-1)!.path).toBe(`/v1/api-keys/${OTHER_ID}`);
});

test('usage series is broken down, usage compare rejects options that it ignores', async () => {
  const point = { bucket: '2026-11-22', costCents: 5, requests: 1, errors: 0, rejectedRequests: null, avgLatency: 12 };
  api.respond = () => Response.json({ timeseries: [], groups: [{ name: 'Bot', value: ID, timeseries: [point] }] });
  const { stdout } = await run('usage --by agent series');
  expect(api.requests.at(-1)!.body).toEqual({ groupBy: 'agent' });
  expect(stdout).toBe(
    'FROM (UTC)\tAGENT\tSPEND\tCALLS\tERRORS\tREJECTED\tLATENCY\n2026-11-22\tBot\t$0.05\t1\t0\t–\t12 ms\n',
  );
  expect((await run(`usage --by agent compare ${ID} ${OTHER_ID}`)).code).toBe(2);
});

test('logs have date, zone and id; rejections and a model that is not found are explained', async () => {
  const call = {
    ...{ id: ID, createdAt: '2026-11-22T16:51:54.123Z', agentName: 'bot', providerSlug: 'openai', method: 'GET' },
    ...{ path: '/v1/models', status: 200, error: null, model: null, tokensIn: 0, tokensOut: 0, costCents: 0 },
    durationMs: 96,
  };
  const page = { total: 1, limit: 100, offset: 0, totalCapped: false, searchedFrom: null };
  api.respond = (path) =>
    Response.json(
      path.endsWith('/refusals') ? { refusals: [{ reason: 'denied_call', count: 3 }] } : { logs: [call], ...page },
    );
  const { stdout, stderr } = await run('logs');
  expect(stdout).toBe(`2026-11-22 16:51:54Z bot openai GET /v1/models 200 96 ms ${ID}\n`);
  expect(stderr).toBe('rejected in the last 24 h: 3 × denied_call (The agent’s policy does not allow this call.)\n');
  api.respond = () => Response.json({ logs: [], ...page, total: 0 });
  expect((await run('logs --model gpt-5-mini')).stderr).toContain('--search gpt-5-mini');
});

test('a gateway token is no login', async () => {
  const { code, stderr } = await run('login --with-token', { input: `acg_${'0'.repeat(64)}\n` });
  expect([code, stderr]).toEqual([2, expect.stringContaining('this is a gateway token')]);
});

test('a call is shown as fields', async () => {
  api.respond = () => Response.json({ log: { id: ID, status: 200, error: null, streamed: true } });
  expect((await run(`call ${ID}`)).stdout).toBe(`id\t${ID}\nstatus\t200\nstreamed\ttrue\n`);
});

test('an agent is shown with its project, spend, accounts and tokens', async () => {
  const limits = { budgetCentsMonthly: null, usageThresholds: [], policy: null };
  const agent = { slug: 'bot', name: 'Bot', id: ID, status: 'active', createdAt: '', description: '', ...limits };
  const usage = { projectName: 'Default', monthCents: 120, lastCallAt: null };
  const accounts = [{ providerSlug: 'openai', status: 'active' }];
  api.respond = () => Response.json({ agent, agents: [usage], accounts, total: 1, offset: 0 });
  const { stdout } = await run(`agents get ${ID}`);
  expect(stdout).toContain('project\tDefault\nspend this month\t$1.20\n');
  expect(stdout).toContain('providers\topenai (active)\ngateway tokens\t1 active\n');
  api.requests = [];
  await run(`agents get ${ID} --json`);
  expect(api.requests).toHaveLength(1);
});

test('a profile is forgotten with its login; one that is logged in only after a question', async () => {
  const home = mkdtempSync(join(tmpdir(), 'acg-profiles-'));
  const files = join(home, 'acg');
  mkdirSync(files);
  const url = 'http://127.0.0.1:1';
  const session = { url, token: 't', orgId: ID, org: 'acme' };
  writeFileSync(
    join(files, 'config.json'),
    JSON.stringify({ current: 'work', profiles: { work: { url }, other: {} } }),
  );
  writeFileSync(join(files, 'credentials.json'), JSON.stringify({ sessions: { work: session } }), { mode: 0o600 });
  const env = { XDG_CONFIG_HOME: home };
  const read = (file: string) => JSON.parse(readFileSync(join(files, file), 'utf8'));
  expect((await run('use work --forget', { env })).code).toBe(3);
  expect((await run('use other --forget', { env })).code).toBe(0);
  expect(await run('use work --forget --yes --json', { env })).toMatchObject({ code: 0 });
  expect([read('config.json'), read('credentials.json').sessions]).toEqual([{ current: 'default', profiles: {} }, {}]);
  rmSync(home, { recursive: true });
});

test('policy test says what would reject a call, with an exit code', async () => {
  api.respond = () => Response.json({ allowed: false, reason: 'denied_model' });
  const line = `policy test POST_/v1/x --agent ${ID} --provider openai --model gpt-5 --policy-file -`;
  const { code, stdout } = await run(line, { input: '{"openai":{}}' });
  expect([code, stdout]).toEqual([5, '✗ denied_model: The agent’s policy does not allow this model.\n']);
  expect(api.requests.at(-1)!.body).toEqual({
    ...{ call: 'POST_/v1/x', providerSlug: 'openai', model: 'gpt-5' },
    policy: { openai: {} },
  });
  api.respond = () => Response.json({ allowed: true, reason: null });
  expect(await run(`policy test x --agent ${ID} --provider openai`)).toMatchObject({
    code: 0,
    stdout: '✓ the call would pass\n',
  });
});

test('listen posts an event as a webhook delivery, with its signature', async () => {
  const received: { readonly headers: Headers; readonly body: string }[] = [];
  const callApi = globalThis.fetch;
  vi.stubGlobal('fetch', async (input: Request | string, init?: RequestInit) => {
    if (typeof input !== 'string') return callApi(input);
    received.push({ headers: new Headers(init?.headers), body: String(init?.body) });
    return new Response(null, { status: 204 });
  });
  api.respond = () => Response.json({ types: [{ event: 'agent.created', sample: { agentName: 'Bot' } }] });
  const env = { SECRET: 'whsec_1' };
  const line = 'listen --forward-to http://localhost:3000/hooks --sample agent.created --secret-env SECRET';
  const { code, stdout } = await run(line, { env });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Z agent\.created → 204 in \d+ ms\n$/)]);
  const [{ headers, body }] = received as [(typeof received)[0]];
  expect(JSON.parse(body)).toEqual({
    event: 'agent.created',
    timestamp: expect.any(String),
    data: { agentName: 'Bot' },
  });
  const signature = createHmac('sha256', 'whsec_1').update(body).digest('hex');
  expect(Object.fromEntries(headers)).toMatchObject({
    'x-webhook-event': 'agent.created',
    'x-webhook-signature': signature,
    'x-webhook-signatures': `v1=${signature}`,
  });
  expect((await run(line.replace('created', 'nothing'), { env })).code).toBe(2);
});

test('the help lists commands by topic; each has examples, whose words and options exist', async () => {
  const { stdout } = await run('--help');
  for (const topic of ['Run programs:', 'Agents and credentials:', 'Observe:'])
    expect(stdout).toContain(`\n${topic}\n`);
  expect(stdout).not.toContain('\nCommands:\n');
  for (const [command, examples] of Object.entries(EXAMPLES)) {
    const help = (await run(`${command} --help`)).stdout;
    expect(help).toContain(`Usage: acg ${command}`);
    for (const example of examples) {
      expect(help).toContain(example);
      for (const option of example
        .replaceAll(/'[^']*'/g, '')
        .split(' -- ')[0]!
        .match(/(?<= )--[a-z-]+/g) ?? [])
        expect([command, help]).toEqual([command, expect.stringContaining(option)]);
    }
  }
});

test('no command is without an example', async () => {
  const commands: string[] = [];
  for (const [group, { topic }] of Object.entries(COMMAND_GROUPS)) {
    if (topic === null) continue;
    const [, list = ''] = (await run(`${group} --help`)).stdout.split('\nCommands:\n');
    const subcommands = [...list.split('\n\n')[0]!.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => `${group} ${name}`);
    commands.push(...(subcommands.length === 0 ? [group] : subcommands));
  }
  expect(commands.filter((command) => EXAMPLES[command] === undefined)).toEqual([]);
});

test.each(['bash', 'zsh', 'fish', 'powershell'])('the completion of %s can be loaded twice', async (shell) => {
  const { stdout } = await run(`completion ${shell}`);
  expect(stdout).toContain('complete');
  expect(stdout).not.toMatch(/^readonly /m);
});
