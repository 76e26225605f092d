/**
 * Members and invitations. Who may do what: an admin manages viewers, members and admins; only an owner
 * makes, changes or removes an owner; everybody may leave; nobody removes or demotes the last owner. The actor's own
 * role is read again under the lock, because it may have changed since the request was authenticated.
 */
import { createHash } from 'node:crypto';
import type { AuditAction } from '@acg/base/audit-actions';
import { uuidv7 } from '@acg/base/uuidv7';
import { type AuditChanges, recordAudit } from '../audit/audit-trail.js';
import { createEmailToken } from '../auth/users/email-token.js';
import type { Sql, Tx } from '../db/sql.js';
import { Conflict, Forbidden, NotFound } from '../domain/errors.js';
import type { ListResult, Page } from '../http/pagination.js';
import { type Actor, isRoleAtLeast, lowerRole, type Role } from '../http/route-access.js';
import { normaliseEmail } from '../http/schema.js';
import { buildInvitationLink, createInvitationMail } from '../mail/mail-texts.js';
import type { Mailer } from '../mail/mailer.js';
import type { Throttle } from '../throttling/throttle.js';
import type { Member, MemberQuery } from './schema.js';
import * as store from './store.js';

const INVITATION_LIFETIME_S = 7 * 86_400;
/** Of one organization. */
const INVITATIONS_PER_ORG_MAX = 20;
const INVITATIONS_WINDOW_S = 3_600;
/** To one recipient, who did not ask for any: of one organization or inviter, and of all of them together. */
const INVITATIONS_PER_RECIPIENT_MAX = 3;
const INVITATIONS_PER_RECIPIENT_TOTAL_MAX = 12;
const RECIPIENT_WINDOW_S = 86_400;

interface SentInvitation {
  readonly member: Member;
  /** While mails stay on this machine: the link, for the inviter to pass on. */
  readonly invitationUrl: string | null;
}

export class MemberService {
  constructor(
    readonly sql: Sql,
    readonly throttle: Throttle,
    readonly mailer: Mailer,
    readonly publicUrl: string,
    /** Mails stay on this machine. */
    readonly usesOutbox: boolean,
  ) {}

  async list(actor: Actor, query: MemberQuery, page: Page): Promise<ListResult<Member>> {
    const { rows, total } = await store.listMembers(this.sql, actor.orgId, query, page);
    return { rows: rows.map(present), total };
  }

  /** Mails an invitation; one that is still open is replaced. */
  async invite(actor: Actor, rawEmail: string, role: Role): Promise<SentInvitation> {
    const email = normaliseEmail(rawEmail);
    await this.#throttleInvitation(actor, email);
    return this.#sendInvitation(actor, email, async (tx) => {
      const known = await store.loadMemberByEmail(tx, actor.orgId, email);
      if (known?.status === 'active') throw new Conflict(`${email} is a member already`);
      await assertMayManageRoles(tx, actor, known === null ? [role] : [known.role, role]);
      return { role, action: 'member.invite' };
    });
  }

  /** The same invitation with a new link, by whoever asks for it; the old link is dead. */
  async resend(actor: Actor, id: string): Promise<SentInvitation> {
    const open = await store.loadMember(this.sql, actor.orgId, id);
    if (open === null || open.status === 'active') throw new NotFound('invitation');
    await this.#throttleInvitation(actor, open.email);
    return this.#sendInvitation(actor, open.email, async (tx) => {
      const member = await store.loadMember(tx, actor.orgId, id);
      if (member === null) throw new NotFound('invitation'); // accepted or revoked meanwhile
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
      const sent = { linkShown: this.usesOutbox, lifetimeS: INVITATION_LIFETIME_S };
      await store.replaceInvitation(tx, { id, orgId, email, role, tokenHash: hash, invitedBy: actor.userId, ...sent });
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
    const what = 'invitations to this address';
    // Their own first: what they are refused takes nothing from others.
    for (const by of [actor.orgId, actor.userId]) {
      await this.throttle.consume(
        `invited-by:${by}:${recipient}`,
        INVITATIONS_PER_RECIPIENT_MAX,
        RECIPIENT_WINDOW_S,
        what,
      );
    }
    await this.throttle.consume(`invited:${recipient}`, INVITATIONS_PER_RECIPIENT_TOTAL_MAX, RECIPIENT_WINDOW_S, what);
  }

  /** Where mails really leave, only whoever has shown to be somebody may have them sent to strangers. */
  async #assertMaySendMail(actor: Actor): Promise<void> {
    if (this.usesOutbox || (await store.isEmailVerified(this.sql, actor.userId))) return;
    throw new Forbidden(
      'confirm your own e-mail address before you invite others: the link is in the mail of your signup',
    );
  }

  async changeRole(actor: Actor, id: string, role: Role): Promise<Member> {
    return this.sql.begin(async (tx) => {
      const before = await lockManageableMember(tx, actor, id, [role]);
      if (role !== 'owner') await assertNotLastOwner(tx, actor.orgId, before);
      await recordAudit(tx, actor, 'member.update', auditTarget(before), { role: [before.role, role] });
      await store.setRole(tx, actor.orgId, before, role, actor.userId);
      if (before.status === 'active' && !isRoleAtLeast(role, before.role)) {
        await store.deleteInvitationsCreatedBy(tx, actor.orgId, before.id);
      }
      return present({ ...before, role });
    });
  }

  /** The member's sessions in this organization end at once: membership is read at each request. */
  async remove(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      const before = await lockManageableMember(tx, actor, id, []);
      await assertNotLastOwner(tx, actor.orgId, before);
      await recordAudit(tx, actor, 'member.remove', auditTarget(before), removalChanges(before));
      await store.removeMember(tx, actor.orgId, before);
    });
  }

  /** Whatever the role; only the last owner has to stay. */
  async leave(actor: Actor): Promise<void> {
    await this.sql.begin(async (tx) => {
      await lockOrganizationMembers(tx, actor.orgId);
      const own = await store.loadMember(tx, actor.orgId, actor.userId);
      if (own === null) throw new NotFound('member'); // removed since the request was authenticated
      await assertNotLastOwner(tx, actor.orgId, own);
      await recordAudit(tx, { ...actor, role: own.role }, 'member.leave', auditTarget(own), removalChanges(own));
      await store.removeMember(tx, actor.orgId, own);
    });
  }
}

/** Its name; throws when it was deleted since the request was authenticated. */
async function lockOrganizationMembers(tx: Tx, orgId: string): Promise<string> {
  const name = await store.lockOrganizationMembers(tx, orgId);
  if (name === null) throw new NotFound('organization');
  return name;
}

/** The member, locked; throws when there is none or the actor may not manage it or give one of the roles. */
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
  const held = await store.loadRole(tx, actor.orgId, actor.userId);
  const roleMax = actor.session?.roleMax ?? null;
  const own = held === null || roleMax === null ? held : lowerRole(held, roleMax);
  if (own === null || !isRoleAtLeast(own, 'admin')) throw new Forbidden('this needs the role admin or higher');
  if (!roles.every((role) => mayAssignRole(own, role))) {
    throw new Forbidden('only an owner can make, change or remove an owner');
  }
}

/** Whether a member of the first role may make somebody else a member of the second. */
export const mayAssignRole = (own: Role, role: Role): boolean =>
  isRoleAtLeast(own, 'admin') && isRoleAtLeast(own, role);

async function assertNotLastOwner(tx: Tx, orgId: string, member: store.MemberRow): Promise<void> {
  if (member.status !== 'active' || member.role !== 'owner') return;
  if ((await store.countOwners(tx, orgId)) === 1) {
    throw new Conflict('this is the last owner: make another member an owner first');
  }
}

const auditTarget = (member: store.MemberRow) => ({
  type: member.status === 'active' ? 'user' : 'invitation',
  id: member.id,
});

const removalChanges = (member: store.MemberRow): AuditChanges => ({
  email: [member.email, null],
  role: [member.role, null],
});

const present = ({ id, email, name, role, status, createdAt }: store.MemberRow): Member => ({
  userId: id,
  email,
  name,
  role,
  status,
  createdAt: createdAt.toISOString(),
});
