/**
 * A semaphore that grants slots for costly work to keys (client networks or organizations) in turn. A key with a
 * thousand requests delays only its own requests. When the queue is full, the key with the longest queue loses its
 * newest request.
 *
 * `freeRatio` is for work that its owner can make slow. A key gets a further slot only while it holds fewer than
 * `freeRatio` times the free slots. With a ratio of 1, one key alone gets half of the slots, and two keys get a third
 * each.
 */
import { invariant } from '@acg/base/invariant';
import { TooManyAttempts } from '../domain/errors.js';

interface FairSemaphoreOptions {
  readonly runningMax: number;
  readonly waitingMax: number;
  /** What is limited, in the plural, for the error message. */
  readonly subject: string;
  /** Absent: a single key may hold all slots. */
  readonly freeRatio?: number;
}

interface Waiter {
  readonly start: () => void;
  readonly reject: (error: Error) => void;
}

const RETRY_AFTER_S = 5;

export class FairSemaphore {
  #running = 0;
  #waiting = 0;
  /** Waiters by key, the key to be served next first; each list oldest first. */
  readonly #queues = new Map<string, Waiter[]>();

  /** Slots held, by key. */
  readonly #heldByKey = new Map<string, number>();

  constructor(readonly options: FairSemaphoreOptions) {}

  /** Throws {@link TooManyAttempts} when the work is dropped from the queue. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const acquired = this.acquire(key);
    if (acquired !== null) await acquired;
    try {
      return await work();
    } finally {
      this.release(key);
    }
  }

  /**
   * Acquires a slot, which the caller must return with {@link release}. Null: acquired at once. Rejects with {@link
   * TooManyAttempts}.
   */
  acquire(key: string): Promise<void> | null {
    if (!this.#canAcquire(key)) return this.#enqueue(key); // the caller that dequeues it acquires its slot
    this.#addHolder(key);
    return null;
  }

  release(key: string): void {
    this.#removeHolder(key);
    for (let next = this.#dequeue(); next !== null; next = this.#dequeue()) next.start();
  }

  #canAcquire(key: string): boolean {
    const { runningMax, freeRatio } = this.options;
    const free = runningMax - this.#running;
    return free > 0 && (freeRatio === undefined || (this.#heldByKey.get(key) ?? 0) < freeRatio * free);
  }

  #addHolder(key: string): void {
    this.#running++;
    this.#heldByKey.set(key, (this.#heldByKey.get(key) ?? 0) + 1);
  }

  #removeHolder(key: string): void {
    const held = (this.#heldByKey.get(key) ?? 0) - 1;
    if (!invariant(held >= 0, 'semaphore_released_once')) return;
    this.#running--;
    if (held === 0) this.#heldByKey.delete(key);
    else this.#heldByKey.set(key, held);
  }

  #enqueue(key: string): Promise<void> {
    return new Promise((start, reject) => {
      const queue = this.#queues.get(key);
      if (queue === undefined) this.#queues.set(key, [{ start, reject: reject }]);
      else queue.push({ start, reject: reject });
      if (++this.#waiting > this.options.waitingMax) this.#rejectNewestOfLongestQueue();
    });
  }

  /** Acquires a slot for the next key in turn, which then moves to the end. Null: no waiter may start. */
  #dequeue(): Waiter | null {
    for (const [key, queue] of this.#queues) {
      if (!this.#canAcquire(key)) continue;
      const next = queue.shift()!;
      this.#waiting--;
      this.#queues.delete(key);
      if (queue.length > 0) this.#queues.set(key, queue);
      this.#addHolder(key);
      return next;
    }
    return null;
  }

  #rejectNewestOfLongestQueue(): void {
    let longest: [string, Waiter[]] | null = null;
    for (const entry of this.#queues) if (longest === null || entry[1].length > longest[1].length) longest = entry;
    if (longest === null) return;
    const [key, queue] = longest;
    const dropped = queue.pop();
    this.#waiting--;
    if (queue.length === 0) this.#queues.delete(key);
    dropped?.reject(new TooManyAttempts(`too many ${this.options.subject} at once: try again`, RETRY_AFTER_S));
  }
}
