import { expect, test } from 'vitest';
import { parseMonth } from './calendar-window.js';
import { createTestBudget } from './testing/agent-limits-fixture.js';

const inMonth = (name: string): number => parseMonth(name)!.startSec + 86_400;
/** Names of the windows of a budget of all time whose context has ledger figures of these months. */
const windowsOf = (ledgerMonths: readonly string[], month: string, nowMonth = month): string[] => {
  const ledger = ledgerMonths.map((name) => ({ window: parseMonth(name)!, nanos: 1, ledgerOnlyNanos: 0 }));
  const row = createTestBudget({ id: 'row', window: 'total', ledger });
  return row.windowsAt(inMonth(month), inMonth(nowMonth)).map(({ name }) => name);
};

test('a budget of all time counts the months since the first one of the ledger', () => {
  expect(windowsOf([], '2026-11')).toEqual(['2026-11', '2026-10']);
  expect(windowsOf(['2026-11', '2026-10'], '2026-11')).toEqual(['2026-11', '2026-10']);
  expect(windowsOf(['2026-11', '2026-10'], '2027-01')).toEqual(['2027-01', '2026-12', '2026-11', '2026-10']);
  expect(windowsOf(['2026-11', '2026-10'], '2026-10', '2026-11')).toEqual(['2026-10', '2026-11']);
});

test('a budget of all time does not count a closed month twice', () => {
  expect(windowsOf(['2026-11'], '2026-11')).toEqual(['2026-11']);
  // The ledger’s clock is ahead at the end of October: September is closed.
  expect(windowsOf(['2026-11', '2026-10'], '2026-10')).toEqual(['2026-10']);
  expect(windowsOf(['2026-11', '2026-10'], '2026-09')).toEqual(['2026-09']);
});
