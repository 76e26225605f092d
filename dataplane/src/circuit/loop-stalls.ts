/** When this process's event loop stood still: a timeout of that time says nothing about the other side. */

const TICK_MS = 250;
/** A turn that is so much late is a stall. */
const STALL_MS = 1_000;

export class LoopStalls {
  readonly #timer: NodeJS.Timeout;
  #tickedMs = performance.now();
  #stallEndedMs = Number.NEGATIVE_INFINITY;

  constructor() {
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      if (nowMs - this.#tickedMs > TICK_MS + STALL_MS) this.#stallEndedMs = nowMs;
      this.#tickedMs = nowMs;
    }, TICK_MS).unref();
  }

  /** Whether the loop stood still at any time since then (`performance.now()`). */
  since(ms: number): boolean {
    return this.#stallEndedMs >= ms || performance.now() - this.#tickedMs > TICK_MS + STALL_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
