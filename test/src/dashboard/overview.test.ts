/** The overview with a month of traffic: its figures, its chart and its attention list. */
import { openPool } from '@acg/controlplane/db/postgres-client';
import { afterAll, expect, test } from 'vitest';
import { waitUntil } from '../fixtures/wait-until.js';
import { createIngest, usageRecord } from '../ledger/usage-fixture.js';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
const DAY_MS = 86_400_000;
const DAYS = 30;
const BUDGETS_CENTS = [3_200, 3_000, 2_000];
const PROVIDERS = ['openai', 'anthropic', 's3'] as const;
const open: { end(): Promise<void> }[] = [];
afterAll(() => Promise.all(open.map((sql) => sql.end())));

/** An owner whose agents called on each of the last 30 days, with increasing cost. */
async function busyOwner() {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const login = await stack.call('POST', '/v1/auth/login', null, { email, password });
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, login.body.token, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const sql = openPool(stack.database.url, { connectionsMax: 2, applicationName: 'test' });
  open.push(sql);
  const ingest = createIngest(sql);
  const names = ['Support bot', 'Crawler', 'Report writer'];
  for (const [i, name] of names.entries()) {
    const made = await call('POST', '/v1/agents', { projectId, name, budgetCentsMonthly: BUDGETS_CENTS[i] });
    const agentId: string = made.body.agent.id;
    const records = Array.from({ length: DAYS }, (_, day) =>
      PROVIDERS.map((providerSlug, p) =>
        usageRecord({
          orgId: login.body.orgId,
          agentId,
          providerSlug,
          startedAtMs: Date.now() - day * DAY_MS - 60_000,
          costNanos: Math.round(((DAYS - day) * (3 - i) * 12_000_000) / (p + 1)),
          status: day % 7 === p ? 502 : 200,
          responseStatus: day % 7 === p ? 502 : 200,
          durationMs: 200 + 40 * p,
        }),
      ),
    ).flat();
    await ingest.report({ dataPlaneId: 'test', records });
  }
  return { visitor, call, sql, projectId };
}

/** Records the texts that the last drawing of a chart put on its canvas. */
const RECORD_LABELS = `{
  window.labels = [];
  const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...area) {
    window.labels = [];
    return clearRect.apply(this, area);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    window.labels.push(text);
    return fillText.call(this, text, ...place);
  };
}`;

/** All opaque colours on the first canvas of the page, as `r,g,b`. */
const COLORS = `(() => {
  const drawn = document.querySelector('canvas');
  const copy = Object.assign(document.createElement('canvas'), { width: drawn.width, height: drawn.height });
  const context = copy.getContext('2d', { willReadFrequently: true });
  context.drawImage(drawn, 0, 0);
  const { data } = context.getImageData(0, 0, copy.width, copy.height);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) seen.add(data.slice(i, i + 3).join());
  return [...seen];
})()`;

test('shows a month of traffic by provider and agent, in a chart that is visible in both themes', async () => {
  const { visitor } = await busyOwner();
  const { page } = visitor;
  await page.setViewportSize({ width: 2_400, height: 900 });
  await page.addInitScript(RECORD_LABELS);
  await visitor.gotoAndCheck('/?period=30d', 'overview');
  await page.getByRole('region', { name: 'Errors' }).getByText('15.6%').waitFor();
  const days = async () => (await page.evaluate<string[]>('labels')).filter((text) => /^\d+ [A-Z]/.test(text));
  await waitUntil('the chart has its days', async () => (await days()).length > 9);
  expect(await days()).toEqual([...new Set(await days())]);
  // Providers without calls are on the status page.
  const health = page.getByRole('region', { name: 'Providers', exact: true });
  await health.getByText('Anthropic').waitFor();
  expect(await health.getByText('operational').count()).toBe(PROVIDERS.length);
  expect(await health.getByRole('link', { name: 'All providers' }).getAttribute('href')).toBe('/status');
  await page.getByRole('img', { name: /^Spend by provider/ }).waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    // Colours of axes and bars.
    const colors = () => page.evaluate<string[]>(COLORS);
    const axes = colorScheme === 'dark' ? '184,184,184' : '73,80,87';
    await waitUntil(`the axes can be read in ${colorScheme}`, async () => (await colors()).includes(axes));
    // Chosen by the provider, not by its rank: openai, anthropic, s3.
    expect(await colors()).toEqual(expect.arrayContaining(['130,201,30', '245,159,0', '232,89,12']));
  }
  await page.getByRole('button', { name: 'Show as table' }).click();
  const table = page.getByRole('region', { name: 'Spend by provider, figures' });
  await table.waitFor();
  expect(await table.getByRole('columnheader').allTextContents()).toEqual([
    'Day (UTC)',
    'OpenAI',
    'Anthropic',
    'S3-compatible storage',
  ]);
  await page.getByRole('link', { name: 'Support bot' }).last().click();
  await page.getByRole('heading', { name: 'Support bot', level: 1 }).waitFor();
  await visitor.checkPage('agent-busy');
  await visitor.gotoAndCheck('/agents?period=30d', 'agents-busy');
  await page.getByRole('img', { name: 'Calls over 30d, at most 3 in a day' }).first().waitFor();

  await page.getByLabel('Select Support bot').check();
  await page.getByLabel('Select Crawler').check();
  await page.getByRole('link', { name: 'Compare' }).click();
  await page.getByRole('heading', { name: 'Compare agents', level: 1 }).waitFor();
  expect(page.url()).toContain('period=30d');
  await page.getByRole('img', { name: /^Spend by agent/ }).waitFor();
  await visitor.checkPage('agents-compare');
  await page.getByRole('main').getByText('Calls', { exact: true }).first().click();
  await page.getByRole('img', { name: /^Calls by agent/ }).waitFor();
  await page.getByRole('button', { name: 'Show as table' }).click();
  const each = page.getByRole('region', { name: 'Calls by agent, figures' });
  expect((await each.getByRole('columnheader').allTextContents()).toSorted()).toEqual([
    'Crawler',
    'Day (UTC)',
    'Support bot',
  ]);
  await page.getByRole('button', { name: 'Remove Crawler' }).click();
  await page.getByRole('button', { name: 'Remove Crawler' }).waitFor({ state: 'detached' });
  await page.goBack();
  await page.getByRole('button', { name: 'Remove Crawler' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Spend by agent' }).waitFor();
});

test('lists items that need attention from one request, each with a link that resolves it', async () => {
  const { visitor, call, sql, projectId } = await busyOwner();
  const { page } = visitor;
  const made = await call('POST', '/v1/agents', { projectId, name: 'Unlimited' });
  const agentId: string = made.body.agent.id;
  await call('POST', '/v1/agents', { projectId, name: 'Shut', budgetCentsMonthly: 0 });
  const account = { agentId, providerSlug: 'openai', credentials: { apiKey: 'sk-provider-0123456789' } };
  const accountId: string = (await call('POST', '/v1/providers/accounts', account)).body.account.id;
  await sql`update provider_accounts set status = 'needs_credentials', refused_at = now() where id = ${accountId}`;
  const expiresAt = new Date(Date.now() + 3 * DAY_MS).toISOString();
  await call('POST', '/v1/api-keys', { name: 'nightly', agentId, expiresAt });
  await sql`update api_keys set created_at = now() - interval '30 days' where agent_id = ${agentId}`;
  const hook = { url: 'https://example.com/hook', events: ['agent.created'] };
  const endpointId: string = (await call('POST', '/v1/webhooks', hook)).body.endpoint.id;
  await sql`update webhook_endpoints set status = 'paused', paused_reason = 'failing', failing_since = now()
             where id = ${endpointId}`;
  const requestedPaths: string[] = [];
  page.on('request', (request) => requestedPaths.push(new URL(request.url()).pathname));
  await visitor.goto('/');
  const list = page.getByRole('region', { name: 'Needs attention' });
  await list.waitFor();
  expect(requestedPaths.filter((path) => path.startsWith('/v1/')).toSorted()).toEqual([
    '/v1/attention',
    '/v1/config',
    '/v1/events',
    '/v1/events/types',
    '/v1/me',
    '/v1/status',
    '/v1/usage/breakdown',
    '/v1/usage/breakdown',
    '/v1/usage/summary',
    '/v1/usage/timeseries',
  ]);
  await list.getByText('Credential rejected').waitFor();
  await list.getByText('Budget of $0').waitFor();
  await list.getByText('Shut: every call is rejected.').waitFor();
  await list.getByText(/nightly of Unlimited expires in 3 days\. Calls with it are rejected then\./).waitFor();
  await list.getByText(/Deliveries to https:\/\/example.com\/hook failed/).waitFor();
  await list.getByText('The monthly spend of Unlimited has no limit.').waitFor();
  await visitor.checkPage('overview-attention');
  for (const [label, heading] of [
    ['Enter credential: Unlimited', 'Unlimited'],
    ['View deliveries: https://example.com/hook', 'https://example.com/hook'],
    ['Rotate: nightly', 'Gateway tokens'],
    ['Set budget: Unlimited', 'Unlimited'],
    ['Raise budget: Shut', 'Shut'],
  ] as const) {
    await list.getByRole('link', { name: label }).click();
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await page.goBack();
  }
  await list.getByRole('link', { name: 'Set budget: Unlimited' }).click();
  await page.getByLabel('Monthly budget (USD)').fill('20');
  await page.getByRole('button', { name: 'Save limits' }).click();
  await page.getByText('Limits saved').waitFor();
  await page.goBack();
  await list.getByText('Credential rejected').waitFor();
  await list.getByText('No budget').waitFor({ state: 'detached' });
});

test('puts a sensitive attempt on top with key and network, revokes its token there, and closes a recovering breaker', async () => {
  const { visitor, call, sql, projectId } = await busyOwner();
  const { page } = visitor;
  const agentId: string = (await call('POST', '/v1/agents', { projectId, name: 'Curious' })).body.agent.id;
  const account = { agentId, providerSlug: 'openai', credentials: { apiKey: 'sk-provider-0123456789' } };
  expect((await call('POST', '/v1/providers/accounts', account)).status).toBe(201);
  const { key } = (await call('POST', '/v1/api-keys', { name: 'nightly', agentId })).body;
  await sql`
    insert into rejected_calls (org_id, agent_id, rejected_at, id, key_id, provider_slug, reason, status, method, path,
                                model, tool, client_network)
    select org_id, id, now(), gen_random_uuid(), ${key.id}, 'openai', 'sensitive_path', 403, 'GET',
           '/v1/organization/admin_api_keys', '', '', '203.0.113.7' from agents where id = ${agentId}`;
  await sql`
    insert into circuits (circuit_key, provider_slug, org_id, state, reason, epoch, changed_at)
    select circuit_key || '|' || org_id, 'openai', org_id, 'HALF_OPEN', 'error_rate', 3, now()
      from provider_accounts where agent_id = ${agentId}`;
  await visitor.goto('/');
  const first = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem').first();
  await first.getByText('GET /v1/organization/admin_api_keys').waitFor();
  await first.getByText('203.0.113.7').waitFor();
  await page.getByText('Provider recovering').waitFor();
  await visitor.checkPage('overview-sensitive');
  await first.getByRole('button', { name: 'Revoke: nightly' }).click();
  await page.getByRole('button', { name: 'Revoke token' }).click();
  await page.getByText('nightly revoked').waitFor();
  await expect.poll(() => page.getByText('Sensitive call rejected').count()).toBe(0);
  await page.getByRole('button', { name: 'Close breaker: OpenAI' }).click();
  await page.getByText('Breaker of OpenAI closed').waitFor();
  await expect.poll(() => page.getByText('Provider recovering').count()).toBe(0);
});
