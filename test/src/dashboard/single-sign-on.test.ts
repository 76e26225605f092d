/** Single sign-on in the dashboard, with the npm package oidc-provider and with Glewlwyd as the identity provider. */
import { openPool } from '@acg/controlplane/db/postgres-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Glewlwyd } from '../sso/glewlwyd.js';
import { CLIENT, NpmOidcProvider } from '../sso/npm-oidc-provider.js';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
let provider: NpmOidcProvider;

beforeAll(async () => {
  provider = await NpmOidcProvider.listen();
});
afterAll(() => provider.stop());

test('an owner sets up a provider; new people and an owner of an account log in by it', async () => {
  const { visitor, email: ownerEmail } = await dashboard().signUpOwner();
  const { page } = visitor;
  const domain = `${crypto.randomUUID().slice(0, 8)}.example.com`;
  await visitor.goto('/settings?tab=sso');
  const redirectUri = (await page.getByRole('region', { name: 'Identity provider' }).locator('pre').textContent())!;
  const person = { email: `ada@${domain}`, name: 'Ada Provided' };
  provider.serve(redirectUri, person);

  visitor.expectHttpError(400, /\/v1\/sso/);
  await page.getByLabel('Issuer').fill(`${provider.issuer}/nothing`);
  await page.getByLabel('Client ID').fill(CLIENT.clientId);
  await page.getByLabel('Client secret', { exact: true }).fill(CLIENT.clientSecret);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/no usable discovery document/).waitFor();
  await page.getByLabel('Issuer').fill(provider.issuer);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Identity provider saved').waitFor();
  await page.getByRole('textbox', { name: 'Domain' }).fill(domain);
  await page.getByRole('button', { name: 'Add domain' }).click();
  await page.getByText(`_acg-challenge.${domain}. TXT`).waitFor();
  await visitor.gotoAndCheck('/settings?tab=sso', 'single-sign-on');
  await page.getByRole('button', { name: 'Test settings' }).click();
  const steps = page.getByRole('list', { name: 'Steps of the test' }).getByRole('listitem');
  await steps.filter({ hasText: /^domains: failed.*Create the TXT record/ }).waitFor();
  await steps.filter({ hasText: /^keys: passed/ }).waitFor();
  await steps.filter({ hasText: /^redirect URI: not tested/ }).waitFor();
  await visitor.checkPage('single-sign-on-test');

  // The control plane is another process, whose name servers the test does not answer.
  const sql = openPool(dashboard().stack.database.url, { connectionsMax: 1, applicationName: 'test' });
  await sql`update sso_domains set verified_at = now(), checked_at = now() where domain = ${domain}`;
  await page.reload();
  await page.getByText(/^Verified /).waitFor();

  const ada = await dashboard().openBrowserUser();
  const logIn = async () => {
    await ada.goto('/sign-in');
    await ada.page.getByLabel('E-mail').fill(person.email);
    await ada.page.getByRole('button', { name: 'Use single sign-on' }).click();
    const logInAtProvider = ada.page.getByRole('button', { name: 'Log in as Ada' });
    await ada.page.getByRole('button', { name: /Log in as Ada|Connect|Account and organization/ }).waitFor();
    if (await logInAtProvider.isVisible()) await logInAtProvider.click();
  };
  await logIn();
  await ada.page.getByRole('button', { name: /Account and organization: Acme/ }).waitFor();
  const me = await ada.context.request.get(`${ada.url}/v1/me`);
  expect(await me.json()).toMatchObject({ user: person, role: 'viewer' });
  const cookies = (await ada.context.cookies(ada.url)).filter(({ name }) => name.startsWith('acg_'));
  expect(cookies).toMatchObject([{ name: 'acg_session', httpOnly: true, sameSite: 'Strict' }]);
  ada.expectHttpError(403, /\/v1\/second-factor/);
  await ada.gotoAndCheck('/settings?tab=sso', 'single-sign-on-viewer');

  // The link is gone: from now on the account of that address must be proven once.
  await sql`delete from sso_identities where user_id = (select id from users where email = ${person.email})`;
  await sql`
    update users set password_hash = (select password_hash from users where email = ${ownerEmail})
     where email = ${person.email}`;
  await ada.page.getByRole('button', { name: /Account and organization: Acme/ }).click();
  await ada.page.getByRole('menuitem', { name: 'Log out' }).click();
  await ada.page.getByRole('heading', { name: 'Log in' }).waitFor();
  await logIn();
  await ada.page.getByRole('heading', { name: 'Connect your account' }).waitFor();
  await ada.checkPage('single-sign-on-connect');
  ada.expectHttpError(401, /\/v1\/sso\/link/);
  await ada.page.getByLabel('Account password').fill('not the password');
  await ada.page.getByRole('button', { name: 'Connect' }).click();
  await ada.page.getByText('password is not the password of this account').waitFor();
  await ada.page.getByLabel('Account password').fill('correct horse battery');
  await ada.page.getByRole('button', { name: 'Connect' }).click();
  await ada.page.getByRole('button', { name: /Account and organization: Acme/ }).waitFor();

  // An answer without a login that began in this browser.
  ada.expectHttpError(403, /\/callback/);
  await ada.page.goto(`${redirectUri}?code=stolen&state=unknown`);
  await ada.page.getByRole('alert').waitFor();
  await ada.checkPage('single-sign-on-failed');
  await sql.end();
});

test('a person logs in on the log-in page of Glewlwyd: password, consent, and back to the dashboard', async () => {
  const glewlwyd = await Glewlwyd.start();
  try {
    const { visitor } = await dashboard().signUpOwner();
    const { page } = visitor;
    const domain = `${crypto.randomUUID().slice(0, 8)}.example.com`;
    const email = `grace@${domain}`;
    await visitor.goto('/settings?tab=sso');
    const redirectUri = await page.getByRole('region', { name: 'Identity provider' }).locator('pre').textContent();
    await glewlwyd.addClient('dashboard', 'secret of the dashboard', redirectUri!);
    await glewlwyd.addPerson('grace', { email, email_verified: 'yes', groups: ['Compilers'] });
    await page.getByLabel('Issuer').fill(glewlwyd.issuer());
    await page.getByLabel('Client ID').fill('dashboard');
    await page.getByLabel('Client secret', { exact: true }).fill('secret of the dashboard');
    await page.getByLabel('Roles of groups').fill('Compilers: member');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Identity provider saved').waitFor();
    await page.getByRole('textbox', { name: 'Domain' }).fill(domain);
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByText(`_acg-challenge.${domain}. TXT`).waitFor();
    const sql = openPool(dashboard().stack.database.url, { connectionsMax: 1, applicationName: 'test' });
    await sql`update sso_domains set verified_at = now(), checked_at = now() where domain = ${domain}`;
    await sql.end();

    const grace = await dashboard().openBrowserUser();
    // Its page asks for a session that there is not yet, and for texts in the browser's variant of English.
    for (const status of [401, 404]) grace.expectHttpError(status, new RegExp(`^${glewlwyd.origin}/`));
    await grace.goto('/sign-in');
    await grace.page.getByLabel('E-mail').fill(email);
    await grace.page.getByRole('button', { name: 'Use single sign-on' }).click();
    await grace.page.getByLabel('Login', { exact: true }).fill('grace');
    await grace.page.getByLabel('Password', { exact: true }).fill('grace grace');
    await grace.page.getByLabel('Password', { exact: true }).press('Enter');
    for (const scope of ['email', 'profile']) await grace.page.getByLabel(scope, { exact: true }).check();
    const granted = grace.page.waitForResponse((response) => response.url().includes('/api/auth/grant/'));
    await grace.page.getByRole('button', { name: 'Grant access' }).click();
    await granted;
    await grace.page.getByRole('button', { name: 'Continue' }).click();
    await grace.page.getByRole('button', { name: /Account and organization: Acme/ }).waitFor();
    const me = await grace.context.request.get(`${grace.url}/v1/me`);
    expect(await me.json()).toMatchObject({ user: { email, name: 'grace' }, role: 'member' });
  } finally {
    await glewlwyd.stop();
  }
});
