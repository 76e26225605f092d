/** What charts and lists have on every screen: zoom, legend, sorting by the server, and cards on phones. */
import { openPool } from '@acg/controlplane/db/postgres-client';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { createIngest, usageRecord } from '../ledger/usage-fixture.js';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PHONE = { width: 390, height: 844 };
const open: { end(): Promise<void> }[] = [];
afterAll(() => Promise.all(open.map((sql) => sql.end())));

/** An owner with two agents at two providers, and calls of the first one in each of the last 12 hours and 20 days. */
async function scene() {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const login = await stack.call('POST', '/v1/auth/login', null, { email, password });
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, login.body.token, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const agentIds: string[] = [];
  const accountIds: string[] = [];
  for (const [name, providerSlug] of [
    ['Zebra', 'openai'],
    ['Ant', 'anthropic'],
  ] as const) {
    const agentId: string = (await call('POST', '/v1/agents', { projectId, name })).body.agent.id;
    const account = { agentId, providerSlug, credentials: { apiKey: 'sk-example-not-a-real-key' } };
    accountIds.push((await call('POST', '/v1/providers/accounts', account)).body.account.id);
    agentIds.push(agentId);
  }
  const [agentId, accountId] = [agentIds[0]!, accountIds[0]!];
  const keyId: string = (await call('POST', '/v1/api-keys', { name: 'live', agentId })).body.key.id;
  const sql = openPool(stack.database.url, { connectionsMax: 2, applicationName: 'test' });
  open.push(sql);
  const ages = [
    ...Array.from({ length: 12 }, (_, i) => i * HOUR_MS),
    ...Array.from({ length: 19 }, (_, i) => (i + 1) * DAY_MS),
  ];
  await createIngest(sql).report({
    dataPlaneId: 'test',
    records: ages.map((ageMs, i) =>
      usageRecord({
        orgId: login.body.orgId,
        projectId,
        agentId,
        keyId,
        accountId,
        providerSlug: 'openai',
        startedAtMs: Date.now() - ageMs - 60_000,
        costNanos: 2_000_000_000,
        responseStatus: i % 3 === 0 ? 502 : 200,
        status: i % 3 === 0 ? 502 : 200,
      }),
    ),
  });
  return { visitor, call, agentId, keyId, accountId, projectId };
}

/** Drags over a part of the first chart; the ends are fractions of its width. */
async function drag(page: Page, from: number, to: number): Promise<void> {
  const { x, y, width, height } = (await page.locator('.u-over').first().boundingBox())!;
  await page.mouse.move(x + from * width, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + ((from + to) / 2) * width, y + height / 2);
  await page.mouse.move(x + to * width, y + height / 2);
  await page.mouse.up();
}

test('a drag over the bars of the calls selects their hours, and a token’s chart says that it has no rejections', async () => {
  const { visitor, keyId } = await scene();
  const { page } = visitor;
  await visitor.goto('/calls?live=off');
  await page.locator('.u-over').waitFor();
  await drag(page, 0.55, 0.95);
  await expect.poll(() => new URL(page.url()).searchParams.get('to')).not.toBeNull();
  const { searchParams, pathname } = new URL(page.url());
  expect(pathname).toMatch(/\/calls$/);
  const [fromMs, toMs] = [Date.parse(searchParams.get('from')!), Date.parse(searchParams.get('to')!)];
  expect([fromMs % HOUR_MS, toMs % HOUR_MS]).toEqual([0, 0]);
  expect(toMs - fromMs).toBeGreaterThan(2 * HOUR_MS);
  expect(toMs - fromMs).toBeLessThan(20 * HOUR_MS);

  const chart = page.getByRole('region', { name: 'Calls over time' });
  await visitor.goto('/calls?live=off');
  await chart.getByRole('button', { name: 'Rejected' }).waitFor();
  await visitor.goto(`/calls?live=off&key=${keyId}`);
  await chart.getByText('Rejections are not counted by gateway token.').waitFor();
  expect(await chart.getByRole('button', { name: 'Rejected' }).count()).toBe(0);
  await visitor.checkPage('calls-of-token');
});

test('a legend hides and shows series, by keyboard too', async () => {
  const { visitor } = await scene();
  const { page } = visitor;
  await visitor.goto('/calls?live=off');
  const chart = page.getByRole('region', { name: 'Calls over time' });
  const tooltip = chart.locator('figcaption');
  const hoverLastBar = async () => {
    const { x, y, width, height } = (await page.locator('.u-over').boundingBox())!;
    await page.mouse.move(x, y);
    await page.mouse.move(x + width - 8, y + height / 2);
    await tooltip.waitFor();
    return tooltip.textContent();
  };
  expect(await hoverLastBar()).toContain('Failed: 1');
  const failed = chart.getByRole('button', { name: 'Failed' });
  expect(await failed.getAttribute('aria-pressed')).toBe('true');
  await failed.press('Enter');
  expect(await failed.getAttribute('aria-pressed')).toBe('false');
  await visitor.checkPage('chart-legend');
  expect(await hoverLastBar()).not.toContain('Failed');
  await failed.press('Space');
  expect(await hoverLastBar()).toContain('Failed: 1');
});

test('a drag over days selects them as the period of the usage, and zooms charts without a period of their own', async () => {
  const { visitor } = await scene();
  const { page } = visitor;
  await visitor.goto('/usage?period=30d');
  await page.locator('.u-over').first().waitFor();
  await drag(page, 0.5, 0.8);
  await expect.poll(() => new URL(page.url()).searchParams.get('period')).toBe('days');
  const { searchParams } = new URL(page.url());
  const days = (Date.parse(searchParams.get('end')!) - Date.parse(searchParams.get('start')!)) / DAY_MS + 1;
  expect(days).toBeGreaterThan(5);
  expect(days).toBeLessThan(15);
  await page.goBack();
  await expect.poll(() => new URL(page.url()).searchParams.get('period')).toBe('30d');

  await visitor.goto('/?period=30d');
  await page.locator('.u-over').first().waitFor();
  await drag(page, 0.5, 0.8);
  await page.getByRole('button', { name: 'Reset zoom' }).waitFor();
  expect(new URL(page.url()).pathname).not.toContain('/calls');
  await visitor.checkPage('chart-zoomed');
  await page.getByRole('button', { name: 'Reset zoom' }).click();
  await page.getByRole('button', { name: 'Reset zoom' }).waitFor({ state: 'detached' });
});

test('the server sorts accounts by agent, provider and last use; the address keeps the order', async () => {
  const { visitor } = await scene();
  const { page } = visitor;
  await visitor.goto('/providers');
  const firstRow = page.getByRole('row').nth(1);
  await firstRow.getByText('Ant', { exact: true }).waitFor();
  const sortBy = async (header: string, sort: RegExp) => {
    const [request] = await Promise.all([
      page.waitForRequest((one) => /\/v1\/providers\/accounts\?/.test(one.url()) && sort.test(one.url())),
      page.getByRole('columnheader', { name: header }).getByRole('button').click(),
    ]);
    expect((await request.response())?.status()).toBe(200);
  };
  await sortBy('Last used', /sort=lastUsedAt&order=asc/);
  await firstRow.getByText('Zebra').waitFor();
  await page.getByRole('row', { name: /Ant.*Never/ }).waitFor();
  await sortBy('Agent', /sort=agentName&order=asc/);
  await firstRow.getByText('Ant', { exact: true }).waitFor();
  await sortBy('Agent', /sort=agentName&order=desc/);
  await firstRow.getByText('Zebra').waitFor();
  await page.reload();
  await firstRow.getByText('Zebra').waitFor();
  expect(
    await page.getByRole('columnheader', { name: 'Agent' }).and(page.locator('[aria-sort="descending"]')).count(),
  ).toBe(1);
  await visitor.checkPage('accounts-sorted');
});

test.each([
  ['/runs', 'Calls', /\/v1\/runs\?.*sort=calls/],
  ['/trust-rules', 'Name', /\/v1\/trust-rules\?.*sort=name/],
  ['/settings?tab=tokens', 'Role', /\/v1\/management-tokens\?.*sort=role/],
  ['/providers?tab=shared', 'Used by', /\/v1\/credentials\?.*sort=accounts/],
  ['/alerts/rules', 'Name', /\/v1\/alert-rules\?.*sort=name/],
  ['/members', 'Last active', /\/v1\/members\?.*sort=lastSeenAt/],
  ['/audit', 'Time', /\/v1\/audit\?.*order=asc/],
])('%s is sorted by %s at the server', async (path, header, expected) => {
  const { visitor, call, agentId } = await scene();
  const { page } = visitor;
  await call('POST', '/v1/runs', { agentId, budgetCents: 100, expiresIn: 600 });
  await call('POST', '/v1/management-tokens', { name: 'CI', role: 'viewer' });
  await call('POST', '/v1/credentials', {
    name: 'Main',
    providerSlug: 'openai',
    credentials: { apiKey: 'sk-example' },
  });
  await call('POST', '/v1/alert-rules', { name: 'Jump', metric: 'spend', atLeast: 100 });
  const jwks = {
    keys: [(await crypto.subtle.exportKey('jwk', (await rsaKey()).publicKey)) as Record<string, unknown>],
  };
  const conditions = [{ claim: 'sub', values: ['system:serviceaccount:ci:runner'] }];
  const rule = { name: 'CI', agentId, issuer: 'https://kubernetes.default.svc', jwks, conditions };
  const created = await call('POST', '/v1/trust-rules', rule);
  expect([created.status, created.body.error]).toEqual([201, undefined]);
  await visitor.goto(path);
  await Promise.all([
    page.waitForRequest((request) => expected.test(request.url())),
    page.getByRole('columnheader', { name: header, exact: true }).getByRole('button').click(),
  ]);
  await page.locator('[aria-sort="ascending"],[aria-sort="descending"]').getByText(header).waitFor();
});

const rsaKey = () =>
  crypto.subtle.generateKey(
    { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
    true,
    ['sign', 'verify'],
  ) as Promise<CryptoKeyPair>;

test('a tap on a card of a phone list opens its page, or its details where it has none', async () => {
  const { visitor } = await scene();
  const { page } = visitor;
  await page.setViewportSize(PHONE);
  await visitor.goto('/agents');
  const card = page.getByRole('listitem').filter({ hasText: 'Zebra' }).last();
  await card.getByText('Spend', { exact: true }).click();
  await page.getByRole('heading', { name: 'Zebra', level: 1 }).waitFor();
  await visitor.goto('/members');
  const member = page.getByRole('listitem').filter({ hasText: 'Ada Owner' }).last();
  await member.getByText('Last active').click();
  await member.getByRole('button', { name: 'Details', expanded: true }).waitFor();
  await member.getByText('Added').click();
  await member.getByRole('button', { name: 'Details', expanded: false }).waitFor();
});

test.each(['/agents/garbage', '/keys/1', '/projects/x', '/runs/x', '/webhooks/x', '/providers/accounts/x'])(
  '%s has no id, so the page says that it does not exist',
  async (path) => {
    const { visitor } = await dashboard().signUpOwner();
    await visitor.goto(path);
    await visitor.page.getByText('This page does not exist').waitFor();
  },
);

test('an id that is cut off in a filter of the address is explained', async () => {
  const { visitor } = await dashboard().signUpOwner();
  visitor.expectHttpError(400, /agentId=garbage|\/agents\/garbage/);
  await visitor.goto('/calls?agent=garbage&live=off');
  await visitor.page.getByText('An id in the address is incomplete or wrong').first().waitFor();
});

test('an amount with one digit after the point has two in its field, except while it is typed', async () => {
  const { visitor, call, agentId } = await scene();
  const { page } = visitor;
  expect((await call('PATCH', `/v1/agents/${agentId}`, { budgetCentsMonthly: 80 })).status).toBe(200);
  await visitor.goto(`/agents/${agentId}?tab=limits`);
  const budget = page.getByLabel('Monthly budget (USD)');
  await expect.poll(() => budget.inputValue()).toBe('$0.80');
  await budget.fill('12.5');
  expect(await budget.inputValue()).toBe('$12.5');
  await budget.blur();
  expect(await budget.inputValue()).toBe('$12.50');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await call('GET', `/v1/agents/${agentId}`)).body.agent.budgetCentsMonthly).toBe(1_250);
});
