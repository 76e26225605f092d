/** The most that a call can cost by a plan, whatever of its input turns out to be cached, read aloud or drawn. Pure. */
import type { PricePlan } from '@acg/base/pricing/price-plan';
import { dearestImagePico } from './cost.js';

/** What is known of a call before it is made. */
export interface BoundedCall {
  /** Null: no model is used. */
  readonly model: string | null;
  /** Never fewer than it can have; bytes of its body will do. */
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** It refers to content that is not in it: that may fill the model's context. */
  readonly refers: boolean;
  readonly fast: boolean;
  /** That may be made. */
  readonly videoSeconds: number;
  readonly images: number;
  /** How often a per-request price is due. */
  readonly units: number;
}

/** Of a model whose context is not known. */
const CONTEXT_TOKENS = 1_000_000;
/** Of speech as low in quality as anybody records it. */
const HEARD_BYTES_PER_SECOND_MIN = 1_000;
const PICO_PER_NANO = 1_000;

export function boundNanos(plan: PricePlan, call: BoundedCall): number {
  const { tokensIn, tokensOut, refers, fast, videoSeconds, images } = call;
  const context = plan.contextTokens ?? CONTEXT_TOKENS;
  const input = refers ? context : Math.min(tokensIn, plan.contextTokens ?? tokensIn);
  let inRate = 0;
  let outRate = 0;
  for (const { rates } of plan.bands) {
    inRate = Math.max(
      inRate,
      rates.input,
      rates.cacheRead,
      rates.cacheWrite,
      rates.cacheWrite1h,
      rates.audioIn,
      rates.imageIn,
    );
    outRate = Math.max(outRate, rates.output, rates.audioOut, rates.imageOut);
  }
  const heardPico = Math.ceil(tokensIn / HEARD_BYTES_PER_SECOND_MIN) * plan.picoPerAudioSecond;
  const videoPico = videoSeconds * Math.max(plan.picoPerVideoSecond, plan.picoPerLargeVideoSecond);
  // A character has a byte at least.
  const spokenPico = tokensIn * plan.picoPerCharacter;
  const drawnPico = plan.picoPerImage === null ? 0 : images * dearestImagePico(plan.picoPerImage);
  const { tiers } = plan;
  // Whatever tier and region the answer turns out to have.
  const tierPercent = Math.max(100, tiers.us) / 100;
  const percent = (fast ? Math.max(100, tiers.priority, tiers.fast) : 100) * tierPercent;
  const tokensPico = ((input * inRate + tokensOut * outRate) * percent) / 100;
  return Math.ceil((tokensPico + heardPico + videoPico + spokenPico + drawnPico) / PICO_PER_NANO);
}
