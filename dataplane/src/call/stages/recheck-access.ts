/**
 * Key, agent, account and policy once more, directly before the call is admitted: while its body was awaited, or a probe
 * place, they may have been revoked or changed.
 */
import type { Lookup } from '../../context/context-cache.js';
import { getCallRules } from '../../policy/call-rules.js';
import { REJECTIONS, type Rejection } from '../../rejection/rejections.js';
import type { RoutedExchange } from '../exchange.js';
import { type Advance, DONE, NEXT, type RoutedStage, WAIT } from '../pipeline.js';
import { type ContextLookup, checkLookup } from './authenticate.js';
import { checkCallRules } from './check-call-policy.js';
import { findUpstream } from './route.js';

export function createRecheckAccessStage(contexts: ContextLookup, advance: Advance): RoutedStage {
  const decide = (x: RoutedExchange, lookup: Lookup): boolean => {
    x.revoked = false;
    const rejection = recheckAccess(x, lookup);
    if (rejection !== null) x.reject(rejection);
    return rejection === null;
  };
  return (x) => {
    if (!x.needsRecheck) return NEXT;
    const lookup = contexts.get(x.tokenHash, x.agentRef);
    if (lookup !== null) return decide(x, lookup) ? NEXT : DONE;
    contexts.resolve(x.tokenHash, x.agentRef, x.routed.context, (found) => {
      if (!x.hasEnded && decide(x, found)) advance(x);
    });
    return WAIT;
  };
}

function recheckAccess(x: RoutedExchange, lookup: Lookup): Rejection | null {
  const { context, upstream } = x.routed;
  const refused = checkLookup(x, lookup, Date.now());
  if (refused !== null || lookup.context === context) return refused;
  const rerouted = findUpstream(x);
  if (rerouted !== null) return rerouted;
  const now = x.routed.upstream;
  if (now.circuitKey !== upstream.circuitKey) {
    // A probe place, and what the breaker said, are another origin's, or of another name (a control plane of before).
    if (now.origin !== upstream.origin || x.probeLease !== '') return REJECTIONS.contextsUnavailable;
    x.circuitEpoch = 0;
  }
  const rules = getCallRules(now);
  const denied = rules === null ? null : checkCallRules(x, rules);
  if (denied !== null) return denied;
  // A rule for models is new, and the body was not read: the next try will be.
  return rules?.models && x.bodyReader !== null && x.bodyModels === null ? REJECTIONS.contextsUnavailable : null;
}
