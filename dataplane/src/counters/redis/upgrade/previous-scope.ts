/**
 * Spend and reservations of one scope in one month, in the layout of the previous release (previous-spend.lua). At most
 * one call is on its way; requests that arrive meanwhile share the next one. Each call states this process's whole
 * total and its whole reservations, so a lost or repeated call does no harm.
 */

/** What the store said about one request; null: it did not reply in time. */
export type PreviousVerdict = {
  readonly fits: boolean;
  readonly spentNanos: number;
  readonly reservedNanos: number;
} | null;

/** Runs previous-spend.lua. */
type RunPreviousSpend = (key: string, args: readonly (string | number)[]) => Promise<readonly number[]>;

interface Waiter {
  readonly budgetNanos: number;
  readonly reservationNanos: number;
  readonly done: (verdict: PreviousVerdict) => void;
}

interface PreviousScopeOptions {
  readonly run: RunPreviousSpend;
  readonly timeoutMs: number;
  /** How long reservations count without renewal. */
  readonly leaseMs: number;
}

const REQUESTS_PER_CALL_MAX = 500;

export class PreviousScope {
  readonly #options: PreviousScopeOptions;
  readonly #key: string;
  /** This process's own field in the hash; never reused. */
  readonly #field: string;
  #waiters: Waiter[] = [];
  #totalNanos = 0;
  #reservedNanos = 0;
  #version = 0;
  #isInflight = false;
  #isScheduled = false;
  /** The store may not know the current total and reservations. */
  #isDirty = false;

  constructor(options: PreviousScopeOptions, key: string, field: string) {
    this.#options = options;
    this.#key = key;
    this.#field = field;
  }

  /** Checks the budget and takes the reservation where it fits; 0: compares the spend only. */
  check(budgetNanos: number, reservationNanos: number, done: (verdict: PreviousVerdict) => void): void {
    this.#waiters.push({ budgetNanos, reservationNanos, done });
    this.#schedule();
  }

  /** Reserves although the store was not asked: the call runs anyway. */
  reserveUnchecked(nanos: number): void {
    this.#reservedNanos += nanos;
    this.#isDirty = true;
  }

  /** Adds the cost of a call, and ends its reservation. `isBudgeted`: reports it at once. */
  settle(costNanos: number, reservationNanos: number, isBudgeted: boolean): void {
    if (costNanos <= 0 && reservationNanos <= 0) return;
    this.#totalNanos += Math.max(0, costNanos);
    this.#reservedNanos = Math.max(0, this.#reservedNanos - reservationNanos);
    this.#isDirty = true;
    if (isBudgeted) this.#schedule();
  }

  release(reservationNanos: number): void {
    this.settle(0, reservationNanos, true);
  }

  /** Whether dropping the scope loses nothing. */
  get isIdle(): boolean {
    return !this.#isDirty && !this.#isInflight && this.#waiters.length === 0 && this.#reservedNanos === 0;
  }

  /** Reports sums that the store may not know; `renewsLease`: also to renew the lease of reservations. */
  report(renewsLease: boolean): void {
    if (this.#isDirty || (renewsLease && this.#reservedNanos > 0)) this.#schedule();
  }

  /** The store lost its data: the next report restates everything. */
  onDataLost(): void {
    this.#isDirty ||= this.#totalNanos > 0 || this.#reservedNanos > 0;
  }

  /** Resolves when the store has the sums, or did not reply in time. */
  async flush(): Promise<void> {
    if (this.#isDirty) await this.#send();
  }

  #schedule(): void {
    if (this.#isInflight || this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#send();
    });
  }

  async #send(): Promise<void> {
    const waiters = this.#waiters.splice(0, REQUESTS_PER_CALL_MAX);
    this.#isInflight = true;
    this.#isDirty = false;
    const sums = [this.#totalNanos, this.#reservedNanos, ++this.#version, this.#options.leaseMs * 1000];
    const requests = waiters.flatMap(({ budgetNanos, reservationNanos }) => [budgetNanos, reservationNanos]);
    const reply = await this.#runInTime([this.#field, ...sums, ...requests]);
    this.#isInflight = false;
    if (reply === null) this.#isDirty = true; // the store may have granted reservations of calls that do not run
    const [spentNanos = 0, reservedNanos = 0, ...fits] = reply ?? [];
    waiters.forEach(({ reservationNanos, done }, i) => {
      if (fits[i] === 1) this.#reservedNanos += reservationNanos;
      done(reply === null ? null : { fits: fits[i] === 1, spentNanos, reservedNanos });
    });
    if (this.#waiters.length > 0 || (this.#isDirty && reply !== null)) this.#schedule();
  }

  /** Null: the store rejected the call, executed a later one before, or did not reply in time. */
  async #runInTime(args: readonly (string | number)[]): Promise<readonly number[] | null> {
    const { run, timeoutMs } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<null>((resolve) => {
      // setImmediate: a reply that has already arrived counts, however busy this process was.
      timer = setTimeout(() => setImmediate(() => resolve(null)), timeoutMs);
    });
    const reply = run(this.#key, args).catch(() => null);
    const first = await Promise.race([reply, timeout]);
    clearTimeout(timer);
    return first === null || first.length === 0 ? null : first;
  }
}
