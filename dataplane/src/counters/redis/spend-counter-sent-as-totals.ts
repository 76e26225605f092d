/**
 * Month spend of one scope (agent, project or organization) as this process knows it: its own total and the ledger's
 * figures. A grow-only counter per writer: the store receives totals, never differences. A total may therefore arrive
 * twice, late, or at a store that lost its data.
 *
 * A total is evicted only after the store acknowledged it. If its scope returns in the same month it gets a new field
 * name, so no field is ever reused.
 */
import type { SwapRemoveItem } from '@acg/base/swap-remove-set';

/** This process's own spend of one month. */
export interface WriterTotal {
  /** Month number; see calendar-month.ts. */
  readonly month: number;
  /** Field name in the month's Redis hash; never reused. */
  readonly field: string;
  nanos: number;
  /** The highest total that the store has acknowledged, nano-dollars. */
  acknowledgedNanos: number;
  /** `performance.now()` of the last acknowledgement. */
  acknowledgedAtMs: number;
}

/** The set of counters with spend that the store has not acknowledged. */
interface UnacknowledgedSet {
  add(counter: SpendCounter): void;
  delete(counter: SpendCounter): void;
}

/** Key of the hash with the spend and reservations of one scope in one month (`YYYY-MM`). */
export const monthSpendKey = (tag: string, month: string): string => `acg:{${tag}}:m:${month}`;

export class SpendCounter implements SwapRemoveItem {
  /** Hash tag of its keys; see scopeHashTag. */
  readonly hashTag: string;
  /** Key prefix; the month (`YYYY-MM`) follows. */
  readonly monthKeyPrefix: string;
  readonly #unacknowledged: UnacknowledgedSet;
  readonly #withReservations: { add(counter: SpendCounter): void };
  readonly #nextField: () => string;
  /** Newest month first. */
  readonly totals: WriterTotal[] = [];
  /** Spend of all writers in the store's current month by its last reply, nano-dollars. */
  storeSpentNanos = 0;
  ledgerMonth = -1;
  ledgerNanos = 0;
  ledgerOnlyNanos = 0;
  /** Sum of the reservations of this process's running calls, nano-dollars. */
  reservedNanos = 0;
  /** Released since the last report to the store, nano-dollars. */
  #releasedNanos = 0;
  /** Version of the last reservation report; each report continues the one before. */
  #reservationVersion = Date.now() * 1_000; // Starts above every version that an earlier counter of this scope has reported.

  /** The batch that currently collects this counter's report; null = none. */
  batch: object | null = null;
  batchIndex = -1;
  setIndex = -1;
  /** Used since the eviction sweep last passed it. */
  isRecentlyUsed = true;

  constructor(
    tag: string,
    unacknowledged: UnacknowledgedSet,
    withReservations: { add(counter: SpendCounter): void },
    nextField: () => string,
  ) {
    this.hashTag = tag;
    this.monthKeyPrefix = monthSpendKey(tag, '');
    this.#withReservations = withReservations;
    this.#unacknowledged = unacknowledged;
    this.#nextField = nextField;
  }

  /** Whether evicting the counter loses nothing: everything is acknowledged, nothing is reserved or queued. */
  get isEvictable(): boolean {
    return this.setIndex < 0 && this.reservedNanos === 0 && this.batch === null;
  }

  addSpend(month: number, nanos: number): void {
    this.#getOrCreateTotal(month).nanos += nanos;
    this.#unacknowledged.add(this);
  }

  /** Takes the higher of the known and the given figures, because ledger figures only grow within a month. */
  updateFromLedger(month: number, nanos: number, ledgerOnlyNanos: number): void {
    if (month < this.ledgerMonth) return;
    if (month > this.ledgerMonth) {
      this.ledgerMonth = month;
      this.ledgerNanos = 0;
      this.ledgerOnlyNanos = 0;
    }
    if (nanos > this.ledgerNanos) this.ledgerNanos = nanos;
    if (ledgerOnlyNanos > this.ledgerOnlyNanos) this.ledgerOnlyNanos = ledgerOnlyNanos;
  }

  /** Records that the store holds `nanos` of this total. Drops totals of past months that are fully acknowledged. */
  acknowledge(total: WriterTotal, nanos: number, nowMs: number): void {
    total.acknowledgedAtMs = nowMs;
    if (nanos > total.acknowledgedNanos) total.acknowledgedNanos = nanos;
    let hasUnacknowledged = false;
    for (let i = this.totals.length - 1; i >= 0; i--) {
      const { nanos: totalNanos, acknowledgedNanos } = this.totals[i]!;
      if (totalNanos > acknowledgedNanos) hasUnacknowledged = true;
      else if (i > 0) this.totals.splice(i, 1);
    }
    if (!hasUnacknowledged) this.#unacknowledged.delete(this);
  }

  reserve(nanos: number): void {
    if (this.reservedNanos === 0) this.#withReservations.add(this);
    this.reservedNanos += nanos;
  }

  /**
   * Reserves without the store's knowledge. The version gap makes the next report replace the stored sum by {@link
   * reservedNanos}; otherwise the release would subtract another call's reservation.
   */
  reserveWhileStoreUnavailable(nanos: number): void {
    this.reserve(nanos);
    this.#reservationVersion++;
  }

  release(nanos: number): void {
    this.reservedNanos = Math.max(0, this.reservedNanos - nanos);
    this.#releasedNanos += nanos;
  }

  get hasReleases(): boolean {
    return this.#releasedNanos > 0;
  }

  /** Starts a reservation report: increments the version, returns the released nano-dollars and resets them. */
  takeReleasesAndBumpVersion(): number {
    const released = this.#releasedNanos;
    this.#releasedNanos = 0;
    this.#reservationVersion++;
    return released;
  }

  get reservationVersion(): number {
    return this.#reservationVersion;
  }

  /** Records a lost report. The version gap makes the next report replace the stored sum by {@link reservedNanos}. */
  forceFullReservationReport(): void {
    this.#reservationVersion++;
  }

  #getOrCreateTotal(month: number): WriterTotal {
    const known = this.totals.find((total) => total.month === month);
    if (known !== undefined) return known;
    const total: WriterTotal = { month, field: this.#nextField(), nanos: 0, acknowledgedNanos: 0, acknowledgedAtMs: 0 };
    this.totals.push(total);
    this.totals.sort((a, b) => b.month - a.month);
    return total;
  }
}
