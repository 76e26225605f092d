import { type Static, Type } from 'typebox';
import { EXAMPLE_IDS } from '../../http/examples.js';
import { PageQuery, PageReply } from '../../http/limit-offset-pagination.js';
import { Body, Name, Timestamp, Uuid } from '../../http/schema.js';
import { SortQuery } from '../../http/search-and-sort-query-schema.js';

const TokenRole = Type.Union([Type.Literal('viewer'), Type.Literal('member'), Type.Literal('admin')], {
  description:
    'The highest role of the token. Each call gets the lower of this role and the current role of its creator.',
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
  secretToken: Type.String({ description: 'The complete token. It is returned only once.' }),
});
export const ManagementTokenQuery = Type.Object({
  ...PageQuery,
  ...SortQuery(['createdAt', 'name', 'role', 'lastUsedAt', 'expiresAt']),
});
export const ManagementTokenList = Type.Object({ tokens: Type.Array(ManagementToken), ...PageReply });

/** For the API document. */
export const EXAMPLES = {
  'ManagementToken.id': EXAMPLE_IDS.token,
  createdBy: EXAMPLE_IDS.user,
  'ManagementToken.name': 'CI',
  'ManagementTokenInput.name': 'CI',
  secretToken: `acgm_${'0'.repeat(64)}`,
  tokenPrefix: 'acgm_00000000',
  'ManagementTokenInput.projectId': undefined,
};
