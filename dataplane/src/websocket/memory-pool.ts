/**
 * Bytes that WebSockets make this process hold, in one pool: what came of a provider's unfinished message, and what
 * waits for a provider or an agent that reads slowly. An organization's bytes may grow as long as they then are at most
 * {@link FREE_RATIO} times those that are still free: the rule of call/org-shares.ts.
 *
 * Unlike a call, such bytes may stay for ever: a message need never end. So whoever would hold less than the organization
 * that holds most is not refused; that one loses what its largest holder has. What many tenants hold on purpose is
 * theirs only until somebody else needs it.
 */
import { FREE_RATIO } from '../concurrency/org-concurrency-limiter.js';

/** Bytes of one organization. */
interface OrgAllocations {
  readonly orgId: string;
  bytes: number;
  readonly allocations: Set<MemoryAllocation>;
}

/** What one WebSocket holds of the pool. */
export class MemoryAllocation {
  readonly #pool: MemoryPool;
  readonly #onReclaimed: () => void;
  #org: OrgAllocations | null;
  #bytes = 0;

  constructor(pool: MemoryPool, org: OrgAllocations, onLost: () => void) {
    this.#pool = pool;
    this.#org = org;
    this.#onReclaimed = onLost;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** It holds so many from now on. False: it may not have more, and holds what it held. */
  resize(bytes: number): boolean {
    const org = this.#org;
    if (org === null) return false;
    const more = bytes - this.#bytes;
    if (more > 0 && !this.#pool.tryMakeRoom(org, more)) return false;
    this.#bytes = bytes;
    this.#pool.add(org, more);
    return true;
  }

  /** Gives back all of it, once. */
  release(): void {
    const org = this.#org;
    if (org === null) return;
    this.#org = null;
    this.#pool.add(org, -this.#bytes);
    this.#bytes = 0;
    this.#pool.removeAllocation(org, this);
  }

  /** Somebody else needs it. */
  reclaim(): void {
    this.release();
    this.#onReclaimed();
  }
}

export class MemoryPool {
  readonly #bytesMax: number;
  readonly #orgs = new Map<string, OrgAllocations>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Organizations with a WebSocket; for tests of the bound. */
  get organizationCount(): number {
    return this.#orgs.size;
  }

  /** `onLost`: it holds nothing any more, and must let go of what it has at once. */
  allocate(orgId: string, onLost: () => void): MemoryAllocation {
    let org = this.#orgs.get(orgId);
    if (org === undefined) {
      org = { orgId, bytes: 0, allocations: new Set() };
      this.#orgs.set(orgId, org);
    }
    const holding = new MemoryAllocation(this, org, onLost);
    org.allocations.add(holding);
    return holding;
  }

  /** Room for `more` bytes of that organization, made where there is none. */
  tryMakeRoom(org: OrgAllocations, more: number): boolean {
    while (org.bytes + more > FREE_RATIO * (this.#bytesMax - this.#bytes - more)) {
      const most = findLargest(this.#orgs.values());
      if (most.bytes <= org.bytes + more) return false;
      findLargest(most.allocations).reclaim();
    }
    return true;
  }

  add(org: OrgAllocations, bytes: number): void {
    org.bytes += bytes;
    this.#bytes += bytes;
  }

  removeAllocation(org: OrgAllocations, holding: MemoryAllocation): void {
    org.allocations.delete(holding);
    if (org.allocations.size === 0) this.#orgs.delete(org.orgId);
  }
}

/** Of at least one. */
function findLargest<Sized extends { readonly bytes: number }>(all: Iterable<Sized>): Sized {
  let found: Sized | null = null;
  for (const one of all) if (found === null || one.bytes > found.bytes) found = one;
  return found!;
}
