/** Applies the month spend in the ledger's reply to a usage batch: figures of agents, projects and organizations. */
import type { IReportUsageResponse } from '@acg/proto/messages';
import { parseMonth } from './calendar-month.js';
import type { Counters } from './counters-interface.js';
import { scopeHashTag } from './limit-table.js';

export function applyLedgerSpend(
  counters: Pick<Counters, 'updateLedgerSpend'>,
  { spend, scopes }: IReportUsageResponse,
): void {
  for (const { agentId, month, spentNanos, ledgerNanos } of spend ?? []) {
    counters.updateLedgerSpend(agentId ?? '', parseMonth(month ?? ''), spentNanos ?? 0, ledgerNanos ?? 0);
  }
  for (const { scope, id, month, spentNanos, ledgerNanos } of scopes ?? []) {
    const tag = scopeHashTag(scope ?? '', id ?? '');
    counters.updateLedgerSpend(tag, parseMonth(month ?? ''), spentNanos ?? 0, ledgerNanos ?? 0);
  }
}
