/** Computes the upper bound of a call's cost, which a hard budget reserves before the call goes upstream. */

import { hasUnreportedCost, isInPath, locateCallModel } from '@acg/base/policy/call-rules';
import { parseModelFromPath } from '@acg/base/policy/parse-model-from-path';
import { getCallLimits, limitsOfAnyModel } from '../call/call-limits.js';
import type { CallMetering } from '../call/call-metering-interface.js';
import type { ReservedOutput, RoutedExchange } from '../call/exchange.js';
import {
  isImagePath,
  isSpeechPath,
  isVideoPath,
  normalizePath,
  VIDEO_SECONDS_MAX,
} from '../metering/reading/token-estimates.js';
import { createBodyModelReader } from '../policy/body/body-model-reader.js';
import { generatesNoText } from '../policy/reservation/body-dialect.js';
import { readFormReservationFacts } from '../policy/reservation/form-reservation-facts.js';
import { pickSpeedWithHeaders, readReservationFacts } from '../policy/reservation/reservation-facts.js';
import { CALL_WITHOUT_MODEL, type MaxCostInput, METERED_FORMATS, UNMETERED_CALL } from '../pricing/max-cost.js';
import { maxOutputImageTokens } from '../pricing/max-image-tokens.js';
import { createBodyProblemRejection } from '../rejection/body-model-rejections.js';
import { REJECTIONS, type Rejection } from '../rejection/rejections.js';

/** Models that search on their own, without a maximum: Groq's compound systems, OpenRouter's variants and presets. */
const SEARCHING_MODELS = /(?:^|\/)compound(?:-[a-z-]+)?$|:online$|@preset\//;
/**
 * A spoken character takes up to a second or more (a digit at a quarter of the speed), and a second is 21 tokens
 * (metering/reading/token-estimates.ts).
 */
const SPOKEN_TOKENS_PER_BYTE = 32;

/**
 * Runs before the body arrives. Rejects calls whose cost a budget or token limit would not see. With a hard budget it
 * also rejects calls whose cost cannot be bounded, and sets the reader of a body that must be read. Null: continue.
 */
export function precheckCostBound(exchange: RoutedExchange): Rejection | null {
  const { upstream, target } = exchange.routed;
  const { method } = exchange.request;
  const { hasHardBudget, hasCostLimit } = limitsOfAnyModel(exchange);
  const isMetered = METERED_FORMATS.has(upstream.usageFormat);
  if (!hasHardBudget || !isMetered) {
    if (hasCostLimit && hasUnreportedCost(upstream, method, target.providerPath, isMetered))
      return REJECTIONS.costNotReported;
    if (isMetered) readModelsIfPossible(exchange);
    else if (
      hasHardBudget &&
      !upstream.isCustom &&
      locateCallModel(upstream, method, target.providerPath) === 'unknown'
    )
      return REJECTIONS.costNotBoundable;
    return null;
  }
  if (exchange.handshake !== null) return REJECTIONS.costNotBoundable;
  const place = locateCallModel(upstream, method, target.providerPath);
  if (place === 'free') return null;
  if (place === 'unknown' || place === 'answer' || place === 'batch') return REJECTIONS.costNotBoundable;
  if (isInPath(place) && parseModelFromPath(target.providerPath, place) === null) return REJECTIONS.costNotBoundable;
  if (exchange.admission.bodyReader !== null) return null;
  if (exchange.body === null) return createBodyProblemRejection('not_readable');
  const reader = createBodyModelReader(isInPath(place) ? 'unnamed' : place, exchange.request.headers);
  if (typeof reader === 'string') return createBodyProblemRejection(reader);
  exchange.admission.bodyReader = reader;
  return null;
}

/**
 * Sets a reader of the models where a budget counts some models only. Nothing is rejected for a body that cannot be
 * read: budgets of every model count it.
 */
function readModelsIfPossible(exchange: RoutedExchange): void {
  const { admission, body, request, routed } = exchange;
  if (!limitsOfAnyModel(exchange).hasModelFilters || admission.bodyReader !== null || body === null) return;
  const place = locateCallModel(routed.upstream, request.method, routed.target.providerPath);
  if (place === 'free' || place === 'unknown' || place === 'answer' || isInPath(place)) return;
  const reader = createBodyModelReader(place, request.headers);
  if (typeof reader === 'string') return;
  admission.bodyReader = reader;
  admission.needsModels = false;
}

/**
 * Returns the nano-dollars that the call must reserve, or why it cannot be admitted; 0 without a hard budget that counts
 * it. Runs when the body is complete, once for each context.
 */
export function computeNeededReservation(
  exchange: RoutedExchange,
  metering: Pick<CallMetering, 'maxCostNanos'>,
): number | Rejection {
  const { admission } = exchange;
  if (!getCallLimits(exchange, metering).hasHardBudget) return 0;
  if (admission.neededNanos === null) {
    const needed = computeReservation(exchange, metering);
    if (typeof needed !== 'number') return needed;
    admission.neededNanos = needed;
  }
  return admission.neededNanos;
}

/**
 * Returns nano-dollars, or why the call cannot be admitted; 0 without a hard budget. Runs when the body is complete.
 * Sets `reservedOutput`.
 */
export function computeReservation(
  exchange: RoutedExchange,
  metering: Pick<CallMetering, 'maxCostNanos'>,
): number | Rejection {
  const { upstream, target } = exchange.routed;
  const limits = getCallLimits(exchange, metering);
  if (!limits.hasHardBudget) return 0;
  if (!METERED_FORMATS.has(upstream.usageFormat)) {
    return metering.maxCostNanos(exchange, UNMETERED_CALL);
  }
  const place = locateCallModel(upstream, exchange.request.method, target.providerPath);
  if (place === 'free') {
    return metering.maxCostNanos(exchange, CALL_WITHOUT_MODEL);
  }
  // The budget became a hard budget while the call was in flight: the body of a retry will be read.
  if (exchange.admission.bodyModels === null || exchange.body === null) return REJECTIONS.contextsUnavailable;
  const body = exchange.upstreamCall.repeatable?.body ?? exchange.body.peekWhole();
  const path = normalizePath(target.providerPath);
  const models = isInPath(place)
    ? [parseModelFromPath(target.providerPath, place) ?? '']
    : exchange.admission.bodyModels;
  if (models.some((model) => SEARCHING_MODELS.test(model))) return REJECTIONS.costUnbounded;
  const isForm = body[0] === 0x2d; // a form begins with a dash
  const { usageFormat: format, ignoredToolMaxima } = upstream;
  const facts = isForm
    ? readFormReservationFacts(body, exchange.request.headers, path)
    : readReservationFacts(body, { format, path, model: models[0] ?? '', ignoredToolMaxima });
  if (facts === 'invalid') return REJECTIONS.invalidOutputMaximum;
  if (facts === 'unbounded') return REJECTIONS.costUnbounded;
  const { outputTokensMax, answerCount: answers, predictedTokens, hostedTools: hosted } = facts;
  const { turnsMax: turns } = hosted;
  const perAnswer =
    outputTokensMax ?? defaultOutputTokensMax(path, models[0] ?? '', body.length, limits.defaultMaxOutputTokens);
  const textOut = perAnswer * answers * turns + predictedTokens * answers;
  const images = isImagePath(path) ? answers : facts.generatedImages;
  const call: MaxCostInput = {
    ...CALL_WITHOUT_MODEL,
    tokensIn: facts.textTokens,
    bytesIn: body.length,
    audioSeconds: facts.audioSeconds,
    inputImages: facts.inputImages,
    inputPages: facts.inputPages,
    inputCount: facts.inputCount,
    turns,
    hasExternalContent: facts.hasExternalContent,
    speed: pickSpeedWithHeaders(facts.speed, exchange.request.headers),
    cacheTtl: facts.cacheTtl,
    videoSeconds: isVideoPath(path) ? VIDEO_SECONDS_MAX : 0,
    images,
    toolUses: hosted.usesMax * answers,
    searchUnits: facts.searchUnits,
    containers: hosted.containers,
  };
  let nanos = 0;
  for (const model of models) {
    const tokensOut = textOut + images * maxOutputImageTokens(model, facts.partialImages);
    const held = { ...call, model, tokensOut };
    const bound = metering.maxCostNanos(exchange, held);
    if (exchange.admission.reservedOutput !== null && bound < nanos) continue;
    nanos = bound;
    exchange.admission.reservedOutput = {
      tokens: tokensOut,
      isStatedByRequest: outputTokensMax !== null,
      answerCount: answers,
      call: held,
    };
  }
  return nanos;
}

/** Default output tokens of a request that states no maximum. */
function defaultOutputTokensMax(path: string, model: string, bodyBytes: number, tokensMax: number): number {
  if (isImagePath(path)) return 0; // priced per image
  if (generatesNoText(path, model)) return 0;
  return isSpeechPath(path) ? Math.max(tokensMax, bodyBytes * SPOKEN_TOKENS_PER_BYTE) : tokensMax;
}

/**
 * Highest price of one output token beyond the reserved ones, in nano-dollars, usually a fraction; 0: output is free.
 */
export function computeOutputNanosPerToken(
  exchange: RoutedExchange,
  { call }: ReservedOutput,
  metering: Pick<CallMetering, 'maxCostNanos'>,
): number {
  const more = { ...call, tokensOut: call.tokensOut + RATE_TOKENS };
  return (metering.maxCostNanos(exchange, more) - metering.maxCostNanos(exchange, call)) / RATE_TOKENS;
}

const RATE_TOKENS = 1_000_000;
