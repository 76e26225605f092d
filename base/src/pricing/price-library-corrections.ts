/**
 * Prices that the library (0.1.8, data of 2026-09-23) lacks or has out of date, in USD per million tokens, dated by
 * when they took effect. They are read before the library. Collected on 2026-11-20 from release notes and articles that
 * quote the vendors' price pages (platform.claude.com/docs/en/about-claude/pricing,
 * developers.openai.com/api/docs/pricing). The pages themselves were not read: verify there, and correct a changed
 * price with PRICES_FILE (docs/configuration.md#prices).
 */
import {
  createPriceBand,
  type ListPrice,
  MAX_VIDEO_PICO_PER_SECOND,
  type PricePlan,
  TOOL_PRICES,
  tierPercentsOf,
} from './price-plan.js';

interface BuiltinPrice {
  /** The vendor's id in the price library, or the `priceProvider` of a provider. */
  readonly provider: string;
  /** Model ids without a date suffix. */
  readonly models: readonly string[];
  /** UTC day from which the price applies; of several entries, the latest that has begun applies. */
  readonly validFrom: string;
  readonly base: ListPrice;
  /** USD per million characters. */
  readonly perMillionCharacters?: number;
  /** USD per 1000 searches (Cohere: search units of a ranking). */
  readonly perThousandSearches?: number;
  /** USD per image by size, with the prefix `hd ` for that quality. */
  readonly perImage?: Readonly<Record<string, number>>;
  /** USD per second of video, and of video in the larger size. */
  readonly perVideoSecond?: { readonly base: number; readonly large: number };
  /** The price of the whole request when its prompt has more tokens than this. */
  readonly longPrompt?: { readonly aboveTokensIn: number; readonly price: ListPrice };
}

const SONNET_5_5 = { input: 2, output: 10, cacheWrite: 2.5, cacheWrite1h: 4 };
const FREE = { input: 0, output: 0 };
const FABLE = { input: 10, output: 50, cacheWrite: 12.5, cacheWrite1h: 20 };

const BUILTIN_PRICES: readonly BuiltinPrice[] = [
  // Two bands by prompt length, cached tokens included; the upper band applies to every token of the request.
  {
    provider: 'anthropic',
    models: ['claude-haiku-5-5'],
    validFrom: '2026-10-07',
    base: { input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125, cacheWrite1h: 0.2 },
    longPrompt: {
      aboveTokensIn: 100_000,
      price: { input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625, cacheWrite1h: 1 },
    },
  },
  // Cache reads went from 0.1× to 0.05× of the input price.
  {
    provider: 'anthropic',
    models: ['claude-sonnet-5-5'],
    validFrom: '2026-09-28',
    base: { ...SONNET_5_5, cacheRead: 0.2 },
  },
  {
    provider: 'anthropic',
    models: ['claude-sonnet-5-5'],
    validFrom: '2026-10-07',
    base: { ...SONNET_5_5, cacheRead: 0.1 },
  },
  // A Mythos model costs what the Fable model of the same number costs.
  { provider: 'anthropic', models: ['claude-mythos-5'], validFrom: '2026-06-09', base: { ...FABLE, cacheRead: 1 } },
  {
    provider: 'anthropic',
    models: ['claude-fable-5-2', 'claude-mythos-5-2'],
    validFrom: '2026-11-09',
    base: { input: 8, output: 40, cacheRead: 0.2, cacheWrite: 10, cacheWrite1h: 16 },
  },
  {
    provider: 'anthropic',
    models: ['claude-mythos-5-1'],
    validFrom: '2026-09-01',
    base: { ...FABLE, cacheRead: 0.25 },
  },
  // Speech that reports no usage (developers.openai.com/api/docs/models/tts-1, …/tts-1-hd).
  {
    provider: 'openai',
    models: ['tts-1', 'tts-1-1106'],
    validFrom: '2023-11-06',
    base: FREE,
    perMillionCharacters: 15,
  },
  {
    provider: 'openai',
    models: ['tts-1-hd', 'tts-1-hd-1106'],
    validFrom: '2023-11-06',
    base: FREE,
    perMillionCharacters: 30,
  },
  // Prices per image. OpenAI has removed these models; other hosts still offer them.
  {
    provider: 'openai',
    models: ['dall-e-3'],
    validFrom: '2023-11-06',
    base: FREE,
    perImage: {
      '1024x1024': 0.04,
      '1024x1792': 0.08,
      '1792x1024': 0.08,
      'hd 1024x1024': 0.08,
      'hd 1024x1792': 0.12,
      'hd 1792x1024': 0.12,
    },
  },
  {
    provider: 'openai',
    models: ['dall-e-2'],
    validFrom: '2022-11-03',
    base: FREE,
    perImage: { '256x256': 0.016, '512x512': 0.018, '1024x1024': 0.02 },
  },
  // Video is billed per requested second; the larger size is 1792 x 1024.
  {
    provider: 'openai',
    models: ['sora-2'],
    validFrom: '2025-10-06',
    base: FREE,
    perVideoSecond: { base: 0.1, large: 0.1 },
  },
  {
    provider: 'openai',
    models: ['sora-2-pro'],
    validFrom: '2025-10-06',
    base: FREE,
    perVideoSecond: { base: 0.3, large: 0.5 },
  },
  {
    provider: 'openai',
    models: ['gpt-6.1-sol'],
    validFrom: '2026-09-29',
    base: { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 },
    longPrompt: { aboveTokensIn: 272_000, price: { input: 4, output: 15, cacheRead: 0.2, cacheWrite: 5 } },
  },
  {
    provider: 'openai',
    models: ['gpt-6.1-terra'],
    validFrom: '2026-10-26',
    base: { input: 1, output: 5, cacheRead: 0.05, cacheWrite: 1.25 },
    longPrompt: { aboveTokensIn: 272_000, price: { input: 2, output: 7.5, cacheRead: 0.1, cacheWrite: 2.5 } },
  },
  // cohere.com/pricing, read through developer.puter.com/tutorials/cohere-api-pricing (June 2026).
  {
    provider: 'cohere',
    models: ['rerank-v4.0-fast', 'rerank-v3.5', 'rerank-english-v3.0', 'rerank-multilingual-v3.0'],
    validFrom: '2024-04-11',
    base: FREE,
    perThousandSearches: 2,
  },
  { provider: 'cohere', models: ['rerank-v4.0-pro'], validFrom: '2025-12-11', base: FREE, perThousandSearches: 2.5 },
  {
    provider: 'cohere',
    models: ['embed-v4.0'],
    validFrom: '2025-04-15',
    base: { input: 0.12, output: 0, imageIn: 0.47 },
  },
  {
    provider: 'cohere',
    models: ['embed-english-v3.0', 'embed-multilingual-v3.0'],
    validFrom: '2023-11-02',
    base: { input: 0.1, output: 0 },
  },
  // aws.amazon.com/bedrock/pricing. Images cost the price of the largest size and best quality.
  {
    provider: 'aws',
    models: ['amazon.titan-embed-text-v2:0'],
    validFrom: '2024-04-30',
    base: { input: 0.02, output: 0 },
  },
  { provider: 'aws', models: ['cohere.rerank-v3-5:0'], validFrom: '2024-12-01', base: FREE, perThousandSearches: 2 },
  { provider: 'aws', models: ['amazon.rerank-v1:0'], validFrom: '2024-12-01', base: FREE, perThousandSearches: 1 },
  {
    provider: 'aws',
    models: ['amazon.nova-canvas-v1:0'],
    validFrom: '2024-12-03',
    base: FREE,
    perImage: { '2048x2048': 0.08 },
  },
  {
    provider: 'aws',
    models: ['amazon.titan-image-generator-v1', 'amazon.titan-image-generator-v2:0'],
    validFrom: '2024-08-06',
    base: FREE,
    perImage: { '1024x1024': 0.012 },
  },
  // ai.google.dev/gemini-api/docs/pricing
  {
    provider: 'google',
    models: ['imagen-4.0-fast-generate-001'],
    validFrom: '2025-08-14',
    base: FREE,
    perImage: { '1024x1024': 0.02 },
  },
  {
    provider: 'google',
    models: ['imagen-4.0-generate-001', 'imagen-3.0-generate-002'],
    validFrom: '2025-02-06',
    base: FREE,
    perImage: { '1024x1024': 0.04 },
  },
  {
    provider: 'google',
    models: ['imagen-4.0-ultra-generate-001'],
    validFrom: '2025-08-14',
    base: FREE,
    perImage: { '1024x1024': 0.06 },
  },
];

/** Every model with a price here: its vendor's id and its name. */
export const BUILTIN_PRICED_MODELS: readonly { readonly provider: string; readonly model: string }[] = [
  ...new Map(
    BUILTIN_PRICES.flatMap(({ provider, models }) =>
      models.map((model) => [`${provider}\n${model}`, { provider, model }] as const),
    ),
  ).values(),
];

/**
 * The plan of `model` (without a date suffix) at `nowMs` (Unix ms). `vendor` null: any vendor. Null: no price is known.
 */
export function findBuiltinPlan(vendor: string | null, model: string, nowMs: number): PricePlan | null {
  let found: BuiltinPrice | null = null;
  for (const price of BUILTIN_PRICES) {
    if ((vendor !== null && price.provider !== vendor) || !price.models.includes(model)) continue;
    // The first price also applies before its date: a model that is in use must not be free.
    if (found === null || Date.parse(price.validFrom) <= nowMs) found = price;
  }
  if (found === null) return null;
  const bands = [createPriceBand(-1, found.base)];
  if (found.longPrompt) bands.push(createPriceBand(found.longPrompt.aboveTokensIn, found.longPrompt.price));
  return {
    ...TOOL_PRICES,
    origin: 'built_in',
    validFrom: found.validFrom,
    bands,
    picoPerVideoSecond: usdToPico(found.perVideoSecond?.base),
    picoPerLargeVideoSecond: usdToPico(found.perVideoSecond?.large),
    picoPerCharacter: Math.round((found.perMillionCharacters ?? 0) * 1e6),
    picoPerImage: found.perImage === undefined ? null : usdToPicoByKind(found.perImage),
    picoPerWebSearch:
      found.perThousandSearches === undefined ? TOOL_PRICES.picoPerWebSearch : found.perThousandSearches * 1e9,
    picoPerRequest: 0,
    picoPerPage: 0,
    tiers: tierPercentsOf(found.provider),
    contextTokens: null,
  };
}

const usdToPico = (usd: number | undefined): number =>
  usd === undefined ? MAX_VIDEO_PICO_PER_SECOND : Math.round(usd * 1e12);

const usdToPicoByKind = (usd: Readonly<Record<string, number>>): ReadonlyMap<string, number> =>
  new Map(Object.entries(usd).map(([kind, price]) => [kind, Math.round(price * 1e12)]));
