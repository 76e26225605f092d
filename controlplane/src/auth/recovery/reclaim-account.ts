/**
 * An account passes to the person who reads its mailbox. Until then nobody had shown that address and account belong to
 * the same person, so a stranger may have signed up with the address and prepared the account for its owner. Everything
 * made before loses its effect: what an owner can review is suspended, the rest ends.
 */
import { recordAudit } from '../../audit/audit-trail.js';
import type { Tx } from '../../db/sql.js';
import { type SuspensionResult, suspendItems } from '../../suspension/service.js';
import { deleteTokensCreatedBy } from '../management-tokens/store.js';
import { revokeUserSessions } from '../sessions/session-store.js';
import { createOrganization } from '../users/create-organization.js';
import * as store from '../users/user-store.js';

const OWN_ORGANIZATION_NAME = 'My organization';

interface AccountUser {
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
export async function reclaimAccount(tx: Tx, user: AccountUser, ip: string): Promise<SuspensionResult> {
  await revokeUserSessions(tx, user.id, null);
  const foundedOrganizations = await store.listFoundedOrganizations(tx, user.id);
  for (const { id: orgId, role } of foundedOrganizations) {
    if (role === 'owner') continue;
    await store.deleteMembership(tx, orgId, user.id);
    const actor = { userId: user.id, email: user.email, orgId, ip };
    await recordAudit(tx, actor, 'member.leave', { type: 'user', id: user.id }, { role: [role, null] });
  }
  const owned = foundedOrganizations.filter(({ role }) => role === 'owner').map(({ id }) => id);
  const suspended = await suspendItems(tx, user, owned, ip);
  await deleteTokensCreatedBy(tx, user.id);
  await store.deleteInvitationsCreatedBy(tx, user.id);
  await store.setActiveOrganization(tx, user.id, owned[0] ?? null);
  return suspended;
}

/** The person can log in, also later: an account without any organization but those that are being deleted gets one. */
export async function ensureOrganization(tx: Tx, user: AccountUser, ip: string): Promise<void> {
  const organizations = await store.listUserOrganizations(tx, user.id);
  if (organizations.some(({ purgeAt }) => purgeAt === undefined)) return;
  const { id } = await createOrganization(tx, user, OWN_ORGANIZATION_NAME, ip);
  await store.setActiveOrganization(tx, user.id, id);
}
