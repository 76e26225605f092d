/** The adapter of @pydantic/genai-prices: a model's list price as a plan. It never throws and never prices. */
import { calcPrice, findProvider, type ModelPrice, type PriceOptions } from '@pydantic/genai-prices';
import {
  type Band,
  DEAREST_VIDEO_PICO,
  FAST_PERCENT,
  type ListPrice,
  type PricePlan,
  ratesOf,
  vendorOf,
} from './price-plan.js';

/** How a provider is found in the library: by its id there, by the address that is called, or by the model's name. */
type LibraryKey = Pick<PriceOptions, 'providerId' | 'providerApiUrl'>;

/** $12.50 / $75 against $5 / $30 (openai.com/api-fast-mode). */
const GPT_5_5_FAST_PERCENT = 250;

/** The plan of `model` at `nowMs`, or null when the library has no price for it. */
export function libraryPlan(key: LibraryKey, model: string, nowMs: number): PricePlan | null {
  let found: ReturnType<typeof calcPrice>;
  try {
    found = calcPrice({}, model, { ...key, timestamp: new Date(nowMs) });
  } catch {
    return null; // no such provider
  }
  if (found === null) return null;
  const price = found.model_price;
  const starts = new Set<number>([-1]);
  for (const value of Object.values(price)) {
    if (typeof value === 'object') for (const tier of value.tiers) starts.add(tier.start);
  }
  const bands = [...starts].sort((a, b) => a - b).map((start): Band => bandAt(price, start));
  return {
    source: 'library',
    bands,
    picoPerWebSearch: Math.round((rateAt(price, 'web_searches_kcount', -1) ?? 0) * 1e9),
    picoPerAudioSecond: Math.round(((rateAt(price, 'input_audio_hours', -1) ?? 0) * 1e12) / 3600),
    // The library knows no seconds of video: whatever makes some costs the dearest that is known.
    picoPerVideoSecond: DEAREST_VIDEO_PICO,
    picoPerLargeVideoSecond: DEAREST_VIDEO_PICO,
    picoPerCharacter: 0,
    picoPerImage: null,
    fastPercent: found.model.id === 'gpt-5.5' ? GPT_5_5_FAST_PERCENT : FAST_PERCENT,
    contextTokens: found.model.context_window ?? null,
    vendor: vendorOf(found.provider.id),
  };
}

/** The plan of the model whose input and output cost most together, of old ones too; null: no such provider is known. */
export function dearestLibraryPlan(providerId: string, nowMs: number): PricePlan | null {
  let dearest: PricePlan | null = null;
  for (const { id } of findProvider({ providerId })?.models ?? []) {
    const plan = libraryPlan({ providerId }, id, nowMs);
    if (plan !== null && (dearest === null || tokenPrice(plan) > tokenPrice(dearest))) dearest = plan;
  }
  return dearest;
}

function tokenPrice({ bands }: PricePlan): number {
  const { input, output } = bands[0]!.rates;
  return input + output;
}

function bandAt(price: ModelPrice, start: number): Band {
  const rate = (name: string): number | undefined => rateAt(price, name, start);
  const list: ListPrice = {
    input: rate('input_mtok') ?? 0,
    output: rate('output_mtok') ?? 0,
    cacheRead: rate('cache_read_mtok'),
    cacheWrite: rate('cache_write_mtok'),
    cacheWrite1h: rate('cache_write_1h_mtok'),
    audioIn: rate('input_audio_mtok'),
    imageIn: rate('input_image_mtok'),
    audioOut: rate('output_audio_mtok'),
    imageOut: rate('output_image_mtok'),
  };
  return { aboveTokensIn: start, rates: ratesOf(list) };
}

/** The rate that holds for prompts just above `start` tokens. */
function rateAt(price: ModelPrice, name: string, start: number): number | undefined {
  const value = price[name];
  if (value === undefined || typeof value === 'number') return value;
  let rate = value.base;
  for (const tier of [...value.tiers].sort((a, b) => a.start - b.start)) if (start >= tier.start) rate = tier.price;
  return rate;
}
