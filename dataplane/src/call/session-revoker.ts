/**
 * Ends open calls and WebSockets whose access was revoked: key, agent or account were revoked, or the key expired.
 * After a long loss of the control-plane link, it cannot say what has changed; then access of all open ones is checked
 * again.
 */
import type { AgentContext, Upstream } from '../context/agent-context.js';
import type { Lookup } from '../context/context-cache.js';
import { type FormerCredential, usesFormer } from '../context/invalidation-matching-and-history.js';
import type { RoutedExchange } from './exchange.js';

/** A set of open calls or of open WebSockets. */
export interface RevocableSessions {
  forEachOpen(visit: (exchange: RoutedExchange) => void): void;
  /** Ends the session, whose access was revoked. `why`: close reason for the agent. */
  revoke(exchange: RoutedExchange, why: string): void;
}

interface ContextLookup {
  get(tokenHash: string, agentRef: string): Lookup | null;
  resolve(tokenHash: string, agentRef: string, lane: object | null, done: (lookup: Lookup) => void): void;
}

interface RecheckedSession {
  readonly sessions: RevocableSessions;
  readonly exchange: RoutedExchange;
}

/** Concurrent lookups of a recheck, so that lookups of new calls have capacity beside it. */
const CONCURRENT_LOOKUPS_MAX = 64;
/** Delay after the control plane did not answer. */
const RETRY_DELAY_MS = 1_000;
const REVOKED_MESSAGE = 'access was revoked';

export class SessionRevoker {
  readonly #sessionSets: readonly RevocableSessions[];
  readonly #contexts: ContextLookup;
  /** Sessions that still have to be checked, by token hash and named agent. */
  #waiting = new Map<string, RecheckedSession[]>();
  #pendingLookups = 0;
  #retryTimer: NodeJS.Timeout | null = null;

  constructor(contexts: ContextLookup, sessionSets: readonly RevocableSessions[]) {
    this.#contexts = contexts;
    this.#sessionSets = sessionSets;
  }

  /** `isRevoked`: true when the access of that context to that upstream was revoked. */
  revokeMatching(isRevoked: (context: AgentContext, upstream: Upstream) => boolean): void {
    this.#forEach((exchange, open) => {
      if (isRevoked(exchange.routed.context, exchange.routed.upstream)) open.revoke(exchange, REVOKED_MESSAGE);
    });
  }

  /** Counts the sessions that use each of these former credentials. */
  countUses(former: readonly FormerCredential[]): readonly number[] {
    const counts = former.map(() => 0);
    const positions = new Map(former.map(({ id }, i) => [id, i]));
    this.#forEach(({ routed: { upstream } }) => {
      const i = positions.get(upstream.credentialId);
      if (i !== undefined && usesFormer(upstream, former[i]!)) counts[i]!++;
    });
    return counts;
  }

  /** Ends sessions whose key has expired. */
  revokeExpired(nowMs: number): void {
    this.#forEach((exchange, open) => {
      const endMs = exchange.routed.context.keyExpiresAtMs;
      if (endMs !== null && nowMs >= endMs) open.revoke(exchange, 'the key has expired');
    });
  }

  /** Checks every open session again, because the revocations of the meantime are unknown. */
  recheckAll(): void {
    this.#waiting = new Map();
    this.#forEach((exchange, open) => {
      const key = `${exchange.access.tokenHash} ${exchange.access.agentRef}`;
      const rechecked = this.#waiting.get(key);
      if (rechecked === undefined) this.#waiting.set(key, [{ sessions: open, exchange }]);
      else rechecked.push({ sessions: open, exchange });
    });
    this.#startWaitingLookups();
  }

  close(): void {
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    this.#waiting = new Map();
  }

  #forEach(visit: (exchange: RoutedExchange, open: RevocableSessions) => void): void {
    for (const open of this.#sessionSets) open.forEachOpen((exchange) => visit(exchange, open));
  }

  #startWaitingLookups(): void {
    for (const [key, rechecked] of this.#waiting) {
      if (this.#pendingLookups >= CONCURRENT_LOOKUPS_MAX) return;
      this.#waiting.delete(key);
      this.#pendingLookups++;
      const { tokenHash, agentRef } = rechecked[0]!.exchange.access;
      const lookup = this.#contexts.get(tokenHash, agentRef);
      if (lookup === null)
        this.#contexts.resolve(tokenHash, agentRef, null, (found) =>
          this.#revokeUnauthorizedOrRetry(key, rechecked, found),
        );
      else queueMicrotask(() => this.#revokeUnauthorizedOrRetry(key, rechecked, lookup));
    }
  }

  #revokeUnauthorizedOrRetry(key: string, rechecked: readonly RecheckedSession[], lookup: Lookup): void {
    this.#pendingLookups--;
    if (lookup.rejection === 'unavailable') {
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), ...rechecked]);
      this.#retryTimer ??= setTimeout(() => {
        this.#retryTimer = null;
        this.#startWaitingLookups();
      }, RETRY_DELAY_MS).unref();
      return;
    }
    for (const { sessions: open, exchange } of rechecked)
      if (!isStillAuthorized(exchange, lookup.context, Date.now())) open.revoke(exchange, REVOKED_MESSAGE);
    this.#startWaitingLookups();
  }
}

function isStillAuthorized(exchange: RoutedExchange, context: AgentContext | null, nowMs: number): boolean {
  if (context === null || context.agentStatus !== 'active') return false;
  if (context.keyExpiresAtMs !== null && nowMs >= context.keyExpiresAtMs) return false;
  const { providerSlug, accountId, credentialVersion } = exchange.routed.upstream;
  const upstream = context.upstreams.get(providerSlug);
  if (upstream?.accountId !== accountId || upstream.accountStatus !== 'active') return false;
  return credentialVersion >= upstream.compromisedBefore;
}
