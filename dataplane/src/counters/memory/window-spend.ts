/** Spend of one budget row in one window, in memory: this process's total, the ledger's figures, reservations. */
import type { BudgetWindow } from '../../limits/calendar-window.js';

export class WindowSpend {
  #keptUntilSec: number;
  #ownNanos = 0;
  #ledgerNanos = 0;
  #ledgerOnlyNanos = 0;
  reservedNanos = 0;

  constructor(window: BudgetWindow) {
    this.#keptUntilSec = window.keptUntilSec;
  }

  addSpend(nanos: number): void {
    this.#ownNanos += nanos;
  }

  /** Takes the higher of the known and the given figures, because ledger figures only grow within a window. */
  updateFromLedger(nanos: number, ledgerOnlyNanos: number): void {
    this.#ledgerNanos = Math.max(this.#ledgerNanos, nanos);
    this.#ledgerOnlyNanos = Math.max(this.#ledgerOnlyNanos, ledgerOnlyNanos);
  }

  /**
   * Nano-dollars. The own total and the ledger's figure overlap, so they are never added; the higher one counts.
   */
  get spentNanos(): number {
    return Math.max(this.#ownNanos + this.#ledgerOnlyNanos, this.#ledgerNanos);
  }

  isExpired(nowSec: number): boolean {
    return this.reservedNanos === 0 && nowSec >= this.#keptUntilSec;
  }

  /** The run has ended: no admission reads its spend any more. */
  keepUntil(unixSec: number): void {
    this.#keptUntilSec = Math.min(this.#keptUntilSec, unixSec);
  }
}
