/**
 * The audit trail (docs/contract.md#management-api), written in the transaction of the change. Recording an entry for
 * the actor of a request also checks that actor a last time. The change commits only while the session or management
 * token, the membership and the role are still valid.
 */
import type { AuditAction } from '@acg/base/audit-actions';
import { uuidv7 } from '@acg/base/uuidv7';
import type { JSONValue, Tx } from '../db/postgres-client.js';
import { Forbidden, Unauthenticated } from '../domain/errors.js';
import { type Actor, type ActorToken, rolesAtOrAbove } from '../http/route-access.js';
import { appendAuditEvents, auditEventColumns } from './append-audit-events.js';

/** Field → [before, after]. Secrets are never passed; a changed one is `["[secret]", "[secret]"]`. */
export type AuditChanges = Readonly<Record<string, readonly [before: JSONValue, after: JSONValue]>>;

interface AuditTarget {
  readonly type: string;
  readonly id: string;
}

/** The actor of a request, or a person who has proven their identity in this transaction and is not checked again. */
type AuditActor = Pick<Actor, 'email' | 'orgId' | 'ip'> &
  (
    | Pick<Actor, 'userId' | 'role' | 'session' | 'token'>
    /** `userId` null: the gateway knows no account of the person. */
    | { readonly userId: string | null; readonly session?: never; readonly token?: never }
    /** A directory with its SCIM token, which the caller has locked. */
    | { readonly userId: null; readonly session?: never; readonly token: Pick<ActorToken, 'id' | 'name'> }
  );

/**
 * Checks the actor's authority again: throws {@link Unauthenticated} or {@link Forbidden}, which rolls the change back,
 * when the actor has lost its session, token, membership or part of its role meanwhile. The rows that grant the authority
 * stay locked until the commit. So a revocation commits either before this check, which then fails, or after the whole
 * change. A change that removes the actor's own rights must record its entry first.
 */
export async function recordAudit(
  tx: Tx,
  actor: AuditActor,
  action: AuditAction,
  target: AuditTarget,
  changes: AuditChanges,
): Promise<void> {
  const { token = null } = actor;
  const [userId, email] = token === null ? [actor.userId, actor.email] : [null, ''];
  const [inserted] = await tx<{ entries: number }[]>`
    with authority as (${actor.session === undefined ? tx`select 1` : lockActorAuthority(tx, actor, rolesAtOrAbove(actor.role))}),
    entries as (insert into audit_entries (id, org_id, actor_user_id, actor_email, actor_token_id, actor_token_name, action,
                               target_type, target_id, ip, changes)
    select ${uuidv7(Date.now())}::uuid, ${actor.orgId}::uuid, ${userId}::uuid, ${email}, ${token?.id ?? null}::uuid,
           ${token?.name ?? null}, ${action}, ${target.type}, ${target.id}, ${actor.ip}, ${tx.json(changes as JSONValue)}::jsonb
      from authority
    returning ${auditEventColumns(tx)}),
    ${appendAuditEvents(tx)}
    select count(*) as entries, (select count(*) from woken) as woken from entries`;
  if (inserted!.entries === 0) await rejectRevokedActor(tx, actor as Actor);
}

/** Selects one row while the actor has one of the roles, and locks it against revocation. */
const lockActorAuthority = (
  tx: Tx,
  { userId, orgId, session, token }: Pick<Actor, 'userId' | 'orgId' | 'session' | 'token'>,
  roles: readonly string[],
) => {
  const member = tx`m.org_id = ${orgId} and m.user_id = ${userId} and m.role = any(${[...roles]})`;
  if (token !== null) {
    return tx`
      select 1 from memberships m join management_tokens t on t.org_id = m.org_id and t.created_by = m.user_id
       where ${member} and t.id = ${token.id} and (t.expires_at is null or t.expires_at > now())
         for share of m for key share of t`;
  }
  // A token issued before sessions were stored has no session row to lock.
  if (session === null) return tx`select 1 from memberships m where ${member} for share of m`;
  // Locks the session first, like auth/recovery/reclaim-account.ts, which revokes sessions before memberships: the
  // opposite order could deadlock.
  return tx`
    select 1 from memberships m join sessions s on s.user_id = m.user_id
     where ${member} and s.id = ${session.id} for key share of s for share of m`;
};

async function rejectRevokedActor(tx: Tx, actor: Actor): Promise<never> {
  const rows = await tx`${lockActorAuthority(tx, actor, rolesAtOrAbove('viewer'))}`;
  if (rows.length > 0) throw new Forbidden('your role in this organization was lowered while this call was running');
  throw new Unauthenticated('this session, token or membership ended while this call was running: log in again');
}

/** A change of a user's own account concerns all organizations of the user: records one entry in the trail of each. */
export async function recordUserAudit(
  tx: Tx,
  user: { readonly id: string; readonly email: string },
  ip: string,
  action: AuditAction,
  changes: AuditChanges,
): Promise<void> {
  await tx`
    with entries as (
      insert into audit_entries (id, org_id, actor_user_id, actor_email, action, target_type, target_id, ip, changes)
      select gen_random_uuid(), org_id, ${user.id}, ${user.email}, ${action}, 'user', ${user.id}, ${ip},
             ${tx.json(changes as JSONValue)}
        from memberships where user_id = ${user.id}
      returning ${auditEventColumns(tx)}),
    ${appendAuditEvents(tx)}
    select count(*) from woken`;
}
