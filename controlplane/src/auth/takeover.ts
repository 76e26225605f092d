/**
 * An account passes to the person who reads its mailbox. Until then nobody had shown that address and account belong to
 * the same person, so a stranger may have signed up with the address and prepared the account for its owner. Everything
 * made before loses its effect: what an owner can review is suspended, the rest ends.
 */
import { recordAudit } from '../audit/trail.js';
import type { Tx } from '../db/sql.js';
import { type Suspended, suspendItems } from '../suspension/service.js';
import { foundOrganization } from './found-organization.js';
import { deleteTokensOf } from './management-token-store.js';
import { endSessions } from './session-store.js';
import * as store from './store.js';

const OWN_ORGANIZATION = 'My organization';

interface TakenOver {
  readonly id: string;
  readonly email: string;
}

/**
 * - Sessions end, also those of approved devices. They end first: a request that is under way in one of them has then
 *   finished, or does nothing any more.
 * - Organizations that the account founded and still owns: everything in them is suspended (suspension/kinds.ts).
 * - Organizations that it founded and does not own any more: the account leaves them, because it cannot review them.
 * - Management tokens and invitations that it made in other organizations are deleted.
 *
 * The caller announces what was suspended (`announceSuspension`), and lets the throttle forget known addresses.
 */
export async function takeOver(tx: Tx, user: TakenOver, ip: string): Promise<Suspended> {
  await endSessions(tx, user.id, null);
  const founded = await store.listFounded(tx, user.id);
  for (const { id: orgId, role } of founded) {
    if (role === 'owner') continue;
    await store.deleteMembership(tx, orgId, user.id);
    const actor = { userId: user.id, email: user.email, orgId, ip };
    await recordAudit(tx, actor, 'member.leave', { type: 'user', id: user.id }, { role: [role, null] });
  }
  const owned = founded.filter(({ role }) => role === 'owner').map(({ id }) => id);
  const suspended = await suspendItems(tx, user, owned, ip);
  await deleteTokensOf(tx, user.id);
  await store.deleteInvitationsBy(tx, user.id);
  await store.setActiveOrg(tx, user.id, owned[0] ?? null);
  return suspended;
}

/** The person can log in, also later: an account without any organization but those that are being deleted gets one. */
export async function ensureOrganization(tx: Tx, user: TakenOver, ip: string): Promise<void> {
  const organizations = await store.listOrganizations(tx, user.id);
  if (organizations.some(({ purgeAt }) => purgeAt === undefined)) return;
  const { id } = await foundOrganization(tx, user, OWN_ORGANIZATION, ip);
  await store.setActiveOrg(tx, user.id, id);
}
