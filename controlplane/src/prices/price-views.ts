/** The prices in force as an organization sees them: of the built-in providers and of its custom providers. */

import { listLibraryModels } from '@acg/base/pricing/genai-prices-adapter';
import { BUILTIN_PRICED_MODELS } from '@acg/base/pricing/price-library-corrections';
import type { PricedUpstream, PriceList } from '@acg/base/pricing/price-list';
import { toolPriceProvider } from '@acg/base/pricing/price-override';
import type { PriceBand, PricePlan } from '@acg/base/pricing/price-plan';
import { ERRORS_FIELD, IMAGE_FIELD, RATE_FIELDS, REQUEST_FIELD, TIER_FIELDS, UNIT_FIELDS } from './price-fields.js';
import type { FilePrice } from './price-file.js';
import type { PriceQuery, PriceView } from './schema.js';

const NANO = 1e9;

interface Prices {
  readonly list: PriceList;
  /** Prices from PRICES_FILE. */
  readonly file: readonly FilePrice[];
  readonly nowMs: number;
}

/** Lists prices in the order of `upstreams`, then by model. */
export function listPriceViews(prices: Prices, upstreams: readonly PricedUpstream[], query: PriceQuery): PriceView[] {
  const { provider, model, search, source } = query;
  const part = search?.toLowerCase() ?? '';
  return upstreams
    .filter(({ providerSlug }) => provider === undefined || providerSlug === provider)
    .flatMap((upstream) => {
      const names = model === undefined ? modelNamesOf(prices.file, upstream) : [model];
      const tools = listToolNames(prices.file, upstream);
      return [
        ...names
          .filter((name) => name.toLowerCase().includes(part))
          .flatMap((name) => toPriceView(prices, upstream, name) ?? []),
        ...tools
          .filter((name) => (model === undefined || name === model) && name.toLowerCase().includes(part))
          .map((name) => toToolPriceView(prices, upstream, name)),
      ];
    })
    .filter((view) => source === undefined || view.source === source);
}

/** Includes `''`, which stands for the price per request. */
function modelNamesOf(file: readonly FilePrice[], { providerSlug, priceProvider, origin }: PricedUpstream): string[] {
  const own = file.filter(({ price }) => price.provider === providerSlug).map(({ price }) => price.model ?? '');
  const known = BUILTIN_PRICED_MODELS.filter(({ provider }) => provider === priceProvider).map(({ model }) => model);
  const listed =
    priceProvider !== ''
      ? listLibraryModels({ providerId: priceProvider })
      : [
          ...(origin === '' ? [] : listLibraryModels({ providerApiUrl: origin })),
          ...listLibraryModels({ providerId: providerSlug }),
        ];
  return [...new Set([...own, ...known, ...listed])].sort();
}

/** Tools of an MCP server that the file prices. */
const listToolNames = (file: readonly FilePrice[], { providerSlug }: PricedUpstream): string[] => [
  ...new Set(
    file
      .filter(({ price }) => price.provider === toolPriceProvider(providerSlug))
      .map(({ price }) => price.model ?? ''),
  ),
];

function toToolPriceView({ list, file, nowMs }: Prices, { providerSlug }: PricedUpstream, tool: string): PriceView {
  const own = file.filter(({ price }) => price.provider === toolPriceProvider(providerSlug) && price.model === tool);
  const price = list.findToolPrice(providerSlug, tool);
  const inForce = own.find((entry) => entry.price === price);
  return {
    provider: providerSlug,
    model: null,
    tool,
    source: 'file',
    from: inForce?.price.fromMs ? toDay(inForce.price.fromMs) : null,
    file: inForce === undefined ? null : { line: inForce.line, fields: [...inForce.fields] },
    upcoming: listUpcoming(own, nowMs),
    prices: { [REQUEST_FIELD.field]: (price?.perRequestNanos ?? 0) / NANO },
    [ERRORS_FIELD]: price?.chargesErrors === true,
    [IMAGE_FIELD.field]: null,
    bands: [],
  };
}

const toDay = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10);

const listUpcoming = (own: readonly FilePrice[], nowMs: number): PriceView['upcoming'] =>
  own
    .filter(({ price: { fromMs } }) => (fromMs ?? 0) > nowMs)
    .map(({ price: { fromMs }, line }) => ({ from: toDay(fromMs!), line }));

function toPriceView({ list, file, nowMs }: Prices, upstream: PricedUpstream, model: string): PriceView | null {
  const { providerSlug: provider } = upstream;
  const own = file.filter(({ price }) => price.provider === provider && price.model === model);
  const perRequestUsd = list.perRequestNanos(upstream, model === '' ? null : model) / NANO;
  const plan = model === '' ? null : list.findPlan(upstream, model);
  if (plan === null && perRequestUsd === 0) return null;
  const price = model === '' || plan === null ? null : list.findOverride(upstream, model);
  const inForce = file.find((entry) => (price === null ? own.includes(entry) && model === '' : entry.price === price));
  return {
    provider,
    model: model === '' ? null : model,
    tool: null,
    [ERRORS_FIELD]: false,
    source: plan?.origin ?? 'file',
    from: plan?.validFrom ?? null,
    file: inForce === undefined ? null : { line: inForce.line, fields: [...inForce.fields] },
    upcoming: listUpcoming(own, nowMs),
    prices: {
      ...(plan === null ? {} : presentPrices(plan)),
      ...(perRequestUsd === 0 ? {} : { [REQUEST_FIELD.field]: perRequestUsd }),
    },
    [IMAGE_FIELD.field]:
      plan?.picoPerImage == null
        ? null
        : Object.fromEntries([...plan.picoPerImage].map(([kind, pico]) => [kind, pico / IMAGE_FIELD.scale])),
    bands: (plan?.bands ?? []).slice(1).map((band) => ({ aboveTokensIn: band.aboveTokensIn, ...presentRates(band) })),
  };
}

function presentPrices(plan: PricePlan): Record<string, number> {
  const prices = presentRates(plan.bands[0]!);
  for (const { field, name, scale } of UNIT_FIELDS) if (plan[name] !== 0) prices[field] = usdOfUnits(plan[name], scale);
  for (const { field, name } of TIER_FIELDS) if (plan.tiers[name] !== 100) prices[field] = plan.tiers[name];
  return prices;
}

function presentRates({ rates }: PriceBand): Record<string, number> {
  const named: Record<string, number> = {};
  for (const { field, name, scale } of RATE_FIELDS)
    if (rates[name] !== 0) named[field] = usdOfUnits(rates[name], scale);
  return named;
}

/**
 * Rates per minute and per thousand are stored per second and per unit; this removes the digits that the division adds.
 */
const usdOfUnits = (units: number, scale: number): number => Number((units / scale).toPrecision(10));
