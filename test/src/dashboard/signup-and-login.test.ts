/** Sign-up, login, logout, and what survives the end of a session. */
import { expect, test } from 'vitest';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
const PASSWORD = 'correct horse battery';
const newEmail = () => `${crypto.randomUUID()}@example.com`;

/** The address without the dashboard's URL and the organization. */
const pathInOrganization = (address: string, url: string): string => {
  expect(address.startsWith(`${url}/o/`)).toBe(true);
  return address.slice(url.length).replace(/^\/o\/[^/?]+\/?/, '/');
};

test('renders every page before login accessibly', async () => {
  const visitor = await dashboard().openBrowserUser();
  for (const name of ['sign-in', 'sign-up', 'forgot-password']) await visitor.gotoAndCheck(`/${name}`, name);
});

test('signs up, stays logged in after a reload, and logs out', async () => {
  const visitor = await dashboard().openBrowserUser();
  const { page, context } = visitor;
  await visitor.goto('/sign-up');
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('Organization').fill('Acme');
  await page.getByLabel('E-mail').fill(newEmail());
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();

  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ name: 'acg_session', httpOnly: true, sameSite: 'Strict' });
  expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])')).not.toContain(
    cookie!.value,
  );
  await page.reload();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();

  await page.getByRole('button', { name: /Account and organization: Acme/ }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  expect(await context.cookies()).toEqual([]);
  await visitor.goto('/');
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
});

test('aborts pending reads on logout', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/v1/usage/summary*', async (route) => {
    await released;
    await route.continue().catch(() => undefined); // aborted by the page
  });
  let ended = 0;
  const onEnd = (request: { url(): string }): void => void (request.url().includes('/v1/usage/summary') && ended++);
  page.on('requestfailed', onEnd);
  page.on('requestfinished', onEnd);
  await page.route('**/v1/session', async (route) => {
    const response = await route.fetch(); // the session has ended on the server
    release();
    await expect.poll(() => ended).toBeGreaterThan(0);
    await route.fulfill({ response });
  });
  const requestSent = page.waitForRequest('**/v1/usage/summary*');
  await page.goto(`${visitor.url}/usage`);
  await requestSent;
  await page.getByRole('button', { name: /Account and organization/ }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
});

test('returns to the requested page after login, but never to another site', async () => {
  const { email, password } = await dashboard().signUpOwner();
  for (const [requestedPath, landingPath] of [
    ['/?period=30d', '/?period=30d'],
    ['/sign-in?next=%2F%2Fevil.example', '/'],
  ] as const) {
    const visitor = await dashboard().openBrowserUser();
    await visitor.goto(requestedPath);
    await visitor.page.getByLabel('E-mail').fill(email);
    await visitor.page.getByLabel('Password', { exact: true }).fill(password);
    await visitor.page.getByRole('button', { name: 'Log in' }).click();
    await visitor.page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(pathInOrganization(visitor.page.url(), visitor.url)).toBe(landingPath);
  }
});

test('reports a wrong password and keeps the input', async () => {
  const visitor = await dashboard().openBrowserUser();
  visitor.expectHttpError(401, /\/v1\/session$/);
  await visitor.goto('/sign-in');
  await visitor.page.getByLabel('E-mail').fill(newEmail());
  await visitor.page.getByLabel('Password', { exact: true }).fill('not the password');
  await visitor.page.getByRole('button', { name: 'Log in' }).click();
  await visitor.page.getByText('Wrong e-mail address or password.').waitFor();
  expect(await visitor.page.getByLabel('Password', { exact: true }).inputValue()).toBe('not the password');
});

test('asks to log in when the session was ended elsewhere, and returns to the same page', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  await visitor.goto('/?period=90d');
  const elsewhere = await dashboard().stack.call('POST', '/v1/auth/login', null, { email, password });
  await dashboard().stack.call('DELETE', '/v1/sessions', elsewhere.body.token);
  visitor.expectHttpError(401, /\/v1\//);
  await page.getByText('24h').click();
  await page.getByText('Your session has ended.').waitFor();
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  expect(pathInOrganization(page.url(), visitor.url)).toBe('/?period=24h');
});

test('restores form input for the same user after a session ended, except secrets', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const other = await dashboard().signUpOwner();
  const { page } = visitor;
  const { stack } = dashboard();
  const dialog = page.getByRole('dialog', { name: 'New agent' });
  const endSession = async () => {
    const elsewhere = await stack.call('POST', '/v1/auth/login', null, { email, password });
    await stack.call('DELETE', '/v1/sessions', elsewhere.body.token);
  };
  const signIn = async (as: { email: string; password: string }, heading = 'Agents') => {
    await page.getByLabel('E-mail').fill(as.email);
    await page.getByLabel('Password', { exact: true }).fill(as.password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  };
  const typed = () => page.locator('input').evaluateAll((all) => all.map((one) => (one as { value?: string }).value));
  visitor.expectHttpError(401, /\/v1\//);
  await visitor.goto('/agents?status=active');
  await page.getByRole('button', { name: 'New agent' }).first().click();
  await dialog.getByLabel('Name').fill('Support bot');
  await dialog.getByLabel('Monthly budget (USD)').fill('12.5');
  await dialog.getByRole('combobox', { name: 'Provider (optional)' }).click();
  await page.getByRole('option', { name: 'OpenAI', exact: true }).click();
  await dialog.getByLabel('API key').fill('sk-typed-0123456789');
  await endSession();
  await dialog.getByRole('button', { name: 'Create agent' }).click();
  await page.getByText('Your input is kept, except passwords and credentials.').waitFor();
  expect(await typed()).toEqual(['', '']);
  await signIn({ email, password });
  expect(pathInOrganization(page.url(), visitor.url)).toBe('/agents?status=active');
  await dialog.getByLabel('API key').waitFor();
  expect(await dialog.getByLabel('Name').inputValue()).toBe('Support bot');
  expect(await dialog.getByLabel('Monthly budget (USD)').inputValue()).toBe('$12.50');
  expect(await dialog.getByRole('combobox', { name: 'Provider (optional)' }).inputValue()).toBe('OpenAI');
  expect(await typed()).not.toContain('sk-typed-0123456789');

  // Not for other users, and not for the same user a second time.
  await endSession();
  await dialog.getByLabel('API key').fill('sk-typed-0123456789');
  await dialog.getByRole('button', { name: 'Create agent' }).click();
  await page.getByText('Your session has ended.').waitFor();
  // The address belongs to the organization of the first user.
  await signIn(other, 'No access to this organization');
  await page.getByRole('button', { name: /^Open / }).click();
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await page.getByText('No agents yet').or(page.getByText('Nothing matches')).waitFor();
  expect(await dialog.count()).toBe(0);
  await page.getByRole('button', { name: 'New agent' }).first().click();
  expect(await dialog.getByLabel('Name').inputValue()).toBe('');
});

test('does not restore a completed form whose secret was still shown', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  const { stack } = dashboard();
  // The list is refetched every 30 s, which detects the ended session; the interval is shortened.
  await page.addInitScript(`{
    const { setInterval } = globalThis;
    globalThis.setInterval = (work, ms, ...more) => setInterval(work, ms === 30_000 ? 500 : ms, ...more);
  }`);
  visitor.expectHttpError(401, /\/v1\//);
  await visitor.goto('/agents');
  await page.getByRole('button', { name: 'New agent' }).first().click();
  await page.getByRole('dialog').getByLabel('Name').fill('Support bot');
  await page.getByRole('button', { name: 'Create agent' }).click();
  await page.getByRole('dialog', { name: 'Gateway token' }).waitFor();
  const elsewhere = await stack.call('POST', '/v1/auth/login', null, { email, password });
  await stack.call('DELETE', '/v1/sessions', elsewhere.body.token);
  await page.getByText('Your session has ended.').waitFor();
  expect(await page.getByText('Your input is kept').count()).toBe(0);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('link', { name: 'Support bot' }).waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
});

test('restores a page form after a session ended, but not a cancelled dialog', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  const { stack } = dashboard();
  await visitor.goto('/projects');
  await page.getByRole('button', { name: 'New project' }).click();
  await page.getByLabel('Name').fill('Left');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await visitor.goto('/settings?tab=organization');
  await page.getByRole('textbox', { name: 'Name' }).fill('Acme and sons');
  const elsewhere = await stack.call('POST', '/v1/auth/login', null, { email, password });
  await stack.call('DELETE', '/v1/sessions', elsewhere.body.token);
  visitor.expectHttpError(401, /\/v1\//);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Your session has ended.').waitFor();
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect.poll(() => page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Acme and sons');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Organization saved').waitFor();
  await page.getByRole('link', { name: 'Projects' }).click();
  await page.getByRole('button', { name: 'New project' }).click();
  expect(await page.getByRole('dialog').getByLabel('Name').inputValue()).toBe('');
});
