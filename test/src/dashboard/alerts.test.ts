/** The Alerts page: events, their filters in the URL, and e-mail preferences. */
import { appendEvent } from '@acg/controlplane/events/append-events';
import { beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../fixtures/test-database.js';
import { useDashboard } from './dashboard-fixture.js';

const options: { database?: TestDatabase } = {};
beforeAll(async () => {
  options.database = await createTestDatabase();
});
const dashboard = useDashboard(options);
const sql = () => options.database!.sql;

async function ownerWithEvents() {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const login = await stack.call('POST', '/v1/auth/login', null, { email, password });
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, login.body.token, body);
  const orgId: string = login.body.orgId;
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const made = await call('POST', '/v1/agents', { projectId, name: 'Support bot' });
  const agentId: string = made.body.agent.id;
  await call('POST', '/v1/agents', { projectId, name: 'Crawler' });
  await sql().begin(async (tx) => {
    const agent = { agentId, agentName: 'Support bot', orgId };
    const money = { budgetCentsMonthly: 5_000, spentCents: 4_012 };
    await appendEvent(tx, orgId, 'usage.threshold', { ...agent, ...money, thresholdPercent: 80 });
    const circuit = { providerSlug: 'openai', errorRate: 62.5, requests: 40, windowSeconds: 30 };
    await appendEvent(tx, orgId, 'provider.circuit_opened', { ...circuit, state: 'OPEN' });
    await appendEvent(tx, orgId, 'abuse.detected', { ...agent, reason: 'rejections', count: 300, windowSeconds: 300 });
  });
  return { visitor, call, email, agentId };
}

test('describes events with their figures, keeps filters in the URL, and undoes them with the back button', async () => {
  const { visitor, agentId } = await ownerWithEvents();
  const { page } = visitor;
  await visitor.gotoAndCheck('/alerts', 'alerts');
  await page.getByText('80% reached: $40.12 of $50.00 this month.').waitFor();
  await page.getByText('62.5% of 40 calls failed within 30 s.').waitFor();
  await page.getByText('300 rejected calls within 5 min.').waitFor();
  await page.getByLabel('Event', { exact: true }).selectOption('provider.circuit_opened');
  await page.getByText('300 rejected calls').waitFor({ state: 'detached' });
  expect(page.url()).toContain('event=provider.circuit_opened');
  await page.getByLabel('To').fill('2020-01-01');
  await page.getByText('Nothing matches these filters').waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'OpenAI' }).waitFor();
  await page.goBack();
  await page
    .getByRole('row', { name: /Suspicious traffic/ })
    .getByRole('button', { name: 'Only this agent' })
    .click();
  await page.getByRole('link', { name: 'Crawler' }).waitFor({ state: 'detached' });
  expect(page.url()).toContain(`agent=${agentId}`);
  await page
    .getByRole('row', { name: /Suspicious traffic/ })
    .getByRole('link', { name: 'Support bot' })
    .click();
  await page.getByRole('heading', { name: 'Support bot' }).waitFor();
});

test('lets confirmed members select e-mail alerts and tells unconfirmed members why they cannot', async () => {
  const { visitor, call, email } = await ownerWithEvents();
  const { page } = visitor;
  await visitor.goto('/alerts');
  await page.getByRole('button', { name: 'E-mail alerts' }).click();
  await page.getByText('Your e-mail address is not confirmed').waitFor();
  expect(await page.getByLabel('Suspicious traffic').isDisabled()).toBe(true);
  await visitor.checkPage('alerts-mail-unconfirmed');
  await page.getByRole('link', { name: 'Resend the link' }).click();
  await page.getByRole('button', { name: 'Resend the link' }).waitFor();
  await sql()`update users set email_verified_at = now() where email = ${email}`;
  await visitor.goto('/alerts');
  await page.getByRole('button', { name: 'E-mail alerts' }).click();
  await page.getByLabel('Suspicious traffic').check();
  await page.getByLabel('Budget exceeded').check();
  await visitor.checkPage('alerts-mail');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(`E-mail alerts go to ${email}`).waitFor();
  const [own] = (await call('GET', '/v1/event-mail')).body.preferences;
  expect(own.events.toSorted()).toEqual(['abuse.detected', 'agent.budget_exceeded']);
  await page.getByRole('button', { name: 'E-mail alerts' }).click();
  expect(await page.getByLabel('Budget exceeded').isChecked()).toBe(true);
});

test('shows a dot for unseen alerts in all windows until the Alerts page was opened', async () => {
  const { visitor, call } = await ownerWithEvents();
  const { page } = visitor;
  const dot = page.getByRole('img', { name: 'unseen alerts' });
  await visitor.goto('/agents');
  await dot.waitFor();
  const other = await visitor.context.newPage();
  await other.goto(`${visitor.url}/keys`);
  const otherDot = other.getByRole('img', { name: 'unseen alerts' });
  await otherDot.waitFor();
  await page.getByRole('link', { name: /^Alerts/ }).click();
  await page.getByText('80% reached').waitFor();
  await dot.waitFor({ state: 'detached' });
  await otherDot.waitFor({ state: 'detached' });
  await other.close();
  await visitor.goto('/');
  await page.getByRole('region', { name: 'Latest events' }).waitFor();
  expect(await dot.count()).toBe(0);

  // The user's own changes are no alerts; events that the gateway detects are.
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const orgId: string = (await call('GET', '/v1/me')).body.orgId;
  await call('POST', '/v1/agents', { projectId, name: 'Another' });
  await visitor.goto('/');
  await page.getByRole('region', { name: 'Latest events' }).getByText('Another').waitFor();
  expect(await dot.count()).toBe(0);
  await sql().begin((tx) =>
    appendEvent(tx, orgId, 'webhook.paused', {
      endpointId: orgId,
      failedAttempts: 12,
      failingSince: new Date().toISOString(),
      orgId,
    }),
  );
  await visitor.goto('/');
  await dot.waitFor();
  await visitor.gotoAndCheck('/alerts', 'alerts-new');
  await page.getByText('Webhook paused, new').waitFor();
  expect(await page.getByText('Agent created, new').count()).toBe(0);
});

test('links each event to its settings and sets thresholds of several agents', async () => {
  const { visitor, call, agentId } = await ownerWithEvents();
  const { page } = visitor;
  await visitor.goto('/alerts');
  const row = (name: RegExp) => page.getByRole('row', { name });
  const to = async (name: RegExp, link: string) =>
    (await row(name).getByRole('link', { name: link }).getAttribute('href'))?.replace(/^\/o\/[^/]+/, '');
  expect(await to(/Budget threshold reached/, 'Support bot')).toBe(`/agents/${agentId}?tab=limits`);
  expect(await to(/calls blocked/, 'OpenAI')).toBe('/providers?tab=circuits');
  expect(await to(/Suspicious traffic/, 'Support bot')).toBe(`/agents/${agentId}?tab=keys`);
  await page.getByRole('button', { name: 'Budget thresholds' }).click();
  const dialog = page.getByRole('dialog', { name: /^Budget thresholds/ });
  await dialog.getByLabel(/Support bot/).check();
  await dialog.getByLabel(/Crawler/).check();
  await visitor.checkPage('alerts-thresholds');
  await dialog.getByRole('button', { name: 'Continue with 2' }).click();
  await dialog.getByLabel('Percentages of the monthly budget').fill('95');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Set for 2 agents' }).click();
  await dialog.getByText('2 of 2 set.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  expect((await call('GET', `/v1/agents/${agentId}`)).body.agent.usageThresholds).toEqual([80, 95]);
});

test('creates an alert rule; its alert is acknowledged and silenced, and the audit trail has entries of it', async () => {
  const { visitor, call } = await ownerWithEvents();
  const { page } = visitor;
  await visitor.goto('/alerts');
  await page.getByRole('link', { name: 'Alert rules' }).click();
  await page.getByRole('button', { name: 'New alert rule' }).first().click();
  await page.getByLabel('Name').fill('spend of the day');
  await page.getByLabel('Hours').fill('24');
  await page.getByLabel('At least').fill('2.50');
  await visitor.checkPage('alert-rule-new');
  await page.getByRole('button', { name: 'Create alert rule' }).click();
  await page.getByText('Spend: 50% over last week, from $2.50, in 24 h').waitFor();
  const [rule] = (await call('GET', '/v1/alert-rules')).body.rules;
  expect(rule).toMatchObject({ metric: 'spend', atLeast: 250, windowHours: 24, increasePercent: 50, scope: 'org' });

  await sql()`
    insert into alerts (id, org_id, rule_id, value, baseline)
    select gen_random_uuid(), org_id, id, 912, 402 from alert_rules where id = ${rule.id}`;
  await sql()`
    update alert_rules set failed_at = now(), evaluated_at = now() + interval '1 day', revision = revision + 1
     where id = ${rule.id}`;
  await visitor.gotoAndCheck('/alerts/rules', 'alert-rules');
  await page.getByText('Spend: $9.12').waitFor();
  await page.getByText('Evaluation failed').waitFor();
  await visitor.goto('/alerts');
  // It is on top of the overview until a person acknowledges it.
  await visitor.goto('/');
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByText('spend of the day: the spend is above the bound').waitFor();
  await attention.getByRole('link', { name: 'View alert: spend of the day' }).click();
  const open = page.getByRole('region', { name: 'Open alerts' });
  await open.getByText('last week $4.02').waitFor();
  await visitor.checkPage('alerts-open');
  await open.getByRole('button', { name: 'Acknowledge spend of the day' }).click();
  await open.getByText('Acknowledged by').waitFor();
  await open.getByRole('button', { name: 'Silence spend of the day' }).click();
  await page.getByLabel('For').selectOption('1 day');
  await page.getByRole('dialog').getByRole('button', { name: 'Silence' }).click();
  await open.getByText('silent until').waitFor();
  const actions = (await call('GET', '/v1/audit?search=alert')).body.entries.map(
    (one: { action: string }) => one.action,
  );
  expect(actions).toEqual(expect.arrayContaining(['alert.silence', 'alert.acknowledge', 'alert_rule.create']));

  await visitor.goto('/alerts/rules');
  await page.getByRole('button', { name: 'Edit spend of the day' }).click();
  await page.getByRole('combobox', { name: 'Silence' }).selectOption('End silence');
  await page.getByLabel('Enabled').uncheck();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('table', { name: 'Alert rules' }).getByText('Disabled').waitFor();
  expect((await call('GET', `/v1/alert-rules/${rule.id}`)).body.rule).toMatchObject({
    silencedUntil: null,
    enabled: false,
    openAlertId: null,
  });
  await page.getByRole('button', { name: 'Delete spend of the day' }).click();
  await page.getByRole('button', { name: 'Delete alert rule' }).click();
  await page.getByText('No alert rules yet').waitFor();
});
