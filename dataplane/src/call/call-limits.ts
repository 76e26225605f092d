/**
 * The limits that apply to one call: which budget rows count it, by the models that it names and by its tags
 * (docs/contract.md#limits). Tags are read from the head, models from the path or the body.
 */
import { isInPath, locateCallModel } from '@acg/base/policy/call-rules';
import { isPlainModelName, namesPreset } from '@acg/base/policy/model-rule';
import { parseModelFromPath } from '@acg/base/policy/parse-model-from-path';
import { type AgentLimits, limitsOfCall } from '../limits/agent-limits.js';
import { METERED_FORMATS, UNMETERED_CALL } from '../pricing/max-cost.js';
import type { CallMetering } from './call-metering-interface.js';
import type { RoutedExchange } from './exchange.js';

const NO_MODELS: readonly string[] = [];

/** Before the body was read: the rows that may count the call, whatever model it will name. */
export const limitsOfAnyModel = ({ routed, admission }: RoutedExchange): AgentLimits =>
  limitsOfCall(routed.context.agentLimits, null, admission.tags);

/** Before the body was read: the rows that count the call for certain. */
export function limitsBeforeBody(exchange: RoutedExchange): AgentLimits {
  const { agentLimits } = exchange.routed.context;
  if (!agentLimits.hasFilters) return agentLimits;
  return limitsOfCall(agentLimits, findModelInPath(exchange) ?? NO_MODELS, exchange.admission.tags);
}

/** The rows that count the call. Runs when the body was read, as far as it will be, once for each context. */
export function getCallLimits(exchange: RoutedExchange, metering: Pick<CallMetering, 'maxCostNanos'>): AgentLimits {
  const { agentLimits } = exchange.routed.context;
  if (!agentLimits.hasFilters) return agentLimits;
  const { admission } = exchange;
  admission.limits ??= limitsOfCall(agentLimits, findModels(exchange, metering), admission.tags);
  return admission.limits;
}

/** Null: the call may cost something and names no model that the gateway can read, so rows of every model count it. */
function findModels(exchange: RoutedExchange, metering: Pick<CallMetering, 'maxCostNanos'>): readonly string[] | null {
  const models = findModelInPath(exchange) ?? exchange.admission.bodyModels ?? NO_MODELS;
  if (models.length > 0) return models.every(isKnownModel) ? models : null;
  return isPriced(exchange, metering) ? null : NO_MODELS;
}

const isKnownModel = (model: string): boolean => isPlainModelName(model) && !namesPreset(model);

function findModelInPath({ request, routed: { upstream, target } }: RoutedExchange): readonly string[] | null {
  const place = locateCallModel(upstream, request.method, target.providerPath);
  const model = isInPath(place) ? parseModelFromPath(target.providerPath, place) : null;
  return model === null ? null : [model];
}

function isPriced(exchange: RoutedExchange, metering: Pick<CallMetering, 'maxCostNanos'>): boolean {
  const { request, routed } = exchange;
  const { upstream, target } = routed;
  const usesModel = locateCallModel(upstream, request.method, target.providerPath) !== 'free';
  return (
    (METERED_FORMATS.has(upstream.usageFormat) && usesModel) || metering.maxCostNanos(exchange, UNMETERED_CALL) > 0
  );
}
