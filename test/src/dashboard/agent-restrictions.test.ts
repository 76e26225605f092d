/** What an agent may do, as people set it in the dashboard: policy, hard budget, sensitive calls, name. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();

async function ownerWithAgent() {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, session, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const created = await call('POST', '/v1/agents', { projectId, name: 'Support bot', budgetCentsMonthly: 5_000 });
  const id: string = created.body.agent.id;
  for (const providerSlug of ['openai', 'github']) {
    const credentials =
      providerSlug === 'openai' ? { apiKey: 'sk-1234567890abcdef1234' } : { apiKey: `ghp_${'a'.repeat(36)}` };
    const added = await call('POST', '/v1/providers/accounts', { agentId: id, providerSlug, credentials });
    expect(added.status, JSON.stringify(added.body)).toBe(201);
  }
  const agent = async () => (await call('GET', `/v1/agents/${id}`)).body.agent;
  return { visitor, page: visitor.page, call, id, agent };
}

/** Waits from before the click: the message is shown for four seconds, and on a busy machine a click takes longer. */
const savePolicy = (page: Page) =>
  Promise.all([page.getByText('Policy saved').waitFor(), page.getByRole('button', { name: 'Save policy' }).click()]);

test('restricts an agent to models and calls, and tells whether a call would pass before the policy is saved', async () => {
  const { visitor, page, id, agent } = await ownerWithAgent();
  await visitor.goto(`/agents/${id}?tab=policy`);
  await page.getByLabel('Restrict this agent').check();
  const openai = page.getByRole('region', { name: 'Policy for OpenAI' });
  await openai.getByLabel('Only these models').check();
  await openai.getByLabel('Allowed models').fill('gpt-5-*');
  await openai.getByLabel('Allowed models').press('Enter');
  const github = page.getByRole('region', { name: 'Policy for GitHub' });
  await github.getByLabel('Only these calls').check();
  await github.getByRole('button', { name: /read/i }).first().click();

  const checking = page.getByRole('region', { name: 'Would this call pass?' });
  await checking.getByRole('combobox', { name: 'Provider' }).click();
  await page.getByRole('option', { name: 'OpenAI' }).click();
  await checking.getByLabel('Call', { exact: true }).fill('POST /v1/chat/completions');
  await checking.getByLabel('Model (optional)').fill('gpt-4o');
  await checking.getByRole('button', { name: 'Check' }).click();
  await checking.getByText('Rejected: Denied model').waitFor();
  await checking.getByLabel('Model (optional)').fill('gpt-5-mini');
  await checking.getByRole('button', { name: 'Check' }).click();
  await checking.getByText('The call would pass').waitFor();
  expect((await agent()).policy).toBeNull();
  // The verdict is about the policy in the form, so a change removes it.
  await openai.getByLabel('Only these calls').check();
  await expect.poll(() => checking.getByText('The call would pass').count()).toBe(0);
  await openai.getByLabel('Only these calls').uncheck();
  await visitor.checkPage('agent-policy');

  await savePolicy(page);
  const { policy } = await agent();
  expect(policy.openai).toEqual({ models: { allow: ['gpt-5-*'] } });
  expect(policy.github.calls.length).toBeGreaterThan(0);

  await page.getByRole('link', { name: 'Restricted by a policy' }).waitFor();
  await page.reload();
  await page.getByLabel('Restrict this agent').uncheck();
  await page.getByRole('button', { name: 'Save policy' }).click();
  await expect.poll(async () => (await agent()).policy).toBeNull();
});

test('keeps the rules for tools that the form does not show', async () => {
  const { visitor, page, call, id, agent } = await ownerWithAgent();
  const policy = { 'github-mcp': { tools: { allow: ['get_*'] } } };
  expect((await call('PATCH', `/v1/agents/${id}`, { policy })).status).toBe(200);
  await visitor.goto(`/agents/${id}?tab=policy`);
  await savePolicy(page);
  expect((await agent()).policy).toEqual(policy);
});

test('makes the budget hard with its reservation, and leaves the default without the store', async () => {
  const { visitor, page, id, agent } = await ownerWithAgent();
  await visitor.goto(`/agents/${id}?tab=limits`);
  await page.getByLabel('Hard budget').check();
  await page.getByLabel('Reserved output tokens').fill('2000');
  await visitor.checkPage('agent-limits-hard');
  await page.getByRole('button', { name: 'Save limits' }).click();
  await page.getByText('Limits saved').waitFor();
  // `refuse` is the default of a hard budget: an explicit `allow` from the soft one would have stayed.
  expect(await agent()).toMatchObject({ budgetMode: 'hard', holdMaxOutputTokens: 2_000, onStoreLoss: 'refuse' });
  await page.getByRole('combobox', { name: 'If limits cannot be checked' }).click();
  await page.getByRole('option', { name: 'Allow calls' }).click();
  await page.getByRole('button', { name: 'Save limits' }).click();
  await expect.poll(async () => (await agent()).onStoreLoss).toBe('allow');
});

test('allows sensitive calls of one account, and renames the agent', async () => {
  const { visitor, page, call, id, agent } = await ownerWithAgent();
  await visitor.goto(`/agents/${id}?tab=providers`);
  await page
    .getByRole('row', { name: /OpenAI/ })
    .getByRole('button', { name: 'Calls…' })
    .click();
  await page.getByLabel('Allow sensitive calls').check();
  await visitor.checkPage('agent-account-calls');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('sensitive allowed').waitFor();
  const { accounts } = (await call('GET', `/v1/providers/accounts?agentId=${id}&providerSlug=openai`)).body;
  expect(accounts[0]).toMatchObject({ allowSensitivePaths: true, allowOpaque: false });

  await page.getByRole('button', { name: /More actions|Actions/ }).click();
  await page.getByRole('menuitem', { name: 'Edit name and description…' }).click();
  await page.getByLabel('Name').fill('Support agent');
  await page.getByLabel('Description (optional)').fill('Answers mails');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Support agent', exact: true }).waitFor();
  expect(await agent()).toMatchObject({ name: 'Support agent', description: 'Answers mails' });
});
