/** Upstreams and injections for tests; every field has an ordinary value that a test may replace. */
import type { HeaderInjection, Upstream } from '../context/agent-context.js';

export function headerInjection(over: Partial<HeaderInjection>): HeaderInjection {
  return {
    kind: 'header',
    name: 'authorization',
    value: 'Bearer real-credential',
    alternatives: new Map(),
    bearerUnlessUserJwt: null,
    extraHeaders: [],
    extraQuery: [],
    dropHeaders: new Set(),
    secretForms: ['real-credential'],
    ...over,
  };
}

export function upstreamOf(over: Partial<Upstream>): Upstream {
  return {
    providerSlug: 'slug',
    publicSlug: 'custom',
    accountId: '00000000-0000-7000-8000-000000000001',
    accountStatus: 'active',
    custom: false,
    origin: 'https://api.example.com',
    basePath: '',
    tenantAddress: false,
    circuitKey: 'slug|https://api.example.com|org',
    fleetKey: '',
    injection: headerInjection({}),
    usageFormat: 'none',
    priceProvider: '',
    failureStatuses: new Set([500, 502, 503, 504]),
    failureExemptMarker: null,
    websocket: false,
    sensitiveCalls: [],
    policy: null,
    modelCalls: [],
    ...over,
  };
}
