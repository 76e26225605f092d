/**
 * Looks up the agent context by the SHA-256 of the gateway token, then checks the state of token and agent
 * (docs/contract.md#order-of-checks).
 */
import { hash } from 'node:crypto';
import type { AgentContext } from '../../context/agent-context.js';
import type { Lookup, LookupRejection } from '../../context/context-cache.js';
import type { ClientBucket } from '../../context/unauthenticated-rate-limiter.js';
import { createUnknownTokensRejection, REJECTIONS, type Rejection } from '../../rejection/rejections.js';
import { CONFLICTING_TOKENS, findGatewayToken } from '../../upstream/credentials/find-gateway-token.js';
import type { Exchange } from '../exchange.js';
import { type Advance, DONE, NEXT, type Stage, WAIT } from '../pipeline.js';

export interface ContextLookup {
  /** Returns the cached result; null: call {@link resolve}. */
  get(tokenHash: string, agentRef: string): Lookup | null;
  resolve(tokenHash: string, agentRef: string, lane: object | null, done: (lookup: Lookup) => void): void;
  /** Resolves again after the control plane has minted the credential of the account. */
  resolveMinted(
    tokenHash: string,
    agentRef: string,
    accountId: string,
    rejectedGeneration: number,
    done: (lookup: Lookup) => void,
  ): void;
}

/** Limits lookups of unknown tokens and unauthenticated rejections by client IP. */
export interface UnauthenticatedLimiter {
  /** Returns the bucket to pass to {@link finishLookup}, or the seconds until the client may start a lookup. */
  startLookup(exchange: Exchange): ClientBucket | number;
  finishLookup(bucket: ClientBucket, unknown: boolean): void;
  /** Records an unauthenticated rejection for the client IP. Returns true when the IP exceeds its rejection rate. */
  isOverRejectionLimit(exchange: Exchange): boolean;
}

export interface AuthenticateDeps {
  readonly contexts: ContextLookup;
  readonly unauthenticatedLimiter: UnauthenticatedLimiter;
  readonly advance: Advance;
  /** Called for a request with a valid token of an agent that may call. */
  readonly onAuthenticated: (exchange: Exchange, context: AgentContext) => void;
  /** Paused and revoked agents pass too, so that they can read their own status. */
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
  const decide = (exchange: Exchange, lookup: Lookup): boolean => {
    const rejection = setContextAndCheckAccess(
      exchange,
      lookup,
      exchange.request.startedAtMs,
      deps.allowsInactiveAgents,
    );
    if (rejection !== null) exchange.reject(rejection);
    else deps.onAuthenticated(exchange, lookup.context!);
    return rejection === null;
  };
  return (exchange) => {
    const { headers, query } = exchange.request;
    const position = findGatewayToken(headers, query, exchange.access.target?.providerPath ?? '');
    if (position === null || position === CONFLICTING_TOKENS) {
      exchange.reject(position === null ? REJECTIONS.unauthorized : REJECTIONS.conflictingTokens);
      return DONE;
    }
    exchange.access.tokenPosition = position;
    exchange.access.agentRef = readAgentHeader(headers);
    const tokenHash = hash('sha256', position.gatewayToken, 'hex');
    exchange.access.tokenHash = tokenHash;
    const lookup = deps.contexts.get(tokenHash, exchange.access.agentRef);
    if (lookup !== null) return decide(exchange, lookup) ? NEXT : DONE;
    const bucket = deps.unauthenticatedLimiter.startLookup(exchange);
    if (typeof bucket === 'number') {
      exchange.reject(createUnknownTokensRejection(bucket));
      return DONE;
    }
    deps.contexts.resolve(tokenHash, exchange.access.agentRef, bucket, (found) => {
      deps.unauthenticatedLimiter.finishLookup(bucket, found.rejection === 'unknown_token');
      if (!exchange.hasEnded && decide(exchange, found)) deps.advance(exchange);
    });
    return WAIT;
  };
}

/** Sets the exchange's context. Null: its key and agent are valid. */
export function setContextAndCheckAccess(
  exchange: Exchange,
  lookup: Lookup,
  nowMs: number,
  allowsInactiveAgents = false,
): Rejection | null {
  const { context } = lookup;
  if (context === null) return LOOKUP_REJECTIONS[lookup.rejection];
  exchange.access.context = context;
  // Checked at each request, because a cache entry can outlive its key.
  if (context.keyExpiresAtMs !== null && nowMs >= context.keyExpiresAtMs) return REJECTIONS.unauthorized;
  if (allowsInactiveAgents || context.agentStatus === 'active') return null;
  return context.agentStatus === 'paused' ? REJECTIONS.paused : REJECTIONS.revoked;
}

function readAgentHeader(headers: readonly string[]): string {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'x-gateway-agent') return headers[i + 1]!;
  return '';
}
