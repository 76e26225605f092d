/**
 * The purses of this process. Bounded: beyond `purseMax`, one that nobody asked for lately and that the store knows all
 * of gives way to a new one. While the store is away nothing is confirmed; then they grow to twice that, and beyond it
 * the oldest spend is left to the ledger, which has every record.
 */
import { Bag } from '@acg/base/bag';
import { Purse } from './purse.js';

const LOOKED_AT_PER_NEW = 8;

export class Purses {
  readonly #purseMax: number;
  readonly #writerId: string;
  /** In the order in which the sweep comes by. */
  readonly #byTag = new Map<string, Purse>();
  /** With spend that the store has not confirmed. */
  readonly unconfirmed = new Bag<Purse>();
  /** Those with holds, and some that have none any more. */
  readonly #holding = new Set<Purse>();
  #fields = 0;
  #lossMs = Number.NEGATIVE_INFINITY;

  constructor(purseMax: number, writerId: string) {
    this.#purseMax = purseMax;
    this.#writerId = writerId;
  }

  get size(): number {
    return this.#byTag.size;
  }

  find(tag: string): Purse | null {
    return this.#byTag.get(tag) ?? null;
  }

  of(tag: string): Purse {
    let purse = this.#byTag.get(tag);
    if (purse === undefined) {
      if (this.#byTag.size >= this.#purseMax) this.#makeRoom();
      purse = new Purse(tag, this.unconfirmed, this.#holding, this.#nextField);
      this.#byTag.set(tag, purse);
    } else {
      purse.touched = true;
    }
    return purse;
  }

  /** Those with holds of this process, or with some given back that the store has not heard of. */
  forEachHolding(visit: (purse: Purse) => void): void {
    for (const purse of this.#holding) {
      if (purse.holdNanos > 0 || purse.hasReleases) visit(purse);
      else this.#holding.delete(purse);
    }
  }

  all(): Purse[] {
    return [...this.#byTag.values()];
  }

  /**
   * The store has less of a total than it had confirmed. True once per loss: totals that were confirmed before it was
   * first seen tell nothing new.
   */
  noteLoss(confirmedAtMs: number, nowMs: number): boolean {
    if (confirmedAtMs <= this.#lossMs) return false;
    this.#lossMs = nowMs;
    return true;
  }

  #makeRoom(): void {
    let looked = 0;
    for (const [tag, purse] of this.#byTag) {
      if (looked++ >= LOOKED_AT_PER_NEW) break;
      this.#byTag.delete(tag);
      if (!purse.touched && purse.idle) return;
      purse.touched = false;
      this.#byTag.set(tag, purse);
    }
    if (this.#byTag.size < 2 * this.#purseMax) return;
    for (const [tag, purse] of this.#byTag) {
      if (purse.holdNanos > 0 || purse.turn !== null) continue;
      this.unconfirmed.delete(purse);
      this.#byTag.delete(tag);
      return;
    }
  }

  readonly #nextField = (): string => `${this.#writerId}.${(this.#fields++).toString(36)}`;
}
