/** The Trust rules page: create with the presets of a platform, details, delete. */
import { expect, test } from 'vitest';
import { SigningKey } from '../trust-rules/stand-in-issuer.js';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();

async function scene() {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, session, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const agentId: string = (await call('POST', '/v1/agents', { projectId, name: 'Support bot' })).body.agent.id;
  return { visitor, call, agentId };
}

test('creates a rule for Kubernetes with uploaded keys, shows its audience, and deletes it', async () => {
  const { visitor, call, agentId } = await scene();
  const { page } = visitor;
  visitor.expectHttpError(400, /trust-rules$/);
  await visitor.gotoAndCheck('/trust-rules', 'trust-rules-empty');
  await page.getByRole('button', { name: 'New trust rule' }).first().click();
  expect(await page.getByLabel('Issuer').inputValue()).toBe('https://token.actions.githubusercontent.com');
  expect(await page.getByLabel('Claim 1').inputValue()).toBe('repository_id');
  await page.getByLabel('Platform').selectOption({ label: 'Kubernetes' });
  await page.getByLabel('Name').fill('pods');
  await page.getByRole('combobox', { name: 'Agent' }).fill('support');
  await page.getByRole('option', { name: 'Support bot' }).click();
  await page.getByLabel('Issuer').fill('https://kubernetes.default.svc');
  await page.getByLabel('Value 1').fill('system:serviceaccount:agents:triage');
  await page.getByLabel('Public keys').fill(JSON.stringify({ keys: [{ kty: 'oct', k: 'c2VjcmV0' }] }));
  await page.getByRole('button', { name: 'Create trust rule' }).click();
  await page.getByText('private or symmetric key').waitFor();
  await visitor.checkPage('trust-rules-new');
  await page.getByLabel('Public keys').fill(JSON.stringify({ keys: [new SigningKey('k1').jwk] }));
  await page.getByRole('button', { name: 'Create trust rule' }).click();
  await page.getByText('/trust-rules/', { exact: false }).first().waitFor();
  const [rule] = (await call('GET', '/v1/trust-rules')).body.rules;
  expect(rule).toMatchObject({
    name: 'pods',
    agentId,
    keySource: 'upload',
    conditions: [{ claim: 'sub', values: ['system:serviceaccount:agents:triage'] }],
  });
  await page.getByRole('button', { name: `Copy audience: ${rule.audience}` }).waitFor();
  await visitor.checkPage('trust-rules-details');
  await page.keyboard.press('Escape');
  await page.getByRole('row', { name: /pods.*Support bot/ }).waitFor();
  await page.getByRole('button', { name: 'Edit pods' }).click();
  await page.getByLabel('Name').fill('agents');
  expect(await page.getByText('end within a second').count()).toBe(0); // a name alone ends nothing
  await page.getByLabel('Lifetime of a gateway token').selectOption('300');
  await page.getByRole('button', { name: 'Add condition' }).click();
  await page.getByLabel('Claim 2').fill('sub');
  await page.getByLabel('Value 2').fill('system:serviceaccount:agents:review');
  await page.getByText('end within a second').waitFor();
  await visitor.checkPage('trust-rules-edit');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /agents.*Support bot/ }).waitFor();
  expect((await call('GET', `/v1/trust-rules/${rule.id}`)).body.rule).toMatchObject({
    name: 'agents',
    keyLifetimeSeconds: 300,
    keySource: 'upload',
    conditions: [
      { claim: 'sub', values: ['system:serviceaccount:agents:triage', 'system:serviceaccount:agents:review'] },
    ],
  });
  await page.getByRole('button', { name: 'Delete agents' }).click();
  await page.getByText('end within a second').waitFor();
  await page.getByRole('button', { name: 'Delete trust rule' }).click();
  await page.getByText('No trust rules yet').waitFor();
  expect((await call('GET', '/v1/trust-rules')).body.total).toBe(0);
});
