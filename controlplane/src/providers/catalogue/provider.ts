/**
 * A provider in use: its rules, applied to the credentials of one account (docs/contract.md#providers). Built-in and
 * custom providers are the same; who entered the address decides what the gateway checks.
 */
import { type Credentials, fieldValue, isHostPart, listTemplateFields, renderTemplate } from './credential-template.js';
import { matchesLinearRegex } from './linear-regex.js';
import { findMethod, listInjectedFields, listMethodFields, renderEndpoint } from './mint-method.js';
import type { MintMethod } from './mint-method-schema.js';
import type {
  CredentialField,
  ModelCall,
  OpaqueRule,
  ProviderFile,
  ProviderRules,
  SensitiveRule,
  UsageFormat,
} from './provider-definition.js';
import { type RenderedInjection, renderInjection } from './render-injection.js';

interface ProviderAddress {
  /** `https://host` and, where an operator or a tenant entered it, a path. */
  readonly baseUrl: string;
  /** The URL was entered by a tenant, so it is checked when saved and at every connect. */
  readonly tenantGiven: boolean;
}

interface TokenEndpoint {
  readonly url: string;
  /** A tenant entered the URL: the egress guard checks each connect. */
  readonly tenantGiven: boolean;
}

interface ProviderSource {
  readonly slug: string;
  readonly displayName: string;
  readonly rules: ProviderRules;
  /** Null: a tenant's provider. */
  readonly file: ProviderFile | null;
  /** Addresses that replace the rules' own, by origin. */
  readonly addresses?: ReadonlyMap<string, ProviderAddress>;
  /** Token endpoints that replace those of the methods, by method; the operator's. */
  readonly tokenUrls?: ReadonlyMap<string, string>;
  /** Where calls name their model; the first match wins. Empty: the provider has no models. */
  readonly modelCalls: readonly ModelCall[];
}

export const DEFAULT_ORIGIN = 'default';

export class Provider {
  readonly slug: string;
  readonly displayName: string;
  readonly rules: ProviderRules;
  readonly file: ProviderFile | null;
  readonly modelCalls: readonly ModelCall[];
  readonly #addresses: ReadonlyMap<string, ProviderAddress>;
  readonly #tokenUrls: ReadonlyMap<string, string>;

  constructor(source: ProviderSource) {
    const { slug, displayName, rules, file, addresses = new Map(), tokenUrls = new Map(), modelCalls } = source;
    this.slug = slug;
    this.displayName = displayName;
    this.rules = rules;
    this.file = file;
    this.modelCalls = modelCalls;
    this.#addresses = addresses;
    this.#tokenUrls = tokenUrls;
  }

  get isBuiltIn(): boolean {
    return this.file !== null;
  }

  get credentialFields(): readonly CredentialField[] {
    return this.rules.credentials.fields;
  }

  /** Names of the origins, `default` first. */
  get originNames(): readonly string[] {
    return [DEFAULT_ORIGIN, ...Object.keys(this.rules.origins).filter((name) => name !== DEFAULT_ORIGIN)];
  }

  /** The address that all accounts share, or null where accounts have their own. */
  fixedAddress(origin = DEFAULT_ORIGIN): string | null {
    const given = this.#addresses.get(origin);
    if (given !== undefined) return given.baseUrl;
    const rule = this.rules.origins[origin];
    return typeof rule === 'string' && listTemplateFields(rule).length === 0 ? rule : null;
  }

  /** The address of one account; null where its credentials state none. */
  address(credentials: Credentials, origin = DEFAULT_ORIGIN): ProviderAddress | null {
    const given = this.#addresses.get(origin);
    if (given !== undefined) return given;
    const rule = this.rules.origins[origin];
    if (rule === undefined) return null;
    for (const { when = {}, url } of typeof rule === 'string' ? [{ url: rule }] : rule) {
      if (!Object.entries(when).every(([field, pattern]) => matchesField(credentials, field, pattern))) continue;
      const isWholeAddress = url.startsWith('{');
      if (!isWholeAddress && !listTemplateFields(url).every((field) => this.#mayBeInHost(field, credentials))) continue;
      const baseUrl = renderTemplate(url, credentials);
      if (baseUrl !== null) return { baseUrl, tenantGiven: isWholeAddress || !this.isBuiltIn };
    }
    return null;
  }

  #mayBeInHost(name: string, credentials: Credentials): boolean {
    const value = fieldValue(credentials, name);
    const values = this.credentialFields.find((field) => field.name === name)?.values;
    return value !== undefined && (values?.includes(value) ?? isHostPart(value));
  }

  /** `credentials` of an account whose credential is minted hold the minted fields. */
  injection(credentials: Credentials, origin = DEFAULT_ORIGIN): RenderedInjection {
    const method = this.method(credentials);
    if (method === null) return renderInjection(this.rules, credentials, origin);
    const fields = listInjectedFields(this.rules, method);
    const { kind } = this.rules.credentials;
    const rules = { inject: method.inject, drop: this.rules.drop, credentials: { kind, fields } };
    return renderInjection(rules, credentials, origin);
  }

  /** How the gateway mints the credential; null: the account has a credential of its own. */
  method(credentials: Credentials): MintMethod | null {
    return findMethod(this.rules, credentials);
  }

  /** Fields that an account with these credentials states. */
  fieldsOf(credentials: Credentials): readonly CredentialField[] {
    const method = this.method(credentials);
    return method === null ? this.credentialFields : listMethodFields(this.rules, method);
  }

  /** The token endpoint of the account; null: its credentials state none. */
  tokenEndpoint(method: MintMethod, credentials: Credentials): TokenEndpoint | null {
    const given = this.#tokenUrls.get(method.name);
    if (given !== undefined) return { url: given, tenantGiven: false };
    const template = method.token.url;
    const url = template === undefined ? null : renderEndpoint(template, credentials);
    return url === null ? null : { url, tenantGiven: !this.isBuiltIn || template!.startsWith('{') };
  }

  /** Where Google issues tokens of a service account; null: the method needs none, or the account names none. */
  impersonationEndpoint(method: MintMethod, credentials: Credentials): TokenEndpoint | null {
    const email = method.token.impersonate === undefined ? null : renderTemplate(method.token.impersonate, credentials);
    if (email === null || !this.isBuiltIn) return null;
    const given = this.#tokenUrls.get(method.name);
    const origin = given === undefined ? 'https://iamcredentials.googleapis.com' : new URL(given).origin;
    const path = `/v1/projects/-/serviceAccounts/${encodeURIComponent(email)}:generateAccessToken`;
    return { url: origin + path, tenantGiven: false };
  }

  /** Where grants are revoked; null: the provider has no such endpoint, or the operator replaced its token endpoint. */
  revocationEndpoint(method: MintMethod, credentials: Credentials): TokenEndpoint | null {
    const { revocationUrl } = method.token;
    if (revocationUrl === undefined || this.#tokenUrls.has(method.name)) return null;
    const url = renderEndpoint(revocationUrl, credentials);
    return url === null ? null : { url, tenantGiven: !this.isBuiltIn || revocationUrl.startsWith('{') };
  }

  /** Usage format of each call; the first match counts. Without `calls`: every call. */
  usageFormats(origin: string): readonly { readonly calls: readonly string[] | null; readonly format: UsageFormat }[] {
    const { usage } = this.rules;
    if (!Array.isArray(usage)) return [{ calls: null, format: (usage as { format: UsageFormat }).format }];
    return atOrigin(usage, origin);
  }

  /** The format of most calls. */
  get mainUsageFormat(): UsageFormat {
    return this.usageFormats(DEFAULT_ORIGIN)[0]?.format ?? 'none';
  }

  /** Named allow-lists for policies. */
  get presets(): NonNullable<ProviderFile['presets']> {
    return this.rules.presets ?? [];
  }

  get priceProvider(): string {
    return this.file?.prices ?? '';
  }

  sensitiveCalls(origin: string): readonly SensitiveRule[] {
    return atOrigin(this.rules.sensitive ?? [], origin);
  }

  opaqueCalls(origin: string): readonly OpaqueRule[] {
    return atOrigin(this.rules.opaque ?? [], origin);
  }

  modelCallsAt(origin: string): readonly ModelCall[] {
    return atOrigin(this.modelCalls, origin);
  }

  /** Whether the response to the probe says that the credential is invalid. `body` is its first KiB. */
  isRefused(status: number, body: string): boolean {
    const { probe } = this.rules;
    if (!('refused' in probe)) return false;
    return probe.refused.some(
      (rule) =>
        (rule.status === undefined || rule.status === status) &&
        (rule.body === undefined || (status >= 400 && matchesLinearRegex(rule.body, body))),
    );
  }
}

function matchesField(credentials: Credentials, field: string, pattern: string): boolean {
  const value = fieldValue(credentials, field);
  return value !== undefined && matchesLinearRegex(pattern, value);
}

const atOrigin = <T extends { readonly origin?: string | undefined }>(
  rules: readonly T[],
  origin: string,
): readonly T[] => rules.filter((rule) => rule.origin === undefined || rule.origin === origin);
