/**
 * An organization's configuration as a document. Rows are identified by names: a project, an agent and a shared
 * credential by `name`, an account by its provider, a custom provider by `slug`, a webhook endpoint by `url`. Resources
 * that a document does not mention are not changed.
 */
import { AGENT_LIMITS } from '@acg/base/limit-definitions';
import { usage } from '../terminal/cli-error.js';
import { assertBudgetsConsistent } from './budget-fields.js';

/** A credential field: the name of an environment variable, or the value for fields that are not secret. */
export type CredentialSource = string | { readonly env: string };

export type CredentialSources = Readonly<Record<string, CredentialSource>>;

export interface AccountSpec {
  readonly provider: string;
  /** Of the account's own; or the name of a shared credential instead. */
  readonly credentials?: CredentialSources;
  readonly sharedCredential?: string;
  readonly allowSensitivePaths?: boolean;
  readonly allowOpaque?: boolean;
}
export interface AgentSpec extends Fields {
  readonly name: string;
  readonly status?: 'active' | 'paused' | 'revoked';
  readonly accounts?: readonly AccountSpec[];
}
export interface ProjectSpec extends Fields {
  readonly name: string;
  readonly agents?: readonly AgentSpec[];
}
export interface SharedCredentialSpec {
  readonly name: string;
  readonly provider: string;
  /** Name of the only project whose agents may use it. */
  readonly project?: string;
  readonly credentials?: CredentialSources;
}
interface CustomProviderSpec extends Fields {
  readonly slug: string;
}
interface WebhookSpec {
  readonly url: string;
  readonly events?: readonly string[];
  readonly status?: 'active' | 'paused';
}
export interface TrustRuleSpec extends Fields {
  readonly name: string;
  readonly project: string;
  /** Name of an agent of the project. */
  readonly agent: string;
  readonly issuer: string;
}
export interface ConfigDocument {
  readonly organization?: Fields;
  readonly sharedCredentials?: readonly SharedCredentialSpec[];
  readonly customProviders?: readonly CustomProviderSpec[];
  readonly projects?: readonly ProjectSpec[];
  readonly webhooks?: readonly WebhookSpec[];
  readonly trustRules?: readonly TrustRuleSpec[];
}
/** Values that are sent to the API unchanged. */
export type Fields = Readonly<Record<string, unknown>>;

export const DOCUMENT_VERSION = 1;
/** Fields of a project and of the organization. */
export const PARENT_FIELDS = ['budgetCentsMonthly', 'budgets', 'agentDefaults'] as const;
/** Fields of an agent that PATCH accepts. */
export const AGENT_FIELDS = [
  'description',
  ...AGENT_LIMITS.map(({ field }) => field),
  'usageThresholds',
  'budgetMode',
  'budgets',
  'auditLimits',
  'holdMaxOutputTokens',
  'onStoreLoss',
  'policy',
] as const;
export const CUSTOM_PROVIDER_FIELDS = [
  'displayName',
  'baseUrl',
  'authType',
  'authName',
  'authPrefix',
  'usageFormat',
  'sensitivePaths',
  'definition',
] as const;

/** Fields of a trust rule that PATCH accepts and the API shows. */
export const TRUST_RULE_FIELDS = ['conditions', 'keyLifetimeSeconds', 'jtiOnce'] as const;

/** Validates the structure; the API validates the values. */
export function validateDocument(value: unknown): ConfigDocument {
  const { version, ...document } = validateObject(value, 'the document', [
    'version',
    'organization',
    'customProviders',
    'sharedCredentials',
    'projects',
    'webhooks',
    'trustRules',
  ]);
  if (version !== DOCUMENT_VERSION) throw usage(`version must be ${DOCUMENT_VERSION}: this program knows no other`);
  if (document.organization !== undefined)
    assertBudgetsConsistent(validateObject(document.organization, 'organization', PARENT_FIELDS), 'organization');
  for (const shared of validateRows(document.sharedCredentials, 'sharedCredentials', 'name', [
    'provider',
    'project',
    'credentials',
  ])) {
    const path = `sharedCredentials ${String(shared.name)}`;
    if (typeof shared.provider !== 'string') throw usage(`${path} has no provider`);
    validateCredentials(shared.credentials, path);
  }
  validateRows(document.customProviders, 'customProviders', 'slug', CUSTOM_PROVIDER_FIELDS);
  validateRows(document.webhooks, 'webhooks', 'url', ['events', 'status']);
  for (const rule of validateRows(document.trustRules, 'trustRules', 'name', [
    'project',
    'agent',
    'issuer',
    'jwks',
    ...TRUST_RULE_FIELDS,
  ])) {
    for (const field of ['project', 'agent', 'issuer'])
      if (typeof rule[field] !== 'string') throw usage(`trustRules ${String(rule.name)} has no ${field}`);
    if (rule.conditions === undefined) throw usage(`trustRules ${String(rule.name)} has no conditions`);
  }
  for (const project of validateRows(document.projects, 'projects', 'name', [...PARENT_FIELDS, 'agents'])) {
    const path = `projects ${String(project.name)}`;
    assertBudgetsConsistent(project, path);
    for (const agent of validateRows(project.agents, `${path}: agents`, 'name', [
      'status',
      'accounts',
      ...AGENT_FIELDS,
    ])) {
      assertBudgetsConsistent(agent, `agent ${String(agent.name)}`);
      const accounts = `agent ${String(agent.name)}: accounts`;
      for (const account of validateRows(agent.accounts, accounts, 'provider', [
        'credentials',
        'sharedCredential',
        'allowSensitivePaths',
        'allowOpaque',
      ])) {
        if (account.credentials !== undefined && account.sharedCredential !== undefined)
          throw usage(`${accounts}: ${String(account.provider)} has either credentials or sharedCredential`);
        validateCredentials(account.credentials, accounts);
      }
    }
  }
  return document as ConfigDocument;
}

function validateCredentials(credentials: unknown, path: string): void {
  if (credentials === undefined) return;
  if (typeof credentials !== 'object' || credentials === null) throw usage(`${path}: credentials must be an object`);
  for (const [field, source] of Object.entries(credentials)) {
    if (typeof source === 'string') continue;
    const { env } = validateObject(source, `${path}: credentials.${field}`, ['env']);
    if (typeof env !== 'string' || env === '') throw usage(`${path}: credentials.${field}.env must name a variable`);
  }
}

/** Validates a list of objects with unique names. */
function validateRows(value: unknown, path: string, key: string, fields: readonly string[]): readonly Fields[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw usage(`${path} must be a list`);
  const seen = new Set<string>();
  return value.map((row: unknown, at) => {
    const checked = validateObject(row, `${path}[${at}]`, [key, ...fields]);
    const name = checked[key];
    if (typeof name !== 'string' || name === '') throw usage(`${path}[${at}] has no ${key}`);
    if (seen.has(name)) throw usage(`${path} has ${JSON.stringify(name)} twice`);
    seen.add(name);
    return checked;
  });
}

function validateObject(value: unknown, path: string, fields: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw usage(`${path} must be an object`);
  const unknown = Object.keys(value).find((field) => !fields.includes(field));
  if (unknown !== undefined) throw usage(`${path} has the field ${unknown}: it may have ${fields.join(', ')}`);
  return value as Record<string, unknown>;
}
