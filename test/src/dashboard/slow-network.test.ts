/**
 * The dashboard with slow, reordered and missing responses. Responses are held and released; no test waits for a time.
 */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { waitUntil } from '../fixtures/wait-until.js';
import { blockRequests, useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
/** Screens that fail in different ways; all others are a single list like the audit trail. */
const SCREENS = ['/', '/calls', '/usage', '/refusals', '/providers', '/audit', '/settings?tab=sessions', '/setup'];
const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent');

/**
 * Opens `path` while every request fails with 503, then restores the API, and waits until errors have appeared and
 * gone.
 */
async function failsAndRecovers(path: string): Promise<void> {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  visitor.expectHttpError(503, /\/v1\//);
  const away = /\/v1\/(?!me$|config$)/;
  await page.route(away, (route) => route.fulfill({ status: 503, contentType: 'text/plain', body: 'no upstream' }));
  await visitor.goto(path);
  const failure = page.getByRole('main').getByRole('alert');
  await failure.getByText('Try again.').first().waitFor();
  await visitor.waitUntilLoaded();
  await page.unroute(away);
  // Some queries retry by themselves meanwhile.
  await waitUntil(`all of ${path} is shown`, async () => {
    const retry = failure.getByRole('button', { name: 'Retry' }).first();
    if (await retry.isVisible()) await retry.click({ timeout: 1_000 }).catch(() => undefined);
    return (await failure.count()) === 0;
  });
  await visitor.waitUntilLoaded();
}

// In parallel, because most of the time is waiting: each query is retried automatically first.
test('shows errors with a retry on every screen, and all content after recovery', async () => {
  const outcomes = await Promise.allSettled(SCREENS.map(failsAndRecovers));
  const failed = outcomes.map((outcome, n) => (outcome.status === 'rejected' ? [SCREENS[n], outcome.reason] : null));
  expect(failed.filter((failure) => failure !== null)).toEqual([]);
});

test('retries failed reads automatically when the API responds again', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  visitor.expectHttpError(0, /\/v1\//);
  const reads = /\/v1\/(?!me$)/;
  await page.route(reads, (route) => route.abort());
  await visitor.goto('/audit');
  await page.getByText('The gateway does not respond. Retrying automatically.').waitFor();
  await page.unroute(reads);
  await page.getByRole('cell', { name: /^created organization/ }).waitFor();
  await page.getByText('The gateway does not respond').first().waitFor({ state: 'detached' });
});

test('retries the session query automatically', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  visitor.expectHttpError(0, /\/v1\//);
  await page.route('**/v1/**', (route) => route.abort());
  await page.goto(`${visitor.url}/agents`);
  await page.getByText('The gateway does not respond. Retrying automatically.').waitFor();
  await page.unroute('**/v1/**');
  await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
});

test('times out a request without a response and retries it', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  // Puts the page's request timeout under control of the test.
  await page.addInitScript(() => {
    const global = globalThis as unknown as { AbortSignal: { timeout(ms: number): unknown }; timesUp(): void };
    const running: AbortController[] = [];
    global.AbortSignal.timeout = () => {
      const controller = new AbortController();
      running.push(controller);
      return controller.signal;
    };
    global.timesUp = () => {
      for (const controller of running) controller.abort(new DOMException('too late', 'TimeoutError'));
    };
  });
  visitor.expectHttpError(0, /\/v1\/audit/);
  await page.route(/\/v1\/audit/, () => new Promise(() => undefined));
  const requestSent = page.waitForRequest(/\/v1\/audit/);
  await page.goto(`${visitor.url}/audit`);
  await requestSent;
  await page.unroute(/\/v1\/audit/);
  await page.evaluate('timesUp()');
  await page.getByRole('cell', { name: /^created organization/ }).waitFor();
});

test('shows the last selected period and marks older data as stale until it arrives', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  const dollars = { '7d': 7, '30d': 30, '90d': 90 } as const;
  const held: Record<string, () => void> = {};
  await page.route(/\/v1\/usage\/summary/, async (route) => {
    const period = new URL(route.request().url()).searchParams.get('period')!;
    if (!(period in dollars)) return route.continue(); // of the month's chart
    const response = await route.fetch();
    const json = { ...(await response.json()), costUsd: dollars[period as keyof typeof dollars] };
    if (period !== '7d')
      await new Promise<void>((resolve) => {
        held[period] = resolve;
      });
    await route.fulfill({ response, json });
  });
  await visitor.goto('/usage?period=7d');
  const spend = page.getByRole('region', { name: 'Spend', exact: true });
  await spend.getByText('$7.00').waitFor();
  const stale = page.locator('[data-stale][aria-busy="true"]', { has: spend });
  expect(await stale.count()).toBe(0);
  await page.getByLabel('Period', { exact: true }).selectOption('Last 30 days');
  await stale.waitFor();
  await page.getByLabel('Period', { exact: true }).selectOption('Last 90 days');
  await expect.poll(() => Object.keys(held).toSorted()).toEqual(['30d', '90d']);
  held['90d']!();
  await spend.getByText('$90.00').waitFor();
  const late = page.waitForResponse(/period=30d/);
  held['30d']!();
  await (await late).finished();
  await stale.waitFor({ state: 'detached' });
  expect(await spend.textContent()).toContain('$90.00');
});

test('sends a double click once, restores the focus after a failure, and allows a retry', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  const writes: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') writes.push(new URL(request.url()).pathname);
  });
  await visitor.goto('/projects');
  await page.getByRole('button', { name: 'New project' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Crawlers');
  const save = dialog.getByRole('button', { name: 'Save' });
  visitor.expectHttpError(503, /\/v1\/projects/);
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(
    '**/v1/projects',
    async (route) => {
      await released;
      await route.fulfill({ status: 503, contentType: 'text/plain', body: 'no upstream' });
    },
    { times: 1 },
  );
  await save.dblclick();
  await expect.poll(() => save.isDisabled()).toBe(true);
  await save.click({ force: true }); // a click on a disabled button focuses the dialog around it
  release();
  await dialog.getByText('It is unknown whether the change was saved. Check, then try again.').waitFor();
  await expect.poll(() => focused(page)).toBe('Save');
  expect(writes).toEqual(['/v1/projects']);
  await page.keyboard.press('Enter');
  await page.getByText('Crawlers saved').waitFor();
  expect(writes).toEqual(['/v1/projects', '/v1/projects']);
});

test('refetches the list when the outcome of a change is unknown', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  visitor.expectHttpError(0, /\/v1\/projects$/);
  await visitor.goto('/projects');
  await page.route(/\/v1\/projects$/, async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await route.fetch();
    await route.abort(); // the response is lost
  });
  await page.getByRole('button', { name: 'New project' }).click();
  await page.getByLabel('Name').fill('Made');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('It is unknown whether the change was saved. Check, then try again.').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('cell', { name: 'Made', exact: true }).waitFor();
});

test('never offers results of an earlier search text', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  const { stack } = dashboard();
  const { token } = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body;
  const projectId: string = (await stack.call('GET', '/v1/projects', token)).body.projects[0].id;
  for (const name of ['Crawler', 'Support bot']) await stack.call('POST', '/v1/agents', token, { projectId, name });
  await visitor.goto('/calls');
  await page.keyboard.press('Control+k');
  const search = page.getByRole('textbox', { name: 'Search and commands' });
  await search.fill('crawl');
  await page.getByRole('button', { name: 'Crawler' }).waitFor();
  const release = await blockRequests(page, /search=support/);
  await search.fill('support');
  await page.getByText('Searching…').waitFor();
  expect(await page.getByRole('button', { name: 'Crawler' }).count()).toBe(0);
  release();
  await page.getByRole('button', { name: 'Support bot' }).waitFor();
  await page.keyboard.press('Escape');

  await page.getByRole('combobox', { name: 'Agent' }).click();
  await page.getByRole('option', { name: 'Crawler' }).waitFor();
  const releaseOptions = await blockRequests(page, /search=supp&|search=supp$/);
  await page.keyboard.type('supp');
  await page.getByRole('option', { name: 'Crawler' }).waitFor({ state: 'detached' });
  releaseOptions();
  await page.getByRole('option', { name: 'Support bot' }).waitFor();
});

test('paints a frame and loads the screen before the session is known, and says when it waits for long', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  const release = await blockRequests(page, /\/v1\/me$/);
  const screen = page.waitForRequest(/agents-page/);
  await page.goto(`${visitor.url}/agents`);
  await screen;
  await page.getByText('Agent Credential Gateway').waitFor();
  await page.getByText('The gateway responds slowly').waitFor();
  release();
  await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
  expect(await page.getByText('The gateway responds slowly').count()).toBe(0);
});

test('keeps the page and reports it when an optional part fails to load', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  visitor.expectHttpError(0, /header-actions/);
  visitor.expectConsoleError(/Failed to fetch dynamically imported module/);
  await page.route(/header-actions/, (route) => route.abort());
  await page.goto(`${visitor.url}/agents`);
  await page.getByText('A part of this page is missing').waitFor();
  await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
});
