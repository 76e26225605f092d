/**
 * Limits worker slots per organization. An organization gets a further slot only while at least as many slots stay free
 * as it holds, so that a newcomer always finds one. While more than half of all slots are in use, an organization gets
 * at most a quarter of them.
 */
import { DynamicShare } from '@acg/base/fairness/dynamic-share';

export interface OrgSlots {
  readonly orgId: string;
  /** Attempts that may still start now. */
  readonly freeSlots: number;
}

export class OrgConcurrency {
  readonly #slotCount: number;
  readonly #share: DynamicShare;

  constructor(slots: number) {
    this.#slotCount = slots;
    this.#share = new DynamicShare({ capacity: slots, fraction: 1 / 2 });
  }

  onStarted(orgId: string): void {
    this.#share.take(orgId);
  }

  onFinished(orgId: string): void {
    this.#share.release(orgId);
  }

  /** Number of free slots. */
  get free(): number {
    return this.#share.free;
  }

  /** Slots available to an organization with no attempt in flight. */
  get slotsOfIdleOrg(): number {
    return this.#freeSlotsFor('');
  }

  /** Slots available to the organizations with attempts in flight. */
  slotsOfRunningOrgs(): readonly OrgSlots[] {
    return [...this.#share.lanes.keys()].map((orgId) => ({ orgId, freeSlots: this.#freeSlotsFor(orgId) }));
  }

  #freeSlotsFor(orgId: string): number {
    const orgMax = this.#share.used > this.#slotCount / 2 ? this.#slotCount / 4 : this.#slotCount;
    return Math.max(0, Math.floor(this.#share.available(orgId, this.#share.free, orgMax)));
  }
}
