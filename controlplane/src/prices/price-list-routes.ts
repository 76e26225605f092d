import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { splitBaseUrl } from '../providers/catalogue/split-base-url.js';
import type { CustomProviderService } from '../providers/custom/custom-provider-service.js';
import type { OperatorPrices } from './operator-prices.js';
import { listPriceViews } from './price-views.js';
import { PriceListing, PriceQuery } from './schema.js';

export function priceRoutes(
  app: App,
  operatorPrices: OperatorPrices,
  catalogue: Catalogue,
  custom: CustomProviderService,
): void {
  app.get(
    '/v1/prices',
    {
      config: { access: 'viewer' },
      schema: {
        ...operation('Providers', 'listPrices', 'List prices and their sources'),
        querystring: PriceQuery,
        response: { 200: PriceListing },
      },
    },
    async ({ actor, query }) => {
      const { list, prices: file, readAtMs } = operatorPrices;
      const own = await custom.own(actor.orgId);
      const builtIn = catalogue.slugs.filter((slug) => !own.some((provider) => provider.slug === slug));
      const upstreams = [
        ...builtIn.map((slug) => operatorPrices.pricedUpstreamOf(slug)),
        // Only the organization's own providers: PRICES_FILE may name providers of every organization.
        ...own.map((provider) => ({
          providerSlug: provider.slug,
          priceProvider: '',
          usageFormat: provider.mainUsageFormat,
          origin: splitBaseUrl(provider.fixedAddress() ?? 'https://unknown.invalid').origin,
        })),
      ];
      const views = listPriceViews({ list, file, nowMs: Date.now() }, upstreams, query);
      const { limit, offset } = parsePage(query);
      return {
        prices: views.slice(offset, offset + limit),
        fileReadAt: readAtMs === null ? null : new Date(readAtMs).toISOString(),
        total: views.length,
        limit,
        offset,
      };
    },
  );
}
