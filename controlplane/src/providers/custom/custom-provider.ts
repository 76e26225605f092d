/** Turns a tenant's custom provider, in its short form or with a definition, into a provider. */
import { applyModelPreset, type PresetCalls, resolveModelCalls } from '../catalogue/model-presets.js';
import { DEFAULT_ORIGIN, Provider } from '../catalogue/provider.js';
import type { CredentialField, InjectionRule, TenantDefinition } from '../catalogue/provider-definition.js';

export const AUTH_TYPES = ['bearer', 'header', 'basic', 'query', 'none'] as const;
export type AuthType = (typeof AUTH_TYPES)[number];
export const SHORT_USAGE_FORMATS = ['openai', 'anthropic'] as const;

export interface CustomProvider {
  readonly slug: string;
  readonly baseUrl: string;
  readonly authType: AuthType;
  /** Name of the header or query parameter; set for these two types only. */
  readonly authName: string | null;
  /** Prefix of the key in the header, byte for byte. */
  readonly authPrefix: string | null;
  readonly usageFormat: (typeof SHORT_USAGE_FORMATS)[number] | null;
  /** Calls that are rejected unless an admin allowed them for the account. */
  readonly sensitivePaths: readonly string[];
  /** Replaces the fields before it, apart from the slug; null: the short form. */
  readonly definition: TenantDefinition | null;
}

const FAILURE = { statuses: [500, 502, 503, 504] };
const PROBE = { path: '', refused: [{ status: 401 }] };

export function toProvider(custom: CustomProvider, presetCalls: PresetCalls, displayName = custom.slug): Provider {
  const { slug, definition } = custom;
  if (definition !== null) {
    const rules = { failure: FAILURE, probe: PROBE, ...definition };
    return new Provider({
      slug,
      displayName,
      rules,
      file: null,
      modelCalls: resolveModelCalls(definition.models, presetCalls),
    });
  }
  return new Provider({
    slug,
    displayName,
    rules: {
      credentials: { kind: custom.authType === 'basic' ? 'basic' : 'api_key', fields: fieldsOf(custom.authType) },
      origins: { [DEFAULT_ORIGIN]: custom.baseUrl },
      inject: injectionOf(custom),
      usage: { format: custom.usageFormat ?? 'none' },
      sensitive: custom.sensitivePaths.map((call) => ({ call })),
      failure: FAILURE,
      probe: PROBE,
    },
    file: null,
    addresses: new Map([[DEFAULT_ORIGIN, { baseUrl: custom.baseUrl, tenantGiven: true }]]),
    modelCalls:
      custom.usageFormat === null ? [{ call: '* /**', at: 'json' }] : applyModelPreset(custom.usageFormat, presetCalls),
  });
}

const secret = (name: string, label: string): CredentialField => ({ name, label, secret: true, required: true });

function fieldsOf(authType: AuthType): CredentialField[] {
  switch (authType) {
    case 'none':
      return [];
    case 'basic':
      return [{ name: 'username', label: 'User name', secret: false, required: true }, secret('password', 'Password')];
    default:
      return [secret('apiKey', 'API key')];
  }
}

function injectionOf({ authType, authName, authPrefix }: CustomProvider): InjectionRule[] {
  switch (authType) {
    case 'none':
      return [];
    case 'basic':
      return [{ basic: { username: '{username}', password: '{password}' } }];
    case 'query':
      return [{ query: authName!, value: '{apiKey}' }];
    case 'header':
      return [{ header: authName!.toLowerCase(), prefix: authPrefix ?? '', value: '{apiKey}' }];
    case 'bearer':
      return [{ header: 'authorization', value: 'Bearer {apiKey}' }];
  }
}
