import { createLogger } from '@acg/base/log';
import { afterEach, expect, test } from 'vitest';
import { calendarWindowAt, createRunWindow } from '../../limits/calendar-window.js';
import { DEFAULT_WINDOW_LENGTHS_MS } from '../../limits/limit-table.js';
import { createTestBudget, createTestLimits } from '../../limits/testing/agent-limits-fixture.js';
import type { ScriptRunner } from './client/script-runner-interface.js';
import { RedisNode } from './redis-node.js';
import type { SpendCounter } from './spend-counter.js';
import { SpendCounters } from './spend-counters.js';

const COUNTERS_MAX = 4;
const nowSec = Math.floor(Date.now() / 1000);
const month = calendarWindowAt('month', nowSec);
const row = createTestBudget({ id: 'hard', window: 'month', limitNanos: 1_000, mode: 'hard' });
const nodes: RedisNode[] = [];

afterEach(() => Promise.all(nodes.splice(0).map((node) => node.flushAndAwaitReplies(0))));

/** A node that enforces limits, and the callbacks of its calls to the store. */
async function setUp() {
  const counters = new SpendCounters(COUNTERS_MAX, 'writer');
  const sent: Parameters<ScriptRunner['runAdmitScript']>[2][] = [];
  const metrics = { countUnchecked() {}, setEnforcing() {}, setEvictable() {}, observeStoreLatency() {} };
  const node = new RedisNode(
    { runAdmitScript: (_keys, _request, done) => void sent.push(done), reconnect() {} },
    {
      name: 'test',
      windows: DEFAULT_WINDOW_LENGTHS_MS,
      timeoutMs: 60_000,
      lingerMs: 60_000,
      probeTag: 'tag',
      probeSlot: 0,
      ownSlotOf: () => 0,
    },
    counters,
    createLogger('test', 'silent'),
    metrics,
  );
  nodes.push(node);
  node.sendProbeIfNotEnforcing();
  sent.shift()!(null, reply([], []));
  await laterTurn();
  const admit = (): void => {
    const limits = createTestLimits({ budgets: [row] });
    node.admit(0, limits, 'openai', 100, () => {}, null);
  };
  /** Uses so many other counters that everything that may be evicted is. */
  const flood = (): void => {
    for (let i = 0; i < 20 * COUNTERS_MAX; i++) counters.getOrCreate('org-1', `other ${i}`, month);
  };
  const find = (): SpendCounter | null => counters.find(row.name, month);
  return { counters, node, sent, admit, flood, find };
}
const reply = (spends: unknown[], checks: unknown[]): string =>
  JSON.stringify({ now: nowSec * 1_000_000, spends, checks });
const laterTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a counter stays while its admission is on the way, so that the reservation can be released', async () => {
  const { counters, sent, admit, flood, find } = await setUp();
  admit();
  await laterTurn();
  const counter = find()!;
  expect([sent.length, counter.batch, counter.reservedNanos]).toEqual([1, null, 0]);
  flood();
  expect(find()).toBe(counter);
  sent.shift()!(null, reply([[0, 0, 100]], [[1, 0, 0, [], [59, 0]]]));
  flood();
  expect(find()).toBe(counter);
  expect([counter.reservedNanos, counter.batchesInFlight]).toEqual([100, 0]);
  counter.release(100);
  counter.acknowledge(0, counter.reservations, 0);
  flood();
  expect(find()).toBeNull();
  expect(counters.size).toBeLessThanOrEqual(2 * COUNTERS_MAX);
});

test('a failed call and a batch that is dropped hold no counters', async () => {
  const { node, sent, admit, find } = await setUp();
  admit();
  await laterTurn();
  admit(); // in a batch that is not sent any more
  const counter = find()!;
  expect([counter.batchesInFlight, counter.batch === null]).toEqual([1, false]);
  sent.shift()!(new Error('lost'), null);
  expect(node.enforcement.isEnforcing).toBe(false);
  expect([counter.batchesInFlight, counter.isHeld]).toEqual([0, false]);
});

test('a counter of an ended window is evicted before unused ones of a current window', () => {
  const counters = new SpendCounters(COUNTERS_MAX, 'writer');
  const yesterday = calendarWindowAt('day', nowSec - 86_400);
  for (const name of ['a', 'b', 'c']) counters.getOrCreate('org-1', name, month);
  counters.getOrCreate('org-1', 'old', yesterday);
  for (const counter of counters.listAll()) counter.isRecentlyUsed = false;
  counters.getOrCreate('org-1', 'd', month);
  expect(counters.find('old', yesterday)).toBeNull();
  expect(counters.listAll().map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
});

test('a counter of an ended run is forgotten after a minute, unless the store lacks some of it', () => {
  const counters = new SpendCounters(COUNTERS_MAX, 'writer');
  const window = createRunWindow(nowSec + 3_600);
  const runs = ['run:a', 'run:b', 'run:c'].map((name) => counters.getOrCreate('org-1', name, window));
  const kept = (): readonly string[] => counters.listAll().map(({ name }) => name);
  runs[1]!.addSpend(5);
  for (const name of ['run:a', 'run:b', 'run:unknown']) counters.forgetSoon(name, window, 0);
  counters.forgetSoon('run:a', window, 59_999);
  expect(kept()).toEqual(['run:a', 'run:b', 'run:c']);
  counters.forgetSoon('run:c', window, 60_000);
  expect(kept()).toEqual(['run:b', 'run:c']);
  expect(counters.size).toBe(2);
  // A call that begins again gets a field that was never used.
  expect(counters.getOrCreate('org-1', 'run:a', window).field).not.toBe(runs[0]!.field);
});
