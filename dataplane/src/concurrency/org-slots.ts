/**
 * Slots for calls or WebSockets in flight, shared between organizations ({@link DynamicShare}). A single organization
 * may use all but one eighth, so a newcomer can start at once.
 */
import { DynamicShare } from '@acg/base/fairness/dynamic-share';
import { invariant } from '@acg/base/invariant-failures';
import { REJECTIONS, type Rejection } from '../rejection/rejections.js';

/** A call or WebSocket that can hold a slot. */
export interface SlotHolder {
  /** The organization whose slot it holds; null: it holds none. */
  slotOrgId: string | null;
}

/** Part of the slots or bytes in flight that one organization alone may hold. */
export const ORG_FRACTION = 7 / 8;

export class OrgSlots {
  readonly #share: DynamicShare;

  /** `perOrgMax`: upper bound for each organization, however many slots are free. */
  constructor(slotsMax: number, perOrgMax = slotsMax) {
    this.#share = new DynamicShare({ capacity: slotsMax, fraction: ORG_FRACTION, laneMax: perOrgMax });
  }

  get used(): number {
    return this.#share.used;
  }

  /** Acquires a slot for the holder; null: acquired. `free`: free slots, where others than these holders use some. */
  acquire(holder: SlotHolder, orgId: string, free = this.#share.free): Rejection | null {
    if (!invariant(holder.slotOrgId === null, 'slot_acquired_once')) return null;
    if (free <= 0) return REJECTIONS.overloaded;
    if (!this.#share.tryTake(orgId, 1, free)) return REJECTIONS.orgConcurrencyExceeded;
    holder.slotOrgId = orgId;
    return null;
  }

  /** No effect for a holder without a slot. */
  release(holder: SlotHolder): void {
    if (holder.slotOrgId === null) return;
    this.#share.release(holder.slotOrgId);
    holder.slotOrgId = null;
  }
}
