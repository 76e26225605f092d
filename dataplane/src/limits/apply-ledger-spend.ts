/** What the ledger answers to a batch of usage about the month spend of its agents, projects and organizations. */
import type { IReportUsageResponse } from '@acg/proto/messages';
import { parseMonth } from './calendar-month.js';
import type { Counters } from './counters.js';
import { scopeHashTag } from './scope-hash-tag.js';

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
