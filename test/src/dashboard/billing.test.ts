/** The Bill check page: an admin key, a check, its differences, and one that a person accepts. */
import { afterAll, beforeAll, test } from 'vitest';
import { BILLING_ADMIN_KEY, BillingReportsStandIn } from '../stand-in-providers/billing-reports.js';
import { useDashboard } from './dashboard-fixture.js';

const reports = new BillingReportsStandIn();
const options = { providers: { openai: '' } };
beforeAll(async () => {
  await reports.start();
  options.providers.openai = reports.origin;
});
const dashboard = useDashboard(options);
afterAll(() => reports.close());

test('stores an admin key, checks the bill, shows a leak and accepts the difference', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, session, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const agentId: string = (await call('POST', '/v1/agents', { projectId, name: 'Bot' })).body.agent.id;
  const credentials = { apiKey: 'sk-first-0123456789-0001' };
  await call('POST', '/v1/providers/accounts', { agentId, providerSlug: 'openai', credentials });
  reports.keys = [{ id: 'key_1', redacted: 'sk-fir***0001' }];
  const now = Date.now();
  const size = { input: 1_000_000, cacheRead: 0, output: 100_000 };
  const nanos = { input: 250_000_000, cacheRead: 0, output: 200_000_000 };
  reports.calls = [{ atMs: now - (now % 3_600_000), keyId: 'key_1', model: 'gpt-5-mini', ...size, nanos }];

  await visitor.gotoAndCheck('/billing', 'billing-empty');
  await page.getByRole('button', { name: 'New billing account' }).click();
  await page.getByLabel('Name').fill('Company account');
  await page.getByLabel('Admin key').fill(BILLING_ADMIN_KEY);
  await page.getByRole('button', { name: 'Store', exact: true }).click();
  await page.getByRole('row', { name: /Company account .*Not checked/ }).waitFor();
  await page.getByRole('button', { name: 'Check now Company account' }).click();
  await page.getByRole('row', { name: /Company account .*Used elsewhere/ }).waitFor();
  await page.getByLabel('Group by').selectOption('key');
  await page.getByRole('row', { name: /sk-fir\*\*\*0001 Used elsewhere \$0\.00 \$0\.45/ }).waitFor();
  await visitor.gotoAndCheck(page.url().slice(visitor.url.length), 'billing');

  await page.getByRole('button', { name: 'Accept Company account' }).click();
  await page.getByLabel('Reason').fill('A test of our own');
  await page.getByRole('button', { name: 'Accept difference' }).click();
  await page.getByRole('row', { name: /Company account .*Accepted/ }).waitFor();
  await page.getByText('A test of our own').waitFor();
  await page.getByRole('button', { name: 'Delete Company account' }).click();
  await page.getByRole('button', { name: 'Delete billing account' }).click();
  await page.getByText('No billing accounts yet').waitFor();
});
