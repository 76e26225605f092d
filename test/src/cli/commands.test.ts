/**
 * Runs every command against the real stack, without a terminal and with `--json`: the output matches the API document
 * of its route, and no command waits for input. The first command of each group is a process of the built program.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPool } from '@acg/controlplane/db/postgres-client';
import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack, TENANT_PASSWORD, type Tenant } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { CLIENT_ID, CLIENT_SECRET, HostileProvider } from '../sso/hostile-provider.js';
import { BILLING_ADMIN_KEY, BillingReportsStandIn } from '../stand-in-providers/billing-reports.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { SigningKey } from '../trust-rules/stand-in-issuer.js';
import { AcgCommand, type ProcessResult } from './acg-command.js';

const addFormats = createRequire(import.meta.url)('ajv-formats') as (ajv: Ajv2020) => void;
const DOCUMENT = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../../controlplane/openapi.json', import.meta.url)), 'utf8'),
);
const openai = new OpenAiStandIn();
const billing = new BillingReportsStandIn();
let identityProvider: HostileProvider;
let stack: Stack;
let tenant: Tenant;
let acg: AcgCommand;
let gateway = '';

beforeAll(async () => {
  await openai.start();
  await billing.start();
  identityProvider = await HostileProvider.start();
  stack = await Stack.start({ providers: { openai: openai.origin, anthropic: billing.origin } });
  tenant = await stack.signUpTenant();
  gateway = (await stack.addDataPlane()).url;
  acg = new AcgCommand({ ACG_URL: stack.apiUrl, ACG_GATEWAY_URL: gateway });
  await acg.runOk(['login', '--with-token'], { input: tenant.session });
});
afterAll(async () => {
  acg?.removeHome();
  await stack?.stop();
  await openai.close();
  await billing.close();
  await identityProvider?.stop();
});

/** Closed schemas: an additional field is an error, too. */
function schemaOf(method: string, path: string): object {
  const operation = DOCUMENT.paths[path]?.[method.toLowerCase()];
  const success = Object.keys(operation?.responses ?? {}).find((status) => status.startsWith('2'));
  if (success === undefined) throw new Error(`the document has no ${method} ${path}`);
  return { components: DOCUMENT.components, ...operation.responses[success].content['application/json'].schema };
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);

function demandBody(outcome: ProcessResult, route: string): void {
  const [method, path] = route.split(' ');
  const isValid = ajv.validate(schemaOf(method!, path!), outcome.json);
  expect([route, isValid, ajv.errorsText()]).toEqual([route, true, 'No errors']);
}

/** Writes a set of one public key; returns the path. */
function writeJwks(): string {
  const path = join(acg.homeDirectory, 'jwks.json');
  writeFileSync(path, JSON.stringify({ keys: [new SigningKey('k1').jwk] }));
  return path;
}

/** Inserts an open alert of the rule, whose last evaluation failed; returns the alert's id. */
async function openAlert(ruleId: string): Promise<string> {
  const sql = openPool(stack.database.url, { connectionsMax: 1, applicationName: 'test' });
  const [alert] = await sql<{ id: string }[]>`
    insert into alerts (id, org_id, rule_id, value) select gen_random_uuid(), org_id, id, 1 from alert_rules
     where id = ${ruleId} returning id`;
  await sql`
    update alert_rules set failed_at = now(), evaluated_at = now() + interval '1 day', revision = revision + 1
     where id = ${ruleId}`;
  await sql.end();
  return alert!.id;
}

const KEY = { input: PROVIDER_CREDENTIALS.openai };

test('every command, in an order in which each finds what it needs', async () => {
  const walked = new Set<string>();
  const processGroups = new Set<string>();
  const runJson = (args: readonly string[], options: object = {}): Promise<ProcessResult> => {
    const asProcess = !processGroups.has(args[0]!);
    processGroups.add(args[0]!);
    walked.add(commandOf(args));
    return acg.runOk([...args, '--json'], { ...options, asProcess });
  };
  const walk = async (route: string, args: readonly string[], options: object = {}): Promise<ProcessResult> => {
    const outcome = await runJson(args, options);
    demandBody(outcome, route);
    expect(outcome.stdout).not.toContain(tenant.session);
    return outcome;
  };
  const own = async (args: readonly string[], shape: object): Promise<void> => {
    expect((await runJson(args)).json).toMatchObject(shape);
  };

  await walk('GET /v1/me', ['whoami']);
  await own(['use'], { current: 'default' });
  await walk('GET /v1/me', ['org', 'ls']);
  await walk('GET /v1/orgs/{id}', ['org', 'get']);
  await walk('GET /v1/sessions', ['sessions', 'ls']);
  await walk('DELETE /v1/sessions', ['sessions', 'end-others', '--yes']);
  await walk('POST /v1/projects', ['projects', 'create', 'Second']);
  await walk('GET /v1/projects', ['projects', 'ls']);
  await walk('GET /v1/projects/{id}', ['projects', 'get', 'second']);
  await walk('PATCH /v1/projects/{id}', ['projects', 'set', 'second', '--budget', '10', '--personal-agents', '']);
  await walk('GET /v1/personal-agents', ['personal-agents', 'ls']);
  const ownKey = await walk('POST /v1/personal-agents/keys', [
    'personal-agents',
    'create-key',
    'laptop',
    '--ttl',
    '1h',
  ]);
  await walk('DELETE /v1/personal-agents/keys/{id}', ['personal-agents', 'revoke-key', ownKey.json.key.id, '--yes']);
  await walk('PATCH /v1/projects/{id}', ['projects', 'set', 'second', '--personal-agents', 'none']);
  const ownAgent = (await tenant.call('GET', '/v1/usage/agents?search=Owner')).body.agents[0].id;
  await tenant.call('DELETE', `/v1/agents/${ownAgent}`);
  const bot = ['agents', 'create', 'Support bot', '--project', 'default', '--threshold', '50'];
  const agentId: string = (await walk('POST /v1/agents', bot)).json.agent.id;
  const A = ['--agent', 'support-bot'];
  await walk('GET /v1/usage/agents', ['agents', 'ls']);
  await walk('GET /v1/agents/{id}', ['agents', 'get', 'Support Bot']);
  await walk('PATCH /v1/agents/{id}', ['agents', 'set', 'support-bot', '--budget', '50', '--rpm', '100']);
  const check = ['policy', 'test', 'GET /v1/models', ...A, '--provider', 'openai'];
  walked.add('policy test');
  const unassigned = await acg.run([...check, '--json'], { asProcess: true });
  demandBody(unassigned, 'POST /v1/agents/{id}/call-check');
  expect([unassigned.code, unassigned.json]).toEqual([5, { allowed: false, reason: 'not_assigned' }]);
  await walk('PATCH /v1/agents/{id}/status', ['agents', 'pause', agentId]);
  await walk('PATCH /v1/agents/{id}/status', ['agents', 'resume', 'support-bot']);
  await own(['init', ...A], { content: { agent: 'support-bot' } });

  await walk('GET /v1/providers', ['providers', 'ls']);
  const tested = await walk('POST /v1/providers/accounts/test', ['providers', 'test', 'openai', '--key-stdin'], KEY);
  expect(tested.json).toMatchObject({ ok: true, call: expect.stringMatching(/^GET http:.*\/v1\/models$/) });
  await walk('POST /v1/providers/accounts', ['accounts', 'add', 'openai', ...A, '--test', '--key-stdin'], KEY);
  await walk('GET /v1/providers/accounts', ['accounts', 'ls', ...A]);
  await walk('GET /v1/providers/accounts/{id}', ['accounts', 'show', 'openai', ...A]);
  await walk('POST /v1/agents/{id}/call-check', check);
  await walk('POST /v1/providers/accounts/{id}/test', ['accounts', 'test', 'openai']);
  await walk('POST /v1/providers/accounts/{id}/rotate', ['accounts', 'rotate', 'openai', ...A, '--key-stdin'], KEY);
  await acg.runOk(['accounts', 'rotate', 'openai', ...A, '--test-first', '--key-stdin'], KEY);
  // Both while the next key is tested and while the former one retires.
  const compromised = ['compromised', '--yes'];
  await walk('POST /v1/providers/accounts/{id}/rotation', ['accounts', 'rotation', 'openai', ...compromised, ...A]);
  await walk('PATCH /v1/providers/accounts/{id}', ['accounts', 'set', 'openai', 'allow', ...A]);
  const opaque = await walk('PATCH /v1/providers/accounts/{id}', [
    'accounts',
    'set',
    'openai',
    '--opaque',
    'allow',
    ...A,
  ]);
  expect(opaque.json.account).toMatchObject({ allowSensitivePaths: true, allowOpaque: true });
  const shared = ['credentials', 'add', 'openai', '--name', 'Shared key', '--key-stdin'];
  await walk('POST /v1/credentials', shared, KEY);
  await walk('GET /v1/credentials', ['credentials', 'ls', '--provider', 'openai']);
  await walk('GET /v1/credentials/{id}', ['credentials', 'show', 'Shared key']);
  const second = await walk('POST /v1/agents', ['agents', 'create', 'Second bot', '--project', 'default']);
  await walk('POST /v1/providers/accounts', ['credentials', 'attach', 'shared key', 'second-bot']);
  await walk('POST /v1/credentials/{id}/rotate', ['credentials', 'rotate', 'Shared key', '--key-stdin'], KEY);
  await acg.runOk(['credentials', 'rotate', 'Shared key', '--test-first', '--key-stdin'], KEY);
  await walk('POST /v1/credentials/{id}/rotation', ['credentials', 'rotation', 'Shared key', ...compromised]);
  await walk('POST /v1/credentials/{id}/test', ['credentials', 'test', 'Shared key']);
  await walk('PATCH /v1/credentials/{id}', ['credentials', 'rename', 'Shared key', 'One for all']);
  const account = ['accounts', 'rm', 'openai', '--agent', second.json.agent.id, '--yes'];
  await walk('DELETE /v1/providers/accounts/{id}', account);
  await walk('DELETE /v1/credentials/{id}', ['credentials', 'rm', 'One for all', '--yes']);
  const llm = 'custom-providers add my-llm --base-url https://llm.example.com --usage-format openai';
  await walk('POST /v1/custom-providers', llm.split(' '));
  await walk('GET /v1/custom-providers', ['custom-providers', 'ls']);
  await walk('PUT /v1/custom-providers/{id}', ['custom-providers', 'set', 'my-llm', '--name', 'Mine']);
  await walk('PUT /v1/custom-providers/{id}', ['custom-providers', 'set', 'my-llm', '--slug', 'our-llm']);
  await walk('DELETE /v1/custom-providers/{id}', ['custom-providers', 'rm', 'our-llm', '--yes']);

  const started = await walk('POST /v1/runs', [
    'runs',
    'start',
    ...A,
    '--budget',
    '2.50',
    '--for',
    '30m',
    '--label',
    'x',
  ]);
  const runId: string = started.json.run.id;
  await walk('GET /v1/runs', ['runs', 'ls', ...A, '--state', 'running']);
  await walk('GET /v1/runs/{id}', ['runs', 'show', runId]);
  await walk('DELETE /v1/runs/{id}', ['runs', 'end', runId, '--yes']);
  const rule = await walk('POST /v1/trust-rules', [
    ...['trust-rules', 'create', ...A, '--name', 'pods', '--issuer', 'https://kubernetes.default.svc'],
    ...['--jwks', writeJwks(), '--condition', 'sub=system:serviceaccount:a:b', '--lifetime', '30m', '--once'],
  ]);
  await walk('GET /v1/trust-rules', ['trust-rules', 'ls', ...A]);
  await walk('GET /v1/trust-rules/{id}', ['trust-rules', 'show', 'pods']);
  await walk('PATCH /v1/trust-rules/{id}', ['trust-rules', 'set', rule.json.rule.id, '--once', 'no']);
  await walk('DELETE /v1/trust-rules/{id}', ['trust-rules', 'rm', 'pods', '--yes']);
  await walk('GET /v1/issuer', ['issuer', 'show', ...A, '--provider', 'bedrock']);
  await walk('GET /v1/issuer', ['issuer', 'jwks']);
  await walk('PATCH /v1/issuer', ['issuer', 'set', '--manual-rotation', 'yes']);
  const published = await walk('POST /v1/issuer/keys', ['issuer', 'new-key']);
  await walk('POST /v1/issuer/keys/{id}/activate', ['issuer', 'activate', published.json.issuer.keys[0].id, '--yes']);
  const key = await walk('POST /v1/api-keys', ['keys', 'create', ...A, '--name', 'ci', '--expires', '90d', '--save']);
  await walk('GET /v1/api-keys', ['keys', 'ls', ...A, '--never-used', '--unused', '1s']);
  const rotate = ['keys', 'rotate', key.json.key.keyPrefix, '--grace', '1h'];
  const rotated = await walk('POST /v1/api-keys/{id}/rotate', rotate);
  await walk('PATCH /v1/api-keys/{id}', ['keys', 'set', rotated.json.key.id, '--name', 'cd', '--expires', '30d']);
  await walk('POST /v1/management-tokens', ['tokens', 'create', '--name', 'ci', '--role', 'viewer', '--expires', '1d']);
  await walk('GET /v1/management-tokens', ['tokens', 'ls']);
  await walk('DELETE /v1/management-tokens/{id}', ['tokens', 'revoke', 'ci', '--yes']);
  await walk('GET /v1/sso', ['sso', 'show']);
  const client = ['--issuer', identityProvider.issuer, '--client-id', CLIENT_ID];
  const secret = { input: `${CLIENT_SECRET}\n` };
  const sso = await walk(
    'PUT /v1/sso',
    ['sso', 'set', ...client, '--default-role', 'viewer', '--secret-stdin'],
    secret,
  );
  expect(sso.stdout).not.toContain(CLIENT_SECRET);
  const groups = ['--group', 'Team A=admin', '--group', 'a=b=member', '--groups-claim', 'teams'];
  const mapped = await walk('PUT /v1/sso', ['sso', 'set', ...groups]);
  expect(mapped.json.connection).toMatchObject({
    issuer: identityProvider.issuer,
    clientId: CLIENT_ID,
    defaultRole: 'viewer',
    groupsClaim: 'teams',
    groupRoles: [
      { group: 'Team A', role: 'admin' },
      { group: 'a=b', role: 'member' },
    ],
  });
  const cleared = await walk('PUT /v1/sso', ['sso', 'set', '--no-groups', '--default-role', 'none']);
  expect(cleared.json.connection).toMatchObject({ defaultRole: null, groupRoles: [] });
  const other = await acg.run(['sso', 'set', '--client-id', 'other', '--json']);
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('--secret-stdin') });
  const { email: owner } = (await tenant.call('GET', '/v1/me')).body.user;
  const unprotected = await acg.run(['sso', 'require', owner, '--yes']);
  expect(unprotected).toMatchObject({ code: 7, stderr: expect.stringContaining('second factor') });
  await walk('PUT /v1/sso', ['sso', 'require', 'none', '--yes']);
  const added = await walk('POST /v1/sso/domains', ['sso', 'add-domain', 'Company.invalid']);
  const unverified = await acg.run(['sso', 'verify-domain', 'company.invalid', '--json']);
  walked.add('sso verify-domain');
  demandBody(unverified, 'POST /v1/sso/domains/{id}/verify');
  expect(unverified).toMatchObject({ code: 1, stderr: expect.stringContaining('no such TXT record') });
  const untested = await acg.run(['sso', 'test', '--json']);
  walked.add('sso test');
  demandBody(untested, 'POST /v1/sso/test');
  expect(untested).toMatchObject({ code: 1, stderr: expect.stringContaining('failed: domains') });
  const steps = await acg.run(['sso', 'test']);
  expect(steps.code).toBe(1);
  expect(steps.stdout).toMatch(/^✓ keys: .*RS256/m);
  expect(steps.stdout).toMatch(/^✗ domains: .*company\.invalid.*\n {2}→ Create the TXT record/m);
  expect(steps.stdout).toMatch(/^– redirect URI: http/m);
  await walk('DELETE /v1/sso/domains/{id}', ['sso', 'remove-domain', added.json.domain.id, '--yes']);
  await walk('DELETE /v1/sso', ['sso', 'remove', '--yes']);
  await walk('PATCH /v1/orgs/{id}', ['org', 'set', '--require-second-factor', 'no']);
  await walk('POST /v1/scim/tokens', ['scim', 'create', '--name', 'Okta']);
  await walk('GET /v1/scim', ['scim', 'show']);
  await walk('DELETE /v1/scim/tokens/{id}', ['scim', 'revoke', 'Okta', '--yes']);
  await walk('POST /v1/members', ['members', 'invite', 'new@example.com', '--role', 'viewer']);
  await walk('GET /v1/members', ['members', 'ls']);
  const { email } = (await tenant.call('GET', '/v1/me')).body.user;
  await walk('GET /v1/members/{userId}/created', ['members', 'created', email]);
  await walk('GET /v1/members/{userId}/sessions', ['members', 'sessions', email]);
  const resent = await walk('POST /v1/members/{userId}/resend', ['members', 'resend', 'new@example.com']);
  const token = new URL(resent.json.invitationUrl).hash.replace('#token=', '');
  await tenant.call('POST', '/v1/invitations/accept', { token, name: 'New', password: TENANT_PASSWORD });
  await walk('DELETE /v1/members/{userId}/sessions', ['members', 'end-sessions', 'new@example.com', '--yes']);
  await walk('DELETE /v1/members/{userId}', ['members', 'rm', 'new@example.com', '--yes']);

  const call = `fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-5-mini', messages: [] }) }).then(async (r) => process.exit(r.ok ? 0 : 1))`;
  walked.add('run');
  await acg.runOk(['run', '--', process.execPath, '-e', call]); // the saved token, and the agent of .acg.json
  await own(['env', '--format', 'json'], { set: { ACG_AGENT: 'support-bot' } });
  await waitUntil(
    'the call is on record',
    async () => (await tenant.call('GET', '/v1/usage/logs')).body.logs.length === 1,
  );
  const logs = await walk('GET /v1/usage/logs', ['logs', ...A, '--since', '1h', '--status', '2xx']);
  await walk('GET /v1/usage/logs/{id}', ['call', logs.json.logs[0].id]);
  await walk('GET /v1/usage/logs', ['logs', ...A, '--before', new Date().toISOString()]);
  await walk('GET /v1/usage/rejected-calls', ['logs', '--refused', ...A, '--since', '1h']);
  const all = await walk('GET /v1/usage/calls', ['logs', '--all', ...A, '--since', '1h']);
  expect(all.json.calls[0]).toMatchObject({ state: 'forwarded', id: logs.json.logs[0].id });
  await walk('GET /v1/usage/summary', ['usage', '--period', '7d']);
  for (const by of ['project', 'agent', 'provider', 'model', 'key', 'status', 'reason'])
    await walk('GET /v1/usage/breakdown', ['usage', '--by', by]);
  await walk('GET /v1/usage/timeseries', ['usage', 'series', '--period', '24h', '--interval', 'hour']);
  await walk('GET /v1/usage/agents/compare', ['usage', 'compare', 'support-bot', 'second-bot']);
  await walk('GET /v1/usage/refusals', ['usage', 'refusals']);
  await walk('GET /v1/usage/export', ['usage', 'export', ...A]);
  const ofKey = await walk('GET /v1/usage/export', ['usage', '--key', logs.json.logs[0].keyId, 'export']);
  expect(ofKey.json.map(({ keyId }: { keyId: string }) => keyId)).toContain(logs.json.logs[0].keyId);
  await walk('GET /v1/usage/agents', ['top', '--once']);
  await walk('GET /v1/archive', ['archive', 'ls']);
  await own(['budgets', 'set', '5', ...A, '--window', 'day', '--mode', 'audit'], {
    budgets: expect.arrayContaining([expect.objectContaining({ window: 'day', cents: 500, mode: 'audit' })]),
  });
  await own(['budgets', 'ls', ...A], { budgets: expect.arrayContaining([expect.objectContaining({ window: 'day' })]) });
  await own(['budgets', 'rm', ...A, '--window', 'day'], {
    budgets: expect.not.arrayContaining([expect.objectContaining({ window: 'day' })]),
  });
  await walk('POST /v1/limits/replay', ['limits', 'replay', 'support-bot', '--rpm', '30', '--budget', 'day=5:gpt-5*']);
  await own(['archive', 'verify'], []);
  const adminKey = { input: BILLING_ADMIN_KEY };
  await walk('POST /v1/billing/accounts', ['bill', 'add', 'anthropic', '--key-stdin'], adminKey);
  const bill = await walk('GET /v1/billing', ['bill', 'check']);
  expect(bill.json.accounts).toMatchObject([{ state: 'match', problem: null }]);
  await walk('PATCH /v1/billing/accounts/{id}', ['bill', 'set', 'anthropic', '--alert', '5', '--key-stdin'], {
    input: 'sk-admin-of-nobody-0123456789',
  });
  const failed = await acg.run(['bill', 'check']);
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('rejects the admin key')]);
  await walk('GET /v1/billing', ['bill', 'ls', '--month', bill.json.month]);
  await walk('GET /v1/billing/accounts/{id}/lines', ['bill', 'lines', 'anthropic', '--by', 'model']);
  const adjust = ['bill', 'adjust', 'anthropic', '--month', '2026-01', '--amount', '-1.5', '--reason', 'accepted'];
  await walk('POST /v1/billing/adjustments', adjust);
  await walk('DELETE /v1/billing/accounts/{id}', ['bill', 'rm', 'anthropic', '--yes']);
  await own(['status'], { ok: true, gateway: { url: gateway } });
  await own(['doctor', ...A], { ok: true });
  await own(['open'], { url: expect.stringMatching(/^http/) });
  await own(['version'], { gateway: '0.1.0' });

  const target = 'https://hooks.example.com/acg';
  await walk('POST /v1/webhooks', ['webhooks', 'add', target, '--events', 'usage.threshold,agent.deleted']);
  await walk('GET /v1/webhooks', ['webhooks', 'ls']);
  await walk('GET /v1/webhooks/{id}', ['webhooks', 'get', target]);
  await walk('POST /v1/webhooks/{id}/rotate', ['webhooks', 'rotate', target, '--grace', '1h']);
  await walk('POST /v1/webhooks/{id}/test', ['webhooks', 'test', target, '--event', 'agent.deleted']);
  await walk('POST /v1/webhooks/{id}/replay', ['webhooks', 'replay', target, '--since', '1h', '--status', 'success']);
  await walk('PATCH /v1/webhooks/{id}', ['webhooks', 'set', target, '--events', 'usage.threshold']);
  const sent = await walk('POST /v1/webhooks/{id}/test', ['webhooks', 'test', target]);
  const deliveryId: string = sent.json.delivery.id;
  await walk('GET /v1/webhooks/{endpointId}/deliveries', ['webhooks', 'deliveries', target, '--start', '2026-01-01']);
  await walk('GET /v1/webhooks/deliveries/{deliveryId}', ['webhooks', 'delivery', deliveryId]);
  await walk('DELETE /v1/webhooks/{id}', ['webhooks', 'rm', target, '--yes']);
  await walk('GET /v1/events', ['events', '--event', 'agent.created', ...A]);
  await walk('GET /v1/events/types', ['events', 'types']);
  const hook = await receiveOne();
  walked.add('listen');
  await acg.runOk(['listen', '--forward-to', hook.url, '--sample', 'usage.threshold'], { asProcess: true });
  expect((await hook.headers)['x-webhook-event']).toBe('usage.threshold');
  await walk('GET /v1/event-mail', ['event-mail', 'ls']);
  await walk('PUT /v1/event-mail/{userId}', ['event-mail', 'set', 'me', '--events', 'none']);
  await walk('GET /v1/attention', ['attention']);
  const spend = ['alert-rules', 'create', '--name', 'spend', '--metric', 'spend', '--at-least', '500', ...A];
  const alertRule = (await walk('POST /v1/alert-rules', spend)).json.rule;
  await walk('GET /v1/alert-rules', ['alert-rules', 'ls']);
  await walk('GET /v1/alert-rules/{id}', ['alert-rules', 'show', 'spend']);
  await walk('PATCH /v1/alert-rules/{id}', ['alert-rules', 'set', 'spend', '--hours', '6', '--silence', 'none']);
  const alertId = await openAlert(alertRule.id);
  await walk('GET /v1/alerts', ['alerts', 'ls', '--state', 'open']);
  expect((await acg.run(['alert-rules', 'ls'])).stdout).toContain('Alerting, Evaluation failed');
  await walk('POST /v1/alerts/{id}/acknowledge', ['alerts', 'ack', alertId]);
  await walk('POST /v1/alerts/{id}/silence', ['alerts', 'silence', alertId, '--for', '2h']);
  await walk('DELETE /v1/alert-rules/{id}', ['alert-rules', 'rm', 'spend', '--yes']);
  await walk('GET /v1/circuits', ['circuits', '--state', 'closed']);
  await walk('GET /v1/prices', ['prices', 'gpt-5-mini', '--provider', 'openai']);
  await walk('PUT /v1/circuits', ['circuits', 'hold', 'openai', '--for', '2h', '--yes']);
  await walk('PUT /v1/circuits', ['circuits', 'close', 'openai']);
  await walk('GET /v1/audit', ['audit', '--action', 'agent.create']);
  await walk('GET /v1/projects', ['api', 'GET', '/v1/projects', '-q', 'limit=1']);
  await own(['export'], {
    version: 1,
    projects: expect.arrayContaining([expect.objectContaining({ name: 'Default' })]),
  });
  writeFileSync(join(acg.homeDirectory, 'empty.yaml'), 'version: 1\n');
  await own(['apply', '-f', 'empty.yaml'], { changes: [], applied: false });
  walked.add('completion');
  expect((await acg.runOk(['completion', 'bash'], { asProcess: true })).stdout).toContain('complete -- ');

  await walk('GET /v1/api-keys/{id}', ['keys', 'show', rotated.json.key.id]);
  await walk('DELETE /v1/api-keys/{id}', ['keys', 'revoke', rotated.json.key.id, '--yes']);
  await walk('DELETE /v1/providers/accounts/{id}', ['accounts', 'rm', 'openai', ...A, '--yes']);
  await walk('PATCH /v1/agents/{id}/status', ['agents', 'revoke', agentId, '--yes']);
  await walk('DELETE /v1/agents/{id}', ['agents', 'delete', agentId, '--yes']);
  await walk('DELETE /v1/projects/{id}', ['projects', 'rm', 'second', '--yes']);
  await walk('POST /v1/orgs', ['org', 'create', 'Other']);
  await walk('GET /v1/me', ['org', 'use', 'other']);
  await walk('PATCH /v1/orgs/{id}', ['org', 'set', '--budget', '100']);
  const [kept, revoked] = await suspendedTokens(['kept', 'revoked']);
  await walk('GET /v1/suspended-items', ['suspended', 'ls']);
  await walk('POST /v1/suspended-items/{id}/keep', ['suspended', 'keep', kept!]);
  await walk('DELETE /v1/suspended-items/{id}', ['suspended', 'revoke', revoked!, '--yes']);
  const password = { input: TENANT_PASSWORD };
  await walk('DELETE /v1/orgs/{id}', ['org', 'delete', '--yes', '--password-stdin'], password);
  await walk('POST /v1/orgs/{id}/restore', ['org', 'restore', 'other']);
  await walk('GET /v1/deleted-orgs', ['org', 'deleted']);
  await walk('POST /v1/auth/logout', ['logout']);

  // Covered by login.test.ts: they need a browser, a second member, a failed delivery, a second session or factor.
  // Accounts are connected in a browser: dashboard/connections.test.ts.
  const inBrowser = ['accounts', 'credentials'].flatMap((group) => [`${group} connect`, `${group} disconnect`]);
  const byLogin = ['signup', 'login', 'members role', 'webhooks retry', 'sessions end', 'sessions confirm'];
  // Covered by mcp-config.test.ts: they need an MCP server.
  const elsewhere = [...byLogin, ...inBrowser, 'mcp config', 'accounts tools'];
  expect([...walked, ...elsewhere].sort(), 'commands.test.ts: call walk(…) above for each missing command').toEqual(
    (await everyCommand()).sort(),
  );
});

/** A receiver of one POST on a local port. */
async function receiveOne(): Promise<{ readonly url: string; readonly headers: Promise<IncomingHttpHeaders> }> {
  const server = createServer();
  const headers = new Promise<IncomingHttpHeaders>((resolve) => {
    server.once('request', (request: IncomingMessage, response: ServerResponse) => {
      response.end();
      resolve(request.headers);
      server.close();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, headers };
}

/** Creates management tokens that wait for a review; returns their ids. */
async function suspendedTokens(names: readonly string[]): Promise<string[]> {
  for (const name of names) await acg.runOk(['tokens', 'create', '--name', name, '--role', 'viewer']);
  const sql = openPool(stack.database.url, { connectionsMax: 1, applicationName: 'test' });
  const rows = await sql<{ id: string }[]>`
    with t as (delete from management_tokens t where name = any(${[...names]}) returning t.*)
    insert into suspended_items (id, org_id, kind, name, detail, contents, made_at)
    select id, org_id, 'management_token', name, role, to_jsonb(t), created_at from t returning id`;
  await sql.end();
  return rows.map(({ id }) => id);
}

test('logs -f: one object a line, each call once, until it is stopped', async () => {
  const tenant = await stack.signUpTenant(); // the session of the other tenant has ended
  const agent = await tenant.createAgent({ name: 'Followed' });
  await tenant.createAccount(agent.id, 'openai', { apiKey: PROVIDER_CREDENTIALS.openai });
  const token = await tenant.createToken(agent.id);
  const call = async (): Promise<void> => {
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${gateway}/v1/proxy/openai/v1/models`, { headers })).status).toBe(200);
  };
  const outcome = await acg.run(['logs', '-f', '--json', '--since', '10m', '--agent', 'followed'], {
    env: { ACG_TOKEN: tenant.session },
    onStart: async (child) => {
      let lines = 0;
      child.stdout!.on('data', (chunk: Buffer) => {
        lines += chunk.toString().split('\n').length - 1;
      });
      await call();
      await waitUntil('the first call is shown', () => lines === 1);
      await call();
      await waitUntil('the second call is shown', () => lines === 2);
      child.kill('SIGINT');
    },
  });
  const calls = outcome.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(calls).toMatchObject([{ path: '/v1/models' }, { path: '/v1/models' }]);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
});

const WORD = /^[a-z-]+$/;
/** `agents get` of `agents get Support bot`: the words that name a command. */
const commandOf = (args: readonly string[]): string => {
  const [group, second] = args.filter((arg) => !arg.startsWith('-'));
  return second !== undefined && SUBCOMMANDS.get(group!)?.includes(second) ? `${group} ${second}` : group!;
};
/** Includes groups that act without a subcommand. */
const ACT_THEMSELVES: ReadonlySet<string> = new Set(['circuits', 'events', 'usage']);
const SUBCOMMANDS = new Map<string, readonly string[]>();

const OTHER_SECTIONS = /^(?:Usage|Arguments|Options|Global Options|Examples):/;

/** The names in the sections of a help that list commands. */
async function commandsIn(args: readonly string[]): Promise<string[]> {
  const { stdout } = await acg.runOk([...args, '--help'], { asProcess: args.length === 0 });
  const sections = stdout.split(/\n\n(?=\S)/).filter((section) => !OTHER_SECTIONS.test(section));
  const list = sections.join('\n');
  return [...list.matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name!).filter((name) => WORD.test(name));
}

async function everyCommand(): Promise<string[]> {
  const all: string[] = [];
  for (const group of await commandsIn([])) {
    const subcommands = SUBCOMMANDS.get(group)!;
    if (subcommands.length === 0 || ACT_THEMSELVES.has(group)) all.push(group);
    all.push(...subcommands.map((name) => `${group} ${name}`));
  }
  return all;
}

beforeAll(async () => {
  for (const group of await commandsIn([])) SUBCOMMANDS.set(group, await commandsIn([group]));
});

test('`-` is standard input for every option that names a file, and removes nothing', async () => {
  const { session } = await stack.signUpTenant();
  await acg.runOk(['login', '--with-token'], { input: session });
  const { agent } = (await acg.runOk(['agents', 'create', 'Stdin bot', '--json'])).json;
  const policy = { openai: { calls: ['GET /v1/models'] } };
  const shown = async () => (await acg.runOk(['agents', 'get', agent.id, '--json'])).json.agent.policy;
  const fromStdin = { input: `${JSON.stringify(policy)}\n` };
  await acg.runOk(['agents', 'set', agent.id, '--policy-file', '-'], fromStdin);
  expect(await shown()).toEqual(policy);

  const unasked = await acg.run(['agents', 'set', agent.id, '--no-policy']);
  expect([unasked.code, unasked.stderr]).toEqual([3, expect.stringContaining('--yes')]);
  expect((await acg.run(['agents', 'set', agent.id, '--no-policy', '--policy-file', '-'], fromStdin)).code).not.toBe(0);
  expect(await shown()).toEqual(policy);
  await acg.runOk(['agents', 'set', agent.id, '--no-policy', '--yes']);
  expect(await shown()).toBeNull();

  await acg.runOk(['accounts', 'add', 'openai', '--agent', agent.id, '--key-file', '-'], KEY);
  const rename = { input: '{"name":"Renamed bot"}' };
  await acg.runOk(['api', 'PATCH', `/v1/agents/${agent.id}`, '--data', '@-'], rename);
  expect((await acg.runOk(['agents', 'get', agent.id, '--json'])).json.agent.name).toBe('Renamed bot');
  const csv = await acg.runOk(['usage', '--agent', agent.id, 'export', '--format', 'csv', '--output', '-']);
  expect(csv.stdout).toContain('costCents');
});
