import type { Logger } from '@acg/base/log';
import { requestLogKey } from '@acg/dataplane/counters/redis/admission-batch';
import { hashSlot } from '@acg/dataplane/counters/redis/client/hash-slot';
import { RedisClient } from '@acg/dataplane/counters/redis/client/redis-client';
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import type { WindowLengthsMs } from '@acg/dataplane/limits/limit-table';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisCluster } from '../fixtures/redis-cluster.js';
import { describeBudgetRowsContract } from './budget-rows-conformance.js';
import { type CountersUnderTest, describeCountersContract } from './counters-conformance.js';
import {
  admit,
  CountingMetrics,
  captureLog,
  createAdmissionRequest,
  settleSpend,
  silentLogger,
  until,
} from './counters-fixture.js';

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await RedisCluster.start();
});
afterAll(() => cluster.stop());

const nowMs = async (): Promise<number> => {
  const [seconds, micros] = await cluster.nodes[0]!.admin.time();
  return Number(seconds) * 1000 + Number(micros) / 1000;
};

async function openCounters(
  windows: Partial<WindowLengthsMs> = {},
  log = silentLogger,
  metrics = new CountingMetrics(),
) {
  const options = { urls: cluster.urls, connectionName: 'acg-test', tlsCa: null, timeoutMs: 1_000, windows };
  const counters = new RedisCounters(options, log, metrics);
  await counters.waitForStoreAndCheckEviction();
  return counters;
}

const subject: CountersUnderTest = {
  open: (windows) => openCounters(windows),
  advance: async (ms) => {
    const end = (await nowMs()) + ms;
    while ((await nowMs()) < end) await new Promise((resolve) => setTimeout(resolve, 1));
  },
  nowMs,
};

describeCountersContract('Redis Cluster', () => subject);
describeBudgetRowsContract('Redis Cluster', () => subject);

/** Of an organization, and of its only agent. */
const idAt = (index: number): string => `10000000-0000-7000-8000-${String(index).padStart(12, '0')}`;
const idsAt = (index: number) => ({ orgId: idAt(index), agentId: idAt(index) });

/** Index of an organization that this node serves. */
function indexOwnedBy(owner: number, from = 0): number {
  let index = from;
  while (cluster.ownerOf(hashSlot(idAt(index))) !== owner) index++;
  return index;
}

test('cluster: computes hash slots as Redis does', async () => {
  for (const tag of ['123456789', '', idAt(1), idAt(2)]) {
    const slot = await cluster.nodes[0]!.admin.cluster('KEYSLOT', `acg:{${tag}}:x`);
    if (tag !== '') expect(hashSlot(tag)).toBe(slot);
  }
});

test('cluster: rejects a single URL with a hint', async () => {
  const foreign = cluster.nodes.map((_, owner) => idsAt(indexOwnedBy(owner)));
  await Promise.all(
    cluster.urls.map(async (url, index) => {
      const reasons: string[] = [];
      const log = { warn: ({ reason }: { reason: string }) => void reasons.push(reason) } as unknown as Logger;
      const options = { urls: [url], connectionName: 'acg-test', tlsCa: null, timeoutMs: 60_000 };
      const counters = new RedisCounters(options, log, new CountingMetrics());
      await counters.waitForStoreAndCheckEviction();
      // If the probe's own random slot belongs to this node, the first organization of another node shows the outage.
      const ids = foreign[(index + 1) % foreign.length]!;
      expect(await admit(counters, createAdmissionRequest(ids))).toMatchObject({ outcome: 'unchecked' });
      expect(reasons, url.host).toEqual([expect.stringContaining('List several of its nodes in REDIS_URL')]);
      await counters.close();
    }),
  );
});

test('cluster: counts agents of organizations on all masters, many in one tick', async () => {
  const counters = await openCounters();
  const request = Array.from({ length: 60 }, (_, index) => createAdmissionRequest({ ...idsAt(index), rpmLimit: 2 }));
  expect(new Set(request.map(({ limits }) => cluster.ownerOf(hashSlot(limits.orgId)))).size).toBe(3);
  const answers = await Promise.all([...request, ...request, ...request].map((one) => admit(counters, one)));
  const of = (outcome: string): number => answers.filter((answer) => answer.outcome === outcome).length;
  expect({ admitted: of('admitted'), rpm: of('rpm') }).toEqual({ admitted: 120, rpm: 60 });
  await counters.close();
});

test('cluster: a slot that moves to another master keeps the counts of its organizations', async () => {
  const counters = await openCounters();
  const request = createAdmissionRequest({ ...idsAt(1_000), rpmLimit: 1, providerSlug: 'moved' });
  const slot = hashSlot(request.limits.orgId);
  const from = cluster.nodes[cluster.ownerOf(slot)]!;
  const to = cluster.nodes[(cluster.ownerOf(slot) + 1) % 3]!;
  const toId = String(await to.admin.cluster('MYID'));
  await counters.peek({ limits: request.limits, providerSlugs: [] }, () => {});
  for (const node of [to, from]) await node.admin.cluster('SETSLOT', slot, 'NODE', toId);
  const outcomes = [await admit(counters, request), await admit(counters, request)].map((answer) => answer.outcome);
  expect(outcomes).toEqual(['admitted', 'rpm']);
  expect(await to.admin.exists(requestLogKey(request.limits, 'moved'))).toBe(1);
  await counters.close();
});

test('cluster: a dead master fails open for its own organizations only', async () => {
  const metrics = new CountingMetrics();
  const { log, lines } = captureLog();
  const counters = await openCounters(undefined, log, metrics);
  const ownedBy = (node: number, rpmLimit: number) =>
    createAdmissionRequest({ ...idsAt(indexOwnedBy(node, 5_000)), providerSlug: 'dead', rpmLimit });
  const doomed = ownedBy(2, 1);
  const safe = ownedBy(0, 1);
  for (const request of [doomed, safe]) {
    expect((await admit(counters, request)).outcome).toBe('admitted');
    expect((await admit(counters, request)).outcome).toBe('rpm');
  }
  await cluster.nodes[2]!.kill();
  await until(async () => (await admit(counters, doomed)).outcome === 'unchecked');
  for (let i = 0; i < 10; i++) {
    expect((await admit(counters, doomed)).outcome).toBe('unchecked');
    expect((await admit(counters, safe)).outcome).toBe('rpm');
  }
  await cluster.nodes[2]!.restart();
  await until(() => counters.isEnforcing);
  expect((await admit(counters, doomed)).outcome).toBe('admitted'); // the master came back empty
  expect((await admit(counters, doomed)).outcome).toBe('rpm');
  expect(lines).toEqual([
    'warn: counter store unavailable: requests pass unchecked',
    'info: counter store is back: limits are enforced',
  ]);
  await counters.close();
});

test('cluster: closing a connection leaves those to the other masters open', async () => {
  const name = 'acg-given-up';
  const access = { urls: cluster.urls, connectionName: name, tlsCa: null };
  const link = new RedisClient(access, { onConnected: () => {}, onError: () => {} });
  const connections = (): Promise<string[]> =>
    Promise.all(
      cluster.nodes.map(async ({ admin }) => {
        const all = String(await admin.client('LIST')).split('\n');
        return all.find((line) => line.includes(` name=${name} `))?.split(' ')[0] ?? '';
      }),
    );
  await until(async () => link.listMasters().size === 3 && (await connections()).every((id) => id !== ''));
  const before = await connections();
  link.reconnect(0);
  await until(async () => !['', before[0]].includes((await connections())[0]));
  const after = await connections();
  expect(after.slice(1)).toEqual(before.slice(1));
  link.close();
});

test('cluster: when a master dies, its replica takes over with the counts', async () => {
  const counters = await openCounters();
  const master = cluster.nodes[1]!;
  const replica = await cluster.addReplica(master);
  const index = indexOwnedBy(1, 9_000);
  const slot = hashSlot(idAt(index));
  const request = createAdmissionRequest({
    ...idsAt(index),
    providerSlug: 'failover',
    rpmLimit: 2,
    budgetNanos: 100,
  });
  settleSpend(counters, idAt(index), 60, undefined, idAt(index));
  for (const outcome of ['admitted', 'admitted', 'rpm']) expect((await admit(counters, request)).outcome).toBe(outcome);
  // WAIT covers the writes of its own connection, so this write follows those that must have been replicated.
  await master.admin.set(`{${idAt(index)}}:copied`, '1');
  await until(async () => (await master.admin.wait(1, 100)) === 1);
  await master.kill();
  await until(async () => (await admit(counters, request)).outcome === 'unchecked');
  settleSpend(counters, idAt(index), 40, undefined, idAt(index));
  await replica.admin.call('CLUSTER', 'FAILOVER', 'TAKEOVER'); // without a vote: on a busy machine votes may fail
  // The other nodes accept it once its epoch is the highest, which a new replica may not know yet.
  await until(async () => {
    await replica.admin.call('CLUSTER', 'BUMPEPOCH');
    const slots = (await cluster.nodes[0]!.admin.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
    return slots.some(([first, last, owner]) => first <= slot && slot <= last && owner[1] === replica.port);
  });
  await until(async () => (await admit(counters, request)).outcome === 'rpm');
  await until(() => counters.isEnforcing);
  const other = { ...request, providerSlug: 'failover-budget' };
  expect(await admit(counters, other)).toMatchObject({ outcome: 'budget', spentNanos: 100 });
  await counters.close();
  await replica.stop();
});
