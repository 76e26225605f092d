/**
 * The end of a membership: by an administrator, by the member, or by the organization's directory. It ends the member's
 * sessions in the organization, device logins, management tokens and invitations, and the keys of personal agents with
 * the calls that run. The account stays as it is. What the member created for others stays, too.
 */
import type { Tx } from '../db/postgres-client.js';
import { Conflict } from '../domain/errors.js';
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
  await store.removeMember(tx, orgId, member);
  if (member.status !== 'active') return;
  const keys = [...revokedKeys, ...(await store.revokePersonalKeys(tx, orgId, member.id))];
  await publishInvalidations(
    tx,
    keys.map((id) => ({ kind: 'key', id, endsSessions: true })),
  );
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
