/** Agents: rules and transactions (docs/contract.md#limits). */
import type { AuditAction } from '@acg/base/audit-actions';
import { uuidv7 } from '@acg/base/uuidv7';
import { type AuditChanges, recordAudit } from '../audit/audit-trail.js';
import type { JSONValue, Sql, Tx } from '../db/postgres-client.js';
import { recheckBudgetOfAgent } from '../detectors/budget-alerts.js';
import { Forbidden, NotFound } from '../domain/errors.js';
import { nextFreeSlug, slugify } from '../domain/slug.js';
import { appendEvent } from '../events/append-events.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { type Actor, isRoleAtLeast } from '../http/route-access.js';
import { effectiveLimits, mapLimits } from '../limits/agent-limit-fields.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { publishInvalidations } from '../watch/publish-invalidations.js';
import { ADMIN_FIELDS, effectiveOnStoreLoss, withDefaultEnforcement } from './budget-mode-and-store-loss-fields.js';
import { validatePolicy } from './call-and-model-policy-schema.js';
import type { Agent, AgentInput, AgentPatch, AgentQuery, AgentStatus } from './schema.js';
import * as store from './store.js';

/** Percentages of the budget. */
const DEFAULT_THRESHOLDS = [80];

export class AgentService {
  constructor(
    readonly sql: Sql,
    readonly catalogue: Catalogue,
  ) {}

  async list(actor: Actor, query: AgentQuery, page: Page): Promise<ListResult<Agent>> {
    if (!(await store.projectExists(this.sql, actor.orgId, query.projectId))) throw new NotFound('project');
    const { rows, total } = await store.listAgents(this.sql, actor.orgId, query, page);
    return { rows: rows.map(present), total };
  }

  async get(actor: Actor, id: string): Promise<Agent> {
    const row = await store.loadAgent(this.sql, actor.orgId, id);
    if (row === null) throw new NotFound('agent');
    return present(row);
  }

  async create(actor: Actor, input: AgentInput): Promise<Agent> {
    const { orgId } = actor;
    this.#assertPolicyAllowed(actor, input);
    return this.sql.begin(async (tx) => {
      if (!(await store.lockProject(tx, orgId, input.projectId))) throw new NotFound('project');
      const base = slugify(input.name, 'agent');
      const row = await store.insertAgent(tx, {
        id: uuidv7(Date.now()),
        orgId,
        projectId: input.projectId,
        name: input.name,
        slug: nextFreeSlug(base, await store.listTakenSlugs(tx, input.projectId, base)),
        description: input.description ?? '',
        ...mapLimits(({ field }) => input[field] ?? null),
        ...withDefaultEnforcement(input),
        usageThresholds: input.usageThresholds ?? DEFAULT_THRESHOLDS,
        policy: input.policy ?? null,
      });
      const changes = Object.entries(input).map(([field, value]) => [field, [null, value as JSONValue]] as const);
      await recordAudit(tx, actor, 'agent.create', { type: 'agent', id: row.id }, Object.fromEntries(changes));
      await appendEvent(tx, orgId, 'agent.created', toEventData(orgId, row));
      // Organization and project tokens may have used this slug, which may now be ambiguous.
      const namesakes = await store.listAgentsWithSameSlug(tx, orgId, row);
      await publishInvalidations(tx, namesakes?.map((id) => ({ kind: 'agent', id })) ?? [{ kind: 'org', id: orgId }]);
      return present(row);
    });
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
      const row = await store.updateAgent(tx, actor.orgId, id, { ...before, ...patch });
      await recordAudit(tx, actor, action, { type: 'agent', id }, auditChanges(before, row, patch));
      if ('budgetCentsMonthly' in patch || 'usageThresholds' in patch) await recheckBudgetOfAgent(tx, id);
      await publishInvalidations(tx, [{ kind: 'agent', id, endsSessions: row.status !== 'active' }]);
      return present(row);
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
  const fields = Object.keys(patch) as (keyof store.AgentSettings)[];
  return Object.fromEntries(fields.map((field) => [field, [before[field], after[field]] as const])) as AuditChanges;
}

const toEventData = (orgId: string, row: store.AgentRow) => ({
  agentId: row.id,
  agentName: row.name,
  projectId: row.projectId,
  orgId,
});

/** Returns the effective limits and the effective `onStoreLoss` (docs/contract.md#limits). */
const present = (row: store.AgentRow): Agent => ({
  ...row,
  ...effectiveLimits(row),
  onStoreLoss: effectiveOnStoreLoss(row),
  usageThresholds: [...row.usageThresholds],
  createdAt: row.createdAt.toISOString(),
});
