/** The models that the body names, once it is here. */
import { getCallRules } from '../../policy/call-rules.js';
import { checkModelsAllowed, createBodyProblemRejection } from '../../rejection/body-rejections.js';
import type { Rejection } from '../../rejection/rejections.js';
import type { RoutedExchange } from '../exchange.js';
import { DONE, NEXT, type RoutedStage } from '../pipeline.js';

export const checkBodyModels: RoutedStage = (x) => {
  if (x.bodyReader === null) return NEXT;
  const rejection = readAndCheckModels(x);
  if (rejection === null) return NEXT;
  x.reject(rejection);
  return DONE;
};

function readAndCheckModels(x: RoutedExchange): Rejection | null {
  const read = x.bodyReader!.finish(x.body!.peekWhole());
  if ('problem' in read) return createBodyProblemRejection(read.problem);
  x.bodyModels = read.models;
  const rules = getCallRules(x.routed.upstream);
  return rules === null ? null : checkModelsAllowed(rules, read.models);
}
