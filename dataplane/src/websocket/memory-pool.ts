/**
 * Memory pool of all WebSockets of this process: unfinished messages of providers, and bytes that wait for a slow
 * provider or agent. Organizations share it like calls ({@link ORG_FRACTION}).
 *
 * Unlike a call, such bytes may stay forever, because a message need never end. So an organization that would hold less
 * than the largest one is not rejected. Instead, the pool reclaims the largest allocation of the largest organization.
 * Memory that tenants hold on purpose is theirs only until another organization needs it.
 */
import { DynamicShare } from '@acg/base/fairness/dynamic-share';
import { ORG_FRACTION } from '../concurrency/org-slots.js';

/** Memory that one WebSocket holds of the pool. */
export class MemoryAllocation {
  readonly #pool: MemoryPool;
  readonly #orgId: string;
  readonly #onReclaimed: () => void;
  #isReleased = false;
  #bytes = 0;

  constructor(pool: MemoryPool, orgId: string, onLost: () => void) {
    this.#pool = pool;
    this.#orgId = orgId;
    this.#onReclaimed = onLost;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Sets the held bytes. False: the organization may not hold more, and the allocation stays unchanged. */
  resize(bytes: number): boolean {
    if (this.#isReleased || !this.#pool.tryResize(this.#orgId, bytes - this.#bytes)) return false;
    this.#bytes = bytes;
    return true;
  }

  /** Releases all of it, once. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#pool.removeAllocation(this.#orgId, this);
    this.#bytes = 0;
  }

  /** Releases the allocation for another organization and notifies its owner. */
  reclaim(): void {
    this.release();
    this.#onReclaimed();
  }
}

export class MemoryPool {
  readonly #share: DynamicShare;
  readonly #allocationsByOrg = new Map<string, Set<MemoryAllocation>>();

  constructor(bytesMax: number) {
    this.#share = new DynamicShare({ capacity: bytesMax, fraction: ORG_FRACTION });
  }

  /** Bytes held. */
  get bytes(): number {
    return this.#share.used;
  }

  /** Organizations with a WebSocket; for tests of the bound. */
  get organizationCount(): number {
    return this.#allocationsByOrg.size;
  }

  /** `onLost`: the allocation was reclaimed, and its owner must free the memory at once. */
  allocate(orgId: string, onLost: () => void): MemoryAllocation {
    const allocation = new MemoryAllocation(this, orgId, onLost);
    const others = this.#allocationsByOrg.get(orgId);
    if (others === undefined) this.#allocationsByOrg.set(orgId, new Set([allocation]));
    else others.add(allocation);
    return allocation;
  }

  /** Takes `more` bytes for the organization, reclaiming memory of others where necessary; negative: releases them. */
  tryResize(orgId: string, more: number): boolean {
    if (more <= 0) this.#share.release(orgId, -more);
    else {
      while (!this.#share.tryTake(orgId, more)) {
        const [largestOrg, largestBytes] = this.#findLargestOrg();
        if (largestBytes <= this.#share.heldBy(orgId) + more) return false;
        findLargest(this.#allocationsByOrg.get(largestOrg)!).reclaim();
      }
    }
    return true;
  }

  removeAllocation(orgId: string, allocation: MemoryAllocation): void {
    this.#share.release(orgId, allocation.bytes);
    const allocations = this.#allocationsByOrg.get(orgId)!;
    allocations.delete(allocation);
    if (allocations.size === 0) this.#allocationsByOrg.delete(orgId);
  }

  #findLargestOrg(): readonly [orgId: string, bytes: number] {
    let largest: readonly [string, number] = ['', 0];
    for (const [orgId, { held }] of this.#share.lanes) if (held > largest[1]) largest = [orgId, held];
    return largest;
  }
}

/** `allocations` has at least one element. */
function findLargest(allocations: Iterable<MemoryAllocation>): MemoryAllocation {
  let found: MemoryAllocation | null = null;
  for (const one of allocations) if (found === null || one.bytes > found.bytes) found = one;
  return found!;
}
