/**
 * admit.lua itself: compares every field of every reply with the reference model at the time that the script reports.
 */
import { WINDOW_MS } from '@acg/base/limit-definitions';
import { AdmissionBatch } from '@acg/dataplane/counters/redis/admission-batch';
import {
  type AdmitVerdict,
  agentProviderKey,
  decodeAdmitReply,
  encodeAdmitArgument,
  listAdmitKeys,
} from '@acg/dataplane/counters/redis/admit-codec';
import { SpendCounters } from '@acg/dataplane/counters/redis/local-spend-counters-with-eviction';
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { ADMIT_SCRIPT } from '@acg/dataplane/counters/redis/script/expand-admit-script-per-limit';
import { monthSpendKey } from '@acg/dataplane/counters/redis/spend-counter-sent-as-totals';
import type { AgentLimits } from '@acg/dataplane/limits/agent-limits';
import { formatMonth, monthEndSec, monthOfMs } from '@acg/dataplane/limits/calendar-month';
import {
  BUDGET_ROW,
  DEFAULT_WINDOW_LENGTHS_MS,
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
  CountingMetrics,
  createAdmissionRequest,
  readStoredReservations,
  settleSpend,
  silentLogger,
} from './counters-fixture.js';
import { ReferenceLimits } from './reference-limits.js';

const script = ADMIT_SCRIPT;

/** The same script on a clock that the test sets, for tests over months and with clock steps. */
const scriptWithGivenClock = script.replace("call('TIME')", '{ARGV[3], ARGV[4]}');

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

interface ScriptRequest {
  readonly windows: Partial<WindowLengthsMs>;
  readonly limits?: AgentLimits;
  /** 0: peeks only. */
  readonly wanted?: number;
  readonly reservationNanos?: number;
  /** Spent before, in the month of the clock. */
  readonly costNanos?: number;
  readonly tokens?: number;
  /** The month of the caller; the store's month decides. */
  readonly month?: number;
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
  const {
    windows,
    limits = createTestLimits({ agentId: 'nobody' }),
    wanted = 1,
    reservationNanos = 0,
    writerSpend = spendCounters,
  } = question;
  const { clockUs, costNanos = 0, month = monthOfMs(Date.now()), tokens = 0, probe = false } = question;
  const batch = new AdmissionBatch(0, writerSpend);
  if (costNanos > 0) {
    const spendCounter = writerSpend.getOrCreate(limits.agentId);
    spendCounter.addSpend(clockUs === undefined ? monthOfMs(Date.now()) : monthOfMs(clockUs / 1000), costNanos);
    batch.reportSpend(spendCounter);
  }
  for (let i = 0; i < wanted; i++) batch.admit(limits, 'openai', limits.budgetedScopes, reservationNanos, () => {});
  if (wanted === 0) batch.peekWindows(limits, 'openai', () => {});
  if (tokens > 0) batch.addTokens(limits.agentId, 'openai', TOKEN_ROWS[0]!, tokens);
  batch.freezeTotals();
  const header = { windows: allWindows(windows), month, probe, probeTag: 'probed' };
  const keys = listAdmitKeys(header, batch);
  const argument = encodeAdmitArgument(header, batch);
  const clock = clockUs === undefined ? [] : [Math.floor(clockUs / 1e6), clockUs % 1e6];
  const text = clockUs === undefined ? script : scriptWithGivenClock;
  const sent = ['EVAL', text, keys.length, ...keys, argument, 'test', ...clock] as const;
  const reply = (await server.admin.callBuffer(...(sent as unknown as [string, ...string[]]))) as Buffer;
  const decoded = decodeAdmitReply(reply, batch, month)!;
  return { nowUs: reply.readDoubleLE(0), reply: decoded, verdict: decoded.verdicts[0]! };
}

const rejectionOf = ({ rejectedByRow }: AdmitVerdict): string | undefined => LIMIT_TABLE[rejectedByRow]?.type;

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
          const { nowUs, verdict } = await callScript({ windows: { minute, day }, limits, wanted, costNanos });
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
            expect([verdict.remaining?.[RPM_ROW], verdict.remaining?.[RPD_ROW]]).toEqual([rpmLeft, rpdLeft]);
          } else if (budgetNanos !== null) expect(verdict.spentNanos).toBe(model.spentNanos(nowUs));
        }
      },
    ),
    { numRuns: 60 },
  );
});

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

test('admit.lua: agrees with the model over days and monthson a given clock, for any month of the caller', async () => {
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
          const month = monthOfMs(clockUs / 1000);
          const limits = createTestLimits({ agentId, rpmLimit, rpdLimit, budgetNanos });
          const { verdict } = await callScript({
            windows: { minute: 60_000, day: 86_400_000 },
            limits,
            wanted,
            costNanos,
            month: month + callerMonthsOff,
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
    const bytes = Number(await server.admin.memory('USAGE', agentProviderKey(agentId, 'openai')));
    expect(bytes).toBeLessThanOrEqual(bytesMax);
  }
});

test('admit.lua: a log stays small over many windows', async () => {
  const windows = { minute: 4, day: 60_000 };
  const limits = createTestLimits({ agentId: newAgentId(), rpmLimit: 50, rpdLimit: 1_000_000 });
  for (let i = 0; i < 4_000; i++) await callScript({ windows, limits });
  expect(await server.admin.strlen(agentProviderKey(limits.agentId, 'openai'))).toBeLessThanOrEqual(
    50 * 4 * 2 + 32 * 4 + 32,
  );
});

const DAY_SEC = 86_400;
const thisMonth = (): string => formatMonth(monthOfMs(Date.now()));

const ONE_MONTH = [32 * DAY_SEC, 32 * DAY_SEC] as const;
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
  const floor = { spendFloorNanos: ledgerNanos, spendFloorMonth: thisMonth() };
  const limits = createTestLimits({ agentId, budgetNanos: 100, hardBudget: reservationNanos > 0, ...floor });
  const windows = { minute: 60_000, day: 86_400_000, tokenMinute: 3_600_000 };
  await callScript({ windows, limits, costNanos, reservationNanos, tokens });
  const keys = await server.admin.keys('*');
  for (const key of keys) {
    const [from, to] = key === agentProviderKey(agentId, 'openai') ? [DAY_SEC + 60, DAY_SEC + 60] : lives;
    const ttl = await server.admin.pttl(key);
    expect(ttl, key).toBeGreaterThan(from * 1000 - 5_000);
    expect(ttl, key).toBeLessThanOrEqual(to * 1000);
  }
  expect(keys).toHaveLength(2);
});

test('admit.lua: a pair’s key lives until the last minute that can begin in its day has ended', async () => {
  const limits = createTestLimits({ agentId: newAgentId(), rpmLimit: 1_000, rpdLimit: 1_000 });
  const key = agentProviderKey(limits.agentId, 'openai');
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
  const ttl = await server.admin.pttl(agentProviderKey(limits.agentId, 'openai'));
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
  'admit.lua: a month ends at its last microsecond, also for a caller that is %i ahead',
  async (ahead) => {
    const june = monthOfMs(Date.UTC(2026, 5));
    const julyUs = Date.UTC(2026, 6) * 1000;
    const limits = createTestLimits({ agentId: newAgentId(), budgetNanos: 5 });
    const at = async (clockUs: number) =>
      (await callScript({ windows: {}, limits, month: june + ahead, clockUs })).reply.month;
    expect([await at(julyUs - 1), await at(julyUs)]).toEqual([june, june + 1]);
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
  'admit.lua: a caller whose month is %i off gets the month of Redis',
  async (off) => {
    const month = monthOfMs(Date.now());
    const agentId = newAgentId();
    const windows = { minute: 60_000, day: 86_400_000 };
    const floor = { spendFloorNanos: 500, spendFloorMonth: formatMonth(month + off) };
    const limits = createTestLimits({ agentId, budgetNanos: 9, ...floor });
    const { verdict, reply } = await callScript({ windows, limits, costNanos: 9, month: month + off });
    expect(reply.month).toBe(month);
    expect(verdict).toMatchObject({
      admittedCount: 0,
      rejectedByRow: BUDGET_ROW,
      spentNanos: 9,
      retryAtSec: monthEndSec(month),
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
  const reservations = await server.admin.hget(monthSpendKey(agentId, '2026-06'), 'h');
  expect(reservations).toMatch(/^other\0/); // the reservation of the dead writer was removed
});

test('admit.lua: a reservation at the end of a month counts in the next one until it is released', async () => {
  const agentId = newAgentId();
  const next = Date.UTC(2026, 6, 1) * 1000;
  const limits = createTestLimits({ agentId, budgetNanos: 100, hardBudget: true, rpmLimit: 1_000 });
  const theirs = await callScriptAs('theirs', limits, 30, next - 1_000_000);
  expect(theirs).toMatchObject({ admittedCount: 1, reservedNanos: 30 });
  const mine = new SpendCounters(10, 'test');
  const ask = async (clockUs: number, reservationNanos: number) =>
    (await callScript({ windows: {}, limits, reservationNanos, writerSpend: mine, clockUs })).verdict;
  expect(await ask(next - 1, 20)).toMatchObject({ admittedCount: 1, reservedNanos: 50 });
  // Sent before the reply arrived: only the store knows the reservation at this time.
  expect(await ask(next, 51)).toMatchObject({ admittedCount: 0, rejectedByRow: BUDGET_ROW, reservedNanos: 50 });
  expect(await ask(next + 1, 50)).toMatchObject({ admittedCount: 1, reservedNanos: 100 });
  mine.getOrCreate(agentId).release(20);
  expect(await ask(next + 2, 21)).toMatchObject({ admittedCount: 0, reservedNanos: 80 });
  expect(await ask(next + 3, 20)).toMatchObject({ admittedCount: 1, reservedNanos: 100 });
  expect(await server.admin.pttl(monthSpendKey(agentId, '2026-07'))).toBeGreaterThan(31 * DAY_SEC * 1000);
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

test('admit.lua: a call overtaken by a later one takes no reservation, because its reply is ignored', async () => {
  const limits = createTestLimits({ agentId: newAgentId(), budgetNanos: 100, hardBudget: true });
  const writerSpend = new SpendCounters(10, 'test');
  const month = monthOfMs(Date.now());
  const [first, second] = [20, 30].map((reservationNanos) => {
    const batch = new AdmissionBatch(0, writerSpend);
    batch.admit(limits, 'openai', limits.budgetedScopes, reservationNanos, () => {});
    batch.freezeTotals();
    const header = { windows: DEFAULT_WINDOW_LENGTHS_MS, month, probe: false, probeTag: '' };
    const keys = listAdmitKeys(header, batch);
    const sent = ['EVAL', script, keys.length, ...keys, encodeAdmitArgument(header, batch), 'test'] as const;
    return async () => {
      const reply = (await server.admin.callBuffer(...(sent as unknown as [string, ...string[]]))) as Buffer;
      return decodeAdmitReply(reply, batch, month)!.verdicts[0]!;
    };
  });
  expect(await second!()).toMatchObject({ admittedCount: 1, reservedNanos: 30 });
  expect(await first!()).toMatchObject({ admittedCount: 0, rejectedByRow: BUDGET_ROW });
  expect((await readStoredReservations(server.admin, limits.agentId)).map(({ sum }) => sum)).toEqual([30]);
});

async function callScriptAs(
  writer: string,
  limits: AgentLimits,
  reservationNanos: number,
  clockUs: number,
): Promise<AdmitVerdict> {
  const batch = new AdmissionBatch(0, new SpendCounters(10, writer));
  batch.admit(limits, 'openai', limits.budgetedScopes, reservationNanos, () => {});
  batch.freezeTotals();
  const header = { windows: DEFAULT_WINDOW_LENGTHS_MS, month: monthOfMs(clockUs / 1000), probe: false, probeTag: '' };
  const keys = listAdmitKeys(header, batch);
  const clock = [Math.floor(clockUs / 1e6), clockUs % 1e6];
  const sent = [
    'EVAL',
    scriptWithGivenClock,
    keys.length,
    ...keys,
    encodeAdmitArgument(header, batch),
    writer,
    ...clock,
  ] as const;
  const reply = (await server.admin.callBuffer(...(sent as unknown as [string, ...string[]]))) as Buffer;
  return decodeAdmitReply(reply, batch, header.month)!.verdicts[0]!;
}

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
