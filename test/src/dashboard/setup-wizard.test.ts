/** The setup wizard, from sign-up to the first call, on the whole gateway with a stand-in provider. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../fixtures/free-port.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { blockRequests, useDashboard } from './dashboard-fixture.js';

const CLICKS_MAX = 12;
const openai = new OpenAiStandIn();
/** The page shows the data plane's address before the data plane listens on it. */
const agentPort = await freePort();
const home = mkdtempSync(join(tmpdir(), 'acg-setup-'));
const providersFile = join(home, 'providers.json');
beforeAll(async () => {
  await openai.start();
  const standIn = { baseUrl: openai.origin, standInCredentials: { apiKey: PROVIDER_CREDENTIALS.openai } };
  writeFileSync(providersFile, JSON.stringify({ openai: standIn }));
});
const dashboard = useDashboard({
  env: { DATAPLANE_PUBLIC_URL: `http://127.0.0.1:${agentPort}`, PROVIDERS_FILE: providersFile },
});
beforeAll(async () => {
  await dashboard().stack.addDataPlane({ DATAPLANE_PORT: String(agentPort) });
});
afterAll(async () => {
  await openai.close();
  rmSync(home, { recursive: true, force: true });
});

test('leads from sign-up to the first call in at most 12 clicks', async () => {
  const visitor = await dashboard().openBrowserUser();
  const { page } = visitor;
  let clicks = 0;
  const click = async (name: string | RegExp): Promise<void> => {
    clicks++;
    await page.getByRole('button', { name }).click();
  };
  await visitor.goto('/sign-up');
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('Organization').fill('Acme');
  await page.getByLabel('E-mail').fill(`${crypto.randomUUID()}@example.com`);
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
  await click('Sign up');

  await page.getByLabel('Name', { exact: true }).fill('Support bot');
  await visitor.checkPage('setup-name');
  await click('Create agent');

  await page.getByLabel('API key').fill('sk-not-the-right-one');
  await click('Test and store');
  await page.getByText(/rejects this credential/).waitFor();
  await visitor.checkPage('setup-provider');
  await page.getByLabel('API key').fill(PROVIDER_CREDENTIALS.openai);
  await click('Test and store');

  await click('Create token');
  const token = (await page.locator('[data-secret]').textContent())!;
  expect(token).toMatch(/^acg_[0-9a-f]+$/);
  const snippet = (await page.getByLabel('curl', { exact: true }).last().textContent())!;
  expect(snippet).toContain(`curl http://127.0.0.1:${agentPort}/v1/proxy/openai/v1/chat/completions`);
  expect(snippet).toContain(token);
  await visitor.checkPage('setup-token');
  await click('I stored it, continue');
  await page.getByText('Waiting for the first call').waitFor();
  await visitor.checkPage('setup-waiting');

  // The agent sends the exact call that the page shows.
  const [, url, body] = /curl (\S+)[\s\S]*-d '(.*)'$/.exec(snippet)!;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  expect((await fetch(url!, { method: 'POST', headers, body: body! })).status).toBe(200);
  await page.getByText('First call received: 200').waitFor();
  await visitor.checkPage('setup-done');
  expect(clicks).toBeLessThanOrEqual(CLICKS_MAX);

  await page.reload();
  await visitor.waitUntilLoaded();
  expect(await page.content()).not.toContain(token);

  // The cost of the first call is the longest figure possible.
  await visitor.goto('/');
  await page.getByLabel('This month').getByText('< $0.0001').waitFor();
  await visitor.checkPage('overview-first-call');
});

test('moves the focus to each step for keyboard users', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  const focused = () => page.evaluate<string>('document.activeElement.textContent');
  const press = (name: string) => page.getByRole('button', { name }).press('Enter');
  await visitor.goto('/setup');
  await page.getByLabel('Name', { exact: true }).fill('Keys only');
  await page.getByLabel('Name', { exact: true }).press('Enter');
  await expect.poll(focused).toBe('Add a provider credential');
  await press('Use the stand-in provider');
  await expect.poll(focused).toBe('Create a gateway token');
  await press('Create token');
  await expect.poll(focused).toMatch(/^acg_[0-9a-f]+$/);
  const token = await focused();
  await press('I stored it, continue');
  await expect.poll(focused).toBe('Make the first call');

  // The arriving call removes the focused button.
  await page.getByRole('button', { name: 'Copy without token' }).focus();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${agentPort}/v1/proxy/openai/v1/chat/completions`;
  const body = JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello' }] });
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200);
  await expect.poll(focused).toBe('Open the dashboard');
});

test('continues an unfinished setup and explains a rejected call', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const projects = await stack.call('GET', '/v1/projects', session);
  const projectId: string = projects.body.projects[0].id;
  const made = await stack.call('POST', '/v1/agents', session, { projectId, name: 'Left behind' });
  await visitor.goto('/setup');
  await page.getByLabel('API key').waitFor();

  const key = await stack.call('POST', '/v1/api-keys', session, { name: 'k', agentId: made.body.agent.id });
  await page.getByRole('button', { name: 'Open: Make the first call' }).click();
  await page.getByText('Waiting for the first call').waitFor();
  const answer = await fetch(`http://127.0.0.1:${agentPort}/v1/proxy/openai/v1/models`, {
    headers: { authorization: `Bearer ${key.body.secretKey}` },
  });
  expect(answer.status).toBe(403);
  await page.getByText('The provider is not assigned to the agent.').waitFor();
  await page.getByText('Your call reached the gateway and was rejected').waitFor();
  await visitor.checkPage('setup-refused');

  // After the suggested fix, the same call passes.
  await page.getByRole('button', { name: 'Add provider' }).click();
  await page.getByRole('button', { name: 'Use the stand-in provider' }).click();
  // The open step closes when the account exists, which moves the next button: a click before would miss it.
  await page.getByRole('button', { name: 'Create token' }).waitFor();
  await page.getByRole('button', { name: 'Open: Make the first call' }).click();
  await page.getByText('An earlier call reached the gateway and was rejected').waitFor();
  const again = () =>
    fetch(`http://127.0.0.1:${agentPort}/v1/proxy/openai/v1/models`, {
      headers: { authorization: `Bearer ${key.body.secretKey}` },
    });
  await expect.poll(async () => (await again()).status).toBe(200);
  await page.getByText('First call received: 200').waitFor();
});

test('offers the stand-in provider, and common causes after waiting for 20 s', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  await page.clock.install();
  await visitor.goto('/setup');
  await page.getByLabel('Name', { exact: true }).fill('Trial bot');
  await page.getByRole('button', { name: 'Create agent' }).click();
  await page.getByRole('button', { name: 'Use the stand-in provider' }).click();
  await page.getByRole('button', { name: 'Create token' }).click();
  const token = (await page.locator('[data-secret]').textContent())!;
  await page.getByRole('button', { name: 'I stored it, continue' }).click();
  await page.getByText('Waiting for the first call').waitFor();
  const causes = page.getByText('No call yet? Three common causes');
  expect(await causes.count()).toBe(0);
  await page.clock.fastForward(21_000);
  await causes.waitFor();
  await visitor.checkPage('setup-causes');
  const answer = await fetch(`http://127.0.0.1:${agentPort}/v1/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'hi' }] }),
  });
  expect(answer.status).toBe(200);
  await page.getByText('First call received: 200').waitFor();
});

test('reports a call with the shown token before the user continues, and keeps the token', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  await visitor.goto('/setup');
  await page.getByLabel('Name', { exact: true }).fill('Eager bot');
  await page.getByRole('button', { name: 'Create agent' }).click();
  await page.getByRole('button', { name: 'Use the stand-in provider' }).click();
  await page.getByRole('button', { name: 'Create token' }).click();
  const token = (await page.locator('[data-secret]').textContent())!;
  const response = await fetch(`http://127.0.0.1:${agentPort}/v1/proxy/openai/v1/models`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(response.status).toBe(200);
  await page.getByText('First call received: 200').waitFor();
  expect(await page.locator('[data-secret]').textContent()).toBe(token);
});

test('creates only one token on a double click', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const projectId: string = (await stack.call('GET', '/v1/projects', session)).body.projects[0].id;
  await stack.call('POST', '/v1/agents', session, { projectId, name: 'Support bot' });
  await visitor.goto('/setup');
  await page.getByRole('button', { name: 'Open: Create a gateway token' }).click();
  const making = await blockRequests(page, '**/v1/api-keys');
  await page.getByRole('button', { name: 'Create token' }).dblclick();
  making();
  const token = (await page.locator('[data-secret]').textContent())!;
  const { keys } = (await stack.call('GET', '/v1/api-keys', session)).body;
  expect(keys.map((key: { keyPrefix: string }) => token.startsWith(key.keyPrefix))).toEqual([true]);
});
