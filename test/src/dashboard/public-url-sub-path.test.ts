/** The same build published under a sub-path, behind a proxy that strips the path. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { useDashboard } from './dashboard-fixture.js';

const PATH = '/tools/gateway';
let target = '';
const proxy = createServer((incoming, outgoing) => {
  const { pathname } = new URL(incoming.url ?? '/', 'http://proxy');
  if (!pathname.startsWith(`${PATH}/`)) {
    outgoing.writeHead(418).end();
    return;
  }
  const options = { method: incoming.method, headers: incoming.headers };
  const onward = request(`${target}${(incoming.url ?? '').slice(PATH.length)}`, options, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
});
await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
afterAll(() => {
  proxy.closeAllConnections();
  proxy.close();
});
const publicUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${PATH}`;
const dashboard = useDashboard({ env: { PUBLIC_URL: publicUrl } });

test('keeps login, deep links, lazy chunks and history below the sub-path', async () => {
  target = dashboard().stack.apiUrl;
  const email = `${crypto.randomUUID()}@example.com`;
  const password = 'correct horse battery';
  const body = { email, password, name: 'Ada', orgName: 'Below' };
  await dashboard().stack.call('POST', '/v1/auth/signup', null, body);
  const visitor = await dashboard().openBrowserUser({ url: publicUrl });
  const { page } = visitor;
  const outside: string[] = [];
  page.on('request', (sent) => {
    if (/^https?:/.test(sent.url()) && !sent.url().startsWith(`${publicUrl}/`)) outside.push(sent.url());
  });
  await visitor.logIn(email, password);
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
  expect(page.url().startsWith(`${publicUrl}/o/`)).toBe(true);
  expect(page.url().endsWith('/agents')).toBe(true);
  await page.reload();
  await visitor.waitUntilLoaded();
  await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('textbox', { name: 'Search and commands' }).waitFor();
  expect(outside).toEqual([]);
});
