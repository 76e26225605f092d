/**
 * Turns a provider and one account's credentials into the generic upstream of the data plane
 * (docs/contract.md#providers). Pure.
 */
import type { IInjection, IUpstream } from '@acg/proto/messages';
import { circuitKey } from '../circuit/circuit-key.js';
import { customModelCalls } from './catalogue/model-calls.js';
import { type BuiltInProvider, type CredentialField, type Credentials, splitBaseUrl } from './catalogue/provider.js';
import type { CustomProvider } from './custom/provider.js';
import { customCredentialFields, customInjection } from './custom/provider.js';

/** A provider that an account can be made for. */
export type AssignableProvider =
  | { readonly kind: 'built_in'; readonly provider: BuiltInProvider }
  | { readonly kind: 'custom'; readonly provider: CustomProvider; readonly orgId: string };

export const credentialFieldsOf = (assignable: AssignableProvider): readonly CredentialField[] =>
  assignable.kind === 'built_in'
    ? assignable.provider.credentialFields
    : customCredentialFields(assignable.provider.authType);

/** `credentials` null: the account has none that may be used; the upstream is complete but for them. */
export function upstreamOf(
  assignable: AssignableProvider,
  accountId: string,
  credentials: Credentials | null,
): IUpstream {
  const upstream = assignable.kind === 'built_in' ? builtIn(assignable.provider, credentials) : custom(assignable);
  const injection: IInjection =
    credentials === null
      ? { none: {} }
      : assignable.kind === 'built_in'
        ? assignable.provider.inject(credentials)
        : customInjection(assignable.provider, credentials);
  return {
    ...upstream,
    providerSlug: assignable.provider.slug,
    accountId,
    accountStatus: credentials === null ? 'needs_credentials' : 'active',
    injection,
  };
}

function builtIn(provider: BuiltInProvider, credentials: Credentials | null): IUpstream {
  const address =
    credentials === null ? { baseUrl: provider.baseUrl ?? NOWHERE, tenantGiven: true } : provider.address(credentials);
  const { origin, basePath } = splitBaseUrl(address.baseUrl);
  return {
    custom: false,
    publicSlug: provider.slug,
    origin,
    basePath,
    tenantAddress: address.tenantGiven,
    circuitKey: builtInCircuitKey(provider.slug, origin),
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

const builtInCircuitKey = (providerSlug: string, origin: string): string =>
  circuitKey({ providerSlug, origin, orgId: null });

/** The circuit that an account's calls belong to; null for custom providers, whose circuits are their own. */
export function sharedCircuitOf(assignable: AssignableProvider, credentials: Credentials): string | null {
  if (assignable.kind === 'custom') return null;
  const { provider } = assignable;
  return builtInCircuitKey(provider.slug, splitBaseUrl(provider.address(credentials).baseUrl).origin);
}

const CUSTOM_FAILURE_STATUSES = [500, 502, 503, 504];

function custom({ provider, orgId }: { provider: CustomProvider; orgId: string }): IUpstream {
  const { origin, basePath } = splitBaseUrl(provider.baseUrl);
  return {
    custom: true,
    publicSlug: 'custom',
    origin,
    basePath,
    tenantAddress: true,
    circuitKey: circuitKey({ providerSlug: provider.slug, origin, orgId }),
    usageFormat: provider.usageFormat ?? 'none',
    priceProvider: '',
    failure: { statuses: CUSTOM_FAILURE_STATUSES, exemptBodyMarker: '' },
    // Frames of a metered provider would bypass the budget.
    websocket: provider.usageFormat === null,
    sensitiveCalls: provider.sensitivePaths.map((call) => ({ call })),
    modelCalls: [...customModelCalls(provider.usageFormat)],
  };
}

/** Stands where the address is part of credentials that cannot be read; such an account is never called. */
const NOWHERE = 'https://unknown.invalid';
