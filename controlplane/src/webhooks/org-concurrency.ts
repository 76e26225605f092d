/**
 * Limits worker slots per organization. An organization gets a further slot only while at least as many slots stay free
 * as it holds, so that a newcomer always finds one. While more than half of all slots are in use, an organization gets
 * at most a quarter of them.
 */

export interface OrgSlots {
  readonly orgId: string;
  /** Attempts that may still start now. */
  readonly freeSlots: number;
}

export class OrgConcurrency {
  readonly #slotCount: number;
  readonly #running = new Map<string, number>();
  #inUse = 0;

  constructor(slots: number) {
    this.#slotCount = slots;
  }

  onStarted(orgId: string): void {
    this.#inUse++;
    this.#running.set(orgId, (this.#running.get(orgId) ?? 0) + 1);
  }

  onFinished(orgId: string): void {
    this.#inUse--;
    const running = (this.#running.get(orgId) ?? 1) - 1;
    if (running > 0) this.#running.set(orgId, running);
    else this.#running.delete(orgId);
  }

  /** Number of free slots. */
  get free(): number {
    return this.#slotCount - this.#inUse;
  }

  /** Slots available to an organization with no attempt in flight. */
  get slotsOfIdleOrg(): number {
    return this.#freeSlotsFor(0);
  }

  /** Slots available to the organizations with attempts in flight. */
  slotsOfRunningOrgs(): readonly OrgSlots[] {
    return [...this.#running].map(([orgId, running]) => ({ orgId, freeSlots: this.#freeSlotsFor(running) }));
  }

  #freeSlotsFor(running: number): number {
    const even = Math.ceil((this.free - running) / 2); // leaves as many slots free as the organization holds
    const quarter = this.#inUse > this.#slotCount / 2 ? this.#slotCount / 4 - running : even;
    return Math.max(0, Math.floor(Math.min(even, quarter)));
  }
}
