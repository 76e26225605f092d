/** Whether one store's limits are enforced. Reports each change once, with one log line and one metric. */

import type { Logger } from '@acg/base/log';
import { waitAtMost } from '@acg/base/wait-at-most';
import type { CountersMetrics } from '../../limits/counters-interface.js';

export class EnforcementState {
  readonly #store: string;
  readonly #log: Logger;
  readonly #metrics: CountersMetrics;
  #isEnforcing = false;
  /** The outage was logged, so its end will be logged, too. */
  #isOutageLogged = false;
  #sinceMs = performance.now();
  /** The store came back without data that it had acknowledged. */
  #dataLost = false;
  /** Requests admitted unchecked during this outage. */
  #unchecked = 0;
  #onResume: (() => void) | null = null;

  /** Starts in the fail-open state until the first reply of the store. */
  constructor(store: string, log: Logger, metrics: CountersMetrics) {
    this.#store = store;
    this.#log = log;
    this.#metrics = metrics;
  }

  get isEnforcing(): boolean {
    return this.#isEnforcing;
  }

  resume(): void {
    const outageMs = Math.round(performance.now() - this.#sinceMs);
    this.#setEnforcing(true);
    if (this.#isOutageLogged) {
      const fields = { store: this.#store, uncheckedRequests: this.#unchecked, outageMs, dataLost: this.#dataLost };
      this.#log.info(fields, 'counter store is back: limits are enforced');
    }
    this.#isOutageLogged = false;
    this.#dataLost = false;
    this.#onResume?.();
    this.#onResume = null;
  }

  failOpen(reason: string): void {
    this.#unchecked = 0;
    this.#setEnforcing(false);
    this.logIfFailedOpen(reason);
  }

  logIfFailedOpen(reason: string): void {
    if (this.#isEnforcing || this.#isOutageLogged) return;
    this.#isOutageLogged = true;
    this.#log.warn({ store: this.#store, reason }, 'counter store unavailable: requests pass unchecked');
  }

  /** While enforcing, logs its own line; during an outage, adds a field to the line that ends the outage. */
  logDataLostNowOrOnResume(): void {
    if (this.#isEnforcing)
      this.#log.warn({ store: this.#store }, 'counter store lost data: month spend continues from the ledger');
    else this.#dataLost = true;
  }

  countUnchecked(requests: number): void {
    this.#unchecked += requests;
    if (requests > 0) this.#metrics.countUnchecked(requests);
  }

  /** Resolves when limits are enforced, or after `timeoutMs`. Supports one waiting caller at a time. */
  async waitUntilEnforcing(timeoutMs: number): Promise<void> {
    if (this.#isEnforcing) return;
    const resumed = new Promise<void>((resolve) => (this.#onResume = resolve));
    await waitAtMost(resumed, timeoutMs);
  }

  #setEnforcing(isEnforcing: boolean): void {
    this.#isEnforcing = isEnforcing;
    this.#sinceMs = performance.now();
    this.#metrics.setEnforcing(isEnforcing);
  }
}
