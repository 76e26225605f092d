/**
 * The month spend of one scope (an agent, a project, an organization) as this process knows it: what it has spent itself,
 * as a total that only grows, and what the ledger has. The store gets the total, never a difference, so it does no harm
 * to say it twice, late, or to a store that has lost everything.
 *
 * A total leaves memory only when the store has confirmed it; should its scope come back in that month, it goes on under
 * a new name. So each total has a name of its own for ever.
 */
import type { SwapRemoveItem } from '@acg/base/swap-remove-set';

/** This process's own spend of one month. */
export interface WriterTotal {
  /** See calendar-month.ts. */
  readonly month: number;
  /** Its field in the month's hash. */
  readonly field: string;
  nanos: number;
  /** The highest total that the store has said it has. */
  acknowledgedNanos: number;
  /** `performance.now()` of that. */
  acknowledgedAtMs: number;
}

/** The bag of purses with spend that the store has not confirmed. */
interface UnacknowledgedSet {
  add(counter: SpendCounter): void;
  delete(counter: SpendCounter): void;
}

/** Of the hash that holds a month (`YYYY-MM`) of an agent's, project's or organization's spend and holds. */
export const monthSpendKey = (tag: string, month: string): string => `acg:{${tag}}:m:${month}`;

export class SpendCounter implements SwapRemoveItem {
  /** Hash tag of its keys. */
  readonly hashTag: string;
  /** Without the month. */
  readonly monthKeyPrefix: string;
  readonly #unacknowledged: UnacknowledgedSet;
  readonly #withReservations: { add(counter: SpendCounter): void };
  readonly #nextField: () => string;
  /** Newest month first. */
  readonly totals: WriterTotal[] = [];
  /** What all writers have spent in the store's month, as it said last. */
  storeSpentNanos = 0;
  ledgerMonth = -1;
  ledgerNanos = 0;
  ledgerOwnNanos = 0;
  /** Sum of the holds of this process's calls that are under way. */
  reservedNanos = 0;
  /** Given back since the last call to the store. */
  #releasedNanos = 0;
  /** Of the last call to the store that told of holds; each tells the one before it. */
  #reservationVersion = Date.now() * 1_000; // above whatever an earlier purse of this scope has told

  /** Its place in the turn that collects for the next call to the store. */
  batch: object | null = null;
  batchIndex = -1;
  setIndex = -1;
  /** Looked at since the sweep passed by. */
  isRecentlyUsed = true;

  constructor(
    tag: string,
    unconfirmed: UnacknowledgedSet,
    holding: { add(counter: SpendCounter): void },
    nextField: () => string,
  ) {
    this.hashTag = tag;
    this.monthKeyPrefix = monthSpendKey(tag, '');
    this.#withReservations = holding;
    this.#unacknowledged = unconfirmed;
    this.#nextField = nextField;
  }

  /** Nothing would be missing if it were forgotten. */
  get isEvictable(): boolean {
    return this.setIndex < 0 && this.reservedNanos === 0 && this.batch === null;
  }

  addSpend(month: number, nanos: number): void {
    this.#getOrCreateTotal(month).nanos += nanos;
    this.#unacknowledged.add(this);
  }

  /** The ledger's figures grow within a month. */
  updateFromLedger(month: number, nanos: number, ownNanos: number): void {
    if (month < this.ledgerMonth) return;
    if (month > this.ledgerMonth) {
      this.ledgerMonth = month;
      this.ledgerNanos = 0;
      this.ledgerOwnNanos = 0;
    }
    if (nanos > this.ledgerNanos) this.ledgerNanos = nanos;
    if (ownNanos > this.ledgerOwnNanos) this.ledgerOwnNanos = ownNanos;
  }

  /** The store has `nanos` of it. Totals of past months are dropped once it has all of them. */
  acknowledge(total: WriterTotal, nanos: number, nowMs: number): void {
    total.acknowledgedAtMs = nowMs;
    if (nanos > total.acknowledgedNanos) total.acknowledgedNanos = nanos;
    let left = false;
    for (let i = this.totals.length - 1; i >= 0; i--) {
      const { nanos: own, acknowledgedNanos: confirmedNanos } = this.totals[i]!;
      if (own > confirmedNanos) left = true;
      else if (i > 0) this.totals.splice(i, 1);
    }
    if (!left) this.#unacknowledged.delete(this);
  }

  reserve(nanos: number): void {
    if (this.reservedNanos === 0) this.#withReservations.add(this);
    this.reservedNanos += nanos;
  }

  /** The store has not heard of it: the next call must go by {@link reservedNanos}, or giving it back would take another's. */
  reserveUnchecked(nanos: number): void {
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

  /** The next call to the store tells of holds: what was given back, once, as its version of them. */
  takeReleasedNanos(): number {
    const released = this.#releasedNanos;
    this.#releasedNanos = 0;
    this.#reservationVersion++;
    return released;
  }

  get reservationVersion(): number {
    return this.#reservationVersion;
  }

  /** A call to the store got lost: the next one must not go by what the store has, but by {@link reservedNanos}. */
  onReservationReportLost(): void {
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
