/** Builds the operator's prices in the form that data planes receive. Pure. */
import type { PricedUpstream, PriceList } from '@acg/base/pricing/price-list';
import { TOOL_PRICE_PREFIX } from '@acg/base/pricing/price-override';
import type { IPriceBook, IPriceOverride } from '@acg/proto/messages';
import type { FilePrice } from './price-file.js';

/**
 * `list` must contain these prices. Data planes of the previous release know complete token prices only; they receive
 * the prices in force now.
 */
export function encodeOperatorPrices(
  prices: readonly FilePrice[],
  list: PriceList,
  upstreamOf: (providerSlug: string) => PricedUpstream,
): IPriceBook {
  const named = new Map(prices.map(({ price }) => [`${price.provider}\n${price.model}`, price]));
  const overrides = [...named.values()].flatMap(({ provider, model, perRequestNanos }): IPriceOverride[] => {
    const entry = { provider: provider ?? '', model: model ?? '' };
    if (entry.provider.startsWith(TOOL_PRICE_PREFIX)) return []; // They know no tools.
    if (entry.model === '') return [{ ...entry, perRequestNanos: perRequestNanos ?? 0 }];
    const upstream = upstreamOf(entry.provider);
    const inForce = list.findOverride(upstream, entry.model);
    const rates = list.findPlan(upstream, entry.model)?.bands[0]?.rates;
    if (inForce === null || rates === undefined) return [];
    return [
      {
        ...entry,
        inputPicoPerToken: rates.input,
        outputPicoPerToken: rates.output,
        cachedInputPicoPerToken: rates.cacheRead,
        perRequestNanos: inForce.perRequestNanos ?? 0,
      },
    ];
  });
  return { overrides, prices: prices.map(({ price }) => price) };
}
