/**
 * All spend counters of this process, bounded by eviction. At `countersMax` a new counter replaces one that is not
 * recently used and fully acknowledged. During an outage nothing is acknowledged: the set grows to twice the bound.
 * Beyond that the oldest counter is evicted; the ledger has every usage record.
 */
import { SwapRemoveSet } from '@acg/base/swap-remove-set';
import { SpendCounter } from './spend-counter-sent-as-totals.js';

const EVICTION_CANDIDATES = 8;

export class SpendCounters {
  readonly #countersMax: number;
  readonly #writerId: string;
  /** In sweep order (clock algorithm). */
  readonly #byTag = new Map<string, SpendCounter>();
  /** Counters with spend that the store has not acknowledged. */
  readonly unacknowledged = new SwapRemoveSet<SpendCounter>();
  /** All counters with reservations, plus some whose reservations have ended. */
  readonly #withReservations = new Set<SpendCounter>();
  #fieldCount = 0;
  #lastLossAtMs = Number.NEGATIVE_INFINITY;

  constructor(countersMax: number, writerId: string) {
    this.#countersMax = countersMax;
    this.#writerId = writerId;
  }

  get size(): number {
    return this.#byTag.size;
  }

  findByTag(tag: string): SpendCounter | null {
    return this.#byTag.get(tag) ?? null;
  }

  getOrCreate(tag: string): SpendCounter {
    let counter = this.#byTag.get(tag);
    if (counter === undefined) {
      if (this.#byTag.size >= this.#countersMax) this.#evictOne();
      counter = new SpendCounter(tag, this.unacknowledged, this.#withReservations, this.#nextField);
      this.#byTag.set(tag, counter);
    } else {
      counter.isRecentlyUsed = true;
    }
    return counter;
  }

  /** Visits counters with reservations or with releases that the store has not received. */
  forEachWithReservations(visit: (counter: SpendCounter) => void): void {
    for (const counter of this.#withReservations) {
      if (counter.reservedNanos > 0 || counter.hasReleases) visit(counter);
      else this.#withReservations.delete(counter);
    }
  }

  listAll(): SpendCounter[] {
    return [...this.#byTag.values()];
  }

  /**
   * Called when the store has less of a total than it acknowledged. Returns true once per data loss: totals
   * acknowledged before the loss was first seen belong to the same loss.
   */
  recordIfNewDataLoss(acknowledgedAtMs: number, nowMs: number): boolean {
    if (acknowledgedAtMs <= this.#lastLossAtMs) return false;
    this.#lastLossAtMs = nowMs;
    return true;
  }

  #evictOne(): void {
    let checkedCount = 0;
    for (const [tag, counter] of this.#byTag) {
      if (checkedCount++ >= EVICTION_CANDIDATES) break;
      this.#byTag.delete(tag);
      if (!counter.isRecentlyUsed && counter.isEvictable) return;
      counter.isRecentlyUsed = false;
      this.#byTag.set(tag, counter);
    }
    if (this.#byTag.size < 2 * this.#countersMax) return;
    for (const [tag, counter] of this.#byTag) {
      if (counter.reservedNanos > 0 || counter.batch !== null) continue;
      this.unacknowledged.delete(counter);
      this.#byTag.delete(tag);
      return;
    }
  }

  readonly #nextField = (): string => `${this.#writerId}.${(this.#fieldCount++).toString(36)}`;
}
