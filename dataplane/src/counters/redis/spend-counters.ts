/**
 * All spend counters of this process, bounded by eviction. At `countersMax` a new counter replaces one that is not
 * recently used and fully acknowledged, of an ended window if there is one. During an outage nothing is acknowledged:
 * the set grows to twice the bound. Beyond that the oldest counter is evicted; the ledger has every usage record.
 * Counters with reservations, or in a batch that may grant some, always stay.
 */
import { SwapRemoveSet } from '@acg/base/swap-remove-set';
import type { BudgetWindow } from '../../limits/calendar-window.js';
import { SpendCounter } from './spend-counter.js';

const EVICTION_CANDIDATES = 8;
/** Calls of an ended run end within a second, and their spend is acknowledged soon after. */
const FORGET_AFTER_MS = 60_000;

interface WindowCounters {
  /** Unix seconds of the first moment after the window. */
  readonly endSec: number;
  /** By name of the row, in sweep order (clock algorithm). */
  readonly byName: Map<string, SpendCounter>;
}

export class SpendCounters {
  readonly #countersMax: number;
  readonly #writerId: string;
  /** By name of the window, the oldest first. */
  readonly #byWindow = new Map<string, WindowCounters>();
  readonly unacknowledged = new SwapRemoveSet<SpendCounter>();
  readonly reserved = new Set<SpendCounter>();
  /** Counters of ended runs, and since when (`performance.now()`), the oldest first. */
  readonly #ended = new Map<SpendCounter, number>();
  #size = 0;
  #fieldCount = 0;
  #lastLossAtMs = Number.NEGATIVE_INFINITY;
  /** Called with each counter of an ended run that was forgotten: the store may forget its key soon, too. */
  onEndedForgotten: (counter: SpendCounter) => void = () => {};

  /** `writerId` names this run of the process; see docs/contract.md#limits. */
  constructor(countersMax: number, writerId: string) {
    this.#countersMax = countersMax;
    this.#writerId = writerId;
  }

  get size(): number {
    return this.#size;
  }

  find(name: string, window: Pick<BudgetWindow, 'name'>): SpendCounter | null {
    return this.#byWindow.get(window.name)?.byName.get(name) ?? null;
  }

  getOrCreate(orgId: string, name: string, window: BudgetWindow): SpendCounter {
    const known = this.#byWindow.get(window.name)?.byName.get(name);
    if (known !== undefined) {
      known.isRecentlyUsed = true;
      return known;
    }
    this.#forgetEnded(performance.now());
    if (this.#size >= this.#countersMax) this.#evictOne();
    const field = `${this.#writerId}.${(this.#fieldCount++).toString(36)}`;
    const counter = new SpendCounter(this, orgId, name, window, field);
    let counters = this.#byWindow.get(window.name);
    if (counters === undefined) {
      counters = { endSec: window.endSec, byName: new Map() };
      this.#byWindow.set(window.name, counters);
    }
    counters.byName.set(name, counter);
    this.#size++;
    return counter;
  }

  /**
   * No call will use the counter soon: forgets it after {@link FORGET_AFTER_MS}, or as much later as the store has all
   * of it. Otherwise an orchestrator with a run for each task would fill the set.
   */
  forgetSoon(name: string, window: Pick<BudgetWindow, 'name'>, nowMs: number): void {
    const counter = this.find(name, window);
    if (counter !== null && !this.#ended.has(counter)) this.#ended.set(counter, nowMs);
    this.#forgetEnded(nowMs);
  }

  #forgetEnded(nowMs: number): void {
    for (const [counter, endedAtMs] of this.#ended) {
      if (nowMs - endedAtMs < FORGET_AFTER_MS) return;
      this.#ended.delete(counter);
      if (this.find(counter.name, { name: counter.windowName }) !== counter) continue; // evicted before
      if (counter.isEvictable) {
        this.#evict(counter);
        this.onEndedForgotten(counter);
      } else this.#ended.set(counter, nowMs);
    }
  }

  listAll(): SpendCounter[] {
    return [...this.#byWindow.values()].flatMap(({ byName }) => [...byName.values()]);
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
    const nowSec = Date.now() / 1000;
    const ended: WindowCounters[] = [];
    const open: WindowCounters[] = [];
    for (const counters of this.#byWindow.values()) (counters.endSec <= nowSec ? ended : open).push(counters);
    if (this.#evictUnused(ended) || this.#evictUnused(open)) return;
    if (this.#size < 2 * this.#countersMax) return;
    for (const { byName } of [...ended, ...open]) {
      for (const counter of byName.values()) {
        if (counter.isHeld) continue;
        this.#evict(counter);
        return;
      }
    }
  }

  /** Checks a few counters of the windows. Returns whether one was evicted. */
  #evictUnused(windows: readonly WindowCounters[]): boolean {
    let checksLeft = EVICTION_CANDIDATES;
    for (const { byName } of windows) {
      // At most once each: a counter that moved to the end was used since the last sweep.
      let uncheckedCount = byName.size;
      for (const [name, counter] of byName) {
        if (checksLeft === 0 || uncheckedCount === 0) break;
        checksLeft--;
        uncheckedCount--;
        if (!counter.isRecentlyUsed && counter.isEvictable) {
          this.#evict(counter);
          return true;
        }
        counter.isRecentlyUsed = false;
        byName.delete(name);
        byName.set(name, counter);
      }
    }
    return false;
  }

  #evict(counter: SpendCounter): void {
    const counters = this.#byWindow.get(counter.windowName)!;
    this.unacknowledged.delete(counter);
    counters.byName.delete(counter.name);
    this.#size--;
    if (counters.byName.size === 0) this.#byWindow.delete(counter.windowName);
  }
}
