/**
 * A price set by the operator (PRICES_FILE). It changes the prices that it names; all others stay as listed. The shape
 * is that of `ModelPrice` in gateway.proto, so both planes use the message itself. Pure.
 */
import {
  createPriceBand,
  type ListPrice,
  type PriceBand,
  type PricePlan,
  type TierPercents,
  TOOL_PRICES,
  type TokenRates,
  type UnitPrices,
} from './price-plan.js';

type Nullable<T> = { readonly [Name in keyof T]?: number | null };

/** Pico-dollars per token. */
type OverrideRates = Nullable<TokenRates>;

/**
 * The prices of one model, or of all calls of a provider. A null or missing field leaves the listed price unchanged.
 */
export interface PriceOverride extends Nullable<UnitPrices> {
  /** Provider slug, or {@link toolPriceProvider}: then `model` names a tool. */
  readonly provider?: string | null;
  /** `''`: all calls of the provider (`perRequestNanos` alone); `*`: every model without another price. */
  readonly model?: string | null;
  /** Unix ms from which the price applies; 0 = always. */
  readonly fromMs?: number | null;
  /** Nano-dollars for each call, added to the price of its tokens. */
  readonly perRequestNanos?: number | null;
  /** Of a tool of an MCP server: a result with `isError: true` costs the same. */
  readonly chargesErrors?: boolean | null;
  readonly rates?: OverrideRates | null;
  /** All bands of longer prompts; null: the listed bands. */
  readonly bands?: { readonly bands?: OverrideBand[] | null } | null;
  /** All prices per image; null or empty: the listed prices. */
  readonly images?: { readonly kind?: string | null; readonly pico?: number | null }[] | null;
  readonly tiers?: Nullable<TierPercents> | null;
}

/** Provider of the prices of an MCP server's tools. No provider slug has a slash. */
export const toolPriceProvider = (providerSlug: string): string => `${TOOL_PRICE_PREFIX}${providerSlug}`;
export const TOOL_PRICE_PREFIX = 'mcp/';

export interface OverrideBand {
  readonly aboveTokensIn?: number | null;
  readonly rates?: OverrideRates | null;
}

/**
 * For a model that no list has: unnamed prices are free, token classes without a price cost what their parent class
 * costs.
 */
const FREE_PRICE: ListPrice = { input: 0, output: 0 };

/** `listed`: the listed plan. Null when no list has the model; then `tiers` apply. */
export function applyOverride(listed: PricePlan | null, tiers: TierPercents, override: PriceOverride): PricePlan {
  const { fromMs, images } = override;
  return {
    ...applyUnitPrices(listed ?? TOOL_PRICES, override),
    origin: 'file',
    validFrom: fromMs ? new Date(fromMs).toISOString().slice(0, 10) : null,
    bands: applyBandOverrides(listed?.bands ?? [createPriceBand(-1, FREE_PRICE)], override),
    picoPerImage: images?.length
      ? new Map(images.map(({ kind, pico }) => [kind ?? '', pico ?? 0]))
      : (listed?.picoPerImage ?? null),
    tiers: applyTierPercents(listed?.tiers ?? tiers, override.tiers ?? {}),
    picoPerRequest: typeof override.perRequestNanos === 'number' ? 0 : (listed?.picoPerRequest ?? 0),
    picoPerPage: listed?.picoPerPage ?? 0,
    contextTokens: listed?.contextTokens ?? null,
  };
}

function applyBandOverrides(listed: readonly PriceBand[], { rates, bands }: PriceOverride): PriceBand[] {
  const first = createPriceBand(-1, applyRates(listed[0]!.list, rates ?? {}));
  if (bands === null || bands === undefined) return [first, ...listed.slice(1)];
  const upper = [...(bands.bands ?? [])].sort((a, b) => (a.aboveTokensIn ?? 0) - (b.aboveTokensIn ?? 0));
  return [first, ...upper.map((band) => createUpperBand(first, listed, band))];
}

/** Prices that the band leaves out stay as listed for prompts of that length. */
function createUpperBand(
  first: PriceBand,
  listed: readonly PriceBand[],
  { aboveTokensIn, rates }: OverrideBand,
): PriceBand {
  const border = aboveTokensIn ?? 0;
  const below = listed.findLast((band) => band.aboveTokensIn >= 0 && band.aboveTokensIn <= border) ?? first;
  return createPriceBand(border, applyRates(below.list, rates ?? {}));
}

/** `rates` are in pico-dollars per token, the list in USD per million tokens. */
function applyRates(list: ListPrice, rates: OverrideRates): ListPrice {
  const usd: { -readonly [Name in keyof TokenRates]?: number } = {};
  for (const [name, pico] of Object.entries(rates)) {
    if (typeof pico === 'number') usd[name as keyof TokenRates] = pico / 1e6;
  }
  return { ...list, ...usd };
}

function applyUnitPrices(listed: UnitPrices, override: Nullable<UnitPrices>): UnitPrices {
  const units = Object.fromEntries(
    Object.keys(TOOL_PRICES).map((name) => [
      name,
      override[name as keyof UnitPrices] ?? listed[name as keyof UnitPrices],
    ]),
  );
  return units as unknown as UnitPrices;
}

function applyTierPercents(listed: TierPercents, percents: Nullable<TierPercents>): TierPercents {
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
