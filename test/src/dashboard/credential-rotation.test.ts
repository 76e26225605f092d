/** Rotation with overlap in the dashboard: every state, what a person can do about it, and that it is shown live. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { useDashboard } from './dashboard-fixture.js';

/** What the provider answers next to a key; the last one stays. Without an entry: 200. */
const statuses = new Map<string, number[]>();
const provider = createServer((request, response) => {
  const key = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const planned = statuses.get(key) ?? [200];
  response.writeHead(planned.length > 1 ? planned.shift()! : planned[0]!).end('{}');
});
let origin = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});
beforeEach(() => statuses.clear());
const dashboard = useDashboard();

const KEY = 'provider-key-first-0123456789';

async function scene() {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, session, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const agentId: string = (await call('POST', '/v1/agents', { projectId, name: 'Support bot' })).body.agent.id;
  const definition = {
    credentials: { kind: 'api_key', fields: [{ name: 'apiKey', label: 'Key', secret: true, required: true }] },
    origins: { default: origin },
    inject: [{ header: 'authorization', value: 'Bearer {apiKey}' }],
    usage: { format: 'none' },
    probe: { path: '/me', refused: [{ status: 401 }] },
  };
  const made = await call('POST', '/v1/custom-providers', { slug: 'acme', displayName: 'Acme CRM', definition });
  expect(made.status).toBe(201);
  return { visitor, call, agentId };
}

async function accountPage() {
  const all = await scene();
  const { visitor, call, agentId } = all;
  const { page } = visitor;
  const body = { agentId, providerSlug: 'acme', credentials: { apiKey: KEY } };
  const { id } = (await call('POST', '/v1/providers/accounts', body)).body.account;
  await visitor.goto(`/providers/accounts/${id}`);
  const rotation = page.getByRole('region', { name: 'Rotation' });
  /** Rotates with overlap on screen, and waits for the state. */
  const rotate = async (key: string, state: string): Promise<void> => {
    await page.getByRole('button', { name: 'Rotate', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'New credential at Acme CRM' });
    await dialog.getByLabel('Key', { exact: true }).fill(key);
    expect(await dialog.getByRole('radio', { name: 'Test first, with overlap' }).isChecked()).toBe(true);
    await dialog.getByRole('button', { name: 'Test and store' }).click();
    await page.getByText(/Rotation started/).waitFor();
    await rotation.getByText(state, { exact: true }).waitFor();
  };
  const act = async (label: string): Promise<void> => {
    await rotation.getByRole('button', { name: label, exact: true }).click();
    await page.getByRole('dialog', { name: label }).getByRole('button', { name: label, exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const stateOf = async () => (await call('GET', `/v1/providers/accounts/${id}`)).body.account.rotation;
  return { ...all, id, page, rotation, rotate, act, stateOf };
}

test('rotates with overlap, rolls back, retires and marks as compromised', async () => {
  const { visitor, page, rotation, rotate, act, stateOf } = await accountPage();
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  await visitor.checkPage('providers-rotate-with-overlap');
  await page.keyboard.press('Escape');
  await rotate('provider-key-second-0123456789', 'Retiring the previous credential');
  await rotation.getByText('Deleted at the latest').waitFor();
  await visitor.checkPage('providers-account-retiring');
  await act('Roll back');
  await rotation.getByText('Rolled back', { exact: true }).waitFor();
  expect(await rotation.getByRole('button').count()).toBe(0);

  await rotate('provider-key-third-0123456789', 'Retiring the previous credential');
  // By keyboard alone.
  await rotation.getByRole('button', { name: 'Retire now' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Retire now' }).getByRole('button', { name: 'Retire now' }).focus();
  await page.keyboard.press('Enter');
  await rotation.getByText('Previous credential retired').waitFor();
  await rotation.getByText(/Revoke it at the provider/).waitFor();

  await rotate('provider-key-fourth-0123456789', 'Retiring the previous credential');
  await act('Mark previous as compromised');
  await rotation.getByText('Compromised, never used again').waitFor();
  expect(await stateOf()).toMatchObject({ state: 'retired', compromised: true });
  const kept = await page.evaluate(
    'document.documentElement.outerHTML + JSON.stringify([localStorage, sessionStorage])',
  );
  expect(String(kept)).not.toContain('provider-key');
});

test('shows a test that waits, a rejection, and what others do, without a reload', async () => {
  const { visitor, call, id, page, rotation, rotate, act, stateOf } = await accountPage();
  statuses.set('provider-key-slow-0123456789', [500]);
  await rotate('provider-key-slow-0123456789', 'Testing the new credential');
  await rotation.getByText('Next test').waitFor();
  await act('Cancel rotation');
  await rotation.getByText('Cancelled', { exact: true }).waitFor();
  expect(await stateOf()).toMatchObject({ state: 'cancelled' });

  // The provider accepts the key in the form, and no longer when the rotation tests it.
  statuses.set('provider-key-ended-0123456789', [200, 401]);
  await rotate('provider-key-ended-0123456789', 'New credential rejected');
  await rotation.getByText(/then rotate again/).waitFor();
  await visitor.checkPage('providers-account-rejected');

  await rotate('provider-key-good-0123456789', 'Retiring the previous credential');
  await call('POST', `/v1/providers/accounts/${id}/rotation`, { action: 'retire' });
  await rotation.getByText('Previous credential retired').waitFor();
  // An action on a state that has passed says so.
  await rotate('provider-key-next-0123456789', 'Retiring the previous credential');
  visitor.expectHttpError(409, /rotation$/);
  await rotation.getByRole('button', { name: 'Roll back' }).click();
  statuses.set('provider-key-good-0123456789', [401]);
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
  await page.getByRole('dialog').getByRole('alert').waitFor();
  expect(await stateOf()).toMatchObject({ state: 'retiring' });
});

test('a shared credential shows its rotation, and a compromised one is replaced at once', async () => {
  const { visitor, call, agentId } = await scene();
  const { page } = visitor;
  const body = { name: 'Team key', providerSlug: 'acme', credentials: { apiKey: KEY } };
  const { id: credentialId } = (await call('POST', '/v1/credentials', body)).body.credential;
  await call('POST', '/v1/providers/accounts', { agentId, providerSlug: 'acme', credentialId });
  await visitor.goto('/providers?tab=shared');
  const rotate = async (key: string, way: string): Promise<void> => {
    await page.getByRole('button', { name: 'Rotate Team key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rotate Team key' });
    await dialog.getByRole('radio', { name: way }).check();
    await dialog.getByLabel('Key', { exact: true }).fill(key);
    await dialog.getByRole('button', { name: 'Test and store' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await rotate('provider-key-second-0123456789', 'Test first, with overlap');
  await page.getByRole('link', { name: 'Team key' }).click();
  const drawer = page.getByRole('dialog', { name: 'Team key' });
  await drawer.getByText('Retiring the previous credential').waitFor();
  await visitor.checkPage('providers-shared-retiring');
  await drawer.getByRole('button', { name: 'Retire now' }).click();
  await page.getByRole('dialog', { name: 'Retire now' }).getByRole('button', { name: 'Retire now' }).click();
  await drawer.getByText('Previous credential retired').waitFor();
  await drawer.getByRole('button', { name: 'Close' }).click();
  await drawer.waitFor({ state: 'detached' });

  await rotate('provider-key-third-0123456789', 'Replace at once, the current one is compromised');
  await page.getByText('Team key rotated for 1 agent').waitFor();
  // Nothing of the former credential is left to roll back to.
  const { credential } = (await call('GET', `/v1/credentials/${credentialId}`)).body;
  expect(credential).toMatchObject({ status: 'active', rotation: null });
});
