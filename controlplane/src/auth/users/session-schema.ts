import { type Static, Type } from 'typebox';
import { EXAMPLE_IDS, EXAMPLE_TIMES } from '../../http/examples.js';
import { PageReply } from '../../http/limit-offset-pagination.js';
import { Body, Email, Role, Timestamp, Uuid } from '../../http/schema.js';
import { FactorCode, SelfReply } from './auth-schema.js';

export const SessionInfo = Type.Object({
  id: Uuid,
  kind: Type.Enum(['api', 'browser', 'cli']),
  current: Type.Boolean({ description: 'True for the session of this call.' }),
  orgId: Type.Union([Uuid, Type.Null()], { description: 'The organization in which the session acts, or acted last.' }),
  roleMax: Type.Union([Role, Type.Null()], {
    description: 'The highest role of a session that was approved for a device.',
  }),
  ip: Type.String(),
  userAgent: Type.String(),
  createdAt: Timestamp,
  lastSeenAt: Timestamp,
  expiresAt: Timestamp,
});
export type SessionInfo = Static<typeof SessionInfo>;
export const SessionList = Type.Object({ sessions: Type.Array(SessionInfo), ...PageReply });

/** Both fields together, or neither of them and a bearer token. */
export const BrowserLoginInput = Body({
  email: Type.Optional(Email),
  password: Type.Optional(Type.String({ maxLength: 256 })),
  code: Type.Optional(FactorCode),
});
export const BrowserSessionReply = SelfReply;

/** For the API document. */
export const EXAMPLES = {
  'SessionInfo.id': EXAMPLE_IDS.session,
  roleMax: null,
  userAgent: 'acg/0.1.0 (linux; node v20.19.0)',
  lastSeenAt: EXAMPLE_TIMES.used,
  kind: 'cli',
  current: true,
};
