/** What a reading of usage costs by a plan: the one place where tokens become money. Pure. */
import type { PriceBand, PricePlan } from '@acg/base/pricing/price-plan';
import type { GeneratedImages } from '../metering/reading/generated-images.js';
import type { UsageReading } from '../metering/reading/usage-meter.js';

/** Nano-dollars for one request's reading, exact, rounded half up once. */
export function calculateUsageCostNanos(plan: PricePlan, reading: UsageReading): number {
  const { extras } = reading;
  const rates = findBand(plan, reading).rates;
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
  sum.add(extras.fileSearches, plan.picoPerFileSearch);
  sum.add(extras.containers, plan.picoPerContainer);
  sum.add(extras.codeSessions, plan.picoPerCodeSession);
  sum.add(extras.audioSeconds, plan.picoPerAudioSecond);
  sum.add(extras.characters, plan.picoPerCharacter);
  if (plan.picoPerImage !== null) sum.add(extras.images, picoPerImageKind(plan.picoPerImage, extras.imageKind));
  sum.add(extras.videoSeconds, extras.largeVideo ? plan.picoPerLargeVideoSecond : plan.picoPerVideoSecond);
  return sum.nanos();
}

/** Of images that a tool drew. */
export function calculateImageCostNanos(
  { bands }: PricePlan,
  { tokensIn, imageTokensIn, tokensOut }: GeneratedImages,
): number {
  const { rates } = bands[0]!;
  const sum = new PicoSum();
  sum.add(tokensIn - imageTokensIn, rates.input);
  sum.add(imageTokensIn, rates.imageIn);
  sum.add(tokensOut, rates.imageOut);
  return sum.nanos();
}

/** A kind that is not on the list costs what the dearest does. */
const picoPerImageKind = (prices: ReadonlyMap<string, number>, kind: string): number =>
  prices.get(kind) ?? dearestImagePico(prices);

export const dearestImagePico = (prices: ReadonlyMap<string, number>): number => Math.max(...prices.values());

function findBand(plan: PricePlan, reading: UsageReading): PriceBand {
  const tokensIn = reading.tokensInUncached + reading.tokensCacheRead + reading.tokensCacheWrite;
  let band = plan.bands[0]!;
  for (const next of plan.bands) if (tokensIn > next.aboveTokensIn) band = next;
  return band;
}

/** What a service tier, speed or region makes of the list price, in percent. */
function surchargePercent({ tiers }: PricePlan, reading: UsageReading): number {
  const { serviceTier, speed, inferenceGeo } = reading.extras;
  let percent = tierPercent(tiers, serviceTier);
  if (speed === 'fast') percent = (percent * tiers.fast) / 100;
  if (inferenceGeo === 'us') percent = (percent * tiers.us) / 100;
  return Math.round(percent);
}

function tierPercent(tiers: PricePlan['tiers'], serviceTier: string | null): number {
  switch (serviceTier) {
    case 'batch':
    case 'flex':
    case 'priority':
    case 'fast':
    case 'ultrafast':
      return tiers[serviceTier];
    default:
      return 100;
  }
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
