/**
 * All spend counters of this process, bounded by eviction. At `countersMax` a new counter replaces one that is not
 * recently used and fully acknowledged. During an outage nothing is acknowledged: the set grows to twice the bound.
 * Beyond that the oldest counter is evicted; the ledger has every usage record.
 */
import { SwapRemoveSet } from '@acg/base/swap-remove-set';
import type { CalendarWindow } from '../../limits/calendar-window.js';
import { SpendCounter } from './spend-counter.js';

const EVICTION_CANDIDATES = 8;

export class SpendCounters {
  readonly #countersMax: number;
  readonly #writerId: string;
  /** By name of the window, the oldest first, then by scope in sweep order (clock algorithm). */
  readonly #byWindow = new Map<string, Map<string, SpendCounter>>();
  readonly unacknowledged = new SwapRemoveSet<SpendCounter>();
  readonly reserved = new Set<SpendCounter>();
  #size = 0;
  #fieldCount = 0;
  #lastLossAtMs = Number.NEGATIVE_INFINITY;

  /** `writerId` names this run of the process; see docs/contract.md#limits. */
  constructor(countersMax: number, writerId: string) {
    this.#countersMax = countersMax;
    this.#writerId = writerId;
  }

  get size(): number {
    return this.#size;
  }

  find(tag: string, window: CalendarWindow): SpendCounter | null {
    return this.#byWindow.get(window.name)?.get(tag) ?? null;
  }

  getOrCreate(orgId: string, tag: string, window: CalendarWindow): SpendCounter {
    const known = this.#byWindow.get(window.name)?.get(tag);
    if (known !== undefined) {
      known.isRecentlyUsed = true;
      return known;
    }
    if (this.#size >= this.#countersMax) this.#evictOne();
    const field = `${this.#writerId}.${(this.#fieldCount++).toString(36)}`;
    const counter = new SpendCounter(this, orgId, tag, window, field);
    let byTag = this.#byWindow.get(window.name);
    if (byTag === undefined) {
      byTag = new Map();
      this.#byWindow.set(window.name, byTag);
    }
    byTag.set(tag, counter);
    this.#size++;
    return counter;
  }

  listAll(): SpendCounter[] {
    return [...this.#byWindow.values()].flatMap((byTag) => [...byTag.values()]);
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
    for (const [name, byTag] of this.#byWindow) {
      for (const [tag, counter] of byTag) {
        if (checkedCount++ >= EVICTION_CANDIDATES) break;
        byTag.delete(tag);
        if (!counter.isRecentlyUsed && counter.isEvictable) {
          this.#onEvicted(name, byTag);
          return;
        }
        counter.isRecentlyUsed = false;
        byTag.set(tag, counter);
      }
    }
    if (this.#size < 2 * this.#countersMax) return;
    for (const [name, byTag] of this.#byWindow) {
      for (const [tag, counter] of byTag) {
        if (counter.reservedNanos > 0 || counter.batch !== null) continue;
        this.unacknowledged.delete(counter);
        byTag.delete(tag);
        this.#onEvicted(name, byTag);
        return;
      }
    }
  }

  #onEvicted(windowName: string, byTag: ReadonlyMap<string, SpendCounter>): void {
    this.#size--;
    if (byTag.size === 0) this.#byWindow.delete(windowName);
  }
}
