/**
 * Sends entries of the audit trail to webhook endpoints (docs/webhooks.md#audit-entries): one event for each entry, in the
 * statement that inserts the entry, and only where an endpoint of the organization subscribes. So an event exists exactly
 * when its entry is committed, and an organization without such an endpoint stores nothing twice.
 */
import type { Tx } from '../db/postgres-client.js';
import { WEBHOOK_CHANNEL } from '../events/append-events.js';

/** Bytes of `changes` in an event; receivers get null instead of more. */
const CHANGES_BYTES_MAX = 16_384;

/** The columns that `insert into audit_entries … returning` must name for {@link appendAuditEvents}. */
export const auditEventColumns = (tx: Tx) => tx`
  id, org_id, at, action, actor_user_id, actor_email, actor_token_id, actor_token_name, target_type, target_id, ip, changes`;

/** A CTE that reads the inserted rows from the CTE `entries`; `woken` must be selected, so that workers wake at commit. */
export const appendAuditEvents = (tx: Tx) => tx`
  appended as (
    insert into events (id, org_id, event, data)
    select e.id, e.org_id, 'audit.entry',
           json_build_object('id', e.id, 'orgId', e.org_id, 'at', e.at, 'action', e.action,
             'actorUserId', e.actor_user_id, 'actorEmail', e.actor_email, 'actorTokenId', e.actor_token_id,
             'actorTokenName', e.actor_token_name, 'targetType', e.target_type, 'targetId', e.target_id, 'ip', e.ip,
             'changes', case when octet_length(e.changes::text) <= ${CHANGES_BYTES_MAX} then e.changes end)
      from entries e
     where exists (select 1 from webhook_endpoints w
                    where w.org_id = e.org_id and w.status = 'active' and 'audit.entry' = any(w.events))
    returning 1),
  woken as (select pg_notify(${WEBHOOK_CHANNEL}, '') from appended limit 1)`;
