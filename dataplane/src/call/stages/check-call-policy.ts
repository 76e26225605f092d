/**
 * What the agent may call: sensitive calls, its policy's calls, and the model where the path names it. A model that the
 * body names is read in check-models.ts, once the body is here.
 */
import { createBodyModelReader, parseModelFromPath } from '../../policy/body/body-model-reader.js';
import { type CallRules, getCallRules, type ModelLocation } from '../../policy/call-rules.js';
import { checkModelsAllowed, createBodyProblemRejection } from '../../rejection/body-rejections.js';
import { createForbiddenRejection, REJECTIONS, type Rejection } from '../../rejection/rejections.js';
import type { RoutedExchange } from '../exchange.js';
import { DONE, NEXT, type RoutedStage } from '../pipeline.js';

export const checkCallPolicy: RoutedStage = (x) => {
  const rules = getCallRules(x.routed.upstream);
  if (rules === null) return NEXT;
  const rejection = checkCallRules(x, rules);
  if (rejection === null) return NEXT;
  x.reject(rejection);
  return DONE;
};

/** Null: the call is allowed, as far as it is known before its body. */
export function checkCallRules(x: RoutedExchange, rules: CallRules): Rejection | null {
  const { method, headers } = x.request;
  const { providerPath: rest, query, shape } = x.routed.target;
  if (rules.isSensitive(method, rest, query, headers)) return REJECTIONS.sensitivePath;
  if (!rules.allows(method, rest, shape === 'regular', query, headers)) return createCallForbiddenRejection(x);
  return rules.models === null ? null : checkModelPlace(x, rules, rules.locateModel(method, rest));
}

function checkModelPlace(x: RoutedExchange, rules: CallRules, place: ModelLocation): Rejection | null {
  // The frames of a WebSocket name models that nobody reads here.
  if (place === 'unknown' || x.handshake !== null) return createCallForbiddenRejection(x);
  if (place === 'answer') return createCallForbiddenRejection(x);
  if (place === 'free') return null;
  if (place === 'json' || place === 'form' || place === 'json_or_form' || place === 'batch') {
    if (x.bodyModels !== null) return checkModelsAllowed(rules, x.bodyModels);
    return planBodyRead(x, place);
  }
  const model = parseModelFromPath(x.routed.target.providerPath, place.slice('path:'.length));
  return model === null ? createCallForbiddenRejection(x) : checkModelsAllowed(rules, [model]);
}

function planBodyRead(x: RoutedExchange, place: Parameters<typeof createBodyModelReader>[0]): Rejection | null {
  if (x.body === null) return createBodyProblemRejection('not_readable');
  const reader = createBodyModelReader(place, x.request.headers);
  if (typeof reader === 'string') return createBodyProblemRejection(reader);
  x.bodyReader = reader;
  return null;
}

const createCallForbiddenRejection = (x: RoutedExchange): Rejection =>
  createForbiddenRejection(
    'call',
    `${x.request.method} ${x.routed.target.providerPath}`,
    'The policy of this agent does not allow this call.',
  );
