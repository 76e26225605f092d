/** The price of a model in integers, in the units in which usage is counted. Pure. */

/** Pico-dollars (1e-12 USD) per token: USD per million tokens × 1e6, so even $0.001 per million is exact. */
export interface TokenRates {
  readonly input: number;
  readonly cacheRead: number;
  /** Written for 5 minutes (Anthropic's default), or for the vendor's only duration. */
  readonly cacheWrite: number;
  /** Written for 1 hour. */
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly audioIn: number;
  readonly imageIn: number;
  readonly audioOut: number;
  readonly imageOut: number;
}

/** Rates of token classes that only the price library prices; PRICES_FILE does not name them. */
interface LibraryRates {
  /** Part of the cache reads. */
  readonly cacheReadAudio: number;
  readonly videoIn: number;
  /** Parts of the output. */
  readonly videoOut: number;
  readonly reasoning: number;
  readonly citation: number;
}

/** USD per million tokens, as price lists print it. A missing class costs what its parent costs ({@link toRates}). */
export type ListPrice = { readonly [Name in keyof TokenRates | keyof LibraryRates]?: number | undefined } & {
  readonly input: number;
  readonly output: number;
};

/** Service tiers, speed and region, in percent of the list price. */
export interface TierPercents {
  readonly batch: number;
  readonly flex: number;
  readonly priority: number;
  readonly fast: number;
  readonly ultrafast: number;
  /** Inference in the US only. */
  readonly us: number;
}

/** Vendors whose prices, surcharges and discounts are known in addition to the library. */
const VENDORS = ['openai', 'anthropic'] as const;
export type Vendor = (typeof VENDORS)[number];

export const findVendor = (id: string): Vendor | null => VENDORS.find((vendor) => vendor === id) ?? null;

/** Rates of prompts (cached tokens included) longer than `aboveTokensIn`; they apply to the whole request. */
export interface PriceBand {
  readonly aboveTokensIn: number;
  readonly list: ListPrice;
  readonly rates: TokenRates & LibraryRates;
}

export const createPriceBand = (aboveTokensIn: number, list: ListPrice): PriceBand => ({
  aboveTokensIn,
  list,
  rates: toRates(list),
});

/** Prices of usage that is not counted in tokens, pico-dollars per unit. */
export interface UnitPrices {
  readonly picoPerWebSearch: number;
  readonly picoPerFileSearch: number;
  /** For one session of a code interpreter's container. */
  readonly picoPerContainer: number;
  /** For one response that ran code (Anthropic). */
  readonly picoPerCodeSession: number;
  /** For one second of transcribed audio. */
  readonly picoPerAudioSecond: number;
  readonly picoPerVideoSecond: number;
  /** For one second of video in the larger size. */
  readonly picoPerLargeVideoSecond: number;
  /** For one character of spoken text. */
  readonly picoPerCharacter: number;
}

/** Source of a price: PRICES_FILE, price-library-corrections.ts, the library, or the vendor's most expensive model. */
export type PriceOrigin = 'file' | 'built_in' | 'library' | 'fallback';

export interface PricePlan extends UnitPrices {
  readonly origin: PriceOrigin;
  /** UTC day from which the price applies; null = not dated. */
  readonly validFrom: string | null;
  /** Ascending; the first is above -1, so it always applies. */
  readonly bands: readonly PriceBand[];
  /** By size of image, with the prefix `hd ` for that quality; null where images are priced by their tokens. */
  readonly picoPerImage: ReadonlyMap<string, number> | null;
  readonly tiers: TierPercents;
  /** Fee of each call beside its tokens, and price of a page of a document; pico-dollars. */
  readonly picoPerRequest: number;
  readonly picoPerPage: number;
  /** The model's context window in tokens; null = unknown. */
  readonly contextTokens: number | null;
}

/** $10 per 1000 at both vendors. */
const PICO_PER_WEB_SEARCH = 10_000_000_000;
/**
 * $2.50 per 1000 calls, and $0.03 for each GB of a container in 20 minutes (OpenAI; by the minute since 2026-06-02).
 * The API does not report the run time: a container runs until 20 minutes after its last use, unless a request ends it
 * earlier.
 */
const PICO_PER_FILE_SEARCH = 2_500_000_000;
const PICO_PER_CONTAINER = 30_000_000_000;
/** Anthropic: $0.05 an hour, five minutes at least. The API reports neither the run time nor the free part. */
const PICO_PER_CODE_SESSION = Math.round(50_000_000_000 / 12);

/** Prices of tools that do not depend on the model; a tool that is not listed is free. */
export const TOOL_PRICES: UnitPrices = {
  picoPerWebSearch: PICO_PER_WEB_SEARCH,
  picoPerFileSearch: PICO_PER_FILE_SEARCH,
  picoPerContainer: PICO_PER_CONTAINER,
  picoPerCodeSession: PICO_PER_CODE_SESSION,
  picoPerAudioSecond: 0,
  picoPerVideoSecond: 0,
  picoPerLargeVideoSecond: 0,
  picoPerCharacter: 0,
};

/** sora-2-pro in the larger size. */
export const MAX_VIDEO_PICO_PER_SECOND = 500_000_000_000;

const LIST_PRICE: TierPercents = { batch: 100, flex: 100, priority: 100, fast: 100, ultrafast: 100, us: 100 };
/**
 * OpenAI: batch and flex at half, priority (renamed to fast) at twice, ultrafast at six times the list price
 * (https://vercel.com/changelog/openai-ultrafast-mode-now-available-on-ai-gateway).
 */
const OPENAI_TIERS: TierPercents = { batch: 50, flex: 50, priority: 200, fast: 200, ultrafast: 600, us: 100 };
/** Anthropic: `priority` is prepaid and costs the same per token; fast mode costs twice, inference in the US 1.1×. */
const ANTHROPIC_TIERS: TierPercents = { batch: 50, flex: 100, priority: 100, fast: 200, ultrafast: 100, us: 110 };
/**
 * Google: flex and batch at half, priority at 175 to 200 % of the list price by model; the higher one counts
 * (https://ai.google.dev/gemini-api/docs/optimization).
 */
const GOOGLE_TIERS: TierPercents = { ...LIST_PRICE, batch: 50, flex: 50, priority: 200 };
/** Amazon Bedrock: priority at 175 %, latency-optimized inference (`fast`) at 125 % (https://aws.amazon.com/bedrock/pricing). */
const AWS_TIERS: TierPercents = { ...LIST_PRICE, batch: 50, flex: 50, priority: 175, fast: 125 };
const TIERS: Readonly<Record<string, TierPercents>> = {
  openai: OPENAI_TIERS,
  azure: OPENAI_TIERS,
  anthropic: ANTHROPIC_TIERS,
  google: GOOGLE_TIERS,
  aws: AWS_TIERS,
};

/** `provider`: id in the price library. */
export const tierPercentsOf = (provider: string): TierPercents => TIERS[provider] ?? LIST_PRICE;

const picoPerToken = (usdPerMTok: number): number => Math.round(usdPerMTok * 1e6);

function toRates(list: ListPrice): PriceBand['rates'] {
  const cacheWrite = list.cacheWrite ?? list.input;
  return {
    input: picoPerToken(list.input),
    cacheRead: picoPerToken(list.cacheRead ?? list.input),
    cacheWrite: picoPerToken(cacheWrite),
    cacheWrite1h: picoPerToken(list.cacheWrite1h ?? cacheWrite),
    output: picoPerToken(list.output),
    audioIn: picoPerToken(list.audioIn ?? list.input),
    imageIn: picoPerToken(list.imageIn ?? list.input),
    audioOut: picoPerToken(list.audioOut ?? list.output),
    imageOut: picoPerToken(list.imageOut ?? list.output),
    cacheReadAudio: picoPerToken(list.cacheReadAudio ?? list.audioIn ?? list.cacheRead ?? list.input),
    videoIn: picoPerToken(list.videoIn ?? list.input),
    videoOut: picoPerToken(list.videoOut ?? list.output),
    reasoning: picoPerToken(list.reasoning ?? list.output),
    citation: picoPerToken(list.citation ?? list.output),
  };
}
