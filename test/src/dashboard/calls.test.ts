/** The Calls page with live calls through a data plane. */

import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { noop } from '@acg/base/noop';
import { chatCompletion } from '@acg/stand-in-provider/openai-chat-bodies';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../fixtures/wait-until.js';
import { useDashboard } from './dashboard-fixture.js';

let provider: Server;
const answer = JSON.stringify(chatCompletion('gpt-5-mini', 'Hello'));
const providers: Record<string, string> = {};
beforeAll(async () => {
  provider = createServer((request, response) => {
    const fails = request.url?.includes('/broken') === true;
    request.resume().on('end', () => {
      response.writeHead(fails ? 500 : 200, { 'content-type': 'application/json' }).end(fails ? '{}' : answer);
    });
  });
  await new Promise<void>((done) => provider.listen(0, '127.0.0.1', done));
  providers.openai = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
});
afterAll(() => provider.close());
const dashboard = useDashboard({ providers });
let proxyUrl = '';
beforeAll(async () => {
  proxyUrl = (await dashboard().stack.addDataPlane()).url;
});

/** An owner in the browser, one agent, and a function that sends calls as this agent. */
async function scene() {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const login = await stack.call('POST', '/v1/auth/login', null, { email, password });
  const session: string = login.body.token;
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, session, body);
  const projectId = (await call('GET', '/v1/projects')).body.projects[0].id;
  const agentId = (await call('POST', '/v1/agents', { projectId, name: 'Support bot' })).body.agent.id;
  const credentials = { apiKey: 'sk-provider' };
  await call('POST', '/v1/providers/accounts', { agentId, providerSlug: 'openai', credentials });
  const token = (await call('POST', '/v1/api-keys', { name: 'key', agentId })).body.secretKey;
  const send = (path: string) =>
    fetch(`${proxyUrl}/v1/proxy/openai${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-5-mini', messages: [] }),
    });
  const { orgId } = (await call('GET', '/v1/me')).body;
  return { visitor, send, call, agentId, orgId };
}

test('shows new calls live, stops on pause, and opens the details of a call', async () => {
  const { visitor, send, agentId } = await scene();
  const { page } = visitor;
  await visitor.goto('/calls');
  await page.getByText('No calls yet').waitFor();
  expect((await send('/v1/chat/completions')).status).toBe(200);
  // No reload: the call appears by itself.
  const row = page.getByRole('row', { name: /Support bot.*\/v1\/chat\/completions.*200/ });
  await row.waitFor();
  expect((await send('/v1/broken')).status).toBe(500);
  await page.getByRole('row', { name: /\/v1\/broken.*500/ }).waitFor();
  await visitor.checkPage('calls');
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.getByLabel('Search', { exact: true }).isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByLabel('Search', { exact: true }).waitFor();
  await page.setViewportSize({ width: 1280, height: 900 });

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused').waitFor();
  await send('/v1/later');
  await page.getByRole('button', { name: 'Live' }).click();
  await page.getByRole('row', { name: /\/v1\/later/ }).waitFor();

  await row.getByRole('link').first().click();
  const drawer = page.getByRole('dialog', { name: 'Call' });
  await drawer.getByText('gpt-5-mini-2025-08-07').waitFor();
  await drawer.getByText('from cache').waitFor();
  expect(page.url()).toContain('call=');
  await visitor.checkPage('call');
  // The URL alone opens the same drawer.
  await page.reload();
  await drawer.getByText('gpt-5-mini-2025-08-07').waitFor();
  await drawer.getByRole('button', { name: 'Close' }).click();
  await drawer.waitFor({ state: 'detached' });

  // The agent's own page lists the same calls.
  await visitor.gotoAndCheck(`/agents/${agentId}?tab=calls`, 'agent-calls-some');
  await page.getByRole('row', { name: /\/v1\/broken.*500/ }).waitFor();
});

test('keeps filters in the URL and undoes them with the back button', async () => {
  const { visitor, send } = await scene();
  const { page } = visitor;
  await send('/v1/chat/completions');
  await send('/v1/broken');
  await visitor.goto('/calls');
  const broken = page.getByRole('row', { name: /\/v1\/broken/ });
  const whole = page.getByRole('row', { name: /\/v1\/chat\/completions/ });
  await broken.waitFor();
  await whole.waitFor();
  await page.getByLabel('Status').selectOption('5xx');
  await whole.waitFor({ state: 'detached' });
  await broken.waitFor();
  expect(page.url()).toContain('status=5xx');
  await page.goBack();
  await whole.waitFor();
  await page.getByLabel('Search', { exact: true }).fill('no-such-path');
  await page.getByText('Nothing matches these filters').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await broken.waitFor();
});

test('shows every filter as a chip that removes it, keeps times as instants, and exports the list', async () => {
  const { visitor, send, call, agentId } = await scene();
  const { page } = visitor;
  await send('/v1/chat/completions');
  await send('/v1/broken');
  await visitor.goto('/calls');
  const whole = page.getByRole('row', { name: /\/v1\/chat\/completions/ });
  await whole.getByRole('link').first().click();
  await page.getByRole('button', { name: 'Only this token' }).click();
  const chips = page.getByRole('group', { name: 'Active filters' });
  await chips.getByText('Gateway token: key').waitFor();
  await page.getByLabel('Cost').selectOption('from $10');
  await page.getByText('Nothing matches these filters').waitFor();
  await chips.getByRole('button', { name: /Cost from/ }).click();
  await whole.waitFor();

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('region', { name: 'Calls over time' }).waitFor();
  await page.getByLabel(/^From/).fill('2026-01-02T03:04');
  await expect.poll(() => new URL(page.url()).searchParams.get('from')).toMatch(/^2026-01-0\dT\d\d:04:00\.000Z$/);
  // A link shows the same calls in every time zone.
  await visitor.goto(`/calls?live=off&agent=${agentId}&from=2026-01-02T03:04:00.000Z`);
  await whole.waitFor();
  await chips.getByText('Agent: Support bot').waitFor();
  await visitor.checkPage('calls-filtered');

  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export list as CSV' }).click(),
  ]);
  const lines = readFileSync((await file.path())!, 'utf8')
    .trim()
    .split('\r\n');
  expect(file.suggestedFilename()).toMatch(/^calls-agent-support-bot-from-.*\.csv$/);
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatch(/^state,createdAt,agent,agentId,project,gatewayToken,/);
  expect(lines[1]).toContain('Support bot');

  // A list without an end: the export stops, and says so.
  const { body: endless } = await call('GET', `/v1/usage/calls?agentId=${agentId}&limit=1`);
  expect(endless.nextCursor).not.toBeNull();
  await page.route('**/v1/usage/calls?*', (route) => route.fulfill({ json: endless }));
  const [cut] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export list as CSV' }).click(),
  ]);
  await page.getByText('The file has the newest 200 calls').waitFor();
  expect(
    readFileSync((await cut.path())!, 'utf8')
      .trim()
      .split('\r\n'),
  ).toHaveLength(201);
});

test('reports an incomplete search and continues it on request', async () => {
  const { visitor, agentId, orgId } = await scene();
  const { page } = visitor;
  // More calls than one response searches, with the matching call behind them.
  const sql = postgres(dashboard().stack.database.url.reveal(), { max: 1 });
  await sql`
    insert into usage_records (id, started_at, org_id, agent_id, key_id, provider_slug, account_id, method, path, status,
      upstream_status, error, model, tokens_in_uncached, tokens_cache_read, tokens_cache_write, tokens_out,
      tokens_reasoning, cost_nanos, usage_source, price_source, duration_ms, bytes_in, bytes_out, streamed, websocket,
      data_plane_id)
    select gen_random_uuid(), now() - i * interval '1 microsecond', ${orgId}::uuid, ${agentId}::uuid, ${agentId}::uuid,
           'openai', ${agentId}::uuid, 'POST', '/v1/behind', case when i = 205000 then 418 else 200 end, 200, '', '', 0, 0, 0, 0,
           0, 0, '', '', 1, 0, 0, false, false, 'seed' from generate_series(1, 205000) i`;
  await sql.end();
  await visitor.goto('/calls?status=418');
  await page.getByText('No matches in the calls searched so far').waitFor();
  const further = page.getByRole('button', { name: 'Search older calls' });
  await page.getByText('Older calls were not searched').waitFor();
  await visitor.checkPage('calls-given-up');
  const found = page.getByRole('row', { name: /\/v1\/behind/ });
  await further.click();
  // A slow machine may stop the search again.
  await waitUntil('the call is found', async () => {
    // The button disappears while the search runs.
    if (await further.isVisible()) await further.click({ timeout: 1_000 }).catch(noop);
    return found.isVisible();
  });
});

test('leads from a call to its token, account and project by keyboard, also after the token was revoked', async () => {
  const { visitor, send, call } = await scene();
  const { page } = visitor;
  expect((await send('/v1/chat/completions')).status).toBe(200);
  const follow = (name: string | RegExp) => page.getByRole('link', { name }).first().press('Enter');
  await visitor.goto('/calls');
  await page.getByRole('row', { name: /\/v1\/chat\/completions.*200/ }).waitFor();
  await page
    .getByRole('row', { name: /completions/ })
    .getByRole('link')
    .press('Enter');
  const drawer = page.getByRole('dialog', { name: 'Call' });
  await drawer.getByRole('link', { name: 'key', exact: true }).press('Enter');
  await page.getByRole('heading', { name: 'key', level: 1 }).waitFor();
  await page.getByRole('region', { name: 'Usage', exact: true }).getByText('gpt-5-mini').waitFor();
  await page.getByRole('row', { name: /completions.*200/ }).waitFor();
  await visitor.checkPage('key-page');
  await page.getByRole('button', { name: 'Revoke key' }).press('Enter');
  await page.getByLabel('Type “key” to confirm').fill('key');
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke token' }).press('Enter');
  // The proof of what it did stays.
  await page.getByText('revoked', { exact: true }).first().waitFor();
  await page.getByRole('row', { name: /completions.*200/ }).waitFor();

  await follow('OpenAI');
  await page.getByRole('heading', { name: 'Support bot at OpenAI', level: 1 }).waitFor();
  await page.getByRole('region', { name: 'Calls', exact: true }).first().getByText('1', { exact: true }).waitFor();
  await visitor.checkPage('account-page');

  const projectName = (await call('GET', '/v1/projects')).body.projects[0].name;
  await follow(projectName);
  await page.getByRole('heading', { name: projectName, level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Support bot' }).first().waitFor();
  await visitor.checkPage('project-page');
  await page.getByRole('link', { name: 'All calls' }).press('Enter');
  await page
    .getByRole('group', { name: 'Active filters' })
    .getByText(/Project/)
    .waitFor();
});
