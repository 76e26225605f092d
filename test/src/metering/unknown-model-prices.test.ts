/** For each built-in provider with token usage, an unknown model has a price. */

import { findMostExpensiveLibraryPlan } from '@acg/base/pricing/genai-prices-adapter';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import { createEmptyCounts } from '@acg/dataplane/metering/reading/provider-usage-to-token-counts';
import { createUsageReading } from '@acg/dataplane/metering/reading/usage-reader-interface';
import { CallCostCalculator } from '@acg/dataplane/pricing/call-cost-calculator';
import { expect, test } from 'vitest';

const WITHOUT_TOKENS = ['none', 's3', 'resend', 'mcp'];
const { providers } = new Catalogue();
const withModels = providers.filter(({ mainUsageFormat }) => !WITHOUT_TOKENS.includes(mainUsageFormat));

test.each(withModels)('$slug: an unknown model is not free', (provider) => {
  const { slug, priceProvider, mainUsageFormat: usageFormat } = provider;
  const upstream = { providerSlug: slug, priceProvider, usageFormat, origin: provider.fixedAddress() ?? '' };
  const reading = createUsageReading(
    { ...createEmptyCounts(), inUncached: 1, out: 1 },
    'reported',
    'unknown-model',
    {},
  );
  const price = new CallCostCalculator(Date.now).calculateCost({ upstream, reading });
  expect(price.source).toBe('fallback');
  expect(price.costNanos).toBeGreaterThan(0);
});

test.each(providers.filter(({ priceProvider }) => priceProvider !== ''))(
  '$slug: the price library has prices of its $priceProvider',
  ({ priceProvider }) => expect(findMostExpensiveLibraryPlan(priceProvider, Date.now())).not.toBeNull(),
);

test('providers without token usage have no models', () => {
  const others = providers.filter((provider) => !withModels.includes(provider));
  expect(others.flatMap(({ modelCalls }) => modelCalls)).toEqual([]);
});
