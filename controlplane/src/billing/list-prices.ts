/** The prices of the ledger in the form in which a reconciliation compares them. */
import type { OperatorPrices } from '../prices/operator-prices.js';
import type { Provider } from '../providers/catalogue/provider.js';
import { splitBaseUrl } from '../providers/catalogue/split-base-url.js';
import type { ListPrices } from './reconcile.js';

const PICO_PER_NANO = 1_000;

/** A model that only the fallback prices has no list price. */
export function listPricesOf(
  prices: OperatorPrices,
  customProviders: readonly Provider[],
  providerSlug: string,
): ListPrices {
  const custom = customProviders.find(({ slug }) => slug === providerSlug);
  const upstream =
    custom === undefined
      ? prices.pricedUpstreamOf(providerSlug)
      : {
          providerSlug,
          priceProvider: '',
          usageFormat: custom.mainUsageFormat,
          origin: splitBaseUrl(custom.fixedAddress()!).origin,
        };
  return (model) => {
    const plan = prices.list.findPlan(upstream, model);
    if (plan === null || plan.origin === 'fallback') return null;
    const { input, cacheRead, cacheWrite, cacheWrite1h, output } = plan.bands[0]!.rates;
    return {
      input: input / PICO_PER_NANO,
      cacheRead: cacheRead / PICO_PER_NANO,
      cacheWrite: cacheWrite / PICO_PER_NANO,
      cacheWrite1h: cacheWrite1h / PICO_PER_NANO,
      output: output / PICO_PER_NANO,
    };
  };
}
