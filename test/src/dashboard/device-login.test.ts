/** Device login: a user approves a program without a browser by typing its code. */
import { createHash } from 'node:crypto';
import { openPool, type Sql } from '@acg/controlplane/db/postgres-client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blockRequests, useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
let sql: Sql;
beforeAll(() => {
  sql = openPool(dashboard().stack.database.url, { connectionsMax: 1, applicationName: 'test' });
});
afterAll(() => sql.end());

/** Starts a device login as a program does. Returns its user code and functions to expire it and to poll its result. */
async function program() {
  const { stack } = dashboard();
  const { body } = await stack.call('POST', '/v1/auth/device', null, { client: 'acg 0.1.0', hostname: 'laptop' });
  const { deviceCode, userCode } = body as { deviceCode: string; userCode: string };
  const hash = createHash('sha256').update(deviceCode).digest();
  return {
    userCode,
    expire: () => sql`update device_logins set expires_at = now() where device_code_hash = ${hash}`,
    poll: async () => {
      await sql`update device_logins set polled_at = null where device_code_hash = ${hash}`;
      return (await stack.call('POST', '/v1/auth/device/token', null, { deviceCode })).body;
    },
  };
}

interface Person {
  readonly email: string;
  readonly password: string;
}

async function typeCode(page: Page, code: string, { email, password }: Person): Promise<void> {
  await page.getByLabel('Code').fill(code);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Continue' }).click();
}

const says = (page: Page, text: string | RegExp) => page.getByRole('status').getByText(text).waitFor();
const focused = (page: Page) => page.evaluate<string>('document.activeElement.id');

test('accepts a code in lower case without its hyphen and approves it for one of two organizations', async () => {
  const owner = await dashboard().signUpOwner();
  const { visitor } = owner;
  await visitor.goto('/settings?tab=organization&dialog=new');
  await visitor.page.getByLabel('Name').last().fill('Second');
  await visitor.page.getByRole('dialog').getByRole('button', { name: 'Create organization' }).click();
  await visitor.page.waitForURL(/\/setup|\/o\/[^/]+\/?$/);
  const { userCode, poll } = await program();
  // In a second window, which has its own session.
  const page = await visitor.context.newPage();
  await page.goto(`${visitor.url}/device`);
  await typeCode(page, userCode.toLowerCase().replace('-', ''), owner);
  await page.getByText('It calls itself acg 0.1.0 on laptop (unverified), from 127.0.0.1.').waitFor();
  expect(await focused(page)).toBe('what');
  expect(await page.locator('#password').inputValue()).toBe('');
  expect((await page.getByLabel('Organization').locator('option').allTextContents()).toSorted()).toEqual([
    'Acme',
    'Second',
  ]);
  await page.getByLabel('Organization').selectOption('Second');
  await page.getByLabel('Maximum role').selectOption('member');
  expect(await poll()).toEqual({ error: 'authorization_pending' });
  await page.getByRole('button', { name: 'Approve' }).click();
  await says(page, 'Approved. Return to the program.');
  expect(await focused(page)).toBe('message');
  expect(await poll()).toMatchObject({ user: { email: owner.email }, orgs: [{ name: 'Second' }] });
  await visitor.goto('/agents');
  await visitor.page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
});

test('reports a denied login to the program without access', async () => {
  const owner = await dashboard().signUpOwner();
  const { page, url } = owner.visitor;
  const { userCode, poll } = await program();
  await page.goto(`${url}/device`);
  await typeCode(page, userCode, owner);
  await page.getByRole('button', { name: 'Deny' }).click();
  await says(page, 'Denied. The device has no access.');
  expect(await poll()).toEqual({ error: 'access_denied' });
});

test('reports a wrong password and an expired code, and accepts the next code', async () => {
  const owner = await dashboard().signUpOwner();
  const { visitor } = owner;
  const { page, url } = visitor;
  visitor.expectHttpError(401, /\/v1\/auth\/login/);
  visitor.expectHttpError(404, /\/v1\/auth\/device/);
  const old = await program();
  await page.goto(`${url}/device`);
  await page.route('**/v1/auth/logout', () => {}); // never responds, and the page must not wait for it
  await typeCode(page, old.userCode, { ...owner, password: 'not the password' });
  await says(page, /wrong/);
  await old.expire();
  await typeCode(page, old.userCode, owner);
  await says(page, /no such device code: it is mistyped, used or older than 10 minutes/);
  // The code expires while the user decides.
  const slow = await program();
  await typeCode(page, slow.userCode, owner);
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await slow.expire();
  await page.getByRole('button', { name: 'Approve' }).click();
  await says(page, /older than 10 minutes/);
  expect(await focused(page)).toBe('code');
  const next = await program();
  await typeCode(page, next.userCode, owner);
  await page.getByRole('button', { name: 'Approve' }).click();
  await says(page, /^Approved/);
  expect(await next.poll()).toMatchObject({ user: { email: owner.email } });
});

test('rejects a second decision after another window has decided', async () => {
  const owner = await dashboard().signUpOwner();
  const { visitor } = owner;
  const { userCode, poll } = await program();
  visitor.expectHttpError(404, /\/v1\/auth\/device/);
  const other = await visitor.context.newPage();
  for (const page of [visitor.page, other]) {
    await page.goto(`${visitor.url}/device`);
    await typeCode(page, userCode, owner);
    await page.getByRole('button', { name: 'Approve' }).waitFor();
  }
  await other.getByRole('button', { name: 'Deny' }).click();
  await says(other, /^Denied/);
  await visitor.page.getByRole('button', { name: 'Approve' }).click();
  await says(visitor.page, /used or older/);
  expect(await poll()).toEqual({ error: 'access_denied' });
});

test('sends a double click once, reports a missing response, and allows a retry', async () => {
  const owner = await dashboard().signUpOwner();
  const { visitor } = owner;
  const { page } = visitor;
  visitor.expectHttpError(0, /\/v1\/auth\/device\/approve/);
  visitor.expectHttpError(503, /\/v1\/auth\/device\/approve/);
  const { userCode, poll } = await program();
  await page.goto(`${visitor.url}/device`);
  const requestedPaths: string[] = [];
  page.on('request', (request) => requestedPaths.push(new URL(request.url()).pathname));
  await page.getByLabel('Code').fill(userCode);
  await page.getByLabel('E-mail').fill(owner.email);
  await page.getByLabel('Password').fill(owner.password);
  const loggingIn = await blockRequests(page, '**/v1/auth/login');
  await page.getByRole('button', { name: 'Continue' }).dblclick();
  loggingIn();
  const approve = page.getByRole('button', { name: 'Approve' });
  await approve.waitFor();
  expect(requestedPaths).toEqual(['/v1/auth/login', '/v1/auth/device/lookup']);
  const failures = [
    (route: { abort(): Promise<void> }) => route.abort(),
    (route: { fulfill(answer: object): Promise<void> }) => route.fulfill({ status: 503, body: 'upstream is away' }),
  ];
  for (const fail of failures) {
    await page.route('**/v1/auth/device/approve', fail, { times: 1 });
    await approve.click();
    await says(page, 'The gateway does not respond. Try again.');
    expect(await focused(page)).toBe('approve');
  }
  requestedPaths.length = 0;
  const approving = await blockRequests(page, '**/v1/auth/device/approve');
  await approve.dblclick();
  approving();
  await says(page, /^Approved/);
  await expect.poll(() => requestedPaths).toEqual(['/v1/auth/device/approve', '/v1/auth/logout']);
  await says(page, /^Approved/);
  expect(await poll()).toMatchObject({ user: { email: owner.email } });
});
