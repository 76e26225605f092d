/**
 * Shares of hard budgets (docs/regions.md#hard-budgets) against a model: cells with counters of their own, one ledger, any
 * order of calls, reports, refreshed contexts and lost stores. Spend and reservations of all cells never exceed a budget.
 */
import { windowInCell } from '@acg/base/cells';
import { createCellBudgets } from '@acg/dataplane/context/cell-budgets';
import { MemoryCounters } from '@acg/dataplane/counters/memory/memory-counters';
import type { AgentLimits } from '@acg/dataplane/limits/agent-limits';
import { applyLedgerSpend } from '@acg/dataplane/limits/apply-ledger-spend';
import type { BudgetRow } from '@acg/dataplane/limits/budget-row';
import { calendarWindowAt, createRunWindow } from '@acg/dataplane/limits/calendar-window';
import { createTestBudget, createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const NOW_SEC = Date.UTC(2026, 10, 28, 12) / 1000;
const ID = '00000000-0000-7000-8000-00000000000a';
const KINDS = ['day', 'total', 'run', 'plain'] as const;
type Kind = (typeof KINDS)[number];

interface Call {
  readonly limits: AgentLimits;
  readonly reservationNanos: number;
  readonly costNanos: number;
}

class Cell {
  counters = new MemoryCounters(() => NOW_SEC * 1e6);
  limits: AgentLimits;
  readonly running: Call[] = [];
  /** Spend that the ledger does not have. */
  unreportedNanos = 0;

  constructor(
    readonly name: string,
    readonly sharePercent: number,
    readonly world: World,
  ) {
    this.limits = world.createContext(this);
  }

  start(reservationNanos: number, costRatio: number): void {
    const { limits } = this;
    this.counters.admit({ limits, providerSlug: 'p', reservationNanos }, ({ outcome }) => {
      if (outcome !== 'admitted') return;
      this.running.push({ limits, reservationNanos, costNanos: Math.floor(reservationNanos * costRatio) });
    });
  }

  end(which: number): void {
    const [call] = this.running.splice(which % Math.max(1, this.running.length), 1);
    if (call === undefined) return;
    this.counters.settle({ ...call, providerSlug: 'p', admittedAtSec: NOW_SEC, tokens: 0 });
    this.unreportedNanos += call.costNanos;
  }

  report(): void {
    applyLedgerSpend(this.counters, this.world.book(this));
  }

  refresh(): void {
    this.limits = this.world.createContext(this);
  }

  /** All data planes and the store of the cell end; the spool is sent, and the cell begins again. */
  loseStore(): void {
    while (this.running.length > 0) this.end(0);
    this.report();
    this.counters = new MemoryCounters(() => NOW_SEC * 1e6);
    this.refresh();
  }
}

/** The ledger and its cells. */
class World {
  readonly cells: readonly Cell[];
  bookedNanos: number;
  readonly #bookedByCell = new Map<string, number>();

  constructor(
    readonly kind: Kind,
    readonly budgetNanos: number,
    /** Spend before the cells had names. */
    readonly outsideNanos: number,
    percents: readonly number[],
    readonly isDivided = true,
  ) {
    this.bookedNanos = outsideNanos;
    this.cells = percents.map((percent, i) => new Cell(`cell-${i}`, percent, this));
  }

  get window() {
    return this.kind === 'run'
      ? createRunWindow(Number.POSITIVE_INFINITY)
      : calendarWindowAt(this.kind === 'day' ? 'day' : 'month', NOW_SEC);
  }

  createContext(cell: Cell): AgentLimits {
    const rates = { rpmLimit: 1_000_000, rpdLimit: 1_000_000_000 };
    const row = this.#createRow(rates);
    const spend = {
      id: row.ledgerId,
      window: this.window.name,
      cellNanos: this.#bookedByCell.get(cell.name) ?? 0,
      allCellsNanos: [...this.#bookedByCell.values()].reduce((sum, nanos) => sum + nanos, 0),
    };
    const shares = this.isDivided ? createCellBudgets([row], [spend], cell) : [];
    if (this.kind !== 'plain') return createTestLimits({ ...rates, budgets: [row, ...shares] });
    return createTestLimits({ ...rates, ...this.#plainFields, budgets: shares });
  }

  book(cell: Cell) {
    this.bookedNanos += cell.unreportedNanos;
    const ofCell = (this.#bookedByCell.get(cell.name) ?? 0) + cell.unreportedNanos;
    this.#bookedByCell.set(cell.name, ofCell);
    cell.unreportedNanos = 0;
    const { name } = this.window;
    const { agentId, budgets } = cell.limits;
    const { ledgerId } = budgets.at(-1)!;
    const whole = { spentNanos: this.bookedNanos, ledgerNanos: this.outsideNanos };
    const share = { budgetId: ledgerId, window: windowInCell(name, cell.name), spentNanos: ofCell, ledgerNanos: 0 };
    return this.kind === 'plain'
      ? { spend: [{ agentId, month: name, ...whole }], budgets: [share] }
      : { budgets: [{ budgetId: ledgerId, window: name, ...whole }, share] };
  }

  /** What all cells have spent and reserved, and what was spent before. */
  get usedNanos(): number {
    const open = this.cells.map(({ running, unreportedNanos }) =>
      running.reduce((sum, { reservationNanos }) => sum + reservationNanos, unreportedNanos),
    );
    return open.reduce((sum, nanos) => sum + nanos, this.bookedNanos);
  }

  get #plainFields() {
    return {
      budgetNanos: this.budgetNanos,
      hardBudget: true,
      spendFloorMonth: this.window.name,
      spendFloorNanos: this.bookedNanos,
      spendLedgerOnlyNanos: this.outsideNanos,
    };
  }

  #createRow(rates: object): BudgetRow {
    if (this.kind === 'plain') return createTestLimits({ ...rates, ...this.#plainFields }).budgets[0]!;
    const isTotal = this.kind === 'total'; // what was spent before is in months that are closed
    const outside = isTotal ? 0 : this.outsideNanos;
    return createTestBudget({
      id: ID,
      scope: this.kind === 'run' ? 'run' : 'agent',
      scopeId: ID,
      window: this.kind === 'day' ? 'day' : 'total',
      mode: 'hard',
      limitNanos: this.budgetNanos,
      ledger: [
        { window: this.window, nanos: this.bookedNanos - this.outsideNanos + outside, ledgerOnlyNanos: outside },
      ],
      closedNanos: isTotal ? this.outsideNanos : 0,
      keptUntilSec: Number.POSITIVE_INFINITY,
    });
  }
}

const PERCENTS = [[50, 50], [70, 30], [34, 33, 33], [99, 1], [20, 30], [100]] as const;
const cell = fc.nat(2);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('start' as const),
      cell,
      nanos: fc.integer({ min: 1, max: 60 }),
      ratio: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('end' as const), cell, which: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('report' as const, 'refresh' as const), cell }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), cell }) },
);

test.each(KINDS)('cells: spend and reservations of all cells never exceed a hard budget: %s', (kind) => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PERCENTS),
      fc.integer({ min: 1, max: 300 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.array(step, { maxLength: 80 }),
      (percents, budgetNanos, outsideRatio, steps) => {
        const world = new World(kind, budgetNanos, Math.floor(budgetNanos * outsideRatio), percents);
        for (const one of steps) {
          const of = world.cells[one.cell % percents.length]!;
          if (one.do === 'start') of.start(one.nanos, one.ratio);
          else if (one.do === 'end') of.end(one.which);
          else if (one.do === 'lose') of.loseStore();
          else of[one.do]();
          expect(world.usedNanos).toBeLessThanOrEqual(budgetNanos);
        }
      },
    ),
    { numRuns: 300 },
  );
});

/** Spends as much as the cell admits, without any report. */
function spendAll(of: Cell): number {
  const before = of.unreportedNanos;
  for (let calls = 0; calls < 400; calls++) {
    of.start(1, 1);
    of.end(0);
  }
  return of.unreportedNanos - before;
}

test.each(KINDS)(
  'cells: each cell gets its share, also after the others and after the loss of its store: %s',
  (kind) => {
    const world = new World(kind, 100, 0, [70, 30]);
    const [large, small] = world.cells as [Cell, Cell];
    expect(spendAll(large)).toBe(70);
    expect(spendAll(small)).toBe(30);
    for (const of of world.cells) {
      of.loseStore();
      expect(spendAll(of)).toBe(0);
    }
    const alone = new World(kind, 100, 0, [50, 50]);
    expect(spendAll(alone.cells[0]!)).toBe(50);
    alone.cells[0]!.loseStore(); // half of the budget is left, and none of its share
    expect(spendAll(alone.cells[0]!)).toBe(0);
    const divided = new World(kind, 100, 40, [50, 50]); // the rest of 60 is divided
    expect(divided.cells.map(spendAll)).toEqual([30, 30]);
  },
);

test.each(KINDS)('cells: without names two cells spend the budget twice until the ledger has it: %s', (kind) => {
  const world = new World(kind, 100, 0, [50, 50], false);
  expect(world.cells.map(spendAll)).toEqual([100, 100]);
});
