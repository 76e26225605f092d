/** Applies the month spend in the ledger's reply to a usage batch: figures of agents, projects and organizations. */
import type { IReportUsageResponse } from '@acg/proto/messages';
import { parseMonth } from './calendar-window.js';
import type { Counters } from './counters-interface.js';
import { scopeTag } from './limit-table.js';

export function applyLedgerSpend(
  counters: Pick<Counters, 'updateLedgerSpend'>,
  { spend, scopes }: IReportUsageResponse,
): void {
  const update = (tag: string, month: string | null | undefined, nanos: number, ledgerOnlyNanos: number): void => {
    const window = parseMonth(month ?? '');
    if (window !== null) counters.updateLedgerSpend(tag, window, nanos, ledgerOnlyNanos);
  };
  for (const { agentId, month, spentNanos, ledgerNanos } of spend ?? []) {
    update(scopeTag('agent', agentId ?? ''), month, spentNanos ?? 0, ledgerNanos ?? 0);
  }
  for (const { scope, id, month, spentNanos, ledgerNanos } of scopes ?? []) {
    update(scopeTag(scope ?? '', id ?? ''), month, spentNanos ?? 0, ledgerNanos ?? 0);
  }
}
