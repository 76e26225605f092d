/** When this process's event loop stood still: a timeout of that time says nothing about the other side. */

const CHECK_INTERVAL_MS = 250;
/** A turn that is so much late is a stall. */
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

  /** Whether the loop stood still at any time since then (`performance.now()`). */
  hasStalledSince(ms: number): boolean {
    return this.#stallEndedAtPerfMs >= ms || performance.now() - this.#checkedAtPerfMs > CHECK_INTERVAL_MS + STALL_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
