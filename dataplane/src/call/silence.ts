/**
 * Responses that hold back their last bytes (see upstream/mask.ts) when the provider falls silent: after a second the
 * bytes leave. One clock for all of them, and only while there are any; how long it takes depends on the silence alone.
 */
import { Bag, type BagItem } from '@acg/base/bag';

export interface SilentResponse extends BagItem {
  /** `performance.now()` of the last bytes from upstream. */
  heardTick: number;
  releaseHeld(): void;
}

const SILENCE_MS = 1_000;
const LOOK_MS = 250;

export class SilenceWatch {
  readonly #responses = new Bag<SilentResponse>();
  #timer: NodeJS.Timeout | null = null;

  get size(): number {
    return this.#responses.size;
  }

  /** Bytes of it wait. */
  add(response: SilentResponse): void {
    this.#responses.add(response);
    this.#timer ??= setInterval(() => this.#look(performance.now()), LOOK_MS).unref();
  }

  /** Nothing of it waits any more. */
  delete(response: SilentResponse): void {
    this.#responses.delete(response);
  }

  #look(nowTick: number): void {
    this.#responses.forEach((response) => {
      if (nowTick - response.heardTick < SILENCE_MS) return;
      this.#responses.delete(response);
      response.releaseHeld();
    });
    if (this.#responses.size > 0) return;
    clearInterval(this.#timer!);
    this.#timer = null;
  }
}
