import { type Static, Type } from 'typebox';
import { EXAMPLE_IDS, EXAMPLE_TIMES } from '../http/examples.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Body, Name, Timestamp, Uuid } from '../http/schema.js';
import { SortQuery } from '../http/search-and-sort-query-schema.js';
import { TimestampParam } from '../http/timestamp-params.js';

const KEY_SCOPES = ['agent', 'project', 'org'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];
const Scope = Type.Unsafe<KeyScope>({ type: 'string', enum: KEY_SCOPES });
const NullableTimestamp = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });

const createdKeyFields = {
  id: Uuid,
  name: Type.String(),
  keyPrefix: Type.String({ description: 'The first characters of the token, to recognize it.' }),
  scope: Scope,
  createdAt: Timestamp,
};

const ApiKeyCreated = Type.Object(createdKeyFields);
const KEY_STATUSES = ['active', 'expired', 'revoked'] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];
const KeyStatusField = Type.Unsafe<KeyStatus>({ type: 'string', enum: KEY_STATUSES });
const nullableId = (description: string) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uuid', description });

export const ApiKey = Type.Object({
  ...createdKeyFields,
  status: KeyStatusField,
  agentId: nullableId('Null unless the scope is agent.'),
  agentName: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  projectId: nullableId('Null when the scope is org.'),
  replacedBy: nullableId('Id of the key that replaces this one, which expires at expiresAt.'),
  lastUsedAt: NullableTimestamp,
  expiresAt: NullableTimestamp,
  createdBy: nullableId('The user that created it; null: unknown.'),
});
export type ApiKey = Static<typeof ApiKey>;

/** A key that was asked for by its id, also a revoked one. */
export const ApiKeyDetails = Type.Object({ ...ApiKey.properties, revokedAt: NullableTimestamp });
export type ApiKeyDetails = Static<typeof ApiKeyDetails>;

export const ApiKeyInput = Body({
  name: Name,
  scope: Type.Optional(Type.Unsafe<KeyScope>({ ...Scope, default: 'agent' })),
  agentId: Type.Optional(Uuid),
  projectId: Type.Optional(Uuid),
  expiresAt: Type.Optional(NullableTimestamp),
});
export type ApiKeyInput = Static<typeof ApiKeyInput>;

export const ApiKeyPatch = Type.Object(
  { name: Type.Optional(Name), expiresAt: Type.Optional(NullableTimestamp) },
  { additionalProperties: false, minProperties: 1 },
);
export type ApiKeyPatch = Static<typeof ApiKeyPatch>;

/** Seconds: 30 days. */
const ROTATION_GRACE_MAX_S = 2_592_000;
export const RotationInput = Body({
  graceSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: ROTATION_GRACE_MAX_S,
      default: 86_400,
      description: 'How long the old token stays valid beside the new one, in seconds; 0 revokes it at once.',
    }),
  ),
  expiresAt: Type.Optional(
    Type.Unsafe<string | null>({
      ...NullableTimestamp,
      description: 'When the new key expires. By default it gets the same lifetime as the old key.',
    }),
  ),
});
export type RotationInput = Static<typeof RotationInput>;

export const ApiKeyQuery = Type.Object({
  ...PageQuery,
  agentId: Type.Optional(Uuid),
  projectId: Type.Optional(Uuid),
  status: Type.Optional(
    Type.Unsafe<KeyStatus>({
      ...KeyStatusField,
      description: 'Without it, active and expired keys. Only `revoked` lists revoked ones.',
    }),
  ),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Part of the name of the key or its agent, or of keyPrefix.',
    }),
  ),
  neverUsed: Type.Optional(
    Type.Boolean({ description: 'true: only keys that were never used; false: only keys that were used.' }),
  ),
  unusedSince: Type.Optional(TimestampParam('Only keys that were created before this time and not used since.')),
  ...SortQuery(['createdAt', 'name', 'lastUsedAt', 'expiresAt']),
});
const SecretKey = Type.String({ description: 'The gateway token. It is returned only once.' });
export const ApiKeyCreatedReply = Type.Object({ key: ApiKeyCreated, secretKey: SecretKey });
export const ApiKeyReply = Type.Object({ key: ApiKey });
export const ApiKeyDetailsReply = Type.Object({ key: ApiKeyDetails });
export const RotationReply = Type.Object({ key: ApiKey, secretKey: SecretKey, previous: ApiKey });
export const ApiKeyList = Type.Object({ keys: Type.Array(ApiKey), ...PageReply });
export const ApiKeyRevoked = Type.Object({ revoked: Type.Literal(true) });

/** For the API document. */
export const EXAMPLES = {
  'ApiKey.id': EXAMPLE_IDS.key,
  'key.id': EXAMPLE_IDS.key,
  replacedBy: null,
  'ApiKey.name': 'production',
  'ApiKeyInput.name': 'production',
  'ApiKeyPatch.name': 'production, EU',
  'key.name': 'production',
  secretKey: `acg_${'0'.repeat(64)}`,
  'RotationReply.previous': {
    id: '01a1d3c2-0b60-7a5b-8d17-2e9c4f6b3a18',
    name: 'production',
    keyPrefix: 'acg_11111111',
    scope: 'agent',
    createdAt: '2025-10-12T09:30:00.000Z',
    status: 'active',
    agentId: EXAMPLE_IDS.agent,
    agentName: 'Support bot',
    projectId: EXAMPLE_IDS.project,
    replacedBy: EXAMPLE_IDS.key,
    lastUsedAt: EXAMPLE_TIMES.used,
    expiresAt: '2026-01-13T09:30:00.000Z',
    createdBy: EXAMPLE_IDS.user,
  },
  revokedAt: null,
  'ApiKeyInput.projectId': undefined,
  'RotationInput.expiresAt': undefined,
};
