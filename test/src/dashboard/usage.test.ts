/** Usage, rejections and budgets with calls that agents really make. */
import { readFileSync } from 'node:fs';
import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { useDashboard } from './dashboard-fixture.js';

const openai = new OpenAiStandIn();
const options = { providers: { openai: '' } };
beforeAll(async () => {
  await openai.start();
  options.providers.openai = openai.origin;
});
const dashboard = useDashboard(options);
let proxyUrl = '';
beforeAll(async () => {
  proxyUrl = (await dashboard().stack.addDataPlane()).url;
});
afterAll(() => openai.close());

/** An owner in the browser, and a function that creates agents which can call. */
async function scene() {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, session, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const agent = async (fields: object, providers: readonly string[] = ['openai']) => {
    const id: string = (await call('POST', '/v1/agents', { projectId, ...fields })).body.agent.id;
    for (const providerSlug of providers) {
      const credentials = { apiKey: PROVIDER_CREDENTIALS.openai };
      const added = await call('POST', '/v1/providers/accounts', { agentId: id, providerSlug, credentials });
      expect(added.status).toBe(201);
    }
    const token: string = (await call('POST', '/v1/api-keys', { name: 'key', agentId: id })).body.secretKey;
    const sendCall = async (model = 'gpt-5-mini'): Promise<number> => {
      const response = await fetch(`${proxyUrl}/v1/proxy/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Say hello' }] }),
      });
      await response.text();
      return response.status;
    };
    return { id, sendCall };
  };
  return { visitor, call, agent };
}

test('explains each rejection and links to its fix', async () => {
  const { visitor, call, agent } = await scene();
  const { page } = visitor;
  await visitor.gotoAndCheck('/refusals', 'refusals-empty');
  await page.getByText('No rejections in this period').waitFor();
  const busy = await agent({ name: 'Busy bot', rpmLimit: 1 });
  expect([await busy.sendCall(), await busy.sendCall()]).toEqual([200, 429]);
  const lost = await agent({ name: 'Lost bot' }, []);
  expect(await lost.sendCall()).toBe(403);
  // No reload: the rows appear by themselves.
  await page.getByRole('row', { name: /rpm 1 More requests per minute than the limit/ }).waitFor();
  await page.getByRole('row', { name: /not_assigned 1 The provider is not assigned/ }).waitFor();
  await visitor.gotoAndCheck('/refusals?period=24h', 'refusals');

  // Forwarded and rejected calls are in one list.
  await page.getByRole('link', { name: 'Calls', exact: true }).click();
  const rejected = page.getByRole('row', {
    name: /Busy bot OpenAI POST \/v1\/chat\/completions Rejected 429: Requests per minute/,
  });
  const forwarded = page.getByRole('row', { name: /Busy bot OpenAI POST \/v1\/chat\/completions 200/ });
  await rejected.waitFor();
  await forwarded.waitFor();
  await page.getByLabel('Outcome', { exact: true }).selectOption('Rejected');
  await forwarded.waitFor({ state: 'detached' });
  await page.getByRole('row', { name: /Lost bot .*Rejected 403: Not assigned/ }).waitFor();
  await rejected.getByRole('link').first().click();
  const drawer = page.getByRole('dialog', { name: 'Call' });
  await drawer.getByText('More requests per minute than the limit').waitFor();
  await drawer.getByText('127.0.0.1').waitFor();
  await visitor.checkPage('rejected-call');
  // The address alone opens the same call: it is no forwarded one, so its record does not exist.
  visitor.expectHttpError(404, /\/usage\/logs\//);
  await page.reload();
  await drawer.getByRole('button', { name: 'Only this reason' }).click();
  await page.getByRole('row', { name: /not_assigned/ }).waitFor({ state: 'detached' });
  await rejected.waitFor();
  await visitor.checkPage('calls-rejected');
  await visitor.goto('/refusals?period=24h');

  // A count leads to the listed calls of its period; the list says that it has a sample.
  await page
    .getByRole('row', { name: /rpm 1 More/ })
    .getByRole('link', { name: '1', exact: true })
    .click();
  await rejected.waitFor();
  expect(page.url()).toMatch(/state=rejected&reason=rpm&from=[\d-]+T\d\d%3A00%3A00\.000Z$/);
  await page.getByText('a sample of those that it rejected').waitFor();
  await page.getByLabel('Search', { exact: true }).fill(crypto.randomUUID());
  await page.getByText('The list has only a sample of the rejected calls.').waitFor();
  await visitor.goto('/refusals?period=24h');

  await page.getByRole('button', { name: 'Busy bot' }).click();
  expect(page.url()).toContain(`agent=${busy.id}`);
  await page.getByRole('row', { name: /not_assigned/ }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Agent limits' }).click();
  await page.getByRole('textbox', { name: 'Requests per minute' }).fill('60');
  await page.getByRole('button', { name: 'Save limits' }).click();
  await page.getByText('Limits saved').waitFor();
  expect((await call('GET', `/v1/agents/${busy.id}`)).body.agent.rpmLimit).toBe(60);
  await page.goBack();
  await page.getByRole('heading', { name: 'Rejections', level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole('row', { name: /Not assigned not_assigned/ }).waitFor();

  // On a phone the closed card has the whole advice.
  await page.setViewportSize({ width: 390, height: 844 });
  const card = page.getByRole('list', { name: 'Rejections by reason' }).getByRole('listitem').first();
  const [outer, advice] = await Promise.all([
    card.boundingBox(),
    card.locator('.acg-card-text span').last().boundingBox(),
  ]);
  expect(advice!.x + advice!.width).toBeLessThanOrEqual(outer!.x + outer!.width);
  expect(advice!.y + advice!.height).toBeLessThanOrEqual(outer!.y + outer!.height);
});

test('shows an agent over its budget, and accepts its next call after the budget was raised', async () => {
  const { visitor, agent } = await scene();
  const { page } = visitor;
  const spender = await agent({ name: 'Spender', budgetCentsMonthly: 1 });
  // Each call costs about 0.9 cents.
  await expect.poll(() => spender.sendCall('o1-pro')).toBe(429);
  await visitor.goto('/agents');
  await page.getByRole('row', { name: /Spender.*over budget.* of \$0\.01, 1\d\d\.?\d*%/ }).waitFor();
  await visitor.gotoAndCheck('/', 'overview-budget');
  await page.getByText('Spender: calls are rejected until the end of the month.').waitFor();

  await visitor.goto(`/refusals?agent=${spender.id}`);
  await page.getByRole('row', { name: /Budget budget \d+ The monthly budget is used up/ }).waitFor();
  await page.getByRole('link', { name: 'Agent limits' }).click();
  await page.getByText(/Spent this month \(UTC\): \$0\.0\d/).waitFor();
  const usedUp = page.getByText('This budget is used up');
  await usedUp.waitFor();
  await page.getByLabel('Monthly budget (USD)').fill('50');
  await usedUp.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save limits' }).click();
  await page.getByText('Limits saved').waitFor();
  await expect.poll(() => spender.sendCall()).toBe(200);
  await page.getByRole('link', { name: 'All agents' }).click();
  await page.getByRole('row', { name: /Spender.*\$0\.0\d of \$50\.00, 0\.?\d*%/ }).waitFor();
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await visitor.waitUntilLoaded();
  expect(await page.getByRole('region', { name: 'Needs attention' }).count()).toBe(0);
});

test('reports usage by provider and model, below a cent, for custom days and as CSV', async () => {
  const { visitor, call, agent } = await scene();
  const { page } = visitor;
  await visitor.goto('/usage');
  await page.getByText('No usage in this period').waitFor();
  const support = await agent({ name: 'Support bot', budgetCentsMonthly: 5_000 });
  const crawler = await agent({ name: 'Crawler' });
  expect([await support.sendCall(), await support.sendCall('no-such-model'), await crawler.sendCall()]).toEqual([
    200, 404, 200,
  ]);
  const requests = async () => (await call('GET', '/v1/usage/summary?period=7d')).body.requests;
  await expect.poll(requests).toBe(3);
  // Hours are in the zone of the browser, or in UTC where the user chose it; days are UTC days.
  const devtools = await visitor.context.newCDPSession(page);
  await devtools.send('Emulation.setTimezoneOverride', { timezoneId: 'Pacific/Auckland' });
  await visitor.gotoAndCheck('/usage?period=24h', 'usage');
  const { costUsd } = (await call('GET', '/v1/usage/summary?period=7d')).body;
  expect(costUsd).toBeGreaterThan(0);
  expect(costUsd).toBeLessThan(0.01);
  const spend = (await page.getByRole('region', { name: 'Spend', exact: true }).textContent())!;
  const spent = /\$0\.00\d*[1-9]|< \$0\.0001/;
  expect(spend).toMatch(spent);
  const chart = page.getByRole('region', { name: 'Spend by provider', exact: true });
  await chart.getByRole('button', { name: 'Show as table' }).click();
  const { timeseries } = (await call('GET', '/v1/usage/timeseries?period=7d')).body;
  // Not the last hour: another one may begin during this test.
  const { bucket } = timeseries.find((hour: { requests: number }) => hour.requests > 0) as { bucket: string };
  const hourIn = (timeZone: string): string =>
    new Date(`${bucket.replace(' ', 'T')}Z`).toLocaleTimeString('en-GB', {
      timeZone,
      hour: '2-digit',
      minute: '2-digit',
    });
  const spentAt = (hour: string) =>
    page
      .getByRole('region', { name: 'Spend by provider, figures' })
      .getByRole('row')
      .filter({ hasText: hour })
      .filter({ hasText: spent });
  await spentAt(hourIn('Pacific/Auckland')).waitFor();
  await chart.getByRole('columnheader', { name: /^Hour \(GMT\+1[23]\)$/ }).waitFor();
  await page.getByRole('button', { name: 'Account and organization' }).click();
  await visitor.checkPage('menu-of-times');
  await page.getByRole('menuitem', { name: 'UTC', exact: true }).click();
  await chart.getByRole('button', { name: 'Show as table' }).click();
  await chart.getByRole('columnheader', { name: 'Hour (UTC)' }).waitFor();
  await spentAt(hourIn('UTC')).waitFor();
  // The choice holds on every screen and after a reload, and the address keeps instants.
  await visitor.goto('/calls?live=off&from=2026-01-02T03:04:00.000Z');
  await page.getByRole('columnheader', { name: 'Time (UTC)' }).waitFor();
  expect(await page.getByLabel('From (UTC)').inputValue()).toBe('2026-01-02T03:04');
  await page.getByText('From 2 Jan 2026, 03:04:00 UTC').waitFor();
  await page.getByRole('button', { name: 'Account and organization' }).click();
  await page.getByRole('menuitem', { name: 'Local time (Pacific/Auckland)' }).click();
  await page.getByRole('columnheader', { name: 'Time (GMT+13)' }).waitFor();
  expect(await page.getByLabel('From (GMT+13)').inputValue()).toBe('2026-01-02T16:04');
  expect(page.url()).toContain('from=2026-01-02T03:04:00.000Z');
  await page.getByLabel('From (GMT+13)').fill('2026-01-02T17:04');
  await expect.poll(() => new URL(page.url()).searchParams.get('from')).toBe('2026-01-02T04:04:00.000Z');
  await visitor.goto('/usage');

  await page.getByLabel('Group by', { exact: true }).selectOption('model');
  await page.getByRole('link', { name: /^gpt-5-mini/ }).waitFor();
  expect(page.url()).toContain('by=model');
  await page.goBack();
  await page.getByRole('link', { name: 'OpenAI' }).waitFor();
  await page.getByLabel('Period', { exact: true }).selectOption('Last month');
  await page.getByText('No usage in this period').waitFor();
  await page.getByLabel('Period', { exact: true }).selectOption('Custom days');
  await expect.poll(() => page.url()).toMatch(/period=days&start=\d{4}-\d\d-01&end=/);
  await page.getByRole('button', { name: 'Days (UTC)' }).click();
  await visitor.checkPage('usage-calendar');
  await page.getByRole('button', { name: 'Month before last' }).click();
  await page.getByText('No usage in this period').waitFor();
  expect(page.url()).toMatch(/start=\d{4}-\d\d-01&end=\d{4}-\d\d-\d\d/);
  visitor.expectHttpError(400, /\/v1\/usage\//);
  await visitor.goto('/usage?period=days&start=2020-02-01&end=2020-01-31');
  await page
    .getByRole('alert')
    .getByText(/start must not be after end/i)
    .first()
    .waitFor();

  await visitor.goto('/usage?by=agent&period=24h');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export calls as CSV' }).click(),
  ]);
  const lines = readFileSync((await file.path())!, 'utf8')
    .trim()
    .split('\r\n');
  expect(lines).toHaveLength(4);

  for (const name of ['Support bot', 'Crawler']) {
    await page.getByRole('combobox', { name: 'Add an agent' }).click();
    await page.getByRole('option', { name }).click();
    await page.getByRole('button', { name: `Remove ${name}` }).waitFor();
  }
  await page.getByRole('row', { name: /Support bot.* 2 50% .*\$50\.00/ }).waitFor();
  await visitor.checkPage('usage-compare');
  await visitor.goto(`/agents/${support.id}`);
  expect(await page.getByRole('region', { name: 'Errors' }).textContent()).toBe('Errors50%');
});

test('closes a month: by project and model with total, share, change and order, and the same table as CSV', async () => {
  const { visitor, call, agent } = await scene();
  const { page } = visitor;
  const support = await agent({ name: 'Support bot', budgetCentsMonthly: 5_000 });
  expect([await support.sendCall('o1-pro'), await support.sendCall(), await support.sendCall()]).toEqual([
    200, 200, 200,
  ]);
  await expect.poll(async () => (await call('GET', '/v1/usage/summary?period=7d')).body.requests).toBe(3);

  await visitor.goto('/usage');
  await page.getByLabel('Group by', { exact: true }).selectOption('Project');
  await page.getByLabel('Then by').selectOption('Model');
  await page.getByLabel('Period', { exact: true }).selectOption('This month');
  await page.getByLabel('Compare with the previous period').check();
  const table = page.getByRole('table', { name: 'Usage by group' });
  const rows = table.getByRole('row');
  await expect.poll(() => rows.count()).toBe(4); // head, two models, total
  expect(await rows.nth(1).textContent()).toContain('o1-pro');
  await expect.poll(() => rows.nth(1).textContent()).toContain('(new)');
  expect(await rows.last().textContent()).toMatch(/^Total.*3/);
  await table.getByRole('button', { name: 'Calls' }).click();
  await expect.poll(() => rows.nth(1).textContent()).toContain('gpt-5-mini');
  expect(await table.getByRole('columnheader', { name: 'Calls' }).getAttribute('aria-sort')).toBe('descending');
  expect(page.url()).toMatch(/by=project.*second=model/);
  await visitor.checkPage('usage-month');

  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export table as CSV' }).click(),
  ]);
  const [header, ...lines] = readFileSync((await file.path())!, 'utf8')
    .trim()
    .split('\r\n');
  expect(header).toBe(
    'project,projectId,model,modelId,spendUsd,share,previousSpendUsd,changeUsd,calls,errors,tokensIn,tokensOut',
  );
  expect(lines).toHaveLength(3);
  expect(lines[0]).toContain(',gpt-5-mini-2025-08-07,');
  expect(lines[2]).toMatch(/^Total,/);
  const spends = lines.map((line) => Number(line.split(',')[4]));
  expect(spends[0]! + spends[1]!).toBeCloseTo(spends[2]!, 6);

  // A past month has no figures of the present one beside it.
  const presentMonth = page.getByRole('region', { name: 'This calendar month' });
  await presentMonth.waitFor();
  // Figures of the present month do not stand between the period and its breakdown.
  expect((await presentMonth.boundingBox())!.y).toBeGreaterThan((await table.boundingBox())!.y);
  await page.getByLabel('Period', { exact: true }).selectOption('Last month');
  await presentMonth.waitFor({ state: 'detached' });

  // A bar of a day leads to its calls.
  await visitor.goto('/usage?period=7d&by=agent');
  const bars = page.getByRole('region', { name: 'Spend by agent', exact: true }).getByRole('img');
  const { width, height } = (await bars.boundingBox())!;
  // The last bar is today's.
  const position = { x: width * 0.93, y: height / 2 };
  await bars.hover({ position });
  await bars.click({ position });
  await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor();
  expect(page.url()).toMatch(/from=[\d-]+T00%3A00%3A00.000Z&to=[\d-]+T00%3A00%3A00.000Z&live=off/);

  // The budgets of the month and of a day are lines in the charts of the agent.
  const rowOf = (window: string, cents: number) => ({ window, cents, models: [], mode: 'soft' });
  const body = { budgets: [rowOf('month', 5_000), rowOf('day', 300)] };
  expect((await call('PATCH', `/v1/agents/${support.id}`, body)).status).toBe(200);
  await visitor.gotoAndCheck(`/agents/${support.id}`, 'agent-budget-lines');
  for (const [chart, figures] of [
    ['Spend', ['Day (UTC)', 'Spend', 'Budget per day', '$3.00']],
    ['Spend this month', ['Day (UTC)', 'Spend', 'Budget', '$50.00']],
  ] as const) {
    const region = page.getByRole('region', { name: chart, exact: true });
    await region.getByRole('img').waitFor();
    await region.getByRole('button', { name: 'Show as table' }).click();
    expect(await region.getByRole('columnheader').allTextContents()).toEqual(figures.slice(0, -1));
    await region
      .getByRole('cell', { name: figures.at(-1)!, exact: true })
      .first()
      .waitFor();
    await region.getByRole('button', { name: 'Show as chart' }).click();
  }
});
