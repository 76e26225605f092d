/** Deliveries over several control planes as real processes on one database. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PlaneProcess } from '../fixtures/plane-process.js';
import { createTestDatabase, type TestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { isSignatureValid, type Receiver, startReceiver } from './webhook-receiver.js';

let receiver: Receiver;
const homes: string[] = [];
const planes: PlaneProcess[] = [];
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await Promise.all(planes.map((plane) => plane.kill()));
  await receiver.close();
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

function startControlPlaneProcess(database: TestDatabase, timeoutMs: number): PlaneProcess {
  const home = mkdtempSync(join(tmpdir(), 'acg-webhooks-'));
  homes.push(home);
  const plane = new PlaneProcess('controlplane', {
    GATEWAY_DATA_DIR: home,
    CONTROLPLANE_PORT: '0',
    GRPC_LISTEN: '127.0.0.1:0',
    DATABASE_URL: database.url.reveal(),
    MASTER_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    JWT_SECRET: 'test-jwt-secret-0123456789-0123456789',
    INTERNAL_TOKEN: 'test-internal-token-0123456789-0123456789',
    EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
    WEBHOOK_TIMEOUT_MS: String(timeoutMs),
  });
  planes.push(plane);
  return plane;
}

/** Signs up, creates endpoints, and triggers one event `count` times. */
async function createEndpointsAndEvents(port: number, database: TestDatabase, paths: readonly string[], count: number) {
  const post = async (path: string, body: unknown, token?: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(201);
    return (await response.json()) as { token: string; org: { id: string }; endpoint: { secret: string } };
  };
  const email = `${paths[0]!.slice(1)}@example.com`;
  const user = { email, password: 'correct horse battery', name: 'Ada', orgName: 'Org' };
  const { token, org } = await post('/v1/auth/signup', user);
  const secrets = new Map<string, string>();
  for (const path of paths) {
    const { endpoint } = await post('/v1/webhooks', { url: receiver.url + path, events: ['agent.created'] }, token);
    secrets.set(path, endpoint.secret);
  }
  await database.sql`
    insert into events (id, org_id, event, data)
    select gen_random_uuid(), ${org.id}, 'agent.created', json_build_object('n', n) from generate_series(1, ${count}) n`;
  await database.sql`select pg_notify('webhooks', '')`;
  return secrets;
}
const at = (paths: ReadonlyMap<string, string>) => receiver.received.filter((one) => paths.has(one.path));
const countUnfinishedDeliveries = async (database: TestDatabase): Promise<number> => {
  const [row] = await database.sql<{ left: number }[]>`
    select (select count(*) from webhook_deliveries where status <> 'success')
         + (select count(*) from events where fanned_out_at is null) as left`;
  return row!.left;
};

test('crash: kill -9 during 1000 deliveries loses none; a repeated delivery has the same id', async () => {
  const database = await createTestDatabase();
  // The leases of a dead process expire after this time and a few seconds more.
  const timeoutMs = 500;
  const first = startControlPlaneProcess(database, timeoutMs);
  const { port } = await first.start();
  // Slow enough that the kill comes while attempts are in flight.
  const paths = Array.from({ length: 10 }, (_, i) => `/crash-${i}`);
  for (const path of paths) receiver.on(path, (response) => setTimeout(() => response.writeHead(200).end(), 10));
  const secrets = await createEndpointsAndEvents(port, database, paths, 100);
  await waitUntil('a good part has arrived', () => at(secrets).length >= 200);
  await first.kill();
  const received = at(secrets).length;
  expect(received).toBeLessThan(1_000);
  const claimed = await database.sql<{ id: string }[]>`
    select id from webhook_deliveries where lease is not null and status = 'pending'`;
  // Long, so that no attempt times out on a busy machine.
  const second = startControlPlaneProcess(database, 30_000);
  await second.start();
  await waitUntil('all are delivered', async () => (await countUnfinishedDeliveries(database)) === 0);
  const all = at(secrets);
  expect(all.every((one) => isSignatureValid(secrets.get(one.path)!, one))).toBe(true);
  const facts = new Map<string, Set<string>>();
  for (const one of all) {
    const fact = `${one.path} ${JSON.parse(one.body).data.n}`;
    facts.set(fact, (facts.get(fact) ?? new Set()).add(one.deliveryId));
  }
  expect(facts.size).toBe(1_000);
  expect([...facts.values()].every((ids) => ids.size === 1)).toBe(true);
  // A delivery arrives once per recorded attempt, and once more only if the dead process had it in flight.
  const deliveries = await database.sql<
    { id: string; attempts: number }[]
  >`select id, attempts from webhook_deliveries`;
  const most = new Map(deliveries.map(({ id, attempts }) => [id, attempts]));
  for (const { id } of claimed) most.set(id, most.get(id)! + 1);
  for (const { deliveryId } of all) most.set(deliveryId, most.get(deliveryId)! - 1);
  expect([...most].filter(([, left]) => left < 0)).toEqual([]);
  await second.stop();
  expect(first.output + second.output).not.toContain('whsec_');
  await database.drop();
});

test('crash: three control planes on one database claim no delivery twice', async () => {
  const database = await createTestDatabase();
  // Long, so that no attempt times out on a busy machine: a repeated delivery must have been claimed twice.
  const all = [1, 2, 3].map(() => startControlPlaneProcess(database, 30_000));
  const [ready] = await Promise.all(all.map((plane) => plane.start()));
  const paths = Array.from({ length: 10 }, (_, i) => `/shared-${i}`);
  const secrets = await createEndpointsAndEvents(ready!.port, database, paths, 100);
  await waitUntil('all are delivered', async () => (await countUnfinishedDeliveries(database)) === 0);
  const ids = at(secrets).map((one) => one.deliveryId);
  expect(ids).toHaveLength(1_000);
  expect(new Set(ids).size).toBe(1_000);
  const [row] = await database.sql<{ attempts: number }[]>`select sum(attempts) as attempts from webhook_deliveries`;
  expect(row!.attempts).toBe(1_000);
  await Promise.all(all.map((plane) => plane.stop()));
  await database.drop();
});
