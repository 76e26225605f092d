/**
 * Revokes personal agents when the membership of their owner or the setting of their project ends, with their keys and
 * runs. An active agent becomes `revoked`, and its owner can restore it. An agent that an admin paused or revoked keeps
 * its status.
 */
import type { Tx } from '../../db/postgres-client.js';
import { endRunsOf } from '../../runs/ending/end-runs-of.js';
import type { Invalidation } from '../../watch/publish-invalidations.js';

type PersonalAgentScope =
  | { readonly projectId: string }
  | { readonly orgId: string; readonly userId: string }
  /** Of the person in all other organizations. */
  | { readonly exceptOrgIds: readonly string[]; readonly userId: string };

function inScope(tx: Tx, scope: PersonalAgentScope) {
  if ('projectId' in scope) return tx`project_id = ${scope.projectId} and owner_user_id is not null`;
  if ('orgId' in scope) return tx`org_id = ${scope.orgId} and owner_user_id = ${scope.userId}`;
  return tx`org_id <> all(${[...scope.exceptOrgIds]}::uuid[]) and owner_user_id = ${scope.userId}`;
}

/**
 * Locks the agents until the transaction ends. Changes of an agent lock it before the membership of their actor, so a
 * removal of that membership must do the same. Sub-runs that are being started do not wait for the agent: their start has
 * locked a run, for whose end this transaction waits.
 */
export async function lockPersonalAgents(tx: Tx, scope: PersonalAgentScope): Promise<readonly string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from agents where ${inScope(tx, scope)} order by id for no key update`;
  return rows.map(({ id }) => id);
}

/** Returns the invalidations, which the caller publishes: they end the calls and WebSockets of these agents. */
export async function endPersonalAgents(tx: Tx, scope: PersonalAgentScope): Promise<readonly Invalidation[]> {
  const ids = await lockPersonalAgents(tx, scope);
  await tx`
    update agents set status = 'revoked', personal_ended_at = now()
     where id = any(${[...ids]}::uuid[]) and status = 'active'`;
  await tx`
    update api_keys set revoked_at = now(), expiry_moved = false
     where agent_id = any(${[...ids]}::uuid[]) and revoked_at is null`;
  await endRunsOf(tx, 'agent_id', ids);
  return ids.map((id) => ({ kind: 'agent', id, endsSessions: true }));
}

interface RemovedAccount {
  readonly id: string;
  readonly agentId: string;
  readonly providerSlug: string;
}

/**
 * Removes accounts of personal agents of the project that use one of these shared credentials. The caller records and
 * invalidates them.
 */
export async function removePersonalAccounts(
  tx: Tx,
  projectId: string,
  credentialIds: readonly string[],
): Promise<readonly RemovedAccount[]> {
  if (credentialIds.length === 0) return [];
  await lockPersonalAgents(tx, { projectId });
  return tx<RemovedAccount[]>`
    delete from provider_accounts p using agents a
     where a.id = p.agent_id and a.project_id = ${projectId} and a.owner_user_id is not null
       and p.credential_id = any(${[...credentialIds]}::uuid[])
    returning p.id, p.agent_id as "agentId", p.provider_slug as "providerSlug"`;
}
