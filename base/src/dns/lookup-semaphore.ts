/** So many lookups at once for each tenant; further ones wait their turn, and only behind those of the same tenant. */

interface WaitingLookup {
  readonly sinceTick: number;
  readonly start: (admitted: boolean) => void;
}

interface TenantLookups {
  running: number;
  readonly waiting: WaitingLookup[];
}

export class LookupSemaphore {
  readonly #perTenant: number;
  readonly #waitingMax: number;
  readonly #waitMs: number;
  /** Tenants with a lookup under way. */
  readonly #tenants = new Map<string, TenantLookups>();

  /** `waitMs`: whoever has waited longer has given up, and is turned away instead of looked up. */
  constructor(perTenant: number, waitingMax: number, waitMs: number) {
    this.#perTenant = perTenant;
    this.#waitingMax = waitingMax;
    this.#waitMs = waitMs;
  }

  /** True: a slot is taken, to be given back. False: there are too many. */
  async acquire(tenant: string): Promise<boolean> {
    let slots = this.#tenants.get(tenant);
    if (slots === undefined) {
      slots = { running: 0, waiting: [] };
      this.#tenants.set(tenant, slots);
    }
    if (slots.running < this.#perTenant) {
      slots.running++;
      return true;
    }
    const { waiting } = slots;
    if (waiting.length >= this.#waitingMax) return false;
    return new Promise((start) => waiting.push({ sinceTick: performance.now(), start }));
  }

  release(tenant: string): void {
    const slots = this.#tenants.get(tenant)!;
    for (let next = slots.waiting.shift(); next !== undefined; next = slots.waiting.shift()) {
      const inTime = performance.now() - next.sinceTick < this.#waitMs;
      next.start(inTime);
      if (inTime) return; // the slot passes on
    }
    if (--slots.running === 0) this.#tenants.delete(tenant);
  }
}
