/** The page of an invitation in a real browser: one form that fits the address, and a session at its end. */
import { expect, test } from 'vitest';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
const PASSWORD = 'correct horse battery';

async function invite(email: string): Promise<string> {
  const { visitor } = await dashboard().signUpOwner();
  const response = await visitor.context.request.post(`${visitor.url}/v1/members`, {
    data: { email, role: 'member' },
    headers: { 'sec-fetch-site': 'same-origin' },
  });
  expect(response.status()).toBe(201);
  return new URL((await response.json()).invitationUrl).hash;
}

test('a new person chooses a name and a password, sees who invites to what, and ends logged in', async () => {
  const email = `${crypto.randomUUID().slice(0, 8)}@example.com`;
  const hash = await invite(email);
  const guest = await dashboard().openBrowserUser();
  const { page } = guest;
  await page.goto(`${guest.url}/accept-invitation${hash}`);
  await page.getByRole('heading', { name: 'Join Acme' }).waitFor();
  await page.getByText(/invites you to the organization Acme as member\.$/).waitFor();
  await page.getByText(email).waitFor();
  expect(new URL(page.url()).hash).toBe('');
  expect(await page.getByLabel('Account password').count()).toBe(1);
  expect(await page.getByLabel('Account password').isVisible()).toBe(false);
  expect(await page.getByRole('button', { name: 'Continue with single sign-on' }).isVisible()).toBe(false);
  await guest.checkPage('invitation-new');
  await page.getByLabel('Your name').fill('Grace Guest');
  const password = page.getByLabel(/New password/);
  await password.fill(PASSWORD);
  await page.getByRole('button', { name: 'Show password' }).click();
  expect(await password.getAttribute('type')).toBe('text');
  await page.getByRole('button', { name: 'Hide password' }).click();
  expect(await password.getAttribute('type')).toBe('password');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('button', { name: /Account and organization: Acme/ }).waitFor();
  const me = await (await guest.context.request.get(`${guest.url}/v1/me`)).json();
  expect(me).toMatchObject({ user: { email, name: 'Grace Guest' }, role: 'member' });
});

test('an account that exists logs in to join; a wrong password and a used link are explained', async () => {
  const { visitor, email } = await dashboard().signUpOwner();
  const hash = await invite(email);
  const guest = await dashboard().openBrowserUser();
  const { page } = guest;
  await page.goto(`${guest.url}/accept-invitation${hash}`);
  await page.getByText('Log in to your account to join.').waitFor();
  expect(await page.getByLabel('Your name').isVisible()).toBe(false);
  await guest.checkPage('invitation-existing');
  guest.expectHttpError(401, /\/v1\/invitations\/accept/);
  await page.getByLabel('Account password').fill('not the password');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByText(/log in first, or send its password/).waitFor();
  // In the browser of the account a click is enough.
  await visitor.page.goto(`${visitor.url}/accept-invitation${hash}`);
  await visitor.page.getByText('You are logged in with this address.').waitFor();
  await visitor.page.getByRole('button', { name: 'Join' }).click();
  await visitor.page.getByRole('button', { name: /Account and organization/ }).waitFor();
  guest.expectHttpError(400, /\/v1\/invitations\/lookup/);
  await page.goto('about:blank');
  await page.goto(`${guest.url}/accept-invitation${hash}`);
  await page.getByText(/unknown, used or expired/).waitFor();
});
