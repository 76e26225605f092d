/**
 * The format of a provider file (docs/providers.md#format): one provider as data. This schema is the single source:
 * `provider.schema.json` beside the files is generated from it, and tenants' definitions are a subset of it.
 * Rules that a schema cannot state are in check-definition.ts.
 */
import { type Static, Type } from 'typebox';
import { CALL_PATTERN } from './call-pattern-schema.js';
import {
  closed,
  FIELD_NAME,
  Field,
  FieldName,
  HEADER_NAME,
  HeaderName,
  Injection,
  ORIGIN_NAME,
  OriginName,
  oneOf,
  PRINTABLE,
  QueryName,
  Reference,
  text,
} from './definition-parts.js';
import { Method } from './mint-method-schema.js';

const SLUG_PATTERN = '^[a-z0-9-]{2,40}$';
const VARIABLE_NAME = '^[A-Z][A-Z0-9_]{1,63}$';

export const CATEGORIES = ['model', 'storage', 'database', 'hosting', 'email', 'saas'] as const;
export type Category = (typeof CATEGORIES)[number];
const CREDENTIAL_KINDS = ['api_key', 'basic', 'sigv4'] as const;
const USAGE_FORMATS = ['openai', 'anthropic', 'gemini', 'bedrock', 'cohere', 'resend', 's3', 'mcp', 'none'] as const;
export type UsageFormat = (typeof USAGE_FORMATS)[number];
/** Providers whose list of model calls other providers may use. */
export const MODEL_PRESETS = ['openai', 'anthropic'] as const;
export type ModelPreset = (typeof MODEL_PRESETS)[number];
/** Members of requests that limit how often a provider runs its own tools: OpenAI's, and Anthropic's of each tool. */
export const TOOL_USE_MAXIMA = ['max_tool_calls', 'max_uses'] as const;

const Call = Type.String({
  maxLength: 200,
  pattern: CALL_PATTERN,
  description: 'A method or *, a blank, a path. * matches any run inside one segment, ** any number of segments.',
});
const Calls = Type.Array(Call, { minItems: 1, maxItems: 100, uniqueItems: true });

const Address = Type.String({
  maxLength: 500,
  pattern: '^(?:https?://[^\\s/?#@\\\\]+|\\{[a-z][A-Za-z0-9]*\\})$',
  description: 'https://host without a path, or one field of kind url.',
});
const Origin = Type.Union(
  [
    Address,
    Type.Array(
      Type.Object(
        {
          when: Type.Optional(
            Type.Record(Type.String({ pattern: FIELD_NAME }), text(500), {
              ...closed,
              minProperties: 1,
              description: 'Every named field is given and matches its pattern (RE2 syntax).',
            }),
          ),
          url: Address,
        },
        closed,
      ),
      { minItems: 1, maxItems: 20 },
    ),
  ],
  { description: 'A template, or a list of which the first that applies is used.' },
);

const Drop = Type.Object(
  { header: Type.Optional(HeaderName), query: Type.Optional(QueryName), with: Type.Optional(FieldName) },
  { ...closed, description: 'A header or a query parameter of the client; with: only if that field is given.' },
);

const usageFormat = oneOf(USAGE_FORMATS);
const Usage = Type.Union([
  Type.Object({ format: usageFormat }, closed),
  Type.Array(Type.Object({ calls: Calls, format: usageFormat, origin: Type.Optional(OriginName) }, closed), {
    minItems: 1,
    maxItems: 20,
    description: 'The first match decides; other calls are not metered.',
  }),
]);

const ModelCall = Type.Object(
  {
    call: Call,
    at: Type.String({
      pattern: '^(?:json|form|json_or_form|batch|free|answer|unknown|path(?:_before_colon)?:[A-Za-z0-9_-]{1,40})$',
      description:
        'json: top-level "model". batch: requests[].params.model. path:x: the segment after x; path_before_colon:x: the ' +
        'same up to its last colon. free: no model. answer: unnamed model, the response states the cost. unknown: no ' +
        'response states the cost.',
    }),
    origin: Type.Optional(OriginName),
  },
  closed,
);
const Models = Type.Union([
  Type.Object(
    { preset: oneOf(MODEL_PRESETS, 'The list of that provider; its /v1/ may be anywhere in the path.') },
    closed,
  ),
  Type.Array(ModelCall, { minItems: 1, maxItems: 200 }),
]);

const ruleMembers = {
  call: Call,
  query: Type.Optional(Type.Array(text(60), { minItems: 1, maxItems: 30 })),
  headers: Type.Optional(Type.Array(text(60), { minItems: 1, maxItems: 10 })),
  harmlessValues: Type.Optional(Type.Array(text(60), { minItems: 1, maxItems: 10 })),
  origin: Type.Optional(OriginName),
};
const why = text(90, 'What a caller gets by the call.');
const SensitiveCall = Type.Object({ ...ruleMembers, why, source: Reference }, closed);
const OpaqueCall = Type.Object({ call: Call, origin: Type.Optional(OriginName), why, source: Reference }, closed);

const Preset = Type.Object(
  { name: text(80), calls: Calls, scopes: Type.Optional(text(300)), source: Type.Optional(Reference) },
  closed,
);

const Failure = Type.Object(
  {
    statuses: Type.Array(Type.Integer({ minimum: 400, maximum: 599 }), { maxItems: 50, uniqueItems: true }),
    exemptMarker: Type.Optional(
      text(200, 'Text in the first 4 KiB of such a response that shows the tenant’s own fault.'),
    ),
  },
  closed,
);

const Probe = Type.Union([
  Type.Object(
    {
      path: Type.String({ maxLength: 300, pattern: '^/[\\x21-\\x7e]*$' }),
      origin: Type.Optional(OriginName),
      headers: Type.Optional(
        Type.Record(Type.String({ pattern: HEADER_NAME }), Type.String({ maxLength: 200, pattern: PRINTABLE }), closed),
      ),
      refused: Type.Array(
        Type.Object(
          {
            status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
            body: Type.Optional(text(300, 'RE2 syntax; matched against the first KiB.')),
          },
          { ...closed, minProperties: 1 },
        ),
        { minItems: 1, maxItems: 10 },
      ),
    },
    closed,
  ),
  Type.Object({ none: text(300, 'Why no call without side effects shows whether a credential is valid.') }, closed),
]);

const variableNames = Type.Array(Type.String({ pattern: VARIABLE_NAME }), { maxItems: 40, uniqueItems: true });
const code = Type.String({ minLength: 1, maxLength: 4_000 });
const Sdk = Type.Object(
  {
    env: Type.Optional(
      Type.Record(
        Type.String({ pattern: VARIABLE_NAME }),
        Type.Union([
          Type.String({ maxLength: 500 }),
          Type.Object({ keep: variableNames, else: Type.String({ maxLength: 500 }) }, closed),
        ]),
        {
          ...closed,
          description: 'What `acg run` sets; {url} and {token} are replaced. keep: the first of these that is set.',
        },
      ),
    ),
    secretEnv: Type.Optional(variableNames),
    removeEnv: Type.Optional(variableNames),
    remark: Type.Optional(text(500, 'What variables cannot configure.')),
    basePath: Type.Optional(Type.String({ maxLength: 100, pattern: '^(?:/[A-Za-z0-9._~-]+)*/?$' })),
    snippets: Type.Object(
      {
        curl: Type.Optional(code),
        python: Type.Optional(code),
        typescript: Type.Optional(code),
        'ai-sdk': Type.Optional(code),
      },
      { ...closed, description: 'Complete programs; {url} and {token} are replaced.' },
    ),
  },
  closed,
);

const Tests = Type.Object(
  {
    credentials: Type.Record(Type.String({ pattern: FIELD_NAME }), Type.String(), closed),
    modelCall: Type.Optional(
      Type.Object(
        {
          method: oneOf(['POST', 'PUT'] as const),
          path: Type.String({ pattern: '^/[\\x21-\\x7e]*$' }),
          headers: Type.Optional(Type.Record(Type.String({ pattern: HEADER_NAME }), Type.String(), closed)),
          body: Type.Unknown(),
        },
        closed,
      ),
    ),
    usage: Type.Optional(
      Type.Object(
        {
          status: Type.Optional(Type.Integer()),
          headers: Type.Optional(Type.Record(Type.String({ pattern: HEADER_NAME }), Type.String(), closed)),
          body: Type.Unknown({ description: 'Response to modelCall; a string is sent as it is.' }),
          tokensIn: Type.Integer({ minimum: 0 }),
          tokensOut: Type.Integer({ minimum: 0 }),
        },
        closed,
      ),
    ),
  },
  closed,
);

const Credentials = Type.Object(
  {
    kind: oneOf(CREDENTIAL_KINDS),
    fields: Type.Array(Field, { maxItems: 12 }),
    methods: Type.Optional(Type.Array(Method, { minItems: 1, maxItems: 6 })),
  },
  closed,
);
const originsUpTo = (maxProperties: number) =>
  Type.Record(Type.String({ pattern: ORIGIN_NAME }), Origin, { ...closed, required: ['default'], maxProperties });

/** Members of files and of tenants' definitions. */
const shared = {
  credentials: Credentials,
  inject: Type.Array(Injection, { maxItems: 8, description: 'The first rule that applies is the credential.' }),
  drop: Type.Optional(Type.Array(Drop, { maxItems: 20 })),
  usage: Usage,
  models: Type.Optional(Models),
  toolUseMaxima: Type.Optional(
    Type.Array(oneOf(TOOL_USE_MAXIMA), {
      uniqueItems: true,
      description: 'Limits of its own tools’ uses to which the provider keeps. Others bound no call of a hard budget.',
    }),
  ),
};

export const ProviderFile = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    slug: Type.String({ pattern: SLUG_PATTERN }),
    name: text(60, 'As the vendor writes it.'),
    category: oneOf(CATEGORIES),
    docs: Reference,
    origins: originsUpTo(8),
    ...shared,
    prices: Type.Optional(
      Type.String({ pattern: '^[a-z0-9-]{1,40}$', description: 'Provider id in the price library.' }),
    ),
    sensitive: Type.Optional(Type.Array(SensitiveCall, { maxItems: 300 })),
    opaque: Type.Optional(Type.Array(OpaqueCall, { maxItems: 50 })),
    presets: Type.Optional(Type.Array(Preset, { maxItems: 10 })),
    failure: Failure,
    probe: Probe,
    sdk: Sdk,
    tests: Tests,
    reviewed: Type.Object(
      {
        date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
        reference: Reference,
        withoutSensitive: Type.Optional(text(300, 'Why the provider has no sensitive calls.')),
      },
      closed,
    ),
  },
  { ...closed, title: 'Provider', description: 'One provider of the Agent Credential Gateway.' },
);
export type ProviderFile = Static<typeof ProviderFile>;

const optionalTexts = { why: Type.Optional(why), source: Type.Optional(Reference) };

/**
 * What a tenant defines of its own provider: the same members, without those that only the operator decides (variables
 * of SDKs, prices, texts of presets).
 */
export const TenantDefinition = Type.Object(
  {
    origins: originsUpTo(3),
    ...shared,
    sensitive: Type.Optional(Type.Array(Type.Object({ ...ruleMembers, ...optionalTexts }, closed), { maxItems: 200 })),
    opaque: Type.Optional(
      Type.Array(Type.Object({ call: Call, origin: Type.Optional(OriginName), ...optionalTexts }, closed), {
        maxItems: 50,
      }),
    ),
    presets: Type.Optional(Type.Array(Type.Object({ name: text(80), calls: Calls }, closed), { maxItems: 10 })),
    failure: Type.Optional(Failure),
    probe: Type.Optional(Probe),
  },
  { ...closed, description: 'The format of provider files (docs/providers.md).' },
);
export type TenantDefinition = Static<typeof TenantDefinition>;

export type CredentialField = Static<typeof Field>;
/** `prefix`: text before the value, byte for byte; for the short form of custom providers. */
export type InjectionRule = Static<typeof Injection> & { readonly prefix?: string };
export type SensitiveRule = NonNullable<TenantDefinition['sensitive']>[number];
export type OpaqueRule = NonNullable<TenantDefinition['opaque']>[number];
export type ModelCall = Static<typeof ModelCall>;

/** What a provider does with calls: the same for files and tenants' definitions. */
export interface ProviderRules
  extends Pick<
    ProviderFile,
    'credentials' | 'origins' | 'drop' | 'usage' | 'models' | 'toolUseMaxima' | 'failure' | 'probe'
  > {
  readonly inject: readonly InjectionRule[];
  readonly sensitive?: readonly SensitiveRule[];
  readonly opaque?: readonly OpaqueRule[];
  readonly presets?: ProviderFile['presets'];
}
