/** Projects: rules and transactions. */
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit } from '../audit/audit-trail.js';
import { validateAgentDefaults } from '../budgets/agent-defaults.js';
import {
  auditedBudgets,
  loadBudgets,
  loadMonthNanos,
  planBudgetChange,
  presentBudgets,
  writeBudgetRows,
} from '../budgets/budget-service.js';
import type { JSONValue, Sql, Tx } from '../db/postgres-client.js';
import { recheckBudgetRows } from '../detectors/budget-row-alerts.js';
import { Conflict, InvalidInput, NotFound } from '../domain/errors.js';
import { nextFreeSlug, slugify } from '../domain/slug.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { Actor } from '../http/route-access.js';
import {
  endPersonalAgents,
  lockPersonalAgents,
  removePersonalAccounts,
} from '../personal-agents/revocation/end-personal-agents.js';
import { type Invalidation, publishInvalidations } from '../watch/publish-invalidations.js';
import type { Project, ProjectPatch, ProjectQuery, ProjectWithBudgets } from './schema.js';
import * as store from './store.js';

export class ProjectService {
  constructor(readonly sql: Sql) {}

  async list(actor: Actor, query: ProjectQuery, page: Page): Promise<ListResult<Project>> {
    const { rows, total } = await store.listProjects(
      this.sql,
      actor.orgId,
      actor.token?.projectId ?? null,
      query,
      page,
    );
    return { rows: rows.map(present), total };
  }

  async get(actor: Actor, id: string): Promise<ProjectWithBudgets> {
    const row = await store.loadProject(this.sql, actor.orgId, id);
    if (row === null) throw new NotFound('project');
    return presentWithBudgets(this.sql, actor.orgId, row);
  }

  async create(actor: Actor, name: string): Promise<ProjectWithBudgets> {
    return this.sql.begin(async (tx) => {
      const row = await insertProjectWithFreeSlug(tx, actor.orgId, name);
      await recordAudit(tx, actor, 'project.create', { type: 'project', id: row.id }, { name: [null, name] });
      return presentWithBudgets(tx, actor.orgId, row);
    });
  }

  async update(actor: Actor, id: string, patch: ProjectPatch): Promise<ProjectWithBudgets> {
    validateAgentDefaults(patch.agentDefaults);
    return this.sql.begin(async (tx) => {
      const before = await store.lockProject(tx, actor.orgId, id);
      if (before === null) throw new NotFound('project');
      // Before the audit entry, which locks the actor's membership.
      if (patch.personalAgents !== undefined) await lockPersonalAgents(tx, { projectId: id });
      if (patch.personalAgents != null) await assertUsableCredentials(tx, actor, id, patch.personalAgents);
      const scope = { orgId: actor.orgId, scope: 'project', id } as const;
      const budgets = await loadBudgets(tx, scope, before);
      const plan = planBudgetChange(patch, budgets);
      const { budgetCentsMonthly } = plan.columns;
      const row = await store.updateProject(tx, actor.orgId, id, { ...before, ...patch, budgetCentsMonthly });
      if (row === null) throw new NotFound('project');
      const hasNewRows = await writeBudgetRows(tx, scope, plan, budgets);
      const fields = Object.keys(patch).filter((field) => field !== 'budgets') as Exclude<
        keyof ProjectPatch,
        'budgets'
      >[];
      const changes = Object.fromEntries(
        fields.map((field) => [field, [before[field] as JSONValue, row[field] as JSONValue] as const]),
      );
      if (patch.budgets !== undefined)
        changes.budgets = [auditedBudgets(budgets), auditedBudgets(await loadBudgets(tx, scope, row))];
      await recordAudit(tx, actor, 'project.update', { type: 'project', id }, changes);
      if (hasNewRows) await recheckBudgetRows(tx, scope);
      const invalidations = [...(await applyPersonalAgentsChange(tx, actor, before, row))];
      if (hasNewRows || budgetCentsMonthly !== before.budgetCentsMonthly) invalidations.push({ kind: 'project', id });
      await publishInvalidations(tx, invalidations);
      return presentWithBudgets(tx, actor.orgId, row);
    });
  }

  async delete(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      const agents = await store.lockAndCountAgents(tx, actor.orgId, id);
      if (agents === null) throw new NotFound('project');
      if (agents > 0) throw new Conflict(`the project still has ${agents} agents: delete them first`);
      // Recorded before the deletion, which also deletes the management tokens of the project: the actor may be one of
      // them.
      await recordAudit(tx, actor, 'project.delete', { type: 'project', id }, {});
      await store.deleteProject(tx, actor.orgId, id);
    });
  }
}

/** Also used at sign-up for the first project. Serializes writers of one organization, so that slugs do not collide. */
export async function insertProjectWithFreeSlug(tx: Tx, orgId: string, name: string): Promise<store.ProjectRow> {
  await tx`select pg_advisory_xact_lock(hashtext(${`projects:${orgId}`}))`;
  const base = slugify(name, 'project');
  const slug = nextFreeSlug(base, await store.listTakenSlugs(tx, orgId, base));
  return store.insertProject(tx, { id: uuidv7(Date.now()), orgId, name, slug });
}

/**
 * Throws {@link InvalidInput} for an unknown credential, one of another project, and two of one provider. A management
 * token of one project uses no credentials of the whole organization.
 */
async function assertUsableCredentials(
  tx: Tx,
  { orgId, token }: Actor,
  projectId: string,
  { credentialIds }: NonNullable<ProjectPatch['personalAgents']>,
): Promise<void> {
  const providers = await store.listProvidersOfCredentials(tx, orgId, projectId, {
    ids: credentialIds,
    ofProjectOnly: (token?.projectId ?? null) !== null,
  });
  if (providers.length < credentialIds.length)
    throw new InvalidInput('personalAgents.credentialIds: each must be a shared credential that this project may use');
  const twice = providers.find((provider, at) => providers.indexOf(provider) !== at);
  if (twice !== undefined)
    throw new InvalidInput(
      `personalAgents.credentialIds: two are of ${twice}: keep one, an agent has one account a provider`,
    );
}

/** Members lose what the setting no longer gives: their agents, or accounts of a credential. Running calls end. */
async function applyPersonalAgentsChange(
  tx: Tx,
  actor: Actor,
  before: store.ProjectRow,
  after: store.ProjectRow,
): Promise<readonly Invalidation[]> {
  if (before.personalAgents === null) return [];
  const kept = new Set(after.personalAgents?.credentialIds);
  const removed = before.personalAgents.credentialIds.filter((id) => !kept.has(id));
  const accounts = await removePersonalAccounts(tx, after.id, removed);
  for (const { id, agentId, providerSlug } of accounts) {
    const changes = { agentId: [agentId, null], providerSlug: [providerSlug, null] } as const;
    await recordAudit(tx, actor, 'account.delete', { type: 'account', id }, changes);
  }
  if (after.personalAgents === null) return endPersonalAgents(tx, { projectId: after.id });
  return accounts.map(({ id, agentId }) => ({ kind: 'account', id: `${agentId}/${id}`, endsSessions: true }));
}

const present = ({ agentDefaults: _, personalAgents: __, ...row }: store.ProjectRow): Project => ({
  ...row,
  createdAt: row.createdAt.toISOString(),
});

async function presentWithBudgets(sql: Sql | Tx, orgId: string, row: store.ProjectRow): Promise<ProjectWithBudgets> {
  const scope = { orgId, scope: 'project', id: row.id } as const;
  const budgets = await loadBudgets(sql, scope, row);
  return {
    ...present(row),
    agentDefaults: row.agentDefaults,
    personalAgents: row.personalAgents === null ? null : { credentialIds: [...row.personalAgents.credentialIds] },
    budgets: presentBudgets(budgets, await loadMonthNanos(sql, scope), Date.now()),
  };
}
