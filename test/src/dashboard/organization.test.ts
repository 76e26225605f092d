/** Members, projects, the audit trail, suspended items and settings. */
import { readFileSync } from 'node:fs';
import { openPool } from '@acg/controlplane/db/postgres-client';
import { expect, test } from 'vitest';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
const PASSWORD = 'correct horse battery';
const newEmail = () => `${crypto.randomUUID()}@example.com`;

/** Accepts an invitation and logs in with a new browser context. */
async function join(link: string, email: string) {
  const token = new URL(link).hash.slice(1) || new URL(link).searchParams.get('token')!;
  const body = { token: token.replace(/^token=/, ''), name: 'Grace Guest', password: PASSWORD };
  const joined = await dashboard().stack.call('POST', '/v1/invitations/accept', null, body);
  expect(joined.status).toBe(200);
  const visitor = await dashboard().openBrowserUser();
  await visitor.logIn(email, PASSWORD);
  return visitor;
}

test('invites a member, changes the role and removes the member', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  const email = newEmail();
  await visitor.goto('/members');
  // The last owner cannot be removed.
  await expect.poll(() => page.getByRole('button', { name: 'Remove' }).getAttribute('aria-disabled')).toBe('true');
  await page.getByRole('button', { name: 'Invite member' }).click();
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Role', { exact: true }).selectOption('viewer');
  await page.getByRole('dialog').getByRole('button', { name: 'Send invitation' }).click();
  const link = await page.getByRole('dialog').locator('pre').textContent();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('invited', { exact: true }).waitFor();
  await visitor.gotoAndCheck('/members', 'members');

  const guest = await join(link!, email);
  await guest.goto('/projects');
  const locked = guest.page.getByRole('button', { name: 'New project' });
  expect(await locked.getAttribute('aria-disabled')).toBe('true');
  expect(await locked.getAttribute('title')).toContain('requires the role admin');
  await guest.goto('/audit');
  await guest.page.getByText('Not available for your role').waitFor();

  await visitor.goto('/members');
  await page.getByLabel(`Role of ${email}`).selectOption('admin');
  await page.getByText(`${email} is now admin`).waitFor();
  await guest.goto('/audit');
  await guest.page
    .getByRole('cell', { name: /^joined as/ })
    .first()
    .waitFor();

  await page
    .getByRole('row', { name: new RegExp(email) })
    .getByRole('button', { name: 'Remove' })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText(`${email} removed`).waitFor();
  guest.expectHttpError(401, /\/v1\//);
  await guest.goto('/projects');
  await guest.page.getByRole('heading', { name: 'Log in' }).waitFor();
});

test('creates a project with a budget, edits it, and deletes it after the name was typed', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  await visitor.goto('/projects');
  await page.getByRole('button', { name: 'New project' }).click();
  await page.getByLabel('Name').fill('Crawlers');
  await page.getByLabel('Monthly budget').fill('20');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Crawlers saved').waitFor();
  await page.getByRole('row', { name: /Crawlers.*\$20\.00/ }).waitFor();
  await visitor.gotoAndCheck('/projects', 'projects');

  await page.getByRole('button', { name: 'Edit Crawlers' }).click();
  await page.getByLabel('Monthly budget').fill('');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('row', { name: /Crawlers.*No budget/ }).waitFor();

  // The project was created, but saving its budget failed: a retry updates the same project.
  await page.getByRole('button', { name: 'New project' }).click();
  await page.getByLabel('Name').fill('Twice');
  await page.getByLabel('Monthly budget').fill('5');
  visitor.expectHttpError(0, /\/v1\/projects\//);
  await page.route('**/v1/projects/*', (route) => route.abort());
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Something went wrong').waitFor();
  await page.unroute('**/v1/projects/*');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Twice saved').waitFor();
  await page.getByRole('row', { name: /Twice.*\$5\.00/ }).waitFor();
  expect(await page.getByRole('row', { name: /Twice/ }).count()).toBe(1);

  await page.getByRole('button', { name: 'Delete Crawlers' }).click();
  const act = page.getByRole('dialog').getByRole('button', { name: 'Delete project' });
  await act.click();
  await page.getByText('Crawlers deleted').waitFor();
  await page.getByRole('row', { name: /Crawlers/ }).waitFor({ state: 'detached' });
});

test('allows personal agents with a shared credential, and shows whose agent is personal', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, session, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const credentials = { apiKey: 'sk-test-0123456789' };
  await call('POST', '/v1/credentials', { name: 'Team', providerSlug: 'openai', credentials });
  await visitor.goto('/projects');
  await page.getByRole('button', { name: /^Budgets/ }).click();
  const section = page.getByRole('region', { name: 'Personal agents' });
  await section.getByLabel('Members may have a personal agent').check();
  await section.getByLabel('Team (openai)').check();
  await section.getByRole('button', { name: 'Save personal agents' }).click();
  await page.getByText('Personal agents saved').waitFor();
  await visitor.checkPage('project-defaults');
  const own = await call('POST', '/v1/personal-agents/keys', { projectId, name: 'laptop' });
  expect(own.status).toBe(201);
  await visitor.gotoAndCheck('/agents', 'agents-personal');
  await page.getByText('· personal').waitFor();
  await visitor.goto(`/agents/${own.body.agent.id}`);
  await page.getByText('Personal agent').waitFor();
  await visitor.goto('/projects');
  await page.getByRole('button', { name: /^Budgets/ }).click();
  await section.getByLabel('Members may have a personal agent').uncheck();
  await section.getByRole('button', { name: 'Save personal agents' }).click();
  await expect
    .poll(async () => (await call('GET', `/v1/agents/${own.body.agent.id}`)).body.agent.status)
    .toBe('revoked');
});

test('tells the audit trail as sentences with names and links, by person and by object', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, session, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const agentId: string = (await call('POST', '/v1/agents', { projectId, name: 'Crawler' })).body.agent.id;
  await call('POST', '/v1/agents', { projectId, name: 'Other' });
  await call('PATCH', `/v1/agents/${agentId}`, { name: 'SEO crawler' });
  await visitor.goto('/audit');
  await page.getByLabel('Person').selectOption(email);
  // The present name, also in the entry of the creation.
  await page.getByRole('cell', { name: 'created agent SEO crawler' }).waitFor();
  await page.getByRole('cell', { name: 'created agent Other' }).waitFor();
  await page.getByRole('button', { name: 'View history: SEO crawler' }).first().click();
  await page.getByRole('cell', { name: 'created agent Other' }).waitFor({ state: 'detached' });
  const chips = page.getByRole('group', { name: 'Active filters' });
  await chips.getByText(`By: ${email}`).waitFor();
  await chips.getByText('Object: SEO crawler').waitFor();
  await visitor.checkPage('audit-object');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export as CSV' }).click(),
  ]);
  const lines = readFileSync((await file.path())!, 'utf8')
    .trim()
    .split('\r\n');
  expect(lines).toHaveLength(3); // head, create, update
  await page.getByRole('link', { name: 'SEO crawler' }).first().click();
  await page.getByRole('heading', { name: 'SEO crawler', level: 1 }).waitFor();
});

test('keeps audit filters in the URL and undoes them with the back button', async () => {
  const { visitor, email } = await dashboard().signUpOwner();
  const { page } = visitor;
  await visitor.gotoAndCheck('/audit', 'audit');
  await page.getByRole('cell', { name: /^created organization/ }).waitFor();
  await page.getByRole('button', { name: email }).first().click();
  await expect.poll(() => page.url()).toContain('actor=');
  await page.getByLabel('From').fill('2020-01-01');
  await expect.poll(() => page.url()).toContain('start=2020-01-01');
  await page.goBack();
  expect(await page.getByLabel('From').inputValue()).toBe('');
  const actions = page.getByLabel('Action', { exact: true });
  await actions.selectOption('organization.create');
  await page
    .getByRole('cell', { name: /^created session/ })
    .first()
    .waitFor({ state: 'detached' });
  await page.getByRole('cell', { name: /^created organization/ }).waitFor();
  await actions.selectOption('webhook.replay');
  await page.getByText('Nothing matches these filters').waitFor();
  await page.goBack();
  await page.getByRole('cell', { name: /^created organization/ }).waitFor();
  // A link with an unknown action shows that filter instead of looking unfiltered.
  await visitor.goto('/audit?action=nothing.such');
  await page.getByText('Nothing matches these filters').waitFor();
  expect(await actions.inputValue()).toBe('nothing.such');
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await page.getByRole('cell', { name: /^created organization/ }).waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export as CSV' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('audit.csv');
});

test('shows a management token only once', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  await visitor.goto('/settings?tab=tokens');
  await page.getByRole('button', { name: 'New management token' }).click();
  await page.getByLabel('Name').fill('ci');
  await page.getByRole('button', { name: 'Create token' }).click();
  const secret = (await page.locator('[data-secret]').textContent())!;
  expect(secret).toMatch(/^acgm_[0-9a-f]{64}$/);
  await page.keyboard.press('Escape');
  expect(await page.locator('[data-secret]').count()).toBe(1);
  const me = await dashboard().stack.call('GET', '/v1/me', secret);
  expect(me.status).toBe(200);
  await page.getByRole('button', { name: 'I stored it' }).click();
  await page.getByRole('cell', { name: 'ci', exact: true }).waitFor();
  await page.reload();
  await page.getByRole('cell', { name: 'ci', exact: true }).waitFor();
  expect(await page.content()).not.toContain(secret);
  expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain(secret);
  await visitor.gotoAndCheck('/settings?tab=tokens', 'settings-tokens');
  await page.getByRole('button', { name: 'Delete ci' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete token' }).click();
  await page.getByText('No management tokens').waitFor();
  expect((await dashboard().stack.call('GET', '/v1/me', secret)).status).toBe(401);
});

test('changes the name, lists sessions, and ends other sessions with a new password', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  const other = await dashboard().stack.call('POST', '/v1/auth/login', null, { email, password });
  await visitor.gotoAndCheck('/settings', 'settings');
  await page.getByLabel('Name').fill('Ada Lovelace');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Name saved').waitFor();
  await visitor.gotoAndCheck('/settings?tab=sessions', 'settings-sessions');
  await page.getByText('Browser (this one)').waitFor();
  await page.getByRole('tab', { name: 'Account' }).click();
  await page.getByLabel('Current password').fill(password);
  await page.getByLabel('New password').fill('another long password');
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('All other sessions have ended').waitFor();
  expect((await dashboard().stack.call('GET', '/v1/me', other.body.token)).status).toBe(401);
  await page.getByRole('tab', { name: 'Organization' }).click();
  await visitor.checkPage('settings-organization');
  await page.getByRole('textbox', { name: 'Name' }).fill('Analytical Engines');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: /Account and organization: Analytical Engines/ }).waitFor();
});

test('shows and changes the budget of the organization', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  const { stack } = dashboard();
  const login = await stack.call('POST', '/v1/auth/login', null, { email, password });
  const budget = async () =>
    (await stack.call('GET', `/v1/orgs/${login.body.orgId}`, login.body.token)).body.org.budgetCentsMonthly;
  const field = page.getByLabel('Monthly budget (USD)');
  const save = async (text: string): Promise<void> => {
    await field.fill(text);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
  };
  await visitor.goto('/settings?tab=organization');
  expect(await field.inputValue()).toBe('');
  await save('1250.50');
  await expect.poll(budget).toBe(125_050);
  await page.getByText('$0.00 of $1,250.50').waitFor();
  await visitor.gotoAndCheck('/settings?tab=organization', 'settings-budget');
  expect(await field.inputValue()).toBe('$1,250.50');
  await save('');
  await expect.poll(budget).toBeNull();
});

test('budgets by window, and defaults for new agents with their budgets and audit mode', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  const { stack } = dashboard();
  const { orgId, token } = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body;
  const call = async (method: string, body?: unknown) =>
    (await stack.call(method, `/v1/orgs/${orgId}`, token, body)).body.org;
  await call('PATCH', {
    budgetCentsMonthly: 90_000,
    agentDefaults: { rpmLimit: 30, budgets: [{ window: 'month', cents: 700, mode: 'hard' }] },
  });
  await visitor.goto('/settings?tab=organization');
  const add = async (section: string, window: string, amount: string, tag: string): Promise<void> => {
    await page.getByRole('region', { name: section, exact: true }).getByRole('button', { name: 'Add budget' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Window').selectOption(window);
    await dialog.getByLabel('Budget (USD)').fill(amount);
    await dialog.getByLabel('Tag').fill(tag);
    await dialog.getByRole('button', { name: 'Save budget' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await add('More budgets', 'week', '300', 'customer=acme');
  const plain = { window: 'month', cents: 90_000, mode: 'soft' };
  const week = { window: 'week', cents: 30_000, mode: 'soft', tag: 'customer=acme' };
  expect((await call('GET')).budgets).toMatchObject([plain, week]);
  await add('More budgets of new agents', 'day', '5', '');
  expect((await call('GET')).agentDefaults.budgets).toMatchObject([
    { window: 'month', cents: 700, mode: 'hard' },
    { window: 'day', cents: 500, mode: 'soft' },
  ]);
  const defaults = page.getByRole('region', { name: 'Defaults for new agents' });
  expect(await defaults.getByLabel('Monthly budget of an agent (USD)').inputValue()).toBe('$7.00');
  await defaults.getByLabel('Monthly budget of an agent (USD)').fill('8');
  await defaults.getByLabel('Mode of the monthly budget').selectOption('audit');
  await defaults.getByRole('checkbox').first().check();
  await visitor.checkPage('settings-budget-defaults');
  await defaults.getByRole('button', { name: 'Save defaults' }).click();
  await page.getByText('Defaults saved').waitFor();
  expect((await call('GET')).agentDefaults).toEqual({
    rpmLimit: 30,
    auditLimits: ['rpm'],
    budgets: [
      { window: 'month', cents: 800, models: [], mode: 'audit' },
      { window: 'day', cents: 500, models: [], mode: 'soft' },
    ],
  });
  await page.getByRole('region', { name: 'More budgets', exact: true }).getByRole('button', { name: 'Remove' }).click();
  await page.getByText('Budget removed').waitFor();
  expect((await call('GET')).budgets).toMatchObject([plain]);
});

test('deletes and restores an organization, but never the user’s only one', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const remove = async (given: string): Promise<void> => {
    await page.getByRole('button', { name: 'Delete organization' }).click();
    await page.getByLabel('Type “Acme” to confirm').fill('Acme');
    await page.getByRole('dialog').getByLabel('Your password').fill(given);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete organization' }).click();
  };
  const cancel = () => page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await visitor.goto('/settings?tab=organization');
  visitor.expectHttpError(409, /\/v1\/orgs\//);
  await remove(password);
  await page.getByText('This is your only organization').waitFor();
  await visitor.checkPage('settings-delete');
  await cancel();
  expect((await stack.call('POST', '/v1/orgs', session, { name: 'Second' })).status).toBe(201);
  visitor.expectHttpError(403, /\/v1\//);
  await remove('not the password');
  await page.getByText(/password is not the password of your account/i).waitFor();
  await cancel();
  await remove(password);
  await page.getByRole('heading', { name: 'Acme is being deleted' }).waitFor();
  await visitor.gotoAndCheck('/', 'being-deleted');
  await page.getByRole('button', { name: 'Restore organization' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

test('keeps or revokes each suspended item', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  for (const name of ['Deploys', 'Planted']) {
    await stack.call('POST', '/v1/management-tokens', session, { name, role: 'admin' });
  }
  const sql = openPool(stack.database.url, { connectionsMax: 1, applicationName: 'test' });
  await sql`
    with t as (delete from management_tokens t using users u where u.id = t.created_by and u.email = ${email} returning t.*)
    insert into suspended_items (id, org_id, kind, name, detail, contents, made_at)
    select id, org_id, 'management_token', name, token_prefix || '… ' || role, to_jsonb(t), created_at from t`;
  await sql.end();
  await visitor.goto('/');
  await page.getByText('Review suspended items').waitFor();
  await page.getByRole('link', { name: 'Review' }).click();
  await page.getByRole('heading', { name: 'Suspended items' }).waitFor();
  await visitor.gotoAndCheck('/suspended', 'suspended');
  await page.getByRole('button', { name: 'Keep Deploys' }).click();
  await page.getByText('Deploys restored').waitFor();
  await page.getByRole('button', { name: 'Revoke Planted' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No suspended items').waitFor();
  await visitor.goto('/settings?tab=tokens');
  await page.getByText('Deploys').waitFor();
  expect(await page.getByText('Review suspended items').count()).toBe(0);
  expect(await page.getByText('Planted').count()).toBe(0);
});

test('creates an organization from the menu and switches to it', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  await visitor.goto('/');
  await page.getByRole('button', { name: /Account and organization: Acme/ }).click();
  await page.getByRole('menuitem', { name: 'New organization' }).click();
  const dialog = page.getByRole('dialog', { name: 'New organization' });
  await dialog.getByLabel('Name').fill(' Second organization of Ada ');
  await visitor.checkPage('settings-new-organization');
  await dialog.getByRole('button', { name: 'Create organization' }).click();
  const menu = page.getByRole('button', { name: 'Account and organization: Second organization of Ada', exact: true });
  await menu.waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  const rightEdge = async (): Promise<number> => {
    const { x, width } = (await menu.boundingBox())!;
    return x + width;
  };
  await expect.poll(rightEdge, { message: 'its right edge on a phone' }).toBeLessThanOrEqual(360);
  await menu.click();
  await page.getByRole('menuitem', { name: 'Acme' }).click();
  const acmeMenu = page.getByRole('button', { name: /Account and organization: Acme/ });
  await acmeMenu.waitFor();
  await page.setViewportSize({ width: 1280, height: 900 });

  // A link names its organization: opened, it switches the session of a member.
  await visitor.goto('/agents');
  const acmeAgents = page.url();
  expect(acmeAgents).toMatch(/\/o\/[a-z0-9-]+\/agents$/);
  await acmeMenu.click();
  await page.getByRole('menuitem', { name: 'Second organization of Ada' }).click();
  await menu.waitFor();
  const secondStart = page.url();
  await page.goto(acmeAgents);
  await acmeMenu.waitFor();
  await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
  expect(page.url()).toBe(acmeAgents);

  // Without a link that was opened, it asks first, so that two tabs do not switch back and forth.
  await page.evaluate(`history.pushState(null, '', '${secondStart}'); dispatchEvent(new PopStateEvent('popstate'))`);
  await page.getByRole('heading', { name: 'This page belongs to Second organization of Ada' }).waitFor();
  await visitor.checkPage('other-organization');
  await page.getByRole('button', { name: 'Open Acme' }).press('Enter');
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();

  await visitor.gotoAndCheck('/o/nobody-has-this-slug/agents', 'no-access-to-organization');
  await page.getByRole('heading', { name: 'No access to this organization' }).waitFor();
  await page.getByRole('button', { name: 'Open Acme' }).press('Enter');
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
});

test('resends the confirmation link and leads from its page to the dashboard', async () => {
  const { visitor, email } = await dashboard().signUpOwner();
  const { page } = visitor;
  await visitor.goto('/settings');
  const sent = page.waitForRequest(/\/v1\/auth\/resend-verification$/);
  await page.getByRole('button', { name: 'Resend the link' }).click();
  expect((await sent).postDataJSON()).toEqual({ email });
  await page.getByText('New link sent').waitFor();
  await visitor.checkPage('settings-not-confirmed');

  await page.route('**/v1/auth/verify-email', (route) => route.fulfill({ json: { ok: true } }));
  await page.goto(`${visitor.url}/verify-email#token=x`);
  const onward = page.getByRole('link', { name: 'Go to the dashboard' });
  expect(await onward.isVisible()).toBe(false);
  await page.getByLabel('Account password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await onward.click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});
