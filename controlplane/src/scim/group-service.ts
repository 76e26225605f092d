/** Groups of an organization's directory. */
import { uuidv7 } from '@acg/base/uuidv7';
import { isUniqueViolation, type Sql, type Tx } from '../db/postgres-client.js';
import { Conflict, NotFound } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { changeAsDirectory, type DirectoryActor, recordDirectoryAudit } from './directory-actor.js';
import * as store from './group-store.js';
import { invalidValue, notUnique } from './protocol/errors.js';
import { parseFilter } from './protocol/filter.js';
import { type GroupChange, readGroup, readGroupChanges } from './protocol/group-attributes.js';

const GROUPS_PER_ORG_MAX = 5_000;
const UNKNOWN_IDS_SHOWN = 3;

interface GroupWithMembers extends store.ScimGroupRow {
  /** Null: not asked for. */
  readonly members: readonly store.ScimGroupMember[] | null;
}

export class ScimGroupService {
  constructor(readonly sql: Sql) {}

  /** Without members: a page of large groups has no bound. */
  async list({ orgId }: DirectoryActor, filter: string | null, page: Page): Promise<ListResult<store.ScimGroupRow>> {
    const conditions = filter === null ? [] : parseFilter(filter, store.GROUP_FILTERS);
    return store.listGroups(this.sql, orgId, conditions, page);
  }

  async get({ orgId }: DirectoryActor, id: string, withMembers: boolean): Promise<GroupWithMembers> {
    return loadWithMembers(this.sql, orgId, id, withMembers);
  }

  async create(actor: DirectoryActor, body: unknown): Promise<GroupWithMembers> {
    const { displayName, externalId, members } = readGroup(body);
    const id = uuidv7(Date.now());
    const { orgId } = actor;
    return changeAsDirectory(this.sql, actor, async (tx) => {
      const row = await rejectTakenName(tx, displayName, (inner) =>
        store.insertGroup(inner, orgId, { id, displayName, externalId }, GROUPS_PER_ORG_MAX),
      );
      if (row === null)
        throw new Conflict(`the organization already has ${GROUPS_PER_ORG_MAX} groups: delete one first`);
      await addMembers(tx, orgId, id, members);
      await recordDirectoryAudit(tx, actor, 'scim_group.create', 'scim_group', id, {
        displayName: [null, displayName],
        members: [null, members.length],
      });
      return loadWithMembers(tx, orgId, id, true);
    });
  }

  replace(actor: DirectoryActor, id: string, body: unknown): Promise<GroupWithMembers> {
    const { displayName, externalId, members } = readGroup(body);
    return this.#change(actor, id, [
      { kind: 'displayName', value: displayName },
      { kind: 'externalId', value: externalId },
      { kind: 'replace', members },
    ]);
  }

  patch(actor: DirectoryActor, id: string, body: unknown): Promise<GroupWithMembers> {
    return this.#change(actor, id, readGroupChanges(body));
  }

  async delete(actor: DirectoryActor, id: string): Promise<void> {
    await changeAsDirectory(this.sql, actor, async (tx) => {
      const { displayName } = await loadWithMembers(tx, actor.orgId, id, false);
      await store.deleteGroup(tx, id);
      const changes = { displayName: [displayName, null] } as const;
      await recordDirectoryAudit(tx, actor, 'scim_group.delete', 'scim_group', id, changes);
    });
  }

  async #change(actor: DirectoryActor, id: string, changes: readonly GroupChange[]): Promise<GroupWithMembers> {
    const { orgId } = actor;
    return changeAsDirectory(this.sql, actor, async (tx) => {
      const before = await loadWithMembers(tx, orgId, id, false);
      const membersBefore = await store.listMemberIds(tx, id);
      for (const change of changes) await applyMembers(tx, orgId, id, change);
      const text = changes.findLast(({ kind }) => kind === 'displayName');
      const displayName = text?.kind === 'displayName' ? text.value : before.displayName;
      const external = changes.findLast(({ kind }) => kind === 'externalId');
      const externalId = external?.kind === 'externalId' ? external.value : before.externalId;
      await rejectTakenName(tx, displayName, (inner) => store.updateGroup(inner, id, { displayName, externalId }));
      const membersAfter = await store.listMemberIds(tx, id);
      const entry = {
        ...(displayName === before.displayName ? {} : { displayName: [before.displayName, displayName] as const }),
        ...(isSameSet(membersBefore, membersAfter)
          ? {}
          : { members: [membersBefore.length, membersAfter.length] as const }),
      };
      if (Object.keys(entry).length > 0)
        await recordDirectoryAudit(tx, actor, 'scim_group.update', 'scim_group', id, entry);
      return loadWithMembers(tx, orgId, id, true);
    });
  }
}

async function applyMembers(tx: Tx, orgId: string, id: string, change: GroupChange): Promise<void> {
  if (change.kind === 'remove') await store.removeMembers(tx, id, change.members);
  if (change.kind === 'replace') await store.removeMembers(tx, id, null);
  if (change.kind === 'replace' || change.kind === 'add') await addMembers(tx, orgId, id, change.members);
}

async function addMembers(tx: Tx, orgId: string, id: string, members: readonly string[]): Promise<void> {
  const unknown = await store.addMembers(tx, orgId, id, members);
  if (unknown.length > 0)
    throw invalidValue(`members has no such user: ${unknown.slice(0, UNKNOWN_IDS_SHOWN).join(', ')}`);
}

async function loadWithMembers(
  sql: Sql | Tx,
  orgId: string,
  id: string,
  withMembers: boolean,
): Promise<GroupWithMembers> {
  const row = await store.loadGroup(sql, orgId, id);
  if (row === null) throw new NotFound('group');
  return { ...row, members: withMembers ? await store.listGroupMembers(sql, id) : null };
}

async function rejectTakenName<T>(tx: Tx, displayName: string, write: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return (await tx.savepoint((inner) => write(inner as unknown as Tx))) as T;
  } catch (error) {
    if (isUniqueViolation(error, 'scim_groups_name'))
      throw notUnique(`displayName ${displayName} is taken by another group`);
    throw error;
  }
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  const known = new Set(a);
  return a.length === b.length && b.every((id) => known.has(id));
}
