import { createLogger } from '@acg/base/log';
import { expect, test } from 'vitest';
import { BackgroundTasks, listPeriodicWorks } from './background-tasks.js';

const background = () => new BackgroundTasks(createLogger('test', 'silent'));

/** Resolves after `count` rounds of timers have run. */
async function turns(count: number): Promise<void> {
  const clock = background();
  let seen = 0;
  await new Promise<void>((resolve) => {
    clock.runEvery('clock', 1, async () => {
      if (++seen === count) resolve();
    });
  });
  await clock.stop();
}

test('background: work that takes longer than its interval never runs beside itself', async () => {
  const all = background();
  const ends: (() => void)[] = [];
  const now = all.runEvery('slow', 1, () => new Promise<void>((resolve) => void ends.push(resolve)));
  await turns(5);
  now();
  expect(ends).toHaveLength(1);
  ends[0]!();
  await turns(5);
  expect(ends).toHaveLength(2);
  ends[1]!();
  await all.stop();
});

test('background: after the stop no turn begins, and what ran has ended', async () => {
  const all = background();
  let runs = 0;
  all.runEvery('quick', 1, async () => void runs++);
  await turns(3);
  await all.stop();
  const before = runs;
  await turns(5);
  expect(runs).toBe(before);
  expect(before).toBeGreaterThan(0);
});

test('background: work that fails is tried again at its next turn', async () => {
  const all = background();
  let runs = 0;
  all.runEvery('failing', 1, () => {
    runs++;
    throw new Error('once more');
  });
  await turns(5);
  await all.stop();
  expect(runs).toBeGreaterThan(1);
});

test('background: failures and the last success of each work are known, for the metrics', async () => {
  const all = background();
  const before = Date.now();
  let mustFail = true;
  const now = all.runEvery('measured', 60_000, async () => {
    if (mustFail) throw new Error('once');
  });
  now();
  await all.waitUntilIdle();
  const { failures, intervalMs, lastSuccessMs } = { ...listPeriodicWorks().get('measured')! };
  expect([failures, intervalMs]).toEqual([1, 60_000]);
  mustFail = false;
  await turns(3); // a later millisecond
  now();
  await all.stop();
  const after = listPeriodicWorks().get('measured')!;
  expect([after.failures, after.lastSuccessMs > lastSuccessMs, lastSuccessMs >= before]).toEqual([1, true, true]);
});
