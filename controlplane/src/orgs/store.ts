import { type AgentDefaults, agentDefaultsValue } from '../budgets/agent-defaults.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import type { Role } from '../http/route-access.js';

export interface OrganizationRow {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  /** US cents; null: no budget. */
  readonly budgetCentsMonthly: number | null;
  readonly agentDefaults: AgentDefaults | null;
  readonly requireSecondFactor: boolean;
  /** Null unless the organization is being deleted. */
  readonly purgeAt: Date | null;
}

/**
 * Counts the organizations created by the user, without those that are being deleted. Locks the user, so that
 * concurrent attempts wait.
 */
export async function lockAndCountCreatedBy(tx: Tx, userId: string): Promise<number> {
  await tx`select 1 from users where id = ${userId} for no key update`;
  const [row] = await tx<{ total: number }[]>`
    select count(*) as total from organizations where created_by = ${userId} and purge_at is null`;
  return row!.total;
}

export async function loadOrganization(sql: Sql, id: string): Promise<OrganizationRow | null> {
  const [row] = await selectOrganization(sql, id);
  return row ?? null;
}

/** Until the transaction ends, no row that refers to the organization is written, and no other transaction locks it. */
export async function lockOrganization(tx: Tx, id: string): Promise<OrganizationRow | null> {
  const [row] = await tx<OrganizationRow[]>`${selectOrganization(tx, id)} for update`;
  return row ?? null;
}

/** Like {@link lockOrganization}, but other transactions may still write rows that refer to the organization. */
export async function lockOrganizationSettings(tx: Tx, id: string): Promise<OrganizationRow | null> {
  const [row] = await tx<OrganizationRow[]>`${selectOrganization(tx, id)} for no key update`;
  return row ?? null;
}

const selectOrganization = (sql: Sql | Tx, id: string) => sql<OrganizationRow[]>`
  select id, name, slug, budget_cents_monthly as "budgetCentsMonthly", agent_defaults as "agentDefaults", require_second_factor as "requireSecondFactor",
         purge_at as "purgeAt" from organizations where id = ${id}`;

export async function updateOrganization(
  tx: Tx,
  id: string,
  {
    name,
    budgetCentsMonthly,
    agentDefaults,
    requireSecondFactor,
  }: Pick<OrganizationRow, 'name' | 'budgetCentsMonthly' | 'agentDefaults' | 'requireSecondFactor'>,
): Promise<void> {
  await tx`
    update organizations set name = ${name}, budget_cents_monthly = ${budgetCentsMonthly},
           agent_defaults = ${agentDefaultsValue(tx, agentDefaults)}, require_second_factor = ${requireSecondFactor} where id = ${id}`;
}

/** Counts the other organizations of that organization's founder: live ones, and those that are being deleted. */
export async function countFoundedOrganizations(tx: Tx, orgId: string): Promise<{ live: number; pending: number }> {
  const [row] = await tx<{ live: number; pending: number }[]>`
    select count(*) filter (where o.purge_at is null) as live, count(*) filter (where o.purge_at is not null) as pending
      from organizations own join organizations o on o.created_by = own.created_by and o.id <> own.id
     where own.id = ${orgId}`;
  return row!;
}

/** Locks the membership until the transaction ends. */
export async function lockRole(tx: Tx, orgId: string, userId: string): Promise<Role | null> {
  const [row] = await tx<{ role: Role }[]>`
    select role from memberships where org_id = ${orgId} and user_id = ${userId} for key share`;
  return row?.role ?? null;
}

/** Ignores organizations that are being deleted. */
export async function isOnlyOrganization(tx: Tx, userId: string): Promise<boolean> {
  const rows = await tx`
    select 1 from memberships m join organizations o on o.id = m.org_id
     where m.user_id = ${userId} and o.purge_at is null limit 2`;
  return rows.length < 2;
}
