import { Dialer } from '@acg/base/dialer/dialer';
import { createUndiciAgent } from '@acg/base/dialer/undici-connector';
import { NameResolutionError } from '@acg/base/dns/name-resolver-interface';
import { Secret } from '@acg/base/secret';
import { afterAll, expect, test } from 'vitest';
import { postDelivery } from './post-delivery.js';

const agents: ReturnType<typeof createUndiciAgent>[] = [];
afterAll(() => Promise.all(agents.map((agent) => agent.destroy())));

/** Sends one attempt to a host name whose lookup is simulated by `lookup`. */
function attempt(lookup: () => Promise<never>, timeoutMs = 30_000) {
  const names = { resolve: lookup };
  const dialer = new Dialer({ allowCidrs: [], connectTimeoutMs: timeoutMs, tenantNames: names, operatorNames: names });
  const agent = createUndiciAgent(dialer, 'org-1');
  agents.push(agent);
  const delivery = {
    deliveryId: 'd',
    url: 'https://hooks.acme.com/',
    event: 'agent.created',
    body: '{}',
    secret: new Secret('whsec_test'),
    previousSecret: null,
  };
  return postDelivery(agent, delivery, timeoutMs, new AbortController());
}

const CODES = ['ENOTFOUND', 'EAI_AGAIN', 'LOOKUPS_BUSY'] as const;

test.each(CODES)('attempt: a lookup that ends in %s is of class dns', async (code) => {
  const failing = () => Promise.reject(new NameResolutionError('hooks.acme.com', code));
  expect(await attempt(failing)).toMatchObject({ statusCode: null, responseBody: null, error: 'dns' });
});

test('attempt: a lookup that hangs is a timeout', async () => {
  expect(await attempt(() => new Promise(() => {}), 1)).toMatchObject({
    statusCode: null,
    responseBody: null,
    error: 'timeout',
  });
});
