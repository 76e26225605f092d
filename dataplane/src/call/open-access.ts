/**
 * Calls and WebSockets that are under way lose their access like new ones do: when key, agent or account are revoked,
 * when the key's time is over, and after the link to the control plane was away for so long that it cannot say what has
 * changed; then every one of them is looked at again.
 */
import type { AgentContext } from '../context/agent-context.js';
import type { Lookup } from '../context/context-cache.js';
import type { RoutedExchange } from './exchange.js';

/** What is open, of one kind. */
export interface OpenAccesses {
  forEachOpen(visit: (x: RoutedExchange) => void): void;
  /** Its access is gone. `why` is for the agent. */
  revoke(x: RoutedExchange, why: string): void;
}

interface Lookups {
  get(tokenHash: string, agentRef: string): Lookup | null;
  resolve(tokenHash: string, agentRef: string, lane: object | null, done: (lookup: Lookup) => void): void;
}

interface Asked {
  readonly open: OpenAccesses;
  readonly x: RoutedExchange;
}

/** Tokens that are asked about at a time, so that calls' own lookups have room beside a review. */
const LOOKUPS_MAX = 64;
/** The control plane did not answer. */
const AGAIN_MS = 1_000;
const REVOKED = 'access was revoked';

export class OpenAccess {
  readonly #kinds: readonly OpenAccesses[];
  readonly #contexts: Lookups;
  /** By token and named agent: what is still to be looked at. */
  #waiting = new Map<string, Asked[]>();
  #asking = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(contexts: Lookups, kinds: readonly OpenAccesses[]) {
    this.#contexts = contexts;
    this.#kinds = kinds;
  }

  /** `lost`: whether access under that context to that provider was taken away. */
  endRevoked(lost: (context: AgentContext, providerSlug: string) => boolean): void {
    this.#forEach((x, open) => {
      if (lost(x.routed.context, x.routed.upstream.providerSlug)) open.revoke(x, REVOKED);
    });
  }

  /** Ends what was opened with a key whose time is over. */
  endExpired(nowMs: number): void {
    this.#forEach((x, open) => {
      const endMs = x.routed.context.keyExpiresAtMs;
      if (endMs !== null && nowMs >= endMs) open.revoke(x, 'the key has expired');
    });
  }

  /** Nobody can say what was revoked meanwhile: everything that is open is looked at again. */
  review(): void {
    this.#waiting = new Map();
    this.#forEach((x, open) => {
      const key = `${x.tokenHash} ${x.agentRef}`;
      const asked = this.#waiting.get(key);
      if (asked === undefined) this.#waiting.set(key, [{ open, x }]);
      else asked.push({ open, x });
    });
    this.#ask();
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#waiting = new Map();
  }

  #forEach(visit: (x: RoutedExchange, open: OpenAccesses) => void): void {
    for (const open of this.#kinds) open.forEachOpen((x) => visit(x, open));
  }

  #ask(): void {
    for (const [key, asked] of this.#waiting) {
      if (this.#asking >= LOOKUPS_MAX) return;
      this.#waiting.delete(key);
      this.#asking++;
      const { tokenHash, agentRef } = asked[0]!.x;
      const lookup = this.#contexts.get(tokenHash, agentRef);
      if (lookup === null) this.#contexts.resolve(tokenHash, agentRef, null, (found) => this.#judge(key, asked, found));
      else queueMicrotask(() => this.#judge(key, asked, lookup));
    }
  }

  #judge(key: string, asked: readonly Asked[], lookup: Lookup): void {
    this.#asking--;
    if (lookup.refusal === 'unavailable') {
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), ...asked]);
      this.#timer ??= setTimeout(() => {
        this.#timer = null;
        this.#ask();
      }, AGAIN_MS).unref();
      return;
    }
    for (const { open, x } of asked) if (!stands(x, lookup.context, Date.now())) open.revoke(x, REVOKED);
    this.#ask();
  }
}

function stands(x: RoutedExchange, context: AgentContext | null, nowMs: number): boolean {
  if (context === null || context.agentStatus !== 'active') return false;
  if (context.keyExpiresAtMs !== null && nowMs >= context.keyExpiresAtMs) return false;
  const { providerSlug, accountId } = x.routed.upstream;
  const upstream = context.upstreams.get(providerSlug);
  return upstream?.accountId === accountId && upstream.accountStatus === 'active';
}
