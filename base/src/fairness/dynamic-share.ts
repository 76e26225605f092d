/**
 * Shares a capacity (slots, bytes, rows) between lanes, one for each organization or client. Source: the dynamic queue
 * thresholds of switches whose queues share one memory (Choudhury and Hahne, IEEE/ACM Transactions on Networking, 1998).
 *
 * A lane may hold a fraction of what it holds and what is free. Alone it gets that fraction of the capacity. However
 * many lanes take all they can, some capacity stays free, so a new lane always finds some. While others take what
 * becomes free, the largest lane gets nothing more until it has released some.
 */
import { invariant } from '../invariant-failures.js';

interface DynamicShareOptions {
  readonly capacity: number;
  /** Fraction of held and free capacity that one lane may hold. Absent: 1, so a lane may take all that is free. */
  readonly fraction?: number;
  /** What one lane may hold at most, however much is free. Absent: no such limit. */
  readonly laneMax?: number;
}

interface Lane {
  held: number;
}

/** What a lane may hold; `reachable`: what it holds and what is free together. Whole units, rounded up. */
export const laneLimit = (fraction: number, reachable: number): number => Math.ceil(fraction * reachable);

export class DynamicShare {
  readonly #capacity: number;
  readonly #fraction: number;
  readonly #laneMax: number;
  /** An object for each lane, so that a change needs one look-up. */
  readonly #lanes = new Map<string, Lane>();
  #used = 0;

  constructor({ capacity, fraction = 1, laneMax = Number.POSITIVE_INFINITY }: DynamicShareOptions) {
    this.#capacity = capacity;
    this.#fraction = fraction;
    this.#laneMax = laneMax;
  }

  /** What all lanes hold together. */
  get used(): number {
    return this.#used;
  }

  /** Negative after {@link take} has exceeded the capacity. */
  get free(): number {
    return this.#capacity - this.#used;
  }

  /** What each lane holds; lanes that hold nothing have no entry. */
  get lanes(): ReadonlyMap<string, Readonly<Lane>> {
    return this.#lanes;
  }

  heldBy(key: string): number {
    return this.#lanes.get(key)?.held ?? 0;
  }

  /**
   * What the lane may take now; 0 or less: nothing. `free`: the free capacity, where more than these lanes uses it.
   * `laneMax` replaces the option.
   */
  available(key: string, free = this.free, laneMax = this.#laneMax): number {
    return this.#availableTo(this.heldBy(key), free, laneMax);
  }

  /** Takes `amount` for the lane. Returns false, and takes nothing, when that is more than {@link available}. */
  tryTake(key: string, amount = 1, free = this.free): boolean {
    const lane = this.#lanes.get(key);
    if (amount > this.#availableTo(lane?.held ?? 0, free, this.#laneMax)) return false;
    this.#add(key, lane, amount);
    return true;
  }

  /** Takes `amount` in any case: for what exists already and must be counted. */
  take(key: string, amount = 1): void {
    this.#add(key, this.#lanes.get(key), amount);
  }

  release(key: string, amount = 1): void {
    const lane = this.#lanes.get(key);
    if (!invariant(amount <= (lane?.held ?? 0), 'share_not_negative')) return;
    this.#add(key, lane, -amount);
  }

  #availableTo(held: number, free: number, laneMax: number): number {
    return Math.min(laneMax, laneLimit(this.#fraction, held + free)) - held;
  }

  #add(key: string, lane: Lane | undefined, amount: number): void {
    this.#used += amount;
    if (lane === undefined) {
      if (amount > 0) this.#lanes.set(key, { held: amount });
    } else {
      lane.held += amount;
      if (lane.held === 0) this.#lanes.delete(key);
    }
  }
}
