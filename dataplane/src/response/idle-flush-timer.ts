/**
 * Flushes the bytes that responses hold back (see credential-mask.ts) after the provider has been silent for a second.
 * All responses share one timer, which runs only while at least one response is waiting.
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

  /** The response holds bytes back. */
  add(response: IdleResponse): void {
    this.#responses.add(response);
    this.#timer ??= setInterval(() => this.#flushIdle(performance.now()), CHECK_INTERVAL_MS).unref();
  }

  /** The response holds no bytes back any more. */
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
