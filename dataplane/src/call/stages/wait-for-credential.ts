/**
 * Waits for a minted credential where the account has none that is still valid, before the call takes a probe lease or
 * a connection. A credential that has expired is never sent. Costs nothing for stored credentials and one comparison for
 * valid minted ones.
 */
import type { Upstream } from '../../context/agent-context.js';
import type { Lookup } from '../../context/context-cache.js';
import { createCredentialRejection, type Rejection } from '../../rejection/rejections.js';
import type { RoutedExchange } from '../exchange.js';
import { type Advance, DONE, NEXT, type RoutedStage, WAIT } from '../pipeline.js';
import type { ContextLookup } from './authenticate.js';
import { recheckAccess } from './recheck-access.js';

export const hasExpired = ({ credentialExpiresAtMs }: Upstream): boolean =>
  credentialExpiresAtMs !== Number.POSITIVE_INFINITY && performance.now() >= credentialExpiresAtMs;

export function createWaitForCredentialStage(contexts: ContextLookup, advance: Advance): RoutedStage {
  const decide = (exchange: RoutedExchange, lookup: Lookup): Rejection | null => {
    const rejection = recheckAccess(exchange, lookup);
    if (rejection !== null) return rejection;
    return hasExpired(exchange.routed.upstream) ? rejectMissing(exchange.routed.upstream) : null;
  };
  return (exchange) => {
    const { upstream } = exchange.routed;
    if (!hasExpired(upstream)) return NEXT;
    const { tokenHash, agentRef } = exchange.access;
    // Another call may have brought a newer context, or may have failed meanwhile.
    const cached = contexts.get(tokenHash, agentRef);
    if (cached !== null) {
      const rejection = recheckAccess(exchange, cached);
      if (rejection !== null) {
        exchange.reject(rejection);
        return DONE;
      }
      if (!hasExpired(exchange.routed.upstream)) return NEXT;
    }
    const { accountId, credentialRetryAtMs } = exchange.routed.upstream;
    if (performance.now() < credentialRetryAtMs) {
      exchange.reject(rejectMissing(exchange.routed.upstream));
      return DONE;
    }
    contexts.resolveMinted(tokenHash, agentRef, accountId, 0, (found) => {
      if (exchange.hasEnded) return;
      const rejection = decide(exchange, found);
      if (rejection === null) advance(exchange);
      else exchange.reject(rejection);
    });
    return WAIT;
  };
}

const rejectMissing = ({ credentialRetryAtMs }: Upstream): Rejection =>
  createCredentialRejection(Math.ceil((credentialRetryAtMs - performance.now()) / 1_000));
