/**
 * Another server becomes the primary: the counters find it by its name or through Sentinel and continue with its
 * counts.
 */
import { parseRedisAddress } from '@acg/dataplane/counters/redis/client/redis-address';
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { RedisSentinel, SENTINEL_GROUP, SENTINEL_PASSWORD } from '../fixtures/sentinel-process.js';
import { TcpProxy } from '../fixtures/tcp-proxy.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { admit, CountingMetrics, captureLog, createAdmissionRequest, settleSpend } from './counters-fixture.js';

let primary: RedisServer;
let replica: RedisServer;
let counters: RedisCounters | null = null;
let lines: readonly string[] = [];

beforeEach(async () => {
  const args = ['--repl-diskless-sync-delay', '0'];
  primary = await RedisServer.start({ args });
  replica = await RedisServer.start({ args });
  await startReplication(replica, primary);
});
afterEach(async () => {
  await counters?.close();
  counters = null;
  await Promise.all([primary, replica].map((server) => server.stop()));
});

/** Makes the server a replica and waits until it has the data. */
async function startReplication(server: RedisServer, of: RedisServer): Promise<void> {
  await server.admin.call('REPLICAOF', '127.0.0.1', String(of.port));
  await waitUntil('the replica has the data', async () =>
    (await readReplicationInfo(server)).includes('master_link_status:up'),
  );
}

const readReplicationInfo = async (server: RedisServer): Promise<string> =>
  String(await server.admin.info('replication'));

async function waitUntilReplicated(from: RedisServer): Promise<void> {
  await from.admin.set('copied', '1');
  await waitUntil('the writes are copied', async () => (await from.admin.wait(1, 100)) === 1);
}

async function openCounters(url: string): Promise<RedisCounters> {
  const captured = captureLog();
  lines = captured.lines;
  const options = { ...parseRedisAddress(url)!, connectionName: 'acg-test', tlsCa: null, timeoutMs: 1_000 };
  counters = new RedisCounters(options, captured.log, new CountingMetrics());
  await counters.waitForStoreAndCheckEviction();
  expect(counters.isEnforcing).toBe(true);
  return counters;
}

const limitedRequest = createAdmissionRequest({ rpmLimit: 2 });
const admitOnce = async (): Promise<string> => (await admit(counters!, limitedRequest)).outcome;

async function exhaustRateLimit(): Promise<void> {
  expect([await admitOnce(), await admitOnce(), await admitOnce()]).toEqual(['admitted', 'admitted', 'rpm']);
}

const OUTAGE_LOG_LINES = [
  'warn: counter store unavailable: requests pass unchecked',
  'info: counter store is back: limits are enforced',
];

describe('a host name that resolves to the primary', () => {
  let name: TcpProxy;
  beforeEach(async () => {
    name = await TcpProxy.start(primary.port);
  });
  afterEach(() => name.stop());

  test('failover: leaves a primary that became a replica at once and continues with the counts of the new one', async () => {
    await openCounters(`redis://127.0.0.1:${name.port}`);
    await exhaustRateLimit();
    await waitUntilReplicated(primary);
    name.targetPort = replica.port;
    await replica.admin.call('REPLICAOF', 'NO', 'ONE');
    await primary.admin.call('REPLICAOF', '127.0.0.1', String(replica.port));
    const other = createAdmissionRequest({ providerSlug: 'anthropic', rpmLimit: 1 });
    await waitUntil('the other limit holds at the new primary', async () => {
      await admit(counters!, other); // a write: the old primary responds with READONLY
      return counters!.isEnforcing && (await admit(counters!, other)).outcome === 'rpm';
    });
    expect(await admitOnce()).toBe('rpm');
    expect(await replica.admin.exists('copied')).toBe(1);
    expect(lines).toEqual(OUTAGE_LOG_LINES);
  });

  test('failover: fails open while the name still resolves to the replica, logs it once and retries slowly', async () => {
    await openCounters(`redis://127.0.0.1:${name.port}`);
    await primary.admin.call('REPLICAOF', '127.0.0.1', String(replica.port));
    await waitUntil('the gate is open', async () => (await admitOnce()) === 'unchecked');
    const before = name.connections;
    for (let i = 0; i < 200; i++) expect(await admitOnce()).toBe('unchecked');
    expect(name.connections - before).toBeLessThanOrEqual(3);
    await primary.admin.call('REPLICAOF', 'NO', 'ONE');
    await waitUntil('limits are enforced again', () => counters!.isEnforcing);
    expect(lines).toEqual(OUTAGE_LOG_LINES);
  });

  test('failover: leaves a replica that lost its primary', async () => {
    await replica.admin.config('SET', 'replica-serve-stale-data', 'no');
    name.targetPort = replica.port;
    const captured = captureLog();
    const address = parseRedisAddress(`redis://127.0.0.1:${name.port}`)!;
    await primary.kill();
    await waitUntil('the link is down', async () =>
      (await readReplicationInfo(replica)).includes('master_link_status:down'),
    );
    counters = new RedisCounters(
      { ...address, connectionName: 'acg-test', tlsCa: null, timeoutMs: 1_000 },
      captured.log,
      new CountingMetrics(),
    );
    await counters.waitForStoreAndCheckEviction(); // the replica responds with MASTERDOWN
    expect(counters.isEnforcing).toBe(false);
    await primary.restart();
    name.targetPort = primary.port;
    await waitUntil('limits are enforced at the primary', () => counters!.isEnforcing);
  });
});

describe('Redis Sentinel', () => {
  let sentinels: readonly RedisSentinel[] = [];
  afterEach(async () => {
    await Promise.all(sentinels.map((sentinel) => sentinel.stop()));
    sentinels = [];
  });

  const urlOf = (group: readonly RedisSentinel[]): string => {
    const hosts = group.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return `redis+sentinel://${hosts}/${SENTINEL_GROUP}/0?sentinelPassword=${encodeURIComponent(SENTINEL_PASSWORD)}`;
  };

  test('sentinel: when the primary dies, the counters find the replica with the counts and keep all spend', async () => {
    sentinels = await RedisSentinel.startGroup(primary, 3, 2);
    const open = await openCounters(urlOf(sentinels));
    const budgeted = createAdmissionRequest({ budgetNanos: 100, providerSlug: 'budgeted' });
    const { agentId, orgId } = budgeted.limits;
    settleSpend(open, agentId, 50, undefined, orgId);
    await exhaustRateLimit();
    expect(await admit(open, budgeted)).toMatchObject({ outcome: 'admitted', spentNanos: 50 });
    await waitUntilReplicated(primary);
    replica.pause(); // it never gets what follows
    settleSpend(open, agentId, 10, undefined, orgId);
    expect(await admit(open, budgeted)).toMatchObject({ outcome: 'admitted', spentNanos: 60 });
    await primary.kill();
    replica.resume();
    await waitUntil('the gate is open', async () => (await admitOnce()) === 'unchecked');
    settleSpend(open, agentId, 40, undefined, orgId);
    await waitUntil('the sentinels agree', async () => (await sentinels[0]!.primaryPort()) === replica.port);
    await waitUntil('limits are enforced again', () => counters!.isEnforcing);
    expect(await admitOnce()).toBe('rpm');
    expect(await admit(open, budgeted)).toMatchObject({ outcome: 'budget', spentNanos: 100 });
    expect(lines).toEqual(OUTAGE_LOG_LINES);
  });

  test('sentinel: a requested failover moves every data plane, although the old primary still responds', async () => {
    sentinels = await RedisSentinel.startGroup(primary, 3, 2);
    await openCounters(urlOf(sentinels));
    await exhaustRateLimit();
    await waitUntilReplicated(primary);
    await sentinels[0]!.admin.call('SENTINEL', 'FAILOVER', SENTINEL_GROUP);
    await waitUntil('the counters are at the new primary', async () => {
      await admitOnce();
      return String(await replica.admin.client('LIST')).includes('name=acg-test');
    });
    await waitUntil('limits are enforced', () => counters!.isEnforcing);
    expect(await admitOnce()).toBe('rpm');
    expect(String(await primary.admin.client('LIST'))).not.toContain('name=acg-test');
  });

  test('sentinel: skips a sentinel that still names the old primary', async () => {
    sentinels = await RedisSentinel.startGroup(primary, 3, 2);
    const [stale, ...others] = sentinels;
    await openCounters(urlOf([stale!, ...others]));
    await exhaustRateLimit();
    await waitUntilReplicated(primary);
    stale!.pause();
    await others[0]!.admin.call('SENTINEL', 'FAILOVER', SENTINEL_GROUP);
    await waitUntil('the others agree', async () => (await others[1]!.primaryPort()) === replica.port);
    await waitUntil('the old primary is a replica', async () =>
      (await readReplicationInfo(primary)).includes('role:slave'),
    );
    await waitUntil('the counters are at the new primary', async () => {
      await admitOnce();
      return counters!.isEnforcing && String(await replica.admin.client('LIST')).includes('name=acg-test');
    });
    expect(await admitOnce()).toBe('rpm');
  });

  test('sentinel: skips a sentinel that does not respond', async () => {
    sentinels = await RedisSentinel.startGroup(primary, 3, 2);
    sentinels[0]!.pause();
    await openCounters(urlOf(sentinels));
    await exhaustRateLimit();
  });
});
