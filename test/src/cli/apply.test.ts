/** `acg apply` brings the organization to the state of the file; a second run changes nothing. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { SigningKey } from '../trust-rules/stand-in-issuer.js';
import { AcgCommand } from './acg-command.js';

const FILE = `
version: 1
customProviders:
  - slug: my-llm
    displayName: My LLM
    baseUrl: https://llm.example.com/v1/
    authType: header
    authName: x-key
    usageFormat: openai
    sensitivePaths: ["POST /keys", "DELETE /keys/**"]
projects:
  - name: Default
    budgetCentsMonthly: 100000
  - name: Crawlers
    budgetCentsMonthly: 5000
    agents:
      - name: Crawler
        description: reads
        status: paused
        budgetCentsMonthly: 1500
        rpmLimit: null
        tpmLimit: 1000
        usageThresholds: [80, 50]
        budgetMode: hard
        policy: {openai: {calls: ["GET /v1/models"]}}
        accounts:
          - provider: openai
            credentials: {apiKey: {env: OPENAI_KEY}}
          - provider: my-llm
            allowSensitivePaths: true
            credentials: {apiKey: {env: OPENAI_KEY}}
webhooks:
  - url: https://hooks.example.com/acg
    events: [usage.threshold, agent.deleted]
    status: paused
`;
let stack: Stack;
let tenant: Tenant;
let acg: AcgCommand;

beforeAll(async () => {
  stack = await Stack.start();
  tenant = await stack.signUpTenant();
  acg = new AcgCommand({ ACG_URL: stack.apiUrl, ACG_TOKEN: tenant.session });
});
afterAll(async () => {
  acg?.removeHome();
  await stack?.stop();
});

const env = { OPENAI_KEY: 'sk-from-a-variable' };
function apply(file: string, args: readonly string[] = [], variables: Readonly<Record<string, string>> = env) {
  const path = join(acg.homeDirectory, 'gateway.yaml');
  writeFileSync(path, file);
  return acg.run(['apply', '-f', path, ...args], { env: variables });
}
const audited = async (): Promise<number> => (await tenant.call('GET', '/v1/audit?limit=1')).body.total;

test('the plan is printed first; without confirmation or a required variable nothing changes', async () => {
  const before = await audited();
  const dry = await apply(FILE, ['--dry-run']);
  expect(dry.stdout).toContain('+ agent Crawler');
  expect(dry.stdout).toContain('budgetCentsMonthly: null → 100000');
  expect(dry.stdout).toContain('apiKey: $OPENAI_KEY'); // a file cannot read a variable unnoticed
  expect((await apply(FILE)).code).toBe(3);
  const missing = await apply(FILE, ['--yes'], {});
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('OPENAI_KEY is not set')]);
  expect(await audited()).toBe(before);
});

test('applied twice: the second time changes nothing', async () => {
  const first = await apply(FILE, ['--yes', '--json']);
  expect([first.code, first.stderr]).toEqual([0, expect.stringContaining('changes made')]);
  expect(first.stderr).toMatch(/: \+6 ~2 -0\n/);
  expect(first.json.applied).toBe(true);
  expect(first.json.webhookSecrets).toHaveLength(1);
  expect(first.stdout + first.stderr).not.toContain(env.OPENAI_KEY);
  const before = await audited();
  const second = await apply(FILE, ['--yes', '--json']);
  expect(second.json).toEqual({ changes: [], applied: false, webhookSecrets: [] });
  expect(await audited()).toBe(before);
  const { agents } = (await tenant.call('GET', '/v1/usage/agents')).body;
  expect(agents).toMatchObject([{ name: 'Crawler', status: 'paused', budgetCentsMonthly: 1500 }]);
});

test('applying an export changes nothing, as YAML and as JSON', async () => {
  const yaml = (await acg.runOk(['export'])).stdout;
  expect(yaml).not.toContain(env.OPENAI_KEY);
  expect(yaml).toContain('env: CRAWLER_OPENAI_API_KEY');
  for (const file of [yaml, (await acg.runOk(['export', '--format', 'json'])).stdout]) {
    expect((await apply(file, ['--prune', '--json'], {})).json.changes).toEqual([]);
  }
});

test('a changed field, and only that one', async () => {
  const { stdout, code } = await apply(FILE.replace('tpmLimit: 1000', 'tpmLimit: 2000'), ['--yes']);
  expect([code, stdout]).toEqual([0, '~ agent Crawler\n    tpmLimit: 1000 → 2000\n']);
});

test('--prune deletes resources missing in the file, in the sections it contains; without it nothing is deleted', async () => {
  const document = parse(FILE);
  document.projects.pop();
  delete document.webhooks;
  expect((await apply(stringify(document), ['--json'])).json.changes).toEqual([]);
  const pruned = await apply(stringify(document), ['--prune', '--yes', '--json']);
  expect(
    pruned.json.changes.map(({ action, type, name }: Record<string, string>) => `${action} ${type} ${name}`),
  ).toEqual(['delete agent Crawler', 'delete project Crawlers']);
  expect((await tenant.call('GET', '/v1/projects')).body.total).toBe(1);
  expect((await tenant.call('GET', '/v1/webhooks')).body.total).toBe(1);
});

test('--check: exit 9 and a summary where the organization differs, 0 where it does not; nothing is changed', async () => {
  const before = await audited();
  const drift = await apply(FILE.replace('tpmLimit: 1000', 'tpmLimit: 5'), ['--check']);
  expect([drift.code, drift.stderr]).toEqual([9, expect.stringMatching(/ at http\S+: \+\d+ ~\d+ -0\n$/)]);
  const same = await apply('version: 1\nprojects: [{name: Default}]', ['--check']);
  expect([same.code, same.stdout]).toEqual([0, '']);
  expect(same.stderr).toMatch(/^nothing to change in \S+ at http/);
  expect(await audited()).toBe(before);
});

const RULE = `
version: 1
projects:
  - name: Workloads
    agents: [{name: Deployer}]
trustRules:
  - name: deploy
    project: Workloads
    agent: Deployer
    issuer: https://token.actions.githubusercontent.com
    conditions: [{claim: repository_id, values: ["4711"]}, {claim: ref, values: [refs/heads/main, refs/heads/next]}]
    jwks: {keys: [KEY]}
`;

test('trust rules: created after their agent, changed in place, exported, and deleted by --prune only', async () => {
  const file = RULE.replace('KEY', JSON.stringify(new SigningKey('k1').jwk));
  const created = await apply(file, ['--yes']);
  expect([created.code, created.stdout]).toEqual([0, expect.stringContaining('+ trustRule deploy')]);
  const [rule] = (await tenant.call('GET', '/v1/trust-rules')).body.rules;
  expect(rule).toMatchObject({ name: 'deploy', agentName: 'Deployer', keySource: 'upload', keyLifetimeSeconds: 900 });
  const reordered = file.replace('[refs/heads/main, refs/heads/next]', '[refs/heads/next, refs/heads/main]');
  for (const same of [file, reordered]) expect((await apply(same, ['--json'])).json.changes).toEqual([]);
  expect((await apply((await acg.runOk(['export'])).stdout, ['--prune', '--json'], {})).json.changes).toEqual([]);
  const other = file.replace('"4711"', '"4712"');
  expect((await apply(other, ['--check'])).code).toBe(9);
  expect((await apply(other, ['--yes'])).stdout).toContain('~ trustRule deploy');
  const [changed] = (await tenant.call('GET', '/v1/trust-rules')).body.rules;
  expect(changed).toMatchObject({
    id: rule.id,
    conditions: [{ claim: 'repository_id', values: ['4712'] }, { claim: 'ref' }],
  });
  const moved = await apply(file.replace('https://token.actions', 'https://tokens'), ['--yes']);
  expect([moved.code, moved.stderr]).toEqual([expect.any(Number), expect.stringContaining('issuer cannot be changed')]);
  expect(moved.code).not.toBe(0);
  const nobody = await apply(file.replace('agent: Deployer', 'agent: Nobody').replace('name: deploy', 'name: other'), [
    '--yes',
  ]);
  expect(nobody.stderr).toContain('there is no agent Nobody in Workloads');
  const empty = 'version: 1\ntrustRules: []';
  expect((await apply(empty, ['--json'])).json.changes).toEqual([]);
  expect((await apply(empty, ['--prune', '--yes'])).stdout).toContain('- trustRule deploy');
  expect((await tenant.call('GET', '/v1/trust-rules')).body.total).toBe(0);
});

test.each([
  ['rpmLimit: 0', 'agent New: rpmLimit must be >= 1'],
  ['budgetMode: strict', 'agent New: budgetMode must be soft, hard'],
  ['budgetCentsMonthly: "5"', 'agent New: budgetCentsMonthly must be integer'],
  ['accounts: [{provider: openaai}]', 'New / openaai: there is no provider openaai'],
  ['accounts: [{provider: openai, sharedCredential: None}]', 'there is no shared credential None'],
])('--dry-run validates values: %s', async (fields, problem) => {
  const file = `version: 1\nprojects: [{name: Default, agents: [{name: New, ${fields}}]}]`;
  for (const option of ['--dry-run', '--yes']) {
    const { code, stderr } = await apply(file, [option]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
  }
});

test('shared credentials and the budget of the organization: the export of one recreates the other', async () => {
  const file = `
version: 1
organization: {budgetCentsMonthly: 250000}
sharedCredentials:
  - {name: Team key, provider: openai, credentials: {apiKey: {env: OPENAI_KEY}}}
projects:
  - name: Default
    personalAgents: {sharedCredentials: [Team key]}
    agents:
      - {name: First, accounts: [{provider: openai, sharedCredential: Team key}]}
      - {name: Second, accounts: [{provider: openai, sharedCredential: Team key}]}
`;
  const dry = await apply(file, ['--dry-run']);
  expect(dry.stdout).toContain('+ sharedCredential Team key\n    apiKey: $OPENAI_KEY\n');
  const applied = await apply(file, ['--yes']);
  expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining('budgetCentsMonthly: null → 250000')]);
  expect((await tenant.call('GET', '/v1/credentials')).body).toMatchObject({
    total: 1,
    credentials: [{ accounts: 2 }],
  });
  // The owner's personal agent is neither exported nor pruned, unless its project is.
  const own = { name: 'laptop', projectId: tenant.projectId };
  const { agent } = (await tenant.call('POST', '/v1/personal-agents/keys', own)).body;
  const exported = parse((await acg.runOk(['export'])).stdout);
  expect(exported.organization).toEqual({
    budgets: [{ window: 'month', cents: 250_000, mode: 'soft' }],
    agentDefaults: null,
  });
  const project = exported.projects.find(({ name }: { name: string }) => name === 'Default');
  expect(project.personalAgents).toEqual({ sharedCredentials: ['Team key'] });
  expect(JSON.stringify(exported)).not.toContain(agent.name);
  expect(exported.sharedCredentials).toEqual([
    { name: 'Team key', provider: 'openai', credentials: { apiKey: { env: 'TEAM_KEY_OPENAI_API_KEY' } } },
  ]);
  expect((await apply(stringify(exported), ['--prune', '--json'], {})).json.changes).toEqual([]);
  // A trust rule of that agent: an admin may create it, and a document neither names, exports nor prunes it.
  const rule = {
    issuer: 'https://token.actions.githubusercontent.com',
    conditions: [{ claim: 'repository_id', values: ['1'] }],
  };
  const jwks = { keys: [new SigningKey('k1').jwk] };
  const made = await tenant.call('POST', '/v1/trust-rules', { name: 'of a member', agentId: agent.id, jwks, ...rule });
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  const again = parse((await acg.runOk(['export'])).stdout);
  expect(again).toEqual(exported);
  expect((await apply(stringify({ ...again, trustRules: [] }), ['--prune', '--json'], {})).json.changes).toEqual([]);
  const naming = { version: 1, trustRules: [{ name: 'new', project: 'Default', agent: agent.name, jwks, ...rule }] };
  const refused = await apply(stringify(naming), ['--yes'], {});
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('there is no agent')]);
  const withoutKey = { ...exported, projects: [{ name: 'Default', personalAgents: { sharedCredentials: ['Other'] } }] };
  expect((await apply(stringify(withoutKey), ['--dry-run'])).stderr).toContain('no shared credential Other');
  const unused = {
    ...exported,
    sharedCredentials: [],
    projects: [{ name: 'Default', personalAgents: null, agents: [] }],
  };
  const pruned = await apply(stringify(unused), ['--prune', '--yes']);
  expect([pruned.code, pruned.stdout]).toEqual([0, expect.stringContaining('- sharedCredential Team key')]);
  expect((await tenant.call('GET', `/v1/agents/${agent.id}`)).body.agent.status).toBe('revoked');
});

test.each([
  ['[A, A]', 'Default: personalAgents lists A twice'],
  ['[A, B]', 'Default: A and B are of openai: an agent has one account a provider'],
  ['[Elsewhere]', 'the shared credential Elsewhere is for agents of the project Other'],
  ['[None]', 'there is no shared credential None'],
])('personalAgents %s of a file that creates the credentials changes nothing', async (names, problem) => {
  const before = await audited();
  const file = `
version: 1
sharedCredentials:
  - {name: A, provider: openai, credentials: {apiKey: {env: OPENAI_KEY}}}
  - {name: B, provider: openai, project: Default, credentials: {apiKey: {env: OPENAI_KEY}}}
  - {name: Elsewhere, provider: openai, project: Other, credentials: {apiKey: {env: OPENAI_KEY}}}
projects:
  - {name: Other}
  - {name: Default, personalAgents: {sharedCredentials: ${names}}}
`;
  const { code, stderr } = await apply(file, ['--yes']);
  expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
  expect(await audited()).toBe(before);
});

test('personalAgents with a name that two shared credentials have is an error', async () => {
  const twice = { name: 'Same name', providerSlug: 'groq', credentials: { apiKey: 'sk-example-example' } };
  const ids = [];
  for (const _ of [1, 2]) ids.push((await tenant.call('POST', '/v1/credentials', twice)).body.credential.id);
  const file = 'version: 1\nprojects: [{name: Default, personalAgents: {sharedCredentials: [Same name]}}]';
  const { code, stderr } = await apply(file, ['--yes']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('there are 2 shared credentials Same name')]);
  for (const id of ids) await tenant.call('DELETE', `/v1/credentials/${id}`);
});

const BUDGETS_FILE = `
version: 1
organization:
  budgets: [{window: month, cents: 300000, mode: hard}, {window: day, cents: 20000}]
  agentDefaults: {rpmLimit: 90, budgets: [{window: day, cents: 500}], auditLimits: [tpm, rpd]}
projects:
  - name: Budgeted
    budgetCentsMonthly: 90000
    budgets: [{window: week, cents: 30000, models: [o3*, gpt-5*], mode: hard}]
    agentDefaults: {budgetCentsMonthly: 700, budgetMode: hard}
    agents:
      - {name: Plain}
      - name: Limited
        rpmLimit: null
        budgetCentsMonthly: 4000
        budgets:
          - {window: total, cents: 100000}
          - {window: day, cents: 500, tag: customer=acme, mode: audit}
        auditLimits: [rpm]
      - {name: Free, budgets: [], rpmLimit: 5, onStoreLoss: null}
`;

test('budget rows, audit mode and defaults for new agents: applied once, a second run and the export change nothing', async () => {
  const first = await apply(BUDGETS_FILE, ['--yes']);
  expect([first.code, first.stderr]).toEqual([0, expect.stringContaining('changes made')]);
  const again = await apply(BUDGETS_FILE, ['--check']);
  expect([again.code, again.stdout]).toEqual([0, '']);
  const projectId = (await tenant.call('GET', '/v1/projects?search=Budgeted')).body.projects[0].id;
  const { agents } = (await tenant.call('GET', `/v1/agents?projectId=${projectId}`)).body;
  const read = async (name: string) => {
    const { id } = agents.find((agent: { name: string }) => agent.name === name);
    const { budgets, rpmLimit, auditLimits } = (await tenant.call('GET', `/v1/agents/${id}`)).body.agent;
    const rows = budgets.map(
      (row: Record<string, unknown>) => `${row.window} ${row.cents} ${row.mode} ${row.tag ?? ''}`,
    );
    return [rows, rpmLimit, auditLimits];
  };
  expect(await read('Plain')).toEqual([['month 700 hard '], 90, ['rpd', 'tpm']]);
  expect(await read('Limited')).toEqual([
    ['month 4000 soft ', 'total 100000 soft ', 'day 500 audit customer=acme'],
    60,
    ['rpm'],
  ]);
  expect(await read('Free')).toEqual([[], 5, ['rpd', 'tpm']]);
  const exported = (await acg.runOk(['export'])).stdout;
  expect(exported).not.toContain('spentCents');
  // It follows from the hard rows of the organization.
  expect(exported).not.toContain('onStoreLoss');
  expect((await apply(exported, ['--prune', '--json'], {})).json.changes).toEqual([]);
});

test('a changed row is a difference, and the plain monthly budget beside it stays', async () => {
  const changed = BUDGETS_FILE.replace('{window: total, cents: 100000}', '{window: total, cents: 200000}');
  expect((await apply(changed, ['--check'])).code).toBe(9);
  const { code, stdout } = await apply(changed, ['--yes']);
  expect([code, stdout]).toEqual([
    0,
    '~ agent Limited\n    budgets: - {"window":"total","cents":100000,"mode":"soft"}\n             + {"window":"total","cents":200000,"mode":"soft"}\n',
  ]);
  const exported = parse((await acg.runOk(['export'])).stdout);
  const project = exported.projects.find(({ name }: { name: string }) => name === 'Budgeted');
  expect(project.agents.find(({ name }: { name: string }) => name === 'Limited').budgets).toEqual([
    { window: 'month', cents: 4000, mode: 'soft' },
    { window: 'total', cents: 200_000, mode: 'soft' },
    { window: 'day', cents: 500, tag: 'customer=acme', mode: 'audit' },
  ]);
  expect((await apply(changed, ['--check'])).code).toBe(0);
});

test('the order of rows is a difference, because the gateway checks them in this order', async () => {
  const row = (cents: number, tag: string) => `{window: day, cents: ${cents}, tag: ${tag}}`;
  const file = (...rows: readonly string[]) => `version: 1\nprojects: [{name: Ordered, budgets: [${rows.join(', ')}]}]`;
  expect((await apply(file(row(1, 'a=1'), row(2, 'b=2')), ['--yes'])).code).toBe(0);
  expect((await apply(file(row(2, 'b=2'), row(1, 'a=1')), ['--check'])).code).toBe(9);
  expect((await apply(file(row(2, 'b=2'), row(1, 'a=1')), ['--yes'])).code).toBe(0);
  expect((await apply(file(row(2, 'b=2'), row(1, 'a=1')), ['--check'])).code).toBe(0);
});

test.each([
  ['budgets: [{window: year, cents: 5}]', 'project Wrong: budgets.0.window must be day, week, month, total'],
  ['budgets: [{window: day, cents: 5, typo: 1}]', 'project Wrong: budgets.0 must NOT have additional properties'],
  ['budgets: {window: day, cents: 5}', 'project Wrong: budgets must be array'],
  ['budgets: [5]', 'project Wrong: budgets.0 must be object'],
  ['budgets: [{window: day, cents: 5, models: gpt}]', 'project Wrong: budgets.0.models must be array'],
  ['agentDefaults: {budgets: [{cents: 5}]}', "agentDefaults.budgets.0 must have required property 'window'"],
  ['agentDefaults: {rpm: 5}', 'agentDefaults must NOT have additional properties'],
  [
    'budgets: [{window: day, cents: 5, models: [b, a]}, {window: day, cents: 6, models: [a, b]}]',
    'projects Wrong: budgets[0] and budgets[1] have the same window, models and tag',
  ],
  [
    'budgetCentsMonthly: 5, budgets: [{window: month, cents: 6}]',
    'projects Wrong: budgetCentsMonthly (5) and budgets[0].cents (6) contradict each other',
  ],
  [
    'agentDefaults: {budgetMode: hard, budgets: [{window: month, cents: 6, mode: soft}]}',
    'projects Wrong: agentDefaults: budgetMode (hard) and budgets[0].mode (soft) contradict each other',
  ],
])('wrong budgets change nothing: %s', async (fields, problem) => {
  const before = await audited();
  for (const project of ['Wrong', 'Default']) {
    const file = `version: 1\nprojects: [{name: ${project}, ${fields}}]`;
    const { code, stderr } = await apply(file, ['--yes']);
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem.replace('Wrong', project))]);
  }
  expect(await audited()).toBe(before);
});

test('the example of the documentation is a valid file', async () => {
  const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
  const example = page.split('The file is YAML or JSON:\n\n')[1]!.split('\n\nThe fields are')[0]!;
  const { code, stderr } = await apply(example.replaceAll(/^ {4}/gm, ''), ['--dry-run']);
  expect([code, stderr]).toEqual([0, expect.stringContaining(' at http')]);
});

test('a secret in the file is named', async () => {
  const account = '{provider: openai, credentials: {apiKey: sk-in-the-file}}';
  const file = `version: 1\nprojects: [{name: Default, agents: [{name: Bare, accounts: [${account}]}]}]`;
  const { stdout, stderr } = await apply(file, ['--dry-run']);
  expect(stderr).toContain('Bare / openai: apiKey is a secret in the file: name a variable instead');
  expect(stdout + stderr).not.toContain('sk-in-the-file');
});

test.each([
  ['no version', 'projects: []'],
  ['an unknown field', 'version: 1\nprojects: [{name: a, budget: 5}]'],
  ['a name twice', 'version: 1\nprojects: [{name: a}, {name: a}]'],
  ['no YAML', 'version: 1\nprojects: [}'],
  [
    'a bomb',
    `version: 1\na: &a [x,x,x,x,x,x,x,x,x,x]\n${[...'bcdefgh'].map((n, i) => `${n}: &${n} [${`*${'abcdefgh'[i]},`.repeat(10)}]`).join('\n')}`,
  ],
])('a file with %s is refused', async (_what, file) => {
  expect((await apply(file, ['--yes'])).code).toBe(2);
});
