/** The layout around every screen: palette, shortcuts, banners, error pages. */
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();

test('renders the overview without traffic', async () => {
  const { visitor } = await dashboard().signUpOwner();
  await visitor.gotoAndCheck('/', 'overview-empty');
});

test('switches the theme by menu and palette, and opens the keyboard help', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  await visitor.goto('/');
  const scheme = () => page.evaluate('document.documentElement.dataset.mantineColorScheme');
  await page.getByRole('button', { name: 'Theme' }).click();
  await visitor.checkPage('theme-menu');
  await page.getByRole('menuitem', { name: 'Dark' }).click();
  expect(await scheme()).toBe('dark');
  await page.reload();
  await visitor.waitUntilLoaded();
  expect(await scheme()).toBe('dark');

  await page.keyboard.press('Control+k');
  await page.getByRole('textbox', { name: 'Search and commands' }).fill('as light');
  await page.getByRole('textbox', { name: 'Search and commands' }).fill('light');
  await page.keyboard.press('Enter');
  await page.waitForFunction('document.documentElement.dataset.mantineColorScheme === "light"');

  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('finds agents, gateway tokens by prefix, projects, and calls by request id in the palette', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  await visitor.goto('/');
  const { stack } = dashboard();
  const login = await stack.call('POST', '/v1/auth/login', null, { email, password });
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, login.body.token, body);
  const projectId: string = (await call('POST', '/v1/projects', { name: 'Night shift' })).body.project.id;
  const agentId: string = (await call('POST', '/v1/agents', { projectId, name: 'Crawler' })).body.agent.id;
  const createdKey = (await call('POST', '/v1/api-keys', { name: 'production', agentId })).body;
  const search = async (text: string, found: RegExp) => {
    await page.keyboard.press('Control+k');
    const field = page.getByRole('textbox', { name: 'Search and commands' });
    await field.fill(text);
    await page.getByRole('button', { name: found }).first().waitFor();
    return field;
  };
  await search('night', /Night shift/);
  await visitor.checkPage('palette');
  await page.getByRole('button', { name: /Night shift/ }).click();
  await page.waitForURL(`**/projects/${projectId}`);
  await page.getByRole('heading', { name: 'Night shift', level: 1 }).waitFor();

  // By keyboard: Enter opens the first result.
  await search('crawl', /Crawler/);
  await page
    .locator('[data-action][data-selected]')
    .filter({ hasText: 'Crawler' })
    .filter({ hasText: 'Night shift' })
    .waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/agents/${agentId}`);

  // A pasted token is shortened in the input: it reaches neither the URL nor the server.
  const requestedUrls: string[] = [];
  page.on('request', (request) => requestedUrls.push(request.url()));
  const field = await search(createdKey.secretKey, /production/);
  expect(await field.inputValue()).toBe(createdKey.key.keyPrefix);
  await page.getByRole('button', { name: /production/ }).click();
  await page.waitForURL(`**/keys/${createdKey.key.id}`);
  await page.getByRole('heading', { name: 'production', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'All gateway tokens' }).click();
  await page.getByLabel('Search gateway tokens').fill(createdKey.secretKey);
  await expect.poll(() => page.getByLabel('Search gateway tokens').inputValue()).toBe(createdKey.key.keyPrefix);
  expect(requestedUrls.filter((url) => url.includes(createdKey.secretKey))).toEqual([]);

  const run = await call('POST', '/v1/runs', { agentId, budgetCents: 100, expiresIn: 600, label: 'crawl of june' });
  await search('june', /crawl of june/);
  await page.getByRole('button', { name: /crawl of june/ }).click();
  await page.waitForURL(`**/runs/${run.body.run.id}`);

  await search(email.slice(0, 12), new RegExp(email));
  await page.getByRole('button', { name: new RegExp(`${email}, owner`) }).click();
  await page.waitForURL(`**/members?search=${encodeURIComponent(email)}`);
  await page.getByRole('row', { name: new RegExp(email) }).waitFor();

  visitor.expectHttpError(404, /\/v1\/usage\/logs\//); // no such call
  const requestId = '01a1ff05-0000-7000-8000-000000000000';
  await search(requestId, /The call with this request id/);
  await page.getByRole('button', { name: /The call with this request id/ }).click();
  const drawer = page.getByRole('dialog', { name: 'Call' });
  await drawer.getByText('No such call').waitFor();
  await drawer.getByText(/^Request [0-9a-f-]{36}$/).waitFor();
});

test('navigates by `g` and a letter except while typing, searches by `/`, and shows help by `?`', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  await visitor.goto('/');
  const pressAndExpect = async (letter: string, title: string) => {
    await page.keyboard.press('g');
    await page.keyboard.press(letter);
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
  };
  await pressAndExpect('c', 'Calls');
  await pressAndExpect('a', 'Agents');
  await visitor.waitUntilLoaded();
  await page.keyboard.press('/');
  await page.keyboard.type('gc?');
  expect(await page.getByLabel('Search agents').inputValue()).toBe('gc?');
  await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
  await page.getByText('Nothing matches these filters').waitFor();
  await page.getByLabel('Search agents').blur();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Usage & cost').waitFor();
  await visitor.checkPage('keyboard');
});

test('shows a missing agent as an error with its request id', async () => {
  const { visitor } = await dashboard().signUpOwner();
  visitor.expectHttpError(404, /\/v1\/agents\//);
  await visitor.gotoAndCheck('/agents/01a1ff05-0000-7000-8000-000000000000', 'agent-not-there');
  const failure = visitor.page.getByRole('alert');
  await failure.getByText('No such agent').waitFor();
  await failure.getByText(/^Request [0-9a-f-]{36}$/).waitFor();
  await visitor.page.getByRole('link', { name: 'All agents' }).click();
  await visitor.page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
});

test('announces a newer version and keeps the page when a file of the old one is gone', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  await page.clock.install();
  await visitor.goto('/');
  await page.route('**/v1/config', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), version: '99.0.0' } });
  });
  await page.clock.fastForward('06:00');
  await page.getByText('A newer version is available').waitFor();
  await visitor.saveScreenshot('newer-version');
  await page.unroute('**/v1/config');
  await page.route('**/assets/usage-*.js', (route) => route.abort());
  visitor.expectHttpError(0, /usage-/);
  visitor.expectConsoleError(/Failed to fetch dynamically imported module/);
  await page.getByRole('button', { name: 'Reload page' }).click();
  await page.getByText('A newer version is available').waitFor({ state: 'detached' });

  await page.getByRole('link', { name: 'Usage & cost' }).click();
  await page.getByText('A part of this page is missing').waitFor();
  await page.getByText('This screen could not be loaded.').waitFor();
  await page.getByRole('button', { name: 'Reload page' }).last().waitFor();
  await visitor.saveScreenshot('file-gone');
  await page.getByRole('link', { name: 'Gateway tokens', exact: true }).click();
  await page.getByRole('heading', { name: 'Gateway tokens', level: 1 }).waitFor();
});

test('loads the other screens while idle, and opens them without a request for their files', async () => {
  const { visitor } = await dashboard().signUpOwner({ savesData: false });
  const { page } = visitor;
  await visitor.goto('/');
  // The last one of the list.
  await page.waitForFunction(() =>
    performance.getEntriesByType('resource').some(({ name }) => name.includes('/endpoint-page')),
  );
  // Parts of the last screen may still load while idle.
  visitor.expectHttpError(0, /\/assets\//);
  await page.route('**/assets/**', (route) => route.abort());
  for (const name of ['Usage & cost', 'Calls', 'Agents', 'Audit']) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await visitor.waitUntilLoaded();
  }
});

test('says nothing of a screen that fails to load while idle, and loads it again on a click', async () => {
  const { visitor } = await dashboard().signUpOwner({ savesData: false });
  const { page } = visitor;
  visitor.expectHttpError(0, /usage-page/);
  const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('/usage-page'));
  await page.route('**/assets/usage-page*.js', (route) => route.abort(), { times: 1 });
  await visitor.goto('/');
  await failed;
  // The last one of the list.
  await page.waitForFunction(() =>
    performance.getEntriesByType('resource').some(({ name }) => name.includes('/endpoint-page')),
  );
  expect(await page.getByText('A part of this page is missing').count()).toBe(0);
  await page.getByRole('link', { name: 'Usage & cost' }).click();
  await page.getByRole('heading', { name: 'Usage & cost', level: 1 }).waitFor();
});

test('loads no other screen for users who save data', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  const idle = `new Promise((done) => requestIdleCallback(() => requestIdleCallback(done)))`;
  await visitor.goto('/');
  await page.evaluate(idle);
  const files = await page.evaluate<string[]>(`performance.getEntriesByType('resource').map(({ name }) => name)`);
  expect(files.some((name) => name.includes('/overview-page'))).toBe(true);
  expect(files.filter((name) => /-page-/.test(name) && !name.includes('/overview-page'))).toEqual([]);
});

test('shows a not-found page for an unknown path', async () => {
  const { visitor } = await dashboard().signUpOwner();
  await visitor.gotoAndCheck('/no/such/page', 'not-found');
  await visitor.page.getByRole('link', { name: 'Go to overview' }).click();
  await visitor.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
});

test('shows a banner while the gateway does not respond', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  await visitor.goto('/');
  await page.route('**/v1/**', (route) => route.abort());
  visitor.expectHttpError(0, /./);
  await page.getByText('24h').click();
  await page.getByText('The gateway does not respond').first().waitFor();
  await page.unroute('**/v1/**');
  await page.getByText('The data shown may be out of date.').waitFor({ state: 'detached' });
});

test('says on every page that data planes cannot reach their counter store, and since when', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  const sql = postgres(dashboard().stack.database.url.reveal(), { max: 1 });
  await sql`
    insert into data_planes (id, counters, control_plane_id, connection_id, version, seen_at, store_away_since, store_reported_at)
    values ('away', 'redis', 'test', gen_random_uuid(), '1', now() + interval '1 hour', now() - interval '5 minutes',
            now() + interval '1 hour')`;
  try {
    await visitor.goto('/projects');
    const banner = page.getByRole('alert').filter({ hasText: 'The counter store does not respond' });
    await banner
      .getByText(/Since \d\d:\d\d:\d\d (?:UTC|GMT\S+), at 1 data plane\. Limits are not checked there/)
      .waitFor();
    await visitor.checkPage('counter-store-away');
    await sql`update data_planes set store_away_since = null where id = 'away'`;
    await banner.waitFor({ state: 'detached' });
  } finally {
    await sql`delete from data_planes where id = 'away'`;
    await sql.end();
  }
});

test('says with one banner that the database is away, since when, and that a screen waits', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  await visitor.goto('/');
  visitor.expectHttpError(503, /\/v1\//);
  const away = /\/v1\/(?!config$)/;
  const error = 'the database is unavailable. Retry in a few seconds.';
  await page.route(away, (route) => route.fulfill({ status: 503, json: { error } }));
  await page.getByRole('link', { name: 'Projects' }).click();
  const banner = page.getByRole('alert').filter({ hasText: 'The database of the gateway is unavailable' });
  await banner.getByText(/Since \d\d:\d\d:\d\d (?:UTC|GMT\S+)\. Agents can go on calling/).waitFor();
  expect(await banner.count()).toBe(1);
  await page.unroute(away);
  await banner.waitFor({ state: 'detached' });

  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/\/v1\/audit/, async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole('link', { name: 'Audit' }).click();
  const slow = page.getByText('The gateway responds slowly');
  await slow.waitFor();
  release();
  await slow.waitFor({ state: 'detached' });
});

test('does not retry a change without a response, says so, and keeps the input', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  await visitor.goto('/projects');
  await page.getByRole('button', { name: 'New project' }).click();
  await page.getByLabel('Name').fill('Crawlers');
  visitor.expectHttpError(0, /./);
  await page.route('**/v1/**', (route) => route.abort());
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('It is unknown whether the change was saved. Check, then try again.').waitFor();
  expect(await dialog.getByText('automatically').count()).toBe(0);
  await page.unroute('**/v1/**');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Crawlers saved').waitFor();
});

test('opens the navigation as a drawer on a phone', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  await visitor.goto('/');
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole('button', { name: 'Navigation' }).click();
  await page.getByRole('link', { name: 'Overview' }).last().click();
});
