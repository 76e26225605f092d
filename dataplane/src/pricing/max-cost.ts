/** Maximum cost of a call by a price plan, whatever part of its input turns out to be cached, spoken or drawn. Pure. */
import type { PriceBand, PricePlan } from '@acg/base/pricing/price-plan';
import { type ModelVendor, maxInputImageTokens, maxPageTokens } from './max-image-tokens.js';
import { maxImageKindPico } from './usage-cost.js';

/** What is known of a call before it is forwarded. */
export interface MaxCostInput {
  /** Null: the call uses no model. */
  readonly model: string | null;
  /** Upper bound of the input tokens; the bytes of the text are one. */
  readonly tokensIn: number;
  /** Bytes of the request body; upper bound of the characters for speech. */
  readonly bytesIn: number;
  /** Length of audio input, seconds; null: unknown, so a price per second has no bound. */
  readonly audioSeconds: number | null;
  /** Number of input images. */
  readonly inputImages: number;
  /** Number of PDF pages; each is read as an image in addition to its text. */
  readonly inputPages: number;
  /** Maximum output tokens of all choices and turns together, including generated images. */
  readonly tokensOut: number;
  /** Number of inputs that can each fill the model's context window. */
  readonly inputCount: number;
  /** How often the model may read its whole input again, with tool results. */
  readonly turns: number;
  /** The call refers to content outside its body, which may fill the context window. */
  readonly hasExternalContent: boolean;
  /** The requested service tier; `dearest`: unknown here, so the most expensive one counts. */
  readonly speed: 'usual' | 'fast' | 'dearest';
  /** Longest cache lifetime that the request asks for. */
  readonly cacheTtl: 'none' | '5m' | '1h';
  /** Seconds of video and number of images that the call may generate. */
  readonly videoSeconds: number;
  readonly images: number;
  /** Uses of hosted searches, and containers of 1 GB. */
  readonly toolUses: number;
  /** Search units of a ranking. */
  readonly searchUnits: number;
  readonly containers: number;
  /** Multiplier of a per-request price. */
  readonly units: number;
}

/** Input for a call that uses no model. */
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
  searchUnits: 0,
  containers: 0,
  units: 1,
};

/** Input for a call to a provider without metering; a batch of e-mails has at most 100 units. */
export const UNMETERED_CALL: MaxCostInput = { ...CALL_WITHOUT_MODEL, units: 100 };

/** Formats in which the body decides the cost of a call. */
export const METERED_FORMATS: ReadonlySet<string> = new Set(['openai', 'anthropic', 'gemini', 'bedrock', 'cohere']);

/** Assumed for unknown models: no vendor priced here has a longer context. */
const DEFAULT_CONTEXT_TOKENS = 2_000_000;
/** Price lists round context windows: 1 000 000 can mean 1 047 576 or 1 050 000. */
const ROUND_CONTEXT_TOKENS = 1_000_000;
const CONTEXT_ROUNDING = 1.05;
/** A beta header, or a member of the body, extends the 200 000 token window of these models to one million, at any host. */
const LONG_BY_HEADER = /(?:^|[./])claude-sonnet-4(?:-(?:0|5|2025)|@)/;
const PICO_PER_NANO = 1_000;
/**
 * $25 per 1000: the most expensive search of either vendor (developers.openai.com/api/docs/pricing, search preview).
 */
const PICO_PER_SEARCH_MAX = 25_000_000_000;
const PICO_PER_CONTAINER = 30_000_000_000;

/** Maximum cost in nano-dollars. `vendor` selects the formulas for images and caches; null = unknown vendor. */
export function calculateMaxCostNanos(plan: PricePlan, vendor: ModelVendor | null, call: MaxCostInput): number {
  const { bytesIn, audioSeconds, tokensOut, videoSeconds, images } = call;
  if (audioSeconds === null && plan.picoPerAudioSecond > 0) return Number.MAX_SAFE_INTEGER;
  // Research reads citations and searches without a maximum (Perplexity).
  if (plan.bands[0]!.list.citation !== undefined) return Number.MAX_SAFE_INTEGER;
  const tokensIn = maxInputTokens(plan, vendor, call.model ?? '', call);
  let inRate = 0;
  let outRate = 0;
  for (const { aboveTokensIn, rates } of plan.bands) {
    if (tokensIn < aboveTokensIn) continue;
    inRate = Math.max(inRate, maxInputRate(vendor, rates, call));
    outRate = Math.max(outRate, rates.output, rates.audioOut, rates.imageOut, rates.videoOut, rates.reasoning);
  }
  const audioPico = (audioSeconds ?? 0) * plan.picoPerAudioSecond;
  const videoPico = videoSeconds * Math.max(plan.picoPerVideoSecond, plan.picoPerLargeVideoSecond);
  // A character has at least one byte.
  const speechPico = bytesIn * plan.picoPerCharacter;
  const imagesPico = plan.picoPerImage === null ? 0 : images * maxImageKindPico(plan.picoPerImage);
  const toolUsePico =
    call.toolUses * Math.max(plan.picoPerWebSearch, PICO_PER_SEARCH_MAX) + call.containers * PICO_PER_CONTAINER;
  const unitsPico = plan.picoPerRequest + call.searchUnits * plan.picoPerWebSearch;
  // Covers whatever tier and region the response reports.
  const percent = (maxSpeedPercent(plan, call) * Math.max(100, plan.tiers.us)) / 100;
  const tokensPico = ((tokensIn * inRate + tokensOut * outRate) * percent) / 100;
  const pico = tokensPico + audioPico + videoPico + speechPico + imagesPico + toolUsePico + unitsPico;
  return Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(pico / PICO_PER_NANO));
}

function maxSpeedPercent({ tiers }: PricePlan, { speed }: MaxCostInput): number {
  if (speed === 'usual') return 100;
  const fast = Math.max(100, tiers.priority, tiers.fast);
  return speed === 'fast' ? fast : Math.max(fast, tiers.ultrafast);
}

/** Counts the known tokens. With unknown content, assumes that each input fills the context window in each turn. */
function maxInputTokens(plan: PricePlan, vendor: ModelVendor | null, model: string, call: MaxCostInput): number {
  const { tokensIn, inputImages, inputPages, inputCount, turns, hasExternalContent } = call;
  const perImage = maxInputImageTokens(vendor, model);
  const perPage = maxPageTokens(vendor, model);
  const known = tokensIn + inputImages * (perImage ?? 0) + inputPages * (perPage ?? 0);
  const isUnknown =
    hasExternalContent || turns > 1 || (inputImages > 0 && perImage === null) || (inputPages > 0 && perPage === null);
  if (!isUnknown && plan.contextTokens === null) return known;
  const window = contextWindowTokens(plan, model) * inputCount;
  return isUnknown ? window * turns : Math.min(known, window);
}

function contextWindowTokens({ contextTokens }: PricePlan, model: string): number {
  const tokens = LONG_BY_HEADER.test(model) ? ROUND_CONTEXT_TOKENS : (contextTokens ?? DEFAULT_CONTEXT_TOKENS);
  return tokens >= ROUND_CONTEXT_TOKENS ? Math.ceil(tokens * CONTEXT_ROUNDING) : tokens;
}

/** Anthropic caches only what a request marks; other vendors may cache anything. */
function maxInputRate(vendor: ModelVendor | null, rates: PriceBand['rates'], { cacheTtl }: MaxCostInput): number {
  const { input, cacheRead, cacheWrite, cacheWrite1h, audioIn, imageIn, videoIn } = rates;
  const isMarked = vendor !== 'anthropic' || cacheTtl !== 'none';
  const isLong = vendor !== 'anthropic' || cacheTtl === '1h';
  return Math.max(input, cacheRead, isMarked ? cacheWrite : 0, isLong ? cacheWrite1h : 0, audioIn, imageIn, videoIn);
}
