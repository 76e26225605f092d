/**
 * The immutable snapshot that serves one gateway token's calls for one agent (docs/contract.md#contexts). Decoded once
 * per resolve; everything that a request would otherwise compute again (header values, base64 forms, lower-cased names)
 * is computed here. Holds decrypted credentials: never log, never serialise.
 */
import type { AgentLimits } from '../limits/agent-limits.js';

export type AgentStatus = 'active' | 'paused' | 'revoked';
export type UsageFormat = 'openai' | 'anthropic' | 'resend' | 's3' | 'none';

export interface AgentContext {
  readonly keyId: string;
  readonly keyScope: 'agent' | 'project' | 'org';
  /** Unix ms; null = never. */
  readonly keyExpiresAtMs: number | null;
  readonly orgId: string;
  readonly projectId: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly agentSlug: string;
  readonly agentStatus: AgentStatus;
  readonly agentLimits: AgentLimits;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** Providers that exist for the organization but have no account here: 403, where an unknown slug is 404. */
  readonly unassignedProviders: ReadonlySet<string>;
}

export interface Upstream {
  readonly providerSlug: string;
  /** Metrics label: the slug of a built-in provider, else `custom`. */
  readonly publicSlug: string;
  readonly accountId: string;
  readonly accountStatus: 'active' | 'needs_credentials';
  readonly isCustom: boolean;
  /** `scheme://host[:port]`. */
  readonly origin: string;
  /** `""` or `/x/y`; the provider's path is appended byte for byte. */
  readonly basePath: string;
  /** A tenant gave the address: every connect goes through the egress guard. */
  readonly isTenantAddress: boolean;
  /** The organization's breaker of the origin. */
  readonly circuitKey: string;
  /** The fleet's; `''`: the address is a tenant's, or has a tenant's part. */
  readonly fleetKey: string;
  readonly injection: Injection;
  readonly usageFormat: UsageFormat;
  /** Provider id in the price library; `""` = only PRICES_FILE entries of the slug. */
  readonly priceProvider: string;
  readonly failureStatuses: ReadonlySet<number>;
  /** A failing status whose first 4 KiB contain this is not the provider's failure; null = no exemption. */
  readonly failureExemptMarker: string | null;
  readonly allowsWebSocket: boolean;
  /** Refused; empty where an admin allowed them for the account. */
  readonly sensitiveCalls: readonly SensitiveCall[];
  /** Null: the agent may make every call. */
  readonly policy: CallPolicy | null;
  /** Where calls name their model, first match first; empty: the provider has no models. */
  readonly modelCalls: readonly ModelCall[];
}

/** One line of a provider's list of calls that hand out credentials or change who has access. */
export interface SensitiveCall {
  /** See policy/call-pattern.ts. */
  readonly call: string;
  /** Only where a query parameter of one of these names (patterns) is there; empty: whatever the query holds. */
  readonly query: readonly string[];
  /** Only where a header, or a query parameter, of one of these names is there. */
  readonly headers: readonly string[];
  /** Values of such headers that do no harm. */
  readonly harmlessValues: readonly string[];
}

/** What an agent may call of one provider. */
export interface CallPolicy {
  /** Nothing. */
  readonly closed: boolean;
  /** Null: every call. */
  readonly calls: readonly string[] | null;
  /** Null: every model. */
  readonly models: ModelPatterns | null;
}

/** `*` is any run of characters. */
export interface ModelPatterns {
  /** Null: every model that is not denied. */
  readonly allow: readonly string[] | null;
  readonly deny: readonly string[];
}

interface ModelCall {
  readonly call: string;
  /** `json`, `form`, `json_or_form`, `batch` (`requests[].params.model`), `path:x` (the segment behind `x`), `free`. */
  readonly at: string;
}

export type Injection = HeaderInjection | BasicInjection | QueryInjection | SigV4Injection | NoInjection;

interface InjectionBase {
  /** `[name, value]` pairs of the account itself, set after the client's of that name were dropped. */
  readonly extraHeaders: readonly (readonly [name: string, value: string])[];
  /**
   * `[name, name=value]` query parameters of the account itself, percent-encoded; the client's of that name are dropped.
   * An empty second part: they are dropped, and nothing takes their place.
   */
  readonly extraQuery: readonly (readonly [name: string, pair: string])[];
  /** Lower-case names dropped from the client's request (includes the names of extraHeaders). */
  readonly dropHeaders: ReadonlySet<string>;
  /** Every form in which the secret leaves in a request (raw, base64, percent-encoded); masked in answers. */
  readonly secretForms: readonly string[];
}

export interface HeaderInjection extends InjectionBase {
  readonly kind: 'header';
  readonly name: string;
  readonly value: string;
  /** When the client's token came in this header instead, the secret goes out in it too. Keyed by lower-case name. */
  readonly alternatives: ReadonlyMap<string, string>;
  /** supabase: value for `authorization`, unless the client sent a user's own JWT there. Null elsewhere. */
  readonly bearerUnlessUserJwt: string | null;
}

interface BasicInjection extends InjectionBase {
  readonly kind: 'basic';
  /** `Basic base64(user:password)`. */
  readonly value: string;
}

interface QueryInjection extends InjectionBase {
  readonly kind: 'query';
  readonly name: string;
  /** `name=percent-encoded secret`, ready to append. */
  readonly pair: string;
}

export interface SigV4Injection extends InjectionBase {
  readonly kind: 'sigv4';
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
  readonly region: string;
  readonly service: string;
}

interface NoInjection extends InjectionBase {
  readonly kind: 'none';
}
