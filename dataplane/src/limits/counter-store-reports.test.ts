import { createLogger } from '@acg/base/log';
import { expect, test } from 'vitest';
import { CounterStoreReports } from './counter-store-reports.js';

function createReports() {
  const world = { nowMs: 0, isEnforcing: true, unchecked: 7, fails: false };
  const sent: object[] = [];
  const reports = new CounterStoreReports({
    isEnforcing: () => world.isEnforcing,
    uncheckedTotal: () => world.unchecked,
    report: async (state) => {
      if (world.fails) throw new Error('no control plane');
      sent.push(state);
    },
    log: createLogger('test', 'silent'),
    nowMs: () => world.nowMs,
  });
  reports.stop();
  const check = async (afterMs: number): Promise<void> => {
    world.nowMs += afterMs;
    reports.check();
    await Promise.resolve();
    await Promise.resolve();
  };
  return { world, sent, check };
}

test('reports an outage every five seconds with its unchecked calls, and its end once', async () => {
  const { world, sent, check } = createReports();
  await check(1_000);
  expect(sent).toEqual([]);
  world.isEnforcing = false;
  await check(1_000);
  world.unchecked += 3;
  for (let i = 0; i < 7; i++) await check(1_000);
  expect(sent).toEqual([
    { away: true, outageMs: 0, uncheckedCalls: 0 },
    { away: true, outageMs: 5_000, uncheckedCalls: 3 },
  ]);
  world.isEnforcing = true;
  await check(1_000);
  await check(1_000);
  expect(sent.slice(2)).toEqual([{ away: false, outageMs: 0, uncheckedCalls: 0 }]);
  // A second outage begins again.
  world.isEnforcing = false;
  await check(1_000);
  expect(sent.at(-1)).toEqual({ away: true, outageMs: 0, uncheckedCalls: 0 });
});

test('repeats the end until the control plane has it', async () => {
  const { world, sent, check } = createReports();
  world.isEnforcing = false;
  await check(1_000);
  world.isEnforcing = true;
  world.fails = true;
  await check(1_000);
  await check(1_000);
  world.fails = false;
  await check(1_000);
  await check(1_000);
  expect(sent).toEqual([
    { away: true, outageMs: 0, uncheckedCalls: 0 },
    { away: false, outageMs: 0, uncheckedCalls: 0 },
  ]);
});
