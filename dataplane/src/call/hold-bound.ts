/** The upper bound of what a call may cost, which a hard budget reserves before it goes upstream. */
import { isDrawing, isVideo, plainPath, VIDEO_SECONDS_MAX } from '../metering/estimate.js';
import { bodyReader } from '../policy/body-models.js';
import { callPlace } from '../policy/call-rules.js';
import { holdFacts } from '../policy/hold-facts.js';
import type { BoundedCall } from '../pricing/cost-bound.js';
import type { CallMetering } from './call-metering.js';
import { bodyRefusal } from './denials.js';
import type { RoutedExchange } from './exchange.js';
import type { HeldOutput } from './held-output.js';
import { REJECTIONS, type Rejection } from './rejections.js';

/** Formats whose calls cost what their bodies say. */
const METERED: ReadonlySet<string> = new Set(['openai', 'anthropic']);
/** A call that uses no model. */
const NO_MODEL: BoundedCall = {
  model: null,
  tokensIn: 0,
  tokensOut: 0,
  refers: false,
  fast: false,
  videoSeconds: 0,
  images: 0,
  units: 1,
};
/** Where nothing is metered; a batch of e-mails has at most so many. */
const UNMETERED: BoundedCall = { ...NO_MODEL, units: 100 };

/** Before the body: sets its reader where it must be read. Null: go on. */
export function planHold(x: RoutedExchange): Rejection | null {
  const { context, upstream, target } = x.routed;
  if (!context.terms.hardBudget || !METERED.has(upstream.usageFormat)) return null;
  if (x.handshake !== null) return REJECTIONS.unmetered;
  const place = callPlace(upstream, x.request.method, target.rest);
  if (place === 'free') return null;
  if (place === 'unknown' || place === 'batch' || place.startsWith('path:')) return REJECTIONS.unmetered;
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
  const facts = body[0] === 0x2d ? NO_FACTS : holdFacts(body); // a form begins with a dash
  if (facts === null) return REJECTIONS.oddMaximum;
  if (facts.background) return REJECTIONS.unmetered;
  const { outputTokensMax, answers, refers, fast } = facts;
  const tokensOut = (outputTokensMax ?? terms.holdMaxOutputTokens) * answers;
  x.heldOutput = { tokens: tokensOut, stated: outputTokensMax !== null, answers, fast };
  const path = plainPath(target.rest);
  const videoSeconds = isVideo(path) ? VIDEO_SECONDS_MAX : 0;
  const images = isDrawing(path) ? answers : 0;
  let nanos = 0;
  for (const model of x.bodyModels) {
    nanos = Math.max(
      nanos,
      metering.bound(x, { model, tokensIn: body.length, tokensOut, refers, fast, videoSeconds, images, units: 1 }),
    );
  }
  return nanos;
}

const NO_FACTS = { outputTokensMax: null, answers: 1, background: false, refers: true, fast: false };

/** What an output token may cost at most, nano-dollars (a fraction as a rule); 0: output is free. */
export function outputRate(x: RoutedExchange, { fast }: HeldOutput, metering: Pick<CallMetering, 'bound'>): number {
  let nanos = 0;
  for (const model of x.bodyModels ?? []) {
    const many = {
      model,
      tokensIn: 0,
      tokensOut: RATE_TOKENS,
      refers: false,
      fast,
      videoSeconds: 0,
      images: 0,
      units: 0,
    };
    nanos = Math.max(nanos, metering.bound(x, many));
  }
  return nanos / RATE_TOKENS;
}

const RATE_TOKENS = 1_000_000;
