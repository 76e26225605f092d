/**
 * A workload with nothing but its platform's token reaches a provider. The end of its trust rule ends its key and the
 * call that it has running, and neither the database nor a disk holds a gateway token.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { createTestDatabase, type TestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { readAllRows } from '../tenant-isolation/find-rows-of-tenant.js';
import { CONDITIONS, exchangeToken } from './exchange-token.js';
import { StandInIssuer, workloadClaims } from './stand-in-issuer.js';

const CREDENTIAL = 'sk-provider-0123456789abcdef0123456789';
/** Answers a call of /v1/models, and begins an answer to any other that never ends. */
const provider = createServer((request, response) => {
  seenCredentials.push(request.headers.authorization ?? '');
  response.writeHead(200, { 'content-type': 'application/json' });
  if (request.url === '/v1/models') response.end('{"data":[]}');
  else response.write('{"data":[');
});
const seenCredentials: string[] = [];
let database: TestDatabase;
let issuer: StandInIssuer;
let stack: Stack;
let tenant: Tenant;
let url: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const { port } = provider.address() as AddressInfo;
  issuer = await StandInIssuer.start();
  database = await createTestDatabase();
  stack = await Stack.start({ database, providers: { openai: `http://127.0.0.1:${port}` } });
  ({ url } = await stack.addDataPlane());
  tenant = await stack.signUpTenant();
});
afterAll(async () => {
  provider.closeAllConnections();
  provider.close();
  await stack?.stop();
  await issuer.stop();
});

async function createRule(name: string): Promise<{ id: string; agentId: string; getKey: () => Promise<string> }> {
  const agent = await tenant.createAgent({ name });
  await tenant.createAccount(agent.id, 'openai', { apiKey: CREDENTIAL });
  const input = { name, agentId: agent.id, issuer: issuer.url, conditions: CONDITIONS };
  const { body } = await tenant.call('POST', '/v1/trust-rules', input);
  const getKey = async () => {
    const token = issuer.keys[0]!.sign(workloadClaims(issuer.url, body.rule.audience));
    return (await exchangeToken(stack.apiUrl, body.rule.id, token)).body.access_token as string;
  };
  return { id: body.rule.id, agentId: agent.id, getKey };
}

const callModels = (key: string) =>
  fetch(`${url}/v1/proxy/openai/v1/models`, { headers: { authorization: `Bearer ${key}` } });
const openCall = async (key: string) => {
  const response = await fetch(`${url}/v1/proxy/openai/v1/files`, { headers: { authorization: `Bearer ${key}` } });
  const reader = response.body!.getReader();
  await reader.read();
  return reader;
};

function* filesBelow(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.isFile()) yield path;
  }
}

test('a workload reaches a provider with a key of an exchange; its usage names the rule; no store has the token', async () => {
  const rule = await createRule('Workload');
  const key = await rule.getKey();
  const answer = await callModels(key);
  expect([answer.status, await answer.json()]).toEqual([200, { data: [] }]);
  expect(seenCredentials).toEqual([`Bearer ${CREDENTIAL}`]);
  await waitUntil('the usage is booked', async () => {
    const { body } = await tenant.call('GET', `/v1/usage/logs?agentId=${rule.agentId}`);
    return body.logs?.length === 1 && body.logs[0].keyId === rule.id;
  });
  const rows = [...(await readAllRows(database.sql)).values()].flat().join('\n');
  expect(rows).toContain(rule.id);
  const digits = key.slice('acg_'.length);
  for (const text of [digits, CREDENTIAL]) expect(rows.includes(text)).toBe(false);
  const files = [...filesBelow(stack.home)];
  expect(files.length).toBeGreaterThan(2);
  for (const file of files) {
    const content = readFileSync(file);
    expect([file, content.includes(digits), content.includes(CREDENTIAL)]).toEqual([file, false, false]);
  }
});

test.each([
  ['the deletion of its rule', (id: string) => tenant.call('DELETE', `/v1/trust-rules/${id}`)],
  [
    'a change of its rule',
    (id: string) =>
      tenant.call('PATCH', `/v1/trust-rules/${id}`, { conditions: [{ claim: 'sub', values: ['other'] }] }),
  ],
])('%s ends all keys of the rule and their running calls, and no others', async (_name, end) => {
  const [ended, kept] = [await createRule('Ended'), await createRule('Kept')];
  const keys = [await ended.getKey(), await ended.getKey()];
  const other = await kept.getKey();
  const running = await Promise.all(keys.map(openCall));
  const otherRunning = await openCall(other);
  expect((await end(ended.id)).status).toBe(200);
  // A response that never ends by itself breaks off.
  for (const reader of running) await expect(reader.read()).rejects.toThrow();
  for (const key of keys) await waitUntil('the key has ended', async () => (await callModels(key)).status === 401);
  expect((await callModels(other)).status).toBe(200);
  await otherRunning.cancel();
});

test('a key ends at its expiry, with the call that it has running', async () => {
  const rule = await createRule('Expiring');
  const key = await rule.getKey();
  // As if the rule had a lifetime of two seconds; the API accepts 60 and more.
  await database.sql`update trust_rule_keys set expires_at = now() + interval '2 seconds' where rule_id = ${rule.id}`;
  const running = await openCall(key);
  await expect(running.read()).rejects.toThrow();
  expect((await callModels(key)).status).toBe(401);
});

test('a run that an exchanged key starts ends with the key at the latest, and with its rule', async () => {
  const rule = await createRule('runs');
  const key = await rule.getKey();
  const start = async (expiresIn?: number) => {
    const response = await fetch(`${url}/v1/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ budgetCents: 100, ...(expiresIn === undefined ? {} : { expiresIn }) }),
    });
    return { status: response.status, body: (await response.json()) as { error?: string; secretKey: string } };
  };
  expect(await start(86_400)).toMatchObject({ status: 400, body: { error: expect.stringContaining('gateway token') } });
  const { status, body } = await start();
  expect(status).toBe(201);
  expect((await callModels(body.secretKey)).status).toBe(200);
  expect((await tenant.call('DELETE', `/v1/trust-rules/${rule.id}`)).status).toBe(200);
  // A call that is under way when the run ends is broken off.
  await waitUntil(
    'the run has ended',
    async () => (await callModels(body.secretKey).catch(() => null))?.status === 401,
  );
});
