import { expect, test } from 'vitest';
import { planFaults, QUIET_PERIOD_MS } from './fault-plan.js';
import { BURST_KINDS, planBursts } from './limit-burst-plan.js';

const MINUTE = 60_000;

test.each([1, 2, 3, 4, 5])('burst plan: has every kind before the first fault, seed %i', (seed) => {
  const early = planBursts(planFaults(seed, MINUTE), MINUTE).filter(({ atMs }) => atMs < QUIET_PERIOD_MS - 1_000);
  expect(early.map(({ kind }) => kind)).toEqual(BURST_KINDS);
});

test('burst plan: has a burst against a hard budget just before each fault of a data plane or the store', () => {
  const plan = planFaults(1, 10 * MINUTE);
  const hard = planBursts(plan, 10 * MINUTE).filter(({ kind }) => kind === 'hard');
  for (const { victim, atMs } of plan) {
    const isMet = hard.some((burst) => burst.atMs < atMs && burst.atMs > atMs - 1_000);
    if (victim === 'redis' || victim.startsWith('data-')) expect(isMet, `${victim} at ${atMs}`).toBe(true);
  }
});
