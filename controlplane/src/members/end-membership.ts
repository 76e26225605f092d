/**
 * The end of a membership: by an administrator, by the member, or by the organization's directory. It ends the member's
 * sessions in the organization, device logins, management tokens and invitations, and the personal agents with their
 * keys, runs and running calls. The account stays as it is. What the member created for others stays, too.
 */
import type { Tx } from '../db/postgres-client.js';
import { Conflict } from '../domain/errors.js';
import { endPersonalAgents, lockPersonalAgents } from '../personal-agents/revocation/end-personal-agents.js';
import { publishInvalidations } from '../watch/publish-invalidations.js';
import * as store from './store.js';

/**
 * Call it last in a transaction ({@link publishInvalidations}), after the audit entry. `revokedKeys`: further keys that
 * the caller has revoked.
 */
export async function endMembership(
  tx: Tx,
  orgId: string,
  member: store.MemberRow,
  revokedKeys: readonly string[] = [],
): Promise<void> {
  if (member.status !== 'active') return store.removeMember(tx, orgId, member);
  const scope = { orgId, userId: member.id };
  await lockPersonalAgents(tx, scope);
  await store.removeMember(tx, orgId, member);
  // After the removal, which waits for changes of the member: one of them may have created an agent.
  const personal = await endPersonalAgents(tx, scope);
  const keys = revokedKeys.map((id) => ({ kind: 'key', id, endsSessions: true }) as const);
  await publishInvalidations(tx, [...personal, ...keys]);
}

/** For a member whose role becomes viewer: viewers have no personal agents. Call it last in a transaction. */
export async function endPersonalAgentsOfViewer(tx: Tx, orgId: string, userId: string): Promise<void> {
  await publishInvalidations(tx, await endPersonalAgents(tx, { orgId, userId }));
}

/**
 * Throws {@link Conflict} for the last owner, and for the break-glass owner of single sign-on. The caller has locked the
 * organization.
 */
export async function assertNotLastOwner(tx: Tx, orgId: string, member: store.MemberRow): Promise<void> {
  if (member.status !== 'active' || member.role !== 'owner') return;
  if ((await store.countOwners(tx, orgId)) === 1) {
    throw new Conflict('this is the last owner: assign the role owner to another member first');
  }
  if (await store.isBreakGlassOwner(tx, orgId, member.id))
    throw new Conflict('this is the break-glass owner of single sign-on: name another owner there first');
}
