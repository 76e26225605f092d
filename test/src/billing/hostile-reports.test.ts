/**
 * Reports of providers that are wrong or hostile: a check either states a problem and changes nothing, or its lines hold
 * what the report says, once. A custom provider for OpenRouter is a server of the tenant.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@acg/base/uuidv7';
import { monthOf } from '@acg/controlplane/billing/check-runner';
import type { ReceivedRequest } from '@acg/stand-in-provider/stand-in-provider';
import { jsonResponse, type StandInResponse } from '@acg/stand-in-provider/stand-in-response';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Member, startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { createIngest, usageRecord } from '../ledger/usage-fixture.js';
import { BILLING_ADMIN_KEY, type BilledCall, BillingReportsStandIn } from '../stand-in-providers/billing-reports.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const USAGE = '/v1/organization/usage/completions';
const COSTS = '/v1/organization/costs';
const SECRET = 'sk-first-0123456789-0001';
const KEY = { id: 'key_1', redacted: 'sk-fir***0001' };
/** The whole month before this one; checks run on the fifth day after it. */
const [MONTH_MS, NOW_MS] = (() => {
  const now = new Date();
  const monthMs = (months: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1);
  return [monthMs(-1), monthMs(0) + 4 * DAY_MS + 12 * HOUR_MS];
})();
const MONTH = monthOf(MONTH_MS);
const CALL_MS = MONTH_MS + 14 * DAY_MS + HOUR_MS;

// biome-ignore lint/suspicious/noExplicitAny: bodies of several APIs
type Body = any;

class HostileReports extends BillingReportsStandIn {
  change: (path: string, body: Body) => Body = (_path, body) => body;

  protected override async respond(request: ReceivedRequest): Promise<StandInResponse> {
    const answer = await super.respond(request);
    return answer.status === 200
      ? jsonResponse(200, this.change(request.path, JSON.parse(String(answer.body))))
      : answer;
  }
}

const reports = new HostileReports();
const home = mkdtempSync(join(tmpdir(), 'acg-hostile-billing-'));
let plane: TestControlPlane;
beforeAll(async () => {
  await reports.start();
  const file = join(home, 'providers.json');
  writeFileSync(file, JSON.stringify({ openai: { baseUrl: reports.origin }, anthropic: { baseUrl: reports.origin } }));
  plane = await startControlPlane({ PROVIDERS_FILE: file });
});
afterEach(() => {
  reports.change = (_path, body) => body;
});
afterAll(async () => {
  await plane.stop();
  await reports.close();
  rmSync(home, { recursive: true, force: true });
});

const size = { input: 1_000, cacheRead: 0, output: 500 };
const nanos = { input: 2_000_000, cacheRead: 0, output: 4_000_000 };
const billedCall = (atMs: number, keyId = KEY.id, model = 'gpt-5-mini'): BilledCall => ({
  atMs,
  keyId,
  model,
  ...size,
  nanos,
});

interface Setup {
  readonly owner: Member;
  readonly id: string;
  readonly agentId: string;
  readonly accountId: string;
}

async function setUp(api: 'openai' | 'anthropic' | 'openrouter' = 'openai', apiKey = SECRET): Promise<Setup> {
  const owner = await plane.createMember('owner');
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'Default' })).body.project.id;
  const agentId = (await owner.call('POST', '/v1/agents', { projectId, name: 'Agent' })).body.agent.id;
  const providerSlug = api === 'openrouter' ? 'router' : api;
  if (api === 'openrouter') {
    const baseUrl = `${reports.origin}/api`;
    const provider = { slug: providerSlug, displayName: 'OpenRouter', baseUrl, authType: 'bearer' };
    expect((await owner.call('POST', '/v1/custom-providers', provider)).status).toBe(201);
  }
  const credentials = { agentId, providerSlug, credentials: { apiKey } };
  const accountId = (await owner.call('POST', '/v1/providers/accounts', credentials)).body.account.id;
  const body = { name: 'Bill', adminKey: BILLING_ADMIN_KEY, api, alertCents: 1 };
  const { body: reply } = await owner.call('POST', '/v1/billing/accounts', {
    ...body,
    ...(api === 'openrouter' ? { providerSlug } : {}),
  });
  return { owner, id: reply.account.id, agentId, accountId };
}

/** Books the call that {@link billedCall} bills. */
const book = async ({ owner, agentId, accountId }: Setup, providerSlug: string, startedAtMs: number): Promise<void> => {
  const record = usageRecord({
    id: uuidv7(startedAtMs),
    orgId: owner.orgId,
    agentId,
    accountId,
    providerSlug,
    startedAtMs,
    model: 'gpt-5-mini',
    tokensInUncached: size.input,
    tokensCacheRead: 0,
    tokensCacheWrite: 0,
    tokensOut: size.output,
    costNanos: nanos.input + nanos.output,
  });
  await createIngest(plane.database.sql).report({ dataPlaneId: 'd', records: [record] });
};

const check = async ({ owner, id }: Setup, nowMs = NOW_MS) =>
  (await plane.service.billing.checks.runNow(owner.orgId, id, MONTH, nowMs))!.problem;
const accountOf = async ({ owner }: Setup) => {
  const { status, body } = await owner.call('GET', `/v1/billing?month=${MONTH}`);
  expect(status).toBe(200);
  return body.accounts[0];
};
const linesOf = async ({ owner, id }: Setup) =>
  (await owner.call('GET', `/v1/billing/accounts/${id}/lines?month=${MONTH}&by=line&limit=100`)).body.lines;
const eventsOf = async ({ owner }: Setup) =>
  (
    await plane.database.sql<{ event: string }[]>`
      select event from events where org_id = ${owner.orgId}
         and event in ('credential.used_elsewhere', 'price.drift') order by id`
  ).map(({ event }) => event);

const changeRows = (wanted: string, change: (row: Body) => object) => (path: string, body: Body) =>
  path === wanted
    ? {
        ...body,
        data: body.data.map((bucket: Body) => ({
          ...bucket,
          results: bucket.results.map((row: Body) => ({ ...row, ...change(row) })),
        })),
      }
    : body;
const changeBuckets = (wanted: string, change: (bucket: Body) => object) => (path: string, body: Body) =>
  path === wanted ? { ...body, data: body.data.map((bucket: Body) => ({ ...bucket, ...change(bucket) })) } : body;
const amount = (value: unknown) => changeRows(COSTS, () => ({ amount: { value, currency: 'usd' } }));

let turn = 0;
let firstPage: Body[] = [];
const PROBLEMS: readonly (readonly [string, (path: string, body: Body) => Body, RegExp])[] = [
  [
    'cursors that lead in a circle',
    (path, body) => (path === USAGE ? { ...body, data: [], has_more: true, next_page: `page_${++turn % 3}` } : body),
    /has_more without a next page/,
  ],
  [
    'keys whose pages lead in a circle',
    (path, body) => (path.endsWith('/api_keys') ? { ...body, has_more: true } : body),
    /api_keys says has_more without a next page/,
  ],
  [
    'a page that is answered again as the next one',
    (path, body) => {
      if (path !== USAGE) return body;
      if (firstPage.length === 0) firstPage = body.data;
      return { ...body, data: firstPage };
    },
    /the bucket of \S+ twice/,
  ],
  [
    'a negative count',
    changeRows(USAGE, () => ({ output_tokens: -5 })),
    /a count that is no whole number, in output_tokens/,
  ],
  [
    'half a token',
    changeRows(USAGE, () => ({ input_tokens: 0.5 })),
    /a count that is no whole number, in input_tokens/,
  ],
  ['a count of 1e308', changeRows(USAGE, () => ({ input_tokens: 1e308 })), /a count that is no whole number/],
  ['a count in words', changeRows(USAGE, () => ({ num_model_requests: 'many' })), /a count that is no whole number/],
  [
    'counts that are exact only one by one',
    changeBuckets(USAGE, ({ start_time }) => ({
      results: [{ input_tokens: Number.MAX_SAFE_INTEGER, api_key_id: 'key_1', model: `m${start_time}` }],
    })),
    /too large to compare/,
  ],
  [
    'counts whose value is no exact amount',
    changeRows(USAGE, () => ({ input_tokens: Number.MAX_SAFE_INTEGER })),
    /too large to compare/,
  ],
  ['an amount of 1e308', amount(1e308), /an amount that is no number/],
  ['an amount of 1e308 as a text', amount('1e308'), /an amount that is no number/],
  ['an amount with a comma', amount('1,50'), /an amount that is no number/],
  ['an amount in base 16', amount('0x10'), /an amount that is no number/],
  ['no amount', amount(null), /an amount that is no number/],
  [
    'another currency',
    changeRows(COSTS, () => ({ amount: { value: 1, currency: 'eur' } })),
    /another currency than USD/,
  ],
  [
    'days of another time zone',
    changeBuckets(COSTS, ({ start_time }) => ({ start_time: start_time - 3_600 })),
    /does not begin with a UTC day/,
  ],
  [
    'hours of a time zone with half an hour',
    changeBuckets(USAGE, ({ start_time }) => ({ start_time: start_time + 1_800 })),
    /does not begin with a UTC hour/,
  ],
  ['a bucket without a start', changeBuckets(USAGE, () => ({ start_time: undefined })), /UTC hour/],
  ['rows that are no objects', changeBuckets(USAGE, () => ({ results: [null] })), /without results/],
];

test('a report that is wrong in one thing: the check states it, and the lines of the last check stay', async () => {
  const setup = await setUp();
  reports.keys = [KEY];
  reports.calls = [billedCall(CALL_MS)];
  await book(setup, 'openai', CALL_MS);
  expect(await check(setup)).toBeNull();
  const before = await linesOf(setup);
  expect(before).toHaveLength(1);
  for (const [what, change, problem] of PROBLEMS) {
    reports.change = change;
    const requests = reports.requests.length;
    expect([what, await check(setup)]).toEqual([what, expect.stringMatching(problem)]);
    expect(reports.requests.length - requests).toBeLessThan(60);
  }
  expect(await linesOf(setup)).toEqual(before);
  reports.change = (_path, body) => body;
  expect(await check(setup)).toBeNull();
});

test('amounts as texts with exponents are numbers', async () => {
  const setup = await setUp();
  reports.keys = [KEY];
  reports.calls = [billedCall(CALL_MS)];
  await book(setup, 'openai', CALL_MS);
  reports.change = changeRows(COSTS, ({ line_item, amount: { value } }) => ({
    amount: { value: line_item.endsWith('cached input') ? '0E-6176' : Number(value).toExponential(), currency: 'USD' },
  }));
  expect(await check(setup)).toBeNull();
  expect(await linesOf(setup)).toMatchObject([{ state: 'match', ourCents: 0.6, theirCents: 0.6 }]);
});

test('buckets that the check did not ask for change nothing, however often it runs', async () => {
  const setup = await setUp();
  reports.keys = [KEY];
  reports.calls = [billedCall(CALL_MS)];
  await book(setup, 'openai', CALL_MS);
  reports.change = (path, body) => {
    const [bucket] = body.data;
    if ((path !== USAGE && path !== COSTS) || bucket === undefined) return body;
    const used = body.data.find(({ results }: Body) => results.length > 0) ?? bucket;
    const startS = bucket.start_time - (40 * DAY_MS) / 1_000;
    return { ...body, data: [{ ...used, start_time: startS }, ...body.data] };
  };
  for (let i = 0; i < 3; i++) expect(await check(setup)).toBeNull();
  const lines = await plane.database.sql`select hour from billing_lines where billing_account_id = ${setup.id}`;
  expect(lines).toHaveLength(1);
});

test('names with NUL, half a surrogate pair and 5 000 characters are stored; two checks agree', async () => {
  const setup = await setUp();
  reports.keys = [KEY];
  reports.calls = [billedCall(CALL_MS)];
  const name = `\u0000\ud800"'; drop table billing_lines; --${'x'.repeat(5_000)}`;
  reports.change = (path, body) => {
    if (path.endsWith('/api_keys'))
      return { ...body, data: [...body.data, { id: `other${name}`, redacted_value: name }] };
    return changeRows(USAGE, () => ({ model: name, api_key_id: `other${name}` }))(path, body);
  };
  expect(await check(setup)).toBeNull();
  const first = await linesOf(setup);
  const line = first.find(({ key }: Body) => key !== '');
  expect(line).toMatchObject({ key: expect.stringMatching(/^\ufffd\ufffd/), isHeld: false });
  expect([line.key.length, line.model.length <= 200]).toEqual([200, true]);
  expect(await check(setup)).toBeNull();
  expect(await linesOf(setup)).toEqual(first);
});

test('a key that another organization of the gateway holds is outside of the comparison, without an event', async () => {
  const [one, other] = [await setUp(), await setUp('openai', 'sk-other-0123456789-0002')];
  reports.keys = [KEY, { id: 'key_2', redacted: 'sk-oth***0002' }];
  reports.calls = [billedCall(CALL_MS), billedCall(CALL_MS, 'key_2'), billedCall(CALL_MS, 'key_2')];
  await book(one, 'openai', CALL_MS);
  expect(await check(one)).toBeNull();
  expect(await accountOf(one)).toMatchObject({ state: 'match', theirCents: 0.6, otherKeysCents: 1.2, openCents: 0 });
  expect(await eventsOf(one)).toEqual([]);
  expect(await check(other)).toBeNull();
  expect(await accountOf(other)).toMatchObject({ state: 'unattributed', otherKeysCents: 0.6, unattributedCents: 1.2 });
});

test('a key without a redacted form is told apart by its id: it is not the key of unknown accounts', async () => {
  const setup = await setUp();
  reports.keys = [{ id: 'key_9', redacted: '' }];
  reports.calls = [billedCall(CALL_MS, 'key_9')];
  expect(await check(setup)).toBeNull();
  expect(await linesOf(setup)).toMatchObject([{ key: 'key_9', isHeld: false, theirCents: 0.6 }]);
});

test('two keys that the provider shows alike: what the gateway did not book is ambiguous, and no event', async () => {
  const setup = await setUp();
  reports.keys = [KEY, { id: 'key_2', redacted: KEY.redacted }];
  reports.calls = [billedCall(CALL_MS), billedCall(CALL_MS, 'key_2'), billedCall(CALL_MS, 'key_2')];
  await book(setup, 'openai', CALL_MS);
  expect(await check(setup)).toBeNull();
  const amounts = { differenceCents: 1.2, ambiguousCents: 1.2, unattributedCents: 0, failureCents: 0, priceCents: 0 };
  expect(await accountOf(setup)).toMatchObject({ state: 'ambiguous', ...amounts, otherKeysCents: 0 });
  expect(await linesOf(setup)).toMatchObject([{ state: 'ambiguous', key: KEY.redacted, isHeld: true, ...amounts }]);
  expect(await eventsOf(setup)).toEqual([]);
  // Both keys are held now: their sum can be compared.
  const { owner, agentId } = setup;
  const projectId = (await owner.call('GET', '/v1/projects')).body.projects[0].id;
  const other = (await owner.call('POST', '/v1/agents', { projectId, name: 'Other' })).body.agent.id;
  expect(other).not.toBe(agentId);
  const credentials = { agentId: other, providerSlug: 'openai', credentials: { apiKey: 'sk-first-9876543210-0001' } };
  expect((await owner.call('POST', '/v1/providers/accounts', credentials)).status).toBe(201);
  expect(await check(setup)).toBeNull();
  expect(await accountOf(setup)).toMatchObject({ state: 'unattributed', unattributedCents: 1.2, ambiguousCents: 0 });
  // A key that is listed twice, as while the list changes, is one key.
  reports.keys = [KEY];
  reports.change = (path, body) =>
    path.endsWith('/api_keys') ? { ...body, data: [...body.data, ...body.data] } : body;
  reports.calls = [billedCall(CALL_MS)];
  expect(await check(setup)).toBeNull();
  expect(await accountOf(setup)).toMatchObject({ state: 'match', differenceCents: 0 });
});

test('an unlisted key whose id has NUL and 5 000 characters is outside of the comparison', async () => {
  const setup = await setUp();
  reports.keys = [];
  reports.calls = [billedCall(CALL_MS, `\u0000${'x'.repeat(5_000)}`)];
  expect(await check(setup)).toBeNull();
  expect(await linesOf(setup)).toMatchObject([{ key: expect.stringMatching(/^\ufffdx{199}$/), isHeld: false }]);
});

test('booked usage that exceeds a bigint is a problem with a text', async () => {
  const setup = await setUp();
  reports.keys = [KEY];
  reports.calls = [billedCall(CALL_MS)];
  for (let i = 0; i < 3; i++) await book(setup, 'openai', CALL_MS + i);
  const { sql } = plane.database;
  for (const nanos of ['4000000000000000000', '4000000000000000']) {
    await sql`update usage_records set cost_nanos = ${nanos}::text::bigint where org_id = ${setup.owner.orgId}`;
    expect(await check(setup)).toContain('too large to compare');
  }
});

test('a credit is shown as a difference, and is no price for PRICES_FILE', async () => {
  const setup = await setUp();
  reports.keys = [KEY];
  reports.calls = [billedCall(CALL_MS)];
  await book(setup, 'openai', CALL_MS);
  reports.change = amount(-1);
  expect(await check(setup)).toBeNull();
  expect(await accountOf(setup)).toMatchObject({ state: 'drift', theirCents: -300 });
  expect((await setup.owner.call('GET', `/v1/billing?month=${MONTH}`)).body.drifts).toEqual([]);
  expect(await eventsOf(setup)).toEqual([]);
});

const HASH = createHash('sha256').update(SECRET).digest('hex');

test('OpenRouter, a key used elsewhere for a model without a price: unattributed, with its event', async () => {
  const setup = await setUp('openrouter');
  reports.keys = [{ id: HASH, redacted: 'sk-fir...001' }];
  const atMs = NOW_MS - 20 * DAY_MS;
  reports.calls = [billedCall(atMs, HASH, 'nobody/knows-1'), billedCall(atMs, HASH, 'nobody/knows-1')];
  expect(await check(setup)).toBeNull();
  expect(await linesOf(setup)).toMatchObject([{ state: 'unattributed', unattributedCents: 1.2, priceCents: 0 }]);
  expect(await eventsOf(setup)).toEqual(['credential.used_elsewhere']);
});

test('OpenRouter, two keys with one label: the hash tells them apart', async () => {
  const setup = await setUp('openrouter');
  reports.keys = [
    { id: '0'.repeat(64), redacted: 'sk-fir...001' },
    { id: HASH, redacted: 'sk-fir...001' },
  ];
  const atMs = NOW_MS - 20 * DAY_MS;
  reports.calls = [billedCall(atMs, HASH), billedCall(atMs, '0'.repeat(64))];
  await book(setup, 'router', atMs);
  expect(await check(setup)).toBeNull();
  expect(await accountOf(setup)).toMatchObject({ state: 'match', theirCents: 0.6, otherKeysCents: 0.6 });
  expect((await linesOf(setup)).map(({ key }: Body) => key)).toEqual(
    expect.arrayContaining(['sk-fir...001', `sk-fir...001 (${'0'.repeat(64)})`]),
  );
});

test('OpenRouter, days that it no longer reports: the lines of an earlier check stay, and nothing is unbilled', async () => {
  const setup = await setUp('openrouter');
  reports.keys = [{ id: HASH, redacted: 'sk-fir...001' }];
  const atMs = MONTH_MS + DAY_MS + HOUR_MS;
  reports.calls = [billedCall(atMs, HASH)];
  await book(setup, 'router', atMs);
  expect(await check(setup, MONTH_MS + 10 * DAY_MS)).toBeNull();
  const before = await linesOf(setup);
  expect(before).toMatchObject([{ state: 'match', theirRequests: 1 }]);
  expect(await check(setup)).toBeNull(); // the fifth of the next month: the second is older than 30 days
  expect(await linesOf(setup)).toEqual(before);
  expect(await check(setup, MONTH_MS + 75 * DAY_MS)).toContain('reports no day of');
  expect(await check(setup, MONTH_MS - DAY_MS)).toContain('has not begun');
});

test('OpenRouter, a key that is listed twice is read once, and a list that repeats its page ends', async () => {
  const setup = await setUp('openrouter');
  const atMs = NOW_MS - 20 * DAY_MS;
  reports.keys = [
    { id: HASH, redacted: 'sk-fir...001' },
    { id: HASH, redacted: 'sk-fir...001' },
  ];
  reports.calls = [billedCall(atMs, HASH)];
  await book(setup, 'router', atMs);
  expect(await check(setup)).toBeNull();
  expect(await linesOf(setup)).toMatchObject([{ state: 'match', theirRequests: 1 }]);
  reports.keys = Array.from({ length: 100 }, (_, i) => ({ id: `${i}`, redacted: `key ${i}` }));
  expect(await check(setup)).toContain('the same page twice');
});

test('a server of a tenant that answers large pages or many of them: the check ends, and says so', async () => {
  const setup = await setUp('openrouter');
  reports.keys = [{ id: HASH, redacted: 'sk-fir...001' }];
  reports.calls = [];
  const padding = (mib: number) => (path: string, body: Body) =>
    path === '/api/v1/activity' ? { ...body, padding: 'x'.repeat(mib * 1_048_576) } : body;
  reports.change = padding(5);
  expect(await check(setup)).toContain('more than 4 MiB a page');
  reports.change = padding(3);
  expect(await check(setup)).toContain('more than 32 MiB');
  reports.change = (path, body) => (path === '/api/v1/activity' ? { data: [{ model: 'm', usage: -1 }] } : body);
  expect(await check(setup)).toContain('a negative cost');
});
