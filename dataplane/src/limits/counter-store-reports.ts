/**
 * Reports an outage of the counter store to the control plane, for the dashboard: every few seconds while it lasts, and
 * its end once. A lost report is followed by the next one; the control plane forgets an outage without reports.
 */
import type { Logger } from '@acg/base/log';

const CHECK_INTERVAL_MS = 1_000;
const REPORT_INTERVAL_MS = 5_000;

interface CounterStoreState {
  readonly away: boolean;
  readonly outageMs: number;
  readonly uncheckedCalls: number;
}

interface CounterStoreReportsOptions {
  readonly isEnforcing: () => boolean;
  /** Calls admitted unchecked since the start of the process. */
  readonly uncheckedTotal: () => number;
  readonly report: (state: CounterStoreState) => Promise<unknown>;
  readonly log: Logger;
  /** Monotonic, ms. */
  readonly nowMs?: () => number;
}

export class CounterStoreReports {
  readonly #options: CounterStoreReportsOptions;
  readonly #nowMs: () => number;
  readonly #timer: NodeJS.Timeout;
  /** Null: the store responds. */
  #outage: { readonly sinceMs: number; readonly uncheckedBefore: number } | null = null;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  /** The control plane was told of an outage and not yet of its end. */
  #isEndDue = false;

  constructor(options: CounterStoreReportsOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#timer = setInterval(() => this.check(), CHECK_INTERVAL_MS).unref();
  }

  /** Called by the timer. */
  check(): void {
    const { isEnforcing, uncheckedTotal } = this.#options;
    const nowMs = this.#nowMs();
    if (isEnforcing()) {
      this.#outage = null;
      if (this.#isEndDue) this.#report({ away: false, outageMs: 0, uncheckedCalls: 0 }, nowMs);
      return;
    }
    this.#outage ??= { sinceMs: nowMs, uncheckedBefore: uncheckedTotal() };
    this.#isEndDue = true;
    const { sinceMs, uncheckedBefore } = this.#outage;
    const uncheckedCalls = uncheckedTotal() - uncheckedBefore;
    this.#report({ away: true, outageMs: Math.round(nowMs - sinceMs), uncheckedCalls }, nowMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #report(state: CounterStoreState, nowMs: number): void {
    // The end is reported at once, and again only after a failure.
    if (state.away && nowMs - this.#reportedAtMs < REPORT_INTERVAL_MS) return;
    this.#reportedAtMs = state.away ? nowMs : Number.NEGATIVE_INFINITY;
    if (!state.away) this.#isEndDue = false;
    this.#options.report(state).catch((error: unknown) => {
      if (!state.away) this.#isEndDue = true;
      this.#options.log.debug({ err: error }, 'state of the counter store not reported');
    });
  }
}
