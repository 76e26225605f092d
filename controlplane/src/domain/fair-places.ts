/**
 * A few places for costly work, given to client addresses (or organizations) in turn, so that whoever sends a thousand
 * requests waits behind itself and not in front of everybody else. When all waiting places are taken, the address with
 * most waiting loses its newest; so nobody can fill them against others.
 *
 * Work that its owner can make slow needs more than turns: an address gets a further place only while it has fewer than
 * `freeRatio` times as many as are free. At 1 one alone has half of them, and two a third each.
 */
import { TooManyAttempts } from './errors.js';

interface Options {
  readonly runningMax: number;
  readonly waitingMax: number;
  /** Of what there are too many, for the message. */
  readonly what: string;
  /** Absent: whoever is alone may have all places. */
  readonly freeRatio?: number;
}

interface Waiting {
  readonly start: () => void;
  readonly refuse: (error: Error) => void;
}

const RETRY_AFTER_S = 5;

export class FairPlaces {
  #running = 0;
  #waiting = 0;
  /** Addresses with something waiting, the next to be served first; each list oldest first. */
  readonly #lanes = new Map<string, Waiting[]>();

  /** Addresses with something running. */
  readonly #held = new Map<string, number>();

  constructor(readonly options: Options) {}

  /** Throws {@link TooManyAttempts} when the work lost its place. */
  async run<T>(address: string, work: () => Promise<T>): Promise<T> {
    const turn = this.enter(address);
    if (turn !== null) await turn;
    try {
      return await work();
    } finally {
      this.leave(address);
    }
  }

  /** Takes a place, to be given back with {@link leave}; null: at once. Rejects with {@link TooManyAttempts}. */
  enter(address: string): Promise<void> | null {
    if (!this.#mayRun(address)) return this.#wait(address); // who starts it has taken its place
    this.#take(address);
    return null;
  }

  leave(address: string): void {
    this.#give(address);
    for (let next = this.#next(); next !== null; next = this.#next()) next.start();
  }

  #mayRun(address: string): boolean {
    const { runningMax, freeRatio } = this.options;
    const free = runningMax - this.#running;
    return free > 0 && (freeRatio === undefined || (this.#held.get(address) ?? 0) < freeRatio * free);
  }

  #take(address: string): void {
    this.#running++;
    this.#held.set(address, (this.#held.get(address) ?? 0) + 1);
  }

  #give(address: string): void {
    this.#running--;
    const held = this.#held.get(address)! - 1;
    if (held === 0) this.#held.delete(address);
    else this.#held.set(address, held);
  }

  #wait(address: string): Promise<void> {
    return new Promise((start, refuse) => {
      const lane = this.#lanes.get(address);
      if (lane === undefined) this.#lanes.set(address, [{ start, refuse }]);
      else lane.push({ start, refuse });
      if (++this.#waiting > this.options.waitingMax) this.#dropNewestOfLongest();
    });
  }

  /** Takes a place for the address whose turn it is, which then goes to the end. Null: nobody may start. */
  #next(): Waiting | null {
    for (const [address, lane] of this.#lanes) {
      if (!this.#mayRun(address)) continue;
      const next = lane.shift()!;
      this.#waiting--;
      this.#lanes.delete(address);
      if (lane.length > 0) this.#lanes.set(address, lane);
      this.#take(address);
      return next;
    }
    return null;
  }

  #dropNewestOfLongest(): void {
    let longest: [string, Waiting[]] | null = null;
    for (const lane of this.#lanes) if (longest === null || lane[1].length > longest[1].length) longest = lane;
    if (longest === null) return;
    const [address, lane] = longest;
    const dropped = lane.pop();
    this.#waiting--;
    if (lane.length === 0) this.#lanes.delete(address);
    dropped?.refuse(new TooManyAttempts(`too many ${this.options.what} at once: try again`, RETRY_AFTER_S));
  }
}
