/** Applies the spend in the ledger's reply to a usage batch: figures of agents, projects, organizations and budget rows. */
import { parseWindowInCell } from '@acg/base/cells';
import type { IReportUsageResponse } from '@acg/proto/messages';
import { cellSpendName, spendName } from './budget-row.js';
import { parseCalendarWindow, RUN_WINDOW_NAME } from './calendar-window.js';
import type { Counters } from './counters-interface.js';

export function applyLedgerSpend(
  counters: Pick<Counters, 'updateLedgerSpend'>,
  { spend, scopes, budgets }: IReportUsageResponse,
): void {
  for (const { agentId, month, spentNanos, ledgerNanos } of spend ?? [])
    update(spendName('agent', agentId ?? ''), month, spentNanos, ledgerNanos);
  for (const { scope, id, month, spentNanos, ledgerNanos } of scopes ?? []) {
    if (scope === 'project' || scope === 'org') update(spendName(scope, id ?? ''), month, spentNanos, ledgerNanos);
  }
  for (const { budgetId, window, spentNanos, ledgerNanos } of budgets ?? []) {
    const inCell = parseWindowInCell(window ?? '');
    if (inCell !== null) {
      update(cellSpendName(inCell.cell, budgetId ?? ''), inCell.window, spentNanos, ledgerNanos);
      continue;
    }
    const kind = window === RUN_WINDOW_NAME ? 'run' : 'budget';
    update(spendName(kind, budgetId ?? ''), window, spentNanos, ledgerNanos);
  }

  function update(
    name: string,
    window: string | null | undefined,
    nanos: number | null | undefined,
    ledgerOnlyNanos: number | null | undefined,
  ): void {
    const windowName = window === RUN_WINDOW_NAME ? window : parseCalendarWindow(window ?? '')?.name;
    if (windowName !== undefined)
      counters.updateLedgerSpend(name, { name: windowName }, nanos ?? 0, ledgerOnlyNanos ?? 0);
  }
}
