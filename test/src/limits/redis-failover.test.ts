/** Another server becomes the primary: found anew by its name or through Sentinel, with the counts that it has. */
import { parseRedisAddress } from '@acg/dataplane/counters/redis-address';
import { RedisCounters } from '@acg/dataplane/counters/redis-counters';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { GROUP, RedisSentinel, SENTINEL_PASSWORD } from '../redis-sentinel.js';
import { RedisServer } from '../redis-server.js';
import { TcpProxy } from '../tcp-proxy.js';
import { until } from '../until.js';
import { admit, CountingMetrics, capturingLog, request } from './counters-promises.js';

let primary: RedisServer;
let replica: RedisServer;
let counters: RedisCounters | null = null;
let lines: readonly string[] = [];

beforeEach(async () => {
  const args = ['--repl-diskless-sync-delay', '0'];
  primary = await RedisServer.start({ args });
  replica = await RedisServer.start({ args });
  await follow(replica, primary);
});
afterEach(async () => {
  await counters?.close();
  counters = null;
  await Promise.all([primary, replica].map((server) => server.stop()));
});

/** Makes it a replica, and waits until it has the data. */
async function follow(server: RedisServer, of: RedisServer): Promise<void> {
  await server.admin.call('REPLICAOF', '127.0.0.1', String(of.port));
  await until('the replica has the data', async () => (await replicationOf(server)).includes('master_link_status:up'));
}

const replicationOf = async (server: RedisServer): Promise<string> => String(await server.admin.info('replication'));

async function copied(from: RedisServer): Promise<void> {
  await from.admin.set('copied', '1');
  await until('the writes are copied', async () => (await from.admin.wait(1, 100)) === 1);
}

async function open(url: string): Promise<RedisCounters> {
  const captured = capturingLog();
  lines = captured.lines;
  const options = { ...parseRedisAddress(url)!, connectionName: 'acg-test', tlsCa: null, timeoutMs: 1_000 };
  counters = new RedisCounters(options, captured.log, new CountingMetrics());
  await counters.start();
  expect(counters.enforcing).toBe(true);
  return counters;
}

const asked = request({ rpmLimit: 2 });
const outcome = async (): Promise<string> => (await admit(counters!, asked)).outcome;

async function exhaust(): Promise<void> {
  expect([await outcome(), await outcome(), await outcome()]).toEqual(['admitted', 'admitted', 'rpm']);
}

const OUTAGE = [
  'warn: counter store unavailable: requests pass unchecked',
  'info: counter store is back: limits are enforced',
];

describe('a name that leads to the primary', () => {
  let name: TcpProxy;
  beforeEach(async () => {
    name = await TcpProxy.start(primary.port);
  });
  afterEach(() => name.stop());

  test('failover: a primary that became a replica is left at once, and the counts go on at the new one', async () => {
    await open(`redis://127.0.0.1:${name.port}`);
    await exhaust();
    await copied(primary);
    name.targetPort = replica.port;
    await replica.admin.call('REPLICAOF', 'NO', 'ONE');
    await primary.admin.call('REPLICAOF', '127.0.0.1', String(replica.port));
    const other = request({ providerSlug: 'anthropic', rpmLimit: 1 });
    await until('the other limit holds at the new primary', async () => {
      await admit(counters!, other); // a write: the old one says READONLY
      return counters!.enforcing && (await admit(counters!, other)).outcome === 'rpm';
    });
    expect(await outcome()).toBe('rpm');
    expect(await replica.admin.exists('copied')).toBe(1);
    expect(lines).toEqual(OUTAGE);
  });

  test('failover: a name that still leads to the replica opens the gate, says so once, and is tried without haste', async () => {
    await open(`redis://127.0.0.1:${name.port}`);
    await primary.admin.call('REPLICAOF', '127.0.0.1', String(replica.port));
    await until('the gate is open', async () => (await outcome()) === 'unchecked');
    const before = name.connections;
    for (let i = 0; i < 200; i++) expect(await outcome()).toBe('unchecked');
    expect(name.connections - before).toBeLessThanOrEqual(3);
    await primary.admin.call('REPLICAOF', 'NO', 'ONE');
    await until('limits are enforced again', () => counters!.enforcing);
    expect(lines).toEqual(OUTAGE);
  });

  test('failover: a replica that lost its primary and serves nothing is left, too', async () => {
    await replica.admin.config('SET', 'replica-serve-stale-data', 'no');
    name.targetPort = replica.port;
    const captured = capturingLog();
    const address = parseRedisAddress(`redis://127.0.0.1:${name.port}`)!;
    await primary.kill();
    await until('the link is down', async () => (await replicationOf(replica)).includes('master_link_status:down'));
    counters = new RedisCounters(
      { ...address, connectionName: 'acg-test', tlsCa: null, timeoutMs: 1_000 },
      captured.log,
      new CountingMetrics(),
    );
    await counters.start(); // MASTERDOWN
    expect(counters.enforcing).toBe(false);
    await primary.restart();
    name.targetPort = primary.port;
    await until('limits are enforced at the primary', () => counters!.enforcing);
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
    return `redis+sentinel://${hosts}/${GROUP}/0?sentinelPassword=${encodeURIComponent(SENTINEL_PASSWORD)}`;
  };

  test('sentinel: when the primary dies, the replica is found and has the counts', async () => {
    sentinels = await RedisSentinel.group(primary, 3, 2);
    await open(urlOf(sentinels));
    await exhaust();
    await copied(primary);
    await primary.kill();
    await until('the gate is open', async () => (await outcome()) === 'unchecked');
    await until('the sentinels agree', async () => (await sentinels[0]!.primaryPort()) === replica.port);
    await until('limits are enforced again', () => counters!.enforcing);
    expect(await outcome()).toBe('rpm');
    expect(lines).toEqual(OUTAGE);
  });

  test('sentinel: an ordered failover moves every data plane, though the old primary still answers', async () => {
    sentinels = await RedisSentinel.group(primary, 3, 2);
    await open(urlOf(sentinels));
    await exhaust();
    await copied(primary);
    await sentinels[0]!.admin.call('SENTINEL', 'FAILOVER', GROUP);
    await until('the counters are at the new primary', async () => {
      await outcome();
      return String(await replica.admin.client('LIST')).includes('name=acg-test');
    });
    await until('limits are enforced', () => counters!.enforcing);
    expect(await outcome()).toBe('rpm');
    expect(String(await primary.admin.client('LIST'))).not.toContain('name=acg-test');
  });

  test('sentinel: one that still believes in the old primary is passed over', async () => {
    sentinels = await RedisSentinel.group(primary, 3, 2);
    const [stale, ...others] = sentinels;
    await open(urlOf([stale!, ...others]));
    await exhaust();
    await copied(primary);
    stale!.pause();
    await others[0]!.admin.call('SENTINEL', 'FAILOVER', GROUP);
    await until('the others agree', async () => (await others[1]!.primaryPort()) === replica.port);
    await until('the old primary is a replica', async () => (await replicationOf(primary)).includes('role:slave'));
    await until('the counters are at the new primary', async () => {
      await outcome();
      return counters!.enforcing && String(await replica.admin.client('LIST')).includes('name=acg-test');
    });
    expect(await outcome()).toBe('rpm');
  });

  test('sentinel: one that does not answer does not keep the counters from the primary', async () => {
    sentinels = await RedisSentinel.group(primary, 3, 2);
    sentinels[0]!.pause();
    await open(urlOf(sentinels));
    await exhaust();
  });
});
