/**
 * A few places for costly work, given to client addresses (or organizations) in turn, so that whoever sends a thousand
 * requests waits behind itself and not in front of everybody else. When all waiting places are taken, the address with
 * most waiting loses its newest; so nobody can fill them against others.
 *
 * Work that its owner can make slow needs more than turns: an address gets a further place only while it has fewer than
 * `freeRatio` times as many as are free. At 1 one alone has half of them, and two a third each.
 */
import { TooManyAttempts } from '../domain/errors.js';

interface FairSemaphoreOptions {
  readonly runningMax: number;
  readonly waitingMax: number;
  /** Of what there are too many, for the message. */
  readonly subject: string;
  /** Absent: whoever is alone may have all places. */
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
  /** Addresses with something waiting, the next to be served first; each list oldest first. */
  readonly #queues = new Map<string, Waiter[]>();

  /** Addresses with something running. */
  readonly #heldByKey = new Map<string, number>();

  constructor(readonly options: FairSemaphoreOptions) {}

  /** Throws {@link TooManyAttempts} when the work lost its place. */
  async run<T>(address: string, work: () => Promise<T>): Promise<T> {
    const turn = this.acquire(address);
    if (turn !== null) await turn;
    try {
      return await work();
    } finally {
      this.release(address);
    }
  }

  /** Takes a place, to be given back with {@link release}; null: at once. Rejects with {@link TooManyAttempts}. */
  acquire(address: string): Promise<void> | null {
    if (!this.#canAcquire(address)) return this.#enqueue(address); // who starts it has taken its place
    this.#addHolder(address);
    return null;
  }

  release(address: string): void {
    this.#removeHolder(address);
    for (let next = this.#dequeue(); next !== null; next = this.#dequeue()) next.start();
  }

  #canAcquire(address: string): boolean {
    const { runningMax, freeRatio } = this.options;
    const free = runningMax - this.#running;
    return free > 0 && (freeRatio === undefined || (this.#heldByKey.get(address) ?? 0) < freeRatio * free);
  }

  #addHolder(address: string): void {
    this.#running++;
    this.#heldByKey.set(address, (this.#heldByKey.get(address) ?? 0) + 1);
  }

  #removeHolder(address: string): void {
    this.#running--;
    const held = this.#heldByKey.get(address)! - 1;
    if (held === 0) this.#heldByKey.delete(address);
    else this.#heldByKey.set(address, held);
  }

  #enqueue(address: string): Promise<void> {
    return new Promise((start, refuse) => {
      const lane = this.#queues.get(address);
      if (lane === undefined) this.#queues.set(address, [{ start, reject: refuse }]);
      else lane.push({ start, reject: refuse });
      if (++this.#waiting > this.options.waitingMax) this.#rejectNewestOfLongestQueue();
    });
  }

  /** Takes a place for the address whose turn it is, which then goes to the end. Null: nobody may start. */
  #dequeue(): Waiter | null {
    for (const [address, lane] of this.#queues) {
      if (!this.#canAcquire(address)) continue;
      const next = lane.shift()!;
      this.#waiting--;
      this.#queues.delete(address);
      if (lane.length > 0) this.#queues.set(address, lane);
      this.#addHolder(address);
      return next;
    }
    return null;
  }

  #rejectNewestOfLongestQueue(): void {
    let longest: [string, Waiter[]] | null = null;
    for (const lane of this.#queues) if (longest === null || lane[1].length > longest[1].length) longest = lane;
    if (longest === null) return;
    const [address, lane] = longest;
    const dropped = lane.pop();
    this.#waiting--;
    if (lane.length === 0) this.#queues.delete(address);
    dropped?.reject(new TooManyAttempts(`too many ${this.options.subject} at once: try again`, RETRY_AFTER_S));
  }
}
