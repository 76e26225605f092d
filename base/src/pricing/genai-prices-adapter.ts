/**
 * Adapter of @pydantic/genai-prices: converts a model's list price to a plan. It never throws and never prices a call.
 */
import { calcPrice, findProvider, type ModelPrice, type PriceOptions } from '@pydantic/genai-prices';
import {
  createPriceBand,
  MAX_VIDEO_PICO_PER_SECOND,
  type PriceBand,
  type PricePlan,
  TOOL_PRICES,
  tierPercentsOf,
} from './price-plan.js';

/**
 * How a provider is found in the library: by its id there or by the origin that is called, or given. Empty: by the
 * model's name.
 */
type LibraryKey = Pick<PriceOptions, 'providerId' | 'providerApiUrl' | 'provider'>;

/** USD per 1000 searches where the library names no price. Google: https://ai.google.dev/gemini-api/docs/pricing */
const SEARCHES_USD: Readonly<Record<string, number>> = { 'x-ai': 5, perplexity: 0 };
const GEMINI_SEARCHES_USD = 14;
const GEMINI_2_SEARCHES_USD = 35;
/** Anthropic's price of a cache write for 1 hour, times the input price; other hosts of its models charge the same. */
const CLAUDE_CACHE_WRITE_1H = 2;

/** $12.50 / $75 against $5 / $30 (openai.com/api-fast-mode). */
const GPT_5_5_FAST_PERCENT = 250;

/** The plan of `model` at `nowMs` (Unix ms), or null when the library has no price for it. */
export function findLibraryPlan(key: LibraryKey, model: string, nowMs: number): PricePlan | null {
  let found: ReturnType<typeof calcPrice>;
  try {
    found = calcPrice({}, model, { ...key, timestamp: new Date(nowMs) });
  } catch {
    return null; // the library does not know the provider
  }
  if (found === null) return null;
  const price = found.model_price;
  const starts = new Set<number>([-1]);
  for (const value of Object.values(price)) {
    if (typeof value === 'object') for (const tier of value.tiers) starts.add(tier.start);
  }
  const tiers = tierPercentsOf(found.provider.id);
  return {
    ...TOOL_PRICES,
    origin: 'library',
    validFrom: null,
    bands: [...starts].sort((a, b) => a - b).map((start) => createBandAt(found.model.id, price, start)),
    picoPerWebSearch: picoPerThousandth(
      findRate(price, 'web_searches_kcount', -1) ?? findSearchesUsd(found.provider.id, found.model.id),
    ),
    picoPerRequest: picoPerThousandth(findRate(price, 'requests_kcount', -1)),
    // A call does not tell whether its pages were annotated, so the higher price applies.
    picoPerPage: picoPerThousandth(
      findRate(price, 'input_annotated_document_kpages', -1) ?? findRate(price, 'input_document_kpages', -1),
    ),
    picoPerAudioSecond: Math.round(((findRate(price, 'input_audio_hours', -1) ?? 0) * 1e12) / 3600),
    // The library has no prices per second of video, so the highest known price applies.
    picoPerVideoSecond: MAX_VIDEO_PICO_PER_SECOND,
    picoPerLargeVideoSecond: MAX_VIDEO_PICO_PER_SECOND,
    picoPerImage: null,
    tiers:
      found.model.id === 'gpt-5.5' ? { ...tiers, priority: GPT_5_5_FAST_PERCENT, fast: GPT_5_5_FAST_PERCENT } : tiers,
    contextTokens: found.model.context_window ?? null,
  };
}

/** Names of all models that the library has for a provider. */
export const listLibraryModels = (
  key: { readonly providerId: string } | { readonly providerApiUrl: string },
): string[] => (findProvider(key)?.models ?? []).map(({ id }) => id);

/**
 * The plan of the model with the highest sum of input and output price, retired models included; null: the library does
 * not know the provider.
 */
export function findMostExpensiveLibraryPlan(providerId: string, nowMs: number): PricePlan | null {
  let dearest: PricePlan | null = null;
  const provider = findProvider({ providerId });
  for (const model of provider?.models ?? []) {
    // Some models do not match their own id, because calls name them otherwise.
    const own = { ...provider!, models: [{ ...model, match: { equals: model.id } }] };
    const plan = findLibraryPlan({ provider: own }, model.id, nowMs);
    if (plan !== null && (dearest === null || sumTokenRates(plan) > sumTokenRates(dearest))) dearest = plan;
  }
  return dearest;
}

/** Vendors whose models a provider hosts beside those that the library lists for it. */
export const listHostedVendors = (providerId: string): readonly string[] =>
  findProvider({ providerId })?.fallback_model_providers ?? [];

export function sumTokenRates({ bands }: PricePlan): number {
  const { input, output } = bands[0]!.rates;
  return input + output;
}

/** USD per thousand in pico-dollars each. */
const picoPerThousandth = (usd: number | undefined): number => Math.round((usd ?? 0) * 1e9);

function findSearchesUsd(provider: string, model: string): number {
  if (model.startsWith('gemini-'))
    return /^gemini-(?:[12]|pro)/.test(model) ? GEMINI_2_SEARCHES_USD : GEMINI_SEARCHES_USD;
  return SEARCHES_USD[provider] ?? TOOL_PRICES.picoPerWebSearch / 1e9;
}

function createBandAt(model: string, price: ModelPrice, start: number): PriceBand {
  const rate = (name: string): number | undefined => findRate(price, name, start);
  const cacheWrite1h = model.includes('claude') ? CLAUDE_CACHE_WRITE_1H * (rate('input_mtok') ?? 0) : undefined;
  return createPriceBand(correctBandStart(start), {
    input: rate('input_mtok') ?? 0,
    output: rate('output_mtok') ?? 0,
    cacheRead: rate('cache_read_mtok'),
    cacheWrite: rate('cache_write_mtok'),
    cacheWrite1h: rate('cache_write_1h_mtok') ?? cacheWrite1h,
    audioIn: rate('input_audio_mtok'),
    imageIn: rate('input_image_mtok'),
    audioOut: rate('output_audio_mtok'),
    imageOut: rate('output_image_mtok'),
    cacheReadAudio: rate('cache_audio_read_mtok'),
    videoIn: rate('input_video_mtok'),
    videoOut: rate('output_video_mtok'),
    reasoning: rate('output_reasoning_mtok'),
    citation: rate('output_citation_mtok'),
  });
}

/**
 * Corrects the lower end of a band. The library has some of them one token too low (271 999, 199 999). All vendors put
 * them above the round number: ">272K input tokens" (developers.openai.com/api/docs/models/gpt-5.4-pro), "exceed the
 * 200K context window" (docs.x.ai, Grok 4.3), "exceeds 200K" and "> 200k" (Anthropic, Google).
 */
const correctBandStart = (start: number): number => ((start + 1) % 1_000 === 0 && start > 0 ? start + 1 : start);

/** The rate that applies to prompts just above `start` tokens. */
function findRate(price: ModelPrice, name: string, start: number): number | undefined {
  const value = price[name];
  if (value === undefined || typeof value === 'number') return value;
  let rate = value.base;
  for (const tier of [...value.tiers].sort((a, b) => a.start - b.start)) if (start >= tier.start) rate = tier.price;
  return rate;
}
