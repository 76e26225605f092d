/** Runs the detectors on booked usage: budget alerts, abuse detection, breaker outcomes. */
import type { OrgBreakers } from '../breaker/org-breakers.js';
import type { Tx } from '../db/postgres-client.js';
import type { BookedUsage, UsageObserver } from '../ledger/usage-ingest.js';
import { type AbuseThresholds, detectAbuse } from './abuse-event-detector.js';
import { detectExhaustedHardBudgets, detectReachedBudgets } from './budget-alerts.js';

export class UsageDetectorRunner implements UsageObserver {
  constructor(
    readonly orgBreakers: OrgBreakers,
    readonly abuse: AbuseThresholds,
  ) {}

  async onBooked(tx: Tx, booked: BookedUsage): Promise<void> {
    await detectReachedBudgets(tx, booked.spendChanges);
    await detectExhaustedHardBudgets(
      tx,
      booked.rejections.filter(({ reason }) => reason === 'budget'),
    );
    await detectAbuse(tx, this.abuse, booked);
    // Last, because it changes memory only: if the commit fails, a few outcomes count twice, which hardly changes an
    // error rate.
    this.orgBreakers.recordOutcomes(booked.entries);
  }
}
