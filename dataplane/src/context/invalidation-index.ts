/**
 * Finds cached entries that an invalidation affects. Entries are removed together with their cache entries, so the
 * cache's bound applies here, too.
 */
import type { AgentContext } from './agent-context.js';
import { affectsContext, type Invalidation, parseOwnerId } from './invalidation-matching-and-history.js';

/** A cached context. The object itself is the result of a cache hit. */
export interface ContextEntry {
  readonly cacheKey: string;
  readonly context: AgentContext;
  readonly rejection: null;
  readonly revision: number;
  /** Estimated memory in bytes. */
  readonly bytes: number;
  readonly resolvedAtMs: number;
  /** Monotonic ms; postponed by a failed refresh. */
  refreshAtMs: number;
  /** Neighbours in the organization's list by age; null at the ends, and outside the index. */
  older: ContextEntry | null;
  newer: ContextEntry | null;
}

/**
 * The cached entries of an organization as a linked list, oldest first. A stored Set iterator would keep every replaced
 * entry alive, and a new iterator each time would skip over the slots of all removed entries.
 */
interface OrgEntries {
  bytes: number;
  oldest: ContextEntry | null;
  newest: ContextEntry | null;
}

type Buckets = Map<string, Set<ContextEntry>>;

export class InvalidationIndex {
  /** By the key, the run and its ancestors: see affectsContext. */
  readonly #byKey: Buckets = new Map();
  readonly #byAgent: Buckets = new Map();
  readonly #byProject: Buckets = new Map();
  readonly #byOrg: Buckets = new Map();
  readonly #entriesByOrg = new Map<string, OrgEntries>();

  /** Number of organizations with cached entries. */
  get organizationCount(): number {
    return this.#entriesByOrg.size;
  }

  orgUsage(orgId: string): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#byOrg.get(orgId)?.size ?? 0, bytes: this.#entriesByOrg.get(orgId)?.bytes ?? 0 };
  }

  /**
   * The organization's entry that was resolved longest ago; entries in use are resolved again now and then. Null: it
   * has none.
   */
  oldestOf(orgId: string): ContextEntry | null {
    return this.#entriesByOrg.get(orgId)?.oldest ?? null;
  }

  add(entry: ContextEntry): void {
    const { context } = entry;
    addToBucket(this.#byKey, context.keyId, entry);
    for (const runId of context.runIds) addToBucket(this.#byKey, runId, entry);
    addToBucket(this.#byAgent, context.agentId, entry);
    addToBucket(this.#byProject, context.projectId, entry);
    addToBucket(this.#byOrg, context.orgId, entry);
    let orgEntries = this.#entriesByOrg.get(context.orgId);
    if (orgEntries === undefined) {
      orgEntries = { bytes: 0, oldest: null, newest: null };
      this.#entriesByOrg.set(context.orgId, orgEntries);
    }
    appendEntry(orgEntries, entry);
  }

  remove(entry: ContextEntry): void {
    const { context } = entry;
    removeFromBucket(this.#byKey, context.keyId, entry);
    for (const runId of context.runIds) removeFromBucket(this.#byKey, runId, entry);
    removeFromBucket(this.#byAgent, context.agentId, entry);
    removeFromBucket(this.#byProject, context.projectId, entry);
    if (!removeFromBucket(this.#byOrg, context.orgId, entry)) return;
    unlinkEntry(this.#entriesByOrg.get(context.orgId)!, entry);
    if (!this.#byOrg.has(context.orgId)) this.#entriesByOrg.delete(context.orgId);
  }

  /** Returns a copy, so that the caller may remove entries while iterating. */
  findAffected(invalidation: Invalidation): readonly ContextEntry[] {
    const { kind, id } = invalidation;
    if (kind === 'provider') {
      // Rare, so the organization's entries are scanned instead of indexed by provider.
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

/** Returns false when the entry was not in the bucket. */
function removeFromBucket(buckets: Buckets, id: string, entry: ContextEntry): boolean {
  const bucket = buckets.get(id);
  if (bucket?.delete(entry) !== true) return false;
  if (bucket.size === 0) buckets.delete(id);
  return true;
}

function appendEntry(orgEntries: OrgEntries, entry: ContextEntry): void {
  orgEntries.bytes += entry.bytes;
  entry.older = orgEntries.newest;
  if (orgEntries.newest === null) orgEntries.oldest = entry;
  else orgEntries.newest.newer = entry;
  orgEntries.newest = entry;
}

function unlinkEntry(orgEntries: OrgEntries, entry: ContextEntry): void {
  const { older, newer } = entry;
  orgEntries.bytes -= entry.bytes;
  if (older === null) orgEntries.oldest = newer;
  else older.newer = newer;
  if (newer === null) orgEntries.newest = older;
  else newer.older = older;
  entry.older = null; // a call in flight may keep this entry, which would keep its neighbours alive
  entry.newer = null;
}
