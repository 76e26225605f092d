/**
 * Spend that could not be added while the store was away, summed per agent and month, kept until it is back
 * (docs/contract.md#without-the-counter-store). In memory only: the usage spool has every record, and what a crash or
 * the bound loses here returns with the ledger's figure.
 */
import type { Spend } from './admit-call.js';

export class SpendJournal {
  readonly #entriesMax: number;
  /** Slot → `month:agent` → sum. */
  readonly #slots = new Map<number, Map<string, Spend>>();
  #size = 0;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#size;
  }

  /** False when the journal is full and the spend was not kept. */
  add(slot: number, agentId: string, month: number, costNanos: number): boolean {
    let spends = this.#slots.get(slot);
    const key = `${month}:${agentId}`;
    const known = spends?.get(key);
    if (known !== undefined) {
      known.costNanos += costNanos;
      return true;
    }
    if (this.#size >= this.#entriesMax) return false;
    if (spends === undefined) {
      spends = new Map();
      this.#slots.set(slot, spends);
    }
    spends.set(key, { agentId, month, costNanos, baseNanos: 0 });
    this.#size++;
    return true;
  }

  /** Takes out up to `max` sums of one slot; null when empty. */
  take(max: number): { slot: number; spends: Spend[] } | null {
    for (const [slot, entries] of this.#slots) {
      const spends: Spend[] = [];
      for (const [key, spend] of entries) {
        if (spends.length >= max) break;
        spends.push(spend);
        entries.delete(key);
      }
      if (entries.size === 0) this.#slots.delete(slot);
      this.#size -= spends.length;
      return { slot, spends };
    }
    return null;
  }
}
