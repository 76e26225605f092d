/** Agents: rules and transactions (docs/contract.md#limits). */
import type { AuditAction } from '@acg/base/audit-actions';
import { uuidv7 } from '@acg/base/uuidv7';
import { type AuditChanges, recordAudit } from '../audit/audit-trail.js';
import { loadAgentDefaults, withAgentDefaults } from '../budgets/agent-defaults.js';
import {
  auditedBudgets,
  type LoadedBudgets,
  loadBudgets,
  loadMonthNanos,
  planBudgetChange,
  presentBudgets,
  writeBudgetRows,
} from '../budgets/budget-service.js';
import type { JSONValue, Sql, Tx } from '../db/postgres-client.js';
import { recheckBudgetOfAgent } from '../detectors/budget-alerts.js';
import { recheckBudgetRows } from '../detectors/budget-row-alerts.js';
import { Forbidden, NotFound } from '../domain/errors.js';
import { nextFreeSlug, slugify } from '../domain/slug.js';
import { appendEvent } from '../events/append-events.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { type Actor, isRoleAtLeast } from '../http/route-access.js';
import { effectiveLimits, mapLimits } from '../limits/agent-limit-fields.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { type Invalidation, publishInvalidations } from '../watch/publish-invalidations.js';
import { ADMIN_FIELDS, effectiveOnStoreLoss, withDefaultEnforcement } from './budget-mode-and-store-loss-fields.js';
import { validatePolicy } from './call-and-model-policy-schema.js';
import type { Agent, AgentInput, AgentPatch, AgentQuery, AgentStatus } from './schema.js';
import * as store from './store.js';

/** Percentages of the budget. */
const DEFAULT_THRESHOLDS = [80];

const NO_BUDGETS: LoadedBudgets = { monthly: { cents: null, mode: 'soft' }, rows: [], storedMonthly: null };

export class AgentService {
  constructor(
    readonly sql: Sql,
    readonly catalogue: Catalogue,
  ) {}

  /** Without budgets, which lists do not show. */
  async list(actor: Actor, query: AgentQuery, page: Page): Promise<ListResult<Omit<Agent, 'budgets'>>> {
    if (!(await store.projectExists(this.sql, actor.orgId, query.projectId))) throw new NotFound('project');
    const { rows, total } = await store.listAgents(this.sql, actor.orgId, query, page);
    return { rows: rows.map(presentSettings), total };
  }

  async get(actor: Actor, id: string): Promise<Agent> {
    const row = await store.loadAgent(this.sql, actor.orgId, id);
    if (row === null) throw new NotFound('agent');
    return present(this.sql, actor.orgId, row);
  }

  async create(actor: Actor, stated: AgentInput): Promise<Agent> {
    const { orgId } = actor;
    this.#assertPolicyAllowed(actor, stated);
    return this.sql.begin(async (tx) => {
      const { row, invalidations } = await this.insert(tx, actor, stated, null);
      await publishInvalidations(tx, invalidations);
      return present(tx, orgId, (await store.loadAgent(tx, orgId, row.id))!);
    });
  }

  /**
   * Creates an agent in the caller's transaction. `ownerUserId`: of a personal agent. The caller publishes the
   * invalidations.
   */
  async insert(
    tx: Tx,
    actor: Actor,
    stated: AgentInput,
    ownerUserId: string | null,
  ): Promise<{ readonly row: store.AgentRow; readonly invalidations: readonly Invalidation[] }> {
    const { orgId } = actor;
    if (!(await store.lockProject(tx, orgId, stated.projectId))) throw new NotFound('project');
    const input = withAgentDefaults(stated, await loadAgentDefaults(tx, orgId, stated.projectId));
    const plan = planBudgetChange(input, NO_BUDGETS);
    const base = slugify(input.name, 'agent');
    const row = await store.insertAgent(tx, {
      id: uuidv7(Date.now()),
      orgId,
      projectId: input.projectId,
      ownerUserId,
      name: input.name,
      slug: nextFreeSlug(base, await store.listTakenSlugs(tx, input.projectId, base)),
      description: input.description ?? '',
      ...mapLimits(({ field }) => input[field] ?? null),
      ...withDefaultEnforcement(input),
      ...plan.columns,
      auditLimits: input.auditLimits ?? [],
      usageThresholds: input.usageThresholds ?? DEFAULT_THRESHOLDS,
      policy: input.policy ?? null,
    });
    await writeBudgetRows(tx, { orgId, scope: 'agent', id: row.id }, plan, NO_BUDGETS);
    const recorded = ownerUserId === null ? input : { ...input, ownerUserId };
    const changes = Object.entries(recorded).map(([field, value]) => [field, [null, value as JSONValue]] as const);
    await recordAudit(tx, actor, 'agent.create', { type: 'agent', id: row.id }, Object.fromEntries(changes));
    await appendEvent(tx, orgId, 'agent.created', toEventData(orgId, row));
    // Organization and project tokens may have used this slug, which may now be ambiguous.
    const namesakes = await store.listAgentsWithSameSlug(tx, orgId, row);
    return { row, invalidations: namesakes?.map((id) => ({ kind: 'agent', id })) ?? [{ kind: 'org', id: orgId }] };
  }

  /** A limit of null is reset to its default. */
  async update(actor: Actor, id: string, patch: AgentPatch): Promise<Agent> {
    assertMayChangeFields(actor, patch);
    this.#assertPolicyAllowed(actor, patch);
    return this.#applyChange(actor, id, 'agent.update', patch);
  }

  async setStatus(actor: Actor, id: string, status: AgentStatus): Promise<Agent> {
    return this.#applyChange(actor, id, 'agent.set_status', { status });
  }

  /**
   * Deletes the agent permanently: its keys stop working at once and its credentials are deleted. Its spend stays in
   * the ledger.
   */
  async delete(actor: Actor, id: string): Promise<void> {
    const { orgId } = actor;
    await this.sql.begin(async (tx) => {
      const row = await this.lock(tx, orgId, id);
      await store.deleteAgent(tx, orgId, id);
      await recordAudit(tx, actor, 'agent.delete', { type: 'agent', id }, { name: [row.name, null] });
      await appendEvent(tx, orgId, 'agent.deleted', toEventData(orgId, row));
      await publishInvalidations(tx, [{ kind: 'agent', id, endsSessions: true }]);
    });
  }

  /**
   * Locks the agent against deletion until the transaction ends, for features that add to it. Throws {@link NotFound}.
   */
  async lock(tx: Tx, orgId: string, id: string): Promise<store.AgentRow> {
    const row = await store.lockAgent(tx, orgId, id);
    if (row === null) throw new NotFound('agent');
    return row;
  }

  #assertPolicyAllowed(actor: Actor, { policy }: Pick<AgentPatch, 'policy'>): void {
    if (policy === undefined) return;
    if (!isRoleAtLeast(actor.role, 'admin')) throw new Forbidden('changing policy requires the role admin');
    validatePolicy(policy, this.catalogue);
  }

  async #applyChange(
    actor: Actor,
    id: string,
    action: AuditAction,
    patch: AgentPatch & { status?: AgentStatus },
  ): Promise<Agent> {
    return this.sql.begin(async (tx) => {
      const before = await this.lock(tx, actor.orgId, id);
      if (before.ownerUserId !== null && !isRoleAtLeast(actor.role, 'admin'))
        throw new Forbidden('changing a personal agent requires the role admin');
      const scope = { orgId: actor.orgId, scope: 'agent', id } as const;
      const budgets = await loadBudgets(tx, scope, before);
      const plan = planBudgetChange(patch, budgets);
      const hasNewRows = await writeBudgetRows(tx, scope, plan, budgets);
      const row = await store.updateAgent(tx, actor.orgId, id, { ...before, ...patch, ...plan.columns });
      if (patch.status !== undefined) await store.clearPersonalEndedAt(tx, id);
      const changes = auditChanges(before, row, patch);
      const after = await loadBudgets(tx, scope, row);
      await recordAudit(
        tx,
        actor,
        action,
        { type: 'agent', id },
        {
          ...changes,
          ...(patch.budgets === undefined
            ? {}
            : { budgets: [auditedBudgets(budgets), auditedBudgets(after)] as const }),
        },
      );
      if (row.budgetCentsMonthly !== before.budgetCentsMonthly || 'usageThresholds' in patch)
        await recheckBudgetOfAgent(tx, id);
      if (hasNewRows || 'usageThresholds' in patch) await recheckBudgetRows(tx, scope);
      await publishInvalidations(tx, [{ kind: 'agent', id, endsSessions: row.status !== 'active' }]);
      return present(tx, actor.orgId, row);
    });
  }
}

/** Money limits, and the fields that decide how strictly they are enforced, require the role admin. */
function assertMayChangeFields(actor: Actor, patch: AgentPatch): void {
  const field = ADMIN_FIELDS.find((name) => name in patch);
  if (field !== undefined && !isRoleAtLeast(actor.role, 'admin'))
    throw new Forbidden(`changing ${field} requires the role admin`);
}

function auditChanges(before: store.AgentRow, after: store.AgentRow, patch: object): AuditChanges {
  const fields = Object.keys(patch).filter((field) => field !== 'budgets') as (keyof store.AgentSettings)[];
  return Object.fromEntries(fields.map((field) => [field, [before[field], after[field]] as const])) as AuditChanges;
}

const toEventData = (orgId: string, row: store.AgentRow) => ({
  agentId: row.id,
  agentName: row.name,
  projectId: row.projectId,
  orgId,
});

/** Returns the effective limits and the effective `onStoreLoss` (docs/contract.md#limits). */
const presentSettings = ({ hasHardRow, ownerUserId, ...row }: store.AgentRow): Omit<Agent, 'budgets'> => ({
  ...row,
  ...(ownerUserId === null ? {} : { ownerUserId }),
  ...effectiveLimits(row),
  onStoreLoss: effectiveOnStoreLoss(row, hasHardRow),
  usageThresholds: [...row.usageThresholds],
  auditLimits: [...row.auditLimits],
  createdAt: row.createdAt.toISOString(),
});

async function present(sql: Sql | Tx, orgId: string, row: store.AgentRow): Promise<Agent> {
  const scope = { orgId, scope: 'agent', id: row.id } as const;
  const budgets = await loadBudgets(sql, scope, row);
  return { ...presentSettings(row), budgets: presentBudgets(budgets, await loadMonthNanos(sql, scope), Date.now()) };
}
