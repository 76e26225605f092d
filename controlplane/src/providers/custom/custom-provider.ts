/** Defines a tenant's custom provider and how its credential is sent. */
import type { IInjection } from '@acg/proto/messages';
import {
  bearerInjection,
  type CredentialField,
  type Credentials,
  secret,
  text,
} from '../catalogue/built-in-provider.js';

export const AUTH_TYPES = ['bearer', 'header', 'basic', 'query', 'none'] as const;
export type AuthType = (typeof AUTH_TYPES)[number];
export const USAGE_FORMATS = ['openai', 'anthropic'] as const;

export interface CustomProvider {
  readonly slug: string;
  readonly baseUrl: string;
  readonly authType: AuthType;
  /** Name of the header or query parameter; set for these two types only. */
  readonly authName: string | null;
  /** Prefix of the key in the header, byte for byte. */
  readonly authPrefix: string | null;
  readonly usageFormat: (typeof USAGE_FORMATS)[number] | null;
  /** Calls that are rejected unless an admin allowed them for the account. */
  readonly sensitivePaths: readonly string[];
}

export function customCredentialFields(authType: AuthType): readonly CredentialField[] {
  switch (authType) {
    case 'none':
      return [];
    case 'basic':
      return [text('username', { label: 'User name' }, true), secret('password', { label: 'Password' })];
    default:
      return [secret('apiKey', { label: 'API key' })];
  }
}

export function customInjection(provider: CustomProvider, credentials: Credentials): IInjection {
  switch (provider.authType) {
    case 'none':
      return { none: {} };
    case 'basic':
      return { basic: { username: credentials.username!, password: credentials.password! } };
    case 'query':
      return { query: { name: provider.authName!, secret: credentials.apiKey! } };
    case 'header':
      return {
        header: {
          name: provider.authName!.toLowerCase(),
          prefix: provider.authPrefix ?? '',
          secret: credentials.apiKey!,
        },
      };
    case 'bearer':
      return bearerInjection(credentials.apiKey!);
  }
}
