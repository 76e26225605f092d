/**
 * Responses that hold back their last bytes (see upstream/mask.ts) when the provider falls silent: after a second the
 * bytes leave. One clock for all of them, and only while there are any; how long it takes depends on the silence alone.
 */
import { type SwapRemoveItem, SwapRemoveSet } from '@acg/base/swap-remove-set';

export interface IdleResponse extends SwapRemoveItem {
  /** `performance.now()` of the last bytes from upstream. */
  lastDataAtPerfMs: number;
  flushHeldBytes(): void;
}

const IDLE_TIMEOUT_MS = 1_000;
const CHECK_INTERVAL_MS = 250;

export class IdleFlushTimer {
  readonly #responses = new SwapRemoveSet<IdleResponse>();
  #timer: NodeJS.Timeout | null = null;

  get size(): number {
    return this.#responses.size;
  }

  /** Bytes of it wait. */
  add(response: IdleResponse): void {
    this.#responses.add(response);
    this.#timer ??= setInterval(() => this.#flushIdle(performance.now()), CHECK_INTERVAL_MS).unref();
  }

  /** Nothing of it waits any more. */
  delete(response: IdleResponse): void {
    this.#responses.delete(response);
  }

  #flushIdle(nowTick: number): void {
    this.#responses.forEach((response) => {
      if (nowTick - response.lastDataAtPerfMs < IDLE_TIMEOUT_MS) return;
      this.#responses.delete(response);
      response.flushHeldBytes();
    });
    if (this.#responses.size > 0) return;
    clearInterval(this.#timer!);
    this.#timer = null;
  }
}
