/** Of each built-in provider whose answers have tokens, a model that nobody knows costs something. */

import { findMostExpensiveLibraryPlan } from '@acg/base/pricing/price-library';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import { createEmptyCounts } from '@acg/dataplane/metering/reading/usage-counts';
import { createUsageReading } from '@acg/dataplane/metering/reading/usage-reader';
import { PriceTable } from '@acg/dataplane/pricing/price-table';
import { expect, test } from 'vitest';

const WITHOUT_TOKENS = ['none', 's3', 'resend'];
const { providers } = new Catalogue();
const withModels = providers.filter(({ usageFormat }) => !WITHOUT_TOKENS.includes(usageFormat));

test.each(withModels)(
  '$slug: a model that nobody knows is not free',
  ({ slug, priceProvider, usageFormat, baseUrl }) => {
    const upstream = { providerSlug: slug, priceProvider, usageFormat, origin: baseUrl! };
    const reading = createUsageReading(
      { ...createEmptyCounts(), inUncached: 1, out: 1 },
      'reported',
      'nobody-knows-this',
      {},
    );
    const price = new PriceTable(Date.now).calculateCost({ upstream, reading });
    expect(price.source).toBe('fallback');
    expect(price.costNanos).toBeGreaterThan(0);
  },
);

test.each(providers.filter(({ priceProvider }) => priceProvider !== ''))(
  '$slug: the price library knows its $priceProvider',
  ({ priceProvider }) => expect(findMostExpensiveLibraryPlan(priceProvider, Date.now())).not.toBeNull(),
);

test('whoever has no tokens has no models', () => {
  const others = providers.filter((provider) => !withModels.includes(provider));
  expect(others.flatMap(({ modelCalls }) => modelCalls)).toEqual([]);
});
