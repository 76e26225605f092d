/** Month spend of one scope in memory: this process's totals, the ledger's figures, and open reservations. */
const MONTHS_KEPT = 2;

export class MonthSpend {
  /** This process's totals as `[month, nano-dollars]`, newest last. */
  readonly #ownTotals: [month: number, nanos: number][] = [];
  #ledgerMonth = -1;
  #ledgerNanos = 0;
  #ledgerOnlyNanos = 0;
  reservedNanos = 0;

  addSpend(month: number, nanos: number): void {
    const known = this.#ownTotals.find(([ownMonth]) => ownMonth === month);
    if (known !== undefined) {
      known[1] += nanos;
      return;
    }
    this.#ownTotals.push([month, nanos]);
    this.#ownTotals.sort((a, b) => a[0] - b[0]);
    if (this.#ownTotals.length > MONTHS_KEPT) this.#ownTotals.shift();
  }

  /** Takes the higher of the known and the given figures, because ledger figures only grow within a month. */
  updateFromLedger(month: number, nanos: number, ledgerOnlyNanos: number): void {
    if (month < this.#ledgerMonth) return;
    if (month > this.#ledgerMonth) {
      this.#ledgerMonth = month;
      this.#ledgerNanos = 0;
      this.#ledgerOnlyNanos = 0;
    }
    this.#ledgerNanos = Math.max(this.#ledgerNanos, nanos);
    this.#ledgerOnlyNanos = Math.max(this.#ledgerOnlyNanos, ledgerOnlyNanos);
  }

  /**
   * Month spend in nano-dollars. The own total and the ledger's figure overlap, so they are never added; the higher one
   * counts.
   */
  spentNanos(month: number): number {
    const own = this.#ownTotals.find(([ownMonth]) => ownMonth === month)?.[1] ?? 0;
    if (month !== this.#ledgerMonth) return own;
    return Math.max(own + this.#ledgerOnlyNanos, this.#ledgerNanos);
  }

  isExpired(month: number): boolean {
    const newest = Math.max(this.#ledgerMonth, this.#ownTotals[this.#ownTotals.length - 1]?.[0] ?? 0);
    return this.reservedNanos === 0 && month - newest >= MONTHS_KEPT;
  }
}
