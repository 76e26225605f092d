/** An outage seen from outside: agents, status page and webhooks of a gateway of real processes. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type Receiver, startReceiver } from '../webhooks/webhook-receiver.js';

let stack: Stack;
let provider: Server;
let receiver: Receiver;
let tenant: Tenant;
/** Makes a call of the tenant's agent. */
let call: () => Promise<Response>;
/** Status of the provider's responses, and the number of its calls. */
let providerStatus = 200;
let calls = 0;

beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      calls++;
      response.writeHead(providerStatus, { 'content-type': 'application/json' }).end('{"object":"list","data":[]}');
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  receiver = await startReceiver();
  stack = await Stack.start({
    providers: { openai: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` },
    env: {
      CIRCUIT_WINDOW_MS: '5000',
      CIRCUIT_MIN_REQUESTS: '10',
      CIRCUIT_COOLDOWN_MS: '1500',
      CIRCUIT_PROBES: '3',
      LOG_LEVEL: 'warn',
    },
  });
  const { url } = await stack.addDataPlane();
  tenant = await stack.signUpTenant();
  const agent = await tenant.createAgent({ rpmLimit: 10_000 });
  const token = await tenant.createToken(agent.id);
  await tenant.createAccount(agent.id, 'openai', { apiKey: 'sk-real-0123456789' });
  call = () => fetch(`${url}/v1/proxy/openai/v1/models`, { headers: { authorization: `Bearer ${token}` } });
});
afterAll(async () => {
  await stack.stop();
  await receiver.close();
  provider.closeAllConnections();
  provider.close();
});

async function health(): Promise<{ status: string; openai: { state: string; status: string } }> {
  const { body } = await stack.call('GET', '/v1/status', null);
  return {
    status: body.status,
    openai: body.providers.find((entry: { slug: string }) => entry.slug === 'openai'),
  };
}
const circuits = async () => (await tenant.call('GET', '/v1/circuits')).body.circuits;
const events = () => receiver.received.map((one) => one.event);

test('outage: errors open the organization’s breaker, probes pass after the cooldown, their success closes it', async () => {
  const subscribed = ['provider.circuit_opened', 'provider.circuit_closed'];
  await tenant.call('POST', '/v1/webhooks', { url: `${receiver.url}/events`, events: subscribed });
  expect(await health()).toMatchObject({ status: 'operational', openai: { state: 'CLOSED', status: 'operational' } });
  expect((await call()).status).toBe(200);
  const origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const own = { providerSlug: 'openai', displayName: 'OpenAI', builtIn: true, origin, accounts: 1 };
  expect(await circuits()).toEqual([{ ...own, state: 'CLOSED', reason: null, since: null, nextProbeAt: null }]);

  providerStatus = 503;
  const rejected = await waitUntil('the circuit is open', async () => {
    const response = await call();
    return response.headers.get('retry-after') !== null && response;
  });
  expect(rejected.status).toBe(503);
  expect(((await rejected.json()) as { error: string }).error).toContain('failing');
  expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  await waitUntil('the status page shows it', async () => (await health()).openai.state !== 'CLOSED');
  const [shown] = await waitUntil('its own organization sees it', async () => {
    await call(); // a failing probe opens it again if the cooldown has ended already
    const rows = await circuits();
    return rows[0].state === 'OPEN' && rows;
  });
  expect(shown).toMatchObject({ ...own, since: expect.any(String), nextProbeAt: expect.any(String) });
  expect(['error_rate', 'probe_failed']).toContain(shown.reason);
  expect((await (await stack.signUpTenant()).call('GET', '/v1/circuits')).body).toMatchObject({
    circuits: [],
    total: 0,
  });
  await waitUntil('the event arrived', () => events().includes('provider.circuit_opened'));

  // Failing probes open it again, without another event and with at most three calls each time.
  const before = calls;
  await waitUntil('a probe failed', async () => {
    await call();
    return calls > before;
  });
  await waitUntil('it says why', async () => {
    await call();
    return (await circuits())[0].reason === 'probe_failed';
  });

  providerStatus = 200;
  await waitUntil('the circuit is closed', async () => {
    await call();
    return (await health()).openai.state === 'CLOSED';
  });
  await waitUntil('the event arrived', () => events().includes('provider.circuit_closed'));
  expect((await call()).status).toBe(200);
  expect(events()).toEqual(['provider.circuit_opened', 'provider.circuit_closed']);
  const opened = JSON.parse(receiver.received[0]!.body);
  expect(opened.data).toMatchObject({ providerSlug: 'openai', state: 'OPEN', windowSeconds: 5 });
  expect(opened.data.errorRate).toBeGreaterThanOrEqual(50);
  expect(opened.data.requests).toBeGreaterThanOrEqual(10);

  const page = await fetch(`${stack.apiUrl}/status`);
  expect(page.headers.get('content-type')).toContain('text/html');
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
  const html = await page.text();
  expect(html).toContain('OpenAI');
  expect(html).not.toMatch(/<script|src=|https?:\/\//);
  // An attempt is counted when the sender has its response, later than the arrival of the event.
  const metrics = await waitUntil('both attempts are counted', async () => {
    const metrics = await (await fetch(`${stack.apiUrl}/metrics`)).text();
    return metrics.includes('gateway_webhook_attempts_total{result="success"} 2') && metrics;
  });
  expect(metrics).toContain('gateway_circuit_state{provider="openai",state="CLOSED"} 1');
  expect(metrics).toContain('gateway_webhook_queue_depth 0');
});

test('outage: an open breaker survives the death of the control plane', async () => {
  providerStatus = 500;
  await waitUntil('the circuit is open', async () => (await call()).headers.get('retry-after') !== null);
  await stack.controlPlane.kill();
  await stack.startControlPlane();
  await waitUntil('it was tried again', async () => {
    const before = calls;
    await call();
    return calls > before;
  });
  expect((await health()).openai.state).not.toBe('CLOSED');
  providerStatus = 200;
  await waitUntil('it closes', async () => {
    await call();
    return (await health()).openai.state === 'CLOSED';
  });
});
