/**
 * The purses of this process. Bounded: beyond `purseMax`, one that nobody asked for lately and that the store knows all
 * of gives way to a new one. While the store is away nothing is confirmed; then they grow to twice that, and beyond it
 * the oldest spend is left to the ledger, which has every record.
 */
import { SwapRemoveSet } from '@acg/base/swap-remove-set';
import { SpendCounter } from './spend-counter.js';

const EVICTION_CANDIDATES = 8;

export class SpendCounters {
  readonly #countersMax: number;
  readonly #writerId: string;
  /** In the order in which the sweep comes by. */
  readonly #byTag = new Map<string, SpendCounter>();
  /** With spend that the store has not confirmed. */
  readonly unacknowledged = new SwapRemoveSet<SpendCounter>();
  /** Those with holds, and some that have none any more. */
  readonly #withReservations = new Set<SpendCounter>();
  #fields = 0;
  #lossMs = Number.NEGATIVE_INFINITY;

  constructor(purseMax: number, writerId: string) {
    this.#countersMax = purseMax;
    this.#writerId = writerId;
  }

  get size(): number {
    return this.#byTag.size;
  }

  find(tag: string): SpendCounter | null {
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

  /** Those with holds of this process, or with some given back that the store has not heard of. */
  forEachWithReservations(visit: (counter: SpendCounter) => void): void {
    for (const purse of this.#withReservations) {
      if (purse.reservedNanos > 0 || purse.hasReleases) visit(purse);
      else this.#withReservations.delete(purse);
    }
  }

  list(): SpendCounter[] {
    return [...this.#byTag.values()];
  }

  /**
   * The store has less of a total than it had confirmed. True once per loss: totals that were confirmed before it was
   * first seen tell nothing new.
   */
  recordDataLoss(confirmedAtMs: number, nowMs: number): boolean {
    if (confirmedAtMs <= this.#lossMs) return false;
    this.#lossMs = nowMs;
    return true;
  }

  #evictOne(): void {
    let looked = 0;
    for (const [tag, purse] of this.#byTag) {
      if (looked++ >= EVICTION_CANDIDATES) break;
      this.#byTag.delete(tag);
      if (!purse.isRecentlyUsed && purse.isEvictable) return;
      purse.isRecentlyUsed = false;
      this.#byTag.set(tag, purse);
    }
    if (this.#byTag.size < 2 * this.#countersMax) return;
    for (const [tag, purse] of this.#byTag) {
      if (purse.reservedNanos > 0 || purse.batch !== null) continue;
      this.unacknowledged.delete(purse);
      this.#byTag.delete(tag);
      return;
    }
  }

  readonly #nextField = (): string => `${this.#writerId}.${(this.#fields++).toString(36)}`;
}
