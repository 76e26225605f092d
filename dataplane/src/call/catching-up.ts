/** Calls that have ended while their meters were still decoding: they are booked a moment later. */
export class CatchingUp {
  #calls = 0;
  #onNone: (() => void) | null = null;

  began(): void {
    this.#calls++;
  }

  ended(): void {
    if (--this.#calls === 0) this.#onNone?.();
  }

  /** Resolves when there are none, or after `timeoutMs`. */
  none(timeoutMs: number): Promise<void> {
    if (this.#calls === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onNone = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
