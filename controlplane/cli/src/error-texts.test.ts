/** What an error says: options instead of fields of the API, plain words, and what to do next. */
import { expect, test } from 'vitest';
import { ID, OTHER_ID, RESPONSE, run, stubApi } from './testing/run-command-line.js';

const api = stubApi();

test.each([
  ['logs --limit 0', 'limit must be >= 1', '--limit must be at least 1'],
  [
    'logs --before yesterday',
    'endTime must match format "date-time"',
    '--before must be an instant, e.g. 2026-11-22T08:00:00Z',
  ],
  ['logs --run x', 'runId must match format "uuid"', '--run must be an id'],
  ['events --event x', 'event must be one of agent.created', '--event must be one of agent.created'],
  [`runs start --agent ${ID} --budget 0`, 'budgetCents must be >= 1', '--budget must be at least 0.01'],
  [`webhooks rotate ${ID} --grace 30d`, 'graceSeconds must be <= 604800', '--grace must be at most 7d'],
  ['webhooks add https://a.example --events a', 'events.0 must be one of b', '--events must be one of b'],
  [
    `custom-providers add x --base-url https://a.example:1`,
    'baseUrl the port 1 is not allowed',
    '--base-url: the port 1 is not allowed',
  ],
  [`webhooks replay ${ID} --since 6h --status x`, 'status.0 must be one of failed', '--status must be one of failed'],
])('%s names the option, not the field of the API', async (line, error, expected) => {
  api.respond = () => Response.json({ error }, { status: 400 });
  const { code, stderr } = await run(line);
  expect([code, stderr.split('\n')[0]]).toEqual([2, `acg: ${expected}`]);
});

test('messages of a schema become plain words where no option has the name', async () => {
  api.respond = () => Response.json({ error: 'password must NOT have fewer than 10 characters' }, { status: 400 });
  const signup = await run('signup --email a@example.com --org-name A --password-stdin', { input: 'short' });
  expect(signup.stderr).toBe('acg: --password-stdin must have at least 10 characters\n     → acg signup --help\n');
  api.respond = () =>
    Response.json({ error: 'nothing.0.firstName must NOT have more than 9 characters' }, { status: 400 });
  expect((await run('logs')).stderr).toBe('acg: firstName must have at most 9 characters\n');
});

test('a conflict and a wrong policy name what resolves them', async () => {
  api.respond = () => Response.json({ error: 'this e-mail already has an account: log in instead' }, { status: 409 });
  expect(
    (await run('signup --email a@example.com --org-name A --password-stdin', { input: 'long enough password' })).stderr,
  ).toContain('→ acg login --email <address>\n');
  api.respond = () => Response.json({ error: 'unknown field "allow" in policy.openai' }, { status: 400 });
  expect((await run(`agents set ${ID} --policy-file -`, { input: '{}' })).stderr).toContain('"calls": ["POST /v1/chat');
});

test('a file that cannot be opened is a mistake of the command line', async () => {
  expect(await run(`agents set ${ID} --policy-file /no/such.json`)).toMatchObject({
    code: 2,
    stderr: 'acg: cannot open /no/such.json: no such file or directory\n',
  });
});

test('a wrong argument is named as the help writes it', async () => {
  expect((await run('budgets set x')).stderr).toContain("acg: 'x' is invalid for <usd>. It must be US dollars");
  expect((await run('budgets set')).stderr).toContain('acg: missing <usd>\n');
});

test('a budget row that does not exist is not found', async () => {
  api.respond = () =>
    Response.json({
      ...RESPONSE,
      agent: { budgets: [] },
      project: { budgets: [] },
      org: { budgets: [] },
      budgets: [],
    });
  expect(await run('budgets rm --window week')).toMatchObject({ code: 6 });
});

test('status names only the providers that do not work', async () => {
  const providers = [...'abc'].map((slug) => ({ slug, status: slug === 'b' ? 'outage' : 'operational' }));
  const user = { email: 'a@example.com' };
  api.respond = () => Response.json({ user, orgs: [], role: 'owner', providers, status: 'outage', version: '1' });
  expect((await run('status')).stdout).toContain('2 of 3 operational · b outage\n');
});

test('agents side by side have the names that the command gave', async () => {
  const agent = { agentName: 'bot', costUsd: 0, totalRequests: 0, errorRate: 0, p95Latency: 0, rejectedRequests: 0 };
  api.respond = () => Response.json({ agents: [ID, OTHER_ID].map((agentId) => ({ ...agent, agentId })) });
  const { stdout } = await run(`usage compare ${OTHER_ID} ${ID}`);
  expect(stdout).toContain(`${ID}\t$0.00`);
  expect(stdout).toContain(`${OTHER_ID}\t$0.00`);
});

test('acg api keeps the names of the API, because its parameters have them', async () => {
  api.respond = () => Response.json({ error: 'projectId is required' }, { status: 400 });
  expect((await run('api GET /v1/agents')).stderr).toBe('acg: projectId is required\n');
});

test('doctor says that a port does not speak TLS', async () => {
  api.respond = () => {
    throw new TypeError('fetch failed', {
      cause: Object.assign(new Error(), { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }),
    });
  };
  const { stdout } = await run('doctor', { env: { ACG_URL: 'https://127.0.0.1:1' } });
  expect(stdout).toContain(
    '✗ control plane: https://127.0.0.1:1/readyz does not speak TLS\n  → --url http://127.0.0.1:1\n',
  );
});

test('apply names the document that is wrong', async () => {
  expect((await run('apply -f -', { input: 'a: [' })).stderr).toContain('acg: standard input: ');
  expect(await run('apply -f /no/such.yaml')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('acg: cannot open /no/such.yaml: no such file'),
  });
});

test('in a narrow terminal a run keeps its id, which other commands need', async () => {
  const row = {
    label: 'nightly',
    agentName: 'support-bot',
    state: 'running',
    spentCents: 0,
    budgetCents: 100,
    calls: 0,
    endsAt: '2026-11-28T10:22:00Z',
    id: OTHER_ID,
  };
  api.respond = () => Response.json({ runs: [row], total: 1, offset: 0 });
  expect((await run('runs ls', { columns: 60 })).stdout).toContain(OTHER_ID);
});
