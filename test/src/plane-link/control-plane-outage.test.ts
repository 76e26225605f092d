/**
 * Whole planes as processes: what agents see while the control plane is down, after it is back, and during credential
 * changes.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack, type Tenant, waitForCondition } from '../fixtures/stack.js';
import { createTestDatabase, type TestDatabase } from '../fixtures/test-database.js';

/** A provider that responds with the received credential, shortened so that the gateway does not mask it. */
let provider: Server;
const seenCredentials: string[] = [];
let database: TestDatabase;
let stack: Stack;
let proxyUrl: string;
let tenant: Tenant;

beforeAll(async () => {
  provider = createServer((request, response) => {
    seenCredentials.push(request.headers.authorization ?? '');
    response.setHeader('content-type', 'application/json').end('{"object":"list","data":[]}');
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const { port } = provider.address() as AddressInfo;
  database = await createTestDatabase();
  stack = await Stack.start({ database, providers: { openai: `http://127.0.0.1:${port}` } });
  proxyUrl = (await stack.addDataPlane()).url;
  tenant = await stack.signUpTenant();
});
afterAll(async () => {
  await stack?.stop();
  provider?.closeAllConnections();
  provider?.close();
});

const callStatus = async (token: string): Promise<number> => {
  const response = await fetch(`${proxyUrl}/v1/proxy/openai/v1/models`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await response.arrayBuffer();
  return response.status;
};

async function createAgentWithAccount(apiKey: string) {
  const agent = await tenant.createAgent({ rpmLimit: 100_000, rpdLimit: 1_000_000 });
  const accountId = await tenant.createAccount(agent.id, 'openai', { apiKey });
  const created = await tenant.call('POST', '/v1/api-keys', { name: 'k', agentId: agent.id });
  return { agent, accountId, keyId: created.body.key.id as string, token: created.body.secretKey as string };
}

test('rotate: no call fails, and the new credential is in use soon after the response to the rotation', async () => {
  const { accountId, token } = await createAgentWithAccount('sk-round-0-0123456789');
  let stop = false;
  const statuses: number[] = [];
  const calling = Array.from({ length: 4 }, async () => {
    while (!stop) statuses.push(await callStatus(token));
  });
  for (let round = 1; round <= 5; round++) {
    const apiKey = `sk-round-${round}-0123456789`;
    const answer = await tenant.call('POST', `/v1/providers/accounts/${accountId}/rotate`, { credentials: { apiKey } });
    expect(answer.status).toBe(200);
    await waitForCondition(() => seenCredentials.at(-1) === `Bearer ${apiKey}`, 'the new credential is in use');
  }
  stop = true;
  await Promise.all(calling);
  expect(statuses.length).toBeGreaterThan(20);
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test('control plane killed: cached tokens work, others get 503; after the restart a revocation arrives', async () => {
  const cached = await createAgentWithAccount('sk-cached-0123456789');
  const fresh = await createAgentWithAccount('sk-fresh-0123456789');
  expect(await callStatus(cached.token)).toBe(200);
  await stack.controlPlane.terminate('SIGKILL');
  for (let n = 0; n < 20; n++) expect(await callStatus(cached.token)).toBe(200);
  expect(await callStatus(fresh.token)).toBe(503);
  expect(await callStatus(`acg_${'0'.repeat(64)}`)).toBe(503);
  await stack.startControlPlane();
  await waitForCondition(async () => (await callStatus(fresh.token)) === 200, 'uncached tokens resolve again');
  expect((await tenant.call('DELETE', `/v1/api-keys/${cached.keyId}`)).status).toBe(200);
  await waitForCondition(async () => (await callStatus(cached.token)) === 401, 'the revocation has arrived');
  expect(await callStatus(fresh.token)).toBe(200);
});

test('revoked during an outage of the plane link: after the reconnect the cached token is rejected', async () => {
  const { keyId, token } = await createAgentWithAccount('sk-gone-0123456789');
  expect(await callStatus(token)).toBe(200);
  await stack.controlPlane.terminate('SIGKILL');
  await database.sql.begin(async (tx) => {
    // As another control-plane instance would do it meanwhile.
    await tx`update api_keys set revoked_at = now() where id = ${keyId}`;
    await tx`insert into invalidations (kind, id, ends_sessions) values ('key', ${keyId}, true)`;
  });
  expect(await callStatus(token)).toBe(200);
  await stack.startControlPlane();
  await waitForCondition(async () => (await callStatus(token)) === 401, 'the missed revocation is replayed');
});
