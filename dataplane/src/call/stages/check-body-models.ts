/** The models that the body names, once it is here. */
import { getCallRules } from '../../policy/call-rules.js';
import { checkModelsAllowed, createBodyProblemRejection } from '../../rejection/body-rejections.js';
import type { Rejection } from '../../rejection/rejections.js';
import type { RoutedExchange } from '../exchange.js';
import { DONE, NEXT, type RoutedStage } from '../pipeline.js';

export const checkBodyModels: RoutedStage = (exchange) => {
  if (exchange.admission.bodyReader === null) return NEXT;
  const rejection = readAndCheckModels(exchange);
  if (rejection === null) return NEXT;
  exchange.reject(rejection);
  return DONE;
};

function readAndCheckModels(exchange: RoutedExchange): Rejection | null {
  const read = exchange.admission.bodyReader!.finish(exchange.body!.peekWhole());
  if ('problem' in read) return createBodyProblemRejection(read.problem);
  exchange.admission.bodyModels = read.models;
  const rules = getCallRules(exchange.routed.upstream);
  return rules === null ? null : checkModelsAllowed(rules, read.models);
}
