import { type Static, Type } from 'typebox';
import { EXAMPLE_IDS } from '../http/examples.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Day, Timestamp, Uuid } from '../http/schema.js';
import { SearchQuery, SortQuery } from '../http/search-and-sort-query-schema.js';

export const AuditQuery = Type.Object({
  actorId: Type.Optional(Type.String({ format: 'uuid', description: 'Id of a user or of a management token.' })),
  action: Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: '^[a-z_.]+$' })),
  start: Type.Optional(Day),
  end: Type.Optional(Day),
  targetType: Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: '^[a-z_]+$' })),
  targetId: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  ...SearchQuery(
    'the e-mail address or name of the actor, the action, the id of its target or the IP address of the client',
  ),
  ...SortQuery(['at']),
  ...PageQuery,
});
export type AuditQuery = Static<typeof AuditQuery>;

const Value = Type.Unknown();
export const AuditEntry = Type.Object({
  id: Uuid,
  at: Timestamp,
  actor: Type.Union([
    Type.Object({
      userId: Type.Union([Uuid, Type.Null()], { description: 'Null when the service itself acted.' }),
      email: Type.String(),
    }),
    Type.Object({ tokenId: Uuid, name: Type.String({ description: 'Name of the management token.' }) }),
  ]),
  action: Type.String(),
  target: Type.Object({
    type: Type.String(),
    id: Type.String(),
    name: Type.Union([Type.String(), Type.Null()], {
      description: 'Present name; null for a deleted target and for a type without a name.',
    }),
  }),
  ip: Type.String(),
  changes: Type.Record(Type.String(), Type.Array(Value), {
    description: 'Field → [before, after]. Secrets show as [secret].',
  }),
});
export type AuditEntry = Static<typeof AuditEntry>;
export const AuditList = Type.Object({ entries: Type.Array(AuditEntry), ...PageReply });

/** For the API document. */
export const EXAMPLES = {
  'AuditEntry.id': EXAMPLE_IDS.audit,
  'target.id': EXAMPLE_IDS.agent,
  'AuditEntry.action': 'agent.update',
  'target.type': 'agent',
  'target.name': 'Support bot',
  changes: { rpmLimit: [60, 120] },
};
