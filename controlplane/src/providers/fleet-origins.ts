/** Origins that all accounts of a provider share, chosen by the operator or the vendor. */
import type { FleetOrigin } from '../breaker/fleet-unreachability-breakers.js';
import type { Catalogue } from './catalogue/catalogue.js';
import type { Provider } from './catalogue/provider.js';
import { splitBaseUrl } from './catalogue/split-base-url.js';

/** The default origin first. */
export const fixedOriginsOf = (provider: Provider): string[] =>
  provider.originNames.flatMap((name) => {
    const baseUrl = provider.fixedAddress(name);
    return baseUrl === null ? [] : splitBaseUrl(baseUrl).origin;
  });

/** Origins of built-in providers that all organizations share. */
export const listFleetOrigins = ({ providers }: Pick<Catalogue, 'providers'>): FleetOrigin[] =>
  providers.flatMap((provider) => fixedOriginsOf(provider).map((origin) => ({ providerSlug: provider.slug, origin })));
