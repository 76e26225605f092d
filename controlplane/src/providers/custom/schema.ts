import { type Static, Type } from 'typebox';
import { EXAMPLE_IDS } from '../../http/examples.js';
import { PageReply } from '../../http/limit-offset-pagination.js';
import { Body, Name, Timestamp, Uuid } from '../../http/schema.js';
import type { CredentialField } from '../catalogue/built-in-provider.js';
import { CallPatterns } from '../catalogue/call-pattern-schema.js';
import { AUTH_TYPES, type AuthType, USAGE_FORMATS } from './custom-provider.js';

const Slug = Type.String({
  minLength: 2,
  maxLength: 40,
  pattern: '^[a-z0-9-]*$',
  description: '2 to 40 characters of a-z, 0-9 and -.',
  'x-refused': 'must hold nothing but a-z, 0-9 and -',
});
const BaseUrl = Type.String({ minLength: 1, maxLength: 2_048 });
const AuthTypeField = Type.Unsafe<AuthType>({ type: 'string', enum: AUTH_TYPES });
const nullableText = (maxLength: number, description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength, description });
const AuthName = nullableText(100, 'Name of the header or query parameter; for authType header and query.');
const AuthPrefix = nullableText(64, 'Stands before the key as it is, with its space; for authType header.');
const UsageFormat = Type.Unsafe<(typeof USAGE_FORMATS)[number] | null>({
  type: ['string', 'null'],
  enum: [...USAGE_FORMATS, null],
});

const nullable = { type: ['string', 'null'] };

const fieldText = (description: string) => Type.Unsafe<string | null>({ ...nullable, description });

/** Describes one field of `credentials` for a form. */
const CredentialFieldView = Type.Object({
  name: Type.String(),
  label: Type.String(),
  required: Type.Boolean(),
  secret: Type.Boolean({ description: 'Whether the form hides the input.' }),
  kind: Type.Unsafe<CredentialField['kind']>({ type: 'string', enum: ['text', 'url', 'region'] }),
  placeholder: fieldText('What a value looks like.'),
  hint: fieldText('What to enter, or where to find the value.'),
});
export const CredentialFields = Type.Array(CredentialFieldView, {
  description: 'The fields of `credentials` of its accounts; empty: no credentials.',
});

export const ListedProvider = Type.Object({
  id: Type.Unsafe<string | null>({ ...nullable, format: 'uuid', description: 'Null for a built-in provider.' }),
  slug: Type.String(),
  displayName: Type.String(),
  baseUrl: Type.Unsafe<string | null>({ ...nullable, description: 'Null when each account has its own URL.' }),
  authType: Type.String(),
  authName: Type.Unsafe<string | null>(nullable),
  authPrefix: Type.Unsafe<string | null>(nullable),
  usageFormat: Type.Unsafe<string | null>(nullable),
  sensitivePaths: Type.Array(Type.String(), { description: 'Calls that are rejected unless the account allows them.' }),
  credentialFields: CredentialFields,
  builtIn: Type.Boolean(),
  createdAt: Type.Unsafe<string | null>({
    ...nullable,
    format: 'date-time',
    description: 'Null for a built-in provider.',
  }),
});
export type ListedProvider = Static<typeof ListedProvider>;

export const CustomProviderView = Type.Object({ ...ListedProvider.properties, id: Uuid, createdAt: Timestamp });
export type CustomProviderView = Static<typeof CustomProviderView>;

const settings = {
  displayName: Name,
  baseUrl: BaseUrl,
  authType: AuthTypeField,
};
const options = {
  authName: Type.Optional(AuthName),
  authPrefix: Type.Optional(AuthPrefix),
  usageFormat: Type.Optional(UsageFormat),
  sensitivePaths: Type.Optional(CallPatterns),
};

export const CustomProviderInput = Body({ slug: Slug, ...settings, ...options });
export type CustomProviderInput = Static<typeof CustomProviderInput>;

export const CustomProviderPut = Type.Object(
  {
    displayName: Type.Optional(Name),
    baseUrl: Type.Optional(BaseUrl),
    authType: Type.Optional(AuthTypeField),
    ...options,
  },
  { additionalProperties: false, minProperties: 1 },
);
export type CustomProviderPut = Static<typeof CustomProviderPut>;

export const CustomProviderReply = Type.Object({ provider: CustomProviderView });
export const ProviderListing = Type.Object({ providers: Type.Array(ListedProvider), ...PageReply });

/** For the API document. */
export const EXAMPLES = {
  'CustomProviderView.id': EXAMPLE_IDS.provider,
  'ListedProvider.id': EXAMPLE_IDS.provider,
  'CustomProviderInput.slug': 'my-llm',
  'CustomProviderView.slug': 'my-llm',
  'ListedProvider.slug': 'my-llm',
  displayName: 'My LLM',
  baseUrl: 'https://llm.example.com/v1',
  authName: 'x-api-key',
  authPrefix: null,
  authType: 'header',
  usageFormat: 'openai',
  sensitivePaths: ['POST /v1/keys/**'],
  builtIn: false,
  'CustomProviderInput.authPrefix': undefined,
};
