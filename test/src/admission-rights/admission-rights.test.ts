/** Simulated schedules keep the promises of admission rights, and each rule is needed (docs/decisions.md). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { estimateLocalShare } from './local-share.js';
import { MUTANTS } from './mutants.js';
import { judge } from './oracle.js';
import { drawSchedule } from './schedule.js';
import { RIGHTS_LOGIC, type RightsLogic, simulate } from './simulation.js';

const SCHEDULES_PER_CASE = 5;
/** Several times as many as the mutant that survives longest needs. */
const MAX_SCHEDULES_PER_MUTANT = 20_000;

function violationsOf(seed: number, logic: RightsLogic): readonly string[] {
  const schedule = drawSchedule(seed);
  return judge(schedule, simulate(schedule, logic)).violations.map((violation) => `seed ${seed}: ${violation}`);
}

test('admission rights: no schedule breaks a limit, rejects a call that fits or lets one wait longer than a term', () => {
  fc.assert(
    fc.property(fc.nat(0xffff_ffff), (first) => {
      for (let i = 0; i < SCHEDULES_PER_CASE; i++) expect(violationsOf(first + i, RIGHTS_LOGIC)).toEqual([]);
    }),
  );
});

test('admission rights: the same seed gives the same history', () => {
  const schedule = drawSchedule(7);
  expect(simulate(schedule)).toEqual(simulate(schedule));
});

test('admission rights: schedules reach every outcome and every exception', () => {
  const sums = { onRights: 0, byStore: 0, rejected: 0, failed: 0, waits: 0, losses: 0, stoppedClock: 0, overLimit: 0 };
  for (let seed = 0; seed < 300; seed++) {
    const schedule = drawSchedule(seed);
    const history = simulate(schedule);
    for (const { right, isAfterStoppedClock } of history.providerCalls) {
      if (right === null) sums.byStore++;
      else sums.onRights++;
      if (isAfterStoppedClock) sums.stoppedClock++;
    }
    sums.rejected += history.rejectedCalls;
    sums.failed += history.failedCalls;
    sums.waits += history.waits.length;
    sums.losses += history.losses.length;
    sums.overLimit += judge(schedule, history).windowsOverLimit;
  }
  for (const [name, sum] of Object.entries(sums)) expect(sum, name).toBeGreaterThan(0);
});

describe('admission rights: the oracle finds a violation without', () => {
  test.each(Object.entries(MUTANTS))('%s', (_, logic) => {
    let seed = 0;
    while (seed < MAX_SCHEDULES_PER_MUTANT && violationsOf(seed, logic).length === 0) seed++;
    expect(seed).toBeLessThan(MAX_SCHEDULES_PER_MUTANT);
  });
});

test('admission rights: busy agents need no message for most calls, others send hardly more than today', () => {
  expect(estimateLocalShare(100, 3, 600)).toMatchObject({ p50Us: 0, p99Us: 0 });
  expect(estimateLocalShare(10, 1, 600)).toMatchObject({ p50Us: 0 });
  expect(estimateLocalShare(10, 3, 600)).toMatchObject({ p50Us: 0, p99Us: 600 });
  expect(estimateLocalShare(1, 3, 600).messagesPerCall).toBeLessThan(1.5);
});
