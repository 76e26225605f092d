/** The agents list and the agent page: create, limit, pause, revoke, delete, and bulk actions. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openPool } from '@acg/controlplane/db/postgres-client';
import { expect, test } from 'vitest';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();

async function ownerWithAgents(names: readonly string[]) {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, session, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const ids: string[] = [];
  for (const name of names) {
    const made = await call('POST', '/v1/agents', { projectId, name, budgetCentsMonthly: 5_000 });
    ids.push(made.body.agent.id);
  }
  return { visitor, call, ids, session };
}

test('shows the empty list and the no-match state, finds agents by name, and undoes filters with the back button', async () => {
  const { visitor } = await ownerWithAgents([]);
  await visitor.gotoAndCheck('/agents', 'agents-empty');
  const full = await ownerWithAgents(['Support bot', 'Crawler']);
  const { page } = full.visitor;
  await full.visitor.gotoAndCheck('/agents', 'agents');
  await page.getByLabel('Search agents').fill('no such agent');
  await page.getByText('Nothing matches these filters').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('link', { name: 'Crawler' }).waitFor();
  await page.getByRole('combobox', { name: 'Status' }).click();
  await page.getByRole('option', { name: 'paused' }).click();
  await page.getByText('Nothing matches these filters').waitFor();
  expect(page.url()).toContain('status=paused');
  await page.goBack();
  await page.getByRole('link', { name: 'Crawler' }).waitFor();
});

test('keeps lists within their width with a long name without spaces', async () => {
  const { visitor, call, ids } = await ownerWithAgents(['x'.repeat(100)]);
  const { page } = visitor;
  await call('POST', '/v1/api-keys', { name: 'first', agentId: ids[0] });
  const account = { providerSlug: 'openai', credentials: { apiKey: 'sk-1234567890abcdef1234' } };
  await call('POST', '/v1/providers/accounts', { agentId: ids[0], ...account });
  for (const [path, label] of [
    ['/agents', 'Agents'],
    ['/keys', 'Gateway tokens'],
    ['/providers', 'Accounts'],
  ] as const) {
    await visitor.goto(path);
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 900 });
      const name = page.getByText('x'.repeat(100)).first();
      await name.waitFor();
      const room = page.getByRole('region', { name: label }).or(page.getByRole('list', { name: label }));
      const beyond = (): Promise<number> =>
        room.evaluate((box) => {
          const { scrollWidth, clientWidth } = box as unknown as { scrollWidth: number; clientWidth: number };
          return scrollWidth - clientWidth;
        });
      // The layout follows the new viewport width with a delay.
      await expect.poll(beyond, { message: `${path} at ${width}` }).toBeLessThanOrEqual(0);
    }
  }
});

test('creates an agent in one dialog and shows its token only once', async () => {
  const { visitor } = await ownerWithAgents([]);
  const { page } = visitor;
  await visitor.goto('/agents');
  await page.getByRole('button', { name: 'New agent' }).first().click();
  await page.getByLabel('Name').fill('Billing bot');
  await page.getByLabel('Monthly budget (USD)').fill('12.50');
  await visitor.checkPage('agent-new');
  await page.getByRole('button', { name: 'Create agent' }).click();
  const token = (await page.locator('[data-secret]').textContent())!;
  await visitor.checkPage('agent-new-token');
  await page.keyboard.press('Escape');
  expect(await page.locator('[data-secret]').textContent()).toBe(token); // Escape does not close the dialog
  await page.getByRole('button', { name: 'I stored it' }).click();
  await page.getByRole('heading', { name: 'Billing bot' }).waitFor();
  await page.reload();
  await visitor.waitUntilLoaded();
  expect(await page.content()).not.toContain(token);
  expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage, location.href])')).not.toContain(token);
});

test('an agent created without a budget gets the default of its project', async () => {
  const { visitor, call } = await ownerWithAgents([]);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  await call('PATCH', `/v1/projects/${projectId}`, { agentDefaults: { budgets: [{ window: 'day', cents: 700 }] } });
  const { page } = visitor;
  await visitor.goto('/agents');
  await page.getByRole('button', { name: 'New agent' }).first().click();
  await page.getByLabel('Name').fill('Defaulted');
  await page.getByRole('button', { name: 'Create agent' }).click();
  await page.locator('[data-secret]').waitFor();
  const { id } = (await call('GET', `/v1/agents?projectId=${projectId}`)).body.agents[0];
  expect((await call('GET', `/v1/agents/${id}`)).body.agent.budgets).toMatchObject([{ window: 'day', cents: 700 }]);
});

test('preselects no project of several, because an agent cannot be moved', async () => {
  const { visitor, call } = await ownerWithAgents([]);
  const { page } = visitor;
  await call('POST', '/v1/projects', { name: 'Crawlers' });
  await visitor.goto('/agents');
  await page.getByRole('button', { name: 'New agent' }).first().click();
  await page.getByLabel('Name').fill('Placed');
  await page.getByRole('button', { name: 'Create agent' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Select a project').last().waitFor();
  await dialog.getByRole('combobox', { name: 'Project' }).click();
  await page.getByRole('option', { name: 'Crawlers' }).click();
  await page.getByRole('button', { name: 'Create agent' }).click();
  await page.getByRole('button', { name: 'I stored it' }).click();
  await page.getByRole('link', { name: 'Crawlers' }).waitFor();
});

test('renders every tab of the agent page accessibly', async () => {
  const { visitor, call, ids } = await ownerWithAgents(['Support bot']);
  await call('POST', '/v1/api-keys', { name: 'production', agentId: ids[0] });
  for (const tab of ['overview', 'calls', 'keys', 'providers', 'limits', 'connect']) {
    await visitor.gotoAndCheck(`/agents/${ids[0]}?tab=${tab}`, `agent-${tab}`);
  }
});

test('saves limits and shows the API error at its field', async () => {
  const { visitor, call, ids } = await ownerWithAgents(['Support bot']);
  const { page } = visitor;
  await visitor.goto(`/agents/${ids[0]}?tab=limits`);
  visitor.expectHttpError(400, /\/v1\/agents\//);
  const perMinute = page.getByRole('textbox', { name: 'Requests per minute' });
  await page.getByLabel('Monthly budget (USD)').fill('7.50');
  await perMinute.fill('2000000');
  await page.getByRole('button', { name: 'Save limits' }).click();
  await page.getByText('Requests per minute must be at most 1000000').waitFor();
  await expect.poll(() => perMinute.getAttribute('aria-invalid')).toBe('true');
  await perMinute.fill('5');
  await page.getByRole('button', { name: 'Save limits' }).click();
  await page.getByText('Limits saved').waitFor();
  const { agent } = (await call('GET', `/v1/agents/${ids[0]}`)).body;
  expect([agent.budgetCentsMonthly, agent.rpmLimit]).toEqual([750, 5]);
});

test('a hard budget that was in audit mode is hard again', async () => {
  const { visitor, call, ids } = await ownerWithAgents(['Support bot']);
  const path = `/v1/agents/${ids[0]}`;
  await call('PATCH', path, { budgetMode: 'hard' });
  await visitor.goto(`/agents/${ids[0]}?tab=limits`);
  const mode = visitor.page.getByRole('region', { name: 'Audit mode' }).getByLabel('Monthly budget');
  for (const value of ['audit', 'hard']) {
    await mode.selectOption(value);
    await expect.poll(async () => (await call('GET', path)).body.agent.budgets[0].mode).toBe(value);
    await expect.poll(() => mode.inputValue()).toBe(value);
  }
  expect((await call('GET', path)).body.agent.budgetMode).toBe('hard');
});

test('shows each agent its own limits after going back over several pages', async () => {
  const { visitor, call, ids } = await ownerWithAgents(['Support bot', 'Crawler']);
  const { page } = visitor;
  await call('PATCH', `/v1/agents/${ids[0]}`, { budgetCentsMonthly: 1_100 });
  const budget = page.getByLabel('Monthly budget (USD)');
  await visitor.goto(`/agents/${ids[0]}?tab=limits`);
  await expect.poll(() => budget.inputValue()).toBe('$11.00');
  await page.getByRole('link', { name: 'All agents' }).click();
  await page.getByRole('link', { name: 'Crawler' }).click();
  await page.getByRole('tab', { name: 'Limits' }).click();
  await expect.poll(() => budget.inputValue()).toBe('$50.00');
  await page.evaluate('history.go(-3)');
  await page.getByRole('heading', { name: 'Support bot' }).waitFor();
  await expect.poll(() => budget.inputValue()).toBe('$11.00');
});

test('pauses with one click, undoes it, and deletes after the name was typed', async () => {
  const { visitor, call, ids } = await ownerWithAgents(['Support bot']);
  const { page } = visitor;
  const status = async () => (await call('GET', `/v1/agents/${ids[0]}`)).body.agent.status;
  // The undo toast closes after 8 s, which a slow machine may exceed; its timer closes at once.
  await page.addInitScript(`{
    const { setTimeout } = globalThis;
    globalThis.setTimeout = (work, ms, ...more) => (ms === 8_000 ? 0 : setTimeout(work, ms, ...more));
  }`);
  await visitor.goto(`/agents/${ids[0]}`);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Support bot paused').waitFor();
  expect(await status()).toBe('paused');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Support bot resumed').waitFor();
  expect(await status()).toBe('active');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await visitor.checkPage('agent-paused');

  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete Support bot' });
  expect(await dialog.getByRole('button', { name: 'Delete agent' }).isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill('Support bot');
  await dialog.getByRole('button', { name: 'Delete agent' }).click();
  await page.getByText('No agents yet').waitFor();
});

test('revokes after the name was typed and resumes after a confirmation', async () => {
  const { visitor, call, ids } = await ownerWithAgents(['Support bot']);
  const { page } = visitor;
  const status = async () => (await call('GET', `/v1/agents/${ids[0]}`)).body.agent.status;
  await visitor.goto(`/agents/${ids[0]}`);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  const revoke = page.getByRole('dialog', { name: 'Revoke Support bot' });
  await revoke.getByText('until an admin resumes it').waitFor();
  await revoke.getByRole('textbox').fill('Support bot');
  await revoke.getByRole('button', { name: 'Revoke agent' }).click();
  await page.getByRole('button', { name: 'Resume…' }).click();
  const resume = page.getByRole('dialog', { name: 'Resume Support bot' });
  await resume.getByText('This agent was revoked.').waitFor();
  expect(await status()).toBe('revoked');
  await visitor.checkPage('agent-revoked');
  await resume.getByRole('button', { name: 'Resume agent' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  expect(await status()).toBe('active');
});

test('pauses and resumes several agents and shows each result', async () => {
  const { visitor, call, ids } = await ownerWithAgents(['Support bot', 'Crawler', 'Old bot', 'Short lived']);
  const { page } = visitor;
  const status = async (i: number) => (await call('GET', `/v1/agents/${ids[i]}`)).body.agent.status;
  await call('PATCH', `/v1/agents/${ids[2]}/status`, { status: 'revoked' });
  await visitor.goto('/agents');
  await page.getByLabel('Select Crawler').check();
  await page.getByText('1 selected').waitFor();
  await page.getByLabel('Select all agents on this page').check();
  await page.getByText('4 selected').waitFor();
  await visitor.checkPage('agents-selected');
  await page.getByRole('button', { name: 'Pause' }).click();
  const dialog = page.getByRole('dialog', { name: 'Pause 4 agents' });
  await dialog.getByText('revoked, not changed').waitFor();
  await visitor.checkPage('agents-pause');
  await call('DELETE', `/v1/agents/${ids[3]}`); // deleted by another client while the dialog is open
  visitor.expectHttpError(404, /\/status$/);
  await dialog.getByRole('button', { name: 'Pause 3 agents' }).click();
  await dialog.getByText('2 of 3 paused, 1 failed.').waitFor();
  await dialog.getByText(/No such agent \(request [0-9a-f-]+\)/).waitFor();
  await visitor.checkPage('agents-paused');
  expect([await status(0), await status(1), await status(2)]).toEqual(['paused', 'paused', 'revoked']);
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  await page.getByRole('row', { name: /Support bot.*paused/ }).waitFor();
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await page.getByText('selected').waitFor({ state: 'detached' });

  await page.getByLabel('Select Crawler').check();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Resume 1 agent' }).click();
  await page.getByText('1 of 1 resumed.').waitFor();
  expect([await status(0), await status(1)]).toEqual(['paused', 'active']);
});

test('sets the thresholds of several agents', async () => {
  const { visitor, call, ids } = await ownerWithAgents(['Support bot', 'Crawler']);
  const { page } = visitor;
  await visitor.goto('/agents');
  await page.getByLabel('Select all agents on this page').check();
  await page.getByRole('button', { name: 'Thresholds' }).click();
  const dialog = page.getByRole('dialog', { name: 'Budget thresholds for 2 agents' });
  await dialog.getByText('now 80% of $50.00').first().waitFor();
  const field = dialog.getByLabel('Percentages of the monthly budget');
  await field.fill('0');
  await page.keyboard.press('Enter');
  await dialog.getByText('Enter whole percentages from 1 to 1,000').waitFor();
  expect(await dialog.getByRole('button', { name: 'Set for 2 agents' }).isDisabled()).toBe(true);
  await page.keyboard.press('Backspace');
  await field.fill('50');
  await page.keyboard.press('Enter');
  await visitor.checkPage('agents-thresholds');
  await dialog.getByRole('button', { name: 'Set for 2 agents' }).click();
  await dialog.getByText('2 of 2 set.').waitFor();
  for (const id of ids) expect((await call('GET', `/v1/agents/${id}`)).body.agent.usageThresholds).toEqual([50, 80]);
});

test('finds each of 1,000 agents by page, by name and in the palette', async () => {
  const { visitor, call } = await ownerWithAgents([]);
  const { stack } = dashboard();
  const { page } = visitor;
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const first = await call('POST', '/v1/agents', { projectId, name: 'Agent 0000' });
  const sql = openPool(stack.database.url, { connectionsMax: 1, applicationName: 'test' });
  try {
    await sql`
      insert into agents (id, org_id, project_id, name, slug)
      select gen_random_uuid(), org_id, project_id, 'Agent ' || lpad(n::text, 4, '0'), 'agent-' || lpad(n::text, 4, '0')
        from agents, generate_series(1, 999) n where id = ${first.body.agent.id}`;
  } finally {
    await sql.end();
  }
  const requestedPaths: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/v1/usage/')) requestedPaths.push(new URL(request.url()).pathname);
  });
  await visitor.goto('/agents');
  expect(requestedPaths).toEqual(['/v1/usage/agents']); // one request delivers figures, budgets and sparklines of a page
  await visitor.checkPage('agents-thousand');
  await page.getByText('1–25 of 1,000').waitFor();
  await page.getByRole('button', { name: 'Agents: page 40' }).click();
  await page.getByText('976–1,000 of 1,000').waitFor();
  await page.getByLabel('Search agents').fill('Agent 0777');
  await page.getByText('1–1 of 1').waitFor();
  await page.goBack();
  await page.getByText('1–25 of 1,000').waitFor();

  await page.keyboard.press('Control+k');
  await page.getByRole('textbox', { name: 'Search and commands' }).fill('agent-0421');
  await page
    .getByRole('button', { name: /Agent 0421/ })
    .or(page.getByRole('option', { name: /Agent 0421/ }))
    .first()
    .waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Agent 0421', level: 1 }).waitFor();
});

test('requests the agent of a filter once, and does not wait for the list of agents', async () => {
  const { visitor, ids } = await ownerWithAgents(['Crawler']);
  const { page } = visitor;
  const [id] = ids;
  for (const screen of ['/usage', '/calls']) {
    const named = new RegExp(`/v1/agents/${id}$`);
    const request = page.waitForRequest(named);
    let requests = 0;
    page.on('request', (sent) => void (named.test(sent.url()) && requests++));
    await page.route('**/v1/usage/agents?*', async (route) => {
      await request;
      await route.continue();
    });
    await visitor.goto(`${screen}?agent=${id}`);
    expect(await page.getByRole('combobox', { name: 'Agent', exact: true }).inputValue()).toBe('Crawler');
    expect(requests).toBe(1);
    await page.unroute('**/v1/usage/agents?*');
  }
});

test('lists the tools of an MCP server, and changes the policy with their switches', async () => {
  const tools = [
    { name: 'read_issue', description: 'Reads an issue.', annotations: { readOnlyHint: true } },
    { name: 'delete_issue', annotations: { destructiveHint: true } },
  ];
  const server = createServer((req, res) => {
    req.resume().on('end', () => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { visitor, call, ids } = await ownerWithAgents(['Support bot']);
    await call('POST', '/v1/custom-providers', {
      slug: 'our-mcp',
      displayName: 'Our MCP server',
      definition: {
        credentials: { kind: 'api_key', fields: [{ name: 'apiKey', label: 'Token', secret: true, required: true }] },
        origins: { default: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
        inject: [{ header: 'authorization', value: 'Bearer {apiKey}' }],
        usage: { format: 'mcp' },
      },
    });
    for (const [providerSlug, apiKey] of [
      ['our-mcp', 'server-token-0123'],
      ['openai', 'sk-1234567890abcdef1234'],
    ])
      await call('POST', '/v1/providers/accounts', { agentId: ids[0], providerSlug, credentials: { apiKey } });
    const { page } = visitor;
    await visitor.goto(`/agents/${ids[0]}?tab=providers`);
    await page.getByRole('button', { name: 'Tools' }).click();
    const dialog = page.getByRole('dialog', { name: 'Tools of Our MCP server' });
    const allowDelete = dialog.getByRole('switch', { name: 'Allow delete_issue' });
    await allowDelete.waitFor();
    expect(await allowDelete.isChecked()).toBe(true);
    await visitor.checkPage('agent-tools');
    await allowDelete.click({ force: true });
    const policyNow = async () => (await call('GET', `/v1/agents/${ids[0]}`)).body.agent.policy;
    await expect.poll(policyNow).toEqual({ 'our-mcp': { tools: { deny: ['delete_issue'] } }, openai: {} });
    await expect.poll(() => allowDelete.isChecked()).toBe(false);
    expect(await dialog.getByRole('switch', { name: 'Allow read_issue' }).isChecked()).toBe(true);
    await allowDelete.click({ force: true });
    await expect.poll(policyNow).toEqual({ 'our-mcp': { tools: {} }, openai: {} });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
