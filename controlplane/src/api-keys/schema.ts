import { type Static, Type } from 'typebox';
import { PageQuery, PageReply } from '../http/pagination.js';
import { Body, Name, Timestamp, Uuid } from '../http/schema.js';

const KEY_SCOPES = ['agent', 'project', 'org'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];
const Scope = Type.Unsafe<KeyScope>({ type: 'string', enum: KEY_SCOPES });
const NullableTimestamp = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });

const shown = {
  id: Uuid,
  name: Type.String(),
  keyPrefix: Type.String({ description: 'The beginning of the token, for recognising it.' }),
  scope: Scope,
  createdAt: Timestamp,
};

const ApiKeyCreated = Type.Object(shown);
export const ApiKey = Type.Object({ ...shown, lastUsedAt: NullableTimestamp, expiresAt: NullableTimestamp });
export type ApiKey = Static<typeof ApiKey>;

export const ApiKeyInput = Body({
  name: Name,
  scope: Type.Optional(Type.Unsafe<KeyScope>({ ...Scope, default: 'agent' })),
  agentId: Type.Optional(Uuid),
  projectId: Type.Optional(Uuid),
  expiresAt: Type.Optional(NullableTimestamp),
});
export type ApiKeyInput = Static<typeof ApiKeyInput>;

export const ApiKeyQuery = Type.Object({
  ...PageQuery,
  agentId: Type.Optional(Uuid),
  projectId: Type.Optional(Uuid),
});
export const ApiKeyCreatedReply = Type.Object({
  key: ApiKeyCreated,
  secretKey: Type.String({ description: 'The gateway token. Shown only in this answer.' }),
});
export const ApiKeyList = Type.Object({ keys: Type.Array(ApiKey), ...PageReply });
export const ApiKeyRevoked = Type.Object({ revoked: Type.Literal(true) });
