/** Whether one store's checks are enforced. Says every change once: one log line, one metric. */
import type { Logger } from '@acg/base/log';
import type { CountersMetrics } from '../../limits/counters.js';

export class EnforcementState {
  readonly #store: string;
  readonly #log: Logger;
  readonly #metrics: CountersMetrics;
  #isEnforcing = false;
  /** The outage has been logged; so its end will be. */
  #isOutageLogged = false;
  #sinceMs = performance.now();
  /** The store came back without data that it had. */
  #dataLost = false;
  /** Requests that passed in this outage. */
  #unchecked = 0;
  #onResume: (() => void) | null = null;

  /** Off until the store has answered a first time. */
  constructor(store: string, log: Logger, metrics: CountersMetrics) {
    this.#store = store;
    this.#log = log;
    this.#metrics = metrics;
  }

  get isEnforcing(): boolean {
    return this.#isEnforcing;
  }

  /** On, and for at least so long. */
  hasEnforcedForMs(ms: number): boolean {
    return this.#isEnforcing && performance.now() - this.#sinceMs >= ms;
  }

  resume(): void {
    const outageMs = Math.round(performance.now() - this.#sinceMs);
    this.#change(true);
    if (this.#isOutageLogged) {
      const facts = { store: this.#store, uncheckedRequests: this.#unchecked, outageMs, dataLost: this.#dataLost };
      this.#log.info(facts, 'counter store is back: limits are enforced');
    }
    this.#isOutageLogged = false;
    this.#dataLost = false;
    this.#onResume?.();
    this.#onResume = null;
  }

  failOpen(reason: string): void {
    this.#unchecked = 0;
    this.#change(false);
    this.logIfFailedOpen(reason);
  }

  logIfFailedOpen(reason: string): void {
    if (this.#isEnforcing || this.#isOutageLogged) return;
    this.#isOutageLogged = true;
    this.#log.warn({ store: this.#store, reason }, 'counter store unavailable: requests pass unchecked');
  }

  /** While on, a line of its own; else part of the line that ends the outage. */
  logDataLost(): void {
    if (this.#isEnforcing)
      this.#log.warn({ store: this.#store }, 'counter store lost data: month spend goes on from the ledger');
    else this.#dataLost = true;
  }

  countUnchecked(requests: number): void {
    this.#unchecked += requests;
    if (requests > 0) this.#metrics.countUnchecked(requests);
  }

  /** Resolves when it is on, or after `timeoutMs`. For one caller at a time. */
  waitUntilEnforcing(timeoutMs: number): Promise<void> {
    if (this.#isEnforcing) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onResume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #change(on: boolean): void {
    this.#isEnforcing = on;
    this.#sinceMs = performance.now();
    this.#metrics.setEnforcing(on);
  }
}
