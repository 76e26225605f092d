/** The prices in force as an organization sees them: of the built-in providers and of its own. */
import { KNOWN_MODELS } from '@acg/base/pricing/known-prices';
import { libraryModels } from '@acg/base/pricing/price-library';
import type { PricedUpstream, PriceList } from '@acg/base/pricing/price-list';
import type { Band, PricePlan } from '@acg/base/pricing/price-plan';
import { IMAGE_FIELD, RATE_FIELDS, REQUEST_FIELD, TIER_FIELDS, UNIT_FIELDS } from './price-fields.js';
import type { FilePrice } from './price-file.js';
import type { PriceQuery, PriceView } from './schema.js';

const NANO = 1e9;

interface Prices {
  readonly list: PriceList;
  /** The prices of PRICES_FILE. */
  readonly file: readonly FilePrice[];
  readonly nowMs: number;
}

/** In the order of `upstreams`, by model. */
export function priceViews(prices: Prices, upstreams: readonly PricedUpstream[], query: PriceQuery): PriceView[] {
  const { provider, model, search, source } = query;
  const part = search?.toLowerCase() ?? '';
  return upstreams
    .filter(({ providerSlug }) => provider === undefined || providerSlug === provider)
    .flatMap((upstream) => {
      const names = model === undefined ? namesOf(prices.file, upstream) : [model];
      return names
        .filter((name) => name.toLowerCase().includes(part))
        .flatMap((name) => viewOf(prices, upstream, name) ?? []);
    })
    .filter((view) => source === undefined || view.source === source);
}

/** `''`: the price of each request. */
function namesOf(file: readonly FilePrice[], { providerSlug, priceProvider, origin }: PricedUpstream): string[] {
  const own = file.filter(({ price }) => price.provider === providerSlug).map(({ price }) => price.model ?? '');
  const known = KNOWN_MODELS.filter(({ provider }) => provider === priceProvider).map(({ model }) => model);
  const listed =
    priceProvider !== ''
      ? libraryModels({ providerId: priceProvider })
      : [
          ...(origin === '' ? [] : libraryModels({ providerApiUrl: origin })),
          ...libraryModels({ providerId: providerSlug }),
        ];
  return [...new Set([...own, ...known, ...listed])].sort();
}

function viewOf({ list, file, nowMs }: Prices, upstream: PricedUpstream, model: string): PriceView | null {
  const { providerSlug: provider } = upstream;
  const own = file.filter(({ price }) => price.provider === provider && price.model === model);
  const perRequestUsd = list.perRequestNanos(upstream, model === '' ? null : model) / NANO;
  const plan = model === '' ? null : list.planOf(upstream, model);
  if (plan === null && perRequestUsd === 0) return null;
  const price = model === '' || plan === null ? null : list.overrideOf(upstream, model);
  const inForce = file.find((entry) => (price === null ? own.includes(entry) && model === '' : entry.price === price));
  return {
    provider,
    model: model === '' ? null : model,
    source: plan?.origin ?? 'file',
    from: plan?.from ?? null,
    file: inForce === undefined ? null : { line: inForce.line, fields: [...inForce.fields] },
    upcoming: own
      .filter(({ price: { fromMs } }) => (fromMs ?? 0) > nowMs)
      .map(({ price: { fromMs }, line }) => ({ from: new Date(fromMs!).toISOString().slice(0, 10), line })),
    prices: {
      ...(plan === null ? {} : pricesOf(plan)),
      ...(perRequestUsd === 0 ? {} : { [REQUEST_FIELD.field]: perRequestUsd }),
    },
    [IMAGE_FIELD.field]:
      plan?.picoPerImage == null
        ? null
        : Object.fromEntries([...plan.picoPerImage].map(([kind, pico]) => [kind, pico / IMAGE_FIELD.scale])),
    bands: (plan?.bands ?? []).slice(1).map((band) => ({ aboveTokensIn: band.aboveTokensIn, ...ratesOf(band) })),
  };
}

function pricesOf(plan: PricePlan): Record<string, number> {
  const prices = ratesOf(plan.bands[0]!);
  for (const { field, name, scale } of UNIT_FIELDS) if (plan[name] !== 0) prices[field] = usd(plan[name], scale);
  for (const { field, name } of TIER_FIELDS) if (plan.tiers[name] !== 100) prices[field] = plan.tiers[name];
  return prices;
}

function ratesOf({ rates }: Band): Record<string, number> {
  const named: Record<string, number> = {};
  for (const { field, name, scale } of RATE_FIELDS) if (rates[name] !== 0) named[field] = usd(rates[name], scale);
  return named;
}

/** Prices by the minute and by the thousand are kept by the second and by the piece: without the digits of that. */
const usd = (units: number, scale: number): number => Number((units / scale).toPrecision(10));
