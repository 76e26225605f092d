/**
 * Publishes invalidations to every data plane, through any control-plane instance, so that it drops the changed
 * contexts.
 */
import type { Tx } from '../db/postgres-client.js';

export interface Invalidation {
  readonly kind: 'key' | 'agent' | 'provider' | 'org' | 'project' | 'account';
  /** `{orgId}/{slug}` for `provider`, `{agentId}/{accountId}` for `account`. */
  readonly id: string;
  /** Revoked, paused or deleted: running calls and WebSockets must end, too. */
  readonly endsSessions?: boolean;
}

/** Channel of LISTEN/NOTIFY; the payload is the newest revision. */
export const INVALIDATION_CHANNEL = 'invalidations';

/** Call it last in a transaction: it takes a lock that all callers share until the commit (see 0003_contexts.sql). */
export async function publishInvalidations(tx: Tx, changes: readonly Invalidation[]): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map((c) => ({ kind: c.kind, id: c.id, ends_sessions: c.endsSessions ?? false }));
  // One round trip, since the lock is held until the commit. The revisions are taken after the lock.
  await Promise.all([
    tx`select pg_advisory_xact_lock(hashtext('invalidations'))`,
    tx`with written as (insert into invalidations ${tx(rows)} returning revision)
       select pg_notify(${INVALIDATION_CHANNEL}, max(revision)::text) from written`,
  ]);
}
