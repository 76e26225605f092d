/** The built-in providers that all organizations reach at one address, which the operator or the vendor has chosen. */
import type { FleetOrigin } from '../circuit/fleet.js';
import type { Catalogue } from './catalogue/catalogue.js';
import { splitBaseUrl } from './catalogue/provider.js';

export const fleetOrigins = ({ providers }: Catalogue): FleetOrigin[] =>
  providers.flatMap(({ slug, baseUrl }) =>
    baseUrl === null ? [] : [{ providerSlug: slug, origin: splitBaseUrl(baseUrl).origin }],
  );
