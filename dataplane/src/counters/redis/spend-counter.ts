/**
 * Spend and reservations of one budget row or scope in one window, as this process knows them. The store receives sums that only grow, never differences: a report may arrive twice, late, or at a store that
 * lost its data. Exact below 2^53 nano-dollars (9 million dollars) a sum.
 *
 * A counter is evicted only after the store acknowledged it. If its row returns in the same window it gets a new field
 * name, so no field is ever reused.
 */
import type { SwapRemoveItem } from '@acg/base/swap-remove-set';
import type { BudgetWindow } from '../../limits/calendar-window.js';

/** Key of the hash with the spend and the reservations of one row in one window (`name`: see `spendName`); see docs/counters.md. */
export const spendKey = (orgId: string, name: string, window: Pick<BudgetWindow, 'name'>): string =>
  `acg:{${orgId}}:spend:${name}:${window.name}`;

/** Sets of counters that need a report. */
interface ReportSets {
  /** Counters with sums that the store has not acknowledged. */
  readonly unacknowledged: { add(counter: SpendCounter): void; delete(counter: SpendCounter): void };
  /** Counters with reservations, whose leases must be renewed. */
  readonly reserved: { add(counter: SpendCounter): void; delete(counter: SpendCounter): void };
}

/** Reservations of one writer: sums that only grow, nano-dollars. */
export interface ReservationSums {
  readonly generation: number;
  readonly grantedNanos: number;
  readonly releasedNanos: number;
}

export class SpendCounter implements SwapRemoveItem {
  readonly #sets: ReportSets;
  /** Its keys' hash tag. */
  readonly orgId: string;
  readonly name: string;
  readonly windowName: string;
  readonly key: string;
  /** Unix seconds from which the store may forget the key. */
  readonly keptUntilSec: number;
  /** This counter's own field in the store; never reused. */
  readonly field: string;
  /** This process's own spend, nano-dollars. */
  totalNanos = 0;
  acknowledgedNanos = 0;
  /** `performance.now()` of the last acknowledgement. */
  acknowledgedAtMs = 0;
  /** Spend of all writers by the store's last reply, nano-dollars. */
  storeSpentNanos = 0;
  ledgerNanos = 0;
  ledgerOnlyNanos = 0;
  /** Sums of all reservations that the store has granted, and of those that were released, nano-dollars. */
  grantedNanos = 0;
  releasedNanos = 0;
  #acknowledgedReleasedNanos = 0;
  #generation = 0;
  #acknowledgedGeneration = 0;

  /** The batch that currently collects this counter's report; null = none. */
  batch: object | null = null;
  batchIndex = -1;
  /** Closed batches with this counter whose reply is outstanding; it may grant reservations. */
  batchesInFlight = 0;
  setIndex = -1;
  /** Used since the eviction sweep last passed it. */
  isRecentlyUsed = true;

  constructor(sets: ReportSets, orgId: string, name: string, window: BudgetWindow, field: string) {
    this.#sets = sets;
    this.orgId = orgId;
    this.name = name;
    this.windowName = window.name;
    this.key = spendKey(orgId, name, window);
    this.keptUntilSec = window.keptUntilSec;
    this.field = field;
  }

  /** Nano-dollars of this process's running calls. */
  get reservedNanos(): number {
    return this.grantedNanos - this.releasedNanos;
  }

  /** Whether a report must state the reservations: calls are running, or the store does not know that they have ended. */
  get hasUnreportedReservations(): boolean {
    return this.grantedNanos > this.#acknowledgedReleasedNanos || this.#generation > this.#acknowledgedGeneration;
  }

  /** Whether the store holds the whole total. */
  get isAcknowledged(): boolean {
    return this.acknowledgedNanos === this.totalNanos;
  }

  /** Whether the counter has reservations, or is in a batch that may grant some: evicting it would lose them. */
  get isHeld(): boolean {
    return this.reservedNanos > 0 || this.batch !== null || this.batchesInFlight > 0;
  }

  /** Whether evicting the counter loses nothing: everything is acknowledged, nothing is reserved or being sent. */
  get isEvictable(): boolean {
    return this.setIndex < 0 && !this.isHeld;
  }

  addSpend(nanos: number): void {
    this.totalNanos += nanos;
    this.#sets.unacknowledged.add(this);
  }

  /** Takes the higher of the known and the given figures, because ledger figures only grow within a window. */
  updateFromLedger(nanos: number, ledgerOnlyNanos: number): void {
    if (nanos > this.ledgerNanos) this.ledgerNanos = nanos;
    if (ledgerOnlyNanos > this.ledgerOnlyNanos) this.ledgerOnlyNanos = ledgerOnlyNanos;
  }

  /** Records that the store holds these sums; of the reservations only where the report stated them. */
  acknowledge(totalNanos: number, reservations: ReservationSums | null, nowMs: number): void {
    this.acknowledgedAtMs = nowMs;
    this.acknowledgedNanos = Math.max(this.acknowledgedNanos, totalNanos);
    if (reservations !== null) {
      const { releasedNanos, generation } = reservations;
      this.#acknowledgedReleasedNanos = Math.max(this.#acknowledgedReleasedNanos, releasedNanos);
      this.#acknowledgedGeneration = Math.max(this.#acknowledgedGeneration, generation);
    }
    if (
      this.totalNanos === this.acknowledgedNanos &&
      this.releasedNanos === this.#acknowledgedReleasedNanos &&
      this.#generation === this.#acknowledgedGeneration
    )
      this.#sets.unacknowledged.delete(this);
  }

  /**
   * Records that a reply was lost, which may have granted reservations. The next generation replaces what the store has
   * of this writer, and the store ignores requests of earlier ones that are still on their way.
   */
  onReplyLost(): void {
    this.#generation++;
    this.#sets.unacknowledged.add(this);
  }

  /** What a report states now. */
  get reservations(): ReservationSums {
    return { generation: this.#generation, grantedNanos: this.grantedNanos, releasedNanos: this.releasedNanos };
  }

  reserve(nanos: number): void {
    this.grantedNanos += nanos;
    this.#sets.reserved.add(this);
  }

  release(nanos: number): void {
    this.releasedNanos = Math.min(this.grantedNanos, this.releasedNanos + nanos);
    this.#sets.unacknowledged.add(this);
    if (this.reservedNanos === 0) this.#sets.reserved.delete(this);
  }
}
