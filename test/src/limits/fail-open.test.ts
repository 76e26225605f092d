/** Fail-open (docs/contract.md#counter-store-outage), with a real redis-server that fails in every way it can. */

import { createHash } from 'node:crypto';
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { ADMIT_SCRIPT } from '@acg/dataplane/counters/redis/script/admit-script';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { TcpProxy } from '../fixtures/tcp-proxy.js';
import {
  admit,
  CountingMetrics,
  captureLog,
  createAdmissionRequest,
  peek,
  readStoredSpendNanos,
  settleSpend,
  thisMonthName,
  until,
} from './counters-fixture.js';

const AGENT = '00000000-0000-7000-8000-00000000fa11';
const OUTAGE_LOG_LINE = 'warn: counter store unavailable: requests pass unchecked';
const RECOVERY_LOG_LINE = 'info: counter store is back: limits are enforced';
const createRequest = (overrides = {}) =>
  createAdmissionRequest({ agentId: AGENT, spendFloorMonth: thisMonthName(), ...overrides });

let server: RedisServer;
let proxy: TcpProxy;
let counters: RedisCounters;
let metrics: CountingMetrics;
let lines: string[];

/** Generous for busy machines: only a hanging store may exceed it. */
const TIMEOUT_MS = 400;

async function openCounters(port: number, timeoutMs = TIMEOUT_MS): Promise<RedisCounters> {
  metrics = new CountingMetrics();
  const captured = captureLog();
  lines = captured.lines;
  const urls = [new URL(`redis://127.0.0.1:${port}`)];
  const opened = new RedisCounters({ urls, connectionName: 'acg-test', tlsCa: null, timeoutMs }, captured.log, metrics);
  await opened.waitForStoreAndCheckEviction();
  lines.length = 0;
  return opened;
}

const readSpendNanos = (): Promise<number> => readStoredSpendNanos(server.admin, AGENT);

/** Uses up the minute of the agent, so that an enforcing store rejects. */
const exhaustedRequest = createRequest({ rpmLimit: 2 });
async function exhaustRateLimit(): Promise<void> {
  await admit(counters, exhaustedRequest);
  await admit(counters, exhaustedRequest);
  expect((await admit(counters, exhaustedRequest)).outcome).toBe('rpm');
}

beforeEach(async () => {
  server = await RedisServer.start();
  proxy = await TcpProxy.start(server.port);
  counters = await openCounters(proxy.port);
  await until(() => counters.isEnforcing);
});
afterEach(async () => {
  server.resume();
  await counters.close();
  await proxy.stop();
  await server.stop();
});

/**
 * Checks one outage: calls pass unchecked while it lasts, each change logs one line, every request is counted, and
 * limits are enforced afterwards.
 */
async function expectFailOpenDuring(begin: () => Promise<void> | void, end: () => Promise<void> | void): Promise<void> {
  await exhaustRateLimit();
  await begin();
  const during = [];
  for (let i = 0; i < 20; i++) during.push((await admit(counters, exhaustedRequest)).outcome);
  expect(during).toEqual(Array.from({ length: 20 }, () => 'unchecked'));
  expect(counters.isEnforcing).toBe(false);
  expect(await peek(counters, { limits: exhaustedRequest.limits, providerSlugs: ['openai'] })).toBeNull();
  await end();
  await until(() => counters.isEnforcing);
  expect(metrics.uncheckedCount).toBe(20);
  expect(metrics.states.slice(-2)).toEqual([false, true]);
  expect(lines).toEqual([OUTAGE_LOG_LINE, RECOVERY_LOG_LINE]);
}

describe('counters, fail-open', () => {
  test('a killed store: requests pass; after its restart limits are enforced', async () => {
    await expectFailOpenDuring(
      () => server.kill(),
      () => server.restart(),
    );
    await exhaustRateLimit(); // the store came back empty
  });

  test('a killed store: a reservation grows as the agent’s setting for outages says', async () => {
    const grow = (rejectsUnchecked: boolean): Promise<boolean> => {
      const { limits } = createRequest({ budgetNanos: 10, hardBudget: true, rejectsUnchecked });
      return new Promise((resolve) => counters.growReservation(limits, Math.floor(Date.now() / 1000), 100, resolve));
    };
    expect(await grow(false)).toBe(false);
    await server.kill();
    await until(async () => !counters.isEnforcing || (await grow(false)));
    expect([await grow(false), await grow(true)]).toEqual([true, false]);
  });

  test('a stopped process with its socket open: requests pass; afterwards its windows are unchanged', async () => {
    await expectFailOpenDuring(
      () => server.pause(),
      () => server.resume(),
    );
    expect((await admit(counters, exhaustedRequest)).outcome).toBe('rpm');
  });

  test('a store that responds too late: requests pass', async () => {
    await expectFailOpenDuring(
      () => {
        proxy.responseDelayMs = 3 * TIMEOUT_MS;
      },
      () => {
        proxy.responseDelayMs = 0;
      },
    );
    expect((await admit(counters, exhaustedRequest)).outcome).toBe('rpm');
  });

  test('a store out of memory: requests pass', async () => {
    const full = createRequest({ providerSlug: 'resend' });
    await admit(counters, full);
    await server.admin.config('SET', 'maxmemory', '1');
    const during = [];
    for (let i = 0; i < 5; i++) during.push((await admit(counters, full)).outcome);
    expect(during).toEqual(Array.from({ length: 5 }, () => 'unchecked'));
    await server.admin.config('SET', 'maxmemory', '0');
    await until(() => counters.isEnforcing);
    expect((await admit(counters, full)).outcome).toBe('admitted');
    expect(lines).toEqual([OUTAGE_LOG_LINE, RECOVERY_LOG_LINE]);
  });

  test('a store that loads its data: requests pass', async () => {
    const keys = Array.from({ length: 1_000 }, (_, i) => [`filler:${i}`, 'x'.repeat(64)]).flat();
    await exhaustRateLimit();
    await server.admin.mset(keys);
    await server.admin.save();
    await server.kill();
    await until(async () => (await admit(counters, exhaustedRequest)).outcome === 'unchecked');
    const slowly = ['--key-load-delay', '2000', '--loading-process-events-interval-bytes', '1024'];
    await server.restart(slowly);
    await expect(server.admin.get('filler:1')).rejects.toThrow(/LOADING/);
    for (let i = 0; i < 5; i++) expect((await admit(counters, exhaustedRequest)).outcome).toBe('unchecked');
    await until(() => counters.isEnforcing);
    expect((await admit(counters, exhaustedRequest)).outcome).toBe('rpm');
    expect(lines).toEqual([OUTAGE_LOG_LINE, RECOVERY_LOG_LINE]);
  });

  test('a primary that became a read-only replica: requests pass until it is the primary again', async () => {
    const other = await RedisServer.start();
    const open = createRequest();
    await server.admin.replicaof('127.0.0.1', String(other.port));
    expect((await admit(counters, open)).outcome).toBe('unchecked');
    await server.admin.replicaof('NO', 'ONE');
    await until(() => counters.isEnforcing);
    expect((await admit(counters, open)).outcome).toBe('admitted');
    expect(lines).toEqual([OUTAGE_LOG_LINE, RECOVERY_LOG_LINE]);
    await other.stop();
  });

  test('NOSCRIPT: the script is sent again to a store that lost it, and nothing passes unchecked', async () => {
    await exhaustRateLimit();
    await server.admin.script('FLUSH');
    expect((await admit(counters, exhaustedRequest)).outcome).toBe('rpm');
    expect(metrics.uncheckedCount).toBe(0);
    expect(lines).toEqual([]);
    // The script must be byte-identical: under another hash it would be sent with every call.
    expect(await server.admin.script('EXISTS', createHash('sha1').update(ADMIT_SCRIPT).digest('hex'))).toEqual([1]);
  });

  test('a late event loop does not fail open: a response that arrived in time counts', async () => {
    const direct = await openCounters(server.port); // the proxy runs in this event loop and would be late itself
    const answer = admit(direct, createRequest());
    await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve))); // the request is sent
    const end = performance.now() + 2 * TIMEOUT_MS;
    while (performance.now() < end);
    expect((await answer).outcome).toBe('admitted');
    expect(lines).toEqual([]);
    await direct.close();
  });

  test('a new connection without a first response is closed', async () => {
    proxy.cutConnections();
    await until(async () => (await admit(counters, createRequest())).outcome === 'unchecked');
    proxy.blackholeOnText = 'setname';
    proxy.restore();
    await until(() => proxy.blackholeOnText === null);
    await until(() => counters.isEnforcing);
  });

  test('a connection that falls silent during startup does not block startup', async () => {
    proxy.blackholeOnText = 'maxmemory-policy';
    while (proxy.blackholeOnText !== null) {
      await counters.close();
      counters = await openCounters(proxy.port);
      // A busy machine may need longer than the timeout to connect: closed earlier, no connection would ever ask.
      await until(() => proxy.blackholeOnText === null || counters.isEnforcing);
    }
    // Checked where the gateway has connected again meanwhile.
    expect(['unchecked', 'admitted']).toContain((await admit(counters, createRequest())).outcome);
    await until(() => counters.isEnforcing);
  });

  test('a store that is down at startup: requests pass, and are checked once it is up', async () => {
    await counters.close();
    await server.kill();
    counters = await openCounters(proxy.port);
    expect((await admit(counters, createRequest())).outcome).toBe('unchecked');
    await server.restart();
    await until(() => counters.isEnforcing);
    await exhaustRateLimit();
  });
});

describe('counters, spend across failures', () => {
  test('spend of an outage is added when the store is back, once', async () => {
    settleSpend(counters, AGENT, 1_000);
    await until(async () => (await readSpendNanos()) === 1_000);
    server.pause();
    for (let i = 0; i < 50; i++) settleSpend(counters, AGENT, 3);
    await until(() => !counters.isEnforcing);
    for (let i = 0; i < 50; i++) settleSpend(counters, AGENT, 5);
    server.resume();
    await until(() => counters.isEnforcing);
    expect(await readSpendNanos()).toBe(1_000 + 50 * 3 + 50 * 5);
    expect((await admit(counters, createRequest({ budgetNanos: 1_400 }))).outcome).toBe('budget');
    expect(await admit(counters, createRequest({ budgetNanos: 1_401 }))).toMatchObject({
      outcome: 'admitted',
      spentNanos: 1_400,
    });
  });

  test('limits are enforced again only when the store has all spend of the outage, for any number of agents', async () => {
    await server.kill();
    await until(async () => (await admit(counters, createRequest())).outcome === 'unchecked');
    for (let agent = 0; agent < 1_200; agent++) settleSpend(counters, `agent-${agent}`, 7);
    await server.restart();
    await until(() => counters.isEnforcing);
    expect(await server.admin.keys('acg:*:spend:*')).toHaveLength(1_200);
  });

  test('spend that a stopped store still has in an abandoned connection is not added twice', async () => {
    await admit(counters, createRequest());
    const before = proxy.connections;
    server.pause();
    settleSpend(counters, AGENT, 77);
    await until(() => proxy.connections > before); // closed and reconnected while the store is stopped
    settleSpend(counters, AGENT, 5);
    server.resume();
    await until(() => counters.isEnforcing);
    expect(await readSpendNanos()).toBe(82);
  });

  test('a response lost after the store had added the spend: not added again', async () => {
    proxy.dropNextResponse = true;
    settleSpend(counters, AGENT, 77);
    await until(() => metrics.states.includes(false));
    await until(() => counters.isEnforcing);
    expect(await readSpendNanos()).toBe(77);
  });

  test('any response may be the last of its connection: spend counts once, and reservations are released', async () => {
    for (let left = 0, isReset = true; isReset; left++) {
      await counters.close();
      proxy.resetAfterResponses = left;
      counters = await openCounters(proxy.port);
      const agentId = `agent-${left}`;
      const settled = { providerSlug: 'openai', costNanos: 7, tokens: 0 };
      const call = async (reservationNanos: number): Promise<string> => {
        const { limits } = createRequest({ agentId, budgetNanos: 1_000, hardBudget: true });
        const admission = await admit(counters, { limits, providerSlug: 'openai', reservationNanos });
        const { admittedAtSec, outcome } = admission;
        counters.settle({ ...settled, limits, admittedAtSec, reservationNanos: admission.reservationNanos });
        return outcome;
      };
      let calls = 3;
      for (let n = 0; n < calls; n++) await call(100);
      isReset = proxy.resetAfterResponses === null;
      proxy.resetAfterResponses = null;
      let outcome = 'unchecked';
      while (outcome === 'unchecked') {
        await until(() => counters.isEnforcing);
        outcome = await call(1_000 - 7 * calls++);
      }
      expect({ left, outcome }).toEqual({ left, outcome: 'admitted' });
      await until(async () => (await readStoredSpendNanos(server.admin, agentId)) === 7 * calls);
    }
  });

  test('a request lost before the store received it: added later', async () => {
    proxy.dropNextRequest = true;
    settleSpend(counters, AGENT, 77);
    await until(() => metrics.states.includes(false));
    await until(() => counters.isEnforcing);
    expect(await readSpendNanos()).toBe(77);
  });

  test('a flushed store continues from the last known spend', async () => {
    settleSpend(counters, AGENT, 900);
    expect(await admit(counters, createRequest({ budgetNanos: 1_000 }))).toMatchObject({
      outcome: 'admitted',
      spentNanos: 900,
    });
    await server.admin.flushall();
    settleSpend(counters, AGENT, 99);
    expect(await admit(counters, createRequest({ budgetNanos: 1_000 }))).toMatchObject({
      outcome: 'admitted',
      spentNanos: 999,
    });
    await server.admin.flushall();
    settleSpend(counters, AGENT, 1);
    expect(await admit(counters, createRequest({ budgetNanos: 1_000 }))).toMatchObject({
      outcome: 'budget',
      spentNanos: 1_000,
    });
  });

  test('a store that lost data (flushed or restarted) is logged once, a paused one is not', async () => {
    let losses = 0;
    counters.setDataLostListener(() => losses++);
    const budgeted = createRequest({ budgetNanos: 1_000_000, rpmLimit: 1_000 });
    const other = { ...budgeted, limits: createRequest({ agentId: 'other', budgetNanos: 1_000_000 }).limits };
    settleSpend(counters, 'other', 1);
    await admit(counters, other);
    settleSpend(counters, AGENT, 1);
    await until(async () => (await readSpendNanos()) === 1);
    for (let i = 0; i < 3; i++) await admit(counters, budgeted);
    server.pause();
    await admit(counters, budgeted);
    server.resume();
    await until(() => counters.isEnforcing);
    await admit(counters, budgeted);
    expect(losses).toBe(0);
    await server.admin.flushall();
    for (let i = 0; i < 3; i++) await admit(counters, budgeted);
    expect(await server.admin.keys('acg:*:spend:*')).toHaveLength(2); // totals without new calls are reported again, too
    await admit(counters, other); // the same data loss
    expect(losses).toBe(1);
    expect(lines).toEqual([
      OUTAGE_LOG_LINE,
      RECOVERY_LOG_LINE,
      'warn: counter store lost data: month spend continues from the ledger',
    ]);
    settleSpend(counters, AGENT, 1);
    await until(async () => (await readSpendNanos()) === 2);
    await admit(counters, budgeted);
    await server.kill();
    await until(async () => (await admit(counters, budgeted)).outcome === 'unchecked');
    await server.restart();
    await until(() => counters.isEnforcing);
    await admit(counters, budgeted);
    expect(losses).toBe(2);
  });

  test('spend in both the journal and the ledger counts once after the store restarted empty', async () => {
    settleSpend(counters, AGENT, 500);
    await until(async () => (await readSpendNanos()) === 500);
    await server.kill();
    expect((await admit(counters, createRequest({ budgetNanos: 10_000 }))).outcome).toBe('unchecked');
    settleSpend(counters, AGENT, 250);
    // A context fetched meanwhile: the ledger has both records.
    await admit(counters, createRequest({ budgetNanos: 10_000, spendFloorNanos: 750 }));
    await server.restart();
    await until(() => counters.isEnforcing);
    const after = await admit(counters, createRequest({ budgetNanos: 10_000, spendFloorNanos: 750 }));
    expect(after).toMatchObject({ outcome: 'admitted', spentNanos: 750 });
    expect(await readSpendNanos()).toBe(750);
  });

  test('a store rolled back to an old snapshot loses no spend', async () => {
    settleSpend(counters, AGENT, 100);
    await until(async () => (await readSpendNanos()) === 100);
    await server.admin.save();
    settleSpend(counters, AGENT, 900);
    await until(async () => (await readSpendNanos()) === 1_000);
    await admit(counters, createRequest()); // the reply to the report has arrived, so the report is not repeated
    await server.kill();
    await until(async () => (await admit(counters, createRequest())).outcome === 'unchecked');
    await server.restart();
    await until(() => counters.isEnforcing);
    expect(await readSpendNanos()).toBe(100);
    expect(await admit(counters, createRequest({ budgetNanos: 1_000 }))).toMatchObject({
      outcome: 'budget',
      spentNanos: 1_000,
    });
    expect(await readSpendNanos()).toBe(1_000);
  });
});
