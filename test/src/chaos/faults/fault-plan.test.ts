import { expect, test } from 'vitest';
import { FAULT_KINDS, planFaults, QUIET_PERIOD_MS, VICTIMS } from './fault-plan.js';
import { SeededRandom } from './seeded-random.js';

const TEN_MINUTES = 600_000;
const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

test('fault plan: the same seed gives the same faults, another seed gives others', () => {
  expect(planFaults(7, TEN_MINUTES)).toEqual(planFaults(7, TEN_MINUTES));
  expect(planFaults(7, TEN_MINUTES)).not.toEqual(planFaults(8, TEN_MINUTES));
});

test('fault plan: a longer run begins like a shorter one', () => {
  const short = planFaults(3, 60_000);
  expect(short.length).toBeGreaterThan(3);
  expect(planFaults(3, TEN_MINUTES).slice(0, short.length)).toEqual(short);
});

test('fault plan: ten minutes contain every target and every kind of fault for any seed', () => {
  for (const seed of SEEDS) {
    const plan = planFaults(seed, TEN_MINUTES);
    expect(new Set(plan.map(({ victim }) => victim)), `seed ${seed}`).toEqual(new Set(VICTIMS));
    for (const { among, action } of FAULT_KINDS) {
      expect(plan.some((fault) => fault.action === action && among.includes(fault.victim))).toBe(true);
    }
  }
});

test('fault plan: faults are in order, inside the quiet periods, and never two of one target at a time', () => {
  for (const seed of SEEDS) {
    const plan = planFaults(seed, TEN_MINUTES);
    expect(plan[0]!.atMs).toBeGreaterThanOrEqual(QUIET_PERIOD_MS);
    expect(plan.at(-1)!.atMs).toBeLessThanOrEqual(TEN_MINUTES - QUIET_PERIOD_MS);
    for (const [index, fault] of plan.entries()) {
      const next = plan.slice(index + 1);
      expect(next.every(({ atMs }) => atMs > fault.atMs)).toBe(true);
      const again = next.find(({ victim }) => victim === fault.victim);
      if (again !== undefined) expect(again.atMs).toBeGreaterThan(fault.atMs + fault.durationMs);
    }
  }
});

test('fault plan: some targets are down at the same time', () => {
  const plan = planFaults(1, TEN_MINUTES);
  expect(plan.some((fault, i) => plan[i + 1] !== undefined && plan[i + 1]!.atMs < fault.atMs + fault.durationMs)).toBe(
    true,
  );
});

test('fault plan: a run too short for a fault has none', () => {
  expect(planFaults(1, 2 * QUIET_PERIOD_MS - 1)).toEqual([]);
});

test('seeded random: numbers stay in their range and cover it', () => {
  const random = new SeededRandom(5);
  const numbers = Array.from({ length: 1_000 }, () => random.integerBetween(2, 4));
  expect(new Set(numbers)).toEqual(new Set([2, 3, 4]));
  expect(random.shuffled([1, 2, 3, 4, 5]).sort()).toEqual([1, 2, 3, 4, 5]);
});
