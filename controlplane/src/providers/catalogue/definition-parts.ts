/** What the schemas of provider definitions share: texts, names, fields of credentials and injections. */
import { Type } from 'typebox';

export const closed = { additionalProperties: false } as const;

export const FIELD_NAME = '^[a-z][A-Za-z0-9]{0,39}$';
export const ORIGIN_NAME = '^[a-z][a-z0-9-]{0,19}$';
export const HEADER_NAME = "^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$";
const QUERY_NAME = '^[A-Za-z0-9._~$[\\]-]{1,100}$';
/** Printable ASCII: a value of a header, a query parameter or a URL. */
export const PRINTABLE = '^[\\x20-\\x7e]+$';
const HTTPS_URL = '^https://[\\x21-\\x7e]+$';

export const FIELD_KINDS = ['text', 'url', 'region', 'private_key', 'google_key'] as const;

export const oneOf = <T extends readonly string[]>(values: T, description?: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: values, ...(description === undefined ? {} : { description }) });
export const text = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, ...(description === undefined ? {} : { description }) });
export const template = (description: string) => Type.String({ maxLength: 1_000, pattern: PRINTABLE, description });
export const Reference = Type.String({ maxLength: 500, pattern: HTTPS_URL, description: 'The public reference.' });
export const FieldName = Type.String({ pattern: FIELD_NAME });
export const HeaderName = Type.String({ pattern: HEADER_NAME, description: 'Lower case.' });
export const QueryName = Type.String({ pattern: QUERY_NAME });
export const OriginName = Type.String({
  pattern: ORIGIN_NAME,
  description: 'Only calls to this origin; without it, calls to every origin.',
});

export const Field = Type.Object(
  {
    name: FieldName,
    label: text(60),
    placeholder: Type.Optional(text(100, 'What a value looks like; never a working credential.')),
    hint: Type.Optional(text(300, 'What to enter, or where to find the value.')),
    secret: Type.Boolean({ description: 'Hidden in forms and masked in responses.' }),
    required: Type.Boolean(),
    kind: Type.Optional(
      oneOf(
        FIELD_KINDS,
        'text (default), url (the address of a tenant), region, private_key (PEM) or google_key (JSON of a service account, as clientEmail, privateKey and privateKeyId).',
      ),
    ),
    values: Type.Optional(Type.Array(text(100), { minItems: 1, maxItems: 200, uniqueItems: true })),
    pattern: Type.Optional(text(500, 'RE2 syntax, with ^ and $.')),
    looksLike: Type.Optional(text(100, 'Says in words what the pattern accepts.')),
  },
  closed,
);

export const Injection = Type.Object(
  {
    header: Type.Optional(HeaderName),
    query: Type.Optional(QueryName),
    value: Type.Optional(template('For header and query, for example `Bearer {apiKey}`.')),
    path: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: '^/(?:[A-Za-z0-9._~:-]+/)*[A-Za-z0-9._~:-]*\\{[a-z][A-Za-z0-9]*\\}$',
        description: 'Beginning of every path, for example `/bot{token}`.',
      }),
    ),
    basic: Type.Optional(
      Type.Object({ username: template('User name.'), password: Type.String({ maxLength: 1_000 }) }, closed),
    ),
    sigv4: Type.Optional(
      Type.Object(
        {
          service: Type.String({ pattern: '^[a-z0-9-]{1,40}$' }),
          accessKeyId: template('Access key id.'),
          secretAccessKey: template('Secret access key.'),
          sessionToken: Type.Optional(template('Left out where a field of it is missing.')),
          region: template('Region.'),
        },
        closed,
      ),
    ),
    alternatives: Type.Optional(
      Type.Array(Type.Object({ header: HeaderName, value: template('As value.') }, closed), {
        minItems: 1,
        maxItems: 4,
        description: 'The credential goes out in the header in which the client sent its token.',
      }),
    ),
    alsoBearerUnlessUserJwt: Type.Optional(Type.Boolean()),
    append: Type.Optional(
      Type.Literal(true, {
        description: 'Adds the value, which has no fields, to the comma-separated list of the client in this header.',
      }),
    ),
    origin: Type.Optional(OriginName),
  },
  { ...closed, description: 'Exactly one of header, query, path, basic, sigv4.' },
);
