/** admit.lua itself: every field of every reply against the model at the very time that the script reports. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  callKeys,
  decodeReply,
  encodeCall,
  type Look,
  NO_BUDGET,
  type Spend,
  type Verdict,
} from '@acg/dataplane/counters/admit-call';
import { monthEndSec, monthOfMs } from '@acg/dataplane/counters/calendar-month';
import { BUDGET_ROW, LIMIT_TABLE } from '@acg/dataplane/counters/limit-table';
import { RedisCounters } from '@acg/dataplane/counters/redis-counters';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../redis-server.js';
import { admit, CountingMetrics, request, silentLog } from './counters-promises.js';
import { LimitsModel } from './limits-model.js';

const script = readFileSync(
  createRequire(import.meta.url)
    .resolve('@acg/dataplane/counters/admit-call')
    .replace('admit-call.js', 'admit.lua'),
  'utf8',
);

/** The same script on a clock that the caller gives, for months and clocks that step. */
const clocked = script.replace("call('TIME')", '{ARGV[2], ARGV[3]}');

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

interface Question {
  readonly windows: { readonly rpmMs: number; readonly rpdMs: number };
  readonly looks: readonly Look[];
  readonly spends?: readonly Spend[];
  readonly seq?: number;
  readonly month?: number;
  /** Missing: Redis's own clock. */
  readonly clockUs?: number;
}
let seq = 0;

async function call(question: Question) {
  const { windows, looks, spends = [], month = monthOfMs(Date.now()) } = question;
  const mark = spends.length > 0;
  const header = { windows, month, seq: question.seq ?? ++seq, raise: true, mark, tag: 'x', writerId: 'test' };
  const keys = callKeys(header, spends, looks);
  const argument = encodeCall(header, spends, looks);
  const { clockUs } = question;
  const clock = clockUs === undefined ? [] : [Math.floor(clockUs / 1e6), clockUs % 1e6];
  const text = clockUs === undefined ? script : clocked;
  const reply = (await server.admin.callBuffer('EVAL', text, keys.length, ...keys, argument, ...clock)) as Buffer;
  return { nowUs: reply.readDoubleLE(0), reply: decodeReply(reply, spends.length, looks.length)! };
}

const look = (agentId: string, overrides: Partial<Look> = {}): Look => ({
  agentId,
  providerSlug: 'openai',
  wanted: 1,
  rpmLimit: 60,
  rpdLimit: 10_000,
  budgetNanos: NO_BUDGET,
  seenNanos: 0,
  seenMonth: 0,
  ledgerNanos: 0,
  ledgerMonth: 0,
  ...overrides,
});

const refusalOf = ({ refusedBy }: Verdict): string | undefined => LIMIT_TABLE[refusedBy]?.type;

let agents = 0;
const freshAgent = (): string => `agent-${++agents}`;

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
      async (steps, rpmMs, rpdMs) => {
        const agentId = freshAgent();
        const model = new LimitsModel(rpmMs * 1000, rpdMs * 1000);
        for (const { pauseMs, wanted, rpmLimit, rpdLimit, budgetNanos, costNanos } of steps) {
          if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
          const asked = look(agentId, { wanted, rpmLimit, rpdLimit, budgetNanos: budgetNanos ?? NO_BUDGET });
          const month = monthOfMs(Date.now());
          const spends = costNanos > 0 ? [{ agentId, month, costNanos, baseNanos: 0 }] : [];
          const { nowUs, reply } = await call({ windows: { rpmMs, rpdMs }, looks: [asked], spends });
          model.addSpend(nowUs, costNanos);
          const verdict = reply.verdicts[0]!;
          let admitted = 0;
          for (let i = 0; i < wanted; i++) {
            const expected = model.admit(nowUs, { pair: 'openai', rpmLimit, rpdLimit, budgetNanos });
            if (expected.outcome === 'admitted') {
              admitted++;
              expect(verdict.rpmResetAtSec).toBe(expected.rpmResetAtSec);
            } else {
              expect([refusalOf(verdict), verdict.freeAtSec]).toEqual([expected.outcome, expected.passesAtSec]);
            }
          }
          expect(verdict.admitted).toBe(admitted);
          expect(verdict.rpmRemaining).toBe(Math.max(0, rpmLimit - model.live('openai', nowUs).length));
          expect(verdict.rpdRemaining).toBe(Math.max(0, rpdLimit - model.dayCount('openai', nowUs)));
          expect(verdict.spentNanos).toBe(model.spentNanos(nowUs));
        }
      },
    ),
    { numRuns: 60 },
  );
});

const farStep = fc.record({
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
      fc.array(farStep, { minLength: 1, maxLength: 100 }),
      fc.integer({ min: 0, max: 20_000 }),
      async (steps, day) => {
        const agentId = freshAgent();
        const model = new LimitsModel(60_000_000, 86_400_000_000);
        let clockUs = Date.UTC(2020, 0, 1 + day, 23, 59, 30) * 1000;
        for (const { advanceUs, wanted, rpmLimit, rpdLimit, budgetNanos, costNanos, callerMonthsOff } of steps) {
          clockUs += advanceUs;
          const month = monthOfMs(clockUs / 1000);
          const asked = look(agentId, { wanted, rpmLimit, rpdLimit, budgetNanos: budgetNanos ?? NO_BUDGET });
          const { reply } = await call({
            windows: { rpmMs: 60_000, rpdMs: 86_400_000 },
            looks: [asked],
            spends: [{ agentId, month, costNanos, baseNanos: 0 }],
            month: month + callerMonthsOff,
            clockUs,
          });
          model.addSpend(clockUs, costNanos);
          const verdict = reply.verdicts[0]!;
          let admitted = 0;
          for (let i = 0; i < wanted; i++) {
            const expected = model.admit(clockUs, { pair: 'openai', rpmLimit, rpdLimit, budgetNanos });
            if (expected.outcome === 'admitted') admitted++;
            else expect([refusalOf(verdict), verdict.freeAtSec]).toEqual([expected.outcome, expected.passesAtSec]);
          }
          expect(verdict.admitted).toBe(admitted);
          expect(verdict.rpmRemaining).toBe(Math.max(0, rpmLimit - model.live('openai', clockUs).length));
          expect(verdict.spentNanos).toBe(model.spentNanos(clockUs));
        }
      },
    ),
    { numRuns: 80 },
  );
});

test('admit.lua: a clock that steps back a little frees nothing early, one that steps back far starts over', async () => {
  const agentId = freshAgent();
  const start = Date.UTC(2026, 5, 1) * 1000;
  const windows = { rpmMs: 60_000, rpdMs: 86_400_000 };
  const admitted = async (clockUs: number): Promise<number> =>
    (await call({ windows, looks: [look(agentId, { rpmLimit: 2 })], clockUs })).reply.verdicts[0]!.admitted;
  expect(await admitted(start)).toBe(1);
  expect(await admitted(start - 30_000_000)).toBe(1);
  expect(await admitted(start - 30_000_000)).toBe(0);
  expect(await admitted(start - 86_400_000_000)).toBe(1);
});

test('admit.lua: a pair takes at most 8 bytes per admission of its busiest window and a fixed part', async () => {
  const windows = { rpmMs: 60_000, rpdMs: 86_400_000 };
  const agentId = freshAgent();
  for (const [admissions, bytesMax] of [
    [60, 60 * 8 + 256],
    [10_000, 10_000 * 8 + 256],
    [1_000_000, 1_000_000 * 8 + 1_100_000], // Redis grows big strings by 1 MiB at a time
  ] as const) {
    await server.admin.flushall();
    const asked = look(agentId, { wanted: admissions / 10, rpmLimit: 1_000_000, rpdLimit: 1_000_000_000 });
    for (let i = 0; i < 10; i++) await call({ windows, looks: [asked] });
    const bytes = Number(await server.admin.memory('USAGE', `acg:{${agentId}}:p:openai`));
    expect(bytes).toBeLessThanOrEqual(bytesMax);
  }
});

test('admit.lua: a log that ran for many windows stays small', async () => {
  const windows = { rpmMs: 4, rpdMs: 60_000 };
  const asked = look(freshAgent(), { rpmLimit: 50, rpdLimit: 1_000_000 });
  for (let i = 0; i < 4_000; i++) await call({ windows, looks: [asked] });
  expect(await server.admin.strlen(`acg:{${asked.agentId}}:p:openai`)).toBeLessThanOrEqual(50 * 4 * 2 + 32 * 4 + 32);
});

test('admit.lua: every key expires, spend after 32 days, and no key outlives its windows for long', async () => {
  await server.admin.flushall();
  const agentId = freshAgent();
  const month = monthOfMs(Date.now());
  const windows = { rpmMs: 60_000, rpdMs: 86_400_000 };
  await call({ windows, looks: [look(agentId)], spends: [{ agentId, month, costNanos: 5, baseNanos: 0 }] });
  const ttls = new Map<string, number>();
  for (const key of await server.admin.keys('*')) ttls.set(key, await server.admin.ttl(key));
  expect([...ttls.keys()].map((key) => key.replace(/\d{4}-\d\d$/, 'month')).sort()).toEqual([
    `acg:{${agentId}}:p:openai`,
    `acg:{${agentId}}:spend:month`,
    'acg:{x}:w:test',
  ]);
  const spendTtl = [...ttls].find(([key]) => key.includes(':spend:'))![1];
  expect(spendTtl).toBeGreaterThan(32 * 86_400 - 60);
  expect(spendTtl).toBeLessThanOrEqual(32 * 86_400);
  expect(ttls.get(`acg:{${agentId}}:p:openai`)).toBeLessThanOrEqual(86_460);
});

test.each([-20_000, -13, -1, 1, 2, 25, 9_999])(
  'admit.lua: a caller whose month is %i off gets Redis’s month',
  async (off) => {
    const month = monthOfMs(Date.now());
    const agentId = freshAgent();
    const windows = { rpmMs: 60_000, rpdMs: 86_400_000 };
    await call({ windows, looks: [], spends: [{ agentId, month, costNanos: 9, baseNanos: 0 }] });
    const asked = look(agentId, { budgetNanos: 9, ledgerNanos: 500, ledgerMonth: month + off });
    const { reply } = await call({ windows, looks: [asked], month: month + off });
    expect(reply.verdicts[0]).toMatchObject({
      admitted: 0,
      refusedBy: BUDGET_ROW,
      spentNanos: 9,
      freeAtSec: monthEndSec(month),
    });
  },
);

test('admit.lua: a repeated call adds nothing, an earlier one neither', async () => {
  const agentId = freshAgent();
  const month = monthOfMs(Date.now());
  const windows = { rpmMs: 60_000, rpdMs: 86_400_000 };
  const spends = [{ agentId, month, costNanos: 10, baseNanos: 0 }];
  const first = ++seq;
  const outcomes = [];
  for (const at of [first, first, ++seq, first]) {
    outcomes.push((await call({ windows, looks: [], spends, seq: at })).reply.applied);
  }
  expect(outcomes).toEqual([true, false, true, false]);
  const spent = (await call({ windows, looks: [look(agentId)] })).reply.verdicts[0]!.spentNanos;
  expect(spent).toBe(20);
});

test('several data planes on one Redis: exactly the limit passes, and spend adds up to the nano-dollar', async () => {
  const options = { urls: [server.url], connectionName: 'acg-test', tlsCa: null, timeoutMs: 10_000 };
  const planes = Array.from({ length: 4 }, () => new RedisCounters(options, silentLog, new CountingMetrics()));
  await Promise.all(planes.map((plane) => plane.start()));
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 80 }),
      fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 1_000_000 })), { minLength: 1, maxLength: 200 }),
      async (rpmLimit, traffic) => {
        const agentId = freshAgent();
        const asked = request({ agentId, rpmLimit, budgetNanos: 1e15 });
        const answers = await Promise.all(
          traffic.map(async ([plane, costNanos], index) => {
            if (index % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
            const answer = await admit(planes[plane]!, asked);
            if (answer.outcome === 'admitted') planes[plane]!.addSpend(agentId, costNanos);
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
