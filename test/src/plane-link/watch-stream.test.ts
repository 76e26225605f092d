/** Several control-plane instances and data planes on one database: which data plane receives which message. */
import { createHash, randomBytes } from 'node:crypto';
import { uuidv7 } from '@acg/base/uuidv7';
import { publishInvalidations } from '@acg/controlplane/watch/publish-invalidations';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { freePort } from '../fixtures/free-port.js';
import { createTestDatabase, type TestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type ConnectedContextCache, connectContextCache } from './connected-context-cache.js';

let database: TestDatabase;
let first: TestControlPlane;
let second: TestControlPlane;
const watching: ConnectedContextCache[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  first = await startControlPlane({}, database);
  second = await startControlPlane({}, database);
});
afterEach(() => {
  for (const one of watching.splice(0)) one.stop();
});
afterAll(async () => {
  await first?.stop();
  await second?.stop();
  await database?.drop();
});

const watch = async (
  planes: readonly TestControlPlane[],
  identity: Parameters<typeof connectContextCache>[2] = {},
  options: Parameters<typeof connectContextCache>[3] = {},
): Promise<ConnectedContextCache> => {
  const one = connectContextCache(
    planes.map((plane) => plane.grpcAddress),
    first.config.link,
    identity,
    options,
  );
  watching.push(one);
  await waitUntil('the watch is settled', () => one.source.isUp || one.fatal.length > 0);
  return one;
};

/** Creates an agent with a token directly in the database. */
async function agentWithToken() {
  const { orgId } = await first.createMember('admin');
  const [projectId, agentId, keyId] = [uuidv7(Date.now()), uuidv7(Date.now()), uuidv7(Date.now())];
  const token = `acg_${randomBytes(32).toString('hex')}`;
  const hash = createHash('sha256').update(token).digest();
  const { sql } = database;
  await sql`insert into projects (id, org_id, name, slug) values (${projectId}, ${orgId}, 'P', 'p')`;
  await sql`insert into agents (id, org_id, project_id, name, slug) values (${agentId}, ${orgId}, ${projectId}, 'A', 'a')`;
  await sql`insert into api_keys (id, org_id, agent_id, name, key_prefix, token_hash, scope)
            values (${keyId}, ${orgId}, ${agentId}, 'k', ${token.slice(0, 12)}, ${hash}, 'agent')`;
  const revoke = () =>
    sql.begin(async (tx) => {
      await tx`update api_keys set revoked_at = now() where id = ${keyId}`;
      await publishInvalidations(tx, [{ kind: 'key', id: keyId, endsSessions: true }]);
    });
  return { orgId, agentId, keyId, token, revoke };
}

describe('Watch', () => {
  it('a revocation reaches the data planes of every instance', async () => {
    const { token, keyId, revoke } = await agentWithToken();
    const caches = [await watch([first]), await watch([second])];
    for (const one of caches) expect((await one.resolve(token)).context?.keyId).toBe(keyId);
    await revoke();
    await waitUntil('the end of its sessions arrives', () => caches.every((one) => one.ended.includes(`key ${keyId}`)));
    for (const one of caches) expect((await one.resolve(token)).rejection).toBe('unknown_token');
  });

  it('invalidations missed while disconnected are replayed, and the rest stays cached', async () => {
    const gone = await agentWithToken();
    const kept = await agentWithToken();
    const other = await startControlPlane({ GRPC_LISTEN: `127.0.0.1:${await freePort()}` }, database);
    const one = await watch([other]);
    await one.resolve(gone.token);
    await one.resolve(kept.token);
    const address = other.grpcAddress;
    await other.stop();
    await waitUntil('the link is down', () => !one.source.isUp);
    await gone.revoke();
    const again = await startControlPlane({ GRPC_LISTEN: address }, database);
    await waitUntil('the link is up again', () => one.source.isUp);
    expect(one.cache.size).toBe(1);
    expect((await one.resolve(gone.token)).rejection).toBe('unknown_token');
    await again.stop();
  });

  it('the data plane moves to another instance when its own stops', async () => {
    const { token, keyId, revoke } = await agentWithToken();
    const other = await startControlPlane({}, database);
    const one = await watch([other, first]);
    await one.resolve(token);
    await other.stop();
    await waitUntil('the link is up elsewhere', () => one.source.isUp);
    await revoke();
    await waitUntil('the revocation arrives', () => one.ended.includes(`key ${keyId}`));
  });

  it('changes arrive after the LISTEN connections were cut', async () => {
    const { keyId, revoke } = await agentWithToken();
    const one = await watch([first]);
    await database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and query ilike 'listen%'`;
    await revoke();
    await waitUntil('the revocation arrives', () => one.ended.includes(`key ${keyId}`));
  });

  it('every instance rejects a second data plane with in-process counters until the first has disconnected', async () => {
    const registered = (): Promise<readonly object[]> => database.sql`select 1 from data_planes`;
    // A registration ends with its connection, a moment after the data plane itself.
    await waitUntil('those of other tests have left', async () => (await registered()).length === 0);
    const one = await watch([first], { counters: 'memory', dataPlaneId: 'a' });
    const rejected = await watch([second], { counters: 'memory', dataPlaneId: 'b' });
    expect(rejected.fatal).toEqual([expect.stringContaining('Set REDIS_URL')]);
    const replaced = await watch([second], { counters: 'memory', dataPlaneId: 'a' });
    expect(replaced.source.isUp).toBe(true);
    one.stop();
    replaced.stop();
    // The replaced first one may have been about to reconnect: then its registration ends only after that.
    await waitUntil('another one is accepted', async () => {
      await waitUntil('the registration has ended', async () => (await registered()).length === 0);
      return (await watch([second], { counters: 'memory', dataPlaneId: 'b' })).source.isUp;
    });
  });
});
