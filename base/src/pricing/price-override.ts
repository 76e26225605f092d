/**
 * A price of the operator's (PRICES_FILE). It changes the prices that it names; every other price stays what the list
 * says. The shape is that of `ModelPrice` in gateway.proto, so both planes use the message itself. Pure.
 */
import {
  type Band,
  bandOf,
  type ListPrice,
  type PricePlan,
  type Rates,
  type TierPercents,
  TOOL_PRICES,
  type UnitPrices,
} from './price-plan.js';

type Named<T> = { readonly [Name in keyof T]?: number | null };

/** Pico-dollars per token. */
type NamedRates = Named<Rates>;

/** One price of one model, or of all calls of a provider. What is null or missing is not named. */
export interface PriceOverride extends Named<UnitPrices> {
  /** Provider slug. */
  readonly provider?: string | null;
  /** `''`: all calls of the provider (`perRequestNanos` alone); `*`: every model without another price. */
  readonly model?: string | null;
  /** Unix ms from which it holds; 0 = always. */
  readonly fromMs?: number | null;
  /** Of each call, beside its tokens. */
  readonly perRequestNanos?: number | null;
  readonly rates?: NamedRates | null;
  /** All bands of longer prompts; null: those of the list. */
  readonly bands?: { readonly bands?: NamedBand[] | null } | null;
  /** All prices by the image; null or empty: those of the list. */
  readonly images?: { readonly kind?: string | null; readonly pico?: number | null }[] | null;
  readonly tiers?: Named<TierPercents> | null;
}

export interface NamedBand {
  readonly aboveTokensIn?: number | null;
  readonly rates?: NamedRates | null;
}

/** Of a model that no list knows: what is not named is free, its tokens cost what their parents cost. */
const UNLISTED: ListPrice = { input: 0, output: 0 };

/** `listed`: the plan of the list, null where none knows the model; `tiers` hold then. */
export function overriddenPlan(listed: PricePlan | null, tiers: TierPercents, override: PriceOverride): PricePlan {
  const { fromMs, images } = override;
  return {
    ...unitsOf(listed ?? TOOL_PRICES, override),
    origin: 'file',
    from: fromMs ? new Date(fromMs).toISOString().slice(0, 10) : null,
    bands: bandsOf(listed?.bands ?? [bandOf(-1, UNLISTED)], override),
    picoPerImage: images?.length
      ? new Map(images.map(({ kind, pico }) => [kind ?? '', pico ?? 0]))
      : (listed?.picoPerImage ?? null),
    tiers: named(listed?.tiers ?? tiers, override.tiers ?? {}),
    contextTokens: listed?.contextTokens ?? null,
  };
}

function bandsOf(listed: readonly Band[], { rates, bands }: PriceOverride): Band[] {
  const first = bandOf(-1, priceOf(listed[0]!.list, rates ?? {}));
  if (bands === null || bands === undefined) return [first, ...listed.slice(1)];
  const upper = [...(bands.bands ?? [])].sort((a, b) => (a.aboveTokensIn ?? 0) - (b.aboveTokensIn ?? 0));
  return [first, ...upper.map((band) => upperBand(first, listed, band))];
}

/** What it leaves out stays the price that holds for such prompts without it. */
function upperBand(first: Band, listed: readonly Band[], { aboveTokensIn, rates }: NamedBand): Band {
  const border = aboveTokensIn ?? 0;
  const below = listed.findLast((band) => band.aboveTokensIn >= 0 && band.aboveTokensIn <= border) ?? first;
  return bandOf(border, priceOf(below.list, rates ?? {}));
}

/** Named in pico-dollars per token, listed in USD per million tokens. */
function priceOf(list: ListPrice, rates: NamedRates): ListPrice {
  const usd: { -readonly [Name in keyof Rates]?: number } = {};
  for (const [name, pico] of Object.entries(rates)) {
    if (typeof pico === 'number') usd[name as keyof Rates] = pico / 1e6;
  }
  return { ...list, ...usd };
}

function unitsOf(listed: UnitPrices, override: Named<UnitPrices>): UnitPrices {
  const units = Object.fromEntries(
    Object.keys(TOOL_PRICES).map((name) => [
      name,
      override[name as keyof UnitPrices] ?? listed[name as keyof UnitPrices],
    ]),
  );
  return units as unknown as UnitPrices;
}

function named(listed: TierPercents, percents: Named<TierPercents>): TierPercents {
  const { batch, flex, priority, fast, ultrafast, us } = percents;
  return {
    batch: batch ?? listed.batch,
    flex: flex ?? listed.flex,
    priority: priority ?? listed.priority,
    fast: fast ?? listed.fast,
    ultrafast: ultrafast ?? listed.ultrafast,
    us: us ?? listed.us,
  };
}
