/** Finds cached entries by what an invalidation names. Removed with the entry, so it is bounded as the cache is. */
import type { AgentContext } from './agent-context.js';
import { type Invalidation, ownerOf, touches } from './invalidation.js';

/** A cached context; itself the answer of a hit. */
export interface ContextEntry {
  readonly cacheKey: string;
  readonly context: AgentContext;
  readonly refusal: null;
  readonly revision: number;
  /** About what it takes in memory. */
  readonly bytes: number;
  readonly resolvedAtMs: number;
  /** Steady ms; moved on by a failed refresh. */
  refreshAtMs: number;
}

/** What an organization has in the cache. */
interface Share {
  bytes: number;
  /** Goes on where it was: from the beginning it would pass all that has left before. */
  readonly oldestFirst: Iterator<ContextEntry, undefined>;
}

type Buckets = Map<string, Set<ContextEntry>>;

export class EntryIndex {
  readonly #byKey: Buckets = new Map();
  readonly #byAgent: Buckets = new Map();
  readonly #byProject: Buckets = new Map();
  readonly #byOrg: Buckets = new Map();
  readonly #shares = new Map<string, Share>();

  /** That have something cached. */
  get organizations(): number {
    return this.#shares.size;
  }

  shareOf(orgId: string): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#byOrg.get(orgId)?.size ?? 0, bytes: this.#shares.get(orgId)?.bytes ?? 0 };
  }

  /** Resolved longest ago: one that is in use is resolved anew now and then. The caller removes it. Null: there is none. */
  oldestOf(orgId: string): ContextEntry | null {
    return this.#shares.get(orgId)?.oldestFirst.next().value ?? null;
  }

  add(entry: ContextEntry): void {
    const { context } = entry;
    put(this.#byKey, context.keyId, entry);
    put(this.#byAgent, context.agentId, entry);
    put(this.#byProject, context.projectId, entry);
    put(this.#byOrg, context.orgId, entry);
    const share = this.#shares.get(context.orgId);
    if (share !== undefined) share.bytes += entry.bytes;
    else {
      const oldestFirst = this.#byOrg.get(context.orgId)!.values();
      this.#shares.set(context.orgId, { bytes: entry.bytes, oldestFirst });
    }
  }

  remove(entry: ContextEntry): void {
    const { context } = entry;
    take(this.#byKey, context.keyId, entry);
    take(this.#byAgent, context.agentId, entry);
    take(this.#byProject, context.projectId, entry);
    if (!take(this.#byOrg, context.orgId, entry)) return;
    if (this.#byOrg.has(context.orgId)) this.#shares.get(context.orgId)!.bytes -= entry.bytes;
    else this.#shares.delete(context.orgId);
  }

  /** A copy: the caller may remove while it walks. */
  touchedBy(invalidation: Invalidation): readonly ContextEntry[] {
    const { kind, id } = invalidation;
    if (kind === 'provider') {
      // Rare, so the organization's entries are walked instead of kept by provider.
      const all = this.#byOrg.get(ownerOf(id)) ?? [];
      return [...all].filter((entry) => touches(invalidation, entry.context));
    }
    if (kind === 'account') return [...(this.#byAgent.get(ownerOf(id)) ?? [])];
    return [...(this.#bucketsOf(kind).get(id) ?? [])];
  }

  #bucketsOf(kind: 'key' | 'agent' | 'project' | 'org'): Buckets {
    if (kind === 'key') return this.#byKey;
    if (kind === 'agent') return this.#byAgent;
    return kind === 'project' ? this.#byProject : this.#byOrg;
  }
}

function put(buckets: Buckets, id: string, entry: ContextEntry): void {
  const bucket = buckets.get(id);
  if (bucket === undefined) buckets.set(id, new Set([entry]));
  else bucket.add(entry);
}

/** False: it was not there. */
function take(buckets: Buckets, id: string, entry: ContextEntry): boolean {
  const bucket = buckets.get(id);
  if (bucket?.delete(entry) !== true) return false;
  if (bucket.size === 0) buckets.delete(id);
  return true;
}
