/**
 * Turns events into deliveries and sends them: one loop that fans out, claims as many due deliveries as there are free
 * worker slots, and sleeps until it is woken (LISTEN/NOTIFY, a finished attempt, a retry that comes due) or, should a
 * wake-up get lost, until the next poll. Attempts run outside any transaction; their outcomes are written together, one
 * statement at a time, so a slow database delays them but never multiplies connections.
 *
 * Stop: no new claims; running attempts get a grace period, then their leases are given back.
 */
import type { Logger } from '@acg/base/log';
import { isDatabaseUnavailable, isTransactionConflict, type Sql } from '../db/sql.js';
import { WEBHOOK_CHANNEL } from '../events/event-outbox.js';
import type { DeliveryAttempt } from './delivery-attempt.js';
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
import { decideRetry } from './retry-schedule.js';

/** One attempt of one delivery; never rejects. `stop` ends it early. */
type SendAttempt = (delivery: ClaimedDelivery, stop: AbortController) => Promise<DeliveryAttempt>;

export type DeliveryResult = 'success' | 'retry' | 'failed' | 'lost_lease';

interface DispatcherOptions {
  readonly sql: Sql;
  readonly log: Logger;
  readonly attempt: SendAttempt;
  readonly retryDelaysMs: readonly number[];
  readonly timeoutMs: number;
  /** Attempts at once in this process. */
  readonly workersMax?: number;
  readonly pollMs?: number;
  readonly observe: (result: DeliveryResult) => void;
}

const WORKERS_MAX = 256;
/** Deliveries of one claim; a payload is at most a few hundred bytes. */
const DELIVERIES_PER_CLAIM = 64;
const POLL_MS = 1_000;
/** How much longer than its timeout an attempt is leased: time to write its outcome. */
const LEASE_SLACK_MS = 5_000;
const STOP_GRACE_MS = 3_000;
/** Before the first repetition of a write that failed; doubled with each. */
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
  /** Finished attempts whose outcome is not written yet. */
  #outcomes: DeliveryOutcome[] = [];
  #writing: Promise<void> | null = null;
  /** Where the next claim goes on, and the next fan-out. */
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
    // The second callback runs at every reconnect: what was notified in between is not known, so look.
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

  /** True when there may be more to do at once. */
  async #runOnce(): Promise<boolean> {
    const { sql, timeoutMs } = this.#options;
    const wasUnderway = this.#fanOutAfterOrgId !== null;
    const { events, nextOrgId: nextOrg } = await fanOutEvents(sql, this.#fanOutAfterOrgId);
    this.#fanOutAfterOrgId = nextOrg;
    // Half of what is free, so that those who share this claim leave room as well.
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
    const { statusCode, error } = await this.#options.attempt(delivery, stop);
    this.#endpointConcurrency.onFinished(delivery.endpointId, performance.now() - startedAt);
    this.#orgConcurrency.onFinished(delivery.orgId);
    // After the grace period its lease has been given back: the next worker's attempt counts, not this one.
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
    });
    this.#writing ??= this.#writeOutcomes();
    this.wake();
  }

  /** Writes what has gathered until nothing is left. */
  async #writeOutcomes(): Promise<void> {
    while (this.#outcomes.length > 0) {
      const batch = this.#outcomes;
      this.#outcomes = [];
      await this.#writeBatch(batch);
    }
    this.#writing = null;
  }

  /**
   * Tries again what lost to another transaction, or met a database that is away, while the leases last: afterwards the
   * deliveries are due again. One outcome that cannot be written takes no other one with it.
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
          this.#options.log.error({ err: error, deliveries: batch.length }, 'outcomes of deliveries not recorded');
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
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_GRACE_MS);
    });
    const attempts = [...this.#running.values()];
    await Promise.race([Promise.all(attempts.map((a) => a.done)), grace]);
    clearTimeout(timer);
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
