/** Output for users, and for scripts without `--json`: values as the API defines them, and next steps that work. */

import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PriceList } from '@acg/base/pricing/price-list';
import { uuidv7 } from '@acg/base/uuidv7';
import { openPool } from '@acg/controlplane/db/postgres-client';
import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { archiveClosedDays, insertRecords, pastDay, queryDuckDb } from '../archive/archive-fixture.js';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { createIngest, usageRecord } from '../ledger/usage-fixture.js';
import { BILLING_ADMIN_KEY, BillingReportsStandIn } from '../stand-in-providers/billing-reports.js';
import { AcgCommand } from './acg-command.js';

const openai = new OpenAiStandIn();
const billing = new BillingReportsStandIn();
const archive = mkdtempSync(join(tmpdir(), 'acg-cli-archive-'));
let stack: Stack;
let tenant: Tenant;
let acg: AcgCommand;
let gateway = '';

beforeAll(async () => {
  await openai.start();
  await billing.start();
  stack = await Stack.start({
    providers: { openai: openai.origin, anthropic: billing.origin },
    env: { ARCHIVE_URL: `file://${archive}` },
  });
  gateway = (await stack.addDataPlane()).url;
});
beforeEach(async () => {
  tenant = await stack.signUpTenant();
  acg?.removeHome();
  acg = new AcgCommand({ ACG_URL: stack.apiUrl, ACG_GATEWAY_URL: gateway, ACG_TOKEN: tenant.session });
});
afterAll(async () => {
  acg?.removeHome();
  await stack?.stop();
  await openai.close();
  await billing.close();
  rmSync(archive, { recursive: true, force: true });
});

/** The cell under that title in the tab-separated row that starts with this text. */
async function cell(args: readonly string[], row: string, title: string): Promise<string | undefined> {
  const [titles, ...rows] = (await acg.runOk(args)).stdout.split('\n').map((line) => line.split('\t'));
  return rows.find(([first]) => first === row)?.[titles!.indexOf(title)];
}

test('none removes every kind of limit, also for a new agent', async () => {
  const limits = ['--budget', '5', '--rpm', '5', '--rpd', '6', '--tpm', '7', '--threshold', '50'];
  await acg.runOk(['agents', 'create', 'limited', ...limits]);
  const none = limits.map((word) => (word.startsWith('--') ? word : 'none'));
  await acg.runOk(['agents', 'set', 'limited', ...none]);
  await acg.runOk(['agents', 'create', 'free', ...none]);
  for (const name of ['limited', 'free']) {
    const { agent } = (await acg.runOk(['agents', 'get', name, '--json'])).json;
    expect(agent).toMatchObject({ budgetCentsMonthly: null, tpmLimit: null, usageThresholds: [] });
    expect(agent).toMatchObject({ rpmLimit: 60, rpdLimit: 10_000 });
  }
  await acg.runOk(['projects', 'set', 'default', '--budget', '5']);
  const project = await acg.runOk(['projects', 'set', 'default', '--budget', 'none', '--json']);
  expect(project.json.project.budgetCentsMonthly).toBe(null);
  await acg.runOk(['org', 'set', '--budget', '5']);
  expect((await acg.runOk(['org', 'set', '--budget', 'none', '--json'])).json.org.budgetCentsMonthly).toBe(null);
});

test('a hard budget is shown with its reservation', async () => {
  await acg.runOk('agents create strict --budget 1 --budget-mode hard --on-store-loss refuse'.split(' '));
  const { stdout } = await acg.runOk(['agents', 'get', 'strict']);
  expect(stdout).toContain('budget\t$1.00 a month, hard\n');
  expect(stdout).toContain('reserved without a maximum\t4096 output tokens\n');
  expect(stdout).toContain('when limits are not checked\tits calls are rejected\n');
  const { code, stderr } = await acg.run(['agents', 'get']);
  expect([code, stderr]).toEqual([2, 'acg: which agent?\n     → acg agents get <agent>, ACG_AGENT, or acg init\n']);
});

test('a set without anything to set says so', async () => {
  await acg.runOk(['agents', 'create', 'same']);
  const { code, stderr } = await acg.run(['agents', 'set', 'same']);
  expect([code, stderr]).toEqual([
    2,
    'acg: nothing to change: give at least one option\n     → acg agents set --help\n',
  ]);
});

test('when every call failed every view shows 100 %, and each rejection appears under its reason', async () => {
  const agent = await tenant.createAgent({ name: 'Failing' });
  await tenant.createAccount(agent.id, 'openai', { apiKey: 'sk-proj-not-the-one-it-takes' });
  const headers = { authorization: `Bearer ${await tenant.createToken(agent.id)}` };
  expect((await fetch(`${gateway}/v1/proxy/openai/v1/models`, { headers })).status).toBe(401);
  expect((await fetch(`${gateway}/v1/proxy/nobody/x`, { headers })).status).toBe(404);
  await waitUntil('both are on record', async () => {
    const { body } = await tenant.call('GET', '/v1/usage/summary');
    return body.requests === 1 && body.rejectedRequests === 1;
  });
  expect((await acg.runOk(['usage'])).stdout).toContain('errors\t100 %\n');
  expect(await cell(['usage', '--by', 'provider'], 'openai', 'ERRORS')).toBe('100 %');
  expect(await cell(['usage', 'compare', 'failing'], 'failing', 'ERRORS')).toBe('100 %');
  expect(await cell(['agents', 'ls'], 'failing', 'ERRORS')).toBe('100 %');
  expect(await cell(['top', '--once'], 'failing', 'ERRORS')).toBe('100 %');
  expect(await cell(['usage', '--by', 'reason'], 'unknown_provider', 'REJECTED')).toBe('1');
});

test('the next step of attention is a command as it is', async () => {
  const agent = await tenant.createAgent({ name: 'Unbounded' });
  const next = await cell(['attention'], 'no budget', 'NEXT');
  expect(next).toBe(`acg agents set ${agent.id} --budget USD`);
  await acg.runOk(next!.replace('USD', '5').split(' ').slice(1));
  expect(await cell(['attention'], 'no budget', 'NEXT')).toBe(undefined);
});

test('bill check: the text and the exit code of each state', async () => {
  const model = 'claude-haiku-4-5';
  const upstream = { providerSlug: 'anthropic', priceProvider: 'anthropic', usageFormat: 'anthropic', origin: '' };
  const tokens = 5_000_000;
  const costNanos = (new PriceList(Date.now).findPlan(upstream, model)!.bands[0]!.rates.input / 1_000) * tokens;
  const [now, hourMs] = [new Date(), 3_600_000];
  const settledMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 10, 12);
  const recentMs = now.getTime() - hourMs;
  const monthOf = (ms: number) => new Date(ms).toISOString().slice(0, 7);
  const month = monthOf(settledMs);
  const agent = await tenant.createAgent({ name: 'Billed' });
  const accountId = await tenant.createAccount(agent.id, 'anthropic', { apiKey: 'sk-ant-first-0123456789-0001' });
  const record = (startedAtMs: number) =>
    usageRecord({
      id: uuidv7(startedAtMs),
      orgId: tenant.orgId,
      agentId: agent.id,
      accountId,
      providerSlug: 'anthropic',
      startedAtMs,
      model,
      tokensInUncached: tokens,
      tokensCacheRead: 0,
      tokensCacheWrite: 0,
      tokensOut: 0,
      costNanos,
    });
  const sql = openPool(stack.database.url, { connectionsMax: 1, applicationName: 'test' });
  await createIngest(sql).report({ dataPlaneId: 'd', records: [record(settledMs), record(recentMs)] });
  await sql.end();
  const call = (price: number) => ({
    atMs: settledMs,
    keyId: 'key_1',
    model,
    input: tokens,
    cacheRead: 0,
    output: 0,
    nanos: { input: costNanos * price, cacheRead: 0, output: 0 },
  });
  billing.keys = [{ id: 'key_1', redacted: 'sk-ant-fir...0001' }];
  await acg.runOk(['bill', 'add', 'anthropic', '--key-stdin', '--name', 'Bill'], { input: BILLING_ADMIN_KEY });
  const check = async (of = month) => {
    const { code, stdout, stderr } = await acg.run(['bill', 'check', '--month', of]);
    const [titles, row] = stdout.split('\n').map((line) => line.split('\t'));
    return { code, state: row![titles!.indexOf('STATE')], stderr };
  };
  const open = (state: string) => ({
    code: 1,
    state,
    stderr: expect.stringContaining(
      `acg: the bill of ${month} is open: Bill (${state})\n     → acg bill lines anthropic --by model, or acg bill adjust anthropic`,
    ),
  });
  billing.calls = [call(1)];
  expect(await check()).toEqual({ code: 0, state: 'match', stderr: '' });
  billing.calls = [call(1.2)];
  const drift = await check();
  expect(drift).toEqual(open('drift'));
  expect(drift.stderr).toContain(`anthropic bills ${model} at another price. PRICES_FILE: {"anthropic"`);
  billing.calls = [call(1), call(1)];
  expect(await check()).toEqual(open('unattributed'));
  billing.calls = [];
  expect(await check()).toEqual(open('unbilled'));
  const theirs = (-costNanos / 1e9).toFixed(2);
  await acg.runOk(['bill', 'adjust', 'anthropic', '--month', month, `--amount=${theirs}`, '--reason', 'not billed']);
  expect(await check()).toEqual({ code: 0, state: 'adjusted', stderr: '' });
  if (monthOf(recentMs) !== month)
    expect(await check(monthOf(recentMs))).toEqual({ code: 0, state: 'pending', stderr: '' });
  await acg.runOk(['bill', 'set', 'anthropic', '--key-stdin'], { input: 'sk-admin-revoked-0123456789' });
  const unchecked = await check(monthOf(settledMs - 20 * 24 * hourMs));
  expect(unchecked).toMatchObject({ code: 1, state: 'unchecked' });
  expect(unchecked.stderr).toMatch(/Bill: The provider rejects the admin key \(401[\s\S]*is open: Bill \(unchecked\)/);
});

test('archive verify: the text and the exit code of each state', async () => {
  const verify = async (...days: string[]) => {
    const { code, stdout, stderr } = await acg.run(['archive', 'verify', ...days]);
    const [, row = ['', '', '']] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    return { code, state: row[1], problem: row[2], stderr };
  };
  const [dayMs, agent] = [pastDay(2), await tenant.createAgent({ name: 'Archived' })];
  const day = new Date(dayMs).toISOString().slice(0, 10);
  await tenant.createToken(agent.id);
  expect(await verify()).toMatchObject({ code: 0, stderr: 'no day is in the archive yet\n' });
  expect(await verify(day)).toMatchObject({ code: 6, stderr: expect.stringContaining(`no such archived day ${day}`) });
  expect((await verify('2026-02-30')).code).toBe(2);

  const sql = openPool(stack.database.url, { connectionsMax: 4, applicationName: 'test' });
  await insertRecords(sql, { orgId: tenant.orgId, agentId: agent.id }, dayMs, 10);
  await archiveClosedDays(sql, archive);
  const verified = { code: 0, state: 'verified', problem: '–', stderr: '' };
  expect(await verify()).toEqual(verified);

  const part = join(archive, `usage/org=${tenant.orgId}/day=${day}/part-00000.parquet`);
  const manifest = join(archive, `manifests/org=${tenant.orgId}/day=${day}.json`);
  const [bytes, text] = [readFileSync(part), readFileSync(manifest, 'utf8')];
  const differs = (problem: string) => ({
    code: 1,
    state: 'differs',
    problem: expect.stringContaining(problem),
    stderr:
      'acg: 1 of 1 archived days differ\n     → a day that is still in the ledger is archived again before retention drops it\n',
  });
  rmSync(part);
  expect(await verify()).toEqual(differs('part-00000.parquet is missing'));
  writeFileSync(part, bytes.subarray(0, -100));
  expect(await verify()).toEqual(differs('part-00000.parquet has another checksum than its manifest'));
  // A changed row, behind the same number of rows and the same sums.
  writeFileSync(part, bytes);
  await queryDuckDb(
    `copy (select * replace ('gpt-5' as model) from '${part}' order by "createdAt") to '${part}.new' (format parquet)`,
  );
  renameSync(`${part}.new`, part);
  expect(await verify()).toEqual(differs('another checksum'));
  // And a manifest that was changed with it.
  const changed = JSON.parse(text);
  const other = readFileSync(part);
  Object.assign(changed.usage[0], { bytes: other.length, sha256: createHash('sha256').update(other).digest('hex') });
  writeFileSync(manifest, JSON.stringify(changed));
  expect(await verify()).toEqual(differs('was changed after the day was archived'));
  writeFileSync(part, bytes);
  writeFileSync(manifest, '{');
  expect(await verify()).toEqual(differs('is no manifest of this day'));
  rmSync(manifest);
  expect(await verify()).toEqual(differs(`${day}.json is missing`));
  writeFileSync(manifest, text);
  await sql`update usage_records set cost_nanos = cost_nanos + 1 where id = (
    select id from usage_records where org_id = ${tenant.orgId} limit 1)`;
  expect(await verify()).toEqual(differs('archived again within an hour'));
  await archiveClosedDays(sql, archive);
  expect(await verify()).toEqual(verified);
  await sql.end();

  renameSync(archive, `${archive}.away`);
  expect(await verify()).toEqual({
    code: 10,
    state: 'unreadable',
    problem: expect.stringContaining('the storage cannot be read (read manifests/'),
    stderr: `acg: the archive could not be read from ${day} on: that says nothing about its days\n`,
  });
  renameSync(`${archive}.away`, archive);
  expect(await verify()).toEqual(verified);
});
