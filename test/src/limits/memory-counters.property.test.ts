/** Compares the in-process counters with the reference model, on a fake clock over days and months. */

import { MemoryCounters } from '@acg/dataplane/counters/memory/memory-counters';
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import type { Admission } from '@acg/dataplane/limits/counters-interface';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAdmissionRequest, settleSpend } from './counters-fixture.js';
import { ReferenceLimits } from './reference-limits.js';

const MINUTE_US = 60_000_000;
const DAY_US = 86_400_000_000;

/** Mostly within a window, sometimes exactly at its edge, sometimes days. */
const advance = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 6, arbitrary: fc.integer({ min: 1, max: MINUTE_US / 4 }) },
  { weight: 2, arbitrary: fc.constantFrom(MINUTE_US - 1, MINUTE_US, MINUTE_US + 1, DAY_US - 1, DAY_US) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 20 * DAY_US }) },
);
const step = fc.record({
  advanceUs: advance,
  provider: fc.constantFrom('openai', 'anthropic'),
  rpmLimit: fc.integer({ min: 1, max: 12 }),
  rpdLimit: fc.integer({ min: 1, max: 40 }),
  budgetNanos: fc.option(fc.integer({ min: 0, max: 300 }), { nil: null }),
  costNanos: fc.integer({ min: 0, max: 20 }),
  burst: fc.integer({ min: 1, max: 6 }),
});

test('memory counters: agree with the model on every reply, over windows, days and months', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 120 }), (steps) => {
      let nowUs = Date.UTC(2026, 0, 30, 23, 59, 30) * 1000;
      const counters = new MemoryCounters(() => nowUs, { minute: MINUTE_US / 1000, day: DAY_US / 1000 });
      const model = new ReferenceLimits(MINUTE_US, DAY_US);
      for (const { advanceUs, provider, rpmLimit, rpdLimit, budgetNanos, costNanos, burst } of steps) {
        nowUs += advanceUs;
        for (let i = 0; i < burst; i++) {
          const expected = model.admit(nowUs, { pair: provider, rpmLimit, rpdLimit, budgetNanos });
          let answer: Admission | null = null;
          const request = createAdmissionRequest({ providerSlug: provider, rpmLimit, rpdLimit, budgetNanos });
          counters.admit(request, (admission) => {
            answer = admission;
          });
          expect(answer).toMatchObject(expected);
        }
        settleSpend(counters, createAdmissionRequest().limits.agentId, costNanos, nowUs / 1e6);
        model.addSpend(nowUs, costNanos);
      }
    }),
  );
});

test('memory counters: a month ends at its last microsecond in UTC', () => {
  let nowUs = Date.UTC(2028, 1, 29, 23, 59, 59, 999) * 1000 + 999;
  const counters = new MemoryCounters(() => nowUs, { minute: MINUTE_US / 1000, day: DAY_US / 1000 });
  const outcome = (): string => {
    let seen = '';
    counters.admit(createAdmissionRequest({ budgetNanos: 5 }), (admission) => {
      seen = admission.outcome;
    });
    return seen;
  };
  settleSpend(counters, createAdmissionRequest().limits.agentId, 5, nowUs / 1e6);
  expect(outcome()).toBe('budget');
  nowUs += 1;
  expect(outcome()).toBe('admitted');
});

test('memory counters: a small backward clock step frees nothing early, a big one starts over', () => {
  let nowUs = Date.UTC(2026, 5, 1) * 1000;
  const counters = new MemoryCounters(() => nowUs, { minute: MINUTE_US / 1000, day: DAY_US / 1000 });
  const ask = (): Admission => {
    let seen: Admission | null = null;
    counters.admit(createAdmissionRequest({ rpmLimit: 2 }), (admission) => {
      seen = admission;
    });
    return seen!;
  };
  ask();
  nowUs -= MINUTE_US / 2;
  expect(ask().outcome).toBe('admitted');
  expect(ask().outcome).toBe('rpm');
  nowUs -= DAY_US;
  expect(ask().outcome).toBe('admitted');
});

test('memory counters: a small backward clock step ends no day early', () => {
  const startUs = Date.UTC(2026, 5, 1) * 1000;
  let nowUs = startUs;
  const counters = new MemoryCounters(() => nowUs);
  const request = createAdmissionRequest({ rpdLimit: 1 });
  const retryAtSec = (): number => {
    let atSec = 0;
    counters.admit(request, (admission) => {
      atSec = admission.retryAtSec;
    });
    return atSec;
  };
  expect(retryAtSec()).toBe(0);
  nowUs -= MINUTE_US / 2;
  expect(retryAtSec()).toBe((startUs + DAY_US) / 1e6);
});

test('memory counters: the real windows are a day and slightly more than a minute, so that no minute at the provider is shorter', () => {
  const startUs = Date.UTC(2026, 5, 1) * 1000;
  let nowUs = startUs;
  const counters = new MemoryCounters(() => nowUs);
  const outcome = (atUs: number, limits: object): string => {
    let seen = '';
    nowUs = startUs + atUs;
    counters.admit(createAdmissionRequest(limits), (admission) => {
      seen = admission.outcome;
    });
    return seen;
  };
  const minute = { agentId: 'minute', rpmLimit: 1 };
  const atUs = [0, MINUTE_US, MINUTE_US + 29_999, MINUTE_US + 30_000];
  expect(atUs.map((at) => outcome(at, minute))).toEqual(['admitted', 'rpm', 'rpm', 'admitted']);
  const day = { agentId: 'day', rpdLimit: 1 };
  const laterUs = [2 * MINUTE_US, DAY_US, DAY_US + 2 * MINUTE_US - 1, DAY_US + 2 * MINUTE_US];
  expect(laterUs.map((at) => outcome(at, day))).toEqual(['admitted', 'rpd', 'rpd', 'admitted']);
});

test('memory counters: tokens count for their minute and up to a 60th longer, and the reply says when they expire', () => {
  const startUs = Date.UTC(2026, 5, 1) * 1000;
  let nowUs = startUs;
  const counters = new MemoryCounters(() => nowUs);
  const request = createAdmissionRequest({ tpmLimit: 10 });
  const { limits, providerSlug } = request;
  counters.settle({ limits, providerSlug, admittedAtSec: 0, costNanos: 0, tokens: 10, reservationNanos: 0 });
  const at = (atUs: number): readonly [string, number] => {
    let seen: readonly [string, number] = ['', 0];
    nowUs = startUs + atUs;
    counters.admit(request, ({ outcome, retryAtSec }) => {
      seen = [outcome, retryAtSec - startUs / 1e6];
    });
    return seen;
  };
  expect(at(0)).toEqual(['tpm', 61]);
  expect(at(61_000_000 - 1)).toEqual(['tpm', 61]);
  expect(at(61_000_000)[0]).toBe('admitted');
});

test('memory counters: a reservation stays in the month of its admission, however long the call takes', () => {
  let nowUs = Date.UTC(2026, 0, 1) * 1000;
  const counters = new MemoryCounters(() => nowUs);
  const { limits } = createAdmissionRequest({ budgetNanos: 100, hardBudget: true });
  const reserve = (reservationNanos: number): string => {
    let seen = '';
    counters.admit({ limits, providerSlug: 'openai', reservationNanos }, ({ outcome }) => {
      seen = outcome;
    });
    return seen;
  };
  const growsBy = (nanos: number): boolean => {
    let seen = false;
    counters.growReservation(limits, Date.UTC(2026, 0, 1) / 1000, nanos, (granted) => {
      seen = granted;
    });
    return seen;
  };
  expect(reserve(60)).toBe('admitted');
  nowUs += 100 * DAY_US;
  for (let i = 0; i < 10; i++) counters.admit(createAdmissionRequest({ agentId: `another-${i}` }), () => {});
  expect([reserve(101), reserve(100)]).toEqual(['budget', 'admitted']);
  expect([growsBy(41), growsBy(40)]).toEqual([false, true]);
});

test('memory counters: tokens of a call that took longer than a day count for their minute', () => {
  let nowUs = Date.UTC(2026, 0, 1) * 1000;
  const counters = new MemoryCounters(() => nowUs);
  const request = createAdmissionRequest({ tpmLimit: 10 });
  const { limits, providerSlug } = request;
  counters.admit(request, () => {});
  nowUs += 2 * DAY_US;
  counters.settle({ limits, providerSlug, admittedAtSec: 0, costNanos: 0, tokens: 10, reservationNanos: 0 });
  for (let i = 0; i < 10; i++) counters.admit(createAdmissionRequest({ agentId: `another-${i}` }), () => {});
  const outcomes: string[] = [];
  counters.admit(request, ({ outcome }) => void outcomes.push(outcome));
  expect(outcomes).toEqual(['tpm']);
});

test('memory counters: drop pairs that are idle for a day and the spend of past months', () => {
  let nowUs = Date.UTC(2026, 0, 1) * 1000;
  const counters = new MemoryCounters(() => nowUs, { minute: MINUTE_US / 1000, day: DAY_US / 1000 });
  const month = calendarWindowAt('month', nowUs / 1e6).name;
  for (let agent = 0; agent < 1_000; agent++) {
    const request = createAdmissionRequest({
      agentId: `agent-${agent}`,
      budgetNanos: 10,
      spendFloorNanos: 1,
      spendFloorMonth: month,
    });
    counters.admit(request, () => {});
  }
  expect(counters.trackedCount).toBe(2_000);
  nowUs += 72 * DAY_US;
  for (let i = 0; i < 3_000; i++) counters.admit(createAdmissionRequest({ rpmLimit: 1_000_000 }), () => {});
  expect(counters.trackedCount).toBeLessThanOrEqual(2);
});
