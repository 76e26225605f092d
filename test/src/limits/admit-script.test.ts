/**
 * admit.lua itself: compares every field of every reply with the reference model at the time that the script reports.
 */
import { WINDOW_MS } from '@acg/base/limit-definitions';
import { AdmissionBatch, requestLogKey } from '@acg/dataplane/counters/redis/admission-batch';
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { writeRequestConstants } from '@acg/dataplane/counters/redis/script/admit-script';
import { spendKey } from '@acg/dataplane/counters/redis/spend-counter';
import { SpendCounters } from '@acg/dataplane/counters/redis/spend-counters';
import type { AgentLimits } from '@acg/dataplane/limits/agent-limits';
import { spendName } from '@acg/dataplane/limits/budget-row';
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import type { Admission, WindowSnapshot } from '@acg/dataplane/limits/counters-interface';
import {
  BUDGET_ROW,
  DEFAULT_WINDOW_LENGTHS_MS,
  findLimitRow,
  LIMIT_TABLE,
  RPD_ROW,
  RPM_ROW,
  TOKEN_ROWS,
  type WindowLengthsMs,
} from '@acg/dataplane/limits/limit-table';
import { createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import {
  admit,
  agentSpendKey,
  CountingMetrics,
  createAdmissionRequest,
  readStoredReservations,
  settleSpend,
  silentLogger,
  thisMonthName,
} from './counters-fixture.js';
import { ReferenceLimits } from './reference-limits.js';
import { runBatch, sendBatch } from './run-admit-script.js';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

interface ScriptRequest {
  readonly windows?: Partial<WindowLengthsMs>;
  readonly limits?: AgentLimits;
  /** 0: peeks only. */
  readonly wanted?: number;
  readonly reservationNanos?: number;
  /** Spent before, in the month of the clock. */
  readonly costNanos?: number;
  readonly tokens?: number;
  /** How far the caller's clock is ahead of the store's, seconds. */
  readonly callerAheadSec?: number;
  /** Unix µs; missing: Redis's own clock. */
  readonly clockUs?: number;
  /** One per calling process; missing: one shared by all calls. */
  readonly writerSpend?: SpendCounters;
  /** Checks whether the store is writable. */
  readonly probe?: boolean;
}
const spendCounters = new SpendCounters(1e6, 'test');

/** A test that shortens the day expects no longer window: windows without a length are at most a day. */
function allWindows(given: Partial<WindowLengthsMs>): WindowLengthsMs {
  const { day = Number.POSITIVE_INFINITY } = given;
  const names = Object.keys(WINDOW_MS) as (keyof typeof WINDOW_MS)[];
  const bounded = names.map((name) => [name, Math.min(DEFAULT_WINDOW_LENGTHS_MS[name], day)]);
  return { ...DEFAULT_WINDOW_LENGTHS_MS, ...Object.fromEntries(bounded), ...given };
}

async function callScript(question: ScriptRequest) {
  const { limits = createTestLimits({ agentId: 'nobody' }), wanted = 1, reservationNanos = 0 } = question;
  const { clockUs, costNanos = 0, callerAheadSec = 0, tokens = 0, writerSpend = spendCounters } = question;
  const nowSec = Math.floor((clockUs ?? Date.now() * 1000) / 1e6);
  const createBatch = (callerSec: number) => new AdmissionBatch(0, writerSpend, callerSec);
  const batch = createBatch(nowSec + callerAheadSec);
  if (costNanos > 0) {
    const tag = spendName('agent', limits.agentId);
    const spendCounter = writerSpend.getOrCreate(limits.orgId, tag, calendarWindowAt('month', nowSec));
    spendCounter.addSpend(costNanos);
    batch.report(spendCounter);
  }
  const admissions: Admission[] = [];
  const snapshots: WindowSnapshot[] = [];
  for (let i = 0; i < wanted; i++)
    batch.admit(limits, 'openai', reservationNanos, (admission) => void admissions.push(admission));
  if (wanted === 0) batch.peek(limits, ['openai'], (shown) => void snapshots.push(...shown!.windows));
  if (tokens > 0) batch.addTokens(limits, 'openai', TOKEN_ROWS[0]!, tokens);
  const ran = await runBatch(server.admin, batch, createBatch, {
    constants: writeRequestConstants(allWindows(question.windows ?? {})),
    clockUs,
    probeKey: question.probe ? 'acg:{probed}:probe' : undefined,
  });
  ran.batch.deliverReply(ran.reply, false);
  const [admittedCount, rejectedBy, retryAtUs, , [rpmRemaining, rpmResetUs]] = ran.reply.checks[0]!;
  const { spentNanos = 0, reservedNanos = 0, admittedAtSec = 0, retryAtSec = 0 } = admissions.at(-1) ?? {};
  const verdict = {
    admittedCount,
    rejectedByRow: rejectedBy < -1 ? limits.checkedBudgets[-2 - rejectedBy]!.tableRow : rejectedBy - 1,
    retryAtSec: retryAtUs > 0 ? Math.ceil(retryAtUs / 1e6) : retryAtSec,
    rpmRemaining,
    rpmResetAtSec: Math.ceil(rpmResetUs / 1e6),
    spentNanos,
    reservedNanos,
  };
  return { nowUs: ran.reply.now, verdict, admittedAtSec, snapshot: snapshots[0] };
}

const rejectionOf = ({ rejectedByRow }: { readonly rejectedByRow: number }): string | undefined =>
  LIMIT_TABLE[rejectedByRow]?.type;

let agents = 0;
const newAgentId = (): string => `agent-${++agents}`;

const step = fc.record({
  pauseMs: fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 12 }) },
  ),
  wanted: fc.integer({ min: 0, max: 9 }),
  rpmLimit: fc.integer({ min: 1, max: 60 }),
  rpdLimit: fc.integer({ min: 1, max: 150 }),
  budgetNanos: fc.option(fc.integer({ min: 0, max: 2_000 }), { nil: null }),
  costNanos: fc.integer({ min: 0, max: 30 }),
});

test('admit.lua: agrees with the model on every reply, with shortened windows', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 80 }),
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 90 }),
      async (steps, minute, day) => {
        const agentId = newAgentId();
        const model = new ReferenceLimits(minute * 1000, day * 1000);
        for (const { pauseMs, wanted, rpmLimit, rpdLimit, budgetNanos, costNanos } of steps) {
          if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
          const limits = createTestLimits({ agentId, rpmLimit, rpdLimit, budgetNanos });
          const asked = { windows: { minute, day }, limits, wanted, costNanos };
          const { nowUs, verdict, snapshot } = await callScript(asked);
          model.addSpend(nowUs, costNanos);
          let admitted = 0;
          for (let i = 0; i < wanted; i++) {
            const expected = model.admit(nowUs, { pair: 'openai', rpmLimit, rpdLimit, budgetNanos });
            if (expected.outcome === 'admitted') {
              admitted++;
              expect(verdict.rpmResetAtSec).toBe(expected.rpmResetAtSec);
            } else {
              expect([rejectionOf(verdict), verdict.retryAtSec]).toEqual([expected.outcome, expected.retryAtSec]);
            }
          }
          expect(verdict.admittedCount).toBe(admitted);
          const rpmLeft = Math.max(0, rpmLimit - model.admissionsInWindow('openai', nowUs).length);
          expect(verdict.rpmRemaining).toBe(rpmLeft);
          if (wanted === 0) {
            const rpdLeft = Math.max(0, rpdLimit - model.dayCount('openai', nowUs));
            expect([snapshot?.remaining[RPM_ROW], snapshot?.remaining[RPD_ROW]]).toEqual([rpmLeft, rpdLeft]);
          } else if (budgetNanos !== null) expect(verdict.spentNanos).toBe(model.spentNanos(nowUs));
        }
      },
    ),
    { numRuns: 60 },
  );
});

const DAY_SEC = 86_400;
const multiMonthStep = fc.record({
  advanceUs: fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 15_000_000 }) },
    { weight: 2, arbitrary: fc.constantFrom(59_999_999, 60_000_000, 60_000_001, 86_399_999_999, 86_400_000_000) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 20 * 86_400_000_000 }) },
  ),
  wanted: fc.integer({ min: 0, max: 6 }),
  rpmLimit: fc.integer({ min: 1, max: 40 }),
  rpdLimit: fc.integer({ min: 1, max: 60 }),
  budgetNanos: fc.option(fc.integer({ min: 0, max: 300 }), { nil: null }),
  costNanos: fc.integer({ min: 1, max: 20 }),
  callerMonthsOff: fc.constantFrom(0, 0, 0, -1, 1, 7, -400),
});

test('admit.lua: agrees with the model over days and months on a given clock, for any month of the caller', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(multiMonthStep, { minLength: 1, maxLength: 100 }),
      fc.integer({ min: 0, max: 20_000 }),
      async (steps, day) => {
        const agentId = newAgentId();
        const model = new ReferenceLimits(60_000_000, 86_400_000_000);
        let clockUs = Date.UTC(2020, 0, 1 + day, 23, 59, 30) * 1000;
        for (const { advanceUs, wanted, rpmLimit, rpdLimit, budgetNanos, costNanos, callerMonthsOff } of steps) {
          clockUs += advanceUs;
          const limits = createTestLimits({ agentId, rpmLimit, rpdLimit, budgetNanos });
          const { verdict } = await callScript({
            windows: { minute: 60_000, day: 86_400_000 },
            limits,
            wanted,
            costNanos,
            callerAheadSec: callerMonthsOff * 31 * DAY_SEC,
            clockUs,
          });
          model.addSpend(clockUs, costNanos);
          let admitted = 0;
          for (let i = 0; i < wanted; i++) {
            const expected = model.admit(clockUs, { pair: 'openai', rpmLimit, rpdLimit, budgetNanos });
            if (expected.outcome === 'admitted') admitted++;
            else expect([rejectionOf(verdict), verdict.retryAtSec]).toEqual([expected.outcome, expected.retryAtSec]);
          }
          expect(verdict.admittedCount).toBe(admitted);
          expect(verdict.rpmRemaining).toBe(Math.max(0, rpmLimit - model.admissionsInWindow('openai', clockUs).length));
          if (wanted > 0 && budgetNanos !== null) expect(verdict.spentNanos).toBe(model.spentNanos(clockUs));
        }
      },
    ),
    { numRuns: 80 },
  );
});

test('admit.lua: a small backward clock step frees nothing early, a big one starts over', async () => {
  const agentId = newAgentId();
  const start = Date.UTC(2026, 5, 1) * 1000;
  const windows = { minute: 60_000, day: 86_400_000 };
  const admitted = async (clockUs: number): Promise<number> =>
    (await callScript({ windows, limits: createTestLimits({ agentId, rpmLimit: 2 }), clockUs })).verdict.admittedCount;
  expect(await admitted(start)).toBe(1);
  expect(await admitted(start - 30_000_000)).toBe(1);
  expect(await admitted(start - 30_000_000)).toBe(0);
  expect(await admitted(start - 86_400_000_000)).toBe(1);
});

test('admit.lua: a pair needs at most 8 bytes per admission of its busiest window plus a fixed part', async () => {
  const windows = { minute: 60_000, day: 86_400_000 };
  const agentId = newAgentId();
  for (const [admissions, bytesMax] of [
    [60, 60 * 8 + 256],
    [10_000, 10_000 * 8 + 256],
    [1_000_000, 1_000_000 * 8 + 1_100_000], // Redis grows big strings by 1 MiB at a time
  ] as const) {
    await server.admin.flushall();
    const limits = createTestLimits({ agentId, rpmLimit: 1_000_000, rpdLimit: 1_000_000_000 });
    for (let i = 0; i < 10; i++) await callScript({ windows, limits, wanted: admissions / 10 });
    const bytes = Number(await server.admin.memory('USAGE', requestLogKey(createTestLimits({ agentId }), 'openai')));
    expect(bytes).toBeLessThanOrEqual(bytesMax);
  }
});

test('admit.lua: a log stays small over many windows', async () => {
  const windows = { minute: 4, day: 60_000 };
  const limits = createTestLimits({ agentId: newAgentId(), rpmLimit: 50, rpdLimit: 1_000_000 });
  for (let i = 0; i < 4_000; i++) await callScript({ windows, limits });
  expect(await server.admin.strlen(requestLogKey(limits, 'openai'))).toBeLessThanOrEqual(50 * 4 * 2 + 32 * 4 + 32);
});

/** A month is kept until 40 days after its end. */
const ONE_MONTH = [40 * DAY_SEC, 71 * DAY_SEC] as const;
const TOKENS_HOUR = [3_660, 3_720] as const; // its minute lasts an hour in this test

test.each([
  { what: 'spend', costNanos: 5, lives: ONE_MONTH },
  { what: 'a peek that carries the ledger spend', ledgerNanos: 5, lives: ONE_MONTH },
  { what: 'a reservation', reservationNanos: 5, lives: ONE_MONTH },
  { what: 'tokens', tokens: 5, lives: TOKENS_HOUR },
])('admit.lua: every key that $what creates expires, and not too early', async (made) => {
  await server.admin.flushall();
  const agentId = newAgentId();
  const { costNanos = 0, ledgerNanos = 0, reservationNanos = 0, tokens = 0, lives } = made;
  const floor = { spendFloorNanos: ledgerNanos, spendFloorMonth: thisMonthName() };
  const limits = createTestLimits({ agentId, budgetNanos: 100, hardBudget: reservationNanos > 0, ...floor });
  const windows = { minute: 60_000, day: 86_400_000, tokenMinute: 3_600_000 };
  await callScript({ windows, limits, costNanos, reservationNanos, tokens });
  const keys = await server.admin.keys('*');
  for (const key of keys) {
    const [from, to] =
      key === requestLogKey(createTestLimits({ agentId }), 'openai') ? [DAY_SEC + 60, DAY_SEC + 60] : lives;
    const ttl = await server.admin.pttl(key);
    expect(ttl, key).toBeGreaterThan(from * 1000 - 5_000);
    expect(ttl, key).toBeLessThanOrEqual(to * 1000);
  }
  expect(keys).toHaveLength(2);
});

test('admit.lua: a pair’s key lives until the last minute that can begin in its day has ended', async () => {
  const limits = createTestLimits({ agentId: newAgentId(), rpmLimit: 1_000, rpdLimit: 1_000 });
  const key = requestLogKey(limits, 'openai');
  const windows = { minute: 200, day: 60_000 };
  await callScript({ windows, limits });
  const first = await server.admin.pttl(key);
  expect(first).toBeGreaterThan(60_200 - 5_000);
  expect(first).toBeLessThanOrEqual(60_200);
  await callScript({ windows, limits });
  expect(await server.admin.pttl(key)).toBeLessThanOrEqual(first); // the day began with the first admission
});

test('admit.lua: a pair keeps its expiry after its minute ended within the day', async () => {
  const limits = createTestLimits({ agentId: newAgentId(), rpmLimit: 1_000, rpdLimit: 1_000 });
  const windows = { minute: 2, day: 60_000 };
  const first = await callScript({ windows, limits });
  while ((await callScript({ windows, limits, wanted: 0 })).nowUs < first.nowUs + 2_000);
  await callScript({ windows, limits });
  const ttl = await server.admin.pttl(requestLogKey(limits, 'openai'));
  expect([ttl > 60_000 - 5_000, ttl <= 60_002]).toEqual([true, true]);
});

test('admit.lua: the key written by a probe expires', async () => {
  await callScript({ windows: {}, wanted: 0, probe: true });
  expect(await server.admin.pttl('acg:{probed}:probe')).not.toBe(-1); // -2: already expired
});

test('admit.lua: tokens count for their minute and up to a 60th longer, and the reply says when they expire', async () => {
  const start = Date.UTC(2026, 5, 1) * 1000;
  const limits = createTestLimits({ agentId: newAgentId(), tpmLimit: 10 });
  await callScript({ windows: {}, limits, wanted: 0, tokens: 10, clockUs: start });
  const at = async (us: number) => (await callScript({ windows: {}, limits, clockUs: start + us })).verdict;
  for (const us of [0, 61_000_000 - 1]) {
    expect(await at(us)).toMatchObject({
      admittedCount: 0,
      rejectedByRow: TOKEN_ROWS[0],
      retryAtSec: start / 1e6 + 61,
    });
  }
  expect(await at(61_000_000)).toMatchObject({ admittedCount: 1, rejectedByRow: -1 });
});

test.each([0, 1])(
  'admit.lua: a month ends at its last microsecond, also for a caller that is %i s ahead',
  async (callerAheadSec) => {
    const julyUs = Date.UTC(2026, 6) * 1000;
    const limits = createTestLimits({ agentId: newAgentId(), budgetNanos: 5 });
    const monthAt = async (clockUs: number) => {
      const { admittedAtSec } = await callScript({ limits, callerAheadSec, clockUs });
      return calendarWindowAt('month', admittedAtSec).name;
    };
    expect([await monthAt(julyUs - 1), await monthAt(julyUs)]).toEqual(['2026-06', '2026-07']);
  },
);

test('admit.lua: a limit lowered below the count admits again when enough requests have left the window', async () => {
  const agentId = newAgentId();
  const start = Date.UTC(2026, 5, 1) * 1000;
  const windows = { minute: 60_000, day: 86_400_000 };
  for (let i = 0; i < 10; i++) {
    await callScript({ windows, limits: createTestLimits({ agentId, rpmLimit: 10 }), clockUs: start + i * 1_000_000 });
  }
  for (const rpmLimit of [1, 3, 9, 10]) {
    const { verdict } = await callScript({
      windows,
      limits: createTestLimits({ agentId, rpmLimit }),
      clockUs: start + 10_000_000,
    });
    // That many of the ten have to leave; the last of them came that many seconds after the first.
    expect(verdict.retryAtSec).toBe(start / 1e6 + (10 - rpmLimit) + 60);
    const before = { windows, limits: createTestLimits({ agentId, rpmLimit }), wanted: 0 };
    const justBefore = await callScript({ ...before, clockUs: verdict.retryAtSec * 1e6 - 1 });
    expect(rejectionOf(justBefore.verdict)).toBe('rpm');
    const then = await callScript({ ...before, clockUs: verdict.retryAtSec * 1e6 });
    expect(rejectionOf(then.verdict)).toBeUndefined();
  }
});

test.each([-20_000, -13, -1, 1, 2, 25, 9_999])(
  'admit.lua: a caller whose clock is %i months off gets the month of Redis',
  async (off) => {
    const nowSec = Math.floor(Date.now() / 1000);
    const month = calendarWindowAt('month', nowSec);
    const callerAheadSec = off * 31 * DAY_SEC;
    const floor = { spendFloorNanos: 500, spendFloorMonth: calendarWindowAt('month', nowSec + callerAheadSec).name };
    const limits = createTestLimits({ agentId: newAgentId(), budgetNanos: 9, ...floor });
    const { verdict, admittedAtSec } = await callScript({ limits, costNanos: 9, callerAheadSec });
    expect(calendarWindowAt('month', admittedAtSec)).toEqual(month);
    expect(verdict).toMatchObject({
      admittedCount: 0,
      rejectedByRow: BUDGET_ROW,
      spentNanos: 9,
      retryAtSec: month.endSec,
    });
  },
);

test('admit.lua: a repeated total adds nothing, a higher total adds the difference', async () => {
  const agentId = newAgentId();
  const windows = { minute: 60_000, day: 86_400_000 };
  const limits = createTestLimits({ agentId, budgetNanos: 1_000 });
  const mine = new SpendCounters(10, 'mine');
  const theirs = new SpendCounters(10, 'theirs');
  const spent = async (writerSpend: SpendCounters, costNanos: number) =>
    (await callScript({ windows, limits, costNanos, writerSpend })).verdict.spentNanos;
  expect(await spent(mine, 10)).toBe(10);
  expect(await spent(mine, 0)).toBe(10);
  expect(await spent(theirs, 5)).toBe(15);
  expect(await spent(mine, 3)).toBe(18);
  await server.admin.flushall();
  expect(await spent(theirs, 0)).toBe(5);
  expect(await spent(mine, 0)).toBe(18);
});

test('admit.lua: a reservation counts until its lease expires', async () => {
  const agentId = newAgentId();
  const start = Date.UTC(2026, 5, 1) * 1000;
  const limits = createTestLimits({ agentId, budgetNanos: 100, hardBudget: true, rpmLimit: 1_000 });
  const ask = async (writerSpend: SpendCounters, clockUs: number, reservationNanos: number, wanted = 1) =>
    (await callScript({ windows: {}, limits, reservationNanos, wanted, writerSpend, clockUs })).verdict;
  const dead = new SpendCounters(10, 'test');
  expect((await ask(dead, start, 60)).admittedCount).toBe(1);
  // Another writer: the name of the field is the writer that the call names.
  const rejected = await callScriptAs('other', limits, 41, start + 14_999_999);
  expect(rejected).toMatchObject({ admittedCount: 0, rejectedByRow: BUDGET_ROW, reservedNanos: 60 });
  expect(await callScriptAs('other', limits, 41, start + 15_000_000)).toMatchObject({
    admittedCount: 1,
    reservedNanos: 41,
  });
  const stored = await readStoredReservations(server.admin, agentId, calendarWindowAt('month', start / 1e6));
  expect(stored.map(({ sum }) => sum)).toEqual([41]); // the reservation of the dead writer was removed
});

test('admit.lua: a reservation belongs to the month of its admission, also when it grows or ends later', async () => {
  const agentId = newAgentId();
  const nextUs = Date.UTC(2026, 6, 1) * 1000;
  const [juneSec, julySec] = [nextUs / 1e6 - 1, nextUs / 1e6];
  const limits = createTestLimits({ agentId, budgetNanos: 100, hardBudget: true, rpmLimit: 1_000 });
  expect(await callScriptAs('theirs', limits, 30, nextUs - 1_000_000)).toMatchObject({ admittedCount: 1 });
  const mine = new SpendCounters(10, 'mine');
  const ask = async (clockUs: number, reservationNanos: number) =>
    (await callScript({ limits, reservationNanos, writerSpend: mine, clockUs })).verdict;
  const grow = async (admittedAtSec: number, nanos: number): Promise<string> => {
    const batch = new AdmissionBatch(0, mine, julySec);
    let outcome = '';
    batch.grow(limits, admittedAtSec, nanos, (admission) => {
      outcome = admission.outcome;
    });
    const reply = await sendBatch(batch).run(server.admin, nextUs + 5);
    batch.deliverReply(reply as Required<typeof reply>, false);
    return outcome;
  };
  expect(await ask(nextUs - 1, 20)).toMatchObject({ admittedCount: 1, reservedNanos: 50 });
  expect(await ask(nextUs, 101)).toMatchObject({ admittedCount: 0, rejectedByRow: BUDGET_ROW, reservedNanos: 0 });
  expect(await ask(nextUs + 1, 100)).toMatchObject({ admittedCount: 1, reservedNanos: 100 });
  expect([await grow(juneSec, 51), await grow(juneSec, 50), await grow(julySec, 1)]).toEqual([
    'budget',
    'admitted',
    'budget',
  ]);
  const stored = (sec: number) => readStoredReservations(server.admin, agentId, calendarWindowAt('month', sec));
  expect((await stored(juneSec)).map(({ sum }) => sum).sort()).toEqual([30, 70]);
  expect((await stored(julySec)).map(({ sum }) => sum)).toEqual([100]);
  const key = agentSpendKey(agentId, calendarWindowAt('month', julySec));
  expect(await server.admin.pttl(key)).toBeGreaterThan(31 * DAY_SEC * 1000);
});

test('admit.lua: a reservation is taken in the budgets of agent, project and organization, or in none', async () => {
  const orgId = newAgentId();
  const budgets = { budgetNanos: 100, projectBudgetNanos: 80, orgBudgetNanos: 60 };
  const limits = createTestLimits({ orgId, agentId: newAgentId(), hardBudget: true, ...budgets });
  const writerSpend = new SpendCounters(10, 'test');
  const ask = async (reservationNanos: number) =>
    (await callScript({ limits, reservationNanos, writerSpend, wanted: 1 })).verdict;
  const reserved = async () =>
    await Promise.all(
      limits.budgets.map(async ({ name }) => {
        const key = spendKey(orgId, name, calendarWindowAt('month', Date.now() / 1000));
        const stored = await readStoredReservations(server.admin, limits.agentId, undefined, key);
        return stored.reduce((total, { sum }) => total + sum, 0);
      }),
    );
  expect(await ask(40)).toMatchObject({ admittedCount: 1, reservedNanos: 40 });
  expect(await ask(30)).toMatchObject({ admittedCount: 0, rejectedByRow: findLimitRow('budget', 'org') });
  expect(await reserved()).toEqual([40, 40, 40]);
  const wide = createTestLimits({
    orgId,
    agentId: limits.agentId,
    hardBudget: true,
    ...budgets,
    orgBudgetNanos: 1_000,
  });
  const rejected = await callScript({ limits: wide, reservationNanos: 50, writerSpend });
  expect(rejected.verdict).toMatchObject({ admittedCount: 0, rejectedByRow: findLimitRow('budget', 'project') });
  expect(await reserved()).toEqual([40, 40, 40]);
});

test('admit.lua: each request of a batch takes its own reservation', async () => {
  const limits = createTestLimits({ agentId: newAgentId(), budgetNanos: 100, hardBudget: true });
  const { verdict } = await callScript({
    windows: {},
    limits,
    reservationNanos: 20,
    wanted: 3,
    writerSpend: new SpendCounters(10, 'test'),
  });
  expect(verdict).toMatchObject({ admittedCount: 3, reservedNanos: 60 });
  const other = await callScriptAs('other', limits, 41, Date.now() * 1000);
  expect(other).toMatchObject({ admittedCount: 0, reservedNanos: 60 });
});

test('admit.lua: a call that arrives after its reply was given up takes no reservation', async () => {
  const limits = createTestLimits({ agentId: newAgentId(), budgetNanos: 100, hardBudget: true });
  const writerSpend = new SpendCounters(10, 'test');
  const nowSec = Math.floor(Date.now() / 1000);
  const [first, second] = [20, 30].map((reservationNanos) => {
    const batch = new AdmissionBatch(0, writerSpend, nowSec);
    batch.admit(limits, 'openai', reservationNanos, () => {});
    const sent = sendBatch(batch);
    for (const { counter } of batch.spends) counter.onReplyLost();
    return async () => {
      const [admitted, rejectedBy] = (await sent.run(server.admin)).checks![0]!;
      return [admitted, rejectedBy];
    };
  });
  expect(await second!()).toEqual([1, 0]);
  expect(await first!()).toEqual([0, -2]);
  expect((await readStoredReservations(server.admin, limits.agentId)).map(({ sum }) => sum)).toEqual([30]);
});

test('admit.lua: calls of one generation may arrive in any order and twice', async () => {
  const limits = createTestLimits({ agentId: newAgentId(), budgetNanos: 100, hardBudget: true });
  const writerSpend = new SpendCounters(10, 'test');
  const nowSec = Math.floor(Date.now() / 1000);
  const send = (prepare: (batch: AdmissionBatch) => void) => {
    const batch = new AdmissionBatch(0, writerSpend, nowSec);
    prepare(batch);
    return sendBatch(batch);
  };
  const reserve = (nanos: number) => send((batch) => batch.admit(limits, 'openai', nanos, () => {}));
  const [first, second] = [reserve(20), reserve(30)];
  for (const { batch, run } of [second, first]) {
    const reply = await run(server.admin);
    batch.deliverReply(reply as Required<typeof reply>, false);
  }
  const [counter] = second.batch.spends.map((item) => item.counter);
  expect(counter!.reservedNanos).toBe(50);
  const before = send((batch) => batch.report(counter!));
  counter!.release(20);
  const after = send((batch) => batch.report(counter!));
  for (const { run } of [after, before, after]) await run(server.admin);
  expect((await readStoredReservations(server.admin, limits.agentId)).map(({ sum }) => sum)).toEqual([30]);
});

const callScriptAs = async (writer: string, limits: AgentLimits, reservationNanos: number, clockUs: number) =>
  (await callScript({ limits, reservationNanos, clockUs, writerSpend: new SpendCounters(10, writer) })).verdict;

test('several data planes on one Redis: exactly the limit passes, and spend adds up to the nano-dollar', async () => {
  const options = { urls: [server.url], connectionName: 'acg-test', tlsCa: null, timeoutMs: 10_000 };
  const planes = Array.from({ length: 4 }, () => new RedisCounters(options, silentLogger, new CountingMetrics()));
  await Promise.all(planes.map((plane) => plane.waitForStoreAndCheckEviction()));
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 80 }),
      fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 1_000_000 })), { minLength: 1, maxLength: 200 }),
      async (rpmLimit, traffic) => {
        const agentId = newAgentId();
        const request = createAdmissionRequest({ agentId, rpmLimit, budgetNanos: 1e15 });
        const answers = await Promise.all(
          traffic.map(async ([plane, costNanos], index) => {
            if (index % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
            const answer = await admit(planes[plane]!, request);
            if (answer.outcome === 'admitted') settleSpend(planes[plane]!, agentId, costNanos);
            return answer.outcome === 'admitted' ? costNanos : 0;
          }),
        );
        expect(answers.filter((cost) => cost > 0)).toHaveLength(Math.min(rpmLimit, traffic.length));
        const sum = answers.reduce((total, cost) => total + cost, 0);
        await Promise.all(
          planes.map((plane) => admit(plane, createAdmissionRequest({ agentId, providerSlug: 'flush' }))),
        );
        for (const [budgetNanos, outcome] of [
          [sum, 'budget'],
          [sum + 1, 'admitted'],
        ] as const) {
          const probe = createAdmissionRequest({ agentId, providerSlug: 'probe', budgetNanos });
          expect((await admit(planes[0]!, probe)).outcome).toBe(outcome);
        }
      },
    ),
    { numRuns: 40 },
  );
  await Promise.all(planes.map((plane) => plane.close()));
});
