/**
 * Slots of WebSockets, handshakes included (MAX_WEBSOCKETS), shared between organizations like those of calls. The
 * server buffers an agent's unfinished message internally, so only the number of WebSockets bounds that memory.
 */

import { invariant } from '@acg/base/invariant';
import { REJECTIONS, type Rejection } from '../rejection/rejections.js';
import { OrgConcurrencyLimiter, type SlotHolder } from './org-concurrency-limiter.js';

export class WebSocketLimiter {
  readonly #slotsMax: number;
  readonly #orgLimiter: OrgConcurrencyLimiter;
  #slotsUsed = 0;

  constructor(placesMax: number) {
    this.#slotsMax = placesMax;
    this.#orgLimiter = new OrgConcurrencyLimiter(placesMax, placesMax);
  }

  get slotsUsed(): number {
    return this.#slotsUsed;
  }

  /** Null: the slot was acquired. */
  acquire(holder: SlotHolder, orgId: string): Rejection | null {
    if (this.#slotsUsed >= this.#slotsMax) return REJECTIONS.overloaded;
    if (!this.#orgLimiter.tryAcquire(holder, orgId, this.#slotsUsed + 1)) return REJECTIONS.orgConcurrencyExceeded;
    this.#slotsUsed++;
    return null;
  }

  /** No effect for a holder without a slot. */
  release(holder: SlotHolder): void {
    if (holder.slot === null) return;
    if (invariant(this.#slotsUsed > 0, 'websocket_slots_not_negative')) this.#slotsUsed--;
    this.#orgLimiter.release(holder);
  }
}
