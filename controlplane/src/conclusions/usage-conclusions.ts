/** What follows from booked usage beside the ledger: budget events, abuse, circuit outcomes. */
import type { CircuitBoard } from '../circuit/board.js';
import type { Tx } from '../db/sql.js';
import type { BookedUsage, UsageObserver } from '../ledger/ingest.js';
import { type AbuseConfig, observeAbuse } from './abuse.js';
import { budgetFacts, hardBudgetsSpent } from './budget-facts.js';

export class UsageConclusions implements UsageObserver {
  constructor(
    readonly board: CircuitBoard,
    readonly abuse: AbuseConfig,
  ) {}

  async onBooked(tx: Tx, booked: BookedUsage): Promise<void> {
    await budgetFacts(tx, booked.spend);
    await hardBudgetsSpent(
      tx,
      booked.rejections.filter(({ reason }) => reason === 'budget'),
    );
    await observeAbuse(tx, this.abuse, booked);
    // Last, and in memory: should the commit fail, a few outcomes count twice, which a rate can bear.
    this.board.observe(booked.entries);
  }
}
