/**
 * A cell's shares of hard budgets (docs/regions.md#hard-budgets). Beside each hard row a second one bounds what this cell
 * spends and reserves, so the sum of all cells never exceeds the budget while their shares add up to at most 100 %.
 * Spend of no cell is taken off before the rest is divided: each cell counts its share of it as spent.
 */
import type { Cell } from '@acg/base/cells';
import type { ICellSpend } from '@acg/proto/messages';
import { BudgetRow, type LedgerSpend } from '../limits/budget-row.js';
import { shareOf } from './cell-share.js';

/** In {@link ICellSpend}: the windows of a row of all time that the row itself does not list. */
const CLOSED_WINDOWS = '';

/** `spend`: the ledger's figures of the rows, from the same snapshot of the database as the rows themselves. */
export function createCellBudgets(rows: readonly BudgetRow[], spend: readonly ICellSpend[], cell: Cell): BudgetRow[] {
  if (cell.name === '') return [];
  return rows.flatMap((row) => {
    if (row.mode !== 'hard' || !row.hasLimit) return [];
    const ofRow = spend.filter(({ id }) => id === row.ledgerId);
    const figures =
      row.window === 'total' && row.scope !== 'run' ? sumOfAllTime(row, ofRow, cell) : byWindow(row, ofRow, cell);
    const { id, scope, scopeId, window, mode, models, tag } = row;
    const kept = { id, scope, scopeId, window, mode, models, tag, keptUntilSec: row.keptUntilSec };
    return new BudgetRow({
      ...kept,
      tableRow: -1,
      limitNanos: shareOf(row.limitNanos, cell),
      cell: cell.name,
      ...figures,
    });
  });
}

interface Figures {
  readonly ledger: readonly LedgerSpend[];
  readonly closedNanos: number;
}

/** Each window has a budget of its own. */
function byWindow(row: BudgetRow, spend: readonly ICellSpend[], cell: Cell): Figures {
  const ledger = row.ledger.map(({ window, nanos }): LedgerSpend => {
    const { cellNanos, allCellsNanos } = findFigures(spend, window.name);
    const outside = countOutsideSpend(nanos, allCellsNanos, cell);
    return { window, nanos: cellNanos + outside, ledgerOnlyNanos: outside };
  });
  return { ledger, closedNanos: 0 };
}

/** All months have one budget. */
function sumOfAllTime(row: BudgetRow, spend: readonly ICellSpend[], cell: Cell): Figures {
  const ledger = row.ledger.map(({ window }): LedgerSpend => {
    return { window, nanos: findFigures(spend, window.name).cellNanos, ledgerOnlyNanos: 0 };
  });
  const nanos = row.ledger.reduce((sum, one) => sum + one.nanos, row.closedNanos);
  const allCellsNanos = spend.reduce((sum, one) => sum + (one.allCellsNanos ?? 0), 0);
  const closed = findFigures(spend, CLOSED_WINDOWS).cellNanos;
  return { ledger, closedNanos: closed + countOutsideSpend(nanos, allCellsNanos, cell) };
}

function findFigures(spend: readonly ICellSpend[], window: string) {
  const found = spend.find((one) => (one.window ?? '') === window);
  return { cellNanos: found?.cellNanos ?? 0, allCellsNanos: found?.allCellsNanos ?? 0 };
}

/** The cell's part, rounded up, of what was spent outside of all cells: the parts of all cells cover it. */
const countOutsideSpend = (nanos: number, allCellsNanos: number, { sharePercent }: Cell): number =>
  Math.ceil((Math.max(0, nanos - allCellsNanos) * sharePercent) / 100);
