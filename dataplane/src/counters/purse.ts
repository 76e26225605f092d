/**
 * The month spend of one scope (an agent, a project, an organization) as this process knows it: what it has spent itself,
 * as a total that only grows, and what the ledger has. The store gets the total, never a difference, so it does no harm
 * to say it twice, late, or to a store that has lost everything.
 *
 * A total leaves memory only when the store has confirmed it; should its scope come back in that month, it goes on under
 * a new name. So each total has a name of its own for ever.
 */
import type { BagItem } from '@acg/base/bag';

/** This process's own spend of one month. */
export interface OwnTotal {
  /** See calendar-month.ts. */
  readonly month: number;
  /** Its field in the month's hash. */
  readonly field: string;
  nanos: number;
  /** The highest total that the store has said it has. */
  confirmedNanos: number;
  /** `performance.now()` of that. */
  confirmedAtMs: number;
}

/** The bag of purses with spend that the store has not confirmed. */
interface Unconfirmed {
  add(purse: Purse): void;
  delete(purse: Purse): void;
}

/** Of the hash that holds a month (`YYYY-MM`) of an agent's, project's or organization's spend and holds. */
export const monthKey = (tag: string, month: string): string => `acg:{${tag}}:m:${month}`;

export class Purse implements BagItem {
  /** Hash tag of its keys. */
  readonly tag: string;
  /** Without the month. */
  readonly monthKey: string;
  readonly #unconfirmed: Unconfirmed;
  readonly #holding: { add(purse: Purse): void };
  readonly #nextField: () => string;
  /** Newest month first. */
  readonly totals: OwnTotal[] = [];
  /** What all writers have spent in the store's month, as it said last. */
  storeNanos = 0;
  ledgerMonth = -1;
  ledgerNanos = 0;
  ledgerOwnNanos = 0;
  /** Sum of the holds of this process's calls that are under way. */
  holdNanos = 0;
  /** Given back since the last call to the store. */
  #releasedNanos = 0;
  /** Of the last call to the store that told of holds; each tells the one before it. */
  #holdVersion = Date.now() * 1_000; // above whatever an earlier purse of this scope has told

  /** Its place in the turn that collects for the next call to the store. */
  turn: object | null = null;
  turnIndex = -1;
  bagIndex = -1;
  /** Looked at since the sweep passed by. */
  touched = true;

  constructor(tag: string, unconfirmed: Unconfirmed, holding: { add(purse: Purse): void }, nextField: () => string) {
    this.tag = tag;
    this.monthKey = monthKey(tag, '');
    this.#holding = holding;
    this.#unconfirmed = unconfirmed;
    this.#nextField = nextField;
  }

  /** Nothing would be missing if it were forgotten. */
  get idle(): boolean {
    return this.bagIndex < 0 && this.holdNanos === 0 && this.turn === null;
  }

  spend(month: number, nanos: number): void {
    this.#totalOf(month).nanos += nanos;
    this.#unconfirmed.add(this);
  }

  /** The ledger's figures grow within a month. */
  learn(month: number, nanos: number, ownNanos: number): void {
    if (month < this.ledgerMonth) return;
    if (month > this.ledgerMonth) {
      this.ledgerMonth = month;
      this.ledgerNanos = 0;
      this.ledgerOwnNanos = 0;
    }
    if (nanos > this.ledgerNanos) this.ledgerNanos = nanos;
    if (ownNanos > this.ledgerOwnNanos) this.ledgerOwnNanos = ownNanos;
  }

  /** The store has `nanos` of it. Totals of past months are dropped once it has all of them. */
  confirm(total: OwnTotal, nanos: number, nowMs: number): void {
    total.confirmedAtMs = nowMs;
    if (nanos > total.confirmedNanos) total.confirmedNanos = nanos;
    let left = false;
    for (let i = this.totals.length - 1; i >= 0; i--) {
      const { nanos: own, confirmedNanos } = this.totals[i]!;
      if (own > confirmedNanos) left = true;
      else if (i > 0) this.totals.splice(i, 1);
    }
    if (!left) this.#unconfirmed.delete(this);
  }

  hold(nanos: number): void {
    if (this.holdNanos === 0) this.#holding.add(this);
    this.holdNanos += nanos;
  }

  /** The store has not heard of it: the next call must go by {@link holdNanos}, or giving it back would take another's. */
  holdUnchecked(nanos: number): void {
    this.hold(nanos);
    this.#holdVersion++;
  }

  release(nanos: number): void {
    this.holdNanos = Math.max(0, this.holdNanos - nanos);
    this.#releasedNanos += nanos;
  }

  get hasReleases(): boolean {
    return this.#releasedNanos > 0;
  }

  /** The next call to the store tells of holds: what was given back, once, as its version of them. */
  takeReleased(): number {
    const released = this.#releasedNanos;
    this.#releasedNanos = 0;
    this.#holdVersion++;
    return released;
  }

  get holdVersion(): number {
    return this.#holdVersion;
  }

  /** A call to the store got lost: the next one must not go by what the store has, but by {@link holdNanos}. */
  holdReportLost(): void {
    this.#holdVersion++;
  }

  #totalOf(month: number): OwnTotal {
    const known = this.totals.find((total) => total.month === month);
    if (known !== undefined) return known;
    const total: OwnTotal = { month, field: this.#nextField(), nanos: 0, confirmedNanos: 0, confirmedAtMs: 0 };
    this.totals.push(total);
    this.totals.sort((a, b) => b.month - a.month);
    return total;
  }
}
