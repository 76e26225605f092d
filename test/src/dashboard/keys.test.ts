/** The Gateway tokens page: create, rotate, edit, revoke and filter. */
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
const isAtTheList = (page: Page) => page.evaluate<boolean>('document.activeElement.matches("div:has(> div table)")');
const isFocused = (element: Locator) => element.and(element.page().locator(':focus')).isVisible();

async function scene() {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, session, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const agentId: string = (await call('POST', '/v1/agents', { projectId, name: 'Support bot' })).body.agent.id;
  const key = async (fields: object): Promise<{ id: string; secretKey: string }> => {
    const { body } = await call('POST', '/v1/api-keys', fields);
    return { id: body.key.id, secretKey: body.secretKey };
  };
  return { visitor, call, agentId, projectId, key };
}

test('creates a token for an agent and shows it only once, with usage examples', async () => {
  const { visitor, call } = await scene();
  const { page } = visitor;
  await visitor.gotoAndCheck('/keys', 'keys-empty');
  await page.getByRole('button', { name: 'New gateway token' }).first().click();
  await page.getByLabel('Name').fill('production');
  await page.getByRole('combobox', { name: 'Agent' }).fill('support');
  await page.getByRole('option', { name: 'Support bot' }).click();
  await page.getByLabel('Expiration').selectOption({ label: '90 days' });
  await visitor.checkPage('keys-new');
  await page.getByRole('button', { name: 'Create token' }).click();
  const secret = (await page.locator('[data-secret]').textContent())!;
  expect(secret).toMatch(/^acg_[0-9a-f]+$/);
  expect(await page.getByLabel('curl', { exact: true }).last().textContent()).toContain(secret);
  await visitor.checkPage('keys-secret');
  await page.keyboard.press('Escape');
  expect(await page.locator('[data-secret]').textContent()).toBe(secret); // Escape does not close the dialog
  await page.getByRole('button', { name: 'I stored it' }).click();
  // After both dialogs, the form and the secret, the focus returns to the button that opened them.
  await expect.poll(() => isFocused(page.getByRole('button', { name: 'New gateway token' }))).toBe(true);
  await page.getByRole('row', { name: /production.*Support bot.*never used.*in \d+ days/ }).waitFor();
  await page.reload();
  await page.getByRole('row', { name: /production/ }).waitFor();
  expect(await page.content()).not.toContain(secret);
  expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage, location.href])')).not.toContain(secret);
  const [key] = (await call('GET', '/v1/api-keys')).body.keys;
  expect([key.scope, key.agentName, secret.startsWith(key.keyPrefix)]).toEqual(['agent', 'Support bot', true]);
});

test('creates a token for a project and explains how its calls name the agent', async () => {
  const { visitor, call, projectId } = await scene();
  const { page } = visitor;
  await visitor.goto('/keys');
  await page.getByRole('button', { name: 'New gateway token' }).first().click();
  await page.getByLabel('Name').fill('orchestrator');
  await page.getByRole('radio', { name: 'All agents of a project' }).check();
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('dialog').getByText('x-gateway-agent').waitFor();
  await page.getByRole('button', { name: 'I stored it' }).click();
  await page.getByRole('row', { name: /orchestrator.*All agents of/ }).waitFor();
  const [key] = (await call('GET', '/v1/api-keys')).body.keys;
  expect([key.scope, key.projectId, key.expiresAt]).toEqual(['project', projectId, null]);
});

test('rotates with an overlap, renames, and revokes after the name was typed', async () => {
  const { visitor, call, key, agentId } = await scene();
  const { page } = visitor;
  const old = await key({ name: 'staging', agentId });
  await visitor.goto('/keys');
  const rotate = page.getByRole('button', { name: 'Rotate staging' });
  await rotate.focus();
  await page.keyboard.press('Enter');
  // Tokens may share a name: the prefix tells them apart.
  await page.getByRole('dialog').getByText(old.secretKey.slice(0, 12)).waitFor();
  await page.getByLabel('The previous token stays valid for').focus();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(() => isFocused(rotate)).toBe(true);
  await page.keyboard.press('Enter');
  await page.getByLabel('The previous token stays valid for').selectOption({ label: '7 days' });
  await page.getByRole('button', { name: 'Rotate token' }).click();
  const secret = (await page.locator('[data-secret]').textContent())!;
  expect(secret).not.toBe(old.secretKey);
  await page.getByRole('button', { name: 'I stored it' }).click();
  await page.getByRole('row', { name: /staging.*replaced, still valid.*in 7 days/ }).waitFor();
  const replaced = page.getByRole('row', { name: /replaced/ }).getByRole('button', { name: 'Rotate staging' });
  expect(await replaced.getAttribute('aria-disabled')).toBe('true');

  await page
    .getByRole('row', { name: /never used/ })
    .getByRole('button', { name: 'Edit staging' })
    .click();
  await page.getByLabel('Name').fill('staging 2');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('staging 2 saved').waitFor();
  await visitor.gotoAndCheck('/keys', 'keys');

  await page.getByRole('button', { name: 'Revoke staging 2' }).press('Enter');
  const act = page.getByRole('dialog').getByRole('button', { name: 'Revoke token' });
  expect(await act.isDisabled()).toBe(true);
  await page.getByLabel('Type “staging 2” to confirm').fill('staging 2');
  await act.press('Enter');
  await page.getByText('staging 2 revoked').waitFor();
  await page.getByRole('row', { name: /staging 2/ }).waitFor({ state: 'detached' });
  // The row is gone with its focused button: the list has the focus, not the top of the page.
  await expect.poll(() => isAtTheList(page)).toBe(true);
  const left = (await call('GET', '/v1/api-keys')).body.keys;
  expect(left.map(({ id }: { id: string }) => id)).toEqual([old.id]);

  // The revoked token stays reachable: from the message, by its status, and by the search of the palette.
  await page.getByRole('button', { name: 'See what it did' }).click();
  await page.getByRole('heading', { name: 'staging 2', level: 1 }).waitFor();
  await page.getByText('revoked', { exact: true }).waitFor();
  const itsPage = new URL(page.url()).pathname;
  await visitor.goto('/keys');
  await page.getByLabel('Status').selectOption('revoked');
  const revoked = page.getByRole('row', { name: /staging 2.*revoked/ });
  await revoked.waitFor();
  expect(await revoked.getByRole('button').count()).toBe(0);
  expect(await page.getByRole('row', { name: /replaced/ }).count()).toBe(0);
  await visitor.checkPage('keys-revoked');
  await page.keyboard.press('Control+k');
  await page.getByRole('textbox', { name: 'Search and commands' }).fill('staging 2');
  await page.getByRole('button', { name: /of Support bot, revoked/ }).click();
  await expect.poll(() => new URL(page.url()).pathname).toBe(itsPage);
});

test('marks tokens that expire soon, finds tokens by name, and undoes filters with the back button', async () => {
  const { visitor, key, agentId } = await scene();
  const { page } = visitor;
  await key({ name: 'short', agentId, expiresAt: new Date(Date.now() + 2 * 86_400_000).toISOString() });
  await key({ name: 'everywhere', scope: 'org' });
  await visitor.goto('/keys');
  await page.getByRole('row', { name: /short.*expires soon/ }).waitFor();
  await page.getByRole('row', { name: /everywhere.*All agents.*never used/ }).waitFor();
  await page.getByLabel('Search gateway tokens').fill('no such key');
  await page.getByText('Nothing matches these filters').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).press('Enter');
  await page.getByRole('row', { name: /short/ }).waitFor();
  await expect.poll(() => isAtTheList(page)).toBe(true);
  await page.getByLabel('Status').selectOption('expired');
  await page.getByText('Nothing matches these filters').waitFor();
  expect(page.url()).toContain('status=expired');
  await page.goBack();
  await page.getByRole('row', { name: /short/ }).waitFor();
});

test('tells a viewer why creating tokens is not allowed', async () => {
  const { call } = await scene();
  const email = `${crypto.randomUUID()}@example.com`;
  const invited = await call('POST', '/v1/members', { email, role: 'viewer' });
  const token = invited.body.invitationUrl.split('#token=')[1];
  const password = 'another good passphrase';
  await dashboard().stack.call('POST', '/v1/invitations/accept', null, { token, name: 'Vera Viewer', password });
  const viewer = await dashboard().openBrowserUser();
  await viewer.logIn(email, password);
  await viewer.goto('/keys');
  const button = viewer.page.getByRole('button', { name: 'New gateway token' }).first();
  expect(await button.getAttribute('title')).toBe(
    'This requires the role admin. Your role is viewer. An organization owner can change it.',
  );
});

test('sorts by column, keeps the choice of columns and compact rows for the user, and saves the rows', async () => {
  const { visitor, key, agentId } = await scene();
  const { page } = visitor;
  for (const name of ['beta', 'alpha']) await key({ name, agentId });
  await visitor.goto('/keys');
  const firstRow = page.getByRole('row').nth(1);
  await firstRow.getByText('alpha').waitFor();
  await page.getByRole('button', { name: 'Gateway token', exact: true }).press('Enter');
  await page
    .getByRole('columnheader', { name: 'Gateway token', exact: true })
    .and(page.locator('[aria-sort="ascending"]'))
    .waitFor();
  await page.getByRole('button', { name: 'Gateway token', exact: true }).press('Enter');
  await firstRow.getByText('beta').waitFor();
  expect(page.url()).toMatch(/sort=name&order=desc|order=desc&sort=name|sort=name/);

  await page.getByRole('button', { name: 'View options' }).press('Enter');
  const options = page.getByRole('dialog', { name: 'View options' });
  await options.getByLabel('Expires').press('Space');
  await page.getByRole('columnheader', { name: 'Expires' }).waitFor({ state: 'detached' });
  await options.getByLabel('Compact rows').press('Space');
  const saved = page.waitForEvent('download');
  await options.getByRole('button', { name: 'Save rows as CSV' }).press('Enter');
  const csv = readFileSync(await (await saved).path(), 'utf8').split('\r\n');
  expect(csv[0]).toBe('Gateway token,Scope,Status,Last used,Created');
  expect(csv[1]).toMatch(/^beta acg_[0-9a-f]+….*,Support bot.*,never used,Never,\d{4}-\d\d-\d\dT/);
  await page.keyboard.press('Escape');
  await options.waitFor({ state: 'detached' });
  await visitor.gotoAndCheck('/keys', 'keys-compact');
  expect(await page.getByRole('columnheader', { name: 'Expires' }).count()).toBe(0);
  expect(
    await firstRow.evaluate((row) => (row as unknown as { offsetHeight: number }).offsetHeight),
  ).toBeLessThanOrEqual(48);
});
