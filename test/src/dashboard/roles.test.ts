/** Roles in the dashboard, and protection against cross-site requests. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('disables actions for a viewer and explains why', async () => {
  const owner = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const login = await stack.call('POST', '/v1/auth/login', null, { email: owner.email, password: owner.password });
  const session: string = login.body.token;
  const email = `${crypto.randomUUID()}@example.com`;
  const invited = await stack.call('POST', '/v1/members', session, { email, role: 'viewer' });
  const token = invited.body.invitationUrl.split('#token=')[1];
  const password = 'another good passphrase';
  await stack.call('POST', '/v1/invitations/accept', null, { token, name: 'Vera Viewer', password });
  const visitor = await dashboard().openBrowserUser();
  await visitor.logIn(email, password);
  await visitor.gotoAndCheck('/agents', 'agents-viewer');
  const button = visitor.page.getByRole('button', { name: 'New agent' }).first();
  expect(await button.getAttribute('aria-disabled')).toBe('true');
  await button.focus();
  await visitor.page.getByRole('tooltip').getByText('This requires the role admin. Your role is viewer.').waitFor();
  await button.click({ force: true });
  expect(await visitor.page.getByRole('dialog').count()).toBe(0);
});

test('lets a viewer compare agents and see the attention list, but change nothing', async () => {
  const owner = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const login = await stack.call('POST', '/v1/auth/login', null, { email: owner.email, password: owner.password });
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, login.body.token, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  for (const name of ['Support bot', 'Crawler']) await call('POST', '/v1/agents', { projectId, name });
  const email = `${crypto.randomUUID()}@example.com`;
  const invited = await call('POST', '/v1/members', { email, role: 'viewer' });
  const token = invited.body.invitationUrl.split('#token=')[1];
  const password = 'another good passphrase';
  await stack.call('POST', '/v1/invitations/accept', null, { token, name: 'Vera Viewer', password });
  const visitor = await dashboard().openBrowserUser();
  const { page } = visitor;
  await visitor.logIn(email, password);
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByText('2 agents have no budget').waitFor();
  await attention.getByRole('link', { name: 'Crawler' }).click();
  await page.getByRole('heading', { name: 'Crawler', level: 1 }).waitFor();
  const save = page.getByRole('button', { name: 'Save limits' });
  expect(await save.getAttribute('aria-disabled')).toBe('true');

  await visitor.goto('/agents');
  await page.getByLabel('Select all agents on this page').check();
  for (const [name, role] of [
    ['Pause', 'admin'],
    ['Resume', 'admin'],
    ['Thresholds', 'member'],
  ] as const) {
    const button = page.getByRole('button', { name });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    expect(await button.getAttribute('title')).toContain(`This requires the role ${role}. Your role is viewer.`);
    await button.click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);
  }
  await visitor.checkPage('agents-selected-viewer');
  await page.getByRole('link', { name: 'Compare' }).click();
  await page.getByRole('heading', { name: 'Compare agents', level: 1 }).waitFor();
  await page.getByRole('row', { name: /Support bot/ }).waitFor();
  await visitor.goto('/alerts');
  expect(await page.getByRole('button', { name: 'Budget thresholds' }).getAttribute('aria-disabled')).toBe('true');
});

test('rejects cross-site requests from another host and from another port', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const evil = await listen(
    createServer((_, response) => void response.setHeader('content-type', 'text/html').end('<title>Evil</title>')),
  );
  for (const origin of [evil, evil.replace('127.0.0.1', 'localhost')]) {
    const page = await visitor.context.newPage();
    await page.goto(origin);
    // Requests that such a page can send without a preflight: simple content types, with cookies where the browser adds
    // them.
    const send = `fetch('${visitor.url}/v1/session', { method: 'DELETE', mode: 'cors', credentials: 'include' }).catch(() => 0)`;
    await page.evaluate(send);
    const post = `fetch('${visitor.url}/v1/orgs', { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'content-type': 'text/plain' }, body: '{"name":"Evil"}' }).catch(() => 0)`;
    await page.evaluate(post);
    await page.close();
  }
  await visitor.goto('/');
  await visitor.page.getByRole('button', { name: /Account and organization: Acme/ }).waitFor();
  const cookies = await visitor.context.cookies(visitor.url);
  const headers = {
    cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
    'content-type': 'application/json',
  };
  const foreign = { ...headers, origin: evil };
  expect((await fetch(`${visitor.url}/v1/session`, { method: 'DELETE', headers: foreign })).status).toBe(403);
  const sameSite = { ...headers, 'sec-fetch-site': 'same-site' };
  expect((await fetch(`${visitor.url}/v1/session`, { method: 'DELETE', headers: sameSite })).status).toBe(403);
});
