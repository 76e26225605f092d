/** Webhooks: duration of a delivery to a healthy receiver, while all receivers of three organizations hang. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Stack, Tenant } from '@acg/test/fixtures/stack';

const HOSTILE_ORGS = 3;
const ENDPOINTS = 100;

export async function webhookFigures(stack: Stack): Promise<{ quietMs: number; besideMs: number; hanging: number }> {
  const arrived: (() => void)[] = [];
  let hanging = 0;
  const receiver = createServer((request, response) => {
    request.resume();
    if (request.url === '/hang') {
      hanging++;
      return;
    }
    response.end();
    for (const done of arrived.splice(0)) done();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const endpoint = async (tenant: Tenant, path: string): Promise<string> => {
    const made = await tenant.call('POST', '/v1/webhooks', { url: base + path, events: ['agent.created'] });
    return made.body.endpoint.id;
  };
  const healthy = await stack.signUpTenant();
  const id = await endpoint(healthy, '/fine');
  const deliver = async (): Promise<number> => {
    const startTick = performance.now();
    const done = new Promise<void>((resolve) => arrived.push(resolve));
    await healthy.call('POST', `/v1/webhooks/${id}/test`);
    await done;
    return performance.now() - startTick;
  };
  const worstOf = async (count: number): Promise<number> => {
    let worst = 0;
    for (let i = 0; i < count; i++) worst = Math.max(worst, await deliver());
    return worst;
  };
  const quietMs = await worstOf(10);
  const hostile = await Promise.all(Array.from({ length: HOSTILE_ORGS }, () => stack.signUpTenant()));
  for (const tenant of hostile) for (let i = 0; i < ENDPOINTS; i++) await endpoint(tenant, '/hang');
  await Promise.all(hostile.map((tenant) => tenant.createAgent())); // an event for each of them
  while (hanging < 64) await new Promise((resolve) => setTimeout(resolve, 20));
  const besideMs = await worstOf(20);
  receiver.closeAllConnections();
  receiver.close();
  return { quietMs, besideMs, hanging };
}
