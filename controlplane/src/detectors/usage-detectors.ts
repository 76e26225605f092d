/** What follows from booked usage beside the ledger: budget events, abuse, circuit outcomes. */
import type { OrgBreakers } from '../breaker/org-breakers.js';
import type { Tx } from '../db/sql.js';
import type { BookedUsage, UsageObserver } from '../ledger/usage-ingest.js';
import { type AbuseThresholds, detectAbuse } from './abuse-detector.js';
import { detectExhaustedHardBudgets, detectReachedBudgets } from './budget-alerts.js';

export class UsageDetectors implements UsageObserver {
  constructor(
    readonly board: OrgBreakers,
    readonly abuse: AbuseThresholds,
  ) {}

  async onBooked(tx: Tx, booked: BookedUsage): Promise<void> {
    await detectReachedBudgets(tx, booked.spendChanges);
    await detectExhaustedHardBudgets(
      tx,
      booked.rejections.filter(({ reason }) => reason === 'budget'),
    );
    await detectAbuse(tx, this.abuse, booked);
    // Last, and in memory: should the commit fail, a few outcomes count twice, which a rate can bear.
    this.board.recordOutcomes(booked.entries);
  }
}
