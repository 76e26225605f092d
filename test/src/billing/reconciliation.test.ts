/**
 * Reconciliation against stand-ins of the usage and cost APIs: the report names billed failures, another client on the
 * same key, a changed price and late buckets with their amounts, and nothing else.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PriceList } from '@acg/base/pricing/price-list';
import { uuidv7 } from '@acg/base/uuidv7';
import { monthOf } from '@acg/controlplane/billing/check-runner';
import type { IUsageRecord } from '@acg/proto/messages';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { createIngest, usageRecord } from '../ledger/usage-fixture.js';
import { BILLING_ADMIN_KEY, type BilledCall, BillingReportsStandIn } from '../stand-in-providers/billing-reports.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NANOS_PER_CENT = 1e7;
/** Noon of the 15th of the month before the last day of the retained range: a month that has its own end in the past. */
const NOW_MS = (() => {
  const now = new Date();
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 15, 12);
})();
const MONTH = monthOf(NOW_MS);
const FIRST_MS = NOW_MS - 6 * DAY_MS - 12 * HOUR_MS;

const reports = new BillingReportsStandIn();
const home = mkdtempSync(join(tmpdir(), 'acg-billing-'));
let plane: TestControlPlane;
beforeAll(async () => {
  await reports.start();
  reports.recordsRequests = false;
  const file = join(home, 'providers.json');
  writeFileSync(file, JSON.stringify({ openai: { baseUrl: reports.origin }, anthropic: { baseUrl: reports.origin } }));
  plane = await startControlPlane({ PROVIDERS_FILE: file });
});
afterAll(async () => {
  await plane.stop();
  await reports.close();
  rmSync(home, { recursive: true, force: true });
});

const SECRETS = ['sk-first-0123456789-0001', 'sk-second-0123456789-0002'] as const;
const KEYS = [
  { id: 'key_1', redacted: 'sk-fir***0001' },
  { id: 'key_2', redacted: 'sk-sec***0002' },
] as const;

/** Two agents, each with an account of its own key. */
async function createHolders(
  owner: Member,
  providerSlug: string,
): Promise<readonly { agentId: string; accountId: string }[]> {
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'Default' })).body.project.id;
  const holders = [];
  for (const apiKey of SECRETS) {
    const agentId = (await owner.call('POST', '/v1/agents', { projectId, name: 'Agent' })).body.agent.id;
    const body = { agentId, providerSlug, credentials: { apiKey } };
    holders.push({ agentId, accountId: (await owner.call('POST', '/v1/providers/accounts', body)).body.account.id });
  }
  return holders;
}

async function createBilling(owner: Member, body: object): Promise<string> {
  const { status, body: reply } = await owner.call('POST', '/v1/billing/accounts', {
    name: 'Bill',
    adminKey: BILLING_ADMIN_KEY,
    ...body,
  });
  expect(reply).toMatchObject({ account: { problem: null, checkedAt: null } });
  expect(status).toBe(201);
  return reply.account.id;
}

const list = new PriceList(Date.now);
const ratesOf = (providerSlug: string, model: string) => {
  const upstream = { providerSlug, priceProvider: providerSlug, usageFormat: providerSlug, origin: '' };
  const { input, cacheRead, output } = list.findPlan(upstream, model)!.bands[0]!.rates;
  return { input: input / 1e3, cacheRead: cacheRead / 1e3, output: output / 1e3 };
};

/** A deterministic generator of integers below `below`. */
function randomInts(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const report = async (owner: Member) => (await owner.call('GET', `/v1/billing?month=${MONTH}`)).body;
const linesBy = async (owner: Member, id: string, by: string, filter = '') =>
  (await owner.call('GET', `/v1/billing/accounts/${id}/lines?month=${MONTH}&by=${by}&limit=100${filter}`)).body.lines;
const eventsOf = async (owner: Member) =>
  (
    await plane.database.sql<{ event: string; data: Record<string, unknown> }[]>`
      select event, data from events where org_id = ${owner.orgId}
        and event in ('credential.used_elsewhere', 'price.drift') order by id`
  ).map(({ event, data }): Record<string, unknown> => ({ event, ...data }));

interface Truth {
  failures: number;
  elsewhere: number;
  price: number;
  late: number;
}

/**
 * 50 000 calls of two keys and two models over six days. The gateway books what it saw; the provider bills what it did.
 * Failures do not fall into the hours of the other client, so that both amounts are exact.
 */
async function simulateRun(
  owner: Member,
  slug: 'openai' | 'anthropic',
  models: readonly [string, string],
  calls: number,
) {
  const random = randomInts(7);
  const holders = await createHolders(owner, slug);
  const ingest = createIngest(plane.database.sql);
  const truth: Truth = { failures: 0, elsewhere: 0, price: 0, late: 0 };
  const billed: BilledCall[] = [];
  let records: IUsageRecord[] = [];
  const priceChangeMs = FIRST_MS + DAY_MS;
  const bill = (
    atMs: number,
    key: number,
    model: string,
    size: { input: number; cacheRead: number; output: number },
  ) => {
    const rates = ratesOf(slug, model);
    const factor = model === models[1] && atMs >= priceChangeMs && atMs < priceChangeMs + DAY_MS ? 1.2 : 1;
    const nanos = {
      input: size.input * rates.input * factor,
      cacheRead: size.cacheRead * rates.cacheRead * factor,
      output: size.output * rates.output * factor,
    };
    billed.push({ atMs, keyId: KEYS[key]!.id, model: `${model}-2025-08-07`, ...size, nanos });
    return { total: nanos.input + nanos.cacheRead + nanos.output, factor };
  };
  const otherClientFromMs = FIRST_MS + 2 * DAY_MS + 3 * HOUR_MS;
  const otherClientToMs = otherClientFromMs + 4 * HOUR_MS;
  const lateFromMs = NOW_MS - 3 * HOUR_MS;
  reports.isLate = ({ atMs, keyId }) => keyId === KEYS[1].id && atMs >= lateFromMs;
  for (let i = 0; i < calls; i++) {
    const atMs = FIRST_MS + Math.floor((i / calls) * (NOW_MS - FIRST_MS));
    const key = random(2);
    const model = models[random(2)]!;
    const size = { input: 100 + random(400), cacheRead: random(200), output: 20 + random(300) };
    const isOtherClientHour = key === 0 && atMs >= otherClientFromMs && atMs < otherClientToMs;
    const isQuiet = isOtherClientHour || (model === models[1] && atMs < priceChangeMs + DAY_MS) || atMs >= lateFromMs;
    const failed = random(50) === 0 && !isQuiet;
    const { total, factor } = bill(atMs, key, model, size);
    if (failed) truth.failures += total;
    else if (factor !== 1) truth.price += total - total / factor;
    if (key === 1 && atMs >= lateFromMs) truth.late += total;
    const { agentId, accountId } = holders[key]!;
    const booked = failed ? { input: 0, cacheRead: 0, output: 0 } : size;
    records.push(
      usageRecord({
        id: uuidv7(atMs),
        orgId: owner.orgId,
        agentId,
        accountId,
        providerSlug: slug,
        startedAtMs: atMs,
        model,
        tokensInUncached: booked.input,
        tokensCacheRead: booked.cacheRead,
        tokensCacheWrite: 0,
        tokensOut: booked.output,
        costNanos: failed ? 0 : Math.round(total / factor),
        ...(failed ? { status: 0, responseStatus: 504, error: 'response_timeout' } : {}),
      }),
    );
    if (records.length === 2_000) {
      await ingest.report({ dataPlaneId: 'd', records });
      records = [];
    }
  }
  await ingest.report({ dataPlaneId: 'd', records });
  for (let i = 0; i < 200; i++) {
    const atMs = otherClientFromMs + Math.floor((i / 200) * (otherClientToMs - otherClientFromMs));
    truth.elsewhere += bill(atMs, 0, models[0], { input: 5_000, cacheRead: 0, output: 3_000 }).total;
  }
  reports.keys = KEYS;
  reports.calls = billed;
  return truth;
}

test('50 000 calls at OpenAI: all four causes with their amounts, nothing else, and the same again', async () => {
  const owner = await plane.createMember('owner');
  const truth = await simulateRun(owner, 'openai', ['gpt-5-mini', 'gpt-5-nano'], 50_000);
  const id = await createBilling(owner, { api: 'openai', alertCents: 1 });
  const { checks } = plane.service.billing;
  expect(await checks.runNow(owner.orgId, id, MONTH, NOW_MS)).toEqual({ problem: null });

  const first = await report(owner);
  const [account] = first.accounts;
  const cents = (nanos: number) => nanos / NANOS_PER_CENT;
  expect(account.state).toBe('unattributed');
  expect(account.failureCents).toBeCloseTo(cents(truth.failures), 2);
  expect(account.unattributedCents).toBeCloseTo(cents(truth.elsewhere), 2);
  expect(account.priceCents).toBeCloseTo(cents(truth.price), 2);
  expect(account.pendingCents).toBeCloseTo(-cents(truth.late), 2);
  expect(account.unbilledCents).toBe(account.pendingCents);
  expect(account.otherKeysCents).toBe(0);
  expect(account.differenceCents).toBeCloseTo(cents(truth.failures + truth.elsewhere + truth.price - truth.late), 2);
  for (const cause of [truth.failures, truth.elsewhere, truth.price, truth.late]) expect(cause).toBeGreaterThan(1e6);

  expect(first.drifts).toHaveLength(1);
  const [drift] = first.drifts;
  const since = new Date(FIRST_MS + DAY_MS).toISOString().slice(0, 10);
  expect(drift).toMatchObject({ model: 'gpt-5-nano', since });
  for (const { ourUsdPerMTok, theirUsdPerMTok } of drift.prices)
    expect(theirUsdPerMTok / ourUsdPerMTok).toBeCloseTo(1.2, 3);
  expect(JSON.parse(drift.pricesFile).openai.models['gpt-5-nano'][0].from).toBe(since);

  const byKey = await linesBy(owner, id, 'key', '&state=unattributed');
  expect(byKey).toMatchObject([{ key: KEYS[0].redacted, isHeld: true }]);
  const hours = await linesBy(owner, id, 'hour', '&state=unattributed');
  expect(hours).toHaveLength(4);
  expect(await linesBy(owner, id, 'key', '&state=pending')).toMatchObject([{ key: KEYS[1].redacted }]);
  const drifted = await linesBy(owner, id, 'day', '&state=drift&model=gpt-5-nano');
  expect(drifted.filter(({ priceCents }: { priceCents: number }) => Math.abs(priceCents) > 0.01)).toHaveLength(1);

  const events = await eventsOf(owner);
  expect(events.map(({ event }) => event)).toEqual(['credential.used_elsewhere', 'price.drift']);
  expect(events[0]).toMatchObject({ keyLabel: KEYS[0].redacted, providerSlug: 'openai' });
  expect(events[0]!.unattributedCents).toBe(Math.floor(cents(truth.elsewhere)));

  const stored = () =>
    plane.database.sql`select * from billing_lines where billing_account_id = ${id} order by 2, 3, 4`;
  const before = JSON.stringify(await stored());
  expect(await checks.runNow(owner.orgId, id, MONTH, NOW_MS)).toEqual({ problem: null });
  expect(JSON.stringify(await stored())).toBe(before);
  expect(await eventsOf(owner)).toHaveLength(2);

  reports.isLate = () => false;
  await checks.runNow(owner.orgId, id, MONTH, NOW_MS);
  const [later] = (await report(owner)).accounts;
  expect(later.pendingCents).toBe(0);
  expect(later.differenceCents).toBeCloseTo(cents(truth.failures + truth.elsewhere + truth.price), 2);

  const amountCents = Math.round(later.differenceCents);
  const reason = 'Accepted after a talk with OpenAI';
  const adjusted = await owner.call('POST', '/v1/billing/adjustments', {
    accountId: id,
    month: MONTH,
    amountCents,
    reason,
  });
  expect(adjusted.status).toBe(201);
  const settled = await report(owner);
  expect(settled.accounts[0]).toMatchObject({ state: 'adjusted', adjustmentCents: amountCents });
  expect(settled.adjustments).toMatchObject([{ reason, amountCents, month: MONTH }]);
  expect(settled.accounts[0].differenceCents).toBe(later.differenceCents);
});

test('adjustments are exact up to their maxima, also in sum', async () => {
  const owner = await plane.createMember('owner');
  const accountId = await createBilling(owner, { api: 'openai', name: 'Company' });
  const adjust = async (amountCents: number) =>
    (await owner.call('POST', '/v1/billing/adjustments', { accountId, month: MONTH, amountCents, reason: 'Test' }))
      .status;
  const most = 100_000_000_000;
  for (const amountCents of [most, most - 1, -most]) expect(await adjust(amountCents)).toBe(201);
  for (const amountCents of [most + 1, -most - 1, 10 * most]) expect(await adjust(amountCents)).toBe(400);
  expect(await report(owner)).toMatchObject({
    accounts: [{ adjustmentCents: most - 1 }],
    adjustments: [{ amountCents: most }, { amountCents: most - 1 }, { amountCents: -most }],
  });
});

test('Anthropic, which counts no requests: the same causes', async () => {
  const owner = await plane.createMember('owner');
  const truth = await simulateRun(owner, 'anthropic', ['claude-sonnet-4-5', 'claude-haiku-4-5'], 3_000);
  const id = await createBilling(owner, { api: 'anthropic' });
  expect(await plane.service.billing.checks.runNow(owner.orgId, id, MONTH, NOW_MS)).toEqual({ problem: null });
  const [account] = (await report(owner)).accounts;
  const cents = (nanos: number) => nanos / NANOS_PER_CENT;
  // Without counts of requests, the share of failed calls in an hour is an estimate; the sum is exact.
  expect(account.failureCents + account.unattributedCents).toBeCloseTo(cents(truth.failures + truth.elsewhere), 1);
  expect(account.priceCents).toBeCloseTo(cents(truth.price), 2);
  expect(account.pendingCents).toBeCloseTo(-cents(truth.late), 2);
});

test('OpenRouter: days instead of hours, the key by its hash', async () => {
  const owner = await plane.createMember('owner');
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'Default' })).body.project.id;
  const agentId = (await owner.call('POST', '/v1/agents', { projectId, name: 'Router' })).body.agent.id;
  const provider = {
    slug: 'router',
    displayName: 'OpenRouter',
    baseUrl: `${reports.origin}/api`,
    authType: 'bearer',
  };
  expect((await owner.call('POST', '/v1/custom-providers', provider)).status).toBe(201);
  const account = { agentId, providerSlug: 'router', credentials: { apiKey: SECRETS[0] } };
  const accountId = (await owner.call('POST', '/v1/providers/accounts', account)).body.account.id;
  const hash = createHash('sha256').update(SECRETS[0]).digest('hex');
  const atMs = NOW_MS - 5 * DAY_MS;
  const call = { keyId: hash, model: 'openai/gpt-4.1', input: 1_000, cacheRead: 0, output: 500 };
  const nanos = { input: 2_000_000, cacheRead: 0, output: 4_000_000 };
  reports.keys = [{ id: hash, redacted: 'sk-fir...001' }];
  reports.isLate = () => false;
  reports.calls = [1, 2, 3].map((hour) => ({ ...call, nanos, atMs: atMs + hour * HOUR_MS }));
  const record = usageRecord({
    id: uuidv7(atMs),
    orgId: owner.orgId,
    agentId,
    accountId,
    providerSlug: 'router',
    startedAtMs: atMs,
    model: 'openai/gpt-4.1',
    tokensInUncached: 1_000,
    tokensCacheRead: 0,
    tokensCacheWrite: 0,
    tokensOut: 500,
    costNanos: 6_000_000,
  });
  await createIngest(plane.database.sql).report({ dataPlaneId: 'd', records: [record] });
  const id = await createBilling(owner, { api: 'openrouter', providerSlug: 'router' });
  // OpenRouter keeps 30 days: the check of an older month finds nothing, which is no proof of a match.
  expect(await plane.service.billing.checks.runNow(owner.orgId, id, MONTH, NOW_MS)).toEqual({ problem: null });
  const [line] = await linesBy(owner, id, 'line');
  expect(line).toMatchObject({
    key: 'sk-fir...001',
    ourRequests: 1,
    theirRequests: 3,
    ourCents: 0.6,
    theirCents: 1.8,
    unattributedCents: 1.2,
    state: 'unattributed',
  });
});

test('problems of the reports: a missing scope, a rate limit, half a page; the lines stay', async () => {
  const owner = await plane.createMember('owner');
  reports.calls = [];
  reports.keys = KEYS;
  const id = await createBilling(owner, { api: 'openai' });
  const { checks } = plane.service.billing;
  const check = async () => (await checks.runNow(owner.orgId, id, MONTH, NOW_MS))!.problem;
  const answer = (status: number, text: string, headers: readonly (readonly [string, string])[] = []) => ({
    answer: { status, headers, body: Buffer.from(text) },
  });
  reports.failNext(answer(403, '{"error":{"message":"Missing scopes: api.usage.read"}}'));
  expect(await check()).toContain('lacks a scope');
  expect((await report(owner)).accounts[0]).toMatchObject({
    state: 'unchecked',
    problem: expect.stringMatching(/403/),
  });
  reports.failNext(answer(429, '{}', [['retry-after', '0']]), 2);
  expect(await check()).toBeNull();
  reports.failNext(answer(429, '{}', [['retry-after', '0']]), 3);
  expect(await check()).toContain('limits its reports (429');
  reports.failNext(answer(200, '{"object":"page","data":[{"start_ti'));
  expect(await check()).toContain('half a page');
  reports.failNext({ cutAfterBytes: 20 });
  expect(await check()).toContain('could not be read completely');
  reports.failNext(answer(200, '{"object":"page","data":[],"has_more":true,"next_page":null}'));
  expect(await check()).toContain('has_more without a next page');
  await owner.call('PATCH', `/v1/billing/accounts/${id}`, { adminKey: 'sk-admin-revoked-0123456789' });
  expect(await check()).toContain('rejects the admin key (401');
  await owner.call('PATCH', `/v1/billing/accounts/${id}`, { adminKey: BILLING_ADMIN_KEY });
  expect(await check()).toBeNull();
});

test('the last month and day that a time can have are empty, like every other one in the future', async () => {
  const owner = await plane.createMember('owner');
  const id = await createBilling(owner, { api: 'openai' });
  expect(await owner.call('GET', '/v1/billing?month=9999-12')).toMatchObject({ status: 200, body: { drifts: [] } });
  for (const filter of ['month=9999-12', 'day=9999-12-31'])
    expect(await owner.call('GET', `/v1/billing/accounts/${id}/lines?${filter}`)).toMatchObject({
      status: 200,
      body: { total: 0 },
    });
});

test('two checks at once: the second is told, no line stands twice', async () => {
  const owner = await plane.createMember('owner');
  reports.calls = [];
  const id = await createBilling(owner, { api: 'openai' });
  reports.failNext({ hang: true });
  const first = owner.call('POST', `/v1/billing/accounts/${id}/check`, { month: MONTH });
  const { sql } = plane.database;
  await expect
    .poll(async () => (await sql`select lease from billing_accounts where id = ${id}`)[0]!.lease)
    .not.toBeNull();
  const second = await owner.call('POST', `/v1/billing/accounts/${id}/check`, { month: MONTH });
  expect(second).toMatchObject({ status: 409, body: { error: expect.stringContaining('is running') } });
  reports.releaseHangingResponses();
  expect((await first).status).toBe(200);
});

test('a check whose lease has ended changes nothing: another check has taken over', async () => {
  const owner = await plane.createMember('owner');
  reports.calls = [];
  const id = await createBilling(owner, { api: 'openai' });
  const { checks } = plane.service.billing;
  const { sql } = plane.database;
  reports.failNext({ hang: true });
  const first = checks.runNow(owner.orgId, id, MONTH, NOW_MS);
  await expect
    .poll(async () => (await sql`select lease from billing_accounts where id = ${id}`)[0]!.lease)
    .not.toBeNull();
  await sql`update billing_accounts set leased_until = now() - interval '1 second' where id = ${id}`;
  expect(await checks.runNow(owner.orgId, id, MONTH, NOW_MS)).toEqual({ problem: null });
  const read = async () => JSON.stringify(await sql`select * from billing_accounts where id = ${id}`);
  const before = await read();
  reports.releaseHangingResponses();
  expect((await first)!.problem).toContain('took over');
  expect(await read()).toBe(before);
});

test('a rotated key: usage after the rotation belongs to the new key, later usage of the old one is elsewhere', async () => {
  const owner = await plane.createMember('owner');
  const [{ agentId, accountId }] = (await createHolders(owner, 'openai')) as [{ agentId: string; accountId: string }];
  const id = await createBilling(owner, { api: 'openai' });
  const { checks } = plane.service.billing;
  reports.keys = [...KEYS, { id: 'key_3', redacted: 'sk-thi***0003' }];
  reports.calls = [];
  await checks.runNow(owner.orgId, id, MONTH, NOW_MS);
  await owner.call('POST', `/v1/providers/accounts/${accountId}/rotate`, {
    credentials: { apiKey: 'sk-third-0123456789-0003' },
  });
  const rotatedMs = NOW_MS - 4 * DAY_MS;
  await plane.database.sql`update provider_accounts set rotated_at = ${new Date(rotatedMs)} where id = ${accountId}`;
  const rates = ratesOf('openai', 'gpt-5-mini');
  const size = { input: 100_000, cacheRead: 0, output: 10_000 };
  const nanos = { input: size.input * rates.input, cacheRead: 0, output: size.output * rates.output };
  const bill = (atMs: number, keyId: string): BilledCall => ({ atMs, keyId, model: 'gpt-5-mini', ...size, nanos });
  const [before, after] = [rotatedMs - HOUR_MS, rotatedMs + HOUR_MS];
  reports.calls = [bill(before, 'key_1'), bill(after, 'key_3'), bill(after + DAY_MS, 'key_1')];
  const records = [before, after].map((startedAtMs) =>
    usageRecord({
      id: uuidv7(startedAtMs),
      orgId: owner.orgId,
      agentId,
      accountId,
      startedAtMs,
      model: 'gpt-5-mini',
      tokensInUncached: size.input,
      tokensCacheRead: 0,
      tokensCacheWrite: 0,
      tokensOut: size.output,
      costNanos: nanos.input + nanos.output,
    }),
  );
  await createIngest(plane.database.sql).report({ dataPlaneId: 'd', records });
  await checks.runNow(owner.orgId, id, MONTH, NOW_MS);
  expect(await linesBy(owner, id, 'line')).toMatchObject([
    { key: 'sk-fir***0001', state: 'match', isHeld: true },
    { key: 'sk-thi***0003', state: 'match', isHeld: true },
    { key: 'sk-fir***0001', state: 'unattributed', isHeld: true },
  ]);
});
