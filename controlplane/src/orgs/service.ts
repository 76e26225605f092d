/** Creates and changes organizations other than the one created at sign-up; rules and transactions. */
import { recordAudit } from '../audit/audit-trail.js';
import { assertConfirmed } from '../auth/second-factor/confirmation.js';
import { loadSecondFactor } from '../auth/second-factor/store.js';
import { lockActiveSession } from '../auth/sessions/session-service.js';
import type { OrganizationWithRole } from '../auth/users/auth-schema.js';
import { createOrganization } from '../auth/users/create-organization.js';
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
import { Conflict, Forbidden, NotFound } from '../domain/errors.js';
import type { Actor, Role } from '../http/route-access.js';
import { publishInvalidations } from '../watch/publish-invalidations.js';
import type { OrganizationPatch, OrganizationSettings } from './schema.js';
import * as store from './store.js';

/** Organizations per founder, without those that are being deleted. */
export const ORGANIZATIONS_PER_USER_MAX = 5;

export class OrganizationService {
  constructor(
    readonly sql: Sql,
    /** All users may create organizations. */
    readonly isCreationOpen: boolean,
  ) {}

  async create(actor: Actor, name: string): Promise<OrganizationWithRole> {
    if (!this.isCreationOpen)
      throw new Forbidden('creating organizations is disabled on this installation by the operator (SIGNUP)');
    return this.sql.begin(async (tx) => {
      if ((await store.lockAndCountCreatedBy(tx, actor.userId)) >= ORGANIZATIONS_PER_USER_MAX) {
        throw new Conflict(`you have already created ${ORGANIZATIONS_PER_USER_MAX} organizations: delete one first`);
      }
      await lockActiveSession(tx, actor);
      const founder = { id: actor.userId, email: actor.email };
      return { ...(await createOrganization(tx, founder, name, actor.ip)), role: 'owner' as const };
    });
  }

  /** Only the organization in which the session acts. */
  async get(actor: Actor, id: string): Promise<OrganizationSettings['org']> {
    const row = id === actor.orgId ? await store.loadOrganization(this.sql, id) : null;
    if (row === null) throw new NotFound('organization');
    return present(this.sql, row, actor.role);
  }

  /** Only the organization in which the session acts. */
  async update(actor: Actor, id: string, patch: OrganizationPatch): Promise<OrganizationSettings['org']> {
    validateAgentDefaults(patch.agentDefaults);
    if (id !== actor.orgId) throw new NotFound('organization');
    return this.sql.begin(async (tx) => {
      const before = await store.lockOrganizationSettings(tx, id);
      if (before === null) throw new NotFound('organization');
      const scope = { orgId: id, scope: 'org', id } as const;
      const budgets = await loadBudgets(tx, scope, before);
      const plan = planBudgetChange(patch, budgets);
      const { budgetCentsMonthly } = plan.columns;
      const { budgets: _, ...settings } = patch;
      const after: store.OrganizationRow = { ...before, ...settings, budgetCentsMonthly };
      if (after.requireSecondFactor !== before.requireSecondFactor) await assertMayChangeFactorPolicy(tx, actor);
      await store.updateOrganization(tx, id, after);
      const hasNewRows = await writeBudgetRows(tx, scope, plan, budgets);
      const fields = Object.keys(settings) as (keyof typeof settings)[];
      const changes = Object.fromEntries(
        fields.map((field) => [field, [before[field] as JSONValue, after[field] as JSONValue] as const]),
      );
      if (patch.budgets !== undefined)
        changes.budgets = [auditedBudgets(budgets), auditedBudgets(await loadBudgets(tx, scope, after))];
      await recordAudit(tx, actor, 'organization.update', { type: 'organization', id }, changes);
      if (hasNewRows) await recheckBudgetRows(tx, scope);
      if (hasNewRows || budgetCentsMonthly !== before.budgetCentsMonthly)
        await publishInvalidations(tx, [{ kind: 'org', id }]);
      return present(tx, after, actor.role);
    });
  }
}

/** An owner without a second factor would lose access with the change. */
async function assertMayChangeFactorPolicy(tx: Tx, actor: Actor): Promise<void> {
  if (actor.role !== 'owner')
    throw new Forbidden(`only an owner changes requireSecondFactor; your role is ${actor.role}`);
  if ((await loadSecondFactor(tx, actor.userId))?.confirmedAt == null)
    throw new Conflict('set up your own second factor first: POST /v1/second-factor');
  await assertConfirmed(tx, actor);
}

async function present(sql: Sql | Tx, row: store.OrganizationRow, role: Role): Promise<OrganizationSettings['org']> {
  const { id, name, slug, budgetCentsMonthly, agentDefaults, requireSecondFactor, purgeAt } = row;
  const scope = { orgId: id, scope: 'org', id } as const;
  const budgets = await loadBudgets(sql, scope, row);
  return {
    id,
    name,
    slug,
    role,
    budgetCentsMonthly,
    budgets: presentBudgets(budgets, await loadMonthNanos(sql, scope), Date.now()),
    agentDefaults,
    requireSecondFactor,
    ...(purgeAt === null ? {} : { purgeAt: purgeAt.toISOString() }),
  };
}
