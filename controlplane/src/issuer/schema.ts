import { type Static, Type } from 'typebox';
import { EXAMPLE_IDS, EXAMPLE_TIMES } from '../http/examples.js';
import { Body, Timestamp, Uuid } from '../http/schema.js';

const NullableText = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description });

export const IssuerQuery = Type.Object({
  agentId: Type.Optional(Type.String({ format: 'uuid', description: 'Fills the instructions with its subject.' })),
});
const IssuerKey = Type.Object({
  id: Type.String({ format: 'uuid', description: '`kid` of the key.' }),
  state: Type.Enum(['next', 'signing', 'former']),
  createdAt: Timestamp,
  activeFrom: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'Null: the key is pending until an admin activates it.',
  }),
});
const Setup = Type.Object({
  providerSlug: Type.String(),
  method: Type.String({ description: '`method` of the credentials.' }),
  label: Type.String(),
  audience: Type.String({ description: '`aud` of the tokens. <name> stands for a field of the account.' }),
  docs: NullableText('Reference of the provider.'),
  steps: Type.Array(Type.String(), { description: 'What to enter at the provider, with the values of this issuer.' }),
});
const Issuer = Type.Object({
  url: Type.String({ description: '`iss` of the tokens.' }),
  discoveryUrl: Type.String(),
  jwksUrl: Type.String(),
  jwks: Type.Object({ keys: Type.Array(Type.Object({}, { additionalProperties: true })) }),
  isPublic: Type.Boolean({ description: 'Whether providers can fetch the keys: an https URL with a public name.' }),
  subject: NullableText('`sub` of the tokens of the agent; null without agentId.'),
  manualRotation: Type.Boolean({ description: 'A new key signs only after an admin has activated it.' }),
  keys: Type.Array(IssuerKey),
  setups: Type.Array(Setup),
});
export const IssuerReply = Type.Object({ issuer: Issuer });
export type IssuerReply = Static<typeof IssuerReply>;
export const IssuerPatch = Body({ manualRotation: Type.Boolean() });
export const IssuerKeyParams = Type.Object({ id: Uuid });

export const OrgParams = Type.Object({ orgId: Uuid });
/** OpenID Connect Discovery 1.0 §3. */
export const Discovery = Type.Object({
  issuer: Type.String(),
  jwks_uri: Type.String(),
  response_types_supported: Type.Array(Type.String()),
  subject_types_supported: Type.Array(Type.String()),
  id_token_signing_alg_values_supported: Type.Array(Type.String()),
  claims_supported: Type.Array(Type.String()),
});
export const JwkSetReply = Type.Object({
  keys: Type.Array(
    Type.Object({
      kty: Type.String(),
      n: Type.String(),
      e: Type.String(),
      kid: Type.String(),
      use: Type.String(),
      alg: Type.String(),
    }),
  ),
});

const EXAMPLE_URL = `https://gateway.acme.example.com/oidc/${EXAMPLE_IDS.org}`;
export const EXAMPLES = {
  'issuer.url': EXAMPLE_URL,
  'issuer.discoveryUrl': `${EXAMPLE_URL}/.well-known/openid-configuration`,
  'issuer.jwksUrl': `${EXAMPLE_URL}/jwks.json`,
  'issuer.isPublic': true,
  'issuer.subject': `project:${EXAMPLE_IDS.project}:agent:${EXAMPLE_IDS.agent}`,
  'issuer.manualRotation': false,
  'IssuerPatch.manualRotation': false,
  'keys.state': 'signing',
  'keys.activeFrom': EXAMPLE_TIMES.created,
  'setups.providerSlug': 'bedrock',
  'setups.method': 'web_identity',
  'setups.label': 'Amazon Bedrock: AWS role without a secret',
  'setups.audience': 'sts.amazonaws.com',
  'setups.docs': 'https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html',
  'setups.steps': ['Audience: sts.amazonaws.com'],
} as const;
