/** Fail-open (docs/contract.md#without-the-counter-store), with a real redis-server that fails in every way it can. */
import { SCRIPT_SHA } from '@acg/dataplane/counters/admit-script';
import { monthKey } from '@acg/dataplane/counters/purse';
import { RedisCounters } from '@acg/dataplane/counters/redis-counters';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RedisServer } from '../redis-server.js';
import { TcpProxy } from '../tcp-proxy.js';
import { addSpend, admit, CountingMetrics, capturingLog, request, standing, until } from './counters-promises.js';

const AGENT = '00000000-0000-7000-8000-00000000fa11';
const GONE = 'warn: counter store unavailable: requests pass unchecked';
const BACK = 'info: counter store is back: limits are enforced';
const thisMonth = (): string => new Date().toISOString().slice(0, 7);
const asked = (overrides = {}) => request({ agentId: AGENT, spendFloorMonth: thisMonth(), ...overrides });

let server: RedisServer;
let proxy: TcpProxy;
let counters: RedisCounters;
let metrics: CountingMetrics;
let lines: string[];

/** Generous where the machine is busy: only what really hangs may be late. */
const TIMEOUT_MS = 400;

async function open(port: number, timeoutMs = TIMEOUT_MS): Promise<RedisCounters> {
  metrics = new CountingMetrics();
  const captured = capturingLog();
  lines = captured.lines;
  const urls = [new URL(`redis://127.0.0.1:${port}`)];
  const opened = new RedisCounters({ urls, connectionName: 'acg-test', tlsCa: null, timeoutMs }, captured.log, metrics);
  await opened.start();
  lines.length = 0;
  return opened;
}

/** Month spend that the store itself holds. */
async function storedSpend(): Promise<number> {
  const figures = await server.admin.hgetBuffer(monthKey(AGENT, thisMonth()), 's');
  return figures === null ? 0 : figures.readDoubleLE(0);
}

/** Fills the minute of the agent, so that an enforcing store refuses. */
const exhausted = asked({ rpmLimit: 2 });
async function exhaust(): Promise<void> {
  await admit(counters, exhausted);
  await admit(counters, exhausted);
  expect((await admit(counters, exhausted)).outcome).toBe('rpm');
}

beforeEach(async () => {
  server = await RedisServer.start();
  proxy = await TcpProxy.start(server.port);
  counters = await open(proxy.port);
  await until(() => counters.enforcing);
});
afterEach(async () => {
  server.resume();
  await counters.close();
  await proxy.stop();
  await server.stop();
});

/** One outage: unchecked while it lasts, one log line per change, every request counted, and enforcement afterwards. */
async function outage(begin: () => Promise<void> | void, end: () => Promise<void> | void): Promise<void> {
  await exhaust();
  await begin();
  const during = [];
  for (let i = 0; i < 20; i++) during.push((await admit(counters, exhausted)).outcome);
  expect(during).toEqual(Array.from({ length: 20 }, () => 'unchecked'));
  expect(counters.enforcing).toBe(false);
  expect(await standing(counters, { terms: exhausted.terms, providerSlugs: ['openai'] })).toBeNull();
  await end();
  await until(() => counters.enforcing);
  expect(metrics.uncheckedCount).toBe(20);
  expect(metrics.states.slice(-2)).toEqual([false, true]);
  expect(lines).toEqual([GONE, BACK]);
}

describe('counters, fail-open', () => {
  test('a killed store: requests pass; after its restart limits are enforced', async () => {
    await outage(
      () => server.kill(),
      () => server.restart(),
    );
    await exhaust(); // it came back empty
  });

  test('a killed store: a hold grows as the agent’s terms say', async () => {
    const grow = (refuseUnchecked: boolean): Promise<boolean> => {
      const { terms } = asked({ budgetNanos: 10, hardBudget: true, refuseUnchecked });
      return new Promise((resolve) => counters.grow(terms, 100, resolve));
    };
    expect(await grow(false)).toBe(false);
    await server.kill();
    await until(async () => !counters.enforcing || (await grow(false)));
    expect([await grow(false), await grow(true)]).toEqual([true, false]);
  });

  test('a stopped process with its socket open: requests pass; afterwards its windows are as they were', async () => {
    await outage(
      () => server.pause(),
      () => server.resume(),
    );
    expect((await admit(counters, exhausted)).outcome).toBe('rpm');
  });

  test('a store that answers, but too late: requests pass', async () => {
    await outage(
      () => {
        proxy.delayMs = 3 * TIMEOUT_MS;
      },
      () => {
        proxy.delayMs = 0;
      },
    );
    expect((await admit(counters, exhausted)).outcome).toBe('rpm');
  });

  test('a store out of memory: requests pass', async () => {
    const full = asked({ providerSlug: 'resend' });
    await admit(counters, full);
    await server.admin.config('SET', 'maxmemory', '1');
    const during = [];
    for (let i = 0; i < 5; i++) during.push((await admit(counters, full)).outcome);
    expect(during).toEqual(Array.from({ length: 5 }, () => 'unchecked'));
    await server.admin.config('SET', 'maxmemory', '0');
    await until(() => counters.enforcing);
    expect((await admit(counters, full)).outcome).toBe('admitted');
    expect(lines).toEqual([GONE, BACK]);
  });

  test('a store that loads its data: requests pass', async () => {
    const keys = Array.from({ length: 1_000 }, (_, i) => [`filler:${i}`, 'x'.repeat(64)]).flat();
    await exhaust();
    await server.admin.mset(keys);
    await server.admin.save();
    await server.kill();
    await until(async () => (await admit(counters, exhausted)).outcome === 'unchecked');
    const slowly = ['--key-load-delay', '2000', '--loading-process-events-interval-bytes', '1024'];
    await server.restart(slowly);
    await expect(server.admin.get('filler:1')).rejects.toThrow(/LOADING/);
    for (let i = 0; i < 5; i++) expect((await admit(counters, exhausted)).outcome).toBe('unchecked');
    await until(() => counters.enforcing);
    expect((await admit(counters, exhausted)).outcome).toBe('rpm');
    expect(lines).toEqual([GONE, BACK]);
  });

  test('a master that became a read-only replica: requests pass until it is a master again', async () => {
    const other = await RedisServer.start();
    const open = asked();
    await server.admin.replicaof('127.0.0.1', String(other.port));
    expect((await admit(counters, open)).outcome).toBe('unchecked');
    await server.admin.replicaof('NO', 'ONE');
    await until(() => counters.enforcing);
    expect((await admit(counters, open)).outcome).toBe('admitted');
    expect(lines).toEqual([GONE, BACK]);
    await other.stop();
  });

  test('NOSCRIPT: a store that forgot the script is told again, and nothing passes unchecked', async () => {
    await exhaust();
    await server.admin.script('FLUSH');
    expect((await admit(counters, exhausted)).outcome).toBe('rpm');
    expect(metrics.uncheckedCount).toBe(0);
    expect(lines).toEqual([]);
    // Byte for byte: under another name it would be sent with every call.
    expect(await server.admin.script('EXISTS', SCRIPT_SHA)).toEqual([1]);
  });

  test('a late event loop does not open the gate: an answer that arrived in time counts', async () => {
    const direct = await open(server.port); // the proxy lives in this loop and would be late itself
    const answer = admit(direct, asked());
    await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve))); // it is sent
    const end = performance.now() + 2 * TIMEOUT_MS;
    while (performance.now() < end);
    expect((await answer).outcome).toBe('admitted');
    expect(lines).toEqual([]);
    await direct.close();
  });

  test('a new connection that is silent from its first answer on is given up', async () => {
    proxy.sever();
    await until(async () => (await admit(counters, asked())).outcome === 'unchecked');
    proxy.muteOn = 'setname';
    proxy.mend();
    await until(() => proxy.muteOn === null);
    await until(() => counters.enforcing);
  });

  test('a connection that falls silent in the middle of the start does not keep it from ending', async () => {
    proxy.muteOn = 'maxmemory-policy';
    while (proxy.muteOn !== null) {
      await counters.close();
      counters = await open(proxy.port);
    }
    await until(async () => (await admit(counters, asked())).outcome === 'unchecked');
    await until(() => counters.enforcing);
  });

  test('a store that is away at start: requests pass, and are checked once it is there', async () => {
    await counters.close();
    await server.kill();
    counters = await open(proxy.port);
    expect((await admit(counters, asked())).outcome).toBe('unchecked');
    await server.restart();
    await until(() => counters.enforcing);
    await exhaust();
  });
});

describe('counters, spend over failures', () => {
  test('spend of an outage is added when the store is back, once', async () => {
    addSpend(counters, AGENT, 1_000);
    await until(async () => (await storedSpend()) === 1_000);
    server.pause();
    for (let i = 0; i < 50; i++) addSpend(counters, AGENT, 3);
    await until(() => !counters.enforcing);
    for (let i = 0; i < 50; i++) addSpend(counters, AGENT, 5);
    server.resume();
    await until(() => counters.enforcing);
    expect(await storedSpend()).toBe(1_000 + 50 * 3 + 50 * 5);
    expect((await admit(counters, asked({ budgetNanos: 1_400 }))).outcome).toBe('budget');
    expect(await admit(counters, asked({ budgetNanos: 1_401 }))).toMatchObject({
      outcome: 'admitted',
      spentNanos: 1_400,
    });
  });

  test('limits are enforced again only when the store has all spend of the outage, of however many agents', async () => {
    await server.kill();
    await until(async () => (await admit(counters, asked())).outcome === 'unchecked');
    for (let agent = 0; agent < 1_200; agent++) addSpend(counters, `agent-${agent}`, 7);
    await server.restart();
    await until(() => counters.enforcing);
    expect(await server.admin.keys('acg:*:m:*')).toHaveLength(1_200);
  });

  test('spend that a stopped store still has in an abandoned connection is not added twice', async () => {
    await admit(counters, asked());
    const before = proxy.connections;
    server.pause();
    addSpend(counters, AGENT, 77);
    await until(() => proxy.connections > before); // given up and connected anew, while the store sleeps
    addSpend(counters, AGENT, 5);
    server.resume();
    await until(() => counters.enforcing);
    expect(await storedSpend()).toBe(82);
  });

  test('an answer lost after the store had added: not added again', async () => {
    proxy.cutNextAnswer = true;
    addSpend(counters, AGENT, 77);
    await until(() => metrics.states.includes(false));
    await until(() => counters.enforcing);
    expect(await storedSpend()).toBe(77);
  });

  test('whichever answer is the last of its connection: spend counts once, and what was held is free again', async () => {
    for (let left = 0, isReset = true; isReset; left++) {
      await counters.close();
      proxy.resetAfter = left;
      counters = await open(proxy.port);
      const agentId = `agent-${left}`;
      const settled = { providerSlug: 'openai', costNanos: 7, tokens: 0 };
      const call = async (holdNanos: number): Promise<string> => {
        const { terms } = asked({ agentId, budgetNanos: 1_000, hardBudget: true });
        const admission = await admit(counters, { terms, providerSlug: 'openai', holdNanos });
        const { month, outcome } = admission;
        counters.settle({ ...settled, terms, month, holdNanos: admission.holdNanos });
        return outcome;
      };
      let calls = 3;
      for (let n = 0; n < calls; n++) await call(100);
      isReset = proxy.resetAfter === null;
      proxy.resetAfter = null;
      let outcome = 'unchecked';
      while (outcome === 'unchecked') {
        await until(() => counters.enforcing);
        outcome = await call(1_000 - 7 * calls++);
      }
      expect({ left, outcome }).toEqual({ left, outcome: 'admitted' });
      const key = monthKey(agentId, thisMonth());
      await until(async () => (await server.admin.hgetBuffer(key, 's'))?.readDoubleLE(0) === 7 * calls);
    }
  });

  test('a request lost before the store had it: added after all', async () => {
    proxy.cutNextRequest = true;
    addSpend(counters, AGENT, 77);
    await until(() => metrics.states.includes(false));
    await until(() => counters.enforcing);
    expect(await storedSpend()).toBe(77);
  });

  test('a flushed store goes on from what was seen', async () => {
    addSpend(counters, AGENT, 900);
    expect(await admit(counters, asked({ budgetNanos: 1_000 }))).toMatchObject({
      outcome: 'admitted',
      spentNanos: 900,
    });
    await server.admin.flushall();
    addSpend(counters, AGENT, 99);
    expect(await admit(counters, asked({ budgetNanos: 1_000 }))).toMatchObject({
      outcome: 'admitted',
      spentNanos: 999,
    });
    await server.admin.flushall();
    addSpend(counters, AGENT, 1);
    expect(await admit(counters, asked({ budgetNanos: 1_000 }))).toMatchObject({
      outcome: 'budget',
      spentNanos: 1_000,
    });
  });

  test('a store that lost data says so once, flushed or restarted, and one that slept does not', async () => {
    let losses = 0;
    counters.onDataLost(() => losses++);
    const budgeted = asked({ budgetNanos: 1_000_000, rpmLimit: 1_000 });
    const other = { ...budgeted, terms: asked({ agentId: 'other', budgetNanos: 1_000_000 }).terms };
    addSpend(counters, 'other', 1);
    await admit(counters, other);
    addSpend(counters, AGENT, 1);
    await until(async () => (await storedSpend()) === 1);
    for (let i = 0; i < 3; i++) await admit(counters, budgeted);
    server.pause();
    await admit(counters, budgeted);
    server.resume();
    await until(() => counters.enforcing);
    await admit(counters, budgeted);
    expect(losses).toBe(0);
    await server.admin.flushall();
    for (let i = 0; i < 3; i++) await admit(counters, budgeted);
    expect(await server.admin.keys('acg:*:m:*')).toHaveLength(2); // those that nobody asks for are told again, too
    await admit(counters, other); // the same loss
    expect(losses).toBe(1);
    expect(lines).toEqual([GONE, BACK, 'warn: counter store lost data: month spend goes on from the ledger']);
    addSpend(counters, AGENT, 1);
    await until(async () => (await storedSpend()) === 2);
    await admit(counters, budgeted);
    await server.kill();
    await until(async () => (await admit(counters, budgeted)).outcome === 'unchecked');
    await server.restart();
    await until(() => counters.enforcing);
    await admit(counters, budgeted);
    expect(losses).toBe(2);
  });

  test('a store restarted empty with spend in the journal and in the ledger counts it once', async () => {
    addSpend(counters, AGENT, 500);
    await until(async () => (await storedSpend()) === 500);
    await server.kill();
    expect((await admit(counters, asked({ budgetNanos: 10_000 }))).outcome).toBe('unchecked');
    addSpend(counters, AGENT, 250);
    // A context fetched meanwhile: the ledger has both records.
    await admit(counters, asked({ budgetNanos: 10_000, spendFloorNanos: 750 }));
    await server.restart();
    await until(() => counters.enforcing);
    const after = await admit(counters, asked({ budgetNanos: 10_000, spendFloorNanos: 750 }));
    expect(after).toMatchObject({ outcome: 'admitted', spentNanos: 750 });
    expect(await storedSpend()).toBe(750);
  });

  test('a store rolled back to an old snapshot does not give spend back', async () => {
    addSpend(counters, AGENT, 100);
    await until(async () => (await storedSpend()) === 100);
    await server.admin.save();
    addSpend(counters, AGENT, 900);
    await until(async () => (await storedSpend()) === 1_000);
    await server.kill();
    await until(async () => (await admit(counters, asked())).outcome === 'unchecked');
    await server.restart();
    await until(() => counters.enforcing);
    expect(await storedSpend()).toBe(100);
    expect(await admit(counters, asked({ budgetNanos: 1_000 }))).toMatchObject({
      outcome: 'budget',
      spentNanos: 1_000,
    });
    expect(await storedSpend()).toBe(1_000);
  });
});
