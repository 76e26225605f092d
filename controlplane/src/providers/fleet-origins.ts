/** The built-in providers that all organizations reach at one address, which the operator or the vendor has chosen. */
import type { FleetOrigin } from '../breaker/fleet-breakers.js';
import { splitBaseUrl } from './catalogue/built-in-provider.js';
import type { Catalogue } from './catalogue/catalogue.js';

export const listFleetOrigins = ({ providers }: Catalogue): FleetOrigin[] =>
  providers.flatMap(({ slug, baseUrl }) =>
    baseUrl === null ? [] : [{ providerSlug: slug, origin: splitBaseUrl(baseUrl).origin }],
  );
