/**
 * Decodes the wire's AgentContext to the frozen snapshot of agent-context.ts, once per resolve, so that requests need
 * not compute it again. Throws on a message that the control plane should never send; no error text contains a value of
 * the message.
 */
import { NO_CELL } from '@acg/base/cells';
import { listSecretForms } from '@acg/base/list-secret-forms';
import type { CallPolicy, ModelPatterns, SensitiveCall } from '@acg/base/policy/call-rule-source';
import type { IAgentContext, ICallPolicy, IInjection, IModelRule, IUpstream, IUsageRule } from '@acg/proto/messages';
import type { AgentContext, AgentStatus, Injection, Upstream, UsageFormat } from './agent-context.js';
import { applyCellShare } from './cell-share.js';
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
  'mcp',
  'none',
] as const satisfies readonly UsageFormat[];

const NO_PROVIDERS: ReadonlySet<string> = new Set();
const NO_RUNS: readonly string[] = Object.freeze([]);
const NO_ORIGINS: ReadonlyMap<string, Upstream> = new Map();

/**
 * `builtInProviders`: slugs that exist for every organization. `requestedAtMs`: monotonic ms before the control plane was
 * asked. `cell`: that of this data plane.
 */
export function decodeContext(
  message: IAgentContext,
  builtInProviders = NO_PROVIDERS,
  requestedAtMs = performance.now(),
  cell = NO_CELL,
): AgentContext {
  const decode = (one: IUpstream): Upstream => decodeUpstream(one, requestedAtMs);
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
    agentLimits: decodeLimits(applyCellShare(message, cell), agentId, cell),
    runIds: message.runId ? [message.runId, ...(message.runAncestors ?? [])] : NO_RUNS,
    upstreams: new Map((message.upstreams ?? []).map((one) => [requireText(one.providerSlug, 'slug'), decode(one)])),
    namedOrigins: decodeNamedOrigins(message.namedOrigins ?? [], decode),
    unassignedProviders: message.unassignedProviders?.length ? new Set(message.unassignedProviders) : NO_PROVIDERS,
    builtInProviders,
    mcpSessionKey: message.mcpSessionKey ?? '',
  });
}

function decodeNamedOrigins(
  messages: readonly IUpstream[],
  decode: (message: IUpstream) => Upstream,
): ReadonlyMap<string, Upstream> {
  if (messages.length === 0) return NO_ORIGINS;
  return new Map(
    messages.map((one) => {
      const upstream = decode(one);
      return [upstream.proxyName, upstream];
    }),
  );
}

type CallLists = Pick<Upstream, 'sensitiveCalls' | 'opaqueCalls' | 'modelCalls'>;

/**
 * The lists of built-in providers by `rules_id`. Contexts share them, because a list may take ten times the memory of
 * the rest of a context.
 */
const sharedCallLists = new Map<string, CallLists>();
const SHARED_LISTS_MAX = 1_000;

function decodeCallLists(message: IUpstream): CallLists {
  const { rulesId } = message;
  if (!rulesId) return decodeOwnCallLists(message);
  let lists = sharedCallLists.get(rulesId);
  if (lists === undefined) {
    lists = decodeOwnCallLists(message);
    if (sharedCallLists.size >= SHARED_LISTS_MAX) sharedCallLists.clear();
    sharedCallLists.set(rulesId, lists);
  }
  return lists;
}

const NO_CALLS: readonly SensitiveCall[] = Object.freeze([]);

function decodeOwnCallLists({ sensitiveCalls, modelCalls }: IUpstream): CallLists {
  const decode = (opaque: boolean): readonly SensitiveCall[] => {
    const calls = (sensitiveCalls ?? []).filter((one) => (one.opaque ?? false) === opaque);
    if (calls.length === 0) return NO_CALLS;
    return calls.map(({ call, query, headers, harmlessValues }) => ({
      call: requireText(call, 'sensitive call'),
      query: query ?? [],
      headers: headers ?? [],
      harmlessValues: harmlessValues ?? [],
    }));
  };
  return {
    sensitiveCalls: decode(false),
    opaqueCalls: decode(true),
    modelCalls: (modelCalls ?? []).map(({ call, at }) => ({
      call: requireText(call, 'call'),
      at: requireText(at, 'place'),
    })),
  };
}

const NO_MAXIMA: readonly string[] = Object.freeze([]);

function decodeUpstream(message: IUpstream, requestedAtMs: number): Upstream {
  const marker = message.failure?.exemptBodyMarker;
  const slug = requireText(message.providerSlug, 'slug');
  const usage = message.usage ?? [];
  return Object.freeze({
    providerSlug: slug,
    proxyName: message.originName ? `${slug}:${message.originName}` : slug,
    publicSlug: requireText(message.publicSlug, 'public_slug'),
    accountId: requireText(message.accountId, 'account_id'),
    ...decodeCredentialLife(message, requestedAtMs),
    credentialId: message.sharedCredentialId || message.accountId!,
    credentialVersion: message.credentialVersion ?? 0,
    compromisedBefore: message.compromisedBefore ?? 0,
    isCustom: message.custom ?? false,
    origin: requireText(message.origin, 'origin'),
    basePath: message.basePath ?? '',
    isTenantAddress: message.tenantAddress ?? false,
    circuitKey: requireText(message.circuitKey, 'circuit_key'),
    fleetKey: message.fleetKey ?? '',
    injection: decodeInjection(message.injection ?? {}),
    ...(usage.length === 1 && !usage[0]!.calls?.length
      ? { usageFormat: requireOneOf(usage[0]!.format, USAGE_FORMATS, 'usage_format'), usageRules: null }
      : {
          usageFormat: requireOneOf(message.usageFormat, USAGE_FORMATS, 'usage_format'),
          usageRules: usage.length === 0 ? null : decodeUsageRules(usage),
        }),
    priceProvider: message.priceProvider ?? '',
    failureStatuses: new Set(message.failure?.statuses ?? []),
    failureExemptMarker: marker === undefined || marker === null || marker === '' ? null : marker,
    allowsWebSocket: message.websocket ?? false,
    ignoredToolMaxima: message.ignoredToolMaxima?.length ? message.ignoredToolMaxima : NO_MAXIMA,
    policy: message.policy ? decodePolicy(message.policy) : null,
    ...decodeCallLists(message),
  });
}

/** Ages count from the request on, so neither the way of the answer nor a clock makes a credential live longer. */
function decodeCredentialLife(message: IUpstream, requestedAtMs: number) {
  const status = requireOneOf(message.accountStatus, ACCOUNT_STATUSES, 'account_status');
  const isMissing = message.credentialRefreshing ?? false;
  const lifeMs = message.credentialLifeMs || Number.POSITIVE_INFINITY;
  return {
    accountStatus: isMissing ? 'active' : status,
    credentialExpiresAtMs: isMissing ? Number.NEGATIVE_INFINITY : requestedAtMs + lifeMs,
    credentialRetryAtMs: isMissing ? requestedAtMs + (message.credentialRetryMs ?? 0) : 0,
    credentialGeneration: message.credentialGeneration ?? 0,
  };
}

const decodeUsageRules = (rules: readonly IUsageRule[]) =>
  rules.map(({ calls, format }) => ({
    calls: calls ?? [],
    format: requireOneOf(format, USAGE_FORMATS, 'usage_format'),
  }));

function decodePolicy({ closed, calls, models, tools, resources, prompts, toolLimits }: ICallPolicy): CallPolicy {
  return {
    closed: closed ?? false,
    calls: calls ? (calls.patterns ?? []) : null,
    models: decodePatterns(models),
    ...(tools || resources || prompts
      ? {
          mcp: {
            tools: decodePatterns(tools),
            resources: decodePatterns(resources),
            prompts: decodePatterns(prompts),
          },
        }
      : {}),
    ...(toolLimits?.length
      ? { toolLimits: toolLimits.map(({ tool, rpm }) => ({ tool: tool ?? '', rpm: rpm ?? 0 })) }
      : {}),
  };
}

const decodePatterns = (rule: IModelRule | null | undefined): ModelPatterns | null =>
  rule ? { allow: rule.allow ? (rule.allow.patterns ?? []) : null, deny: rule.deny ?? [] } : null;

function decodeInjection(message: IInjection): Injection {
  const extraHeaders = (message.extraHeaders ?? []).map(
    ({ name, value }) => [requireText(name, 'header name'), value ?? ''] as const,
  );
  const appendHeaders = (message.appendHeaders ?? []).map(
    ({ name, value }) => [requireText(name, 'header name'), requireText(value, 'header value')] as const,
  );
  const dropHeaders = new Set(message.dropHeaders ?? []);
  for (const [name] of extraHeaders) dropHeaders.add(name.toLowerCase());
  const extraQuery = (message.extraQuery ?? []).map(({ name, value }): readonly [string, string] => {
    const encoded = encodeURIComponent(requireText(name, 'query name'));
    return [name!, `${encoded}=${encodeURIComponent(value ?? '')}`];
  });
  for (const name of message.dropQuery ?? []) extraQuery.push([name, '']);
  const base = { extraHeaders, appendHeaders, extraQuery, dropHeaders, pathPrefix: message.pathPrefix || null };
  const further = (message.secrets ?? []).flatMap((secret) => [secret, encodeURIComponent(secret)]);
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
      secretForms: listSecretForms(value, encodeURIComponent(value), ...further),
    });
  }
  if (message.basic) {
    const password = message.basic.password ?? '';
    const encoded = Buffer.from(`${message.basic.username ?? ''}:${password}`).toString('base64');
    return Object.freeze({
      ...base,
      kind: 'basic',
      value: `Basic ${encoded}`,
      secretForms: listSecretForms(password, encoded, ...further),
    });
  }
  if (message.query)
    return decodeQueryInjection(
      base,
      requireText(message.query.name, 'query name'),
      message.query.secret ?? '',
      further,
    );
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
      isObjectStorage: service === 's3',
      // The secret key itself is never sent in a request, only its signatures.
      secretForms: listSecretForms(session, ...further),
    });
  }
  return Object.freeze({ ...base, kind: 'none', secretForms: listSecretForms(...further) });
}

type InjectionBase = Pick<Injection, 'extraHeaders' | 'appendHeaders' | 'extraQuery' | 'dropHeaders' | 'pathPrefix'>;

function decodeQueryInjection(
  base: InjectionBase,
  name: string,
  secret: string,
  further: readonly string[],
): Injection {
  const encoded = encodeURIComponent(secret);
  return Object.freeze({
    ...base,
    kind: 'query',
    name,
    pair: `${encodeURIComponent(name)}=${encoded}`,
    // A provider that echoes its query may use form encoding.
    secretForms: listSecretForms(secret, encoded, new URLSearchParams([['', secret]]).toString().slice(1), ...further),
  });
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
