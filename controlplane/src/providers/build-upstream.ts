/**
 * Builds the generic upstream that the data plane calls from a provider and the credentials of one account
 * (docs/contract.md#providers). Pure.
 */
import type { IInjection, IUpstream } from '@acg/proto/messages';
import { formatCircuitKey, formatOriginKey } from '../breaker/provider-origin-org-circuit-key.js';
import {
  type BuiltInProvider,
  type CredentialField,
  type Credentials,
  splitBaseUrl,
} from './catalogue/built-in-provider.js';
import { customModelCalls } from './catalogue/model-name-locations.js';
import type { CustomProvider } from './custom/custom-provider.js';
import { customCredentialFields, customInjection } from './custom/custom-provider.js';

/** A provider for which an account can be created. */
export type AssignableProvider =
  | { readonly kind: 'built_in'; readonly provider: BuiltInProvider }
  | { readonly kind: 'custom'; readonly provider: CustomProvider };

export const credentialFieldsOf = (assignable: AssignableProvider): readonly CredentialField[] =>
  assignable.kind === 'built_in'
    ? assignable.provider.credentialFields
    : customCredentialFields(assignable.provider.authType);

/** `credentials` is null when the account has none that may be used; then the upstream lacks only the credentials. */
export function buildUpstream(
  assignable: AssignableProvider,
  orgId: string,
  accountId: string,
  credentials: Credentials | null,
): IUpstream {
  const upstream =
    assignable.kind === 'built_in' ? builtIn(assignable.provider, credentials) : custom(assignable.provider);
  const injection: IInjection =
    credentials === null
      ? { none: {} }
      : assignable.kind === 'built_in'
        ? assignable.provider.inject(credentials)
        : customInjection(assignable.provider, credentials);
  return {
    ...upstream,
    providerSlug: assignable.provider.slug,
    circuitKey: formatCircuitKey({ providerSlug: assignable.provider.slug, origin: upstream.origin!, orgId }),
    accountId,
    accountStatus: credentials === null ? 'needs_credentials' : 'active',
    injection,
  };
}

function builtIn(provider: BuiltInProvider, credentials: Credentials | null): IUpstream {
  const address =
    credentials === null
      ? { baseUrl: provider.baseUrl ?? PLACEHOLDER_BASE_URL, tenantGiven: true }
      : provider.address(credentials);
  const { origin, basePath } = splitBaseUrl(address.baseUrl);
  return {
    custom: false,
    publicSlug: provider.slug,
    origin,
    basePath,
    tenantAddress: address.tenantGiven,
    fleetKey: provider.baseUrl === null ? '' : formatOriginKey({ providerSlug: provider.slug, origin }),
    usageFormat: provider.usageFormat,
    priceProvider: provider.priceProvider,
    failure: { statuses: [...provider.failureStatuses], exemptBodyMarker: provider.failureExemptMarker },
    websocket: provider.websocket,
    sensitiveCalls: provider.sensitiveCalls.map(({ call, query, headers, harmlessValues }) => ({
      call,
      query: [...(query ?? [])],
      headers: [...(headers ?? [])],
      harmlessValues: [...(harmlessValues ?? [])],
    })),
    modelCalls: [...provider.modelCalls],
  };
}

/** Provider and origin that the calls of an account go to; null for custom providers, whose URL can change. */
export function fixedOriginKey(assignable: AssignableProvider, credentials: Credentials): string | null {
  if (assignable.kind === 'custom') return null;
  const { provider } = assignable;
  const { origin } = splitBaseUrl(provider.address(credentials).baseUrl);
  return formatOriginKey({ providerSlug: provider.slug, origin });
}

const CUSTOM_FAILURE_STATUSES = [500, 502, 503, 504];

function custom(provider: CustomProvider): IUpstream {
  const { origin, basePath } = splitBaseUrl(provider.baseUrl);
  return {
    custom: true,
    publicSlug: 'custom',
    origin,
    basePath,
    tenantAddress: true,
    usageFormat: provider.usageFormat ?? 'none',
    priceProvider: '',
    failure: { statuses: CUSTOM_FAILURE_STATUSES, exemptBodyMarker: '' },
    // WebSocket frames of a metered provider would bypass the budget.
    websocket: provider.usageFormat === null,
    sensitiveCalls: provider.sensitivePaths.map((call) => ({ call })),
    modelCalls: [...customModelCalls(provider.usageFormat)],
  };
}

/** Placeholder for a URL that is part of unreadable credentials. Such an account is never called. */
const PLACEHOLDER_BASE_URL = 'https://unknown.invalid';
