/** Runs the detectors on booked usage: budget alerts, abuse detection, sums of rejected calls, breaker outcomes. */
import type { OrgBreakers } from '../breaker/org-breakers.js';
import type { Tx } from '../db/postgres-client.js';
import type { RejectionEntry } from '../ledger/rejection-and-quarantine-store.js';
import type { BookedUsage, UsageObserver } from '../ledger/usage-ingest.js';
import { type AbuseThresholds, detectAbuse } from './abuse-event-detector.js';
import { detectExhaustedHardBudgets, detectReachedBudgets } from './budget-alerts.js';
import { detectExhaustedHardRows, detectReachedBudgetRows } from './budget-row-alerts.js';
import { addRejectionSummaries } from './rejection-summaries.js';
import { detectRejectingRuns } from './run-budget-alerts.js';
import { detectWouldReject } from './would-reject-alerts.js';

/** The sampled calls say which row rejected; a count without a sample is one of the monthly budget. */
const isByMonthlyBudget = ({ reason, calls }: RejectionEntry): boolean =>
  reason === 'budget' && (calls.length === 0 || calls.some(({ budgetId }) => budgetId === ''));

/** The budget is used up. Other reasons: the call alone is too large, or the rest is reserved by calls in flight. */
const SPENT_REASONS: ReadonlySet<string> = new Set(['budget', 'budget_project', 'budget_org', 'budget_run']);

const withBudgetIds = ({ orgId, minuteMs, calls }: RejectionEntry) => ({
  orgId,
  minuteMs,
  budgetIds: [...new Set(calls.flatMap(({ budgetId }) => (budgetId === '' ? [] : [budgetId])))],
});

export class UsageDetectorRunner implements UsageObserver {
  constructor(
    readonly orgBreakers: OrgBreakers,
    readonly abuse: AbuseThresholds,
  ) {}

  async onBooked(tx: Tx, booked: BookedUsage): Promise<void> {
    await detectReachedBudgets(tx, booked.spendChanges);
    await detectExhaustedHardBudgets(tx, booked.rejections.filter(isByMonthlyBudget));
    await detectReachedBudgetRows(tx, booked.budgetPeriods);
    const rejectedByRows = booked.rejections.filter(({ reason }) => SPENT_REASONS.has(reason)).map(withBudgetIds);
    await detectExhaustedHardRows(tx, rejectedByRows);
    await detectRejectingRuns(tx, rejectedByRows);
    await detectWouldReject(tx, booked.entries);
    await detectAbuse(tx, this.abuse, booked);
    await addRejectionSummaries(tx, booked.rejections);
    // Last, because it changes memory only: if the commit fails, a few outcomes count twice, which hardly changes an
    // error rate.
    this.orgBreakers.recordOutcomes(booked.entries);
  }
}
