/**
 * A database that lost committed revisions, as after a failover to a lagging standby: every data plane clears its
 * cache, and later revocations arrive. This test deletes the lost revisions; database-failover.test.ts loses them in a
 * real failover.
 */
import { createHash, randomBytes } from 'node:crypto';
import { uuidv7 } from '@acg/base/uuidv7';
import type { Sql } from '@acg/controlplane/db/postgres-client';
import { publishInvalidations } from '@acg/controlplane/watch/publish-invalidations';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { freePort } from '../fixtures/free-port.js';
import { createTestDatabase, type TestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type ConnectedContextCache, connectContextCache } from './connected-context-cache.js';

let database: TestDatabase;
let planes: TestControlPlane[];
let caches: ConnectedContextCache[];

beforeEach(async () => {
  database = await createTestDatabase();
  planes = [await startControlPlane({}, database), await startControlPlane({}, database)];
  caches = [];
});
afterEach(async () => {
  for (const cache of caches) cache.stop();
  for (const plane of planes) await plane.stop();
  await database.drop();
});

async function connectCache(plane: TestControlPlane): Promise<ConnectedContextCache> {
  const cache = connectContextCache([plane.grpcAddress], plane.config.link);
  caches.push(cache);
  await waitUntil('the watch is up', () => cache.source.isUp);
  return cache;
}

async function agentWithToken() {
  const { orgId } = await planes[0]!.createMember('admin');
  const [projectId, agentId, keyId] = [uuidv7(Date.now()), uuidv7(Date.now()), uuidv7(Date.now())];
  const token = `acg_${randomBytes(32).toString('hex')}`;
  const hash = createHash('sha256').update(token).digest();
  const { sql } = database;
  await sql`insert into projects (id, org_id, name, slug) values (${projectId}, ${orgId}, 'P', 'p')`;
  await sql`insert into agents (id, org_id, project_id, name, slug) values (${agentId}, ${orgId}, ${projectId}, 'A', 'a')`;
  await sql`insert into api_keys (id, org_id, agent_id, name, key_prefix, token_hash, scope)
            values (${keyId}, ${orgId}, ${agentId}, 'k', ${token.slice(0, 12)}, ${hash}, 'agent')`;
  const change = () => sql.begin((tx) => publishInvalidations(tx, [{ kind: 'agent', id: agentId }]));
  const revoke = () =>
    sql.begin(async (tx) => {
      await tx`update api_keys set revoked_at = now() where id = ${keyId}`;
      await publishInvalidations(tx, [{ kind: 'key', id: keyId, endsSessions: true }]);
    });
  return { keyId, token, change, revoke };
}

/** Deletes the newest revisions and issues this many again under their old numbers, in one step. */
async function loseRevisions(sql: Sql, lost: number, reissued: number): Promise<void> {
  await sql.begin(async (tx) => {
    const [row] = await tx<{ newest: number }[]>`select max(revision) as newest from invalidations`;
    const left = row!.newest - lost;
    await tx`delete from invalidations where revision > ${left}`;
    await tx`select setval(pg_get_serial_sequence('invalidations', 'revision'), ${left})`;
    for (let i = 0; i < reissued; i++) await publishInvalidations(tx, [{ kind: 'agent', id: uuidv7(Date.now()) }]);
  });
}

const waitUntilCaughtUp = async (caches: readonly ConnectedContextCache[]): Promise<void> => {
  const [row] = await database.sql<{ newest: number }[]>`select max(revision) as newest from invalidations`;
  await waitUntil('all is seen', () => caches.every(({ cache }) => cache.seenRevision === row!.newest));
};

const readRewindCount = async (plane: TestControlPlane): Promise<number> => {
  const { body } = await plane.call('GET', '/metrics');
  return Number(/gateway_database_rewinds_total\{seen_in="revisions"\} (\d+)/.exec(String(body))?.[1]);
};

describe('lost revisions', () => {
  test.each([
    ['fewer revisions than before', 0],
    ['as many revisions as before, under the same numbers', 5],
    ['more revisions than before', 9],
  ])('lost revisions: with %s data planes clear their cache and get the next revocation', async (_what, reissued) => {
    const { token, keyId, change, revoke } = await agentWithToken();
    const watching = [await connectCache(planes[0]!), await connectCache(planes[1]!)];
    for (let i = 0; i < 8; i++) await change();
    await waitUntilCaughtUp(watching);
    const resets = watching.map((one) => one.resets.length);
    for (const one of watching) expect((await one.resolve(token)).context?.keyId).toBe(keyId);
    await loseRevisions(database.sql, 5, reissued);
    await waitUntil('all clear their cache', () =>
      watching.every((one, i) => one.resets.length > resets[i]! && one.source.isUp),
    );
    for (const one of watching) expect((await one.resolve(token)).context?.keyId).toBe(keyId);
    await revoke();
    await waitUntil('the revocation arrives', () => watching.every((one) => one.ended.includes(`key ${keyId}`)));
    for (const one of watching) expect((await one.resolve(token)).rejection).toBe('unknown_token');
    for (const plane of planes) {
      expect(await readRewindCount(plane)).toBe(1);
      expect(plane.logLines.filter((line) => line.includes('has lost committed transactions'))).toHaveLength(1);
    }
  });

  test('lost revisions: a data plane that connects to a newly started control plane clears its cache, too', async () => {
    const { change } = await agentWithToken();
    const grpc = { GRPC_LISTEN: `127.0.0.1:${await freePort()}` };
    for (const plane of planes.splice(0)) await plane.stop();
    planes.push(await startControlPlane(grpc, database));
    const one = await connectCache(planes[0]!);
    for (let i = 0; i < 8; i++) await change();
    await waitUntilCaughtUp([one]);
    const resets = one.resets.length;
    for (const plane of planes.splice(0)) await plane.stop();
    await waitUntil('the link is down', () => !one.source.isUp);
    await loseRevisions(database.sql, 5, 9);
    planes.push(await startControlPlane(grpc, database));
    await waitUntil('it clears its cache', () => one.source.isUp && one.resets.length === resets + 1);
    expect(await readRewindCount(planes[0]!)).toBe(0); // it knew no revision that could be lost
  });

  test('lost revisions: a failover without loss resets no data plane', async () => {
    const { keyId, change, revoke } = await agentWithToken();
    const watching = [await connectCache(planes[0]!), await connectCache(planes[1]!)];
    await change();
    await waitUntilCaughtUp(watching);
    const resets = watching.map((one) => one.resets.length);
    await database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    await revoke();
    await waitUntil('the revocation arrives', () => watching.every((one) => one.ended.includes(`key ${keyId}`)));
    expect(watching.map((one) => one.resets.length)).toEqual(resets);
    for (const plane of planes) expect(await readRewindCount(plane)).toBe(0);
  });
});
