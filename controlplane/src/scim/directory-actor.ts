/** The directory that sends a request: its SCIM token, which is bound to one organization. */
import { recordAudit } from '../audit/audit-trail.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { Unauthenticated } from '../domain/errors.js';
import { lockOrganizationMembers } from '../members/store.js';
import { lockToken } from './token-store.js';

export interface DirectoryActor {
  readonly userId: null;
  readonly email: '';
  readonly orgId: string;
  readonly ip: string;
  readonly token: { readonly id: string; readonly name: string };
}

export const TOKEN_UNKNOWN_MESSAGE = 'this SCIM token is unknown or deleted: an owner creates a new one';

/**
 * Runs a change of the directory. It waits for other changes of the organization's members, and for a deletion of the
 * token: a token that is deleted is never followed by a change.
 */
export async function changeAsDirectory<T>(sql: Sql, actor: DirectoryActor, work: (tx: Tx) => Promise<T>): Promise<T> {
  const result = await sql.begin(async (tx) => {
    const isLive = (await lockOrganizationMembers(tx, actor.orgId)) !== null && (await lockToken(tx, actor.token.id));
    if (!isLive) throw new Unauthenticated(TOKEN_UNKNOWN_MESSAGE);
    return work(tx);
  });
  return result as T;
}

type Audited = Parameters<typeof recordAudit>;

export const recordDirectoryAudit = (
  tx: Tx,
  actor: DirectoryActor,
  action: Audited[2],
  type: string,
  id: string,
  changes: Audited[4],
): Promise<void> => recordAudit(tx, actor, action, { type, id }, changes);
