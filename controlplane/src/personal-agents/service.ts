/**
 * Agents that members create for themselves, in projects whose setting `personalAgents` allows it: one per member and
 * project, with the defaults of the project and accounts for the setting's shared credentials (docs/contract.md#personal-agents).
 */
import type { Secret } from '@acg/base/secret';
import type { AgentService } from '../agents/service.js';
import type { ApiKeyService } from '../api-keys/service.js';
import { recordAudit } from '../audit/audit-trail.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { Conflict, Forbidden, NotFound } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { Actor } from '../http/route-access.js';
import { lockProject } from '../projects/store.js';
import type { ProviderAccountService } from '../provider-accounts/service.js';
import { type Invalidation, publishInvalidations } from '../watch/publish-invalidations.js';
import { KEY_LIFETIME_DEFAULT_S, type PersonalAgentProject, type PersonalKeyInput } from './schema.js';
import * as store from './store.js';

/** Keys of one personal agent that are valid at a time. */
const ACTIVE_KEYS_MAX = 20;

interface PersonalKey {
  readonly agent: store.PersonalAgentRow;
  readonly key: { readonly id: string; readonly name: string; readonly keyPrefix: string; readonly expiresAt: string };
  readonly secretKey: Secret;
}

export class PersonalAgentService {
  constructor(
    readonly sql: Sql,
    readonly agents: AgentService,
    readonly keys: ApiKeyService,
    readonly accounts: ProviderAccountService,
  ) {}

  /** The projects in which the caller may have an agent. */
  async list(actor: Actor, page: Page): Promise<ListResult<PersonalAgentProject>> {
    const { rows, total } = await store.listAllowingProjects(this.sql, actor.orgId, actor.userId, page);
    return { rows: [...rows], total };
  }

  /** Creates a key of the caller's agent. Creates the agent first if the caller has no agent in the project. */
  async createKey(actor: Actor, { projectId, ...input }: PersonalKeyInput): Promise<PersonalKey> {
    return this.sql.begin(async (tx) => {
      // Until the commit the setting stays as it is (projects/service.ts locks the same row).
      const project = await lockProject(tx, actor.orgId, projectId);
      if (project === null) throw new NotFound('project');
      if (project.personalAgents === null)
        throw new Forbidden(
          `the project ${project.name} does not allow personal agents: ask an admin for a gateway token`,
        );
      const { agent, invalidations } = await this.#obtainAgent(tx, actor, projectId);
      if ((await store.countActiveKeys(tx, agent.id)) >= ACTIVE_KEYS_MAX)
        throw new Conflict(`your agent has ${ACTIVE_KEYS_MAX} valid keys: revoke one, or wait until one expires`);
      const added = await this.#addMissingAccounts(tx, actor, projectId, agent.id);
      const lifetimeMs = (input.lifetimeSeconds ?? KEY_LIFETIME_DEFAULT_S) * 1_000;
      const expiresAt = new Date(Date.now() + lifetimeMs).toISOString();
      const created = await this.keys.insert(tx, actor, {
        name: input.name,
        scope: 'agent',
        agentId: agent.id,
        expiresAt,
      });
      await publishInvalidations(tx, [...invalidations, ...added]);
      const { id, name, keyPrefix } = created.key;
      return { agent, key: { id, name, keyPrefix, expiresAt }, secretKey: created.secretKey };
    });
  }

  /** Revokes a key of the caller's agent; its running calls end. */
  async revokeKey(actor: Actor, keyId: string): Promise<void> {
    if (!(await store.ownsKey(this.sql, actor.orgId, actor.userId, keyId))) throw new NotFound('API key');
    await this.keys.revoke(actor, keyId);
  }

  /** Returns the caller's agent. Creates it, or restores one that ended; throws {@link Forbidden} for one that an admin stopped. */
  async #obtainAgent(
    tx: Tx,
    actor: Actor,
    projectId: string,
  ): Promise<{ readonly agent: store.PersonalAgentRow; readonly invalidations: readonly Invalidation[] }> {
    const existing = await store.lockPersonalAgent(tx, projectId, actor.userId);
    if (existing === null) {
      const name = (await store.loadUserName(tx, actor.userId)) ?? actor.email;
      const { row, invalidations } = await this.agents.insert(tx, actor, { projectId, name }, actor.userId);
      return { agent: pickAgent(row), invalidations };
    }
    if (existing.status === 'active') return { agent: pickAgent(existing), invalidations: [] };
    if (!existing.ended)
      throw new Forbidden(`an admin set your agent ${existing.name} to ${existing.status}: ask an admin to resume it`);
    const target = { type: 'agent', id: existing.id };
    await recordAudit(tx, actor, 'agent.set_status', target, { status: [existing.status, 'active'] });
    await store.restorePersonalAgent(tx, existing.id);
    return {
      agent: pickAgent({ ...existing, status: 'active' }),
      invalidations: [{ kind: 'agent', id: existing.id }],
    };
  }

  async #addMissingAccounts(
    tx: Tx,
    actor: Actor,
    projectId: string,
    agentId: string,
  ): Promise<readonly Invalidation[]> {
    const missing = await store.listMissingAccounts(tx, projectId, agentId);
    for (const account of missing) await this.accounts.insert(tx, actor, { agentId, ...account });
    return missing.length === 0 ? [] : [{ kind: 'agent', id: agentId }];
  }
}

const pickAgent = ({ id, name, slug, status }: store.PersonalAgentRow): store.PersonalAgentRow => ({
  id,
  name,
  slug,
  status,
});
