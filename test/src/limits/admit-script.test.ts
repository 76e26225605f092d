/** admit.lua itself: every field of every reply against the model at the very time that the script reports. */
import { WINDOW_MS } from '@acg/base/limits';
import { AdmissionBatch } from '@acg/dataplane/counters/redis/admission-batch';
import {
  type AdmitVerdict,
  agentProviderKey,
  decodeAdmitReply,
  encodeAdmitArgument,
  listAdmitKeys,
} from '@acg/dataplane/counters/redis/admit-codec';
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { ADMIT_SCRIPT } from '@acg/dataplane/counters/redis/script/admit-script';
import { monthSpendKey } from '@acg/dataplane/counters/redis/spend-counter';
import { SpendCounters } from '@acg/dataplane/counters/redis/spend-counters';
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
  readStoredReservations,
  request,
  settleSpend,
  silentLogger,
} from './counters-fixture.js';
import { ReferenceLimits } from './reference-limits.js';

const script = ADMIT_SCRIPT;

/** The same script on a clock that the caller gives, for months and clocks that step. */
const scriptWithGivenClock = script.replace("call('TIME')", '{ARGV[3], ARGV[4]}');

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

interface ScriptRequest {
  readonly windows: Partial<WindowLengthsMs>;
  readonly limits?: AgentLimits;
  /** 0: only look. */
  readonly wanted?: number;
  readonly holdNanos?: number;
  /** Spent before, in the month that the clock has. */
  readonly costNanos?: number;
  readonly tokens?: number;
  /** The caller's; the store's decides. */
  readonly month?: number;
  /** Missing: Redis's own clock. */
  readonly clockUs?: number;
  /** One per process that asks; missing: one for all. */
  readonly purses?: SpendCounters;
  /** Finds out whether the store can be written to. */
  readonly probe?: boolean;
}
const spendCounters = new SpendCounters(1e6, 'test');

/** Whoever shortens the day means it to be the longest: those that are not named are no longer than it. */
function allWindows(given: Partial<WindowLengthsMs>): WindowLengthsMs {
  const { day = Number.POSITIVE_INFINITY } = given;
  const names = Object.keys(WINDOW_MS) as (keyof typeof WINDOW_MS)[];
  const bounded = names.map((name) => [name, Math.min(DEFAULT_WINDOW_LENGTHS_MS[name], day)]);
  return { ...DEFAULT_WINDOW_LENGTHS_MS, ...Object.fromEntries(bounded), ...given };
}

async function callScript(question: ScriptRequest) {
  const {
    windows,
    limits: terms = createTestLimits({ agentId: 'nobody' }),
    wanted = 1,
    holdNanos = 0,
    purses = spendCounters,
  } = question;
  const { clockUs, costNanos = 0, month = monthOfMs(Date.now()), tokens = 0, probe = false } = question;
  const batch = new AdmissionBatch(0, purses);
  if (costNanos > 0) {
    const purse = purses.getOrCreate(terms.agentId);
    purse.addSpend(clockUs === undefined ? monthOfMs(Date.now()) : monthOfMs(clockUs / 1000), costNanos);
    batch.reportSpend(purse);
  }
  for (let i = 0; i < wanted; i++) batch.admit(terms, 'openai', terms.budgetedScopes, holdNanos, () => {});
  if (wanted === 0) batch.peekWindows(terms, 'openai', () => {});
  if (tokens > 0) batch.addTokens(terms.agentId, 'openai', TOKEN_ROWS[0]!, tokens);
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

const rejectionOf = ({ rejectedByRow: refusedBy }: AdmitVerdict): string | undefined => LIMIT_TABLE[refusedBy]?.type;

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

test('admit.lua: agrees with the model on every answer, with shortened windows', async () => {
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
          const terms = createTestLimits({ agentId, rpmLimit, rpdLimit, budgetNanos });
          const { nowUs, verdict } = await callScript({ windows: { minute, day }, limits: terms, wanted, costNanos });
          model.addSpend(nowUs, costNanos);
          let admitted = 0;
          for (let i = 0; i < wanted; i++) {
            const expected = model.admit(nowUs, { pair: 'openai', rpmLimit, rpdLimit, budgetNanos });
            if (expected.outcome === 'admitted') {
              admitted++;
              expect(verdict.rpmResetAtSec).toBe(expected.rpmResetAtSec);
            } else {
              expect([rejectionOf(verdict), verdict.retryAtSec]).toEqual([expected.outcome, expected.passesAtSec]);
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

test('admit.lua: agrees with the model over days and months, on a given clock, whatever month the caller has', async () => {
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
          const terms = createTestLimits({ agentId, rpmLimit, rpdLimit, budgetNanos });
          const { verdict } = await callScript({
            windows: { minute: 60_000, day: 86_400_000 },
            limits: terms,
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
            else expect([rejectionOf(verdict), verdict.retryAtSec]).toEqual([expected.outcome, expected.passesAtSec]);
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

test('admit.lua: a clock that steps back a little frees nothing early, one that steps back far starts over', async () => {
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

test('admit.lua: a pair takes at most 8 bytes per admission of its busiest window and a fixed part', async () => {
  const windows = { minute: 60_000, day: 86_400_000 };
  const agentId = newAgentId();
  for (const [admissions, bytesMax] of [
    [60, 60 * 8 + 256],
    [10_000, 10_000 * 8 + 256],
    [1_000_000, 1_000_000 * 8 + 1_100_000], // Redis grows big strings by 1 MiB at a time
  ] as const) {
    await server.admin.flushall();
    const terms = createTestLimits({ agentId, rpmLimit: 1_000_000, rpdLimit: 1_000_000_000 });
    for (let i = 0; i < 10; i++) await callScript({ windows, limits: terms, wanted: admissions / 10 });
    const bytes = Number(await server.admin.memory('USAGE', agentProviderKey(agentId, 'openai')));
    expect(bytes).toBeLessThanOrEqual(bytesMax);
  }
});

test('admit.lua: a log that ran for many windows stays small', async () => {
  const windows = { minute: 4, day: 60_000 };
  const terms = createTestLimits({ agentId: newAgentId(), rpmLimit: 50, rpdLimit: 1_000_000 });
  for (let i = 0; i < 4_000; i++) await callScript({ windows, limits: terms });
  expect(await server.admin.strlen(agentProviderKey(terms.agentId, 'openai'))).toBeLessThanOrEqual(
    50 * 4 * 2 + 32 * 4 + 32,
  );
});

const DAY_SEC = 86_400;
const thisMonth = (): string => formatMonth(monthOfMs(Date.now()));

const ONE_MONTH = [32 * DAY_SEC, 32 * DAY_SEC] as const;
const TOKENS_HOUR = [3_660, 3_720] as const; // its minute is an hour here

test.each([
  { what: 'spend', costNanos: 5, lives: ONE_MONTH },
  { what: 'a look that brings the ledger’s figure', ledgerNanos: 5, lives: ONE_MONTH },
  { what: 'a hold', holdNanos: 5, lives: ONE_MONTH },
  { what: 'tokens', tokens: 5, lives: TOKENS_HOUR },
])('admit.lua: every key that $what makes expires, and not too early', async (made) => {
  await server.admin.flushall();
  const agentId = newAgentId();
  const { costNanos = 0, ledgerNanos = 0, holdNanos = 0, tokens = 0, lives } = made;
  const floor = { spendFloorNanos: ledgerNanos, spendFloorMonth: thisMonth() };
  const terms = createTestLimits({ agentId, budgetNanos: 100, hardBudget: holdNanos > 0, ...floor });
  const windows = { minute: 60_000, day: 86_400_000, tokenMinute: 3_600_000 };
  await callScript({ windows, limits: terms, costNanos, holdNanos, tokens });
  const keys = await server.admin.keys('*');
  for (const key of keys) {
    const [from, to] = key === agentProviderKey(agentId, 'openai') ? [DAY_SEC + 60, DAY_SEC + 60] : lives;
    const ttl = await server.admin.pttl(key);
    expect(ttl, key).toBeGreaterThan(from * 1000 - 5_000);
    expect(ttl, key).toBeLessThanOrEqual(to * 1000);
  }
  expect(keys).toHaveLength(2);
});

test('admit.lua: a pair’s key lives until the last minute that can begin in its day is over', async () => {
  const terms = createTestLimits({ agentId: newAgentId(), rpmLimit: 1_000, rpdLimit: 1_000 });
  const key = agentProviderKey(terms.agentId, 'openai');
  const windows = { minute: 200, day: 60_000 };
  await callScript({ windows, limits: terms });
  const first = await server.admin.pttl(key);
  expect(first).toBeGreaterThan(60_200 - 5_000);
  expect(first).toBeLessThanOrEqual(60_200);
  await callScript({ windows, limits: terms });
  expect(await server.admin.pttl(key)).toBeLessThanOrEqual(first); // the day began with the first
});

test('admit.lua: a pair whose minute is over, in a day that is not, keeps its end', async () => {
  const terms = createTestLimits({ agentId: newAgentId(), rpmLimit: 1_000, rpdLimit: 1_000 });
  const windows = { minute: 2, day: 60_000 };
  const first = await callScript({ windows, limits: terms });
  while ((await callScript({ windows, limits: terms, wanted: 0 })).nowUs < first.nowUs + 2_000);
  await callScript({ windows, limits: terms });
  const ttl = await server.admin.pttl(agentProviderKey(terms.agentId, 'openai'));
  expect([ttl > 60_000 - 5_000, ttl <= 60_002]).toEqual([true, true]);
});

test('admit.lua: what a probe writes does not stay', async () => {
  await callScript({ windows: {}, wanted: 0, probe: true });
  expect(await server.admin.pttl('acg:{probed}:probe')).not.toBe(-1); // -2: it is gone already
});

test('admit.lua: tokens stay for their minute and up to a 60th longer, and say when they leave', async () => {
  const start = Date.UTC(2026, 5, 1) * 1000;
  const terms = createTestLimits({ agentId: newAgentId(), tpmLimit: 10 });
  await callScript({ windows: {}, limits: terms, wanted: 0, tokens: 10, clockUs: start });
  const at = async (us: number) => (await callScript({ windows: {}, limits: terms, clockUs: start + us })).verdict;
  for (const us of [0, 61_000_000 - 1]) {
    expect(await at(us)).toMatchObject({ admitted: 0, refusedBy: TOKEN_ROWS[0], freeAtSec: start / 1e6 + 61 });
  }
  expect(await at(61_000_000)).toMatchObject({ admitted: 1, refusedBy: -1 });
});

test.each([0, 1])(
  'admit.lua: a month ends at its last microsecond, for a caller that is %i ahead, too',
  async (ahead) => {
    const june = monthOfMs(Date.UTC(2026, 5));
    const julyUs = Date.UTC(2026, 6) * 1000;
    const terms = createTestLimits({ agentId: newAgentId(), budgetNanos: 5 });
    const at = async (clockUs: number) =>
      (await callScript({ windows: {}, limits: terms, month: june + ahead, clockUs })).reply.month;
    expect([await at(julyUs - 1), await at(julyUs)]).toEqual([june, june + 1]);
  },
);

test('admit.lua: a limit lowered below what is counted passes again when the right one leaves', async () => {
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
    // So many of the ten have to leave; the last of them came that many seconds after the first.
    expect(verdict.retryAtSec).toBe(start / 1e6 + (10 - rpmLimit) + 60);
    const before = { windows, terms: createTestLimits({ agentId, rpmLimit }), wanted: 0 };
    const justBefore = await callScript({ ...before, clockUs: verdict.retryAtSec * 1e6 - 1 });
    expect(rejectionOf(justBefore.verdict)).toBe('rpm');
    const then = await callScript({ ...before, clockUs: verdict.retryAtSec * 1e6 });
    expect(rejectionOf(then.verdict)).toBeUndefined();
  }
});

test.each([-20_000, -13, -1, 1, 2, 25, 9_999])(
  'admit.lua: a caller whose month is %i off gets Redis’s month',
  async (off) => {
    const month = monthOfMs(Date.now());
    const agentId = newAgentId();
    const windows = { minute: 60_000, day: 86_400_000 };
    const floor = { spendFloorNanos: 500, spendFloorMonth: formatMonth(month + off) };
    const terms = createTestLimits({ agentId, budgetNanos: 9, ...floor });
    const { verdict, reply } = await callScript({ windows, limits: terms, costNanos: 9, month: month + off });
    expect(reply.month).toBe(month);
    expect(verdict).toMatchObject({
      admitted: 0,
      refusedBy: BUDGET_ROW,
      spentNanos: 9,
      freeAtSec: monthEndSec(month),
    });
  },
);

test('admit.lua: a total that is told again adds nothing, a higher one what is new of it', async () => {
  const agentId = newAgentId();
  const windows = { minute: 60_000, day: 86_400_000 };
  const terms = createTestLimits({ agentId, budgetNanos: 1_000 });
  const mine = new SpendCounters(10, 'mine');
  const theirs = new SpendCounters(10, 'theirs');
  const spent = async (purses: SpendCounters, costNanos: number) =>
    (await callScript({ windows, limits: terms, costNanos, purses })).verdict.spentNanos;
  expect(await spent(mine, 10)).toBe(10);
  expect(await spent(mine, 0)).toBe(10);
  expect(await spent(theirs, 5)).toBe(15);
  expect(await spent(mine, 3)).toBe(18);
  await server.admin.flushall();
  expect(await spent(theirs, 0)).toBe(5);
  expect(await spent(mine, 0)).toBe(18);
});

test('admit.lua: a hold counts until its lease is over, and no longer', async () => {
  const agentId = newAgentId();
  const start = Date.UTC(2026, 5, 1) * 1000;
  const terms = createTestLimits({ agentId, budgetNanos: 100, hardBudget: true, rpmLimit: 1_000 });
  const ask = async (purses: SpendCounters, clockUs: number, holdNanos: number, wanted = 1) =>
    (await callScript({ windows: {}, limits: terms, holdNanos, wanted, purses, clockUs })).verdict;
  const dead = new SpendCounters(10, 'test');
  expect((await ask(dead, start, 60)).admittedCount).toBe(1);
  // Another writer: the field's name is the writer that the call names.
  const refused = await callScriptAs('other', terms, 41, start + 14_999_999);
  expect(refused).toMatchObject({ admitted: 0, refusedBy: BUDGET_ROW, heldNanos: 60 });
  expect(await callScriptAs('other', terms, 41, start + 15_000_000)).toMatchObject({ admitted: 1, heldNanos: 41 });
  const holds = await server.admin.hget(monthSpendKey(agentId, '2026-06'), 'h');
  expect(holds).toMatch(/^other\0/); // the dead one's has been dropped
});

test('admit.lua: what is held when a month ends is held in the next one, until it is given back', async () => {
  const agentId = newAgentId();
  const next = Date.UTC(2026, 6, 1) * 1000;
  const terms = createTestLimits({ agentId, budgetNanos: 100, hardBudget: true, rpmLimit: 1_000 });
  const theirs = await callScriptAs('theirs', terms, 30, next - 1_000_000);
  expect(theirs).toMatchObject({ admitted: 1, heldNanos: 30 });
  const mine = new SpendCounters(10, 'test');
  const ask = async (clockUs: number, holdNanos: number) =>
    (await callScript({ windows: {}, limits: terms, holdNanos, purses: mine, clockUs })).verdict;
  expect(await ask(next - 1, 20)).toMatchObject({ admitted: 1, heldNanos: 50 });
  // Sent before the answer came: this process does not know yet what it holds, the store does.
  expect(await ask(next, 51)).toMatchObject({ admitted: 0, refusedBy: BUDGET_ROW, heldNanos: 50 });
  expect(await ask(next + 1, 50)).toMatchObject({ admitted: 1, heldNanos: 100 });
  mine.getOrCreate(agentId).release(20);
  expect(await ask(next + 2, 21)).toMatchObject({ admitted: 0, heldNanos: 80 });
  expect(await ask(next + 3, 20)).toMatchObject({ admitted: 1, heldNanos: 100 });
  expect(await server.admin.pttl(monthSpendKey(agentId, '2026-07'))).toBeGreaterThan(31 * DAY_SEC * 1000);
});

test('admit.lua: each request of a turn takes its own hold', async () => {
  const terms = createTestLimits({ agentId: newAgentId(), budgetNanos: 100, hardBudget: true });
  const { verdict } = await callScript({
    windows: {},
    limits: terms,
    holdNanos: 20,
    wanted: 3,
    purses: new SpendCounters(10, 'test'),
  });
  expect(verdict).toMatchObject({ admitted: 3, heldNanos: 60 });
  const other = await callScriptAs('other', terms, 41, Date.now() * 1000);
  expect(other).toMatchObject({ admitted: 0, heldNanos: 60 });
});

test('admit.lua: a call that a later one has overtaken takes no hold, for nobody would hear of it', async () => {
  const terms = createTestLimits({ agentId: newAgentId(), budgetNanos: 100, hardBudget: true });
  const purses = new SpendCounters(10, 'test');
  const month = monthOfMs(Date.now());
  const [first, second] = [20, 30].map((holdNanos) => {
    const batch = new AdmissionBatch(0, purses);
    batch.admit(terms, 'openai', terms.budgetedScopes, holdNanos, () => {});
    batch.freezeTotals();
    const header = { windows: DEFAULT_WINDOW_LENGTHS_MS, month, probe: false, probeTag: '' };
    const keys = listAdmitKeys(header, batch);
    const sent = ['EVAL', script, keys.length, ...keys, encodeAdmitArgument(header, batch), 'test'] as const;
    return async () => {
      const reply = (await server.admin.callBuffer(...(sent as unknown as [string, ...string[]]))) as Buffer;
      return decodeAdmitReply(reply, batch, month)!.verdicts[0]!;
    };
  });
  expect(await second!()).toMatchObject({ admitted: 1, heldNanos: 30 });
  expect(await first!()).toMatchObject({ admitted: 0, refusedBy: BUDGET_ROW });
  expect((await readStoredReservations(server.admin, terms.agentId)).map(({ sum }) => sum)).toEqual([30]);
});

async function callScriptAs(
  writer: string,
  terms: AgentLimits,
  holdNanos: number,
  clockUs: number,
): Promise<AdmitVerdict> {
  const batch = new AdmissionBatch(0, new SpendCounters(10, writer));
  batch.admit(terms, 'openai', terms.budgetedScopes, holdNanos, () => {});
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
  await Promise.all(planes.map((plane) => plane.start()));
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 80 }),
      fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 1_000_000 })), { minLength: 1, maxLength: 200 }),
      async (rpmLimit, traffic) => {
        const agentId = newAgentId();
        const asked = request({ agentId, rpmLimit, budgetNanos: 1e15 });
        const answers = await Promise.all(
          traffic.map(async ([plane, costNanos], index) => {
            if (index % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
            const answer = await admit(planes[plane]!, asked);
            if (answer.outcome === 'admitted') settleSpend(planes[plane]!, agentId, costNanos);
            return answer.outcome === 'admitted' ? costNanos : 0;
          }),
        );
        expect(answers.filter((cost) => cost > 0)).toHaveLength(Math.min(rpmLimit, traffic.length));
        const sum = answers.reduce((total, cost) => total + cost, 0);
        await Promise.all(planes.map((plane) => admit(plane, request({ agentId, providerSlug: 'flush' }))));
        for (const [budgetNanos, outcome] of [
          [sum, 'budget'],
          [sum + 1, 'admitted'],
        ] as const) {
          const probe = request({ agentId, providerSlug: 'probe', budgetNanos });
          expect((await admit(planes[0]!, probe)).outcome).toBe(outcome);
        }
      },
    ),
    { numRuns: 40 },
  );
  await Promise.all(planes.map((plane) => plane.close()));
});
