/** Webhooks, in a real browser, with a real receiver. */
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useDashboard } from './dashboard.js';

interface Received {
  readonly body: string;
  readonly signature: string;
}

let receiver: Server;
let status = 200;
const received: Received[] = [];
beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      received.push({ body, signature: String(request.headers['x-webhook-signature']) });
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
});
afterAll(() => receiver.close());
// One try each: a failed delivery has failed at once.
const dashboard = useDashboard({ env: { WEBHOOK_RETRY_DELAYS_MS: '1' } });

test('webhooks: added with its secret shown once, tested, failed, sent again, paused and deleted', async () => {
  const { visitor } = await dashboard().owner();
  const { page } = visitor;
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  await visitor.goto('/webhooks');
  await page.getByText('No endpoints yet').waitFor();
  await page.getByRole('button', { name: 'Add endpoint' }).first().click();
  await page.getByLabel('Address').fill(url);
  await page.getByLabel('An agent was deleted').uncheck();
  await page.getByRole('button', { name: 'Save' }).click();
  const secret = (await page.locator('[data-secret]').textContent())!;
  expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/);
  await visitor.inspect('webhook-secret');
  await page.getByRole('button', { name: 'I stored it' }).click();
  await visitor.visit('/webhooks', 'webhooks');
  expect(await page.content()).not.toContain(secret);

  await page.getByRole('link', { name: url }).click();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('row', { name: /success.*200/ }).waitFor();
  const [delivery] = received;
  expect(delivery!.signature).toBe(createHmac('sha256', secret).update(delivery!.body).digest('hex'));

  status = 500;
  await page.getByRole('button', { name: 'Send a test' }).click();
  const failed = page.getByRole('row', { name: /failed.*500/ });
  await failed.waitFor();
  await visitor.inspect('webhook');
  await page.getByRole('combobox', { name: 'Deliveries' }).selectOption('failed');
  await expect.poll(() => page.url()).toContain('status=failed');
  await failed.getByRole('link').click();
  const drawer = page.getByRole('dialog', { name: 'Delivery' });
  await drawer.getByText('"timestamp"').waitFor();
  await drawer.getByRole('button', { name: 'Close' }).click();
  await drawer.waitFor({ state: 'detached' });
  status = 200;
  await failed.getByRole('button', { name: 'Send again' }).click();
  await page.getByRole('combobox', { name: 'Deliveries' }).selectOption('success');
  await expect.poll(() => page.getByRole('row', { name: /success.*200/ }).count()).toBe(2);

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  expect(await page.getByRole('button', { name: 'Send a test' }).getAttribute('aria-disabled')).toBe('true');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete endpoint' }).click();
  await page.getByText('No endpoints yet').waitFor();
});

test('webhooks: an address that is refused is said so beside the form', async () => {
  const { visitor } = await dashboard().owner();
  const { page } = visitor;
  visitor.expectFailure(400, /\/v1\/webhooks$/);
  await visitor.goto('/webhooks');
  await page.getByRole('button', { name: 'Add endpoint' }).first().click();
  await page.getByLabel('Address').fill('http://169.254.169.254/latest');
  await page.getByRole('button', { name: 'Save' }).click();
  const address = page.getByLabel('Address');
  await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true');
  await page.getByText(/^Address the port|^Address the host|^Address .* is not a public address/).waitFor();
  expect(await address.evaluate('(field) => field === document.activeElement')).toBe(true);
  expect(await page.getByRole('dialog').getByRole('alert').count()).toBe(0);
});
