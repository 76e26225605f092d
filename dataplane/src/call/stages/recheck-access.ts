/**
 * Checks key, agent, account and policy again, before a connection is opened and directly before admission. They may have
 * changed while a stage waited for the body, for a probe lease or for the connection.
 */

import { getCallRules } from '@acg/base/policy/call-rules';
import type { Lookup } from '../../context/context-cache.js';
import { REJECTIONS, type Rejection } from '../../rejection/rejections.js';
import type { RoutedExchange } from '../exchange.js';
import { type Advance, DONE, NEXT, type RoutedStage, WAIT } from '../pipeline.js';
import { type ContextLookup, setContextAndCheckAccess } from './authenticate.js';
import { checkCallRules } from './check-call-policy.js';
import { checkMcpPolicy } from './check-mcp-call.js';
import { routeAndCheckUpstream } from './route.js';

export function createRecheckAccessStage(contexts: ContextLookup, advance: Advance): RoutedStage {
  const decide = (exchange: RoutedExchange, lookup: Lookup): boolean => {
    exchange.access.revoked = false;
    exchange.access.needsRecheck = false;
    const rejection = recheckAccess(exchange, lookup);
    if (rejection !== null) exchange.reject(rejection);
    return rejection === null;
  };
  return (exchange) => {
    if (!exchange.access.needsRecheck) return NEXT;
    const lookup = contexts.get(exchange.access.tokenHash, exchange.access.agentRef);
    if (lookup !== null) return decide(exchange, lookup) ? NEXT : DONE;
    contexts.resolve(exchange.access.tokenHash, exchange.access.agentRef, exchange.routed.context, (found) => {
      if (!exchange.hasEnded && decide(exchange, found)) advance(exchange);
    });
    return WAIT;
  };
}

/** Applies a newer lookup to a routed call. Null: the call may go on. */
export function recheckAccess(exchange: RoutedExchange, lookup: Lookup): Rejection | null {
  const { context, upstream } = exchange.routed;
  const refused = setContextAndCheckAccess(exchange, lookup, Date.now());
  if (refused !== null || lookup.context === context) return refused;
  const rerouted = routeAndCheckUpstream(exchange);
  if (rerouted !== null) return rerouted;
  exchange.admission.neededNanos = null;
  const now = exchange.routed.upstream;
  // The connection belongs to another account, and no other one may use it.
  if (exchange.upstreamCall.heldConnection !== null && now.accountId !== upstream.accountId)
    return REJECTIONS.contextsUnavailable;
  if (now.circuitKey !== upstream.circuitKey) {
    // The probe lease and the circuit's state belong to another origin. Only the key's name differs when the control
    // plane has an earlier release.
    if (now.origin !== upstream.origin || exchange.admission.probeLease !== '') return REJECTIONS.contextsUnavailable;
    exchange.admission.circuitEpoch = 0;
  }
  const rules = getCallRules(now);
  const denied = rules === null ? null : checkCallRules(exchange, rules);
  if (denied !== null) return denied;
  const mcpDenied = checkMcpPolicy(exchange);
  if (mcpDenied !== null) return mcpDenied;
  // A rule for models is new, and the body was not read. The agent's next attempt will be.
  return rules?.models && exchange.admission.bodyReader !== null && exchange.admission.bodyModels === null
    ? REJECTIONS.contextsUnavailable
    : null;
}
