/**
 * Reuse of a retired token shows that two clients hold the session: the owner, and a thief who copied a token and refreshed
 * first, or exchanged it for a cookie. The gateway cannot tell which is which, so the session ends for both.
 */
import { recordUserAudit } from '../../audit/audit-trail.js';
import type { Tx } from '../../db/sql.js';
import { deleteReusedSession, type SessionTokenIdentity } from './session-store.js';

/** `overlap`: the token before the newest one is spared for its 60 seconds, as a call may be on its way. */
export async function revokeReusedSession(
  tx: Tx,
  token: SessionTokenIdentity,
  ip: string,
  allowOverlap = true,
): Promise<void> {
  const ended = await deleteReusedSession(tx, token, allowOverlap);
  if (ended === null) return;
  const user = { id: token.userId, email: ended.email };
  await recordUserAudit(tx, user, ip, 'session.end_reused', { session: [token.id, null] });
}
