/** Crashes during an outage: the breaker's state is right after the restart, and no probe slot is lost for ever. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openPool, type Sql } from '@acg/controlplane/db/postgres-client';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PlaneProcess } from '../fixtures/plane-process.js';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';

const PROBES = 3;
let stack: Stack;
let sql: Sql;
let provider: Server;
let plane: PlaneProcess;
let url: string;
let token: string;
let tenant: Tenant;
/** Status of the provider's responses; null: no response, calls hang. */
let providerStatus: number | null = 200;
let calls = 0;
let pendingResponses: ServerResponse[] = [];

beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      calls++;
      if (providerStatus === null) pendingResponses.push(response);
      else sendResponse(response, providerStatus);
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  stack = await Stack.start({
    providers: { openai: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` },
    // A cooldown that does not end by itself: the tests end it.
    env: {
      CIRCUIT_WINDOW_MS: '5000',
      CIRCUIT_MIN_REQUESTS: '10',
      CIRCUIT_COOLDOWN_MS: '3600000',
      CIRCUIT_PROBES: String(PROBES),
    },
  });
  sql = openPool(stack.database.url, { connectionsMax: 1, applicationName: 'test' });
  ({ plane, url } = await stack.addDataPlane());
  tenant = await stack.signUpTenant();
  const agent = await tenant.createAgent({ rpmLimit: 100_000, rpdLimit: 1_000_000 });
  token = await tenant.createToken(agent.id);
  await tenant.createAccount(agent.id, 'openai', { apiKey: 'sk-real-0123456789' });
});
afterAll(async () => {
  await sql?.end();
  await stack?.stop();
  provider.closeAllConnections();
  provider.close();
});

/** Each test begins with an open breaker that the data plane knows. */
beforeEach(async () => {
  pendingResponses = [];
  providerStatus = 503;
  await waitUntil(
    'the circuit is open',
    async () => (await call()).headers.has('retry-after') && (await readBreakerState()) === 'OPEN',
  );
});

function sendResponse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end('{"object":"list","data":[]}');
}

const call = (): Promise<Response> =>
  fetch(`${url}/v1/proxy/openai/v1/models`, { headers: { authorization: `Bearer ${token}` } });

async function readBreakerState(): Promise<string> {
  const { body } = await tenant.call('GET', '/v1/circuits');
  return body.circuits[0].state;
}

/** The gateway itself must reject; the provider must receive nothing. */
async function expectRejectedByGateway(): Promise<void> {
  const before = calls;
  const response = await call();
  expect([response.status, response.headers.has('retry-after'), calls]).toEqual([503, true, before]);
}

async function restartDataPlane(): Promise<void> {
  const ready = await plane.start();
  url = `http://127.0.0.1:${ready.port}`;
  const readyUrl = `http://127.0.0.1:${ready.metricsPort}/readyz`;
  await waitUntil('the data plane is ready', async () => (await fetch(readyUrl)).status === 200);
}

async function endCooldown(): Promise<void> {
  await sql`update circuits set open_until = clock_timestamp() where state = 'OPEN'`;
  await waitUntil('the circuit is half open', async () => (await readBreakerState()) === 'HALF_OPEN');
}

/** Starts all probes while the provider does not respond; resolves with the outcomes that their clients get. */
async function startProbes(): Promise<{ ends: Promise<(number | 'broken')[]> }> {
  providerStatus = null;
  const probes: Promise<number | 'broken'>[] = [];
  // The data plane may not know the half-open breaker yet and rejects until it does.
  await waitUntil('all probes are at the provider', async () => {
    const before = pendingResponses.length;
    const probe = call().then(
      (response) => response.status,
      () => 'broken' as const,
    );
    await Promise.race([probe, waitUntil('it has arrived', () => pendingResponses.length > before).catch(() => {})]);
    if (pendingResponses.length > before) probes.push(probe);
    return pendingResponses.length === PROBES;
  });
  return { ends: Promise.all(probes) };
}

test('breaker crash: a killed data plane knows an open breaker as soon as it is ready again', async () => {
  await plane.kill();
  providerStatus = 200;
  await restartDataPlane();
  await expectRejectedByGateway();
  expect(await readBreakerState()).toBe('OPEN');
});

test('breaker crash: the slots of probes that died with their data plane become free again', async () => {
  await endCooldown();
  const { ends } = await startProbes();
  await expectRejectedByGateway(); // no slot is free
  await plane.kill();
  expect(await ends).toEqual(Array(PROBES).fill('broken'));
  providerStatus = 200;
  await restartDataPlane();
  expect(await readBreakerState()).toBe('HALF_OPEN');
  await expectRejectedByGateway(); // the leases have not expired yet
  await sql`update circuit_probes set expires_at = clock_timestamp()`; // simulates the minute until the leases expire
  const before = calls;
  for (let i = 0; i < PROBES; i++) expect((await call()).status).toBe(200);
  expect(calls).toBe(before + PROBES);
  await waitUntil('the circuit is closed', async () => (await readBreakerState()) === 'CLOSED');
  expect(await sql`select lease from circuit_probes`).toHaveLength(0);
});

test('breaker crash: results of probes survive the death of both planes', async () => {
  await endCooldown();
  const { ends } = await startProbes();
  await stack.controlPlane.kill();
  for (const response of pendingResponses) sendResponse(response, 200);
  expect(await ends).toEqual(Array(PROBES).fill(200)); // the data plane wrote a received response to disk
  await plane.kill();
  const before = calls;
  await stack.startControlPlane();
  expect(await readBreakerState()).toBe('HALF_OPEN');
  await restartDataPlane();
  await waitUntil('the circuit is closed', async () => (await readBreakerState()) === 'CLOSED');
  expect(calls).toBe(before);
  providerStatus = 200;
  await waitUntil('calls pass again', async () => (await call()).status === 200);
});
