/** The models that the body names, once it is here. */
import { callRulesOf } from '../../policy/call-rules.js';
import { bodyRefusal, modelRefusal } from '../denials.js';
import type { RoutedExchange } from '../exchange.js';
import { DONE, NEXT, type RoutedStage } from '../pipeline.js';
import type { Rejection } from '../rejections.js';

export const checkModels: RoutedStage = (x) => {
  if (x.bodyReader === null) return NEXT;
  const rejection = refusalOf(x);
  if (rejection === null) return NEXT;
  x.reject(rejection);
  return DONE;
};

function refusalOf(x: RoutedExchange): Rejection | null {
  const read = x.bodyReader!.finish(x.body!.whole());
  if ('problem' in read) return bodyRefusal(read.problem);
  x.bodyModels = read.models;
  const rules = callRulesOf(x.routed.upstream);
  return rules === null ? null : modelRefusal(rules, read.models);
}
