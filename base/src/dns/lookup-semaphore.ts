/** Limits concurrent DNS lookups for each tenant. Further lookups queue behind those of the same tenant only. */

interface WaitingLookup {
  readonly queuedAtPerfMs: number;
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
  /** Tenants with a lookup in progress. */
  readonly #tenants = new Map<string, TenantLookups>();

  /** `waitMs`: a lookup that has queued longer is rejected instead of started, because its caller has given up. */
  constructor(perTenant: number, waitingMax: number, waitMs: number) {
    this.#perTenant = perTenant;
    this.#waitingMax = waitingMax;
    this.#waitMs = waitMs;
  }

  /** True: a slot was acquired and must be released. False: too many lookups of the tenant are queued. */
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
    return new Promise((start) => waiting.push({ queuedAtPerfMs: performance.now(), start }));
  }

  release(tenant: string): void {
    const slots = this.#tenants.get(tenant)!;
    for (let next = slots.waiting.shift(); next !== undefined; next = slots.waiting.shift()) {
      const inTime = performance.now() - next.queuedAtPerfMs < this.#waitMs;
      next.start(inTime);
      if (inTime) return; // the released slot goes to this lookup
    }
    if (--slots.running === 0) this.#tenants.delete(tenant);
  }
}
