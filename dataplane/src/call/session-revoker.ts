/**
 * Calls and WebSockets that are under way lose their access like new ones do: when key, agent or account are revoked,
 * when the key's time is over, and after the link to the control plane was away for so long that it cannot say what has
 * changed; then every one of them is looked at again.
 */
import type { AgentContext } from '../context/agent-context.js';
import type { Lookup } from '../context/context-cache.js';
import type { RoutedExchange } from './exchange.js';

/** What is open, of one kind. */
export interface RevocableSessions {
  forEachOpen(visit: (exchange: RoutedExchange) => void): void;
  /** Its access is gone. `why` is for the agent. */
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

/** Tokens that are asked about at a time, so that calls' own lookups have room beside a review. */
const CONCURRENT_LOOKUPS_MAX = 64;
/** The control plane did not answer. */
const RETRY_DELAY_MS = 1_000;
const REVOKED_MESSAGE = 'access was revoked';

export class SessionRevoker {
  readonly #sessionSets: readonly RevocableSessions[];
  readonly #contexts: ContextLookup;
  /** By token and named agent: what is still to be looked at. */
  #waiting = new Map<string, RecheckedSession[]>();
  #pendingLookups = 0;
  #retryTimer: NodeJS.Timeout | null = null;

  constructor(contexts: ContextLookup, kinds: readonly RevocableSessions[]) {
    this.#contexts = contexts;
    this.#sessionSets = kinds;
  }

  /** `lost`: whether access under that context to that provider was taken away. */
  revokeMatching(lost: (context: AgentContext, providerSlug: string) => boolean): void {
    this.#forEach((exchange, open) => {
      if (lost(exchange.routed.context, exchange.routed.upstream.providerSlug)) open.revoke(exchange, REVOKED_MESSAGE);
    });
  }

  /** Ends what was opened with a key whose time is over. */
  revokeExpired(nowMs: number): void {
    this.#forEach((exchange, open) => {
      const endMs = exchange.routed.context.keyExpiresAtMs;
      if (endMs !== null && nowMs >= endMs) open.revoke(exchange, 'the key has expired');
    });
  }

  /** Nobody can say what was revoked meanwhile: everything that is open is looked at again. */
  recheckAll(): void {
    this.#waiting = new Map();
    this.#forEach((exchange, open) => {
      const key = `${exchange.access.tokenHash} ${exchange.access.agentRef}`;
      const asked = this.#waiting.get(key);
      if (asked === undefined) this.#waiting.set(key, [{ sessions: open, exchange }]);
      else asked.push({ sessions: open, exchange });
    });
    this.#resolveWaiting();
  }

  close(): void {
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    this.#waiting = new Map();
  }

  #forEach(visit: (exchange: RoutedExchange, open: RevocableSessions) => void): void {
    for (const open of this.#sessionSets) open.forEachOpen((exchange) => visit(exchange, open));
  }

  #resolveWaiting(): void {
    for (const [key, asked] of this.#waiting) {
      if (this.#pendingLookups >= CONCURRENT_LOOKUPS_MAX) return;
      this.#waiting.delete(key);
      this.#pendingLookups++;
      const { tokenHash, agentRef } = asked[0]!.exchange.access;
      const lookup = this.#contexts.get(tokenHash, agentRef);
      if (lookup === null)
        this.#contexts.resolve(tokenHash, agentRef, null, (found) => this.#onResolved(key, asked, found));
      else queueMicrotask(() => this.#onResolved(key, asked, lookup));
    }
  }

  #onResolved(key: string, asked: readonly RecheckedSession[], lookup: Lookup): void {
    this.#pendingLookups--;
    if (lookup.rejection === 'unavailable') {
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), ...asked]);
      this.#retryTimer ??= setTimeout(() => {
        this.#retryTimer = null;
        this.#resolveWaiting();
      }, RETRY_DELAY_MS).unref();
      return;
    }
    for (const { sessions: open, exchange } of asked)
      if (!isStillAuthorized(exchange, lookup.context, Date.now())) open.revoke(exchange, REVOKED_MESSAGE);
    this.#resolveWaiting();
  }
}

function isStillAuthorized(exchange: RoutedExchange, context: AgentContext | null, nowMs: number): boolean {
  if (context === null || context.agentStatus !== 'active') return false;
  if (context.keyExpiresAtMs !== null && nowMs >= context.keyExpiresAtMs) return false;
  const { providerSlug, accountId } = exchange.routed.upstream;
  const upstream = context.upstreams.get(providerSlug);
  return upstream?.accountId === accountId && upstream.accountStatus === 'active';
}
