/**
 * People of an organization's directory. `active: false` and a deletion end the membership, `active: true` restores it
 * with its role, at most admin. Nothing here changes an account: a person without a membership joins by the own login
 * (single sign-on or an invitation).
 */
import { uuidv7 } from '@acg/base/uuidv7';
import { insertMembership } from '../auth/users/user-and-membership-store.js';
import { isUniqueViolation, type Sql, type Tx } from '../db/postgres-client.js';
import { Conflict, NotFound } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { assertNotLastOwner, endMembership } from '../members/end-membership.js';
import { deleteInvitationsTo, loadMember } from '../members/store.js';
import { changeAsDirectory, type DirectoryActor, recordDirectoryAudit } from './directory-actor.js';
import { notUnique } from './protocol/errors.js';
import { parseFilter } from './protocol/filter.js';
import { readUser, readUserChanges, type UserAttributes } from './protocol/user-attributes.js';
import * as store from './user-store.js';

const USERS_PER_ORG_MAX = 50_000;

export class ScimUserService {
  constructor(readonly sql: Sql) {}

  async list({ orgId }: DirectoryActor, filter: string | null, page: Page): Promise<ListResult<store.ScimUserRow>> {
    const conditions = filter === null ? [] : parseFilter(filter, store.USER_FILTERS);
    return store.listUsers(this.sql, orgId, conditions, page);
  }

  async get({ orgId }: DirectoryActor, id: string): Promise<store.ScimUserRow> {
    return requireUser(await store.loadUser(this.sql, orgId, id));
  }

  async create(actor: DirectoryActor, body: unknown): Promise<store.ScimUserRow> {
    const user = readUser(body);
    const id = uuidv7(Date.now());
    return changeAsDirectory(this.sql, actor, async (tx) => {
      const row = await rejectTakenName(tx, user, (inner) =>
        store.insertUser(inner, actor.orgId, id, user, USERS_PER_ORG_MAX),
      );
      if (row === null)
        throw new Conflict(`the organization already has ${USERS_PER_ORG_MAX} directory users: delete one first`);
      await recordDirectoryAudit(tx, actor, 'scim_user.create', 'scim_user', id, {
        userName: [null, user.userName],
        active: [null, user.active],
      });
      await this.#applyActive(tx, actor, row);
      return row;
    });
  }

  replace(actor: DirectoryActor, id: string, body: unknown): Promise<store.ScimUserRow> {
    const user = readUser(body);
    return this.#update(actor, id, () => user);
  }

  patch(actor: DirectoryActor, id: string, body: unknown): Promise<store.ScimUserRow> {
    const changes = readUserChanges(body);
    return this.#update(actor, id, (before) => ({ ...before, ...changes }));
  }

  async delete(actor: DirectoryActor, id: string): Promise<void> {
    await changeAsDirectory(this.sql, actor, async (tx) => {
      const row = requireUser(await store.loadUser(tx, actor.orgId, id));
      await recordDirectoryAudit(tx, actor, 'scim_user.delete', 'scim_user', id, { userName: [row.userName, null] });
      const member = await findMember(tx, actor, row);
      await store.deleteUser(tx, id);
      await this.#end(tx, actor, row, member);
    });
  }

  async #update(
    actor: DirectoryActor,
    id: string,
    change: (before: UserAttributes) => UserAttributes,
  ): Promise<store.ScimUserRow> {
    return changeAsDirectory(this.sql, actor, async (tx) => {
      const before = requireUser(await store.loadUser(tx, actor.orgId, id));
      const user = change(before);
      const row = await rejectTakenName(tx, user, (inner) => store.updateUser(inner, id, user));
      const changes = auditChanges(before, row);
      if (Object.keys(changes).length > 0)
        await recordDirectoryAudit(tx, actor, 'scim_user.update', 'scim_user', id, changes);
      await this.#applyActive(tx, actor, row);
      return row;
    });
  }

  /** Ends or restores the membership. */
  async #applyActive(tx: Tx, actor: DirectoryActor, row: store.ScimUserRow): Promise<void> {
    const member = await findMember(tx, actor, row);
    if (!row.active) {
      if (member !== null && member.role !== 'owner') await store.setRestoredRole(tx, row.id, member.role);
      else if (member !== null) await store.setRestoredRole(tx, row.id, 'admin');
      await this.#end(tx, actor, row, member);
      return;
    }
    const { userId, restoredRole } = row;
    if (restoredRole === null) return;
    await store.setRestoredRole(tx, row.id, null);
    if (member !== null || userId === null) return;
    await insertMembership(tx, actor.orgId, userId, restoredRole);
    await recordDirectoryAudit(tx, actor, 'member.join', 'user', userId, { role: [null, restoredRole] });
  }

  /** `member` null: the person has not joined; an open invitation ends in any case. */
  async #end(tx: Tx, actor: DirectoryActor, row: store.ScimUserRow, member: Member | null): Promise<void> {
    await deleteInvitationsTo(tx, actor.orgId, (row.email ?? row.userName).toLowerCase());
    if (member === null) return;
    await assertNotLastOwner(tx, actor.orgId, member);
    const { email, role } = member;
    await recordDirectoryAudit(tx, actor, 'member.remove', 'user', member.id, {
      email: [email, null],
      role: [role, null],
    });
    await endMembership(tx, actor.orgId, member);
  }
}

type Member = NonNullable<Awaited<ReturnType<typeof loadMember>>>;

/** The member of that user of the directory; null: none yet. */
async function findMember(tx: Tx, { orgId }: DirectoryActor, row: store.ScimUserRow): Promise<Member | null> {
  const userId = row.userId ?? (await store.bindToMember(tx, orgId, row.id));
  return userId === null ? null : loadMember(tx, orgId, userId);
}

function requireUser(row: store.ScimUserRow | null): store.ScimUserRow {
  if (row === null) throw new NotFound('user');
  return row;
}

async function rejectTakenName<Row extends store.ScimUserRow | null>(
  tx: Tx,
  { userName }: UserAttributes,
  write: (tx: Tx) => Promise<Row>,
): Promise<Row> {
  try {
    return (await tx.savepoint((inner) => write(inner as unknown as Tx))) as Row;
  } catch (error) {
    if (isUniqueViolation(error, 'scim_users_name')) throw notUnique(`userName ${userName} is taken by another user`);
    throw error;
  }
}

const AUDITED = ['userName', 'externalId', 'email', 'displayName', 'active'] as const;

const auditChanges = (before: UserAttributes, after: UserAttributes) =>
  Object.fromEntries(
    AUDITED.filter((field) => before[field] !== after[field]).map((field) => [
      field,
      [before[field], after[field]] as const,
    ]),
  );
