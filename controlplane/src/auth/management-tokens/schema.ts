import { type Static, Type } from 'typebox';
import { PageReply } from '../../http/pagination.js';
import { Body, Name, Timestamp, Uuid } from '../../http/schema.js';

const TokenRole = Type.Union([Type.Literal('viewer'), Type.Literal('member'), Type.Literal('admin')], {
  description: 'At most this, and never more than its creator may at the time of the call.',
});
export const ManagementToken = Type.Object({
  id: Uuid,
  name: Type.String(),
  tokenPrefix: Type.String(),
  role: TokenRole,
  projectId: Type.Union([Uuid, Type.Null()], { description: 'Null: the whole organization.' }),
  createdBy: Uuid,
  lastUsedAt: Type.Union([Timestamp, Type.Null()]),
  expiresAt: Type.Union([Timestamp, Type.Null()]),
  createdAt: Timestamp,
});
export type ManagementToken = Static<typeof ManagementToken>;

export const ManagementTokenInput = Body({
  name: Name,
  role: TokenRole,
  projectId: Type.Optional(Uuid),
  expiresAt: Type.Optional(Timestamp),
});
export const ManagementTokenCreated = Type.Object({
  token: ManagementToken,
  secretToken: Type.String({ description: 'Shown only here.' }),
});
export const ManagementTokenList = Type.Object({ tokens: Type.Array(ManagementToken), ...PageReply });
