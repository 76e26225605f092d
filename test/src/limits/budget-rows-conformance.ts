/** Contract tests of budget rows and of audit mode, run against each implementation of `Counters`. */
import { type AgentLimits, limitsOfCall } from '@acg/dataplane/limits/agent-limits';
import type { BudgetRow } from '@acg/dataplane/limits/budget-row';
import { calendarWindowAt, createRunWindow } from '@acg/dataplane/limits/calendar-window';
import type { Admission, Counters } from '@acg/dataplane/limits/counters-interface';
import { RPD_ROW, RPM_ROW } from '@acg/dataplane/limits/limit-table';
import {
  createTestBudget,
  createTestLimits,
  type TestLimitsOptions,
} from '@acg/dataplane/limits/testing/agent-limits-fixture';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CountersUnderTest } from './counters-conformance.js';
import { admit, peek } from './counters-fixture.js';

let sequence = 0;
/** Rows of tests that share a store must not share spend. */
const newId = (name: string): string => `${name}-${++sequence}`;
const FAR = { rpmLimit: 1e6, rpdLimit: 1e6 };
const RUN_KEPT_SEC = 1e12;

export function describeBudgetRowsContract(name: string, subject: () => CountersUnderTest): void {
  describe(`budget rows in ${name}`, () => {
    let counters: Counters;
    let nowSec: number;

    beforeEach(async () => {
      counters = await subject().open({ minute: 60_000, day: 86_400_000 });
      nowSec = Math.floor((await subject().nowMs()) / 1000);
    });
    afterEach(() => counters.close());

    const withRows = (budgets: readonly BudgetRow[], options: TestLimitsOptions = {}): AgentLimits =>
      createTestLimits({ agentId: newId('agent'), ...FAR, ...options, budgets });
    const ask = (limits: AgentLimits, reservationNanos = 0): Promise<Admission> =>
      admit(counters, { limits, providerSlug: 'openai', reservationNanos });
    const settle = (limits: AgentLimits, costNanos: number, reservationNanos = 0, admittedAtSec = nowSec): void =>
      counters.settle({ limits, providerSlug: 'openai', admittedAtSec, costNanos, tokens: 0, reservationNanos });
    const grow = (limits: AgentLimits, nanos: number, admittedAtSec = nowSec): Promise<boolean> =>
      new Promise((resolve) => counters.growReservation(limits, admittedAtSec, nanos, resolve));
    const spendOf = async (limits: AgentLimits, row: BudgetRow) => {
      const { spends } = (await peek(counters, { limits, providerSlugs: [] }))!;
      const { spentNanos, reservedNanos } = spends.find(({ budget }) => budget === row)!;
      return [spentNanos, reservedNanos];
    };

    test.each(['day', 'week', 'month', 'total'] as const)('a soft row rejects when its %s is spent', async (window) => {
      const row = createTestBudget({ id: newId('row'), window, limitNanos: 100 });
      const limits = withRows([row]);
      settle(limits, 99);
      expect(await ask(limits)).toMatchObject({ outcome: 'admitted', rejectedByBudget: null });
      settle(limits, 1);
      const rejected = await ask(limits);
      expect(rejected).toMatchObject({ outcome: 'budget', rejectedByRow: -1, spentNanos: 100, wouldReject: '' });
      expect(rejected.rejectedByBudget).toBe(row);
      expect(rejected.retryAtSec).toBe(window === 'total' ? 0 : calendarWindowAt(window, nowSec).endSec);
    });

    test.each(['day', 'week', 'month'] as const)('spend of an earlier %s does not count', async (window) => {
      const limits = withRows([createTestBudget({ id: newId('row'), window, limitNanos: 100 })]);
      settle(limits, 100, 0, calendarWindowAt(window, nowSec).startSec - 1);
      expect((await ask(limits)).outcome).toBe('admitted');
    });

    test('total: closed months, the previous month and this month count together', async () => {
      const month = calendarWindowAt('month', nowSec);
      const previous = calendarWindowAt('month', month.startSec - 1);
      const row = createTestBudget({
        id: newId('row'),
        window: 'total',
        limitNanos: 1_000,
        closedNanos: 600,
        ledger: [{ window: previous, nanos: 200, ledgerOnlyNanos: 0 }],
      });
      const limits = withRows([row]);
      settle(limits, 150, 0, previous.startSec);
      settle(limits, 199);
      expect(await ask(limits)).toMatchObject({ outcome: 'admitted' });
      expect(await spendOf(limits, row)).toEqual([999, 0]);
      settle(limits, 1, 0, previous.endSec - 1);
      expect(await ask(limits)).toMatchObject({ outcome: 'admitted' }); // the ledger has more of that month
      settle(limits, 50, 0, previous.endSec - 1);
      expect(await ask(limits)).toMatchObject({ outcome: 'budget', spentNanos: 1_000 });
    });

    test('total: reservations of the previous month count until they are settled', async () => {
      const previous = calendarWindowAt('month', calendarWindowAt('month', nowSec).startSec - 1);
      const limits = withRows([createTestBudget({ id: newId('row'), window: 'total', limitNanos: 100, mode: 'hard' })]);
      expect(await grow(limits, 60, previous.startSec)).toBe(true);
      expect((await ask(limits, 41)).outcome).toBe('budget');
      expect((await ask(limits, 40)).outcome).toBe('admitted');
      // The growth of a call of the previous month counts what was reserved since.
      expect(await grow(limits, 1, previous.startSec)).toBe(false);
      settle(limits, 10, 60, previous.startSec);
      expect((await ask(limits, 50)).outcome).toBe('admitted');
    });

    test('six rows: all of them count a call, and the first that is used up is named', async () => {
      const windows = ['day', 'week', 'month', 'total', 'day', 'week'] as const;
      const rows = windows.map((window, i) =>
        createTestBudget({ id: newId('row'), window, limitNanos: 100 + i, scope: i < 4 ? 'agent' : 'org' }),
      );
      const limits = withRows(rows, { budgetNanos: 1e15 });
      settle(limits, 90);
      for (const row of rows) expect(await spendOf(limits, row)).toEqual([90, 0]);
      expect((await ask(limits)).outcome).toBe('admitted');
      settle(limits, 13);
      expect((await ask(limits)).rejectedByBudget).toBe(rows[0]);
      const later = withRows(rows.slice(3), { agentId: limits.agentId });
      expect((await ask(later)).rejectedByBudget).toBe(rows[3]);
      expect((await ask(withRows(rows.slice(4)))).outcome).toBe('admitted');
    });

    test('a hard row reserves in each hard row or in none, and soft rows reserve nothing', async () => {
      const hard = createTestBudget({ id: newId('hard'), window: 'day', limitNanos: 100, mode: 'hard' });
      const tight = createTestBudget({
        id: newId('tight'),
        window: 'week',
        limitNanos: 50,
        mode: 'hard',
        scope: 'org',
      });
      const soft = createTestBudget({ id: newId('soft'), window: 'day', limitNanos: 10 });
      const limits = withRows([hard, tight, soft], { budgetNanos: 1_000 });
      expect((await ask(limits, 40)).outcome).toBe('admitted');
      expect(await ask(limits, 11)).toMatchObject({ outcome: 'budget', reservedNanos: 40 });
      expect((await ask(limits, 11)).rejectedByBudget).toBe(tight);
      expect(await spendOf(limits, hard)).toEqual([0, 40]);
      expect(await spendOf(limits, tight)).toEqual([0, 40]);
      expect(await spendOf(limits, soft)).toEqual([0, 0]);
      expect([await grow(limits, 11), await grow(limits, 10)]).toEqual([false, true]);
      expect(await spendOf(limits, hard)).toEqual([0, 50]);
      settle(limits, 9, 50);
      for (const [row, spent] of [
        [hard, 9],
        [tight, 9],
        [soft, 9],
      ] as const)
        expect(await spendOf(limits, row)).toEqual([spent, 0]);
      expect((await ask(limits, 41)).outcome).toBe('admitted');
    });

    test('a spent soft row does not reject the growth of a running call; a hard row does', async () => {
      const hard = createTestBudget({ id: newId('hard'), window: 'day', limitNanos: 100, mode: 'hard' });
      const soft = createTestBudget({ id: newId('soft'), window: 'day', limitNanos: 10 });
      const audited = createTestBudget({ id: newId('audited'), window: 'day', limitNanos: 10, mode: 'audit' });
      const limits = withRows([soft, audited, hard]);
      expect((await ask(limits, 40)).outcome).toBe('admitted');
      settle(limits, 10);
      expect((await ask(limits, 1)).rejectedByBudget).toBe(soft);
      expect([await grow(limits, 50), await grow(limits, 1)]).toEqual([true, false]);
      expect(await spendOf(limits, hard)).toEqual([10, 90]);
      expect(await spendOf(limits, soft)).toEqual([10, 0]);
    });

    test('runs: a call counts in the run and its ancestors, whatever the month', async () => {
      const runs = [20, 50, 70].map((limitNanos) => {
        const id = newId('run');
        return createTestBudget({
          id,
          scope: 'run',
          scopeId: id,
          window: 'total',
          mode: 'hard',
          limitNanos,
          keptUntilSec: RUN_KEPT_SEC,
          ledger: [{ window: createRunWindow(RUN_KEPT_SEC), nanos: 5, ledgerOnlyNanos: 0 }],
        });
      });
      const limits = withRows(runs);
      const parent = withRows(runs.slice(1));
      expect((await ask(limits, 15)).outcome).toBe('admitted');
      expect((await ask(limits, 1)).rejectedByBudget).toBe(runs[0]);
      expect((await ask(parent, 30)).outcome).toBe('admitted');
      expect(await ask(parent, 1)).toMatchObject({ outcome: 'budget', rejectedByBudget: runs[1], retryAtSec: 0 });
      settle(limits, 10, 15, nowSec - 40 * 86_400);
      expect(await spendOf(limits, runs[0]!)).toEqual([10, 0]);
      expect((await ask(limits, 10)).outcome).toBe('admitted');
    });

    test('a row counts only calls of its models and with its tag', async () => {
      const row = createTestBudget({
        id: newId('row'),
        limitNanos: 100,
        models: ['gpt-4*'],
        tag: 'customer=acme',
      });
      const limits = withRows([row]);
      const call = (models: readonly string[] | null, tags: readonly string[]) => limitsOfCall(limits, models, tags);
      const matching = call(['gpt-4o'], ['customer=acme', 'feature=x']);
      expect(call(['GPT-4-turbo'], ['customer=acme'])).toBe(matching);
      expect(call(null, ['customer=acme'])).toBe(matching);
      for (const other of [call(['o3'], ['customer=acme']), call(['gpt-4o'], ['customer=b']), call(['gpt-4o'], [])]) {
        settle(other, 100);
        expect((await ask(other)).outcome).toBe('admitted');
      }
      expect((await ask(matching)).outcome).toBe('admitted');
      settle(matching, 100);
      expect((await ask(matching)).rejectedByBudget).toBe(row);
      expect((await ask(call([], ['customer=acme']))).outcome).toBe('admitted');
    });

    test('the ledger’s figures of a row count, those of other windows do not', async () => {
      const row = createTestBudget({ id: newId('row'), window: 'day', limitNanos: 100 });
      const limits = withRows([row]);
      expect((await ask(limits)).outcome).toBe('admitted');
      counters.updateLedgerSpend(row.name, { name: '2001-01-01' }, 100, 0);
      expect((await ask(limits)).outcome).toBe('admitted');
      counters.updateLedgerSpend(row.name, calendarWindowAt('day', nowSec), 100, 0);
      expect((await ask(limits)).outcome).toBe('budget');
    });

    test('audit: a budget is counted and never rejects; the answer names it', async () => {
      const audited = createTestBudget({ id: newId('audited'), window: 'day', limitNanos: 100, mode: 'audit' });
      const enforced = createTestBudget({ id: newId('enforced'), window: 'day', limitNanos: 200 });
      const limits = withRows([audited, enforced], { budgetNanos: 50, hardBudget: true, audited: ['budget'] });
      expect(limits.hasHardBudget).toBe(false);
      expect(await ask(limits)).toMatchObject({ outcome: 'admitted', wouldReject: '' });
      settle(limits, 50);
      expect(await ask(limits)).toMatchObject({ outcome: 'admitted', wouldReject: 'budget' });
      settle(limits, 50);
      expect(await ask(limits)).toMatchObject({ outcome: 'admitted', wouldReject: `budget,budget:${audited.id}` });
      settle(limits, 100);
      expect(await ask(limits)).toMatchObject({ outcome: 'budget', rejectedByBudget: enforced, wouldReject: '' });
    });

    test('audit: rates count as many requests as they would have admitted, and name themselves for the others', async () => {
      const limits = withRows([], { rpmLimit: 3, rpdLimit: 4, audited: ['rpm', 'rpd'] });
      const answers = await Promise.all(Array.from({ length: 6 }, () => ask(limits)));
      expect(answers.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 6 }, () => 'admitted'));
      expect(answers.map(({ wouldReject }) => wouldReject)).toEqual(['', '', '', 'rpm', 'rpm,rpd', 'rpm,rpd']);
      expect(answers.map(({ rpmRemaining }) => rpmRemaining)).toEqual([2, 1, 0, 0, 0, 0]);
      expect(await ask(limits)).toMatchObject({ outcome: 'admitted', wouldReject: 'rpm,rpd', rpmRemaining: 0 });
      const { windows } = (await peek(counters, { limits, providerSlugs: ['openai'] }))!;
      expect([windows[0]!.remaining[RPM_ROW], windows[0]!.remaining[RPD_ROW]]).toEqual([0, 0]);
      expect(windows[0]!.rejection).toBeNull();
      const enforced = createTestLimits({ agentId: limits.agentId, rpmLimit: 4, rpdLimit: 100 });
      expect((await ask(enforced)).outcome).toBe('admitted');
      expect((await ask(enforced)).outcome).toBe('rpm');
    });

    test('audit: one audited rate beside an enforced one', async () => {
      const limits = withRows([], { rpmLimit: 2, rpdLimit: 4, audited: ['rpm'] });
      const answers = await Promise.all(Array.from({ length: 6 }, () => ask(limits)));
      expect(answers.map(({ outcome, wouldReject }) => `${outcome} ${wouldReject}`)).toEqual([
        ...['admitted ', 'admitted ', 'admitted rpm', 'admitted rpm'],
        ...['rpd ', 'rpd '],
      ]);
    });

    test('audit: tokens', async () => {
      const limits = withRows([], { tpmLimit: 10, audited: ['tpm'] });
      expect(await ask(limits)).toMatchObject({ outcome: 'admitted', wouldReject: '' });
      counters.settle({
        limits,
        providerSlug: 'openai',
        admittedAtSec: nowSec,
        costNanos: 0,
        tokens: 10,
        reservationNanos: 0,
      });
      expect(await ask(limits)).toMatchObject({ outcome: 'admitted', wouldReject: 'tpm' });
    });
  });
}
