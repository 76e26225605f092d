/** The second factor in the dashboard: set up, login, confirmation before what cannot be undone, and the policy. */
import { openPool } from '@acg/controlplane/db/postgres-client';
import { expect, test } from 'vitest';
import { showTotpCode } from '../fixtures/authenticator-app.js';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
const CODE = 'Authentication code';

async function runSql(text: string, email: string): Promise<void> {
  const sql = openPool(dashboard().stack.database.url, { connectionsMax: 1, applicationName: 'test' });
  await sql.unsafe(text, [email]);
  await sql.end();
}

const FORGET_USE = 'update second_factors set last_step = -1 where user_id = (select id from users where email = $1)';
const FORGET_CONFIRMATION =
  "update sessions set factor_at = now() - interval '1 hour' where user_id = (select id from users where email = $1)";

test('sets up a second factor, logs in with it, requires it of members and confirms what cannot be undone', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  await runSql('update users set email_verified_at = now() where email = $1', email);
  await visitor.goto('/settings');
  await page.getByRole('button', { name: 'Set up' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Your password').fill(password);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
  await visitor.checkPage('second-factor-set-up');
  const secret = await dialog.getByLabel('Secret').inputValue();
  visitor.expectHttpError(403, /second-factor\/confirm/);
  await dialog.getByLabel(CODE).fill('000000');
  await dialog.getByRole('button', { name: 'Enable' }).click();
  await dialog.getByText(/is wrong or expired/).waitFor();
  await dialog.getByLabel(CODE).fill(showTotpCode(secret));
  await dialog.getByRole('button', { name: 'Enable' }).click();
  const codes = (await dialog.locator('pre').textContent())!.trim().split('\n');
  expect(codes).toHaveLength(10);
  await page.getByRole('button', { name: 'I stored it' }).click();
  await page.getByText('10 recovery codes left.').waitFor();
  await visitor.checkPage('second-factor');

  await page.goto(`${visitor.url}/settings?tab=organization`);
  await page.getByLabel('Require a second factor').check();
  await runSql(FORGET_CONFIRMATION, email);
  await runSql(FORGET_USE, email);
  visitor.expectHttpError(403, /\/v1\/orgs\//);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByText('Confirm that it is you').waitFor();
  await dialog.getByLabel(CODE).fill(showTotpCode(secret));
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Organization saved').waitFor();

  const again = await dashboard().openBrowserUser();
  again.expectHttpError(401, /\/v1\/session/);
  again.expectHttpError(403, /\/v1\/events/); // while the organization requires what the account lacks
  await again.goto('/sign-in');
  await again.page.getByLabel('E-mail').fill(email);
  await again.page.getByLabel('Password', { exact: true }).fill(password);
  await again.page.getByRole('button', { name: 'Log in' }).click();
  await again.page.getByLabel(CODE).waitFor();
  await again.checkPage('sign-in-second-factor');
  await again.page.getByLabel(CODE).fill(codes[0]!);
  await again.page.getByRole('button', { name: 'Log in' }).click();
  await again.page.getByRole('navigation', { name: 'Main' }).waitFor();
  await again.goto('/settings');
  await again.page.getByText('9 recovery codes left.').waitFor();
  await again.page.getByRole('button', { name: 'Remove' }).click();
  await again.page.getByRole('dialog').getByLabel(CODE).fill(codes[1]!);
  await again.page.getByRole('dialog').getByRole('button', { name: 'Remove second factor' }).click();
  await again.page.getByText('Second factor removed').waitFor();
  await again.gotoAndCheck('/', 'second-factor-missing');
  await again.page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
  await again.page.getByRole('link', { name: 'Open settings' }).click();
  await again.page.getByRole('button', { name: 'Set up' }).waitFor();
});

test('the page for device codes asks for the code', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  await runSql('update users set email_verified_at = now() where email = $1', email);
  const post = (path: string, data: object) =>
    visitor.context.request.post(`${visitor.url}${path}`, { data, headers: { 'sec-fetch-site': 'same-origin' } });
  const { secret } = await (await post('/v1/second-factor', { password })).json();
  const { recoveryCodes } = await (await post('/v1/second-factor/confirm', { code: showTotpCode(secret) })).json();
  const { userCode } = await (await post('/v1/auth/device', { client: 'acg' })).json();
  const { page } = visitor;
  visitor.expectHttpError(401, /\/v1\/auth\/login/);
  await page.goto(`${visitor.url}/device`);
  await page.getByLabel('Code', { exact: true }).fill(userCode);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Second factor').fill(recoveryCodes[0]);
  await visitor.checkPage('device-second-factor');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Approved. Return to the program.').waitFor();
});
