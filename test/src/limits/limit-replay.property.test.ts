/**
 * The replay of limits against a brute-force oracle that keeps every admission, and against the in-process counters: calls
 * that ran without limits and are replayed with limits are rejected exactly where the counters would have rejected them.
 */
import { isoWeekOf } from '@acg/base/budget-rows';
import { LimitReplay, type ReplayedCall, type ReplayLimits } from '@acg/base/rate-windows/limit-replay';
import { MemoryCounters } from '@acg/dataplane/counters/memory/memory-counters';
import type { Admission } from '@acg/dataplane/limits/counters-interface';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAdmissionRequest } from './counters-fixture.js';

const CASES = 1_000;
const START_MS = Date.UTC(2026, 10, 27, 23, 58);
const DAY_MS = 86_400_000;

const gap = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 4_000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 10_000, max: 61_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 8 * DAY_MS }) },
);
const call = fc.record({
  gap,
  agentId: fc.constantFrom('a', 'b'),
  providerSlug: fc.constantFrom('openai', 'anthropic'),
  model: fc.constantFrom('', 'gpt-5', 'GPT-5-mini', 'o3'),
  tags: fc.constantFrom('', 'customer=acme', 'customer=acme,feature=x'),
  durationMs: fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 90_000 })),
  tokens: fc.integer({ min: 0, max: 50 }),
  costNanos: fc.integer({ min: 0, max: 50 }),
});
const calls = fc.array(call, { minLength: 1, maxLength: 60 }).map((list): ReplayedCall[] => {
  let startedMs = START_MS;
  return list.map(({ gap: add, ...rest }) => {
    startedMs += add;
    return { ...rest, startedMs };
  });
});
const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null });
const limits: fc.Arbitrary<ReplayLimits> = fc.record({
  rpm: optional(fc.integer({ min: 1, max: 8 })),
  rpd: optional(fc.integer({ min: 1, max: 20 })),
  tpm: optional(fc.integer({ min: 1, max: 200 })),
  budgets: fc.array(
    fc.record({
      window: fc.constantFrom('day' as const, 'week' as const, 'month' as const, 'total' as const),
      nanos: fc.integer({ min: 0, max: 400 }),
      models: fc.constantFrom([], ['gpt-5*'], ['o3', 'GPT-5']),
      tag: fc.constantFrom('', 'customer=acme', 'feature=x'),
    }),
    { maxLength: 3 },
  ),
  sharedBudgets: fc.boolean(),
});

/** Counts everything again for each call. */
function oracle(list: readonly ReplayedCall[], { rpm, rpd, tpm, budgets, sharedBudgets }: ReplayLimits) {
  const admitted: ReplayedCall[] = [];
  return list.map((now) => {
    const ofPair = admitted.filter((c) => c.agentId === now.agentId && c.providerSlug === now.providerSlug);
    if (rpm !== null && ofPair.filter((c) => c.startedMs + 60_030 > now.startedMs).length >= rpm) return 'rpm';
    let [dayStart, dayCount] = [Number.NEGATIVE_INFINITY, 0];
    for (const { startedMs } of ofPair) {
      if (startedMs >= dayStart + DAY_MS) [dayStart, dayCount] = [startedMs, 0];
      dayCount++;
    }
    if (rpd !== null && now.startedMs < dayStart + DAY_MS && dayCount >= rpd) return 'rpd';
    const ended = ofPair.filter((c) => c.startedMs + c.durationMs <= now.startedMs);
    const second = (ms: number) => Math.floor(ms / 1_000);
    const recent = ended.filter((c) => second(c.startedMs + c.durationMs) + 60 >= second(now.startedMs));
    if (tpm !== null && recent.reduce((sum, c) => sum + c.tokens, 0) >= tpm) return 'tpm';
    const at = budgets.findIndex(({ window, nanos, models, tag }) => {
      const counts = ({ model, tags }: ReplayedCall) =>
        (tag === '' || tags.split(',').includes(tag)) &&
        (models.length === 0 ||
          model === '' ||
          models.some((pattern) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`, 'i').test(model)));
      const instance = ({ startedMs }: ReplayedCall) => {
        const day = new Date(startedMs).toISOString().slice(0, 10);
        return { day, week: isoWeekOf(day), month: day.slice(0, 7), total: '' }[window];
      };
      if (!counts(now)) return false;
      const spent = admitted
        .filter((c) => c.startedMs + c.durationMs <= now.startedMs && counts(c) && instance(c) === instance(now))
        .filter((c) => sharedBudgets || c.agentId === now.agentId)
        .reduce((sum, c) => sum + c.costNanos, 0);
      return spent >= nanos;
    });
    if (at >= 0) return at;
    admitted.push(now);
    return null;
  });
}

const replayAll = (list: readonly ReplayedCall[], of: ReplayLimits) => {
  const replay = new LimitReplay(of);
  return list.map((one) => replay.admit(one));
};

test('a replay equals a brute-force oracle', () => {
  let rejected = 0;
  fc.assert(
    fc.property(calls, limits, (list, of) => {
      const expected = oracle(list, of);
      rejected += expected.filter((one) => one !== null).length;
      expect(replayAll(list, of)).toEqual(expected);
    }),
    { numRuns: CASES },
  );
  // Some 1 of a case on average, 0.9 to 1.1 in a run.
  expect(rejected).toBeGreaterThan(CASES / 2);
});

test('a replay of calls that ran without limits rejects exactly what the in-process counters reject', () => {
  fc.assert(
    fc.property(
      calls,
      fc.record({
        rpm: fc.integer({ min: 1, max: 8 }),
        rpd: fc.integer({ min: 1, max: 20 }),
        tpm: optional(fc.integer({ min: 1, max: 200 })),
        budgetNanos: optional(fc.integer({ min: 0, max: 400 })),
      }),
      (all, { rpm, rpd, tpm, budgetNanos }) => {
        const list = all.filter(({ agentId }) => agentId === 'a');
        const budgets =
          budgetNanos === null ? [] : [{ window: 'month' as const, nanos: budgetNanos, models: [], tag: '' }];
        const replayed = replayAll(list, { rpm, rpd, tpm, budgets, sharedBudgets: false });
        expect(replayed.map((one) => (typeof one === 'number' ? 'budget' : (one ?? 'admitted')))).toEqual(
          runCounters(list, { rpmLimit: rpm, rpdLimit: rpd, tpmLimit: tpm, budgetNanos }),
        );
      },
    ),
    { numRuns: CASES },
  );
});

/** The same calls through the counters of a data plane, each settled when it ends. */
function runCounters(
  list: readonly ReplayedCall[],
  of: { rpmLimit: number; rpdLimit: number; tpmLimit: number | null; budgetNanos: number | null },
): string[] {
  let nowMs = START_MS;
  const counters = new MemoryCounters(() => nowMs * 1_000);
  const { tpmLimit, ...rest } = of;
  const request = (providerSlug: string) =>
    createAdmissionRequest({ providerSlug, ...rest, ...(tpmLimit === null ? {} : { tpmLimit }) });
  const running: { endMs: number; settle: () => void }[] = [];
  return list.map(({ providerSlug, startedMs, durationMs, tokens, costNanos }) => {
    running.sort((a, b) => a.endMs - b.endMs);
    while (running.length > 0 && running[0]!.endMs <= startedMs) {
      const { endMs, settle } = running.shift()!;
      nowMs = endMs;
      settle();
    }
    nowMs = startedMs;
    let admission: Admission | null = null;
    const asked = request(providerSlug);
    counters.admit(asked, (answer) => {
      admission = answer;
    });
    const { outcome, admittedAtSec } = admission!;
    if (outcome === 'admitted')
      running.push({
        endMs: startedMs + durationMs,
        settle: () =>
          counters.settle({
            limits: asked.limits,
            providerSlug,
            admittedAtSec,
            costNanos,
            tokens,
            reservationNanos: 0,
          }),
      });
    return outcome;
  });
}
