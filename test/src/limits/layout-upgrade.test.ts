/**
 * The upgrade from the previous release's keys in Redis (docs/counters.md#upgrade): old and new data planes side by side
 * under load, one replaced after the other, then only the present keys. Hard budgets hold throughout.
 */
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { LayoutUpgrade } from '@acg/dataplane/counters/redis/upgrade/layout-upgrade';
import { previousSpendKey } from '@acg/dataplane/counters/redis/upgrade/previous-budgets';
import type { AgentLimits } from '@acg/dataplane/limits/agent-limits';
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import type { LayoutStage } from '@acg/dataplane/limits/counters-interface';
import { BUDGET_ROW, findLimitRow } from '@acg/dataplane/limits/limit-table';
import { createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { admit, CountingMetrics, peek, silentLogger, until } from './counters-fixture.js';
import { PreviousPlane } from './previous-release/previous-plane.js';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const opened: LayoutUpgrade[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((counters) => counters.close()));
});

async function openPlane(timeoutMs = 10_000): Promise<LayoutUpgrade> {
  const options = { urls: [server.url], connectionName: 'acg-test', tlsCa: null, timeoutMs };
  const metrics = new CountingMetrics();
  const counters = new RedisCounters(options, silentLogger, metrics);
  await counters.waitForStoreAndCheckEviction();
  const plane = new LayoutUpgrade(counters, timeoutMs, metrics);
  opened.push(plane);
  return plane;
}

const newStage = (): LayoutStage => ({ name: 'new', sinceMs: Date.now() });
const nowSec = (): number => Math.floor(Date.now() / 1000);
const settle = (plane: LayoutUpgrade, limits: AgentLimits, costNanos: number, reservationNanos: number): void =>
  plane.settle({ limits, providerSlug: 'openai', admittedAtSec: nowSec(), costNanos, tokens: 0, reservationNanos });
const askFor = (limits: AgentLimits, reservationNanos: number) => ({
  limits,
  providerSlug: 'openai',
  reservationNanos,
});

interface Plane {
  admit(reservationNanos: number): Promise<boolean>;
  settle(costNanos: number, reservationNanos: number): Promise<void>;
}

const asPlane = (plane: LayoutUpgrade, limits: AgentLimits): Plane => ({
  admit: async (reservationNanos) => (await admit(plane, askFor(limits, reservationNanos))).outcome === 'admitted',
  settle: async (costNanos, reservationNanos) => settle(plane, limits, costNanos, reservationNanos),
});

let agents = 0;
const BUDGET = 3_000_000;

test('upgrade: three planes are replaced under load; the hard budget is used up exactly and never exceeded', async () => {
  const limits = createTestLimits({
    agentId: `rolling-${++agents}`,
    budgetNanos: BUDGET,
    hardBudget: true,
    rpmLimit: 1e9,
    rpdLimit: 1e9,
    projectBudgetNanos: 100 * BUDGET,
    orgBudgetNanos: 100 * BUDGET,
  });
  const planes: Plane[] = ['a', 'b', 'c'].map((writer) => new PreviousPlane(server.admin, limits, `old-${writer}`));
  const inflight = planes.map(() => 0);
  const calls = { old: 0, both: 0, new: 0 };
  let stage: keyof typeof calls = 'old';
  let spent = 0;
  let mayEnd = false;
  const caller = async (seed: number): Promise<void> => {
    for (let n = seed; spent < BUDGET - 10_000 || !mayEnd; n += 7) {
      const at = n % planes.length;
      const plane = planes[at]!;
      const reservation = 50 + (n % 100);
      inflight[at]!++;
      try {
        if (!(await plane.admit(reservation))) {
          if (spent > BUDGET / 2) return;
          continue;
        }
        calls[stage]++;
        await new Promise((resolve) => setTimeout(resolve, n % 4));
        const cost = Math.round((reservation * (n % 11)) / 10);
        spent += cost;
        expect(spent).toBeLessThanOrEqual(BUDGET);
        await plane.settle(cost, reservation);
      } finally {
        inflight[at]!--;
      }
    }
  };
  const callers = Array.from({ length: 40 }, (_, i) => caller(i * 1_000));
  const admitted = (name: keyof typeof calls, count: number) => until(() => calls[name] >= count);

  await admitted('old', 500);
  const upgraded: LayoutUpgrade[] = [];
  for (let at = 0; at < planes.length; at++) {
    const plane = await openPlane();
    upgraded.push(plane);
    planes[at] = asPlane(plane, limits); // calls of the old plane still end there
    const before = calls.both;
    stage = 'both';
    await until(() => calls.both >= before + 500);
  }
  for (const plane of upgraded) {
    plane.setLayoutStage(newStage());
    stage = 'new';
    const before = calls.new;
    await until(() => calls.new >= before + 500);
  }
  mayEnd = true;
  await Promise.all(callers);

  expect(inflight).toEqual([0, 0, 0]);
  const [plane] = upgraded as [LayoutUpgrade];
  const shown = async () => (await peek(plane, { limits, providerSlugs: [] }))!.spends;
  await until(async () => (await shown()).every(({ reservedNanos }) => reservedNanos === 0));
  for (const { budget, spentNanos } of await shown()) expect([budget.name, spentNanos]).toEqual([budget.name, spent]);
  // What is left fits, and nothing more.
  const left = BUDGET - spent;
  expect(await admit(plane, askFor(limits, left + 1))).toMatchObject({ outcome: 'budget', rejectedByRow: BUDGET_ROW });
  expect(await admit(plane, askFor(limits, left))).toMatchObject({ outcome: 'admitted' });
});

test('upgrade: in `both` each release sees spend and reservations of the other', async () => {
  const limits = createTestLimits({ agentId: `both-${++agents}`, budgetNanos: 100, hardBudget: true });
  const previous = new PreviousPlane(server.admin, limits, 'old-both');
  const plane = await openPlane();
  expect(await previous.admit(40)).toBe(true);
  expect(await admit(plane, askFor(limits, 61))).toMatchObject({ outcome: 'budget', reservedNanos: 40 });
  expect(await admit(plane, askFor(limits, 60))).toMatchObject({ outcome: 'admitted' });
  expect(await previous.admit(1)).toBe(false);
  await previous.settle(30, 40);
  expect(await peek(plane, { limits, providerSlugs: [] })).toMatchObject({
    spends: [{ spentNanos: 30, reservedNanos: 60 }],
  });
  settle(plane, limits, 50, 60);
  await until(() => previous.admit(20));
  expect(await admit(plane, askFor(limits, 1))).toMatchObject({ outcome: 'budget', spentNanos: 80, reservedNanos: 20 });
});

test('upgrade: a reservation in `both` grows only where both layouts have room, and ends in both', async () => {
  const limits = createTestLimits({ agentId: `grow-${++agents}`, budgetNanos: 100, hardBudget: true });
  const previous = new PreviousPlane(server.admin, limits, 'old-grow');
  const plane = await openPlane();
  const grow = (nanos: number): Promise<boolean> =>
    new Promise((resolve) => plane.growReservation(limits, nowSec(), nanos, resolve));
  expect(await previous.admit(30)).toBe(true);
  expect(await admit(plane, askFor(limits, 50))).toMatchObject({ outcome: 'admitted' });
  expect(await grow(21)).toBe(false);
  expect(await grow(20)).toBe(true);
  settle(plane, limits, 0, 70);
  await until(() => previous.admit(70));
});

test('upgrade: what the present layout rejects takes no reservation in the previous one', async () => {
  const limits = createTestLimits({ agentId: `rpm-${++agents}`, budgetNanos: 100, hardBudget: true, rpmLimit: 1 });
  const previous = new PreviousPlane(server.admin, limits, 'old-rpm');
  const plane = await openPlane();
  expect(await admit(plane, askFor(limits, 10))).toMatchObject({ outcome: 'admitted' });
  expect(await admit(plane, askFor(limits, 10))).toMatchObject({ outcome: 'rpm' });
  await until(() => previous.admit(90));
});

test('upgrade: a full minute rejects before a budget that is spent in the previous layout', async () => {
  const limits = createTestLimits({ agentId: `order-${++agents}`, budgetNanos: 100, hardBudget: true, rpmLimit: 1 });
  const previous = new PreviousPlane(server.admin, limits, 'old-order');
  const plane = await openPlane();
  expect(await admit(plane, askFor(limits, 10))).toMatchObject({ outcome: 'admitted' });
  expect(await previous.admit(90)).toBe(true);
  expect(await admit(plane, askFor(limits, 10))).toMatchObject({ outcome: 'rpm', rpmRemaining: 0 });
});

test('upgrade: `new` takes over totals of old planes and figures of the ledger, once', async () => {
  const limits = createTestLimits({ agentId: `import-${++agents}`, budgetNanos: 1_000, hardBudget: true });
  const key = previousSpendKey({ scope: 'agent', scopeId: limits.agentId }, calendarWindowAt('month', nowSec()));
  for (const [writer, cost] of [
    ['old-x', 100],
    ['old-y', 200],
  ] as const)
    await new PreviousPlane(server.admin, limits, writer).settle(cost, 0);
  const [first, second] = [await openPlane(), await openPlane()];
  expect(await admit(first, askFor(limits, 10))).toMatchObject({ outcome: 'admitted', spentNanos: 0 });
  settle(first, limits, 10, 10);
  const spentIn = async (plane: LayoutUpgrade) =>
    (await peek(plane, { limits, providerSlugs: [] }))!.spends[0]!.spentNanos;
  await until(async () => (await spentIn(second)) === 310);
  for (const plane of [first, second]) plane.setLayoutStage(newStage());
  expect(await admit(second, askFor(limits, 691))).toMatchObject({ outcome: 'budget', spentNanos: 310 });
  expect(await Promise.all([spentIn(first), spentIn(second), spentIn(first)])).toEqual([310, 310, 310]);
  // The ledger's figure, and what only the ledger counts, come along.
  const other = createTestLimits({ agentId: `import-${++agents}`, budgetNanos: 1_000 });
  const sums = Buffer.alloc(24);
  [50, 400, 50].forEach((value, i) => void sums.writeDoubleLE(value, 8 * i));
  await server.admin.hset(key.replace(limits.agentId, other.agentId), 's', sums);
  expect(await admit(first, askFor(other, 0))).toMatchObject({ outcome: 'admitted', spentNanos: 400 });
});

test('upgrade: an installation that began with the present layout reads no previous one', async () => {
  const limits = createTestLimits({ agentId: `fresh-${++agents}`, budgetNanos: 100, hardBudget: true });
  await new PreviousPlane(server.admin, limits, 'old-fresh').settle(100, 0);
  const plane = await openPlane();
  plane.setLayoutStage({ name: 'new', sinceMs: 0 });
  expect(await admit(plane, askFor(limits, 100))).toMatchObject({ outcome: 'admitted', spentNanos: 0 });
  plane.setLayoutStage({ name: 'both' }); // an old control plane sends no stage
  expect(await admit(plane, askFor(limits, 1))).toMatchObject({ outcome: 'budget', reservedNanos: 100 });
});

test('upgrade: a budget of the project rejects by the spend of old planes', async () => {
  await server.admin.flushall();
  const limits = createTestLimits({
    agentId: `project-${++agents}`,
    budgetNanos: 1e12,
    projectBudgetNanos: 1e12,
    hardBudget: true,
  });
  await new PreviousPlane(server.admin, limits, `old-project-${agents}`).settle(1_000, 0);
  const plane = await openPlane();
  const spends = (await peek(plane, { limits, providerSlugs: [] }))!.spends;
  const project = findLimitRow('budget', 'project');
  const spentNanos = spends.find(({ budget }) => budget.tableRow === project)!.spentNanos;
  const tight = createTestLimits({
    agentId: limits.agentId,
    budgetNanos: 1e12,
    projectBudgetNanos: spentNanos + 9,
    hardBudget: true,
  });
  expect(await admit(plane, askFor(tight, 10))).toMatchObject({ rejectedByRow: project, spentNanos });
  expect(await admit(plane, askFor(tight, 9))).toMatchObject({ outcome: 'admitted' });
});

test('upgrade: without the store a call is unchecked, and its spend arrives in both layouts later', async () => {
  const own = await RedisServer.start();
  const options = { urls: [own.url], connectionName: 'acg-test', tlsCa: null, timeoutMs: 200 };
  const metrics = new CountingMetrics();
  const counters = new RedisCounters(options, silentLogger, metrics);
  await counters.waitForStoreAndCheckEviction();
  const plane = new LayoutUpgrade(counters, 200, metrics);
  const limits = createTestLimits({ agentId: `outage-${++agents}`, budgetNanos: 100, hardBudget: true });
  expect(await admit(plane, askFor(limits, 30))).toMatchObject({ outcome: 'admitted' });
  await own.kill();
  expect(await admit(plane, askFor(limits, 30))).toMatchObject({ outcome: 'unchecked' });
  expect(metrics.uncheckedCount).toBeGreaterThan(0);
  settle(plane, limits, 25, 30);
  await own.restart();
  await vi.waitFor(async () => expect(await readPreviousTotal(own, limits)).toBe(25), { timeout: 60_000 });
  await until(() => plane.isEnforcing);
  expect(await admit(plane, askFor(limits, 76))).toMatchObject({ outcome: 'budget', spentNanos: 25 });
  expect(await admit(plane, askFor(limits, 75))).toMatchObject({ outcome: 'admitted' });
  await plane.close();
  await own.stop();
});

/** Spend of all writers of the agent in the previous layout. */
async function readPreviousTotal({ admin }: RedisServer, { agentId }: AgentLimits): Promise<number> {
  const key = previousSpendKey({ scope: 'agent', scopeId: agentId }, calendarWindowAt('month', nowSec()));
  return (await admin.hgetBuffer(key, 's'))?.readDoubleLE(0) ?? 0;
}
