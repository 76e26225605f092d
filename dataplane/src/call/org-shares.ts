/**
 * Calls and WebSockets of each organization that are under way. One may use as many as it likes while less than half of
 * the process's places are taken; beyond that no more than its share, so that what one tenant holds is not everybody's.
 */
/** What one organization has under way. */
export interface OrgShare {
  readonly orgId: string;
  inflight: number;
}

/** A call, as far as its share is concerned. */
export interface ShareHolder {
  share: OrgShare | null;
}

export class OrgShares {
  readonly #perOrgMax: number;
  readonly #bindsFrom: number;
  /** Organizations with something under way. */
  readonly #orgs = new Map<string, OrgShare>();

  constructor(perOrgMax: number, inflightMax: number) {
    this.#perOrgMax = perOrgMax;
    this.#bindsFrom = inflightMax / 2;
  }

  /** `total`: calls under way, this one included. False: the organization has its share already. */
  take(x: ShareHolder, orgId: string, total: number): boolean {
    let share = this.#orgs.get(orgId);
    if (share === undefined) {
      share = { orgId, inflight: 0 };
      this.#orgs.set(orgId, share);
    } else if (total > this.#bindsFrom && share.inflight >= this.#perOrgMax) return false;
    share.inflight++;
    x.share = share;
    return true;
  }

  give(x: ShareHolder): void {
    const { share } = x;
    if (share === null) return;
    x.share = null;
    if (--share.inflight === 0) this.#orgs.delete(share.orgId);
  }
}
