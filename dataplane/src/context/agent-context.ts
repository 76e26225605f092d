/**
 * The immutable snapshot that serves one gateway token's calls for one agent (docs/contract.md#contexts). Decoded once
 * per resolve. Everything that each request would otherwise compute again (header values, base64 forms, lower-case
 * names) is computed then. Contains decrypted credentials: never log or serialize it.
 */
import type { CallRuleSource } from '@acg/base/policy/call-rule-source';
import type { AgentLimits } from '../limits/agent-limits.js';

export type AgentStatus = 'active' | 'paused' | 'revoked';
export type UsageFormat = 'openai' | 'anthropic' | 'gemini' | 'bedrock' | 'cohere' | 'resend' | 's3' | 'mcp' | 'none';

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
  /** The run that the key belongs to, then its ancestors, the root last; empty: none. */
  readonly runIds: readonly string[];
  /** The default origin of each assigned provider, by slug. */
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** Further origins of these providers, by `slug:origin`. */
  readonly namedOrigins: ReadonlyMap<string, Upstream>;
  /**
   * Custom providers of the organization that have no account of this agent: 403 for these and for built-in ones, 404
   * for an unknown slug.
   */
  readonly unassignedProviders: ReadonlySet<string>;
  /** Slugs that exist for every organization; all contexts share this set. */
  readonly builtInProviders: ReadonlySet<string>;
  /** Key that binds session ids of MCP servers to this agent; `''`: the control plane is of an earlier release. */
  readonly mcpSessionKey: string;
}

export interface Upstream extends CallRuleSource {
  readonly providerSlug: string;
  /** Part of the proxy path after `/v1/proxy/`: the slug, or `slug:origin`. */
  readonly proxyName: string;
  /** Metrics label: the slug of a built-in provider, else `custom`. */
  readonly publicSlug: string;
  readonly accountId: string;
  readonly accountStatus: 'active' | 'needs_credentials';
  /** Monotonic ms from which the minted credential must not be sent; `Infinity`: it never expires. */
  readonly credentialExpiresAtMs: number;
  /** Monotonic ms before which a missing credential is not requested again. */
  readonly credentialRetryAtMs: number;
  /** Generation of the minted credential; 0: the credential is not minted. */
  readonly credentialGeneration: number;
  /** Id of the shared credential, or of the account that has its own. */
  readonly credentialId: string;
  /** Grows with each rotation; 0: never rotated. */
  readonly credentialVersion: number;
  /** Calls in flight with a smaller version must end, because that credential is compromised; 0: none. */
  readonly compromisedBefore: number;
  /** `scheme://host[:port]`. */
  readonly origin: string;
  /** A tenant configured the address, so every connect passes the egress guard. */
  readonly isTenantAddress: boolean;
  /** Key of the organization's breaker for the origin. */
  readonly circuitKey: string;
  /** Key of the fleet breaker for the origin; `''`: a tenant configured the address, or part of it. */
  readonly fleetKey: string;
  readonly injection: Injection;
  /** Of every call, unless `usageRules` say otherwise. */
  readonly usageFormat: UsageFormat;
  /** Formats by call, first match first; other calls are not metered. Null: `usageFormat` is that of every call. */
  readonly usageRules: readonly UsageRule[] | null;
  /** Provider id in the price library; `""` = only PRICES_FILE entries of the slug. */
  readonly priceProvider: string;
  readonly failureStatuses: ReadonlySet<number>;
  /**
   * A failing status whose first 4 KiB contain this text does not count as a failure of the provider; null = no
   * exemption.
   */
  readonly failureExemptMarker: string | null;
  readonly allowsWebSocket: boolean;
  /** Members of requests that limit uses of the provider's own tools elsewhere, and that this provider may ignore. */
  readonly ignoredToolMaxima: readonly string[];
}

interface UsageRule {
  /** Call patterns; empty: every call. */
  readonly calls: readonly string[];
  readonly format: UsageFormat;
}

export type Injection = HeaderInjection | BasicInjection | QueryInjection | SigV4Injection | NoInjection;

interface InjectionBase {
  /** `[name, value]` pairs of the account, set after the client's headers of that name were dropped. */
  readonly extraHeaders: readonly (readonly [name: string, value: string])[];
  /** `[name, value]` pairs, names in lower case, that are added to the client's comma-separated lists. */
  readonly appendHeaders: readonly (readonly [name: string, value: string])[];
  /**
   * `[name, name=value]` query parameters of the account, percent-encoded; the client's of that name are dropped. An
   * empty second element only drops them.
   */
  readonly extraQuery: readonly (readonly [name: string, pair: string])[];
  /** Lower-case names dropped from the client's request, including the names of extraHeaders. */
  readonly dropHeaders: ReadonlySet<string>;
  /**
   * The upstream's base path ends in this text and the credential, and a client puts its gateway token after it; null:
   * no credential in the path.
   */
  readonly pathPrefix: string | null;
  /** Every form in which the secret is sent in a request (raw, base64, percent-encoded); masked in responses. */
  readonly secretForms: readonly string[];
}

export interface HeaderInjection extends InjectionBase {
  readonly kind: 'header';
  readonly name: string;
  readonly value: string;
  /** Headers that also receive the secret when the client's token came in them. Keyed by lower-case name. */
  readonly alternatives: ReadonlyMap<string, string>;
  /** Supabase: value for `authorization`, unless the client sent a user's own JWT there. Null for other providers. */
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
  /** S3: paths are object keys, bodies may be aws-chunked, and the payload need not be signed. */
  readonly isObjectStorage: boolean;
}

interface NoInjection extends InjectionBase {
  readonly kind: 'none';
}
