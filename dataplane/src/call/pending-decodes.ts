import { invariant } from '@acg/base/invariant';

/** Calls that have ended while their meters were still decoding: they are booked a moment later. */
export class PendingDecodes {
  #count = 0;
  #onNone: (() => void) | null = null;

  onStarted(): void {
    this.#count++;
  }

  onFinished(): void {
    if (!invariant(this.#count > 0, 'pending_decodes_not_negative')) return;
    if (--this.#count === 0) this.#onNone?.();
  }

  /** Resolves when there are none, or after `timeoutMs`. */
  waitUntilNone(timeoutMs: number): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onNone = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
