/** Schema of the methods by which the gateway mints credentials (docs/minted-credentials.md). */
import { type Static, Type } from 'typebox';
import {
  closed,
  Field,
  FieldName,
  HEADER_NAME,
  Injection,
  oneOf,
  PRINTABLE,
  Reference,
  template,
  text,
} from './definition-parts.js';

const MINT_KINDS = [
  'oauth2_client_credentials',
  'oauth2_authorization_code',
  'jwt_bearer',
  'aws_assume_role',
  'entra',
  'token_exchange',
] as const;
type MintKind = (typeof MINT_KINDS)[number];
/** Fields of a minted credential that `inject` may name, by kind. */
export const MINTED_FIELDS: Readonly<Record<MintKind, readonly string[]>> = {
  oauth2_client_credentials: ['accessToken'],
  oauth2_authorization_code: ['accessToken'],
  jwt_bearer: ['accessToken'],
  aws_assume_role: ['accessKeyId', 'secretAccessKey', 'sessionToken'],
  entra: ['accessToken'],
  token_exchange: ['accessToken'],
};

const endpointUrl = { maxLength: 500, pattern: '^(?:https?://[^\\s?#@\\\\]+|\\{[a-z][A-Za-z0-9]*\\})$' } as const;
const PARAMETER_NAME = '^[a-zA-Z_][\\w.-]{0,40}$';

const TokenRequest = Type.Object(
  {
    url: Type.Optional(
      Type.String({
        ...endpointUrl,
        description: 'The token endpoint: an https URL, whose host and path may hold fields, or one field of kind url.',
      }),
    ),
    discover: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: '^/(?:[A-Za-z0-9._~-]+/)*[A-Za-z0-9._~-]*$',
        description:
          'Path of the MCP endpoint at the default origin. Its metadata (RFC 9728, RFC 8414) states the endpoints, so ' +
          'url, authorizationUrl, revocationUrl, issuer and clientAuthentication are left out; clientId and ' +
          'clientSecret only replace the registration of the gateway.',
      }),
    ),
    clientAuthentication: Type.Optional(
      oneOf(
        ['basic', 'post', 'private_key_jwt', 'none'] as const,
        'How the client authenticates (OpenID Connect Core §9): basic by default.',
      ),
    ),
    clientId: Type.Optional(template('Client id, issuer of a bearer assertion, or access key id of AWS.')),
    clientSecret: Type.Optional(template('Client secret, for basic and post, or secret access key of AWS.')),
    privateKey: Type.Optional(template('Key that signs assertions, a field of kind private_key.')),
    keyId: Type.Optional(template('`kid` of the assertions; left out where a field of it is missing.')),
    audience: Type.Optional(template('`aud` of the assertion; the token endpoint by default.')),
    signedBy: Type.Optional(
      oneOf(
        ['gateway'] as const,
        'A token of the gateway, which names the agent, takes the place of the secret. token_exchange always has it.',
      ),
    ),
    headers: Type.Optional(
      Type.Record(
        Type.String({ pattern: HEADER_NAME }),
        Type.String({ minLength: 1, maxLength: 200, pattern: PRINTABLE }),
        {
          ...closed,
          maxProperties: 5,
          description: 'Further headers of the request.',
        },
      ),
    ),
    body: Type.Optional(oneOf(['form', 'json'] as const, 'Encoding of the request; form by default.')),
    impersonate: Type.Optional(
      template('E-mail of the Google service account for which the exchanged token is exchanged again.'),
    ),
    subject: Type.Optional(template('`sub` of a bearer assertion.')),
    scopeInAssertion: Type.Optional(Type.Boolean({ description: 'The scope is a claim of the assertion (Google).' })),
    role: Type.Optional(template('ARN of the role, for AWS.')),
    region: Type.Optional(template('Region of the endpoint, for AWS.')),
    authorizationUrl: Type.Optional(Type.String({ ...endpointUrl, description: 'Where a person agrees; as url.' })),
    authorizationParameters: Type.Optional(
      Type.Record(
        Type.String({ pattern: PARAMETER_NAME }),
        template('Further parameter of the authorization request.'),
        {
          ...closed,
          maxProperties: 10,
        },
      ),
    ),
    issuer: Type.Optional(template('`iss` that the answer to an authorization request must have (RFC 9207).')),
    revocationUrl: Type.Optional(
      Type.String({ ...endpointUrl, description: 'Where a grant is revoked (RFC 7009); as url.' }),
    ),
    rotation: Type.Optional(
      oneOf(
        ['none', 'grace', 'strict'] as const,
        'Refresh tokens stay (default), are replaced, or end the grant when a former one is used again (default with discover).',
      ),
    ),
    scope: Type.Optional(template('Requested scopes; left out where a field of it is missing.')),
    parameters: Type.Optional(
      Type.Record(Type.String({ pattern: PARAMETER_NAME }), template('Further parameter.'), {
        ...closed,
        maxProperties: 10,
      }),
    ),
    tokenType: Type.Optional(text(20, 'The expected token_type; Bearer by default, in any case.')),
    expires: Type.Optional(
      Type.Union([Type.Literal('never'), Type.Integer({ minimum: 60, maximum: 31_536_000 })], {
        description: 'Life of a token without expires_in: seconds, or never.',
      }),
    ),
  },
  closed,
);
export const Method = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z][a-z0-9_]{0,39}$', description: 'Accounts state it as `method`.' }),
    label: text(60),
    hint: Type.Optional(text(300, 'What to set up at the provider.')),
    setup: Type.Optional(
      Type.Array(text(500), {
        maxItems: 12,
        description:
          'Steps at the provider. {issuer}, {issuerName}, {jwksUrl}, {subject} and {audience} are filled in.',
      }),
    ),
    kind: oneOf(MINT_KINDS),
    docs: Type.Optional(Reference),
    fields: Type.Array(Field, { maxItems: 12 }),
    uses: Type.Optional(Type.Array(FieldName, { maxItems: 12, description: 'Fields of `credentials.fields`.' })),
    token: TokenRequest,
    inject: Type.Array(Injection, { minItems: 1, maxItems: 8, description: 'Instead of `inject` of the provider.' }),
  },
  { ...closed, description: 'A way in which the gateway mints the credential (docs/minted-credentials.md).' },
);

export type MintMethod = Static<typeof Method>;
