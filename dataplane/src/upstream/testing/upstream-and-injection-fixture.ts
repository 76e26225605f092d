/** Upstreams and injections for tests. Every field has an ordinary default that a test may override. */
import type { HeaderInjection, Upstream } from '@acg/dataplane/context/agent-context';

export function createTestHeaderInjection(over: Partial<HeaderInjection>): HeaderInjection {
  return {
    kind: 'header',
    name: 'authorization',
    value: 'Bearer real-credential',
    alternatives: new Map(),
    bearerUnlessUserJwt: null,
    extraHeaders: [],
    appendHeaders: [],
    extraQuery: [],
    dropHeaders: new Set(),
    pathPrefix: null,
    secretForms: ['real-credential'],
    ...over,
  };
}

export function createTestUpstream(over: Partial<Upstream>): Upstream {
  return {
    providerSlug: 'slug',
    proxyName: over.providerSlug ?? 'slug',
    publicSlug: 'custom',
    accountId: '00000000-0000-7000-8000-000000000001',
    accountStatus: 'active',
    credentialExpiresAtMs: Number.POSITIVE_INFINITY,
    credentialRetryAtMs: 0,
    credentialGeneration: 0,
    credentialId: 'account-1',
    credentialVersion: 0,
    compromisedBefore: 0,
    isCustom: false,
    origin: 'https://api.example.com',
    basePath: '',
    isTenantAddress: false,
    circuitKey: 'slug|https://api.example.com|org',
    fleetKey: '',
    injection: createTestHeaderInjection({}),
    usageFormat: 'none',
    usageRules: null,
    priceProvider: '',
    failureStatuses: new Set([500, 502, 503, 504]),
    failureExemptMarker: null,
    allowsWebSocket: false,
    ignoredToolMaxima: [],
    sensitiveCalls: [],
    opaqueCalls: [],
    policy: null,
    modelCalls: [],
    ...over,
  };
}
