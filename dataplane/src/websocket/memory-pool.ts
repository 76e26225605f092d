/**
 * Memory pool of all WebSockets of this process: unfinished messages of providers, and bytes that wait for a slow
 * provider or agent. An organization may grow while its bytes are at most {@link FREE_RATIO} times the free ones, as in
 * concurrency/org-concurrency-limiter.ts.
 *
 * Unlike a call, such bytes may stay forever, because a message need never end. So an organization that would hold less
 * than the largest one is not rejected. Instead, the pool reclaims the largest allocation of the largest organization.
 * Memory that tenants hold on purpose is theirs only until another organization needs it.
 */
import { invariant } from '@acg/base/invariant';
import { FREE_RATIO } from '../concurrency/org-concurrency-limiter.js';

/** Bytes of one organization. */
interface OrgAllocations {
  readonly orgId: string;
  bytes: number;
  readonly allocations: Set<MemoryAllocation>;
}

/** Memory that one WebSocket holds of the pool. */
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

  /** Sets the held bytes. False: the organization may not hold more, and the allocation stays unchanged. */
  resize(bytes: number): boolean {
    const org = this.#org;
    if (org === null) return false;
    const more = bytes - this.#bytes;
    if (more > 0 && !this.#pool.tryMakeRoom(org, more)) return false;
    this.#bytes = bytes;
    this.#pool.add(org, more);
    return true;
  }

  /** Releases all of it, once. */
  release(): void {
    const org = this.#org;
    if (org === null) return;
    this.#org = null;
    this.#pool.add(org, -this.#bytes);
    this.#bytes = 0;
    this.#pool.removeAllocation(org, this);
  }

  /** Releases the allocation for another organization and notifies its owner. */
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

  /** `onLost`: the allocation was reclaimed, and its owner must free the memory at once. */
  allocate(orgId: string, onLost: () => void): MemoryAllocation {
    let org = this.#orgs.get(orgId);
    if (org === undefined) {
      org = { orgId, bytes: 0, allocations: new Set() };
      this.#orgs.set(orgId, org);
    }
    const allocation = new MemoryAllocation(this, org, onLost);
    org.allocations.add(allocation);
    return allocation;
  }

  /** Returns whether `more` bytes fit for the organization, reclaiming memory of others where necessary. */
  tryMakeRoom(org: OrgAllocations, more: number): boolean {
    while (org.bytes + more > FREE_RATIO * (this.#bytesMax - this.#bytes - more)) {
      const most = findLargest(this.#orgs.values());
      if (most.bytes <= org.bytes + more) return false;
      findLargest(most.allocations).reclaim();
    }
    return true;
  }

  add(org: OrgAllocations, bytes: number): void {
    if (!invariant(org.bytes + bytes >= 0, 'websocket_memory_not_negative')) return;
    org.bytes += bytes;
    this.#bytes += bytes;
  }

  removeAllocation(org: OrgAllocations, holding: MemoryAllocation): void {
    org.allocations.delete(holding);
    if (org.allocations.size === 0) this.#orgs.delete(org.orgId);
  }
}

/** Returns the largest; `all` has at least one element. */
function findLargest<Sized extends { readonly bytes: number }>(all: Iterable<Sized>): Sized {
  let found: Sized | null = null;
  for (const one of all) if (found === null || one.bytes > found.bytes) found = one;
  return found!;
}
