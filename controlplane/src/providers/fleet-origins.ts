/** Built-in providers with one origin for all organizations, chosen by the operator or the vendor. */
import type { FleetOrigin } from '../breaker/fleet-unreachability-breakers.js';
import { splitBaseUrl } from './catalogue/built-in-provider.js';
import type { Catalogue } from './catalogue/catalogue.js';

export const listFleetOrigins = ({ providers }: Catalogue): FleetOrigin[] =>
  providers.flatMap(({ slug, baseUrl }) =>
    baseUrl === null ? [] : [{ providerSlug: slug, origin: splitBaseUrl(baseUrl).origin }],
  );
