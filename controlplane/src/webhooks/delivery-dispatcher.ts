/**
 * Turns events into deliveries and sends them. One loop fans out, claims as many due deliveries as there are free
 * worker slots, and sleeps until it is woken: by LISTEN/NOTIFY, a finished attempt, a due retry, or the next poll if a
 * notification is lost. Attempts run outside transactions. Their outcomes are written in batches, one statement at a
 * time, so a slow database delays them but never multiplies connections. On stop, running attempts get a grace period,
 * then their leases are released.
 */

import type { Logger } from '@acg/base/log';
import { waitAtMost } from '@acg/base/wait-at-most';
import { isDatabaseUnavailable, isTransactionConflict, type Sql } from '../db/postgres-client.js';
import { WEBHOOK_CHANNEL } from '../events/append-events.js';
import {
  type ClaimedDelivery,
  claimDeliveries,
  type DeliveryOutcome,
  recordOutcomes,
  releaseLeases,
} from './delivery-queue.js';
import { EndpointConcurrency } from './endpoint-concurrency.js';
import { fanOutEvents } from './event-fanout.js';
import { OrgConcurrency } from './org-concurrency.js';
import type { DeliveryAttempt } from './post-delivery.js';
import { decideRetry } from './retry-schedule.js';

/** Sends one attempt of one delivery; never rejects. `stop` aborts it. */
type SendAttempt = (delivery: ClaimedDelivery, stop: AbortController) => Promise<DeliveryAttempt>;

export type DeliveryResult = 'success' | 'retry' | 'failed' | 'lost_lease';

interface DispatcherOptions {
  readonly sql: Sql;
  readonly log: Logger;
  readonly attempt: SendAttempt;
  readonly retryDelaysMs: readonly number[];
  readonly timeoutMs: number;
  /** Maximum number of concurrent attempts in this process. */
  readonly workersMax?: number;
  readonly pollMs?: number;
  readonly observe: (result: DeliveryResult) => void;
}

const WORKERS_MAX = 256;
/** Deliveries per claim; a payload has at most a few hundred bytes. */
const DELIVERIES_PER_CLAIM = 64;
const POLL_MS = 1_000;
/** Milliseconds that a lease outlives the attempt's timeout: time to write the outcome. */
const LEASE_SLACK_MS = 5_000;
const STOP_GRACE_MS = 3_000;
/** Delay before the first retry of a failed write; doubles with each retry. */
const WRITE_RETRY_MS = 50;

interface RunningAttempt {
  readonly lease: string;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

export class DeliveryDispatcher {
  readonly #options: DispatcherOptions;
  readonly #workersMax: number;
  readonly #pollMs: number;
  readonly #endpointConcurrency: EndpointConcurrency;
  readonly #orgConcurrency: OrgConcurrency;
  readonly #running = new Map<string, RunningAttempt>();
  /** Finished attempts whose outcome has not been written yet. */
  #outcomes: DeliveryOutcome[] = [];
  #writing: Promise<void> | null = null;
  /** Positions at which the next claim and the next fan-out continue. */
  #claimAfterEndpointId: string | null = null;
  #fanOutAfterOrgId: string | null = null;
  #stopping = false;
  #woken = false;
  #wakeSleeper: (() => void) | null = null;
  #loop: Promise<void> | null = null;
  #listener: { unlisten(): Promise<void> } | null = null;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#workersMax = options.workersMax ?? WORKERS_MAX;
    this.#pollMs = options.pollMs ?? POLL_MS;
    this.#endpointConcurrency = new EndpointConcurrency(options.timeoutMs);
    this.#orgConcurrency = new OrgConcurrency(this.#workersMax);
  }

  async start(): Promise<void> {
    // The second callback runs at every reconnect. Notifications may have been lost before it, so the loop runs once.
    const wake = () => this.wake();
    this.#listener = await this.#options.sql.listen(WEBHOOK_CHANNEL, wake, wake);
    this.#loop = this.#run();
  }

  /** Attempts in flight in this process. */
  get running(): number {
    return this.#running.size;
  }

  wake(): void {
    this.#woken = true;
    this.#wakeSleeper?.();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.wake();
    await this.#loop;
    await this.#listener?.unlisten().catch(() => {});
    await this.#stopAttempts();
    await this.#writing;
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      this.#woken = false;
      const more = await this.#runOnce().catch((error: unknown) => {
        this.#options.log.error({ err: error }, 'webhook queue unavailable');
        return false;
      });
      if (!more && !this.#woken) await this.#sleep();
    }
  }

  /** Returns true when more work may be due immediately. */
  async #runOnce(): Promise<boolean> {
    const { sql, timeoutMs } = this.#options;
    const wasUnderway = this.#fanOutAfterOrgId !== null;
    const { events, nextOrgId: nextOrg } = await fanOutEvents(sql, this.#fanOutAfterOrgId);
    this.#fanOutAfterOrgId = nextOrg;
    // Claims half of the free slots, so that the organizations of one claim also leave slots free.
    const free = Math.min(Math.ceil(this.#orgConcurrency.free / 2), DELIVERIES_PER_CLAIM);
    if (free <= 0 || this.#stopping) return false; // a finished attempt wakes the loop
    const { deliveries, nextEndpointId: next } = await claimDeliveries(sql, {
      limit: free,
      leaseMs: timeoutMs + LEASE_SLACK_MS,
      endpointSlots: this.#endpointConcurrency.slotsPerEndpoint,
      restrictedEndpoints: this.#endpointConcurrency.restrictedEndpoints(),
      orgSlots: this.#orgConcurrency.slotsOfIdleOrg,
      restrictedOrgs: this.#orgConcurrency.slotsOfRunningOrgs(),
      afterEndpointId: this.#claimAfterEndpointId,
    });
    this.#claimAfterEndpointId = next;
    for (const delivery of deliveries) this.#startAttempt(delivery);
    return deliveries.length > 0 || next !== null || events > 0 || wasUnderway;
  }

  #startAttempt(delivery: ClaimedDelivery): void {
    const stop = new AbortController();
    this.#endpointConcurrency.onStarted(delivery.endpointId);
    this.#orgConcurrency.onStarted(delivery.orgId);
    const done = this.#runAttempt(delivery, stop);
    this.#running.set(delivery.lease, { lease: delivery.lease, stop, done });
  }

  async #runAttempt(delivery: ClaimedDelivery, stop: AbortController): Promise<void> {
    const startedAt = performance.now();
    const { statusCode, error, durationMs, responseBody } = await this.#options.attempt(delivery, stop);
    this.#endpointConcurrency.onFinished(delivery.endpointId, performance.now() - startedAt);
    this.#orgConcurrency.onFinished(delivery.orgId);
    // After the grace period the lease was released. Then the next worker's attempt counts instead of this one.
    if (!this.#running.delete(delivery.lease)) return;
    const verdict = decideRetry(error === null, delivery.attempts + 1, this.#options.retryDelaysMs);
    const delayMs = verdict.status === 'pending' ? verdict.delayMs : 0;
    this.#outcomes.push({
      id: delivery.id,
      lease: delivery.lease,
      status: verdict.status,
      statusCode,
      error,
      delayMs,
      attempt: { at: new Date().toISOString(), statusCode, error, durationMs, responseBody },
    });
    this.#writing ??= this.#writeOutcomes();
    this.wake();
  }

  /** Writes gathered outcomes until none is left. */
  async #writeOutcomes(): Promise<void> {
    while (this.#outcomes.length > 0) {
      const batch = this.#outcomes;
      this.#outcomes = [];
      await this.#writeBatch(batch);
    }
    this.#writing = null;
  }

  /**
   * Retries writes that lost to another transaction or met an unavailable database, until the leases expire; after that
   * the deliveries are due again. One outcome that cannot be written does not block the others.
   */
  async #writeBatch(batch: readonly DeliveryOutcome[]): Promise<void> {
    const endsAtMs = performance.now() + LEASE_SLACK_MS;
    for (let delayMs = WRITE_RETRY_MS; ; delayMs *= 2) {
      try {
        const written = await recordOutcomes(this.#options.sql, batch);
        for (const outcome of batch) this.#observeOutcome(outcome, written.has(outcome.id));
        return;
      } catch (error) {
        const isTransient = isTransactionConflict(error) || isDatabaseUnavailable(error);
        if (isTransient && performance.now() + delayMs < endsAtMs) {
          await new Promise((resolve) => setTimeout(resolve, delayMs));
          continue;
        }
        if (isTransient || batch.length === 1) {
          this.#options.log.error({ err: error, deliveries: batch.length }, 'delivery outcomes not recorded');
          return;
        }
        for (const outcome of batch) await this.#writeBatch([outcome]);
        return;
      }
    }
  }

  #observeOutcome(outcome: DeliveryOutcome, leaseHeld: boolean): void {
    if (!leaseHeld) this.#options.observe('lost_lease');
    else this.#options.observe(outcome.status === 'pending' ? 'retry' : outcome.status);
    if (leaseHeld && outcome.status === 'pending' && outcome.delayMs < this.#pollMs) {
      setTimeout(() => this.wake(), outcome.delayMs).unref();
    }
  }

  async #stopAttempts(): Promise<void> {
    const attempts = [...this.#running.values()];
    await waitAtMost(Promise.all(attempts.map((a) => a.done)), STOP_GRACE_MS);
    const left = [...this.#running.values()];
    this.#running.clear();
    for (const { stop } of left) stop.abort();
    await releaseLeases(
      this.#options.sql,
      left.map((a) => a.lease),
    ).catch(() => {});
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#pollMs);
      this.#wakeSleeper = () => {
        clearTimeout(timer);
        this.#wakeSleeper = null;
        resolve();
      };
    });
  }
}
