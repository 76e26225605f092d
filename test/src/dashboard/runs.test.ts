/** The Runs pages: start, tree, spend, end. */
import { expect, test } from 'vitest';
import { useDashboard } from './dashboard-fixture.js';

/** A stack of its own: it adds a data plane. */
const dashboard = useDashboard({});

async function scene() {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, session, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const agentId: string = (await call('POST', '/v1/agents', { projectId, name: 'Worker' })).body.agent.id;
  return { visitor, call, agentId };
}

/** One for the file: a second data plane with counters in its process is rejected. */
let started: Promise<{ readonly url: string }> | null = null;
const proxyUrl = async (): Promise<string> => {
  started ??= dashboard().stack.addDataPlane();
  return (await started).url;
};

test('starts a run and shows its token once', async () => {
  const { visitor, call } = await scene();
  const { page } = visitor;
  await visitor.gotoAndCheck('/runs', 'runs-empty');
  await page.getByRole('button', { name: 'New run' }).first().click();
  await page.getByRole('dialog').getByRole('combobox', { name: 'Agent' }).fill('work');
  await page.getByRole('option', { name: 'Worker' }).click();
  await page.getByLabel('Budget').fill('2.50');
  await page.getByLabel('Label').fill('nightly report');
  await visitor.checkPage('runs-new');
  await page.getByRole('button', { name: 'Start run' }).click();
  const secret = (await page.locator('[data-secret]').textContent())!;
  expect(secret).toMatch(/^acg_[0-9a-f]+$/);
  await page.getByRole('button', { name: 'I stored it' }).click();
  await page.getByRole('row', { name: /nightly report.*Worker.*Running.*\$0\.00 of \$2\.50/ }).waitFor();
  expect(await page.content()).not.toContain(secret);
  expect((await call('GET', '/v1/runs')).body).toMatchObject({ total: 1, runs: [{ budgetCents: 250 }] });
});

test('shows the tree of a run and ends it', async () => {
  const { visitor, call, agentId } = await scene();
  const { page } = visitor;
  const url = await proxyUrl();
  const fields = { agentId, budgetCents: 300, expiresIn: 3_600, label: 'top' };
  const top = (await call('POST', '/v1/runs', fields)).body;
  const response = await fetch(`${url}/v1/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${top.secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ budgetCents: 100, label: 'part one' }),
  });
  expect(response.status).toBe(201);
  await visitor.goto('/runs');
  await page.getByRole('link', { name: 'top' }).click();
  await page.getByRole('row', { name: /part one.*Worker.*Running/ }).waitFor();
  await visitor.checkPage('runs-tree');
  // Without a provider account the call is rejected: the filter shows an empty list of the run.
  await page.getByRole('link', { name: 'Calls of this run' }).click();
  await page.getByRole('button', { name: 'Remove filter Run: top' }).waitFor();
  expect(page.url()).toContain(`run=${top.run.id}`);
  await page.getByText('Nothing matches these filters').waitFor();
  await visitor.goto(`/runs/${top.run.id}`);
  await page.getByRole('button', { name: 'End top' }).click();
  await page.getByRole('button', { name: 'End run' }).click();
  await page.getByRole('row', { name: /part one.*Ended/ }).waitFor();
  expect((await call('GET', `/v1/runs?rootId=${top.run.id}&state=ended`)).body.total).toBe(2);
});

test('a run with more sub-runs than one response holds shows them in pages', async () => {
  const { visitor, call, agentId } = await scene();
  const { page } = visitor;
  const url = await proxyUrl();
  const top = (await call('POST', '/v1/runs', { agentId, budgetCents: 300, expiresIn: 3_600, label: 'wide' })).body;
  for (let n = 1; n <= 101; n++) {
    const response = await fetch(`${url}/v1/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${top.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ budgetCents: 100, label: `part ${n}.` }),
    });
    expect(response.status).toBe(201);
  }
  await visitor.goto(`/runs/${top.run.id}`);
  await page.getByRole('row', { name: /part 101\./ }).waitFor();
  await visitor.checkPage('runs-tree-wide');
  await page.getByRole('button', { name: 'Sub-runs: next page' }).click();
  await page.getByRole('row', { name: /part 51\./ }).waitFor();
  await page.getByRole('button', { name: 'Sub-runs: next page' }).click();
  await page.getByRole('link', { name: 'part 1.', exact: true }).click();
  await page.getByRole('row', { name: /part 1\..*Running/ }).waitFor();
  await page.getByRole('link', { name: 'Parent run' }).click();
  await page.getByRole('button', { name: 'End this run' }).click();
  await page.getByRole('button', { name: 'End run' }).click();
  await page.getByRole('row', { name: /part 101\..*Ended/ }).waitFor();
});
