/** The most that a call can cost by a plan, whatever of its input turns out to be cached, read aloud or drawn. Pure. */
import type { PricePlan } from './price-plan.js';

export interface BoundedCost {
  /** Null: no model is used. */
  readonly model: string | null;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** It refers to content that is not in it: that may fill the model's context. */
  readonly refers: boolean;
  readonly fast: boolean;
  /** How often a per-request price is due. */
  readonly units: number;
}

/** Of a model whose context is not known. */
const CONTEXT_TOKENS = 1_000_000;
const PICO_PER_NANO = 1_000;
/** Anthropic's surcharge for a region, in percent. */
const REGION_PERCENT = 110;

export function boundNanos(plan: PricePlan, { tokensIn, tokensOut, refers, fast }: BoundedCost): number {
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
  let percent = fast ? plan.fastPercent : 100;
  if (plan.vendor === 'anthropic') percent = (percent * REGION_PERCENT) / 100;
  return Math.ceil(((input * inRate + tokensOut * outRate) * percent) / 100 / PICO_PER_NANO);
}
