/** Finds cached entries by what an invalidation names. Removed with the entry, so it is bounded as the cache is. */
import type { AgentContext } from './agent-context.js';
import { affectsContext, type Invalidation, parseOwnerId } from './invalidation.js';

/** A cached context; itself the answer of a hit. */
export interface ContextEntry {
  readonly cacheKey: string;
  readonly context: AgentContext;
  readonly rejection: null;
  readonly revision: number;
  /** About what it takes in memory. */
  readonly bytes: number;
  readonly resolvedAtMs: number;
  /** Steady ms; moved on by a failed refresh. */
  refreshAtMs: number;
  /** Of its organization, those that were put in before and after it; null at the ends, and outside of the index. */
  older: ContextEntry | null;
  newer: ContextEntry | null;
}

/**
 * What an organization has in the cache, as a list: an iterator over its set that waits for its next use would keep all
 * that was ever replaced, and a new one each time would pass the places of all that has left.
 */
interface OrgEntries {
  bytes: number;
  oldest: ContextEntry | null;
  newest: ContextEntry | null;
}

type Buckets = Map<string, Set<ContextEntry>>;

export class InvalidationIndex {
  readonly #byKey: Buckets = new Map();
  readonly #byAgent: Buckets = new Map();
  readonly #byProject: Buckets = new Map();
  readonly #byOrg: Buckets = new Map();
  readonly #entriesByOrg = new Map<string, OrgEntries>();

  /** That have something cached. */
  get organizationCount(): number {
    return this.#entriesByOrg.size;
  }

  orgUsage(orgId: string): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#byOrg.get(orgId)?.size ?? 0, bytes: this.#entriesByOrg.get(orgId)?.bytes ?? 0 };
  }

  /** Resolved longest ago: one that is in use is resolved anew now and then. Null: there is none. */
  oldestOf(orgId: string): ContextEntry | null {
    return this.#entriesByOrg.get(orgId)?.oldest ?? null;
  }

  add(entry: ContextEntry): void {
    const { context } = entry;
    addToBucket(this.#byKey, context.keyId, entry);
    addToBucket(this.#byAgent, context.agentId, entry);
    addToBucket(this.#byProject, context.projectId, entry);
    addToBucket(this.#byOrg, context.orgId, entry);
    let share = this.#entriesByOrg.get(context.orgId);
    if (share === undefined) {
      share = { bytes: 0, oldest: null, newest: null };
      this.#entriesByOrg.set(context.orgId, share);
    }
    appendEntry(share, entry);
  }

  remove(entry: ContextEntry): void {
    const { context } = entry;
    removeFromBucket(this.#byKey, context.keyId, entry);
    removeFromBucket(this.#byAgent, context.agentId, entry);
    removeFromBucket(this.#byProject, context.projectId, entry);
    if (!removeFromBucket(this.#byOrg, context.orgId, entry)) return;
    unlinkEntry(this.#entriesByOrg.get(context.orgId)!, entry);
    if (!this.#byOrg.has(context.orgId)) this.#entriesByOrg.delete(context.orgId);
  }

  /** A copy: the caller may remove while it walks. */
  findAffected(invalidation: Invalidation): readonly ContextEntry[] {
    const { kind, id } = invalidation;
    if (kind === 'provider') {
      // Rare, so the organization's entries are walked instead of kept by provider.
      const all = this.#byOrg.get(parseOwnerId(id)) ?? [];
      return [...all].filter((entry) => affectsContext(invalidation, entry.context));
    }
    if (kind === 'account') return [...(this.#byAgent.get(parseOwnerId(id)) ?? [])];
    return [...(this.#bucketsOf(kind).get(id) ?? [])];
  }

  #bucketsOf(kind: 'key' | 'agent' | 'project' | 'org'): Buckets {
    if (kind === 'key') return this.#byKey;
    if (kind === 'agent') return this.#byAgent;
    return kind === 'project' ? this.#byProject : this.#byOrg;
  }
}

function addToBucket(buckets: Buckets, id: string, entry: ContextEntry): void {
  const bucket = buckets.get(id);
  if (bucket === undefined) buckets.set(id, new Set([entry]));
  else bucket.add(entry);
}

/** False: it was not there. */
function removeFromBucket(buckets: Buckets, id: string, entry: ContextEntry): boolean {
  const bucket = buckets.get(id);
  if (bucket?.delete(entry) !== true) return false;
  if (bucket.size === 0) buckets.delete(id);
  return true;
}

function appendEntry(share: OrgEntries, entry: ContextEntry): void {
  share.bytes += entry.bytes;
  entry.older = share.newest;
  if (share.newest === null) share.oldest = entry;
  else share.newest.newer = entry;
  share.newest = entry;
}

function unlinkEntry(share: OrgEntries, entry: ContextEntry): void {
  const { older, newer } = entry;
  share.bytes -= entry.bytes;
  if (older === null) share.oldest = newer;
  else older.newer = newer;
  if (newer === null) share.newest = older;
  else newer.older = older;
  entry.older = null; // a call under way may keep it, and would keep these with it
  entry.newer = null;
}
