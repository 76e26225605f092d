/**
 * Members and invitations. Admins manage viewers, members and admins. Only owners add, change or remove owners. Every
 * member may leave. The last owner can neither be removed nor demoted. The actor's role is read again under the lock,
 * because it may have changed since the request was authenticated.
 */
import { createHash } from 'node:crypto';
import type { AuditAction } from '@acg/base/audit-actions';
import { uuidv7 } from '@acg/base/uuidv7';
import { type AuditChanges, recordAudit } from '../audit/audit-trail.js';
import { assertConfirmed } from '../auth/second-factor/confirmation.js';
import type { SessionService } from '../auth/sessions/session-service.js';
import { deleteMemberSessions } from '../auth/sessions/session-store.js';
import { createEmailToken } from '../auth/users/email-token.js';
import type { SessionInfo } from '../auth/users/session-schema.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { Conflict, Forbidden, NotFound } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { type Actor, isRoleAtLeast, lowerRole, type Role } from '../http/route-access.js';
import { normaliseEmail } from '../http/schema.js';
import { buildInvitationLink, createInvitationMail } from '../mail/mail-texts.js';
import type { Mailer } from '../mail/mailer.js';
import { lockPersonalAgents } from '../personal-agents/revocation/end-personal-agents.js';
import { endRunTrees } from '../runs/end-run-trees.js';
import { loadRun } from '../runs/store.js';
import type { Throttle } from '../throttling/throttle.js';
import * as createdItems from './created-items-store.js';
import { assertNotLastOwner, endMembership, endPersonalAgentsOfViewer } from './end-membership.js';
import type { CreatedItems, Member, MemberQuery } from './schema.js';
import * as store from './store.js';

const INVITATION_LIFETIME_S = 7 * 86_400;
/** Invitations per organization and window. */
const INVITATIONS_PER_ORG_MAX = 20;
const INVITATIONS_WINDOW_S = 3_600;
/** Invitations to one recipient, who did not request any: from one organization or inviter, and from all together. */
const INVITATIONS_PER_RECIPIENT_MAX = 3;
const INVITATIONS_PER_RECIPIENT_TOTAL_MAX = 12;
const RECIPIENT_WINDOW_S = 86_400;

interface SentInvitation {
  readonly member: Member;
  /** The link, for the inviter to pass on; null when mails are delivered. */
  readonly invitationUrl: string | null;
}

export class MemberService {
  constructor(
    readonly sql: Sql,
    readonly sessions: SessionService,
    readonly throttle: Throttle,
    readonly mailer: Mailer,
    readonly publicUrl: string,
    /** Mails are stored as files on this machine and not delivered. */
    readonly usesOutbox: boolean,
  ) {}

  async list(actor: Actor, query: MemberQuery, page: Page): Promise<ListResult<Member>> {
    const { rows, total } = await store.listMembers(this.sql, actor.orgId, query, page);
    return { rows: rows.map(present), total };
  }

  /** Mails an invitation; replaces an open one for the same address. */
  async invite(actor: Actor, rawEmail: string, role: Role): Promise<SentInvitation> {
    const email = normaliseEmail(rawEmail);
    await this.#throttleInvitation(actor, email);
    return this.#sendInvitation(actor, email, async (tx) => {
      const known = await store.loadMemberByEmail(tx, actor.orgId, email);
      if (known?.status === 'active') throw new Conflict(`${email} is already a member`);
      await assertMayManageRoles(tx, actor, known === null ? [role] : [known.role, role]);
      return { role, action: 'member.invite' };
    });
  }

  /** Sends the same invitation with a new link; the actor becomes its inviter. The old link stops working. */
  async resend(actor: Actor, id: string): Promise<SentInvitation> {
    const invitation = await store.loadMember(this.sql, actor.orgId, id);
    if (invitation === null || invitation.status === 'active') throw new NotFound('invitation');
    await this.#throttleInvitation(actor, invitation.email);
    return this.#sendInvitation(actor, invitation.email, async (tx) => {
      const member = await store.loadMember(tx, actor.orgId, id);
      if (member === null) throw new NotFound('invitation'); // accepted or deleted meanwhile
      await assertMayManageRoles(tx, actor, [member.role]);
      return { role: member.role, action: 'member.resend' };
    });
  }

  async #sendInvitation(
    actor: Actor,
    email: string,
    decide: (tx: Tx) => Promise<{ role: Role; action: AuditAction }>,
  ): Promise<SentInvitation> {
    const { token, hash } = createEmailToken();
    const id = uuidv7(Date.now());
    const { orgId } = actor;
    const { member, orgName } = await this.sql.begin(async (tx) => {
      const name = await lockOrganizationAsManager(tx, actor, []);
      const { role, action } = await decide(tx);
      const delivery = { linkShown: this.usesOutbox, lifetimeS: INVITATION_LIFETIME_S };
      await store.replaceInvitation(tx, {
        id,
        orgId,
        email,
        role,
        tokenHash: hash,
        invitedBy: actor.userId,
        ...delivery,
      });
      await recordAudit(tx, actor, action, { type: 'invitation', id }, { email: [null, email], role: [null, role] });
      return { member: (await store.loadMember(tx, orgId, id))!, orgName: name };
    });
    const text = { orgName, role: member.role, invitedBy: actor.email };
    this.mailer.enqueue(createInvitationMail(this.publicUrl, email, token, text));
    return {
      member: present(member),
      invitationUrl: this.usesOutbox ? buildInvitationLink(this.publicUrl, token) : null,
    };
  }

  async #throttleInvitation(actor: Actor, email: string): Promise<void> {
    await this.#assertMaySendMail(actor);
    await this.throttle.consume(`invite:${actor.orgId}`, INVITATIONS_PER_ORG_MAX, INVITATIONS_WINDOW_S, 'invitations');
    const recipient = createHash('sha256').update(email).digest('base64url');
    const subject = 'invitations to this address';
    // Checks the limits of organization and inviter first: an invitation rejected there does not count for the
    // recipient's total.
    for (const senderId of [actor.orgId, actor.userId]) {
      await this.throttle.consume(
        `invited-by:${senderId}:${recipient}`,
        INVITATIONS_PER_RECIPIENT_MAX,
        RECIPIENT_WINDOW_S,
        subject,
      );
    }
    await this.throttle.consume(
      `invited:${recipient}`,
      INVITATIONS_PER_RECIPIENT_TOTAL_MAX,
      RECIPIENT_WINDOW_S,
      subject,
    );
  }

  /** With e-mail delivery configured, only users with a verified address may invite users outside the organization. */
  async #assertMaySendMail(actor: Actor): Promise<void> {
    if (this.usesOutbox || (await store.isEmailVerified(this.sql, actor.userId))) return;
    throw new Forbidden('confirm your own e-mail address before you invite others: open the link in your sign-up mail');
  }

  async changeRole(actor: Actor, id: string, role: Role): Promise<Member> {
    return this.sql.begin(async (tx) => {
      const before = await lockManageableMember(tx, actor, id, [role]);
      if (role !== 'owner') await assertNotLastOwner(tx, actor.orgId, before);
      // Before the audit entry, which locks the actor's membership.
      if (role === 'viewer') await lockPersonalAgents(tx, { orgId: actor.orgId, userId: before.id });
      await recordAudit(tx, actor, 'member.update', auditTarget(before), { role: [before.role, role] });
      await store.setRole(tx, actor.orgId, before, role, actor.userId);
      if (before.status === 'active' && !isRoleAtLeast(role, before.role)) {
        await store.deleteInvitationsCreatedBy(tx, actor.orgId, before.id);
      }
      if (role === 'viewer') await endPersonalAgentsOfViewer(tx, actor.orgId, before.id);
      return present({ ...before, role });
    });
  }

  /** What the member created and what outlives the membership, or ends with it: the list that the removal shows. */
  async listCreated(actor: Actor, id: string): Promise<CreatedItems> {
    const member = await store.loadMember(this.sql, actor.orgId, id);
    if (member?.status !== 'active') throw new NotFound('member');
    const { rows, total } = await createdItems.listCreatedItems(this.sql, actor.orgId, id);
    return { items: rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() })), total };
  }

  /** Sessions of the member in this organization. */
  async listSessions(actor: Actor, id: string, page: Page): Promise<ListResult<SessionInfo>> {
    const member = await store.loadMember(this.sql, actor.orgId, id);
    if (member?.status !== 'active') throw new NotFound('member');
    return this.sessions.listOfMember(actor, id, page);
  }

  /** `sessionId` null ends all of them, and approvals of devices. Sessions in other organizations stay. */
  async endSessions(actor: Actor, id: string, sessionId: string | null): Promise<void> {
    await this.sql.begin(async (tx) => {
      const member = await lockManageableMember(tx, actor, id, []);
      if (member.status !== 'active') throw new NotFound('member');
      await recordAudit(tx, actor, 'member.end_sessions', auditTarget(member), { session: [sessionId ?? 'all', null] });
      if (sessionId === null) await store.denyDevices(tx, actor.orgId, id);
      const ended = await deleteMemberSessions(tx, actor.orgId, id, sessionId);
      if (sessionId !== null && ended === 0) throw new NotFound('session');
    });
  }

  /** Ends the member's access at once ({@link endMembership}). `revokeCreated`: also of what the member created. */
  async remove(actor: Actor, id: string, revokeCreated = false): Promise<void> {
    await this.sql.begin(async (tx) => {
      const before = await lockManageableMember(tx, actor, id, []);
      await assertNotLastOwner(tx, actor.orgId, before);
      await recordAudit(tx, actor, 'member.remove', auditTarget(before), removalChanges(before));
      const keys = revokeCreated && before.status === 'active' ? await revokeCreatedItems(tx, actor, id) : [];
      await endMembership(tx, actor.orgId, before, keys);
    });
  }

  /** Every role may leave, except the last owner. */
  async leave(actor: Actor): Promise<void> {
    await this.sql.begin(async (tx) => {
      await lockOrganizationMembers(tx, actor.orgId);
      const self = await store.loadMember(tx, actor.orgId, actor.userId);
      if (self === null) throw new NotFound('member'); // removed since the request was authenticated
      await assertNotLastOwner(tx, actor.orgId, self);
      if (self.role === 'owner') await assertConfirmed(tx, actor);
      await recordAudit(tx, { ...actor, role: self.role }, 'member.leave', auditTarget(self), removalChanges(self));
      await endMembership(tx, actor.orgId, self);
    });
  }
}

/**
 * Locks the organization for changes of its members and returns its name. Throws {@link NotFound} when it was deleted
 * since the request was authenticated.
 */
async function lockOrganizationMembers(tx: Tx, orgId: string): Promise<string> {
  const name = await store.lockOrganizationMembers(tx, orgId);
  if (name === null) throw new NotFound('organization');
  return name;
}

/**
 * Loads the member under the lock. Throws when there is no such member, or the actor may not manage it or assign one of
 * the roles.
 */
async function lockManageableMember(
  tx: Tx,
  actor: Actor,
  id: string,
  roles: readonly Role[],
): Promise<store.MemberRow> {
  await lockOrganizationMembers(tx, actor.orgId);
  const member = await store.loadMember(tx, actor.orgId, id);
  if (member === null) throw new NotFound('member');
  await assertMayManageRoles(tx, actor, [member.role, ...roles]);
  return member;
}

async function lockOrganizationAsManager(tx: Tx, actor: Actor, roles: readonly Role[]): Promise<string> {
  const orgName = await lockOrganizationMembers(tx, actor.orgId);
  await assertMayManageRoles(tx, actor, roles);
  return orgName;
}

async function assertMayManageRoles(tx: Tx, actor: Actor, roles: readonly Role[]): Promise<void> {
  const currentRole = await store.loadRole(tx, actor.orgId, actor.userId);
  const roleMax = actor.session?.roleMax ?? null;
  const effectiveRole = currentRole === null || roleMax === null ? currentRole : lowerRole(currentRole, roleMax);
  if (effectiveRole === null || !isRoleAtLeast(effectiveRole, 'admin'))
    throw new Forbidden('this requires the role admin or higher');
  if (!roles.every((role) => mayAssignRole(effectiveRole, role))) {
    throw new Forbidden('only an owner can add, change or remove an owner');
  }
  if (roles.includes('owner')) await assertConfirmed(tx, actor);
}

/** Whether a member with `actorRole` may assign `role` to another member. */
export const mayAssignRole = (actorRole: Role, role: Role): boolean =>
  isRoleAtLeast(actorRole, 'admin') && isRoleAtLeast(actorRole, role);

/** Returns the ids of ended keys, trust rules and runs, for invalidations of the kind `key`. */
async function revokeCreatedItems(tx: Tx, actor: Actor, userId: string): Promise<readonly string[]> {
  const { orgId } = actor;
  const runs = await endCreatedRuns(tx, actor, await createdItems.listRunningRuns(tx, orgId, userId));
  const { keys, webhooks, scimTokens, trustRules } = await createdItems.revokeCreatedItems(tx, orgId, userId);
  for (const { id, name } of keys)
    await recordAudit(tx, actor, 'api_key.revoke', { type: 'api_key', id }, { name: [name, null] });
  for (const { id, name } of webhooks)
    await recordAudit(tx, actor, 'webhook.delete', { type: 'webhook', id }, { url: [name, null] });
  for (const { id, name } of scimTokens)
    await recordAudit(tx, actor, 'scim_token.delete', { type: 'scim_token', id }, { name: [name, null] });
  for (const { id, name } of trustRules)
    await recordAudit(tx, actor, 'trust_rule.delete', { type: 'trust_rule', id }, { name: [name, null] });
  return [...keys, ...trustRules].map(({ id }) => id).concat(runs);
}

/** Each with its sub-runs. Returns the ids of those that had not ended meanwhile. */
async function endCreatedRuns(tx: Tx, actor: Actor, ids: readonly string[]): Promise<readonly string[]> {
  const ended: string[] = [];
  for (const id of ids) {
    const run = await loadRun(tx, actor.orgId, id);
    const count = run === null ? 0 : (await endRunTrees(tx, actor.orgId, [id])).ended.length;
    if (run === null || count === 0) continue;
    const changes = { label: [run.label, null], subRuns: [count - 1, 0] } as const;
    await recordAudit(tx, actor, 'run.end', { type: 'run', id }, changes);
    ended.push(id);
  }
  return ended;
}

const auditTarget = (member: store.MemberRow) => ({
  type: member.status === 'active' ? 'user' : 'invitation',
  id: member.id,
});

const removalChanges = (member: store.MemberRow): AuditChanges => ({
  email: [member.email, null],
  role: [member.role, null],
});

const present = (row: store.MemberRow & { readonly lastSeenAt?: Date | null }): Member => {
  const { id, email, name, role, status, createdAt, emailVerified, lastSeenAt } = row;
  return {
    userId: id,
    email,
    name,
    role,
    status,
    createdAt: createdAt.toISOString(),
    emailVerified,
    lastSeenAt: lastSeenAt?.toISOString() ?? null,
  };
};
