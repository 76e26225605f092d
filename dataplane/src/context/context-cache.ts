/**
 * Caches agent contexts by token hash and named agent (docs/contract.md#contexts).
 *
 *   get      the hit path: synchronous, allocates nothing. Null on a miss.
 *   resolve  the miss path: one call to the control plane per token and agent, shared by all requests that wait for it.
 *
 * While `Watch` is up, every event confirms all entries, because invalidations are sent first. While it is down, an
 * entry serves for `staleIfErrorMs` after its last confirmation. An entry older than its TTL is refreshed in the
 * background, because the ledger's spend changes without an invalidation.
 *
 * Invariant: after an invalidation was seen, no lookup returns an older context that it affects.
 */
import { LRUCache } from 'lru-cache';
import type { BudgetRow } from '../limits/budget-row.js';
import type { AgentContext, Upstream } from './agent-context.js';
import { type ContextEntry, InvalidationIndex } from './invalidation-index.js';
import { type Invalidation, RecentInvalidations } from './invalidation-matching-and-history.js';

export type LookupRejection =
  | 'unknown_token' // 401
  | 'agent_required' // 400
  | 'agent_ambiguous' // 400
  | 'agent_out_of_scope' // 403
  | 'unavailable'; // 503: the control plane did not answer and nothing usable is cached

/** Exactly one of the two fields is set. */
export type Lookup =
  | { readonly context: AgentContext; readonly rejection: null }
  | { readonly context: null; readonly rejection: LookupRejection };

export interface Resolution {
  readonly context: AgentContext | null;
  readonly rejection: Exclude<LookupRejection, 'unavailable'> | null;
  /** Invalidations up to this revision are visible in the answer. */
  readonly revision: number;
}

/**
 * The control plane as the cache uses it. Rejects when no instance answers, or when too many queries of the lane are
 * queued.
 */
export interface ContextResolver {
  /** `lane` identifies the client for fair queuing; null is this process itself. */
  resolve(tokenHash: string, agentRef: string, lane: object | null): Promise<Resolution>;
  /** The same, after the control plane has minted the credential of the account. Takes seconds at most. */
  resolveMinted(
    tokenHash: string,
    agentRef: string,
    accountId: string,
    rejectedGeneration: number,
  ): Promise<Resolution>;
}

interface ContextClock {
  /** Unix ms; for the expiry of keys. */
  wallMs(): number;
  /** Monotonic ms; for ages. */
  steadyMs(): number;
}

export interface ContextCacheOptions {
  readonly ttlMs: number;
  readonly staleIfErrorMs: number;
  readonly entriesMax: number;
  readonly bytesMax: number;
  /** Rejected lookups are cached separately, so that guessed tokens cannot evict contexts. */
  readonly rejectionsMax: number;
  readonly rejectionTtlMs: number;
  readonly clock: ContextClock;
  readonly random: () => number;
  /** Called after each resolve. `durationMs` includes retries after an overtaken answer. */
  readonly onResolved: (outcome: 'found' | LookupRejection, durationMs: number) => void;
}

export const DEFAULT_CONTEXT_CACHE_OPTIONS: Omit<ContextCacheOptions, 'ttlMs' | 'staleIfErrorMs'> = {
  entriesMax: 100_000,
  bytesMax: 256 * 1_048_576,
  rejectionsMax: 10_000,
  rejectionTtlMs: 5_000,
  clock: { wallMs: () => Date.now(), steadyMs: () => performance.now() },
  random: Math.random,
  onResolved: () => undefined,
};

interface RejectionEntry {
  readonly context: null;
  readonly rejection: LookupRejection;
  readonly untilMs: number;
}

const createRejectedLookup = (rejection: LookupRejection): Lookup => Object.freeze({ context: null, rejection });
const UNKNOWN_TOKEN = createRejectedLookup('unknown_token');
const OUT_OF_SCOPE = createRejectedLookup('agent_out_of_scope');
const UNAVAILABLE = createRejectedLookup('unavailable');

const AGENT_REF_CHARS_MAX = 128;
const REMEMBERED_INVALIDATIONS = 4_096;
/** After this many overtaken answers the resolve fails with 503, and the client retries. */
const OVERTAKEN_MAX = 5;
const REFRESH_RETRY_MS = 5_000;
/** Requests for minted credentials at once, each of which may take seconds. */
const MINTS_MAX = 1_000;
/** Without `Watch` a revocation shows only in a refresh, so refreshes are frequent. */
const REFRESH_WHILE_DOWN_MS = 10_000;

export class ContextCache {
  /** Read by metrics. */
  hits = 0;
  misses = 0;

  readonly #resolver: ContextResolver;
  readonly #options: ContextCacheOptions;
  readonly #entries: LRUCache<string, ContextEntry>;
  readonly #rejections: LRUCache<string, RejectionEntry>;
  readonly #index = new InvalidationIndex();
  readonly #recent = new RecentInvalidations(REMEMBERED_INVALIDATIONS);
  /** By cache key: callbacks that wait for the resolve in progress. An empty list is a background refresh. */
  readonly #pendingResolves = new Map<string, ((lookup: Lookup) => void)[]>();
  /** By cache key and account: callbacks that wait for a minted credential. */
  readonly #pendingMints = new Map<string, ((lookup: Lookup) => void)[]>();
  #isLinkUp = false;
  /** Monotonic ms of the last event of `Watch`. */
  #confirmedAtMs = Number.NEGATIVE_INFINITY;
  #seenRevision = 0;
  /** Incremented by each reset; an answer requested under an older generation is requested again. */
  #generation = 0;

  constructor(resolver: ContextResolver, options: ContextCacheOptions) {
    this.#resolver = resolver;
    this.#options = options;
    this.#entries = new LRUCache({
      max: options.entriesMax,
      maxSize: options.bytesMax,
      sizeCalculation: ({ bytes }) => bytes,
      dispose: (entry) => this.#index.remove(entry),
    });
    this.#rejections = new LRUCache({ max: options.rejectionsMax });
  }

  /** Highest revision seen, from which `Watch` resumes. 0 = none. */
  get seenRevision(): number {
    return this.#seenRevision;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Returns the cached answer, or null: then call {@link resolve}. `tokenHash` is the SHA-256 of the gateway token in
   * lower-case hex, `agentRef` the value of x-gateway-agent or `''`.
   */
  get(tokenHash: string, agentRef: string): Lookup | null {
    if (agentRef.length > AGENT_REF_CHARS_MAX) return OUT_OF_SCOPE;
    const cacheKey = toCacheKey(tokenHash, agentRef);
    const nowMs = this.#options.clock.steadyMs();
    const entry = this.#entries.get(cacheKey);
    if (entry !== undefined) return this.#serveEntry(entry, tokenHash, agentRef, nowMs);
    const rejection = this.#rejections.get(cacheKey);
    if (rejection !== undefined && nowMs < rejection.untilMs) {
      this.hits++;
      return rejection;
    }
    this.misses++;
    return null;
  }

  /**
   * Calls `done` once, asynchronously; `done` must not throw. The answer is current as of that moment, as far as
   * `Watch` has reported changes. `lane` identifies the client for fair queuing; null is this process itself.
   */
  resolve(tokenHash: string, agentRef: string, lane: object | null, done: (lookup: Lookup) => void): void {
    const cacheKey = toCacheKey(tokenHash, agentRef);
    const waiting = this.#pendingResolves.get(cacheKey);
    if (waiting !== undefined) {
      waiting.push(done);
      return;
    }
    this.#startResolve(cacheKey, tokenHash, agentRef, lane, [done]);
  }

  /**
   * Resolves again after the control plane has minted the credential of the account, and calls `done` once. All calls of
   * one token and account share a request. At most {@link MINTS_MAX} are under way; further ones are unavailable.
   */
  resolveMinted(
    tokenHash: string,
    agentRef: string,
    accountId: string,
    rejectedGeneration: number,
    done: (lookup: Lookup) => void,
  ): void {
    const cacheKey = toCacheKey(tokenHash, agentRef);
    const key = `${cacheKey} ${accountId}`;
    const waiting = this.#pendingMints.get(key);
    if (waiting !== undefined) {
      waiting.push(done);
      return;
    }
    if (this.#pendingMints.size >= MINTS_MAX) {
      setImmediate(done, UNAVAILABLE);
      return;
    }
    const callbacks = [done];
    this.#pendingMints.set(key, callbacks);
    const request = () => this.#resolver.resolveMinted(tokenHash, agentRef, accountId, rejectedGeneration);
    void this.#resolveUntilCurrent(cacheKey, request).then((lookup) => {
      this.#pendingMints.delete(key);
      for (const one of callbacks) one(lookup);
    });
  }

  /** `Watch` is up: confirms every cached entry as of now. */
  onLinkUp(): void {
    this.#isLinkUp = true;
    this.#confirmedAtMs = this.#options.clock.steadyMs();
  }

  onLinkDown(): void {
    this.#isLinkUp = false;
  }

  /** Drops the entries that the invalidation affects, unless they were resolved after it. Returns their contexts. */
  invalidate(invalidation: Invalidation): readonly AgentContext[] {
    this.#seenRevision = Math.max(this.#seenRevision, invalidation.revision);
    this.#recent.add(invalidation);
    const affected = this.#index.findAffected(invalidation).filter(({ revision }) => revision < invalidation.revision);
    for (const { cacheKey } of affected) this.#entries.delete(cacheKey);
    return affected.map(({ context }) => context);
  }

  /** Drops everything, because the link cannot replay what changed. `revision` is the control plane's current one. */
  reset(revision: number): void {
    this.#generation++;
    this.#seenRevision = revision;
    this.#recent.clear();
    this.#entries.clear();
    this.#rejections.clear();
  }

  /** Refreshes every context in the background at its next use, because the ledger's spend figures are needed again. */
  refreshAll(): void {
    const nowMs = this.#options.clock.steadyMs();
    for (const entry of this.#entries.values()) entry.refreshAtMs = Math.min(entry.refreshAtMs, nowMs);
  }

  #serveEntry(entry: ContextEntry, tokenHash: string, agentRef: string, nowMs: number): Lookup | null {
    const expiresAtMs = entry.context.keyExpiresAtMs;
    if (expiresAtMs !== null && this.#options.clock.wallMs() >= expiresAtMs) return UNKNOWN_TOKEN;
    if (!this.#isLinkUp) {
      const confirmedAtMs = Math.max(entry.resolvedAtMs, this.#confirmedAtMs);
      if (nowMs - confirmedAtMs > this.#options.staleIfErrorMs) {
        this.misses++;
        return null;
      }
    }
    this.hits++;
    if (nowMs >= entry.refreshAtMs || (!this.#isLinkUp && nowMs - entry.resolvedAtMs >= REFRESH_WHILE_DOWN_MS)) {
      this.#refresh(entry, tokenHash, agentRef, nowMs);
    }
    return entry;
  }

  #refresh(entry: ContextEntry, tokenHash: string, agentRef: string, nowMs: number): void {
    if (nowMs < entry.refreshAtMs && entry.refreshAtMs - nowMs < REFRESH_RETRY_MS) return; // a retry is due soon
    if (this.#pendingResolves.has(entry.cacheKey)) return;
    entry.refreshAtMs = nowMs + REFRESH_RETRY_MS;
    this.#startResolve(entry.cacheKey, tokenHash, agentRef, null, []);
  }

  #startResolve(
    cacheKey: string,
    tokenHash: string,
    agentRef: string,
    lane: object | null,
    waiting: ((lookup: Lookup) => void)[],
  ): void {
    this.#pendingResolves.set(cacheKey, waiting);
    const startedAtMs = this.#options.clock.steadyMs();
    const request = () => this.#resolver.resolve(tokenHash, agentRef, lane);
    void this.#resolveUntilCurrent(cacheKey, request).then((lookup) => {
      this.#pendingResolves.delete(cacheKey);
      this.#options.onResolved(lookup.rejection ?? 'found', this.#options.clock.steadyMs() - startedAtMs);
      for (const done of waiting) done(lookup);
    });
  }

  /** Never rejects. */
  async #resolveUntilCurrent(cacheKey: string, request: () => Promise<Resolution>): Promise<Lookup> {
    for (let overtaken = 0; overtaken < OVERTAKEN_MAX; overtaken++) {
      const generation = this.#generation;
      const requestedAtMs = this.#options.clock.steadyMs();
      let answer: Resolution;
      try {
        answer = await request();
      } catch {
        return UNAVAILABLE; // the resolver has logged it; an entry that is being refreshed stays
      }
      if (generation !== this.#generation) continue;
      if (answer.context === null) return this.#storeRejection(cacheKey, answer.rejection ?? 'unknown_token');
      if (this.#recent.isOutdated(answer.revision, answer.context)) continue;
      return this.#storeContext(cacheKey, answer.context, answer.revision, requestedAtMs);
    }
    return UNAVAILABLE;
  }

  #storeContext(cacheKey: string, context: AgentContext, revision: number, resolvedAtMs: number): Lookup {
    const jitter = 0.8 + 0.2 * this.#options.random();
    const refreshAtMs = resolvedAtMs + this.#options.ttlMs * jitter;
    const bytes = estimateContextBytes(context);
    const entry: ContextEntry = {
      cacheKey,
      context,
      rejection: null,
      revision,
      bytes,
      resolvedAtMs,
      refreshAtMs,
      older: null,
      newer: null,
    };
    this.#rejections.delete(cacheKey);
    this.#entries.delete(cacheKey); // deleted first, so that an entry that has grown makes room like a new one
    this.#evictFor(context.orgId, bytes);
    this.#entries.set(cacheKey, entry);
    if (this.#entries.peek(cacheKey) === entry) this.#index.add(entry); // the cache does not keep an entry above bytesMax
    return entry;
  }

  /**
   * Makes room in a full cache. The cache evicts the least recently used entry, but an organization above its share
   * evicts its own oldest entries. Otherwise one organization that calls with 100 000 tokens would evict all others.
   */
  #evictFor(orgId: string, bytes: number): void {
    const { entriesMax, bytesMax } = this.#options;
    const isFull = (): boolean => this.#entries.size >= entriesMax || this.#entries.calculatedSize + bytes > bytesMax;
    while (isFull()) {
      const { entries, bytes: usedBytes } = this.#index.orgUsage(orgId);
      const share = 1 / this.#index.organizationCount;
      if (entries <= entriesMax * share && usedBytes <= bytesMax * share) return;
      const oldest = this.#index.oldestOf(orgId);
      if (oldest === null) return;
      this.#entries.delete(oldest.cacheKey);
    }
  }

  #storeRejection(cacheKey: string, rejection: LookupRejection): Lookup {
    this.#entries.delete(cacheKey);
    const entry = {
      context: null,
      rejection: rejection,
      untilMs: this.#options.clock.steadyMs() + this.#options.rejectionTtlMs,
    };
    this.#rejections.set(cacheKey, entry);
    return entry;
  }
}

const toCacheKey = (tokenHash: string, agentRef: string): string =>
  agentRef === '' ? tokenHash : `${tokenHash} ${agentRef}`;

const ENTRY_BYTES = 2_500;
const UPSTREAM_BYTES = 2_500;
/** Per form of a credential: memory of its search automaton besides its bytes. */
const FORM_BYTES = 1_000;
/** Per budget row besides the plain monthly ones. Measured on Node 20: 1.3 KB with two windows, 168 bytes more a model. */
const BUDGET_ROW_BYTES = 1_500;
const BUDGET_ROW_MODEL_BYTES = 120;

/**
 * An estimate: fixed costs plus the strings whose length tenants choose. Measured after a full collection on Node 20:
 * an agent key with one account takes 5.6 KB, its index entries included.
 */
function estimateContextBytes(context: AgentContext): number {
  let bytes = ENTRY_BYTES + 2 * context.agentName.length + 100 * context.unassignedProviders.size;
  for (const upstream of context.upstreams.values()) bytes += estimateUpstreamBytes(upstream);
  for (const upstream of context.namedOrigins.values()) bytes += estimateUpstreamBytes(upstream);
  for (const row of context.agentLimits.budgets) if (!row.isPlain) bytes += estimateBudgetRowBytes(row);
  return bytes;
}

function estimateBudgetRowBytes({ tag, models }: BudgetRow): number {
  let bytes = BUDGET_ROW_BYTES + 2 * tag.length;
  for (const model of models) bytes += BUDGET_ROW_MODEL_BYTES + 2 * model.length;
  return bytes;
}

function estimateUpstreamBytes(upstream: Upstream): number {
  let bytes = UPSTREAM_BYTES + 2 * (upstream.origin.length + upstream.basePath.length);
  for (const form of upstream.injection.secretForms) bytes += FORM_BYTES + 8 * form.length;
  return bytes;
}
