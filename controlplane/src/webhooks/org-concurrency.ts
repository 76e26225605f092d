/**
 * How many worker slots an organization may hold. Beyond what it holds already it gets only as many as stay free for
 * others, so however many organizations hold all they can, the next one finds a slot; and no more than a quarter while
 * more than half are in use.
 */

export interface OrgSlots {
  readonly orgId: string;
  /** Further attempts that may start now. */
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

  /** Slots that are free. */
  get free(): number {
    return this.#slotCount - this.#inUse;
  }

  /** Room of an organization with nothing running. */
  get slotsOfIdleOrg(): number {
    return this.#freeSlotsFor(0);
  }

  /** Room of those with something running. */
  slotsOfRunningOrgs(): readonly OrgSlots[] {
    return [...this.#running].map(([orgId, running]) => ({ orgId, freeSlots: this.#freeSlotsFor(running) }));
  }

  #freeSlotsFor(running: number): number {
    const even = Math.ceil((this.free - running) / 2); // afterwards as many are free as it holds
    const quarter = this.#inUse > this.#slotCount / 2 ? this.#slotCount / 4 - running : even;
    return Math.max(0, Math.floor(Math.min(even, quarter)));
  }
}
