/** Finds cached entries by what an invalidation names. Removed with the entry, so it is bounded as the cache is. */
import type { AgentContext } from './agent-context.js';
import { type Invalidation, ownerOf, touches } from './invalidation.js';

/** A cached context; itself the answer of a hit. */
export interface ContextEntry {
  readonly cacheKey: string;
  readonly context: AgentContext;
  readonly refusal: null;
  readonly revision: number;
  readonly resolvedAtMs: number;
  /** Steady ms; moved on by a failed refresh. */
  refreshAtMs: number;
}

type Buckets = Map<string, Set<ContextEntry>>;

export class EntryIndex {
  readonly #byKey: Buckets = new Map();
  readonly #byAgent: Buckets = new Map();
  readonly #byProject: Buckets = new Map();
  readonly #byOrg: Buckets = new Map();

  add(entry: ContextEntry): void {
    const { context } = entry;
    put(this.#byKey, context.keyId, entry);
    put(this.#byAgent, context.agentId, entry);
    put(this.#byProject, context.projectId, entry);
    put(this.#byOrg, context.orgId, entry);
  }

  remove(entry: ContextEntry): void {
    const { context } = entry;
    take(this.#byKey, context.keyId, entry);
    take(this.#byAgent, context.agentId, entry);
    take(this.#byProject, context.projectId, entry);
    take(this.#byOrg, context.orgId, entry);
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

function take(buckets: Buckets, id: string, entry: ContextEntry): void {
  const bucket = buckets.get(id);
  if (bucket?.delete(entry) && bucket.size === 0) buckets.delete(id);
}
