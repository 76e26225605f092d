import { invariant } from '@acg/base/invariant-failures';
import { waitAtMost } from '@acg/base/wait-at-most';

/** Counts calls that have ended while their meters still decode the response; these calls are booked a few ms later. */
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

  /** Resolves when the count is 0, or after `timeoutMs`. */
  async waitUntilNone(timeoutMs: number): Promise<void> {
    if (this.#count === 0) return;
    const none = new Promise<void>((resolve) => (this.#onNone = resolve));
    await waitAtMost(none, timeoutMs);
  }
}
