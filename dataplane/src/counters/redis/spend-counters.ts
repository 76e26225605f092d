/**
 * All spend counters of this process, bounded by eviction. At `countersMax` a new counter replaces one that is not
 * recently used and fully acknowledged. During an outage nothing is acknowledged: the set grows to twice the bound.
 * Beyond that the oldest counter is evicted; the ledger has every usage record.
 */
import { SwapRemoveSet } from '@acg/base/swap-remove-set';
import type { BudgetWindow } from '../../limits/calendar-window.js';
import { SpendCounter } from './spend-counter.js';

const EVICTION_CANDIDATES = 8;

export class SpendCounters {
  readonly #countersMax: number;
  readonly #writerId: string;
  /** By name of the window, the oldest first, then by name of the row in sweep order (clock algorithm). */
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

  find(name: string, window: Pick<BudgetWindow, 'name'>): SpendCounter | null {
    return this.#byWindow.get(window.name)?.get(name) ?? null;
  }

  getOrCreate(orgId: string, name: string, window: BudgetWindow): SpendCounter {
    const known = this.#byWindow.get(window.name)?.get(name);
    if (known !== undefined) {
      known.isRecentlyUsed = true;
      return known;
    }
    if (this.#size >= this.#countersMax) this.#evictOne();
    const field = `${this.#writerId}.${(this.#fieldCount++).toString(36)}`;
    const counter = new SpendCounter(this, orgId, name, window, field);
    let byName = this.#byWindow.get(window.name);
    if (byName === undefined) {
      byName = new Map();
      this.#byWindow.set(window.name, byName);
    }
    byName.set(name, counter);
    this.#size++;
    return counter;
  }

  listAll(): SpendCounter[] {
    return [...this.#byWindow.values()].flatMap((byName) => [...byName.values()]);
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
    for (const [windowName, byName] of this.#byWindow) {
      for (const [name, counter] of byName) {
        if (checkedCount++ >= EVICTION_CANDIDATES) break;
        byName.delete(name);
        if (!counter.isRecentlyUsed && counter.isEvictable) {
          this.#onEvicted(windowName, byName);
          return;
        }
        counter.isRecentlyUsed = false;
        byName.set(name, counter);
      }
    }
    if (this.#size < 2 * this.#countersMax) return;
    for (const [windowName, byName] of this.#byWindow) {
      for (const [name, counter] of byName) {
        if (counter.reservedNanos > 0 || counter.batch !== null) continue;
        this.unacknowledged.delete(counter);
        byName.delete(name);
        this.#onEvicted(windowName, byName);
        return;
      }
    }
  }

  #onEvicted(windowName: string, byName: ReadonlyMap<string, SpendCounter>): void {
    this.#size--;
    if (byName.size === 0) this.#byWindow.delete(windowName);
  }
}
