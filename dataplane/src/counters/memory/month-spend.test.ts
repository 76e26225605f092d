/** Which months one scope remembers. */
import { expect, test } from 'vitest';
import { MonthSpend } from './month-spend.js';

test('month spend: keeps the two newest months, in whatever order late calls arrive', () => {
  const spend = new MonthSpend();
  for (const [month, nanos] of [
    [202_611, 1],
    [202_610, 2],
    [202_612, 4],
    [202_611, 8],
  ] as const) {
    spend.addSpend(month, nanos);
  }
  expect([202_610, 202_611, 202_612].map((month) => spend.spentNanos(month))).toEqual([0, 9, 4]);
  spend.addSpend(202_610, 16);
  expect([202_610, 202_611, 202_612].map((month) => spend.spentNanos(month))).toEqual([0, 9, 4]);
});
