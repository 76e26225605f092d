/** The receiver of docs/webhooks.md, run as a reader would run it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';

const plane = useControlPlane();
const script = fileURLToPath(new URL('../../../examples/webhook-receiver.mjs', import.meta.url));
let child: ChildProcess | null = null;
afterAll(() => child?.kill('SIGKILL'));

test('example receiver: accepts signed deliveries and rejects all other requests', async () => {
  const admin = await plane().createMember('admin');
  const events = ['agent.budget_exceeded'];
  const created = await admin.call('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/', events });
  const { id, secret } = created.body.endpoint;
  let output = '';
  child = spawn(process.execPath, [script], { env: { WEBHOOK_SECRET: secret, PORT: '0' } });
  child.stdout!.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const port = await waitUntil('it listens', () => /listening on (\d+)/.exec(output)?.[1]);
  const url = `http://127.0.0.1:${port}/`;
  await admin.call('PATCH', `/v1/webhooks/${id}`, { url });
  const { body } = await admin.call('POST', `/v1/webhooks/${id}/test`);
  await waitUntil('it is delivered', async () => {
    const answer = await admin.call('GET', `/v1/webhooks/deliveries/${body.delivery.id}`);
    return answer.body.delivery.status === 'success';
  });
  await waitUntil('it was understood', () => output.includes('agent.budget_exceeded'));
  expect(output).toContain('spentCents: 5003');

  const forged = { method: 'POST', body: '{}', headers: { 'x-webhook-signature': 'ab'.repeat(32) } };
  expect((await fetch(url, forged)).status).toBe(401);
  expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
});
