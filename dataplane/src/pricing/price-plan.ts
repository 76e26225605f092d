/** A model's price in integers, and the one place where tokens become money. Pure. */
import type { DrawnImages } from '../metering/drawn-images.js';
import type { UsageReading } from '../metering/meter.js';

/** Pico-dollars (1e-12 USD) per token: USD per MTok × 1e6, so even $0.001/MTok is exact. */
export interface Rates {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly audioIn: number;
  readonly imageIn: number;
  readonly audioOut: number;
  readonly imageOut: number;
}

/** Those whose prices, surcharges and discounts are known beside the library. */
const VENDORS = ['openai', 'anthropic'] as const;
export type Vendor = (typeof VENDORS)[number];

export const vendorOf = (id: string): Vendor | null => VENDORS.find((vendor) => vendor === id) ?? null;

/** Rates that hold when the prompt (cached or not) is longer than `aboveTokensIn`; for the whole request. */
export interface Band {
  readonly aboveTokensIn: number;
  readonly rates: Rates;
}

export interface PricePlan {
  readonly source: 'library' | 'override' | 'fallback';
  /** Ascending; the first is above -1, so it always holds. */
  readonly bands: readonly Band[];
  readonly picoPerWebSearch: number;
  readonly picoPerAudioSecond: number;
  readonly picoPerVideoSecond: number;
  /** Of the larger size. */
  readonly picoPerLargeVideoSecond: number;
  /** Of text that is spoken. */
  readonly picoPerCharacter: number;
  /** By kind ({@link UsageReading}: `imageKind`); null where images cost their tokens. */
  readonly picoPerImage: ReadonlyMap<string, number> | null;
  /** Whose surcharges and discounts apply; null = none are known. */
  readonly vendor: Vendor | null;
  /** The fast (once: priority) tier in percent of the list price. */
  readonly fastPercent: number;
  /** The model's context window; null = not known. */
  readonly contextTokens: number | null;
}

/** USD per MTok, as price lists print it; what is left out costs what its parent costs. */
export interface ListPrice {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly cacheWrite1h?: number | undefined;
  readonly audioIn?: number | undefined;
  readonly imageIn?: number | undefined;
  readonly audioOut?: number | undefined;
  readonly imageOut?: number | undefined;
}

/**
 * $2.50 per 1000 calls, and $0.03 for each GB of a container in 20 minutes (OpenAI; by the minute since 2026-06-02). How
 * long it runs is not reported: one lives 20 minutes after its last use, if nobody ends it before.
 */
const PICO_PER_FILE_SEARCH = 2_500_000_000;
const PICO_PER_CONTAINER = 30_000_000_000;
/** Anthropic: $0.05 an hour, five minutes at least; how long it ran is not reported, nor what of it is free. */
const PICO_PER_CODE_SESSION = Math.round(50_000_000_000 / 12);

/** sora-2-pro in the larger size. */
export const DEAREST_VIDEO_PICO = 500_000_000_000;

/** Twice the list price, at both vendors. */
export const FAST_PERCENT = 200;

const picoPerToken = (usdPerMTok: number): number => Math.round(usdPerMTok * 1e6);

export function ratesOf(list: ListPrice): Rates {
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
  };
}

/** Nano-dollars for one request's reading, exact, rounded half up once. */
export function tokensCostNanos(plan: PricePlan, reading: UsageReading): number {
  const { extras } = reading;
  const rates = bandOf(plan, reading).rates;
  const textIn = reading.tokensInUncached - extras.audioTokensIn - extras.imageTokensIn;
  const textOut = reading.tokensOut - extras.audioTokensOut - extras.imageTokensOut;
  const sum = new PicoSum();
  sum.add(textIn, rates.input);
  sum.add(extras.audioTokensIn, rates.audioIn);
  sum.add(extras.imageTokensIn, rates.imageIn);
  sum.add(reading.tokensCacheRead, rates.cacheRead);
  sum.add(reading.tokensCacheWrite - extras.cacheWrite1h, rates.cacheWrite);
  sum.add(extras.cacheWrite1h, rates.cacheWrite1h);
  sum.add(textOut, rates.output);
  sum.add(extras.audioTokensOut, rates.audioOut);
  sum.add(extras.imageTokensOut, rates.imageOut);
  const percent = surchargePercent(plan, reading);
  if (percent !== 100) sum.scale(percent);
  sum.add(extras.webSearches, plan.picoPerWebSearch);
  sum.add(extras.fileSearches, PICO_PER_FILE_SEARCH);
  sum.add(extras.containers, PICO_PER_CONTAINER);
  sum.add(extras.codeSessions, PICO_PER_CODE_SESSION);
  sum.add(extras.audioSeconds, plan.picoPerAudioSecond);
  sum.add(extras.characters, plan.picoPerCharacter);
  if (plan.picoPerImage !== null) sum.add(extras.images, picoOfImage(plan.picoPerImage, extras.imageKind));
  sum.add(extras.videoSeconds, extras.largeVideo ? plan.picoPerLargeVideoSecond : plan.picoPerVideoSecond);
  return sum.nanos();
}

/** Of images that a tool drew. */
export function drawnNanos({ bands }: PricePlan, { tokensIn, imageTokensIn, tokensOut }: DrawnImages): number {
  const { rates } = bands[0]!;
  const sum = new PicoSum();
  sum.add(tokensIn - imageTokensIn, rates.input);
  sum.add(imageTokensIn, rates.imageIn);
  sum.add(tokensOut, rates.imageOut);
  return sum.nanos();
}

/** A kind that is not on the list costs what the dearest does. */
const picoOfImage = (prices: ReadonlyMap<string, number>, kind: string): number =>
  prices.get(kind) ?? dearestImagePico(prices);

export const dearestImagePico = (prices: ReadonlyMap<string, number>): number => Math.max(...prices.values());

function bandOf(plan: PricePlan, reading: UsageReading): Band {
  const tokensIn = reading.tokensInUncached + reading.tokensCacheRead + reading.tokensCacheWrite;
  let band = plan.bands[0]!;
  for (const next of plan.bands) if (tokensIn > next.aboveTokensIn) band = next;
  return band;
}

/** What a service tier, speed or region makes of the list price, in percent. */
function surchargePercent(plan: PricePlan, reading: UsageReading): number {
  const { serviceTier, speed, inferenceGeo } = reading.extras;
  if (plan.vendor === 'openai') {
    if (serviceTier === 'flex' || serviceTier === 'batch') return 50;
    if (serviceTier === 'priority' || serviceTier === 'fast') return plan.fastPercent;
    return 100;
  }
  if (plan.vendor !== 'anthropic') return 100;
  let percent = serviceTier === 'batch' ? 50 : 100; // `priority` is bought ahead and costs the same per token
  if (speed === 'fast') percent = (percent * plan.fastPercent) / 100;
  if (inferenceGeo === 'us') percent *= 1.1;
  return Math.round(percent);
}

/** Σ count × pico, times percent: in doubles while they are exact, else in BigInt. Kept in hundredths of a pico. */
class PicoSum {
  #small = 0;
  #big: bigint | null = null;

  add(count: number, pico: number): void {
    if (count <= 0) return;
    const product = count * pico * 100;
    if (this.#big === null && product + this.#small <= Number.MAX_SAFE_INTEGER) this.#small += product;
    else this.#big = (this.#big ?? BigInt(this.#small)) + BigInt(count) * BigInt(pico) * 100n;
  }

  scale(percent: number): void {
    if (this.#big !== null) this.#big = (this.#big * BigInt(percent)) / 100n;
    else this.#small = (this.#small / 100) * percent; // a multiple of 100 so far, so this is exact
  }

  nanos(): number {
    if (this.#big === null) return Math.floor((this.#small + 50_000) / 100_000);
    const nanos = Number((this.#big + 50_000n) / 100_000n);
    return Math.min(nanos, Number.MAX_SAFE_INTEGER);
  }
}
