/** The Issuer page: URLs, keys and their rotation by hand, the JWKS as a file, and the set-up of each provider. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();

test('shows the issuer, rotates its key by hand, and fills the set-up of each provider with own values', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const { page } = visitor;
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, session, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const agentId: string = (await call('POST', '/v1/agents', { projectId, name: 'Support bot' })).body.agent.id;
  const subject = `project:${projectId}:agent:${agentId}`;
  const read = async () => (await call('GET', `/v1/issuer?agentId=${agentId}`)).body.issuer;
  await visitor.goto('/');
  await page.getByRole('link', { name: 'Issuer', exact: true }).click();
  await visitor.waitUntilLoaded();
  const { url, jwks } = await read();
  await page.getByRole('button', { name: `Copy issuer URL: ${url}` }).waitFor();
  await page.getByText('Providers cannot reach this issuer').waitFor();

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download JWKS' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('jwks.json');
  expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toEqual(jwks);

  const byHand = page.getByRole('switch', { name: 'Activate new keys by hand' });
  await byHand.focus();
  await page.keyboard.press('Space');
  await page.getByText('New keys wait for an admin').waitFor();
  await page.getByRole('button', { name: 'Publish next key' }).click();
  await page.getByRole('row', { name: /Published, does not sign yet.*Activation by an admin/ }).waitFor();
  expect(await page.getByRole('button', { name: 'Publish next key' }).getAttribute('title')).toContain('already');
  await visitor.checkPage('issuer-next-key');
  await page.getByRole('button', { name: /^Activate key/ }).click();
  await page.getByRole('dialog', { name: 'Activate key' }).getByRole('button', { name: 'Activate' }).click();
  await page.getByRole('row', { name: /Former, still published/ }).waitFor();
  expect((await read()).keys.map(({ state }: { state: string }) => state).sort()).toEqual(['former', 'signing']);

  await page.getByRole('combobox', { name: 'Agent' }).fill('support');
  await page.getByRole('option', { name: 'Support bot' }).click();
  await page.getByRole('button', { name: `Copy subject: ${subject}` }).waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const { setups } = await read();
  expect(setups.length).toBe(6);
  for (const { providerSlug, label, steps } of setups) {
    await page.getByLabel('Provider', { exact: true }).selectOption(providerSlug);
    const section = page.getByRole('region', { name: `Set-up: ${label}` });
    await section.getByText(steps.at(-1)).waitFor();
    await section.getByRole('button', { name: 'Copy instructions' }).click();
    const copied = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(copied).toBe([label, ...steps.map((step: string, i: number) => `${i + 1}. ${step}`)].join('\n'));
    expect(copied).toContain(url);
    expect(copied).toContain(subject);
  }
  expect(page.url()).toContain(`agent=${agentId}`);
  await visitor.checkPage('issuer-set-up');
});
