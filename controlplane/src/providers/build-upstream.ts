/**
 * Builds the generic upstreams that the data plane calls from a provider and the credentials of one account
 * (docs/contract.md#providers). Pure.
 */
import { createHash } from 'node:crypto';
import type { IUpstream } from '@acg/proto/messages';
import { formatCircuitKey, formatOriginKey } from '../breaker/provider-origin-org-circuit-key.js';
import type { Credentials } from './catalogue/credential-template.js';
import { DEFAULT_ORIGIN, type Provider } from './catalogue/provider.js';
import { TOOL_USE_MAXIMA } from './catalogue/provider-definition.js';
import { splitBaseUrl } from './catalogue/split-base-url.js';

/** What an admin allowed for an account. */
export interface AccountPermissions {
  readonly allowSensitivePaths: boolean;
  readonly allowOpaque: boolean;
}

const NOTHING_ALLOWED: AccountPermissions = { allowSensitivePaths: false, allowOpaque: false };

export interface AccountUpstreams {
  /** The provider's default origin. */
  readonly upstream: IUpstream;
  /** Its other origins that these credentials reach. */
  readonly namedOrigins: readonly IUpstream[];
}

/** `credentials` is null when the account has none that may be used; then the upstreams lack only the credentials. */
export function buildUpstreams(
  provider: Provider,
  orgId: string,
  accountId: string,
  credentials: Credentials | null,
  permissions = NOTHING_ALLOWED,
  /** False: the credentials state the address, but what is sent to it is still to be minted. */
  isComplete = true,
): AccountUpstreams {
  const build = (origin: string) =>
    buildUpstream(provider, origin, orgId, accountId, credentials, permissions, isComplete);
  const named = provider.originNames.filter((name) => name !== DEFAULT_ORIGIN);
  return {
    upstream: build(DEFAULT_ORIGIN) ?? buildUpstream(provider, DEFAULT_ORIGIN, orgId, accountId, null, permissions)!,
    namedOrigins: named.flatMap((origin) => {
      const upstream = build(origin);
      return upstream === null ? [] : { ...upstream, originName: origin };
    }),
  };
}

/** Null: these credentials state no address of the origin. */
function buildUpstream(
  provider: Provider,
  originName: string,
  orgId: string,
  accountId: string,
  credentials: Credentials | null,
  permissions: AccountPermissions,
  isComplete = true,
): IUpstream | null {
  const fixed = provider.fixedAddress(originName);
  const address =
    credentials === null
      ? { baseUrl: fixed ?? PLACEHOLDER_BASE_URL, tenantGiven: true }
      : provider.address(credentials, originName);
  if (address === null) return null;
  const { slug } = provider;
  const { origin, basePath } = splitBaseUrl(address.baseUrl);
  const { injection, path } =
    credentials === null || !isComplete
      ? { injection: { none: {} }, path: '' }
      : provider.injection(credentials, originName);
  return {
    ...rulesOf(provider, originName, permissions),
    origin,
    basePath: basePath + path,
    tenantAddress: address.tenantGiven,
    fleetKey: fixed === null || !provider.isBuiltIn ? '' : formatOriginKey({ providerSlug: slug, origin }),
    circuitKey: formatCircuitKey({ providerSlug: slug, origin, orgId }),
    accountId,
    accountStatus: credentials === null ? 'needs_credentials' : 'active',
    injection,
  };
}

/** Usage formats that a data plane of the release before reads; it rejects a context with another one. */
const RELEASED_FORMATS = ['openai', 'anthropic', 'resend', 's3', 'none'];

const builtInRules = new WeakMap<Provider, Map<string, IUpstream>>();

/** The part of an upstream that is the same for all accounts. Computed once for a built-in provider. */
function rulesOf(provider: Provider, origin: string, permissions: AccountPermissions): IUpstream {
  if (!provider.isBuiltIn) return buildRules(provider, origin, permissions);
  const cached = builtInRules.get(provider) ?? new Map<string, IUpstream>();
  builtInRules.set(provider, cached);
  const key = `${origin} ${permissions.allowSensitivePaths} ${permissions.allowOpaque}`;
  let rules = cached.get(key);
  if (rules === undefined) {
    rules = buildRules(provider, origin, permissions);
    const lists = JSON.stringify([rules.sensitiveCalls, rules.modelCalls]);
    rules.rulesId = createHash('sha256').update(lists).digest('base64url').slice(0, 22);
    cached.set(key, rules);
  }
  return rules;
}

function buildRules(provider: Provider, origin: string, permissions: AccountPermissions): IUpstream {
  const formats = provider.usageFormats(origin);
  const single = formats.length === 1 && formats[0]!.calls === null ? formats[0]!.format : null;
  const isReleased = single !== null && RELEASED_FORMATS.includes(single);
  const sensitive = permissions.allowSensitivePaths ? [] : provider.sensitiveCalls(origin);
  const opaque = permissions.allowOpaque ? [] : provider.opaqueCalls(origin);
  const { failure } = provider.rules;
  return {
    providerSlug: provider.slug,
    custom: !provider.isBuiltIn,
    publicSlug: provider.isBuiltIn ? provider.slug : 'custom',
    usageFormat: isReleased ? single : 'none',
    ...(isReleased ? {} : { usage: formats.map(({ calls, format }) => ({ calls: [...(calls ?? [])], format })) }),
    priceProvider: provider.priceProvider,
    failure: { statuses: [...failure.statuses], exemptBodyMarker: failure.exemptMarker ?? '' },
    // WebSocket frames of a metered provider would bypass the budget.
    websocket: single === 'none',
    sensitiveCalls: [
      ...sensitive.map(({ call, query, headers, harmlessValues }) => ({
        call,
        query: [...(query ?? [])],
        headers: [...(headers ?? [])],
        harmlessValues: [...(harmlessValues ?? [])],
      })),
      ...opaque.map(({ call }) => ({ call, opaque: true })),
    ],
    modelCalls: modelCallsOf(provider, origin),
    ignoredToolMaxima: ignoredToolMaximaOf(provider),
  };
}

/**
 * For a built-in provider with models, no response states the cost of a call that the list does not name. A data plane
 * reads this from a call with `unknown` in the list.
 */
function modelCallsOf(provider: Provider, origin: string): { call: string; at: string }[] {
  const calls = provider.modelCallsAt(origin).map(({ call, at }) => ({ call, at }));
  const needsUnknown = provider.isBuiltIn && calls.length > 0 && !calls.some(({ at }) => at === 'unknown');
  return needsUnknown ? [...calls, { call: '* /**', at: 'unknown' }] : calls;
}

/** Of providers with models. A data plane counts on a maximum that this list does not name, as the release before did. */
const ignoredToolMaximaOf = ({ modelCalls, rules }: Provider): string[] =>
  modelCalls.length === 0 ? [] : TOOL_USE_MAXIMA.filter((name) => !rules.toolUseMaxima?.includes(name));

/** Keys of the breakers that depend on the account. The others follow from the provider. */
export interface AccountCircuitKeys {
  /** Of the default origin; null for a custom provider, whose URL can change. */
  readonly circuitKey: string | null;
  /** Of other origins whose address depends on the credentials. */
  readonly namedCircuitKeys: readonly string[];
}

export function accountCircuitKeys(provider: Provider, credentials: Credentials): AccountCircuitKeys {
  const keyOf = (origin: string): string | null => {
    const address = provider.address(credentials, origin);
    return address === null
      ? null
      : formatOriginKey({ providerSlug: provider.slug, origin: splitBaseUrl(address.baseUrl).origin });
  };
  const own = provider.originNames.filter((name) => name !== DEFAULT_ORIGIN && provider.fixedAddress(name) === null);
  const hasOwnDefault = provider.isBuiltIn || provider.fixedAddress() === null;
  return {
    circuitKey: hasOwnDefault ? keyOf(DEFAULT_ORIGIN) : null,
    namedCircuitKeys: own.flatMap((name) => keyOf(name) ?? []),
  };
}

/** Placeholder for a URL that is part of unreadable credentials. Such an account is never called. */
const PLACEHOLDER_BASE_URL = 'https://unknown.invalid';
