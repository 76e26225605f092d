/**
 * Transfers an unverified account to the person who has proven to read its mailbox. Another person may have signed up
 * with that address and prepared the account for its owner. So everything that was created before loses its effect:
 * items that an owner can review are suspended, the rest is deleted.
 */
import { recordAudit } from '../../audit/audit-trail.js';
import type { Tx } from '../../db/postgres-client.js';
import { endPersonalAgents, lockPersonalAgents } from '../../personal-agents/revocation/end-personal-agents.js';
import { type SuspensionResult, suspendItems } from '../../suspension/unproven-founder-item-suspension.js';
import { deleteTokensCreatedBy } from '../management-tokens/store.js';
import { revokeUserSessions } from '../sessions/session-store.js';
import { createOrganization } from '../users/create-organization.js';
import * as store from '../users/user-and-membership-store.js';

const OWN_ORGANIZATION_NAME = 'My organization';

interface AccountUser {
  readonly id: string;
  readonly email: string;
}

/**
 * - Sessions are revoked, including those of approved devices. They are revoked first: a request in one of them has
 *   then
 *   either finished or has no effect.
 * - Organizations that the account founded and still owns: everything in them is suspended (suspension/suspendable-tables.ts).
 * - Organizations that it founded and no longer owns: the account leaves them, because it cannot review them.
 * - Management tokens and invitations that it created in other organizations are deleted, and its personal agents there
 *   end.
 *
 * The caller calls `invalidateSuspendedOrganizations` with the result and clears the throttle's trusted addresses.
 */
export async function reclaimAccount(tx: Tx, user: AccountUser, ip: string): Promise<SuspensionResult> {
  // Changes of an agent lock it before the session and the membership of their actor.
  await lockPersonalAgents(tx, {
    userId: user.id,
    exceptOrgIds: ownedIds(await store.listFoundedOrganizations(tx, user.id)),
  });
  await revokeUserSessions(tx, user.id, null);
  const foundedOrganizations = await store.listFoundedOrganizations(tx, user.id);
  for (const { id: orgId, role } of foundedOrganizations) {
    if (role === 'owner') continue;
    await store.deleteMembership(tx, orgId, user.id);
    const actor = { userId: user.id, email: user.email, orgId, ip };
    await recordAudit(tx, actor, 'member.leave', { type: 'user', id: user.id }, { role: [role, null] });
  }
  const owned = ownedIds(foundedOrganizations);
  const endedAgents = await endPersonalAgents(tx, { userId: user.id, exceptOrgIds: owned });
  const suspended = await suspendItems(tx, user, owned, ip);
  await deleteTokensCreatedBy(tx, user.id);
  await store.deleteInvitationsCreatedBy(tx, user.id);
  await store.setActiveOrganization(tx, user.id, owned[0] ?? null);
  return { ...suspended, endedAgents };
}

const ownedIds = (organizations: readonly { readonly id: string; readonly role: string }[]): readonly string[] =>
  organizations.filter(({ role }) => role === 'owner').map(({ id }) => id);

/**
 * Creates an organization when the account has none, or only organizations that are being deleted. The user can then
 * always log in.
 */
export async function ensureOrganization(tx: Tx, user: AccountUser, ip: string): Promise<void> {
  const organizations = await store.listUserOrganizations(tx, user.id);
  if (organizations.some(({ purgeAt }) => purgeAt === undefined)) return;
  const { id } = await createOrganization(tx, user, OWN_ORGANIZATION_NAME, ip);
  await store.setActiveOrganization(tx, user.id, id);
}
