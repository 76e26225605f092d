/** The upper bound of what a call may cost, which a hard budget reserves before it goes upstream. */
import { isDrawing, isSpeech, isVideo, plainPath, VIDEO_SECONDS_MAX } from '../metering/estimate.js';
import { bodyReader } from '../policy/body-models.js';
import { callPlace, costsUnseen } from '../policy/call-rules.js';
import { formFacts } from '../policy/form-facts.js';
import { holdFacts } from '../policy/hold-facts.js';
import { type BoundedCall, NO_MODEL } from '../pricing/cost-bound.js';
import { imageTokensOut } from '../pricing/image-tokens.js';
import type { CallMetering } from './call-metering.js';
import { bodyRefusal } from './denials.js';
import type { RoutedExchange } from './exchange.js';
import type { HeldOutput } from './held-output.js';
import { REJECTIONS, type Rejection } from './rejections.js';

/** Formats whose calls cost what their bodies say. */
const METERED: ReadonlySet<string> = new Set(['openai', 'anthropic']);
/** Where nothing is metered; a batch of e-mails has at most so many. */
const UNMETERED: BoundedCall = { ...NO_MODEL, units: 100 };
/**
 * A character can be spoken for a second and more (a digit, at a quarter of the speed), and a second is 21 tokens
 * (metering/estimate.ts).
 */
const SPOKEN_TOKENS_PER_BYTE = 32;

/**
 * Before the body: refuses what a budget, or a limit of tokens, would not see. With a hard budget it also refuses what
 * cannot be bounded, and sets the body's reader where it must be read. Null: go on.
 */
export function planHold(x: RoutedExchange): Rejection | null {
  const { context, upstream, target } = x.routed;
  const { hardBudget, limitsCost } = context.terms;
  if (!limitsCost || !METERED.has(upstream.usageFormat)) return null;
  if (!hardBudget) return costsUnseen(upstream, x.request.method, target.rest) ? REJECTIONS.unseen : null;
  if (x.handshake !== null) return REJECTIONS.unmetered;
  const place = callPlace(upstream, x.request.method, target.rest);
  if (place === 'free') return null;
  if (place === 'unknown' || place === 'answer' || place === 'batch' || place.startsWith('path:'))
    return REJECTIONS.unmetered;
  if (x.bodyReader !== null) return null;
  if (x.body === null) return bodyRefusal('not_readable');
  const reader = bodyReader(place as 'json' | 'form' | 'json_or_form', x.request.headers);
  if (typeof reader === 'string') return bodyRefusal(reader);
  x.bodyReader = reader;
  return null;
}

/** Nano-dollars, or why the call cannot be admitted. Once the body is here; 0 without a hard budget. Sets heldOutput. */
export function holdOf(x: RoutedExchange, metering: Pick<CallMetering, 'bound'>): number | Rejection {
  const { context, upstream, target } = x.routed;
  const { terms } = context;
  if (!terms.hardBudget) return 0;
  if (!METERED.has(upstream.usageFormat)) {
    return metering.bound(x, UNMETERED);
  }
  if (callPlace(upstream, x.request.method, target.rest) === 'free') {
    return metering.bound(x, NO_MODEL);
  }
  // The budget became a hard one while the call was under way: the next try will be read.
  if (x.bodyModels === null || x.body === null) return REJECTIONS.contextsUnavailable;
  const body = x.body.whole();
  const path = plainPath(target.rest);
  const isForm = body[0] === 0x2d; // a form begins with a dash
  const facts = isForm ? formFacts(body, x.request.headers, path) : holdFacts(body, path);
  if (facts === 'odd') return REJECTIONS.oddMaximum;
  if (facts === 'unbounded') return REJECTIONS.unbounded;
  const { outputTokensMax, answers, predictedTokens, speed, hosted } = facts;
  const { turns } = hosted;
  const perAnswer = outputTokensMax ?? outputMaxOf(path, body.length, terms.holdMaxOutputTokens);
  const textOut = perAnswer * answers * turns + predictedTokens * answers;
  const images = isDrawing(path) ? answers : 0;
  const call: BoundedCall = {
    ...NO_MODEL,
    tokensIn: facts.textTokens,
    bytesIn: body.length,
    heardSeconds: facts.heardSeconds,
    imagesIn: facts.imagesIn,
    pagesIn: facts.pagesIn,
    inputs: facts.inputs,
    turns,
    refers: facts.refers,
    speed,
    cacheTtl: facts.cacheTtl,
    videoSeconds: isVideo(path) ? VIDEO_SECONDS_MAX : 0,
    images,
    toolUses: hosted.uses * answers,
    containers: hosted.containers,
  };
  let nanos = 0;
  for (const model of x.bodyModels) {
    const tokensOut = textOut + images * imageTokensOut(model, facts.partialImages);
    const held = { ...call, model, tokensOut };
    const bound = metering.bound(x, held);
    if (x.heldOutput !== null && bound < nanos) continue;
    nanos = bound;
    x.heldOutput = { tokens: tokensOut, stated: outputTokensMax !== null, answers, call: held };
  }
  return nanos;
}

/** Where the request states no maximum. */
function outputMaxOf(path: string, bodyBytes: number, tokensMax: number): number {
  if (isDrawing(path)) return 0; // by the image
  if (/\/(?:embeddings|moderations)$/.test(path)) return 0;
  return isSpeech(path) ? Math.max(tokensMax, bodyBytes * SPOKEN_TOKENS_PER_BYTE) : tokensMax;
}

/** What an output token beyond those that are held may cost at most, nano-dollars (a fraction as a rule); 0: it is free. */
export function outputRate(x: RoutedExchange, { call }: HeldOutput, metering: Pick<CallMetering, 'bound'>): number {
  const more = { ...call, tokensOut: call.tokensOut + RATE_TOKENS };
  return (metering.bound(x, more) - metering.bound(x, call)) / RATE_TOKENS;
}

const RATE_TOKENS = 1_000_000;
