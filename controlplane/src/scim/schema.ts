import { type Static, Type } from 'typebox';
import { EXAMPLE_IDS, EXAMPLE_TIMES } from '../http/examples.js';
import { Body, Name, Timestamp, Uuid } from '../http/schema.js';

export const ScimToken = Type.Object({
  id: Uuid,
  name: Type.String(),
  tokenPrefix: Type.String(),
  createdBy: Type.Union([Uuid, Type.Null()], { description: 'Null: that user was deleted.' }),
  lastUsedAt: Type.Union([Timestamp, Type.Null()]),
  createdAt: Timestamp,
});
export type ScimToken = Static<typeof ScimToken>;
export const ScimSettings = Type.Object({
  baseUrl: Type.String({ description: 'The address to enter at the directory.' }),
  tokens: Type.Array(ScimToken),
  users: Type.Integer({ description: 'People of the directory.' }),
  activeUsers: Type.Integer({ description: 'Those that the directory has not deactivated.' }),
  members: Type.Integer({ description: 'Those that are members of the organization.' }),
  groups: Type.Integer({ description: 'Groups of the directory.' }),
});
export type ScimSettings = Static<typeof ScimSettings>;
export const ScimTokenInput = Body({ name: Name });
export const ScimTokenCreated = Type.Object({
  token: ScimToken,
  secretToken: Type.String({ description: 'The complete token. It is returned only once.' }),
});

/** For the API document. */
export const EXAMPLES = {
  'ScimToken.id': EXAMPLE_IDS.token,
  'ScimToken.name': 'Okta',
  'ScimTokenInput.name': 'Okta',
  'ScimToken.tokenPrefix': 'acgs_00000000',
  'ScimToken.lastUsedAt': EXAMPLE_TIMES.used,
  'ScimTokenCreated.secretToken': `acgs_${'0'.repeat(64)}`,
  'ScimSettings.baseUrl': 'https://gateway.example.com/scim/v2',
  'ScimSettings.users': 120,
  activeUsers: 118,
  'ScimSettings.members': 96,
  'ScimSettings.groups': 4,
};
