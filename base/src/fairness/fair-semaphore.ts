/**
 * A semaphore whose slots the lanes (organizations or client networks) share by {@link DynamicShare}. Work without a
 * slot waits in a {@link FairQueue}, so a released slot goes to the next lane in turn. A full queue rejects the newest
 * work of the longest lane; a full lane rejects what comes next.
 */
import { DynamicShare } from './dynamic-share.js';
import { FairQueue } from './fair-queue.js';

export interface FairSemaphoreOptions {
  /** Slots of all lanes together. Absent: only each lane is limited. */
  readonly runningMax?: number;
  readonly laneRunningMax?: number;
  /** As in {@link DynamicShare}: for work that its owner can make slow, ½, so that one lane gets half of the slots. */
  readonly fraction?: number;
  readonly waitingMax?: number;
  readonly laneWaitingMax?: number;
  /** Work that has waited longer, ms, is rejected instead of started, because its caller has given up. */
  readonly waitMsMax?: number;
  /** Creates the error for rejected work; absent: {@link QueueFull}. */
  readonly createError?: () => Error;
}

export class QueueFull extends Error {}

interface Waiter {
  readonly lane: string;
  readonly queuedAtPerfMs: number;
  readonly start: () => void;
  readonly reject: (error: Error) => void;
}

export class FairSemaphore {
  readonly #options: FairSemaphoreOptions;
  readonly #createError: () => Error;
  readonly #slots: DynamicShare;
  readonly #queue = new FairQueue<string, Waiter>();

  constructor(options: FairSemaphoreOptions) {
    const { runningMax = Number.POSITIVE_INFINITY, laneRunningMax = Number.POSITIVE_INFINITY, fraction = 1 } = options;
    this.#options = options;
    this.#createError = options.createError ?? (() => new QueueFull('too much work is queued'));
    this.#slots = new DynamicShare({ capacity: runningMax, fraction, laneMax: laneRunningMax });
  }

  /** Rejects with the error of `createError` when the work is rejected. */
  async run<T>(lane: string, work: () => Promise<T>): Promise<T> {
    const acquired = this.acquire(lane);
    if (acquired !== null) await acquired;
    try {
      return await work();
    } finally {
      this.release(lane);
    }
  }

  /**
   * Acquires a slot, which the caller must return with {@link release}. Null: acquired at once. Rejects with the error
   * of `createError`.
   */
  acquire(lane: string): Promise<void> | null {
    if (this.#slots.tryTake(lane)) return null;
    const { waitingMax = Number.POSITIVE_INFINITY, laneWaitingMax = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#queue.laneSize(lane) >= laneWaitingMax) return Promise.reject(this.#createError());
    return new Promise((start, reject) => {
      this.#queue.push(lane, { lane, queuedAtPerfMs: performance.now(), start, reject });
      if (this.#queue.size > waitingMax) this.#queue.dropNewestOfLongest()!.reject(this.#createError());
    });
  }

  release(lane: string): void {
    this.#slots.release(lane);
    const { waitMsMax = Number.POSITIVE_INFINITY } = this.#options;
    // Rejected waiters return their slots, which the next ones then get.
    for (let rejected = 1; rejected > 0; ) {
      rejected = 0;
      for (const waiter of this.#takeNext(lane)) {
        if (performance.now() - waiter.queuedAtPerfMs <= waitMsMax) waiter.start();
        else {
          waiter.reject(this.#createError());
          this.#slots.release(waiter.lane);
          rejected++;
        }
      }
    }
  }

  /** Takes waiters that have a slot now. Without a common limit only the lane of the released slot can have one. */
  #takeNext(released: string): readonly Waiter[] {
    if (this.#options.runningMax !== undefined)
      return this.#queue.take(this.#slots.free, (waiting) => this.#slots.tryTake(waiting));
    if (this.#queue.laneSize(released) === 0 || !this.#slots.tryTake(released)) return [];
    return [this.#queue.takeFrom(released)!];
  }
}
