/**
 * Limits the calls and WebSockets in flight of each organization. An organization gets another slot only while it has
 * fewer than {@link FREE_RATIO} times as many as are free: the dynamic threshold of switches whose queues share one
 * memory (Choudhury and Hahne, 1998).
 *
 * A single organization may use all slots but one eighth, so a newcomer can start at once. While others take free
 * slots, the organization with most slots gets none until its own calls have ended and the others have caught up.
 * However many organizations take all they can, some slots stay free: with two, one fifteenth, and so on.
 */

import { invariant } from '@acg/base/invariant';

/** The slots in use by one organization. */
export interface OrgInflight {
  readonly orgId: string;
  inflight: number;
}

/** A call or WebSocket that can hold a slot; null: it has none. */
export interface SlotHolder {
  slot: OrgInflight | null;
}

export const FREE_RATIO = 7;

export class OrgConcurrencyLimiter {
  /** Upper bound for each organization, however many slots are free. */
  readonly #perOrgMax: number;
  readonly #inflightMax: number;
  /** Organizations with at least one slot in use. */
  readonly #inflightByOrg = new Map<string, OrgInflight>();

  constructor(perOrgMax: number, inflightMax: number) {
    this.#perOrgMax = perOrgMax;
    this.#inflightMax = inflightMax;
  }

  /**
   * Acquires a slot for the holder. `total`: calls in flight, this one included. Returns false when the organization is
   * at its limit.
   */
  tryAcquire(holder: SlotHolder, orgId: string, total: number): boolean {
    if (!invariant(holder.slot === null, 'slot_acquired_once')) return true;
    let share = this.#inflightByOrg.get(orgId);
    if (share === undefined) {
      share = { orgId, inflight: 0 };
      this.#inflightByOrg.set(orgId, share);
    } else if (!this.#canAcquire(share.inflight, total - 1)) return false;
    share.inflight++;
    holder.slot = share;
    return true;
  }

  release(holder: SlotHolder): void {
    const { slot: share } = holder;
    if (share === null) return;
    holder.slot = null;
    if (!invariant(share.inflight > 0, 'org_inflight_not_negative')) return;
    if (--share.inflight === 0) this.#inflightByOrg.delete(share.orgId);
  }

  /** `held`: slots in use by this organization; `taken`: slots in use by all. */
  #canAcquire(held: number, taken: number): boolean {
    return held < this.#perOrgMax && held < FREE_RATIO * (this.#inflightMax - taken);
  }
}
