/**
 * Gateway token → SHA-256 → agent context; then the token's and the agent's own state
 * (docs/contract.md#checks-in-their-order).
 */
import { hash } from 'node:crypto';
import type { AgentContext } from '../../context/agent-context.js';
import type { Lookup, LookupRejection } from '../../context/context-cache.js';
import type { ClientBucket } from '../../context/unauthenticated-rate-limiter.js';
import { createUnknownTokensRejection, REJECTIONS, type Rejection } from '../../rejection/rejections.js';
import { CONFLICTING_TOKENS, findGatewayToken } from '../../upstream/credentials/gateway-token-position.js';
import type { Exchange } from '../exchange.js';
import { type Advance, DONE, NEXT, type Stage, WAIT } from '../pipeline.js';

export interface ContextLookup {
  /** The answer at hand, or null: then call {@link resolve}. */
  get(tokenHash: string, agentRef: string): Lookup | null;
  resolve(tokenHash: string, agentRef: string, lane: object | null, done: (lookup: Lookup) => void): void;
}

/** Bounds what one client address may ask about tokens that turn out unknown. */
export interface UnauthenticatedLimiter {
  /** A question may be asked, and is ended with {@link finishLookup}; or the seconds until the next one may. */
  startLookup(x: Exchange): ClientBucket | number;
  finishLookup(asker: ClientBucket, unknown: boolean): void;
  /** Somebody whom nobody knows is refused. True: from this address that is a flood. */
  isOverRejectionLimit(x: Exchange): boolean;
}

export interface AuthenticateDeps {
  readonly contexts: ContextLookup;
  readonly unauthenticatedLimiter: UnauthenticatedLimiter;
  readonly advance: Advance;
  /** A request with a valid token of an agent that may call. */
  readonly onAuthenticated: (x: Exchange, context: AgentContext) => void;
  /** Paused and revoked agents pass too: they may ask how they stand. */
  readonly allowsInactiveAgents: boolean;
}

const LOOKUP_REJECTIONS: Readonly<Record<LookupRejection, Rejection>> = {
  unknown_token: REJECTIONS.unauthorized,
  agent_required: REJECTIONS.agentRequired,
  agent_ambiguous: REJECTIONS.agentAmbiguous,
  agent_out_of_scope: REJECTIONS.agentOutOfScope,
  unavailable: REJECTIONS.contextsUnavailable,
};

export function createAuthenticateStage(deps: AuthenticateDeps): Stage {
  const decide = (x: Exchange, lookup: Lookup): boolean => {
    const rejection = checkLookup(x, lookup, x.request.startedAtMs, deps.allowsInactiveAgents);
    if (rejection !== null) x.reject(rejection);
    else deps.onAuthenticated(x, lookup.context!);
    return rejection === null;
  };
  return (x) => {
    const { headers, query } = x.request;
    const position = findGatewayToken(headers, query);
    if (position === null || position === CONFLICTING_TOKENS) {
      x.reject(position === null ? REJECTIONS.unauthorized : REJECTIONS.conflictingTokens);
      return DONE;
    }
    x.position = position;
    x.agentRef = readAgentHeader(headers);
    const tokenHash = hash('sha256', position.gatewayToken, 'hex');
    x.tokenHash = tokenHash;
    const lookup = deps.contexts.get(tokenHash, x.agentRef);
    if (lookup !== null) return decide(x, lookup) ? NEXT : DONE;
    const asker = deps.unauthenticatedLimiter.startLookup(x);
    if (typeof asker === 'number') {
      x.reject(createUnknownTokensRejection(asker));
      return DONE;
    }
    deps.contexts.resolve(tokenHash, x.agentRef, asker, (found) => {
      deps.unauthenticatedLimiter.finishLookup(asker, found.rejection === 'unknown_token');
      if (!x.hasEnded && decide(x, found)) deps.advance(x);
    });
    return WAIT;
  };
}

/** Null: the exchange has its context, and its key and agent are good. */
export function checkLookup(x: Exchange, lookup: Lookup, nowMs: number, anyStatus = false): Rejection | null {
  const { context } = lookup;
  if (context === null) return LOOKUP_REJECTIONS[lookup.rejection];
  x.context = context;
  // Checked at each request: an entry of the cache can outlive its key.
  if (context.keyExpiresAtMs !== null && nowMs >= context.keyExpiresAtMs) return REJECTIONS.unauthorized;
  if (anyStatus || context.agentStatus === 'active') return null;
  return context.agentStatus === 'paused' ? REJECTIONS.paused : REJECTIONS.revoked;
}

function readAgentHeader(headers: readonly string[]): string {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'x-gateway-agent') return headers[i + 1]!;
  return '';
}
