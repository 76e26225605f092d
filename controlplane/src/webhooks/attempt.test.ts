import { createGuardedAgent } from '@acg/base/egress/guarded-connector';
import { Secret } from '@acg/base/secret';
import { afterAll, expect, test } from 'vitest';
import { attemptDelivery } from './attempt.js';

const agents: ReturnType<typeof createGuardedAgent>[] = [];
afterAll(() => Promise.all(agents.map((agent) => agent.destroy())));

/** One attempt at a name whose lookup goes as told. */
function attempt(lookup: () => Promise<never>, timeoutMs = 30_000) {
  const agent = createGuardedAgent({ allowCidrs: [], connectTimeoutMs: timeoutMs, resolve: lookup });
  agents.push(agent);
  const delivery = {
    deliveryId: 'd',
    url: 'https://hooks.acme.com/',
    event: 'agent.created',
    body: '{}',
    secret: new Secret('whsec_test'),
  };
  return attemptDelivery(agent, delivery, timeoutMs, new AbortController());
}

test.each(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL'])('attempt: a lookup that ends in %s is of class dns', async (code) => {
  const failing = () =>
    Promise.reject(Object.assign(new Error(`getaddrinfo ${code}`), { code, syscall: 'getaddrinfo' }));
  expect(await attempt(failing)).toEqual({ statusCode: null, error: 'dns' });
});

test('attempt: a lookup that hangs is a timeout', async () => {
  expect(await attempt(() => new Promise(() => {}), 1)).toEqual({ statusCode: null, error: 'timeout' });
});
