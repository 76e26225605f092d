/**
 * Turns events into deliveries and sends them: one loop that fans out, claims as many due deliveries as there are free
 * worker slots, and sleeps until it is woken (LISTEN/NOTIFY, a finished attempt, a retry that comes due) or, should a
 * wake-up get lost, until the next poll. Attempts run outside any transaction; their outcomes are written together, one
 * statement at a time, so a slow database delays them but never multiplies connections.
 *
 * Stop: no new claims; running attempts get a grace period, then their leases are given back.
 */
import type { Logger } from '@acg/base/log';
import { isDatabaseAway, isTransactionConflict, type Sql } from '../db/sql.js';
import { WEBHOOK_CHANNEL } from '../events/outbox.js';
import type { DeliveryAttempt } from './attempt.js';
import { EndpointConcurrency } from './endpoint-concurrency.js';
import { fanOut } from './fanout.js';
import { type ClaimedDelivery, claim, complete, giveBack, type Outcome } from './queue.js';
import { decideNext } from './schedule.js';
import { Shares } from './shares.js';

/** One attempt of one delivery; never rejects. `stop` ends it early. */
type Attempt = (delivery: ClaimedDelivery, stop: AbortController) => Promise<DeliveryAttempt>;

export type DeliveryResult = 'success' | 'retry' | 'failed' | 'lost_lease';

interface DispatcherOptions {
  readonly sql: Sql;
  readonly log: Logger;
  readonly attempt: Attempt;
  readonly retryDelaysMs: readonly number[];
  readonly timeoutMs: number;
  /** Attempts at once in this process. */
  readonly workersMax?: number;
  readonly pollMs?: number;
  readonly observe: (result: DeliveryResult) => void;
}

const WORKERS_MAX = 256;
/** Deliveries of one claim; a payload is at most a few hundred bytes. */
const CLAIM_MAX = 64;
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

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #workersMax: number;
  readonly #pollMs: number;
  readonly #concurrency: EndpointConcurrency;
  readonly #shares: Shares;
  readonly #running = new Map<string, RunningAttempt>();
  /** Finished attempts whose outcome is not written yet. */
  #outcomes: Outcome[] = [];
  #writing: Promise<void> | null = null;
  /** Where the next claim goes on, and the next fan-out. */
  #after: string | null = null;
  #afterOrg: string | null = null;
  #stopping = false;
  #woken = false;
  #wakeSleeper: (() => void) | null = null;
  #loop: Promise<void> | null = null;
  #listener: { unlisten(): Promise<void> } | null = null;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#workersMax = options.workersMax ?? WORKERS_MAX;
    this.#pollMs = options.pollMs ?? POLL_MS;
    this.#concurrency = new EndpointConcurrency(options.timeoutMs);
    this.#shares = new Shares(this.#workersMax);
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
    await this.#endAttempts();
    await this.#writing;
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      this.#woken = false;
      const more = await this.#round().catch((error: unknown) => {
        this.#options.log.error({ err: error }, 'webhook queue unavailable');
        return false;
      });
      if (!more && !this.#woken) await this.#sleep();
    }
  }

  /** True when there may be more to do at once. */
  async #round(): Promise<boolean> {
    const { sql, timeoutMs } = this.#options;
    const wasUnderway = this.#afterOrg !== null;
    const { events, next: nextOrg } = await fanOut(sql, this.#afterOrg);
    this.#afterOrg = nextOrg;
    // Half of what is free, so that those who share this claim leave room as well.
    const free = Math.min(Math.ceil(this.#shares.free / 2), CLAIM_MAX);
    if (free <= 0 || this.#stopping) return false; // a finished attempt wakes the loop
    const { deliveries, next } = await claim(sql, {
      limit: free,
      leaseMs: timeoutMs + LEASE_SLACK_MS,
      room: this.#concurrency.room,
      restricted: this.#concurrency.restricted(),
      orgRoom: this.#shares.room,
      orgs: this.#shares.rooms(),
      after: this.#after,
    });
    this.#after = next;
    for (const delivery of deliveries) this.#launch(delivery);
    return deliveries.length > 0 || next !== null || events > 0 || wasUnderway;
  }

  #launch(delivery: ClaimedDelivery): void {
    const stop = new AbortController();
    this.#concurrency.started(delivery.endpointId);
    this.#shares.started(delivery.orgId);
    const done = this.#attempt(delivery, stop);
    this.#running.set(delivery.lease, { lease: delivery.lease, stop, done });
  }

  async #attempt(delivery: ClaimedDelivery, stop: AbortController): Promise<void> {
    const startedAt = performance.now();
    const { statusCode, error } = await this.#options.attempt(delivery, stop);
    this.#concurrency.finished(delivery.endpointId, performance.now() - startedAt);
    this.#shares.finished(delivery.orgId);
    // After the grace period its lease has been given back: the next worker's attempt counts, not this one.
    if (!this.#running.delete(delivery.lease)) return;
    const verdict = decideNext(error === null, delivery.attempts + 1, this.#options.retryDelaysMs);
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
  async #writeBatch(batch: readonly Outcome[]): Promise<void> {
    const endsAtMs = performance.now() + LEASE_SLACK_MS;
    for (let delayMs = WRITE_RETRY_MS; ; delayMs *= 2) {
      try {
        const written = await complete(this.#options.sql, batch);
        for (const outcome of batch) this.#recorded(outcome, written.has(outcome.id));
        return;
      } catch (error) {
        const isTransient = isTransactionConflict(error) || isDatabaseAway(error);
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

  #recorded(outcome: Outcome, leaseHeld: boolean): void {
    if (!leaseHeld) this.#options.observe('lost_lease');
    else this.#options.observe(outcome.status === 'pending' ? 'retry' : outcome.status);
    if (leaseHeld && outcome.status === 'pending' && outcome.delayMs < this.#pollMs) {
      setTimeout(() => this.wake(), outcome.delayMs).unref();
    }
  }

  async #endAttempts(): Promise<void> {
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
    await giveBack(
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
