/**
 * A few places for costly work, given to client addresses in turn, so that whoever sends a thousand requests waits behind
 * itself and not in front of everybody else. When all waiting places are taken, the address with most waiting loses its
 * newest; so nobody can fill them against others.
 */
import { TooManyAttempts } from '../domain/errors.js';

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

  constructor(
    readonly runningMax: number,
    readonly waitingMax: number,
    /** Of what there are too many, for the message. */
    readonly what = 'sign-ins',
  ) {}

  /** Throws {@link TooManyAttempts} when the work lost its place. */
  async run<T>(address: string, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.runningMax) this.#running++;
    else await this.#wait(address); // its place is handed over, not freed
    try {
      return await work();
    } finally {
      const next = this.#next();
      if (next === undefined) this.#running--;
      else next.start();
    }
  }

  #wait(address: string): Promise<void> {
    return new Promise((start, refuse) => {
      const lane = this.#lanes.get(address);
      if (lane === undefined) this.#lanes.set(address, [{ start, refuse }]);
      else lane.push({ start, refuse });
      if (++this.#waiting > this.waitingMax) this.#dropNewestOfLongest();
    });
  }

  /** Of the address whose turn it is, which then goes to the end. */
  #next(): Waiting | undefined {
    const [turn] = this.#lanes;
    if (turn === undefined) return undefined;
    const [address, lane] = turn;
    const next = lane.shift();
    this.#waiting--;
    this.#lanes.delete(address);
    if (lane.length > 0) this.#lanes.set(address, lane);
    return next;
  }

  #dropNewestOfLongest(): void {
    let longest: [string, Waiting[]] | null = null;
    for (const lane of this.#lanes) if (longest === null || lane[1].length > longest[1].length) longest = lane;
    if (longest === null) return;
    const [address, lane] = longest;
    const dropped = lane.pop();
    this.#waiting--;
    if (lane.length === 0) this.#lanes.delete(address);
    dropped?.refuse(new TooManyAttempts(`too many ${this.what} at once: try again`, RETRY_AFTER_S));
  }
}
