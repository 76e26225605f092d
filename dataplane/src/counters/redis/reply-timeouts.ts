/**
 * Reply timeout of store calls: one duration and one timer for all, because a timer for each takes 3 µs a call at low
 * load. The timeout measures the store, not this process's event loop: when the timer fires, the loop polls for I/O
 * once more, and only calls without a reply after that poll are timed out (docs/contract.md#counter-store-outage). So a
 * reply that arrived in time always counts, however busy this process was.
 */
import type { SwapRemoveItem, SwapRemoveSet } from '@acg/base/swap-remove-set';

interface AwaitedReply extends SwapRemoveItem {
  /** `performance.now()` of the send. */
  readonly sentAtMs: number;
  /** Set when the timeout has passed. */
  isTimedOut: boolean;
}

export class ReplyTimeouts<T extends AwaitedReply> {
  readonly #timeoutMs: number;
  readonly #inflight: Pick<SwapRemoveSet<T>, 'forEach'>;
  readonly #onTimeout: (call: T) => void;
  #timer: NodeJS.Timeout | null = null;

  /** `inflight` holds the calls without a reply. */
  constructor(timeoutMs: number, inflight: Pick<SwapRemoveSet<T>, 'forEach'>, onTimeout: (call: T) => void) {
    this.#timeoutMs = timeoutMs;
    this.#inflight = inflight;
    this.#onTimeout = onTimeout;
  }

  /** Call it after each send. */
  watch(delayMs = this.#timeoutMs): void {
    this.#timer ??= setTimeout(() => {
      // Node runs timers before the poll phase and immediates after it.
      const sentUntilMs = performance.now() - this.#timeoutMs;
      setImmediate(() => this.#expire(sentUntilMs));
    }, delayMs);
  }

  #expire(sentUntilMs: number): void {
    this.#timer = null;
    let oldestMs = Number.POSITIVE_INFINITY;
    this.#inflight.forEach((call) => {
      if (call.isTimedOut) return;
      if (call.sentAtMs > sentUntilMs) oldestMs = Math.min(oldestMs, call.sentAtMs);
      else {
        call.isTimedOut = true;
        this.#onTimeout(call);
      }
    });
    if (oldestMs < Number.POSITIVE_INFINITY)
      this.watch(Math.max(1, Math.ceil(oldestMs + this.#timeoutMs - performance.now())));
  }
}
