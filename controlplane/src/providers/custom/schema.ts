import { type Static, Type } from 'typebox';
import { EXAMPLE_IDS } from '../../http/examples.js';
import { PageReply } from '../../http/limit-offset-pagination.js';
import { Body, Name, Timestamp, Uuid } from '../../http/schema.js';
import { CallPatterns } from '../catalogue/call-pattern-schema.js';
import { FIELD_KINDS } from '../catalogue/definition-parts.js';
import { CATEGORIES, type Category, type TenantDefinition } from '../catalogue/provider-definition.js';
import { AUTH_TYPES, type AuthType, SHORT_USAGE_FORMATS } from './custom-provider.js';

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
const UsageFormat = Type.Unsafe<(typeof SHORT_USAGE_FORMATS)[number] | null>({
  type: ['string', 'null'],
  enum: [...SHORT_USAGE_FORMATS, null],
});

const nullable = { type: ['string', 'null'] };

const fieldText = (description: string) => Type.Unsafe<string | null>({ ...nullable, description });

/** Describes one field of `credentials` for a form. */
const CredentialFieldView = Type.Object({
  name: Type.String(),
  label: Type.String(),
  required: Type.Boolean(),
  secret: Type.Boolean({ description: 'Whether the form hides the input.' }),
  kind: Type.Unsafe<(typeof FIELD_KINDS)[number]>({ type: 'string', enum: FIELD_KINDS }),
  placeholder: fieldText('What a value looks like.'),
  hint: fieldText('What to enter, or where to find the value.'),
  looksLike: fieldText('What a value must look like; others are rejected.'),
  values: Type.Unsafe<string[] | null>({
    type: ['array', 'null'],
    items: { type: 'string' },
    description: 'The allowed values; null: any.',
  }),
});
export type CredentialFieldView = Static<typeof CredentialFieldView>;
export const MintMethods = Type.Array(
  Type.Object({
    name: Type.String({ description: 'Accounts state it as `method` in their credentials.' }),
    label: Type.String(),
    hint: Type.Unsafe<string | null>(nullable),
    kind: Type.String(),
    docs: Type.Unsafe<string | null>(nullable),
    fields: Type.Array(CredentialFieldView),
  }),
  { description: 'Ways in which the gateway mints the credential, instead of credentialFields.' },
);

export const CredentialFields = Type.Array(CredentialFieldView, {
  description: 'The fields of `credentials` of its accounts; empty: no credentials.',
});

const Calls = Type.Array(Type.String());

/** What lists of providers show beside the credentials. */
export const ProviderFacts = {
  category: Type.Unsafe<Category | null>({ type: ['string', 'null'], enum: [...CATEGORIES, null] }),
  docs: Type.Unsafe<string | null>({ ...nullable, description: 'Address of the vendor’s reference.' }),
  origins: Type.Array(Type.String(), {
    description: 'Names of the origins; the path of one beside default is /v1/proxy/{slug}:{origin}/….',
  }),
  opaqueCalls: Type.Array(Type.Object({ call: Type.String(), why: Type.Unsafe<string | null>(nullable) }), {
    description: 'Calls whose path does not say what they do; rejected unless the account allows them.',
  }),
  presets: Type.Array(
    Type.Object({
      name: Type.String(),
      calls: Calls,
      scopes: Type.Unsafe<string | null>({ ...nullable, description: 'The least scopes that the credential needs.' }),
    }),
    { description: 'Allow-lists for the calls of a policy.' },
  ),
};

const ProviderFactsView = Type.Object(ProviderFacts);
export type ProviderFactsView = Static<typeof ProviderFactsView>;

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
  methods: MintMethods,
  ...ProviderFacts,
  definition: Type.Unsafe<TenantDefinition | null>({
    type: ['object', 'null'],
    additionalProperties: true,
    description: 'How the provider was defined; null for a built-in provider and for the short form.',
  }),
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

const DefinitionInput = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description:
    'The provider in the format of provider files (docs/providers.md), without slug, name, category, docs, prices, sdk, ' +
    'tests and reviewed. Instead of all other fields but slug and displayName.',
});

const options = {
  baseUrl: Type.Optional(BaseUrl),
  authType: Type.Optional(AuthTypeField),
  authName: Type.Optional(AuthName),
  authPrefix: Type.Optional(AuthPrefix),
  usageFormat: Type.Optional(UsageFormat),
  sensitivePaths: Type.Optional(CallPatterns),
  definition: Type.Optional(DefinitionInput),
};

/** Either `definition`, or the short form with `baseUrl` and `authType`. */
export const CustomProviderInput = Body({ slug: Slug, displayName: Name, ...options });
export type CustomProviderInput = Static<typeof CustomProviderInput>;

export const CustomProviderPut = Type.Object(
  { slug: Type.Optional(Slug), displayName: Type.Optional(Name), ...options },
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
  'methods.hint': 'An OAuth application with the redirect URI of the gateway.',
  'methods.docs': 'https://docs.example.com/oauth',
  'fields.looksLike': null,
  'fields.values': null,
  'credentialFields.looksLike': 'sk- and at least 20 characters',
  'credentialFields.values': null,
  docs: 'https://platform.openai.com/docs/api-reference',
  origins: ['default'],
  'opaqueCalls.call': 'POST /graphql',
  'opaqueCalls.why': 'The body says what the call does.',
  'presets.name': 'Chat',
  'presets.calls': ['POST /v1/chat/completions'],
  'presets.scopes': null,
};
