/**
 * Calls and WebSockets of each organization that are under way. An organization gets one more place only while it holds
 * fewer than {@link FREE_RATIO} times as many as are still free: the dynamic threshold of switches whose queues share
 * one memory (Choudhury and Hahne, 1998). So one alone may use all places but an 8th; that is where a newcomer starts at
 * once, and while others take what is free, whoever holds most gets nothing new until its own calls have ended and they
 * have caught up. However many organizations take all they can, some places are left: beside two a 15th, and so on.
 */

import { invariant } from '@acg/base/invariant';

/** What one organization has under way. */
export interface OrgInflight {
  readonly orgId: string;
  inflight: number;
}

/** A call, as far as its share is concerned. */
export interface SlotHolder {
  slot: OrgInflight | null;
}

export const FREE_RATIO = 7;

export class OrgConcurrencyLimiter {
  /** Never more, whatever is free. */
  readonly #perOrgMax: number;
  readonly #inflightMax: number;
  /** Organizations with something under way. */
  readonly #inflightByOrg = new Map<string, OrgInflight>();

  constructor(perOrgMax: number, inflightMax: number) {
    this.#perOrgMax = perOrgMax;
    this.#inflightMax = inflightMax;
  }

  /** `total`: calls under way, this one included. False: the organization has what it may have. */
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

  /** `held`: by this organization, of the `taken` ones. */
  #canAcquire(held: number, taken: number): boolean {
    return held < this.#perOrgMax && held < FREE_RATIO * (this.#inflightMax - taken);
  }
}
