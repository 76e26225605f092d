/** The most that a call can cost by a plan, whatever of its input turns out to be cached, read aloud or drawn. Pure. */
import type { PricePlan, TokenRates, Vendor } from '@acg/base/pricing/price-plan';
import { maxInputImageTokens, maxPageTokens } from './max-image-tokens.js';
import { dearestImagePico } from './usage-cost.js';

/** What is known of a call before it is made. */
export interface MaxCostInput {
  /** Null: no model is used. */
  readonly model: string | null;
  /** Never fewer than it can have; bytes of its text will do. */
  readonly tokensIn: number;
  /** Bytes of its body: of text that is spoken, when it holds some. */
  readonly bytesIn: number;
  /** Of recordings; null: not known, so that a price by the second has no bound. */
  readonly audioSeconds: number | null;
  /** Images that are read. */
  readonly inputImages: number;
  /** Pages of PDFs, of which each is read as an image beside its text. */
  readonly inputPages: number;
  /** Of all answers and turns together, images that are drawn among them. */
  readonly tokensOut: number;
  /** Inputs of which each can fill the model's window. */
  readonly inputCount: number;
  /** How often the model may read its whole input, with what tools have found. */
  readonly turns: number;
  /** It refers to content that is not in it: that may fill the model's window. */
  readonly hasExternalContent: boolean;
  /** The service tier that is asked for; `dearest`: it is not known here. */
  readonly speed: 'usual' | 'fast' | 'dearest';
  /** What of the input it asks to keep in the provider's cache, and for how long. */
  readonly cacheTtl: 'none' | '5m' | '1h';
  /** That may be made. */
  readonly videoSeconds: number;
  readonly images: number;
  /** Uses of hosted searches, and containers of 1 GB. */
  readonly toolUses: number;
  readonly containers: number;
  /** How often a per-request price is due. */
  readonly units: number;
}

/** A call that uses no model. */
export const CALL_WITHOUT_MODEL: MaxCostInput = {
  model: null,
  tokensIn: 0,
  bytesIn: 0,
  audioSeconds: 0,
  inputImages: 0,
  inputPages: 0,
  tokensOut: 0,
  inputCount: 1,
  turns: 1,
  hasExternalContent: false,
  speed: 'usual',
  cacheTtl: 'none',
  videoSeconds: 0,
  images: 0,
  toolUses: 0,
  containers: 0,
  units: 1,
};

/** Of a model whose context is not known: no vendor that is priced here has a longer one. */
const DEFAULT_CONTEXT_TOKENS = 2_000_000;
/** Price lists round windows: 1 000 000 stands for 1 047 576 and 1 050 000, too. */
const ROUND_CONTEXT_TOKENS = 1_000_000;
const CONTEXT_ROUNDING = 1.05;
/** Their window of 200 000 is one of a million where a beta header asks for it. */
const LONG_BY_HEADER = /^claude-sonnet-4-(?:0|5|2025)/;
const PICO_PER_NANO = 1_000;
/** $25 per 1000: the dearest search of either vendor (developers.openai.com/api/docs/pricing, search preview). */
const PICO_PER_SEARCH_MAX = 25_000_000_000;
const PICO_PER_CONTAINER = 30_000_000_000;

/** Nano-dollars. `vendor`: whose formulas for images and caches hold; null = not known. */
export function calculateMaxCostNanos(plan: PricePlan, vendor: Vendor | null, call: MaxCostInput): number {
  const { bytesIn, audioSeconds: heardSeconds, tokensOut, videoSeconds, images } = call;
  if (heardSeconds === null && plan.picoPerAudioSecond > 0) return Number.MAX_SAFE_INTEGER;
  const tokensIn = maxInputTokens(plan, vendor, call.model ?? '', call);
  let inRate = 0;
  let outRate = 0;
  for (const { aboveTokensIn, rates } of plan.bands) {
    if (tokensIn < aboveTokensIn) continue;
    inRate = Math.max(inRate, maxInputRate(vendor, rates, call));
    outRate = Math.max(outRate, rates.output, rates.audioOut, rates.imageOut);
  }
  const heardPico = (heardSeconds ?? 0) * plan.picoPerAudioSecond;
  const videoPico = videoSeconds * Math.max(plan.picoPerVideoSecond, plan.picoPerLargeVideoSecond);
  // A character has a byte at least.
  const spokenPico = bytesIn * plan.picoPerCharacter;
  const drawnPico = plan.picoPerImage === null ? 0 : images * dearestImagePico(plan.picoPerImage);
  const toolsPico =
    call.toolUses * Math.max(plan.picoPerWebSearch, PICO_PER_SEARCH_MAX) + call.containers * PICO_PER_CONTAINER;
  // Whatever tier and region the answer turns out to have.
  const percent = (maxSpeedPercent(plan, call) * Math.max(100, plan.tiers.us)) / 100;
  const tokensPico = ((tokensIn * inRate + tokensOut * outRate) * percent) / 100;
  const pico = tokensPico + heardPico + videoPico + spokenPico + drawnPico + toolsPico;
  return Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(pico / PICO_PER_NANO));
}

function maxSpeedPercent({ tiers }: PricePlan, { speed }: MaxCostInput): number {
  if (speed === 'usual') return 100;
  const fast = Math.max(100, tiers.priority, tiers.fast);
  return speed === 'fast' ? fast : Math.max(fast, tiers.ultrafast);
}

/** What is known is counted; what is not fills the window of each input, at each turn. */
function maxInputTokens(plan: PricePlan, vendor: Vendor | null, model: string, call: MaxCostInput): number {
  const {
    tokensIn,
    inputImages: imagesIn,
    inputPages: pagesIn,
    inputCount: inputs,
    turns,
    hasExternalContent: refers,
  } = call;
  const perImage = maxInputImageTokens(vendor, model);
  const perPage = maxPageTokens(vendor, model);
  const known = tokensIn + imagesIn * (perImage ?? 0) + pagesIn * (perPage ?? 0);
  const isUnknown = refers || turns > 1 || (imagesIn > 0 && perImage === null) || (pagesIn > 0 && perPage === null);
  if (!isUnknown && plan.contextTokens === null) return known;
  const window = contextWindowTokens(plan, model) * inputs;
  return isUnknown ? window * turns : Math.min(known, window);
}

function contextWindowTokens({ contextTokens }: PricePlan, model: string): number {
  const tokens = LONG_BY_HEADER.test(model) ? ROUND_CONTEXT_TOKENS : (contextTokens ?? DEFAULT_CONTEXT_TOKENS);
  return tokens >= ROUND_CONTEXT_TOKENS ? Math.ceil(tokens * CONTEXT_ROUNDING) : tokens;
}

/** Anthropic writes into its cache only what a request marks; others do as they like. */
function maxInputRate(vendor: Vendor | null, rates: TokenRates, { cacheTtl }: MaxCostInput): number {
  const { input, cacheRead, cacheWrite, cacheWrite1h, audioIn, imageIn } = rates;
  const isMarked = vendor !== 'anthropic' || cacheTtl !== 'none';
  const isLong = vendor !== 'anthropic' || cacheTtl === '1h';
  return Math.max(input, cacheRead, isMarked ? cacheWrite : 0, isLong ? cacheWrite1h : 0, audioIn, imageIn);
}
