/**
 * Deletes an organization in two steps. At once, its gateway tokens, management tokens and invitations are revoked, its
 * calls end, its members lose access and all owners get a mail. After seven days, in which an owner can restore it,
 * everything in it is deleted. The record in `organization_deletions` remains.
 */
import type { Logger } from '@acg/base/log';
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit } from '../audit/audit-trail.js';
import { assertConfirmed } from '../auth/second-factor/confirmation.js';
import type { AuthService } from '../auth/service.js';
import { lockActiveSession } from '../auth/sessions/session-service.js';
import type { Sql } from '../db/postgres-client.js';
import { Conflict, Forbidden, NotFound } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { Actor } from '../http/route-access.js';
import { createDeletionMail, createRestorationMail } from '../mail/mail-texts.js';
import type { Mailer } from '../mail/mailer.js';
import { publishInvalidations } from '../watch/publish-invalidations.js';
import * as deletions from './deletion-store.js';
import type { OrganizationDeletion } from './schema.js';
import { ORGANIZATIONS_PER_USER_MAX } from './service.js';
import * as store from './store.js';

const DELETION_GRACE_S = 7 * 86_400;
/** Pending deletions per founder: limits what one user can create and delete in seven days. */
const PENDING_DELETIONS_PER_FOUNDER_MAX = 20;
const PURGES_PER_RUN = 20;

export class OrganizationDeletionService {
  constructor(
    readonly sql: Sql,
    readonly auth: AuthService,
    readonly mailer: Mailer,
    readonly publicUrl: string,
    readonly log: Logger,
  ) {}

  /** Starts the deletion. Rejected for the user's only organization, because the user could then no longer log in. */
  async requestDeletion(actor: Actor, orgId: string, password: string): Promise<void> {
    if (orgId !== actor.orgId) throw new NotFound('organization');
    await this.auth.confirmPassword(actor, password);
    const result = await this.sql.begin(async (tx) => {
      await lockActiveSession(tx, actor); // before the organization is locked, as in reclaimAccount: the opposite order could deadlock
      const org = await store.lockOrganization(tx, orgId);
      if (org === null) throw new NotFound('organization');
      if (org.purgeAt !== null) throw new Conflict('this organization is already being deleted');
      const owners = await deletions.listOwners(tx, orgId);
      const requestedBy = owners.find(({ id }) => id === actor.userId);
      if (requestedBy === undefined) throw new Forbidden('only an owner can delete an organization');
      await assertConfirmed(tx, actor);
      if (await store.isOnlyOrganization(tx, actor.userId)) {
        throw new Conflict('this is your only organization: join or create another one first');
      }
      if ((await store.countFoundedOrganizations(tx, orgId)).pending >= PENDING_DELETIONS_PER_FOUNDER_MAX) {
        throw new Conflict(
          `${PENDING_DELETIONS_PER_FOUNDER_MAX} organizations of the same founder are already being deleted: wait until one is gone`,
        );
      }
      const revoked = await deletions.revokeAccess(tx, orgId);
      const ownerIds = owners.map(({ id }) => id);
      const record = { id: uuidv7(Date.now()), orgId, requestedBy, ip: actor.ip, ownerIds, graceS: DELETION_GRACE_S };
      const purgeAt = await deletions.insertDeletion(tx, record);
      const changes = { purgeAt: [null, purgeAt.toISOString()], revokedKeys: [0, revoked] } as const;
      await recordAudit(tx, actor, 'organization.delete', { type: 'organization', id: orgId }, changes);
      await publishInvalidations(tx, [{ kind: 'org', id: orgId, endsSessions: true }]);
      return { org, owners, requestedBy, purgeAt };
    });
    const { org, owners, requestedBy, purgeAt } = result;
    this.log.info({ orgId, userId: actor.userId, purgeAt }, 'organization will be deleted');
    const text = { name: org.name, by: requestedBy.email, ip: actor.ip, purgeAt };
    for (const { email } of owners) this.mailer.enqueue(createDeletionMail(this.publicUrl, email, text));
  }

  /** Called by an owner, from a session in any organization. Revoked tokens stay revoked. */
  async restore(actor: Actor, orgId: string): Promise<void> {
    const { org, owners, by } = await this.sql.begin(async (tx) => {
      await lockActiveSession(tx, actor); // before the organization is locked, as in reclaimAccount: the opposite order could deadlock
      const foundOrg = await store.lockOrganization(tx, orgId);
      const role = await store.lockRole(tx, orgId, actor.userId);
      if (foundOrg === null || role === null) throw new NotFound('organization');
      if (role !== 'owner')
        throw new Forbidden(`only an owner can restore an organization; your role in it is ${role}`);
      if (foundOrg.purgeAt === null) throw new Conflict('this organization is not being deleted');
      if ((await store.countFoundedOrganizations(tx, orgId)).live >= ORGANIZATIONS_PER_USER_MAX) {
        throw new Conflict(
          `the founder has ${ORGANIZATIONS_PER_USER_MAX} other organizations: delete one of them first`,
        );
      }
      const currentOwners = await deletions.listOwners(tx, orgId);
      const restorer = currentOwners.find(({ id }) => id === actor.userId)!;
      await deletions.markRestored(tx, orgId, restorer);
      const changes = { purgeAt: [foundOrg.purgeAt.toISOString(), null] } as const;
      await recordAudit(tx, { ...actor, orgId }, 'organization.restore', { type: 'organization', id: orgId }, changes);
      await publishInvalidations(tx, [{ kind: 'org', id: orgId }]);
      return { org: foundOrg, owners: currentOwners, by: restorer.email };
    });
    this.log.info({ orgId, userId: actor.userId }, 'organization restored');
    const text = { name: org.name, by, ip: actor.ip };
    for (const { email } of owners) this.mailer.enqueue(createRestorationMail(this.publicUrl, email, text));
  }

  /** Lists the deletions of organizations that the user owned, including completed ones. */
  async list(actor: Actor, page: Page): Promise<ListResult<OrganizationDeletion>> {
    const { rows, total } = await deletions.listDeletions(this.sql, actor.userId, page);
    return { rows: rows.map(present), total };
  }
}

/**
 * Purges organizations that are due, each in its own transaction, so that a failure does not delay the others. Throws
 * the first failure at the end.
 */
export async function purgeDueOrganizations(sql: Sql, log: Logger): Promise<void> {
  const failures: unknown[] = [];
  for (const orgId of await deletions.listDuePurges(sql, PURGES_PER_RUN)) {
    try {
      const purged = await sql.begin(async (tx) => {
        const isPurged = await deletions.purgeOrganization(tx, orgId);
        if (isPurged) await publishInvalidations(tx, [{ kind: 'org', id: orgId, endsSessions: true }]);
        return isPurged;
      });
      if (purged) log.info({ orgId }, 'organization deleted');
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

const deletionStatus = ({ restoredAt, purgedAt }: deletions.DeletionRow): OrganizationDeletion['status'] => {
  if (restoredAt !== null) return 'restored';
  return purgedAt === null ? 'pending' : 'deleted';
};

const present = (row: deletions.DeletionRow): OrganizationDeletion => ({
  id: row.id,
  orgId: row.orgId,
  name: row.name,
  slug: row.slug,
  status: deletionStatus(row),
  requestedBy: { userId: row.requestedBy, email: row.requestedByEmail },
  ip: row.ip,
  requestedAt: row.requestedAt.toISOString(),
  purgeAt: row.purgeAt.toISOString(),
  restoredAt: row.restoredAt?.toISOString() ?? null,
  restoredByEmail: row.restoredByEmail,
  deletedAt: row.purgedAt?.toISOString() ?? null,
});
