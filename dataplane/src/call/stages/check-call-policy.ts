/**
 * Checks what the agent may call: sensitive calls, its policy's calls, and a model in the path. A model in the body is
 * checked once the body has arrived.
 */

import { type CallRules, getCallRules, type ModelLocation } from '@acg/base/policy/call-rules';
import { parseModelFromPath } from '@acg/base/policy/parse-model-from-path';
import { createBodyModelReader } from '../../policy/body/body-model-reader.js';
import { checkModelsAllowed, createBodyProblemRejection } from '../../rejection/body-model-rejections.js';
import { createForbiddenRejection, REJECTIONS, type Rejection } from '../../rejection/rejections.js';
import type { RoutedExchange } from '../exchange.js';
import { DONE, NEXT, type RoutedStage } from '../pipeline.js';

export const checkCallPolicy: RoutedStage = (exchange) => {
  const rules = getCallRules(exchange.routed.upstream);
  if (rules === null) return NEXT;
  const rejection = checkCallRules(exchange, rules);
  if (rejection === null) return NEXT;
  exchange.reject(rejection);
  return DONE;
};

/** Null: the call is allowed, as far as is known before its body. */
export function checkCallRules(exchange: RoutedExchange, rules: CallRules): Rejection | null {
  const { method, headers } = exchange.request;
  const { providerPath, query, shape } = exchange.routed.target;
  if (rules.isSensitive(method, providerPath, query, headers)) return REJECTIONS.sensitivePath;
  if (rules.isOpaque(method, providerPath, query, headers)) return REJECTIONS.opaqueCall;
  if (!rules.allows(method, providerPath, shape === 'regular', query, headers))
    return createCallForbiddenRejection(exchange);
  return rules.models === null ? null : checkModelAtLocation(exchange, rules, rules.locateModel(method, providerPath));
}

function checkModelAtLocation(exchange: RoutedExchange, rules: CallRules, location: ModelLocation): Rejection | null {
  // The gateway does not read the models that WebSocket messages name.
  if (location === 'unknown' || exchange.handshake !== null) return createCallForbiddenRejection(exchange);
  if (location === 'answer') return createCallForbiddenRejection(exchange);
  if (location === 'free') return null;
  if (location === 'json' || location === 'form' || location === 'json_or_form' || location === 'batch') {
    if (exchange.admission.bodyModels !== null) return checkModelsAllowed(rules, exchange.admission.bodyModels);
    return setBodyModelReader(exchange, location);
  }
  const model = parseModelFromPath(exchange.routed.target.providerPath, location);
  return model === null ? createCallForbiddenRejection(exchange) : checkModelsAllowed(rules, [model]);
}

function setBodyModelReader(
  exchange: RoutedExchange,
  location: Parameters<typeof createBodyModelReader>[0],
): Rejection | null {
  if (exchange.body === null) return createBodyProblemRejection('not_readable');
  const reader = createBodyModelReader(location, exchange.request.headers);
  if (typeof reader === 'string') return createBodyProblemRejection(reader);
  exchange.admission.bodyReader = reader;
  return null;
}

const createCallForbiddenRejection = (exchange: RoutedExchange): Rejection =>
  createForbiddenRejection(
    'call',
    `${exchange.request.method} ${exchange.routed.target.providerPath}`,
    'The policy of this agent does not allow this call.',
  );

/** Checks the models that the body names, once the body has arrived. */
export const checkBodyModels: RoutedStage = (exchange) => {
  if (exchange.admission.bodyReader === null) return NEXT;
  const rejection = readAndCheckModels(exchange);
  if (rejection === null) return NEXT;
  exchange.reject(rejection);
  return DONE;
};

function readAndCheckModels(exchange: RoutedExchange): Rejection | null {
  const { admission, body } = exchange;
  if (!admission.needsModels && !body!.isComplete) return null; // too long to be read
  const read = admission.bodyReader!.finish(body!.peekWhole());
  if ('problem' in read) return admission.needsModels ? createBodyProblemRejection(read.problem) : null;
  exchange.admission.bodyModels = read.models;
  const rules = getCallRules(exchange.routed.upstream);
  return rules === null ? null : checkModelsAllowed(rules, read.models);
}
