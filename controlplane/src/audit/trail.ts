/** The trail of who did what (docs/contract.md#management-api). Written in the transaction that does it. */
import type { AuditAction } from '@acg/base/audit-actions';
import { uuidv7 } from '@acg/base/uuidv7';
import type { JSONValue, Tx } from '../db/sql.js';
import type { Actor } from '../http/access.js';

/** Field → [before, after]. Secrets are never passed here; a changed one is `["[secret]", "[secret]"]`. */
export type Changes = Readonly<Record<string, readonly [before: JSONValue, after: JSONValue]>>;

interface AuditTarget {
  readonly type: string;
  readonly id: string;
}

/** Whoever acts, in the organization whose trail it is. */
type AuditActor = Pick<Actor, 'userId' | 'email' | 'orgId' | 'ip'> & { readonly token?: Actor['token'] };

export async function recordAudit(
  tx: Tx,
  actor: AuditActor,
  action: AuditAction,
  target: AuditTarget,
  changes: Changes,
): Promise<void> {
  const { token = null } = actor;
  const [userId, email] = token === null ? [actor.userId, actor.email] : [null, ''];
  await tx`
    insert into audit_entries (id, org_id, actor_user_id, actor_email, actor_token_id, actor_token_name, action,
                               target_type, target_id, ip, changes)
    values (${uuidv7(Date.now())}, ${actor.orgId}, ${userId}, ${email}, ${token?.id ?? null}, ${token?.name ?? null},
            ${action}, ${target.type}, ${target.id}, ${actor.ip}, ${tx.json(changes as JSONValue)})`;
}

/** What a user does to the own account concerns each of the user's organizations: one entry in the trail of each. */
export async function recordUserAudit(
  tx: Tx,
  user: { readonly id: string; readonly email: string },
  ip: string,
  action: AuditAction,
  changes: Changes,
): Promise<void> {
  await tx`
    insert into audit_entries (id, org_id, actor_user_id, actor_email, action, target_type, target_id, ip, changes)
    select gen_random_uuid(), org_id, ${user.id}, ${user.email}, ${action}, 'user', ${user.id}, ${ip},
           ${tx.json(changes as JSONValue)}
      from memberships where user_id = ${user.id}`;
}
