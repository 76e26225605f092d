/** The Providers page: accounts, catalogue, shared credentials, breakers and prices. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useDashboard } from './dashboard-fixture.js';

const GOOD = 'key-good-0123456789';
const BETTER = 'key-better-0123456789';
const BAD = 'key-bad-0123456789';

/** What the token endpoint of Anthropic answers. */
let exchange = {
  status: 200,
  body: '{"access_token":"sk-ant-oat01-0123456789","token_type":"Bearer","expires_in":3600}',
};
/** Accepts every credential except one. */
const provider = createServer((request, response) => {
  if (request.url === '/oauth') return void response.writeHead(exchange.status).end(exchange.body);
  response.writeHead(JSON.stringify(request.headers).includes(BAD) ? 401 : 200).end('{"data":[]}');
});
const options = { providers: { openai: '', anthropic: { baseUrl: '', origins: {}, tokenUrls: { federation: '' } } } };
beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  options.providers.openai = origin;
  options.providers.anthropic = { baseUrl: origin, origins: {}, tokenUrls: { federation: `${origin}/oauth` } };
});
const dashboard = useDashboard(options);
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});

async function ownerWithAccount() {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, session, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const agentId: string = (await call('POST', '/v1/agents', { projectId, name: 'Support bot' })).body.agent.id;
  const assign = async (providerSlug: string) => {
    const body = { agentId, providerSlug, credentials: { apiKey: GOOD } };
    expect((await call('POST', '/v1/providers/accounts', body)).status).toBe(201);
  };
  await assign('openai');
  return { visitor, call, assign };
}

test('tests, rotates and removes a stored credential without leaking it into the page', async () => {
  const { visitor, call } = await ownerWithAccount();
  const { page } = visitor;
  await visitor.gotoAndCheck('/providers', 'providers');
  await page.getByRole('button', { name: 'Test Support bot at OpenAI' }).click();
  await page.getByText(/The provider accepted the credential/).waitFor();

  await page.getByRole('button', { name: 'Rotate Support bot at OpenAI' }).click();
  await page.getByLabel('API key').fill(BAD);
  await page.getByRole('button', { name: 'Test and store' }).click();
  await page.getByText(/rejects this credential/).waitFor({ timeout: 15000 });
  await visitor.checkPage('providers-rotate');
  await page.getByLabel('API key').fill(BETTER);
  await page.getByRole('button', { name: 'Test and store' }).click();
  await page.getByText(/Rotation started/).waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  const kept = await page.evaluate(
    'document.documentElement.outerHTML + JSON.stringify([localStorage, sessionStorage])',
  );
  for (const key of [GOOD, BETTER, BAD]) expect(`${kept} ${page.url()}`).not.toContain(key);

  await page.getByRole('button', { name: 'Remove Support bot at OpenAI' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove account' }).click();
  await page.getByText('No accounts yet').waitFor();
  expect((await call('GET', '/v1/providers/accounts')).body.total).toBe(0);
});

test('adds an account without a secret by its instructions, and tests each step of the exchange', async () => {
  const { visitor, call } = await ownerWithAccount();
  const { page } = visitor;
  await visitor.goto('/providers');
  await page.getByRole('button', { name: 'Add account' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add account' });
  await dialog.getByRole('combobox', { name: 'Agent' }).fill('support');
  await page.getByRole('option', { name: 'Support bot' }).click();
  await dialog.getByRole('combobox', { name: 'Provider' }).click();
  await page.getByRole('listbox').getByRole('option', { name: 'Anthropic' }).click();
  await dialog.getByLabel('Kind of credential').selectOption('federation');
  await dialog.getByText(/Audience of the rule: https:\/\/api\.anthropic\.com/).waitFor();
  await visitor.checkPage('providers-account-new-without-secret');
  await dialog.getByLabel('Federation rule ID').fill('fdrl_01Abc');
  await dialog.getByLabel('Organization ID').fill('0199a0f2-7c3d-7e41-9f5a-0123456789ab');
  await dialog.getByLabel('Service account ID').fill('svac_01Abc');
  await dialog.getByRole('button', { name: 'Test and add' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page
    .getByRole('row', { name: /Support bot.*Anthropic/ })
    .getByRole('link')
    .click();
  await page.getByText(/This account holds no secret/).waitFor();
  const steps = page.getByRole('list', { name: 'Steps of the test' });
  await page.getByRole('button', { name: 'Test each step' }).click();
  await steps.getByText('passed').nth(1).waitFor();
  await visitor.checkPage('providers-account-without-secret');
  exchange = { status: 401, body: '{"type":"error","error":{"type":"authentication_error"}}' };
  await page.getByRole('button', { name: 'Test each step' }).click();
  await steps.getByText('failed').waitFor();
  await steps.getByText(/authentication_error/).waitFor();
  expect(await steps.getByText('passed').count()).toBe(0);
  await visitor.checkPage('providers-account-without-secret-failed');
  const { accounts } = (await call('GET', '/v1/providers/accounts')).body;
  expect(accounts.map(({ providerSlug }: { providerSlug: string }) => providerSlug).sort()).toEqual([
    ...['anthropic', 'openai'],
  ]);
});

test('creates a custom provider with a preview, and asks for new credentials after its host changed', async () => {
  const { visitor, call, assign } = await ownerWithAccount();
  const { page } = visitor;
  const { openai: origin } = options.providers;
  await visitor.goto('/providers?tab=catalogue');
  await page.getByText('No custom providers yet').waitFor();
  await page.getByRole('button', { name: 'New provider' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('In-house');
  await page.getByLabel('Slug').fill('inhouse');
  await page.getByLabel('Base URL').fill(`${origin}/v1/`);
  await page.getByLabel('Authentication').selectOption('query');
  await page.getByLabel('Parameter name').fill('api_key');
  await page.getByLabel('Preview').getByText(`GET ${origin}/v1/items?api_key=<API key>`).waitFor();
  await page.getByLabel('Authentication').selectOption('header');
  await page.getByLabel('Header name').fill('X-Api-Token');
  await page.getByLabel('Prefix').fill('Token ');
  await page.getByLabel('Preview').getByText('x-api-token: Token <API key>').waitFor();
  await visitor.checkPage('providers-new');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('In-house saved').waitFor();
  const [made] = (await call('GET', '/v1/custom-providers')).body.providers;
  expect(made).toMatchObject({ slug: 'inhouse', authType: 'header', authName: 'X-Api-Token', authPrefix: 'Token ' });
  await visitor.gotoAndCheck('/providers?tab=catalogue', 'providers-catalogue');

  await assign('inhouse');
  await page.getByRole('button', { name: 'Edit In-house' }).click();
  await page.getByLabel('Base URL').fill(`${origin.replace('127.0.0.1', '127.0.0.2')}/v1`);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: 'Accounts' }).click();
  await page.getByText('Accounts that need a credential: 1').waitFor();
  await visitor.gotoAndCheck('/providers', 'providers-needs-credentials');
  await page.getByLabel('Credential', { exact: true }).selectOption('needs_credentials');
  await page.getByRole('cell', { name: 'OpenAI', exact: true }).waitFor({ state: 'detached' });
  expect(page.url()).toContain('status=needs_credentials');
  await page.goBack();
  await page.getByRole('cell', { name: 'OpenAI', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Enter credential of Support bot at In-house' }).click();
  await page.getByLabel('API key').fill(BETTER);
  await page.getByRole('button', { name: 'Test and store' }).click();
  await page.getByText('Accounts that need a credential: 1').waitFor({ state: 'detached' });

  await page.getByRole('tab', { name: 'Catalogue' }).click();
  await page.getByRole('button', { name: 'Delete In-house' }).click();
  await page.getByLabel('Type “inhouse” to confirm').fill('inhouse');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete provider' }).click();
  await page.getByText('No custom providers yet').waitFor();
  expect((await call('GET', '/v1/providers/accounts')).body.total).toBe(1);
});

test('stores a shared credential once, assigns it to several agents and rotates it for all', async () => {
  const { visitor, call } = await ownerWithAccount();
  const { page } = visitor;
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  for (const name of ['Crawler', 'Writer']) await call('POST', '/v1/agents', { projectId, name });
  await visitor.goto('/providers?tab=shared');
  await page.getByText('No shared credentials yet').waitFor();
  await page.getByRole('button', { name: 'New shared credential' }).click();
  await page.getByLabel('Name').fill('Team key');
  await page.getByLabel('API key').fill(BAD);
  await page.getByRole('button', { name: 'Test and store' }).click();
  await page.getByText(/rejects this credential/).waitFor({ timeout: 15000 });
  await visitor.checkPage('providers-shared-new');
  await page.getByLabel('API key').fill(GOOD);
  await page.getByRole('button', { name: 'Test and store' }).click();

  const drawer = page.getByRole('dialog', { name: 'Team key' });
  const choose = async (name: string): Promise<void> => {
    await drawer.getByRole('combobox', { name: 'Share with' }).fill(name);
    await page.getByRole('option', { name }).click();
    await drawer.getByRole('button', { name: 'Share' }).click();
  };
  await choose('Crawler');
  await drawer.getByText('Used by 1 agent').waitFor();
  visitor.expectHttpError(409, /\/v1\/providers\/accounts$/);
  await choose('Support bot');
  await drawer.getByText(/The agent has an account with openai already/).waitFor();
  await visitor.checkPage('providers-shared-agents');
  expect(page.url()).toContain('credential=');
  await drawer.getByRole('button', { name: 'Close' }).click();
  await drawer.waitFor({ state: 'detached' });

  // A new account offers the shared credential.
  await page.getByRole('tab', { name: 'Accounts' }).click();
  await page.getByRole('button', { name: 'Add account' }).click();
  await page.getByRole('combobox', { name: 'Agent' }).fill('Writer');
  await page.getByRole('option', { name: 'Writer' }).click();
  await page.getByLabel('Credential', { exact: true }).last().selectOption({ label: 'Shared: Team key' });
  await visitor.checkPage('providers-account-new');
  await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('row', { name: /Writer.*Stored.*Team key/ }).waitFor();
  const accounts = page.getByRole('table', { name: 'Accounts' }).getByRole('row');
  await page.getByRole('button', { name: 'Agent', exact: true }).click();
  await page
    .getByRole('columnheader', { name: 'Agent', exact: true })
    .and(page.locator('[aria-sort="ascending"]'))
    .waitFor();
  const agents = async () => (await accounts.allTextContents()).slice(1).map((text) => /^[A-Z]\w+/.exec(text)?.[0]);
  await expect.poll(agents).toEqual(['Crawler', 'Support', 'Writer'].map((name) => expect.stringContaining(name)));
  await page.getByRole('button', { name: 'Agent', exact: true }).click();
  await expect.poll(agents).toEqual(['Writer', 'Support', 'Crawler'].map((name) => expect.stringContaining(name)));
  await page.getByLabel('Provider', { exact: true }).selectOption('Anthropic');
  await page.getByText('Nothing matches these filters').waitFor();
  expect(page.url()).toContain('provider=anthropic');
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await accounts.nth(1).waitFor();
  await visitor.checkPage('providers-accounts');

  await page.getByRole('tab', { name: 'Shared credentials' }).click();
  await page.getByRole('row', { name: /Team key.*2 agents/ }).waitFor();
  await visitor.checkPage('providers-shared');
  expect(await page.getByRole('button', { name: 'Delete Team key' }).getAttribute('title')).toContain(
    'Agents use this credential',
  );
  await page.getByRole('button', { name: 'Test Team key' }).click();
  await page.getByText(/The provider accepted the credential/).waitFor();
  await page.getByRole('button', { name: 'Rotate Team key' }).click();
  await page.getByText('2 agents use the new credential').waitFor();
  await page.getByLabel('API key').fill(BETTER);
  await page.getByRole('button', { name: 'Test and store' }).click();
  await page.getByText('Rotation of Team key started').waitFor();
  const kept = await page.evaluate(
    'document.documentElement.outerHTML + JSON.stringify([localStorage, sessionStorage])',
  );
  for (const key of [GOOD, BETTER, BAD]) expect(`${kept} ${page.url()}`).not.toContain(key);

  await page.getByRole('link', { name: 'Team key' }).click();
  for (const name of ['Crawler', 'Writer']) {
    await drawer.getByRole('button', { name: `Remove from ${name}` }).click();
    await drawer.getByRole('link', { name }).waitFor({ state: 'detached' });
  }
  await drawer.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Delete Team key' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete credential' }).click();
  await page.getByText('No shared credentials yet').waitFor();
});

test('adds an account for any agent and shows errors at the credential field', async () => {
  const { visitor, call } = await ownerWithAccount();
  const { page } = visitor;
  await visitor.goto('/providers');
  await page.getByRole('button', { name: 'Add account' }).click();
  await page.getByRole('combobox', { name: 'Agent' }).click();
  await page.getByRole('option', { name: 'Support bot' }).click();
  await page.getByLabel('API key').fill(GOOD);
  visitor.expectHttpError(409, /\/v1\/providers\/accounts$/);
  await page.getByRole('button', { name: 'Test and add' }).click();
  await page.getByText(/The agent has an account with openai already/).waitFor();
  visitor.expectHttpError(400, /\/v1\/providers\/accounts\/test$/);
  await page.getByLabel('API key').fill('short');
  await page.getByRole('button', { name: 'Test and add' }).click();
  await page.getByText('API key must have at least 8 characters').waitFor();
  expect(await page.getByLabel('API key').getAttribute('aria-invalid')).toBe('true');
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect((await call('GET', '/v1/providers/accounts')).body.total).toBe(1);
});

test('shows, holds open and closes breakers, and tells a viewer why they are read-only', async () => {
  const { visitor, call } = await ownerWithAccount();
  await visitor.gotoAndCheck('/providers?tab=circuits', 'providers-circuits');
  const { page } = visitor;
  await page.getByText('Closed (calls pass)').waitFor();
  const close = page.getByRole('button', { name: 'Close OpenAI' });
  expect(await close.getAttribute('title')).toBe('The breaker is already closed.');
  await page.getByRole('button', { name: 'Hold open OpenAI' }).click();
  await page.getByRole('button', { name: 'Hold open for 1 hour' }).click();
  await page.getByText('held open by an admin or the operator').waitFor();
  expect((await call('GET', '/v1/circuits')).body.circuits).toMatchObject([{ state: 'OPEN', reason: 'held' }]);
  await close.click();
  await page.getByText('Closed (calls pass)').waitFor();

  const email = `${crypto.randomUUID()}@example.com`;
  const password = 'another good passphrase';
  const invited = await call('POST', '/v1/members', { email, role: 'viewer' });
  const token = invited.body.invitationUrl.split('#token=')[1];
  await dashboard().stack.call('POST', '/v1/invitations/accept', null, { token, name: 'Vera Viewer', password });
  const viewer = await dashboard().openBrowserUser();
  await viewer.logIn(email, password);
  await viewer.goto('/providers');
  const rotate = viewer.page.getByRole('button', { name: 'Rotate Support bot at OpenAI' });
  expect(await rotate.getAttribute('aria-disabled')).toBe('true');
  expect(await rotate.getAttribute('title')).toContain('requires the role admin');
  await viewer.goto('/providers?tab=circuits');
  const hold = viewer.page.getByRole('button', { name: 'Hold open OpenAI' });
  expect(await hold.getAttribute('title')).toContain('requires the role admin');
  await viewer.goto('/providers?tab=catalogue');
  const add = viewer.page.getByRole('button', { name: 'New provider' });
  expect(await add.getAttribute('aria-disabled')).toBe('true');
});

test('shows the price of a model and its source', async () => {
  const { visitor } = await ownerWithAccount();
  await visitor.gotoAndCheck('/providers?tab=prices&model=claude-opus-5-5', 'prices');
  const { page } = visitor;
  const row = page.getByRole('row').filter({ hasText: /^Anthropic\s*claude-opus-5-5\s*\$/ });
  await row.getByText('Price library').waitFor();
  expect(await row.innerText()).toMatch(/\$4\.00\b.*\$0\.20\b.*\$20\.00\b/s);
  await page.getByLabel('Source').selectOption('file');
  await page.getByText('No model matches').waitFor();
});
