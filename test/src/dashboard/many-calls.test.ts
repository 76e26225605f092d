/** The Calls page with 7,000 calls: it renders a bounded number of rows, and every call can be found. */
import { readFileSync } from 'node:fs';
import { openPool } from '@acg/controlplane/db/postgres-client';
import { expect, test } from 'vitest';
import { createIngest, usageRecord } from '../ledger/usage-fixture.js';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
const CALLS = 7_000;
const BATCH = 1_000;
const APART_MS = 5_000;
const FAILS_EVERY = 50;
const LIVE_ROWS = 100;
const PAGE_ROWS = 50;
const DAY_MS = 86_400_000;
/** A call that leaves the least space for its path. */
const WIDE = { model: 'claude-opus-4-5-20251101', error: 'upstream_reset', tokensInUncached: 187_416 } as const;
/** Minimum width of a path, pixels. */
const LEGIBLE = 100;

/** An owner whose two agents made all calls, the latest one just now. */
async function busyOwner() {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const login = await stack.call('POST', '/v1/auth/login', null, { email, password });
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, login.body.token, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const agents: string[] = [];
  for (const name of ['Support bot', 'Crawler']) {
    agents.push((await call('POST', '/v1/agents', { projectId, name })).body.agent.id);
  }
  const nowMs = Date.now();
  const sql = openPool(stack.database.url, { connectionsMax: 2, applicationName: 'test' });
  try {
    const ingest = createIngest(sql);
    for (let first = 0; first < CALLS; first += BATCH) {
      const records = Array.from({ length: BATCH }, (_, i) => {
        const n = first + i;
        const status = n % FAILS_EVERY === 0 ? 502 : 200;
        const oldest = n === CALLS - 1;
        return usageRecord({
          ...(oldest ? WIDE : {}),
          orgId: login.body.orgId,
          agentId: agents[n % agents.length]!,
          startedAtMs: nowMs - (n + 1) * APART_MS - (oldest ? DAY_MS : 0),
          path: oldest ? '/v1/the/very/first/call' : '/v1/chat/completions',
          status,
          responseStatus: status,
        });
      });
      await ingest.report({ dataPlaneId: 'test', records });
    }
  } finally {
    await sql.end();
  }
  return visitor;
}

test('shows the newest of 7,000 calls, pages to the oldest, and filters the rest', async () => {
  const visitor = await busyOwner();
  const { page } = visitor;
  // The oldest call is a day older than all others.
  const lastDay = new Date(Date.now() - DAY_MS + APART_MS).toISOString();
  const rows = page.getByRole('table', { name: 'Calls' }).getByRole('row');
  await visitor.gotoAndCheck('/calls', 'calls-many');
  await expect.poll(() => rows.count()).toBe(LIVE_ROWS + 1);
  await page.mouse.wheel(0, 4_000);
  await page.getByText('Live, paused while you read').waitFor();
  await page.mouse.wheel(0, -10_000);
  await page.getByText('Live', { exact: true }).first().waitFor();

  // The last 24 hours, also while the list is live.
  await page.getByRole('region', { name: 'Calls over time', exact: true }).getByRole('img').waitFor();
  const pages = page.getByRole('navigation', { name: 'Calls: pages' });
  await pages.getByRole('button', { name: 'Older' }).click();
  await page.getByText('Paused', { exact: true }).waitFor();
  await expect.poll(() => rows.count()).toBe(PAGE_ROWS + 1);
  const older = await rows.nth(1).innerText();
  await pages.getByRole('button', { name: 'Newest' }).click();
  await expect.poll(() => rows.nth(1).innerText()).not.toBe(older);
  await expect.poll(() => rows.count()).toBe(PAGE_ROWS + 1);
  const newest = await rows.nth(1).innerText();
  await pages.getByRole('button', { name: 'Older' }).click();
  await expect.poll(() => rows.nth(1).innerText()).not.toBe(newest);
  await pages.getByRole('button', { name: 'Newer' }).click();
  await expect.poll(() => rows.nth(1).innerText()).toBe(newest);
  await page.goBack();
  await expect.poll(() => rows.nth(1).innerText()).not.toBe(newest);
  await pages.getByRole('button', { name: 'Newest' }).click();
  await expect.poll(() => rows.nth(1).innerText()).toBe(newest);
  await visitor.goto(`/calls?live=off&to=${lastDay}`);
  await page.getByRole('row', { name: /the\/very\/first\/call/ }).waitFor();
  expect(await rows.count()).toBe(2);
  expect((await page.getByTitle('POST /v1/the/very/first/call').boundingBox())!.width).toBeGreaterThan(LEGIBLE);
  await visitor.checkPage('calls-many-last');

  await visitor.goto('/calls?live=off');
  await page.getByLabel('Status', { exact: true }).selectOption('5xx');
  // A page of all calls has as many rows; only one of failed calls may be turned.
  await expect.poll(async () => (await rows.allInnerTexts()).slice(1).every((row) => row.includes('502'))).toBe(true);
  for (let older = 0; older < 2; older++) {
    await expect.poll(() => rows.count()).toBe(PAGE_ROWS + 1);
    const first = await rows.nth(1).innerText();
    await pages.getByRole('button', { name: 'Older' }).click();
    await expect.poll(() => rows.nth(1).innerText()).not.toBe(first);
  }
  // 140 calls failed; the third page is the last.
  await expect.poll(() => rows.count()).toBe(CALLS / FAILS_EVERY - 2 * PAGE_ROWS + 1);
  expect(await pages.getByRole('button', { name: 'Older' }).isDisabled()).toBe(true);
  // The export has every page, not only the open one.
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export list as CSV' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('calls-status-5xx.csv');
  expect(
    readFileSync((await file.path())!, 'utf8')
      .trim()
      .split('\r\n'),
  ).toHaveLength(CALLS / FAILS_EVERY + 1);
  await page.getByLabel('Status', { exact: true }).selectOption('');
  await page.getByLabel('Search', { exact: true }).fill('the/very/first');
  await expect.poll(() => rows.count()).toBe(2);
});
