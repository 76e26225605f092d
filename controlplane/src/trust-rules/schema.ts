import { type Static, Type } from 'typebox';
import { EXAMPLE_IDS, EXAMPLE_TIMES } from '../http/examples.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Body, Name, Timestamp, Uuid } from '../http/schema.js';
import { SortQuery } from '../http/search-and-sort-query-schema.js';

const CONDITIONS_MAX = 20;
const VALUES_MAX = 50;
const PRINTABLE = '^[^\\u0000-\\u001f\\u007f]+$';
const NullableTimestamp = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });

const Condition = Type.Object(
  {
    claim: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '^[!-\\[\\]-~]+$',
      description: 'Name of a claim, or a JSON pointer to a member of one: /kubernetes.io/namespace.',
    }),
    values: Type.Array(Type.String({ minLength: 1, maxLength: 1000, pattern: PRINTABLE }), {
      minItems: 1,
      maxItems: VALUES_MAX,
      description: 'The claim must be one of these. Values are compared whole.',
    }),
  },
  { additionalProperties: false },
);
const Conditions = Type.Array(Condition, {
  minItems: 1,
  maxItems: CONDITIONS_MAX,
  description: 'All must hold. Issuers that many share need an immutable id, such as repository_id.',
});
const KeyLifetime = Type.Integer({
  minimum: 60,
  maximum: 3_600,
  description: 'How long a key of an exchange is valid, in seconds.',
});
const JtiOnce = Type.Boolean({
  description:
    'Accepts each token once, by its jti. Not for Kubernetes, which reuses tokens, or SPIFFE, which has no jti.',
});
const Jwks = Type.Object(
  { keys: Type.Array(Type.Object({}, { additionalProperties: true }), { minItems: 1, maxItems: 50 }) },
  {
    additionalProperties: true,
    description: 'Public keys of the issuer (RFC 7517). Without it the issuer’s discovery document names them.',
  },
);

export const TrustRule = Type.Object({
  id: Uuid,
  name: Type.String(),
  projectId: Uuid,
  agentId: Uuid,
  agentName: Type.String(),
  issuer: Type.String(),
  audience: Type.String({ description: 'The aud that tokens must have. The gateway generates it for this rule.' }),
  keySource: Type.Unsafe<'discovery' | 'upload'>({ type: 'string', enum: ['discovery', 'upload'] }),
  conditions: Conditions,
  keyLifetimeSeconds: KeyLifetime,
  jtiOnce: JtiOnce,
  keysReadAt: Type.Unsafe<string | null>({
    ...NullableTimestamp,
    description: 'When the keys of the issuer were last read or uploaded.',
  }),
  keysFailure: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Why the last request for the keys failed; null: it did not.',
  }),
  lastUsedAt: Type.Unsafe<string | null>({ ...NullableTimestamp, description: 'The last exchange.' }),
  rejectedAt: Type.Unsafe<string | null>({ ...NullableTimestamp, description: 'The last rejected token.' }),
  rejection: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'Why it was rejected.' }),
  createdAt: Timestamp,
});
export type TrustRule = Static<typeof TrustRule>;

export const TrustRuleInput = Body({
  name: Name,
  agentId: Uuid,
  issuer: Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: '^[!-~]+$',
    description: 'The iss of the tokens; spiffe://trust-domain for JWT-SVIDs without iss.',
  }),
  jwks: Type.Optional(Jwks),
  conditions: Conditions,
  // Defaults only here: in a patch they would change fields that it leaves out.
  keyLifetimeSeconds: Type.Optional(Type.Integer({ ...KeyLifetime, default: 900 })),
  jtiOnce: Type.Optional(Type.Boolean({ ...JtiOnce, default: false })),
});
export type TrustRuleInput = Static<typeof TrustRuleInput>;

export const TrustRulePatch = Type.Object(
  {
    name: Type.Optional(Name),
    conditions: Type.Optional(Conditions),
    keyLifetimeSeconds: Type.Optional(KeyLifetime),
    jtiOnce: Type.Optional(JtiOnce),
    jwks: Type.Optional(Jwks),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type TrustRulePatch = Static<typeof TrustRulePatch>;

export const TrustRuleQuery = Type.Object({
  ...PageQuery,
  agentId: Type.Optional(Uuid),
  projectId: Type.Optional(Uuid),
  ...SortQuery(['createdAt', 'name', 'agentName', 'lastUsedAt']),
});
export const TrustRuleReply = Type.Object({ rule: TrustRule });
export const TrustRuleList = Type.Object({
  rules: Type.Array(TrustRule),
  ...PageReply,
});

const text = (maxLength: number, description: string) => Type.Optional(Type.String({ maxLength, description }));
/** RFC 8693 §2.1. Fields that this endpoint does not use are accepted, as the RFC demands. */
export const TokenInput = Body({
  grant_type: text(200, 'urn:ietf:params:oauth:grant-type:token-exchange'),
  trust_rule: text(100, 'Id of the trust rule.'),
  subject_token: text(16_384, 'The workload’s token.'),
  subject_token_type: text(
    200,
    'urn:ietf:params:oauth:token-type:jwt; urn:ietf:params:oauth:token-type:id_token means the same.',
  ),
  requested_token_type: text(200, 'urn:ietf:params:oauth:token-type:access_token, or nothing.'),
  renew_token: text(
    100,
    'A key of this rule that is still valid: its lifetime begins again, and the response contains it again.',
  ),
  audience: text(2_000, 'Ignored.'),
  resource: text(2_000, 'Ignored.'),
  scope: text(2_000, 'Ignored: the agent of the rule decides.'),
});
export type TokenInput = Static<typeof TokenInput>;
export const TokenReply = Type.Object({
  access_token: Type.String({ description: 'A gateway token.' }),
  issued_token_type: Type.Literal('urn:ietf:params:oauth:token-type:access_token'),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds.' }),
});
export type TokenReply = Static<typeof TokenReply>;
export const TokenErrorReply = Type.Object({
  error: Type.String({ description: 'A code of RFC 6749 §5.2.' }),
  error_description: Type.Optional(Type.String({ description: 'What is wrong and what to do.' })),
});

/** For the API document. */
export const EXAMPLES = {
  'TrustRule.id': EXAMPLE_IDS.rule,
  'TrustRule.name': 'deploy workflow',
  'TrustRuleInput.name': 'deploy workflow',
  'TrustRulePatch.name': 'deploy workflow, main branch',
  'TrustRule.issuer': 'https://token.actions.githubusercontent.com',
  'TrustRuleInput.issuer': 'https://token.actions.githubusercontent.com',
  'TrustRule.audience': `https://gateway.example.com/trust-rules/${EXAMPLE_IDS.rule}`,
  'TrustRule.keySource': 'discovery',
  'TrustRuleInput.jwks': undefined,
  'TrustRulePatch.jwks': undefined,
  conditions: [
    { claim: 'repository_id', values: ['123456789'] },
    { claim: 'ref', values: ['refs/heads/main'] },
  ],
  keyLifetimeSeconds: 900,
  jtiOnce: true,
  keysReadAt: EXAMPLE_TIMES.used,
  keysFailure: null,
  rejectedAt: null,
  rejection: null,
  'TrustRule.lastUsedAt': EXAMPLE_TIMES.used,
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  trust_rule: EXAMPLE_IDS.rule,
  subject_token: 'the-token-of-the-workload',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  renew_token: `acg_${'0'.repeat(64)}`,
  requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  'TokenInput.audience': undefined,
  resource: 'https://gateway.example.com',
  'TokenInput.scope': undefined,
  access_token: `acg_${'0'.repeat(64)}`,
  expires_in: 900,
  'TokenErrorReply.error': 'invalid_grant',
  error_description: 'the token has expired',
};
