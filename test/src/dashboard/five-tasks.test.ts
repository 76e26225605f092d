/**
 * The five tasks of daily work, each by the shortest way that the screens offer, with its number of clicks: at most
 * eight. Choosing an option of a list counts as two clicks, typing as none.
 */
import { readFileSync } from 'node:fs';
import { uuidv7 } from '@acg/base/uuidv7';
import { openPool } from '@acg/controlplane/db/postgres-client';
import type { Locator } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import type { Stack } from '../fixtures/stack.js';
import { createIngest, newId, usageRecord } from '../ledger/usage-fixture.js';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
const DAY_MS = 86_400_000;
const NANOS_PER_USD = 1_000_000_000;
const CLICKS_MAX = 8;
const password = 'correct horse battery';
const email = `${crypto.randomUUID()}@example.com`;
let call: (method: string, path: string, body?: object) => ReturnType<Stack['call']>;
let spenderId: string;
let keyId: string;
let lastMonthUsd: number;

/** Two agents with usage yesterday and in the last month, and a rejected call a minute ago. */
beforeAll(async () => {
  const { stack } = dashboard();
  await stack.call('POST', '/v1/auth/signup', null, { email, password, name: 'Ada Owner', orgName: 'Acme' });
  const { orgId, token } = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body;
  call = (method, path, body) => stack.call(method, path, token, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const agentOf = async (name: string): Promise<string> =>
    (await call('POST', '/v1/agents', { projectId, name })).body.agent.id;
  const [frugalId, dearId] = [await agentOf('Frugal bot'), await agentOf('Dear bot')];
  spenderId = dearId;
  keyId = (await call('POST', '/v1/api-keys', { name: 'leaked', agentId: dearId })).body.key.id;
  const nowMs = Date.now();
  const today = new Date(nowMs);
  const yesterdayMs = Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()) - DAY_MS / 2;
  const lastMonthMs = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 1, 10, 12);
  // On the first day of a month, yesterday is a day of the last month.
  lastMonthUsd = 9 + (today.getUTCDate() === 1 ? 61 : 0);
  const record = (agentId: string, startedAtMs: number, usd: number, model: string) =>
    usageRecord({
      ...{ id: uuidv7(startedAtMs), orgId, projectId, agentId, keyId, startedAtMs, model, error: '' },
      costNanos: usd * NANOS_PER_USD,
    });
  const sql = openPool(stack.database.url, { connectionsMax: 2, applicationName: 'test' });
  try {
    await createIngest(sql).report({
      dataPlaneId: 'test',
      records: [
        ...Array.from({ length: 3 }, (_, i) => record(dearId, yesterdayMs + i * 60_000, 20, 'o1-pro')),
        record(frugalId, yesterdayMs, 1, 'gpt-5-mini'),
        record(dearId, lastMonthMs, 7, 'o1-pro'),
        record(frugalId, lastMonthMs, 2, 'gpt-5-mini'),
      ],
      rejections: [
        {
          ...{ id: newId(), orgId, agentId: dearId, providerSlug: 'openai', reason: 'sensitive_path', count: 1 },
          minuteMs: nowMs - (nowMs % 60_000),
          calls: [
            {
              ...{ id: uuidv7(nowMs), keyId, rejectedAtMs: nowMs, status: 403, method: 'GET', model: '', tool: '' },
              ...{ path: '/v1/organization/admin_api_keys', clientNetwork: '192.0.2.7' },
            },
          ],
        },
      ],
    });
  } finally {
    await sql.end();
  }
});

/** The overview in the browser, and the user's acts, which are counted. */
async function begin() {
  const visitor = await dashboard().openBrowserUser();
  await visitor.createSession(email, password);
  await visitor.goto('/');
  const { page } = visitor;
  let clicks = 0;
  const click = async (target: Locator): Promise<void> => {
    clicks++;
    await target.click();
  };
  return {
    page,
    visitor,
    click,
    clickLink: (name: string | RegExp) => click(page.getByRole('link', { name }).first()),
    clickButton: (name: string) => click(page.getByRole('button', { name, exact: true }).last()),
    choose: async (label: string, option: string): Promise<void> => {
      clicks += 2;
      await page.getByLabel(label, { exact: true }).selectOption(option);
    },
    expectClicks: (expected: number): void => {
      expect(clicks).toBe(expected);
      expect(clicks).toBeLessThanOrEqual(CLICKS_MAX);
    },
  };
}

test('finds who spent most yesterday and caps it', async () => {
  const { page, click, clickLink, clickButton, choose, expectClicks } = await begin();
  await clickLink('Usage & cost');
  await choose('Period', 'Yesterday');
  await choose('Group by', 'Agent');
  const first = page.getByRole('table', { name: 'Usage by group' }).getByRole('row').nth(1);
  await expect.poll(() => first.textContent()).toMatch(/Dear bot.*\$60\.00/);
  await click(first.getByRole('link', { name: 'Dear bot' }));
  await click(page.getByRole('tab', { name: 'Limits' }));
  await page.getByLabel('Monthly budget (USD)').fill('100');
  await clickButton('Save limits');
  await page.getByText('Limits saved').waitFor();
  expect((await call('GET', `/v1/agents/${spenderId}`)).body.agent.budgetCentsMonthly).toBe(10_000);
  expectClicks(8);
});

test('replays a limit over the calls of an agent', async () => {
  const { page, click, clickLink, clickButton, expectClicks } = await begin();
  await clickLink('Agents');
  await clickLink('Dear bot');
  await click(page.getByRole('tab', { name: 'Limits' }));
  await click(page.getByRole('button', { name: /^Replay/ }));
  await page.getByLabel('Budget per day (USD)').fill('30');
  await clickButton('Replay');
  await page.getByText(/These limits would have rejected 1 of 3 calls/).waitFor();
  expectClicks(5);
  const dialog = page.getByRole('dialog', { name: 'What would these limits have rejected?' });
  await dialog.getByText(/recorded calls of Dear bot.*changes nothing/).waitFor();
  // The back button closes it, and the palette opens it from each tab of the agent.
  await page.goBack();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: 'Overview' }).click();
  await page.keyboard.press('Control+k');
  await page.getByRole('textbox', { name: 'Search and commands' }).fill('replay');
  await page.getByRole('button', { name: 'Replay limits of this agent' }).click();
  await dialog.waitFor();
});

test('explains a rejected call', async () => {
  const { page, visitor, click, clickLink, expectClicks } = await begin();
  await clickLink('Calls');
  await click(
    page
      .getByRole('row', { name: /admin_api_keys Rejected 403: Sensitive path/ })
      .getByRole('link')
      .first(),
  );
  const drawer = page.getByRole('dialog', { name: 'Call' });
  const why = drawer.getByRole('region', { name: 'Why the gateway rejected it' });
  expect((await why.textContent())!.length).toBeGreaterThan(20);
  await drawer.getByText('192.0.2.7').waitFor();
  await drawer.getByRole('link', { name: 'leaked' }).waitFor();
  await visitor.checkPage('five-tasks-rejected-call');
  expectClicks(2);
});

test('exports the last month by project and model', async () => {
  const { page, clickLink, clickButton, choose, expectClicks } = await begin();
  await clickLink('Usage & cost');
  await choose('Group by', 'Project');
  await choose('Then by', 'Model');
  await choose('Period', 'Last month');
  await page.getByRole('row', { name: new RegExp(`^Total.*\\$${lastMonthUsd}\\.00`) }).waitFor();
  const download = page.waitForEvent('download');
  await clickButton('Export table as CSV');
  const lines = readFileSync((await (await download).path())!, 'utf8')
    .trim()
    .split('\r\n');
  expect(lines[0]).toMatch(/^project,projectId,model,/);
  expect(lines.slice(1).map((line) => line.split(',')[2])).toEqual(['o1-pro', 'gpt-5-mini', '']);
  expectClicks(8);
});

test('ends a leaked token and proves what it did', async () => {
  const { page, click, clickLink, clickButton, expectClicks } = await begin();
  await clickLink('Gateway tokens');
  await clickLink('leaked');
  await page.getByRole('heading', { name: 'leaked', level: 1 }).waitFor();
  await clickButton('Revoke leaked');
  await page.getByLabel('Type “leaked” to confirm').fill('leaked');
  await click(page.getByRole('dialog').getByRole('button', { name: 'Revoke token' }));
  await page.getByText('revoked', { exact: true }).first().waitFor();
  await clickLink('All calls');
  await page.getByRole('row', { name: /admin_api_keys Rejected 403: Sensitive path/ }).waitFor();
  await page
    .getByRole('row', { name: /completions 200/ })
    .first()
    .waitFor();
  const download = page.waitForEvent('download');
  await clickButton('Export list as CSV');
  const text = readFileSync((await (await download).path())!, 'utf8');
  expect(text.trim().split('\r\n')).toHaveLength(8);
  expect(text).toContain('sensitive_path');
  expect((await call('GET', `/v1/api-keys/${keyId}`)).body.key.status).toBe('revoked');
  expectClicks(6);
});
