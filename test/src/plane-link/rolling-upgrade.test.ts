/**
 * Control planes of two releases on one database. The next release is this one with one more migration, which adds a
 * column to every table: the worst case of an additive migration for the previous release.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../fixtures/free-port.js';
import { PlaneProcess } from '../fixtures/plane-process.js';
import { Stack, TENANT_PASSWORD, waitForCondition } from '../fixtures/stack.js';
import { createTestDatabase, type TestDatabase } from '../fixtures/test-database.js';
import { type Receiver, startReceiver } from '../webhooks/webhook-receiver.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'acg-next-release-'));
const MIGRATION = `do $$ declare name text; begin
  for name in select c.oid::regclass::text from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  loop execute format('alter table %s add column next_release text', name); end loop; end $$;`;

/** Leaves the CPU to the planes that start. */
const PROVIDER_LATENCY_MS = 30;

const READ = [
  ...[
    'agents?projectId=:project',
    'projects',
    'api-keys',
    'providers',
    'providers/accounts',
    'webhooks',
    'members',
    'audit',
    'me',
    'status',
  ],
  ...['summary', 'logs', 'timeseries'].map((report) => `usage/agents/:agent/${report}`),
].map((path) => `/v1/${path}`);

let provider: Server;
let receiver: Receiver;
let database: TestDatabase;
let stack: Stack;
let next: PlaneProcess;
/** Whether calls run through the data plane. */
let calling = false;

function buildNextRelease(): string {
  const plane = join(home, 'controlplane');
  mkdirSync(plane);
  cpSync(join(root, 'controlplane/dist'), join(plane, 'dist'), { recursive: true });
  cpSync(join(root, 'controlplane/providers'), join(plane, 'providers'), { recursive: true });
  cpSync(join(root, 'controlplane/package.json'), join(plane, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'));
  writeFileSync(join(plane, 'dist/db/migrations/9000_next_release.sql'), MIGRATION);
  return join(plane, 'dist/bundle/main.js');
}

beforeAll(async () => {
  provider = createServer((_request, response) => {
    const answer = (): unknown =>
      response.setHeader('content-type', 'application/json').end('{"object":"list","data":[]}');
    setTimeout(answer, PROVIDER_LATENCY_MS);
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const { port } = provider.address() as AddressInfo;
  receiver = await startReceiver();
  database = await createTestDatabase();
  stack = await Stack.start({ database, providers: { openai: `http://127.0.0.1:${port}` } });
  const grpcPort = await freePort();
  next = new PlaneProcess(
    'controlplane',
    { ...stack.controlPlane.env, GRPC_LISTEN: `127.0.0.1:${grpcPort}`, GATEWAY_DATA_DIR: join(home, 'data') },
    buildNextRelease(),
  );
});
afterAll(async () => {
  calling = false;
  await next?.stop();
  await stack?.stop();
  await receiver?.close();
  provider?.closeAllConnections();
  provider?.close();
  rmSync(home, { recursive: true, force: true });
});

test('rolling upgrade: both releases serve side by side, no call fails and none is lost', async () => {
  const grpc = [stack.grpcPort, Number(next.env.GRPC_LISTEN!.split(':')[1])].map((port) => `127.0.0.1:${port}`);
  const { url } = await stack.addDataPlane({ CONTROLPLANE_GRPC: grpc.join() });
  const tenant = await stack.signUpTenant();
  const agent = await tenant.createAgent({ rpmLimit: 1_000_000, rpdLimit: 1_000_000 });
  await tenant.createAccount(agent.id, 'openai', { apiKey: 'sk-rolling-upgrade-0001' });
  const key = (await tenant.call('POST', '/v1/api-keys', { name: 'k', agentId: agent.id })).body;

  const email: string = (await tenant.call('GET', '/v1/me')).body.user.email;
  await tenant.call('POST', '/v1/webhooks', { url: `${receiver.url}/hook`, events: ['agent.created'] });
  /** Agents created during the upgrade, each of them an event. */
  const createdIds: string[] = [];

  calling = true;
  const statuses: number[] = [];
  const callOnce = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${key.secretKey}` };
    const answer = await fetch(`${url}/v1/proxy/openai/v1/models`, { headers });
    await answer.arrayBuffer();
    return answer.status;
  };
  const calls = Array.from({ length: 2 }, async () => {
    while (calling) statuses.push(await callOnce().catch(() => 0));
  });

  const ask = async (apiUrl: string, method: string, path: string, body?: unknown, session = tenant.session) => {
    const answer = await fetch(apiUrl + path, {
      method,
      headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
      ...(body === undefined ? (method === 'GET' ? {} : { body: '{}' }) : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, text, body: text.startsWith('{') ? JSON.parse(text) : null };
  };
  /** Typical management requests; returns those that did not succeed. `otherUrl` gets the same session. */
  const work = async (apiUrl: string, otherUrl = apiUrl): Promise<string[]> => {
    const failed: string[] = [];
    const done = async (method: string, path: string, body?: unknown) => {
      const answer = await ask(apiUrl, method, path, body);
      if (answer.status >= 300) failed.push(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.body;
    };
    const made = (await done('POST', '/v1/agents', { projectId: tenant.projectId, name: 'Made meanwhile' }))?.agent;
    createdIds.push(made?.id);
    const login = await done('POST', '/v1/auth/login', { email, password: TENANT_PASSWORD });
    const own = await ask(otherUrl, 'GET', '/v1/me', undefined, login?.token);
    if (own.status !== 200) failed.push(`the session of ${apiUrl} at ${otherUrl}: ${own.status} ${own.text}`);
    await done('PATCH', `/v1/agents/${made?.id}`, { name: 'Renamed meanwhile' });
    await done('POST', '/v1/api-keys', { name: 'meanwhile', agentId: made?.id });
    await done('DELETE', `/v1/agents/${made?.id}`);
    for (const path of READ) await done('GET', path.replace(':agent', agent.id).replace(':project', tenant.projectId));
    return failed;
  };
  const total = async (apiUrl: string): Promise<number> =>
    (await ask(apiUrl, 'GET', `/v1/usage/agents/${agent.id}/summary`)).body.totalRequests;

  // Before the upgrade: every statement is prepared on every connection of the pool.
  const before = await Promise.all(Array.from({ length: 10 }, () => work(stack.apiUrl)));
  expect(before.flat()).toEqual([]);
  await waitForCondition(async () => (await total(stack.apiUrl)) > 0, 'usage is booked');

  const ready = await next.start({ CONTROLPLANE_PORT: '0' });
  const nextUrl = `http://127.0.0.1:${ready.port}`;
  expect(next.output).toContain('9000_next_release.sql');
  const beside = await Promise.all(
    Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? work(stack.apiUrl, nextUrl) : work(nextUrl, stack.apiUrl))),
  );
  expect(beside.flat()).toEqual([]);
  const count = statuses.length;
  await waitForCondition(
    async () => (await total(stack.apiUrl)) > count,
    'the previous release records usage in the newer schema',
  );

  expect(await stack.controlPlane.stop()).toBe(0);
  expect(await work(nextUrl)).toEqual([]);
  calling = false;
  await Promise.all(calls);
  expect(new Set(statuses)).toEqual(new Set([200]));
  await waitForCondition(async () => (await total(nextUrl)) === statuses.length, 'every call is in the ledger, once');
  const delivered = (id: string): number => receiver.received.filter(({ body }) => body.includes(id)).length;
  await waitForCondition(() => createdIds.every((id) => delivered(id) > 0), 'every event has been delivered');
  expect(new Set(receiver.received.map(({ deliveryId }) => deliveryId)).size).toBe(createdIds.length);

  const revoked = await ask(nextUrl, 'DELETE', `/v1/api-keys/${key.key.id}`);
  expect(revoked.status).toBeLessThan(300);
  await waitForCondition(async () => (await callOnce()) === 401, 'the data plane follows the next release');
  // Rolling back needs an explicit step. The schema stays; the previous release logs that and exits.
  await expect(stack.controlPlane.start()).rejects.toThrow(
    'the database has schema version 9000, which this release does not support',
  );
});
