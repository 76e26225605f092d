/** The event that carries an entry of the audit trail to webhook endpoints. Its fields are those of the syslog stream. */
import { NIL_UUID } from '@acg/base/uuid-patterns';
import { Type } from 'typebox';
import { defineEvent } from './define-event.js';
import { ClosedObject, Id } from './event-fields.js';

const OrNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

export const AUDIT_EVENT_TYPE = defineEvent({
  title: 'Audit entry',
  description:
    'The audit trail has a new entry. Only webhooks receive it, and only admins see its payload: it is in no list of events, and is not mailed.',
  severity: 'info',
  webhooksOnly: true,
  schema: ClosedObject({
    id: Id,
    orgId: Id,
    at: Type.String({ description: 'Instant of the entry, ISO 8601.' }),
    action: Type.String({ description: 'For example agent.update.' }),
    actorUserId: OrNull(Id),
    actorEmail: Type.String({ description: 'Empty for a management token.' }),
    actorTokenId: OrNull(Id),
    actorTokenName: OrNull(Type.String()),
    targetType: Type.String(),
    targetId: Type.String(),
    ip: Type.String(),
    changes: OrNull(
      Type.Record(Type.String(), Type.Array(Type.Unknown()), {
        description:
          'Field → [before, after], without secrets. Null where it is larger than 16 KiB: see GET /v1/audit.',
      }),
    ),
  }),
  sample: {
    id: NIL_UUID,
    orgId: NIL_UUID,
    at: '2026-11-22T08:00:00.000Z',
    action: 'agent.update',
    actorUserId: NIL_UUID,
    actorEmail: 'you@example.com',
    actorTokenId: null,
    actorTokenName: null,
    targetType: 'agent',
    targetId: NIL_UUID,
    ip: '203.0.113.7',
    changes: { rpmLimit: [60, 120] },
  },
  mailedFields: [],
});
