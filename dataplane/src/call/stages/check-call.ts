/**
 * What the agent may call: sensitive calls, its policy's calls, and the model where the path names it. A model that the
 * body names is read in check-models.ts, once the body is here.
 */
import { bodyReader, modelInPath } from '../../policy/body-models.js';
import { type CallRules, callRulesOf, type ModelPlace } from '../../policy/call-rules.js';
import { bodyRefusal, modelRefusal } from '../denials.js';
import type { RoutedExchange } from '../exchange.js';
import { DONE, NEXT, type RoutedStage } from '../pipeline.js';
import { denied, REJECTIONS, type Rejection } from '../rejections.js';

export const checkCall: RoutedStage = (x) => {
  const rules = callRulesOf(x.routed.upstream);
  if (rules === null) return NEXT;
  const rejection = callRefusal(x, rules);
  if (rejection === null) return NEXT;
  x.reject(rejection);
  return DONE;
};

/** Null: the call is allowed, as far as it is known before its body. */
export function callRefusal(x: RoutedExchange, rules: CallRules): Rejection | null {
  const { method, headers } = x.request;
  const { rest, query, shape } = x.routed.target;
  if (rules.sensitive(method, rest, query, headers)) return REJECTIONS.sensitivePath;
  if (!rules.allows(method, rest, shape === 'regular', query, headers)) return callDenied(x);
  return rules.models === null ? null : placeRefusal(x, rules, rules.modelPlace(method, rest));
}

function placeRefusal(x: RoutedExchange, rules: CallRules, place: ModelPlace): Rejection | null {
  // The frames of a WebSocket name models that nobody reads here.
  if (place === 'unknown' || x.handshake !== null) return callDenied(x);
  if (place === 'answer') return callDenied(x);
  if (place === 'free') return null;
  if (place === 'json' || place === 'form' || place === 'json_or_form' || place === 'batch') {
    if (x.bodyModels !== null) return modelRefusal(rules, x.bodyModels);
    return planReading(x, place);
  }
  const model = modelInPath(x.routed.target.rest, place.slice('path:'.length));
  return model === null ? callDenied(x) : modelRefusal(rules, [model]);
}

function planReading(x: RoutedExchange, place: Parameters<typeof bodyReader>[0]): Rejection | null {
  if (x.body === null) return bodyRefusal('not_readable');
  const reader = bodyReader(place, x.request.headers);
  if (typeof reader === 'string') return bodyRefusal(reader);
  x.bodyReader = reader;
  return null;
}

const callDenied = (x: RoutedExchange): Rejection =>
  denied('call', `${x.request.method} ${x.routed.target.rest}`, 'The policy of this agent does not allow this call.');
