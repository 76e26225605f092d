import { type Static, Type } from 'typebox';
import { EXAMPLE_IDS, EXAMPLE_TIMES } from '../http/examples.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Body, Name, Timestamp, Uuid } from '../http/schema.js';

/** Seconds. */
export const KEY_LIFETIME_DEFAULT_S = 43_200;
const KEY_LIFETIME_MAX_S = 2_592_000;

const PersonalAgentFields = Type.Object({
  id: Uuid,
  name: Type.String(),
  slug: Type.String(),
  status: Type.Unsafe<'active' | 'paused' | 'revoked'>({ type: 'string', enum: ['active', 'paused', 'revoked'] }),
});

export const PersonalAgentProject = Type.Object({
  projectId: Uuid,
  projectName: Type.String(),
  projectSlug: Type.String(),
  agent: Type.Unsafe<Static<typeof PersonalAgentFields> | null>({
    anyOf: [PersonalAgentFields, { type: 'null' }],
    description: "The caller's personal agent in this project; null: the first key creates it.",
  }),
});
export type PersonalAgentProject = Static<typeof PersonalAgentProject>;
export const PersonalAgentQuery = Type.Object(PageQuery);
export const PersonalAgentList = Type.Object({ personalAgents: Type.Array(PersonalAgentProject), ...PageReply });

export const PersonalKeyInput = Body({
  projectId: Uuid,
  name: Name,
  lifetimeSeconds: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: KEY_LIFETIME_MAX_S,
      default: KEY_LIFETIME_DEFAULT_S,
      description: 'How long the gateway token is valid, in seconds.',
    }),
  ),
});
export type PersonalKeyInput = Static<typeof PersonalKeyInput>;
export const PersonalKeyReply = Type.Object({
  agent: PersonalAgentFields,
  key: Type.Object({ id: Uuid, name: Type.String(), keyPrefix: Type.String(), expiresAt: Timestamp }),
  secretKey: Type.String({ description: 'The gateway token. It is returned only once.' }),
});

/** For the API document. */
export const EXAMPLES = {
  'personalAgents.projectId': EXAMPLE_IDS.project,
  projectSlug: 'default',
  'PersonalAgentProject.agent': { id: EXAMPLE_IDS.agent, name: 'Ada Lovelace', slug: 'ada-lovelace', status: 'active' },
  'PersonalKeyInput.lifetimeSeconds': 3_600,
  'PersonalKeyInput.name': 'acg run on laptop',
  'PersonalKeyReply.key': {
    id: EXAMPLE_IDS.key,
    name: 'acg run on laptop',
    keyPrefix: 'acg_00000000',
    expiresAt: EXAMPLE_TIMES.used,
  },
};
