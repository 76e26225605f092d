/** Detects stalls of this process's event loop: a timeout during a stall says nothing about the remote side. */

const CHECK_INTERVAL_MS = 250;
/** A check that is this late, ms, counts as a stall. */
const STALL_MS = 1_000;

export class EventLoopStallDetector {
  readonly #timer: NodeJS.Timeout;
  #checkedAtPerfMs = performance.now();
  #stallEndedAtPerfMs = Number.NEGATIVE_INFINITY;

  constructor() {
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      if (nowMs - this.#checkedAtPerfMs > CHECK_INTERVAL_MS + STALL_MS) this.#stallEndedAtPerfMs = nowMs;
      this.#checkedAtPerfMs = nowMs;
    }, CHECK_INTERVAL_MS).unref();
  }

  /** Whether the loop stalled at any time since `ms` (`performance.now()`). */
  hasStalledSince(ms: number): boolean {
    return this.#stallEndedAtPerfMs >= ms || performance.now() - this.#checkedAtPerfMs > CHECK_INTERVAL_MS + STALL_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
