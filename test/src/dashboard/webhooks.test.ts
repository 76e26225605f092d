/** Webhooks with a real receiver: create, test, retry, replay, rotate, edit. */
import crypto, { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../fixtures/wait-until.js';
import { useDashboard } from './dashboard-fixture.js';

interface Received {
  readonly body: string;
  readonly signature: string;
  readonly signatures: string;
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
      const { 'x-webhook-signature': signature, 'x-webhook-signatures': signatures } = request.headers;
      received.push({ body, signature: String(signature), signatures: String(signatures) });
      response.writeHead(status).end(status === 200 ? 'ok' : 'database is down');
    });
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
});
afterAll(() => receiver.close());
// One attempt per delivery: a failed delivery is final at once.
afterEach(() => {
  status = 200;
  received.length = 0;
});
const dashboard = useDashboard({ env: { WEBHOOK_RETRY_DELAYS_MS: '1' } });

test('creates an endpoint, tests it, retries a failed delivery, pauses and deletes it', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  await visitor.goto('/webhooks');
  await page.getByText('No endpoints yet').waitFor();
  await page.getByRole('button', { name: 'Add endpoint' }).first().click();
  await page.getByLabel('Endpoint URL').fill(url);
  expect(await page.getByLabel('Audit entry').isChecked()).toBe(false);
  await page.getByLabel('Agent deleted').uncheck();
  await page.getByRole('button', { name: 'Save' }).click();
  const secret = (await page.locator('[data-secret]').textContent())!;
  expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/);
  await visitor.checkPage('webhook-secret');
  await page.getByRole('button', { name: 'I stored it' }).click();
  await visitor.gotoAndCheck('/webhooks', 'webhooks');
  expect(await page.content()).not.toContain(secret);

  await page.getByRole('link', { name: url }).click();
  const sendTest = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click();
  };
  await sendTest();
  await page.getByRole('row', { name: /success.*200/ }).waitFor();
  const [delivery] = received;
  expect(delivery!.signature).toBe(createHmac('sha256', secret).update(delivery!.body).digest('hex'));

  status = 500;
  await sendTest();
  const failed = page.getByRole('row', { name: /failed.*500/ });
  await failed.waitFor();
  await page.getByText('failing', { exact: true }).waitFor();
  await page.getByText('1 of 2 failed').waitFor();
  await visitor.checkPage('webhook');
  await page.getByRole('combobox', { name: 'Deliveries' }).selectOption('failed');
  await expect.poll(() => page.url()).toContain('status=failed');
  await failed.getByRole('link').click();
  const drawer = page.getByRole('dialog', { name: 'Delivery' });
  await drawer.getByText('"timestamp"').waitFor();
  await drawer.getByRole('region', { name: 'Attempts' }).getByText('database is down').first().waitFor();
  await visitor.checkPage('webhook-delivery');
  await drawer.getByRole('button', { name: 'Close' }).click();
  await drawer.waitFor({ state: 'detached' });
  // As between two attempts.
  await page.route(/\/deliveries\?/, async (route) => {
    const response = await route.fetch();
    const text = (await response.text()).replaceAll('"status":"failed"', '"status":"pending"');
    await route.fulfill({ response, body: text });
  });
  await page.getByRole('combobox', { name: 'Deliveries' }).selectOption('');
  await page.getByRole('row', { name: /retrying.*500/ }).waitFor();
  await page.unroute(/\/deliveries\?/);
  await page.getByRole('combobox', { name: 'Deliveries' }).selectOption('failed');
  status = 200;
  await failed.getByRole('button', { name: 'Retry' }).click();
  await page.getByRole('combobox', { name: 'Deliveries' }).selectOption('success');
  await expect.poll(() => page.getByRole('row', { name: /success.*200/ }).count()).toBe(2);

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  expect(await page.getByRole('button', { name: 'Send test event' }).getAttribute('aria-disabled')).toBe('true');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete endpoint' }).click();
  await page.getByText('No endpoints yet').waitFor();
});

/** An owner on the page of an endpoint that receives two events. */
async function endpointPage() {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const events = ['agent.created', 'agent.deleted'];
  const { endpoint } = (await stack.call('POST', '/v1/webhooks', session, { url, events })).body;
  await visitor.goto(`/webhooks/${endpoint.id}`);
  const test = async (event: string): Promise<void> => {
    const made = await stack.call('POST', `/v1/webhooks/${endpoint.id}/test`, session, { event });
    expect(made.status).toBe(201);
  };
  return { visitor, page: visitor.page, test, secret: endpoint.secret as string };
}

test('rotates a secret with an overlap in which both sign, as the shown code verifies', async () => {
  const { visitor, page, secret: old } = await endpointPage();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Rotate secret' }).click();
  await page.getByLabel('The previous secret stays valid for').selectOption({ label: '1 hour' });
  await visitor.checkPage('webhook-rotate');
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByText(/The previous secret also signs deliveries until/).waitFor();
  const secret = (await page.locator('[data-secret]').textContent())!;
  const code = (await page.locator('[data-verify]').textContent())!;
  await visitor.checkPage('webhook-rotated');
  await page.getByRole('button', { name: 'I stored it' }).click();
  await page.getByText(/The previous one also signs deliveries until/).waitFor();
  expect(await page.content()).not.toContain(secret);

  await page.getByRole('button', { name: 'Send test event' }).click();
  await page.getByRole('combobox', { name: 'Event' }).last().selectOption({ label: 'Agent deleted' });
  await visitor.checkPage('webhook-test');
  await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('row', { name: /agent\.deleted.*success/ }).waitFor();
  const [delivery] = received;
  // Runs the code exactly as the page shows it.
  const isGenuine = (by: string): boolean =>
    runInNewContext(`${code}\nisGenuine(body, signatures, secret)`, {
      crypto,
      Buffer,
      body: Buffer.from(delivery!.body),
      signatures: delivery!.signatures,
      secret: by,
    });
  expect([isGenuine(secret), isGenuine(old), isGenuine('whsec_another')]).toEqual([true, true, false]);
});

test('retries all failed deliveries and replays a time range of one event', async () => {
  const { visitor, page, test } = await endpointPage();
  status = 500;
  for (const event of ['agent.created', 'agent.created', 'agent.deleted']) await test(event);
  await expect.poll(() => page.getByRole('row', { name: /failed.*500/ }).count()).toBe(3);
  status = 200;
  await page.getByRole('button', { name: 'Retry all failed' }).click();
  await page.getByText('Replayed: 3').waitFor();
  await expect.poll(() => page.getByRole('row', { name: /success.*200/ }).count()).toBe(3);

  await page.getByRole('button', { name: 'Replay' }).click();
  const dialog = page.getByRole('dialog', { name: 'Replay deliveries' });
  visitor.expectHttpError(400, /\/replay$/);
  const until = await dialog.getByLabel('To').inputValue();
  await dialog.getByLabel('To').fill(await dialog.getByLabel('From').inputValue());
  await dialog.getByRole('button', { name: 'Replay' }).click();
  await dialog.getByText('To must be after start').waitFor();
  await visitor.checkPage('webhook-replay');
  await dialog.getByLabel('To').fill(until);
  await dialog.getByLabel('Deliveries').selectOption({ label: 'Failed and delivered' });
  await dialog.getByLabel('Event').selectOption({ label: 'Agent created' });
  const before = received.length;
  await dialog.getByRole('button', { name: 'Replay' }).click();
  await page.getByText('Replayed: 2').waitFor();
  await expect.poll(() => received.length).toBe(before + 2);

  await page.getByRole('combobox', { name: 'Event' }).selectOption({ label: 'Agent deleted' });
  await expect.poll(() => page.getByRole('row', { name: /success/ }).count()).toBe(1);
  expect(page.url()).toContain('event=agent.deleted');
  await page.goBack();
  await expect.poll(() => page.getByRole('row', { name: /success/ }).count()).toBe(3);
});

test('keeps the input of the edit dialog while the gateway does not respond', async () => {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { page } = visitor;
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const made = { url: `${url}/one`, events: ['agent.created'] };
  const { id } = (await stack.call('POST', '/v1/webhooks', session, made)).body.endpoint;
  await visitor.goto(`/webhooks/${id}`);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill(`${url}/two`);
  let reads = 0;
  page.on('requestfailed', (request) => {
    if (request.method() === 'GET' && request.url().endsWith(id)) reads += 1;
  });
  visitor.expectHttpError(0, /./);
  await page.route('**/v1/**', (route) => route.abort());
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('It is unknown whether the change was saved').waitFor();
  await waitUntil('the endpoint was refetched until the last retry', async () => reads >= 3);
  await page.getByText('The data shown may be out of date.').waitFor();
  await page.unroute('**/v1/**');
  await page.getByText('The data shown may be out of date.').waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText(`${url}/two`).first().waitFor();
});

test('shows a rejected URL at its field', async () => {
  const { visitor } = await dashboard().signUpOwner();
  const { page } = visitor;
  visitor.expectHttpError(400, /\/v1\/webhooks$/);
  await visitor.goto('/webhooks');
  await page.getByRole('button', { name: 'Add endpoint' }).first().click();
  // With surrounding spaces, as from a clipboard; they are accepted.
  await page.getByLabel('Endpoint URL').fill(' http://169.254.169.254/latest ');
  await page.getByRole('button', { name: 'Save' }).click();
  const address = page.getByLabel('Endpoint URL');
  await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true');
  await page
    .getByText(/^Endpoint URL the port|^Endpoint URL the host|^Endpoint URL .* is not a public address/)
    .waitFor();
  expect(await page.evaluate('document.activeElement.getAttribute("aria-invalid")')).toBe('true');
  expect(await page.getByRole('dialog').getByRole('alert').count()).toBe(0);
});
