/** Whether one store's checks are enforced. Says every change once: one log line, one metric. */
import type { Logger } from '@acg/base/log';
import type { CountersMetrics } from './counters.js';

export class Enforcement {
  readonly #store: string;
  readonly #log: Logger;
  readonly #metrics: CountersMetrics;
  #on = false;
  /** The outage has been logged; so its end will be. */
  #announced = false;
  #sinceMs = performance.now();
  /** The store came back without data that it had. */
  #dataLost = false;
  /** Requests that passed in this outage. */
  #unchecked = 0;
  #onStart: (() => void) | null = null;

  /** Off until the store has answered a first time. */
  constructor(store: string, log: Logger, metrics: CountersMetrics) {
    this.#store = store;
    this.#log = log;
    this.#metrics = metrics;
  }

  get on(): boolean {
    return this.#on;
  }

  /** On, and for at least so long. */
  onFor(ms: number): boolean {
    return this.#on && performance.now() - this.#sinceMs >= ms;
  }

  start(): void {
    const outageMs = Math.round(performance.now() - this.#sinceMs);
    this.#change(true);
    if (this.#announced) {
      const facts = { store: this.#store, uncheckedRequests: this.#unchecked, outageMs, dataLost: this.#dataLost };
      this.#log.info(facts, 'counter store is back: limits are enforced');
    }
    this.#announced = false;
    this.#dataLost = false;
    this.#onStart?.();
    this.#onStart = null;
  }

  stop(reason: string): void {
    this.#unchecked = 0;
    this.#change(false);
    this.announceIfOff(reason);
  }

  announceIfOff(reason: string): void {
    if (this.#on || this.#announced) return;
    this.#announced = true;
    this.#log.warn({ store: this.#store, reason }, 'counter store unavailable: requests pass unchecked');
  }

  /** While on, a line of its own; else part of the line that ends the outage. */
  noteDataLost(): void {
    if (this.#on)
      this.#log.warn({ store: this.#store }, 'counter store lost data: month spend goes on from the ledger');
    else this.#dataLost = true;
  }

  countUnchecked(requests: number): void {
    this.#unchecked += requests;
    if (requests > 0) this.#metrics.unchecked(requests);
  }

  /** Resolves when it is on, or after `timeoutMs`. For one caller at a time. */
  onWithin(timeoutMs: number): Promise<void> {
    if (this.#on) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onStart = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #change(on: boolean): void {
    this.#on = on;
    this.#sinceMs = performance.now();
    this.#metrics.enforcing(on);
  }
}
