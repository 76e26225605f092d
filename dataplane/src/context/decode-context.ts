/**
 * Decodes the wire's AgentContext to the frozen snapshot of agent-context.ts, once per resolve, so that requests need
 * not compute it again. Throws on a message that the control plane should never send; no error text contains a value of
 * the message.
 */
import type { IAgentContext, ICallPolicy, IInjection, IUpstream } from '@acg/proto/messages';
import type { AgentContext, AgentStatus, CallPolicy, Injection, Upstream, UsageFormat } from './agent-context.js';
import { decodeLimits } from './decode-limits.js';

const SCOPES = ['agent', 'project', 'org'] as const;
const STATUSES = ['active', 'paused', 'revoked'] as const satisfies readonly AgentStatus[];
const ACCOUNT_STATUSES = ['active', 'needs_credentials'] as const;
const USAGE_FORMATS = [
  'openai',
  'anthropic',
  'gemini',
  'bedrock',
  'cohere',
  'resend',
  's3',
  'none',
] as const satisfies readonly UsageFormat[];

export function decodeContext(message: IAgentContext): AgentContext {
  const agentId = requireText(message.agentId, 'agent_id');
  return Object.freeze({
    keyId: requireText(message.keyId, 'key_id'),
    keyScope: requireOneOf(message.keyScope, SCOPES, 'key_scope'),
    keyExpiresAtMs: message.keyExpiresAtMs ?? null,
    orgId: requireText(message.orgId, 'org_id'),
    projectId: requireText(message.projectId, 'project_id'),
    agentId,
    agentName: message.agentName ?? '',
    agentSlug: message.agentSlug ?? '',
    agentStatus: requireOneOf(message.agentStatus, STATUSES, 'agent_status'),
    agentLimits: decodeLimits(message, agentId),
    upstreams: new Map(
      (message.upstreams ?? []).map((one) => [requireText(one.providerSlug, 'slug'), decodeUpstream(one)]),
    ),
    unassignedProviders: new Set(message.unassignedProviders ?? []),
  });
}

function decodeUpstream(message: IUpstream): Upstream {
  const marker = message.failure?.exemptBodyMarker;
  return Object.freeze({
    providerSlug: requireText(message.providerSlug, 'slug'),
    publicSlug: requireText(message.publicSlug, 'public_slug'),
    accountId: requireText(message.accountId, 'account_id'),
    accountStatus: requireOneOf(message.accountStatus, ACCOUNT_STATUSES, 'account_status'),
    isCustom: message.custom ?? false,
    origin: requireText(message.origin, 'origin'),
    basePath: message.basePath ?? '',
    isTenantAddress: message.tenantAddress ?? false,
    circuitKey: requireText(message.circuitKey, 'circuit_key'),
    fleetKey: message.fleetKey ?? '',
    injection: decodeInjection(message.injection ?? {}),
    usageFormat: requireOneOf(message.usageFormat, USAGE_FORMATS, 'usage_format'),
    priceProvider: message.priceProvider ?? '',
    failureStatuses: new Set(message.failure?.statuses ?? []),
    failureExemptMarker: marker === undefined || marker === null || marker === '' ? null : marker,
    allowsWebSocket: message.websocket ?? false,
    sensitiveCalls: (message.sensitiveCalls ?? []).map(({ call, query, headers, harmlessValues }) => ({
      call: requireText(call, 'sensitive call'),
      query: query ?? [],
      headers: headers ?? [],
      harmlessValues: harmlessValues ?? [],
    })),
    policy: message.policy ? decodePolicy(message.policy) : null,
    modelCalls: (message.modelCalls ?? []).map(({ call, at }) => ({
      call: requireText(call, 'call'),
      at: requireText(at, 'place'),
    })),
  });
}

function decodePolicy({ closed, calls, models }: ICallPolicy): CallPolicy {
  return {
    closed: closed ?? false,
    calls: calls ? (calls.patterns ?? []) : null,
    models: models ? { allow: models.allow ? (models.allow.patterns ?? []) : null, deny: models.deny ?? [] } : null,
  };
}

function decodeInjection(message: IInjection): Injection {
  const extraHeaders = (message.extraHeaders ?? []).map(
    ({ name, value }) => [requireText(name, 'header name'), value ?? ''] as const,
  );
  const dropHeaders = new Set(message.dropHeaders ?? []);
  for (const [name] of extraHeaders) dropHeaders.add(name.toLowerCase());
  const extraQuery = (message.extraQuery ?? []).map(({ name, value }): readonly [string, string] => {
    const encoded = encodeURIComponent(requireText(name, 'query name'));
    return [name!, `${encoded}=${encodeURIComponent(value ?? '')}`];
  });
  for (const name of message.dropQuery ?? []) extraQuery.push([name, '']);
  const base = { extraHeaders, extraQuery, dropHeaders };
  if (message.header) {
    const { name, prefix, secret, alternatives, alsoBearerUnlessUserJwt } = message.header;
    const value = secret ?? '';
    dropHeaders.add(requireText(name, 'header name').toLowerCase());
    return Object.freeze({
      ...base,
      kind: 'header',
      name: requireText(name, 'header name'),
      value: (prefix ?? '') + value,
      alternatives: new Map((alternatives ?? []).map((form) => [form.name ?? '', (form.prefix ?? '') + value])),
      bearerUnlessUserJwt: alsoBearerUnlessUserJwt ? `Bearer ${value}` : null,
      // A token that came as `?apikey=` is replaced there, percent-encoded.
      secretForms: listSecretForms(value, encodeURIComponent(value)),
    });
  }
  if (message.basic) {
    const password = message.basic.password ?? '';
    const encoded = Buffer.from(`${message.basic.username ?? ''}:${password}`).toString('base64');
    return Object.freeze({
      ...base,
      kind: 'basic',
      value: `Basic ${encoded}`,
      secretForms: listSecretForms(password, encoded),
    });
  }
  if (message.query)
    return decodeQueryInjection(base, requireText(message.query.name, 'query name'), message.query.secret ?? '');
  if (message.sigv4) {
    const { accessKeyId, secretAccessKey, sessionToken, region, service } = message.sigv4;
    const session = sessionToken ?? '';
    return Object.freeze({
      ...base,
      kind: 'sigv4',
      accessKeyId: requireText(accessKeyId, 'access_key_id'),
      secretAccessKey: requireText(secretAccessKey, 'secret_access_key'),
      sessionToken: session === '' ? null : session,
      region: requireText(region, 'region'),
      service: requireText(service, 'service'),
      // The secret key itself is never sent in a request, only its signatures.
      secretForms: listSecretForms(session),
    });
  }
  return Object.freeze({ ...base, kind: 'none', secretForms: [] });
}

type InjectionBase = Pick<Injection, 'extraHeaders' | 'extraQuery' | 'dropHeaders'>;

function decodeQueryInjection(base: InjectionBase, name: string, secret: string): Injection {
  const encoded = encodeURIComponent(secret);
  return Object.freeze({
    ...base,
    kind: 'query',
    name,
    pair: `${encodeURIComponent(name)}=${encoded}`,
    // A provider that echoes its query may use form encoding.
    secretForms: listSecretForms(secret, encoded, new URLSearchParams([['', secret]]).toString().slice(1)),
  });
}

/**
 * The distinct forms, each also as it appears inside a JSON string. Longest first, so that a form that contains another
 * is masked whole.
 */
function listSecretForms(...values: readonly string[]): readonly string[] {
  const all = new Set<string>();
  for (const value of values) {
    if (value === '') continue;
    all.add(value);
    all.add(JSON.stringify(value).slice(1, -1));
  }
  return Object.freeze([...all].sort((a, b) => b.length - a.length));
}

function requireText(value: string | null | undefined, field: string): string {
  if (typeof value !== 'string' || value === '') throw new Error(`context without ${field}`);
  return value;
}

function requireOneOf<T extends string>(value: string | null | undefined, allowed: readonly T[], field: string): T {
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new Error(`context with an unknown ${field}`);
  return found;
}
