import type { Sql, Tx } from '../db/sql.js';

export interface OrganizationRow {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  /** Null: none. */
  readonly budgetCentsMonthly: number | null;
}

/** Of those that still exist. The user's other attempts wait. */
export async function countCreatedBy(tx: Tx, userId: string): Promise<number> {
  await tx`select 1 from users where id = ${userId} for no key update`;
  const [row] = await tx<{ total: number }[]>`
    select count(*) as total from organizations where created_by = ${userId}`;
  return row!.total;
}

export async function loadOrganization(sql: Sql, id: string): Promise<OrganizationRow | null> {
  const [row] = await selectOrganization(sql, id);
  return row ?? null;
}

export async function lockOrganization(tx: Tx, id: string): Promise<OrganizationRow | null> {
  const [row] = await tx<OrganizationRow[]>`${selectOrganization(tx, id)} for update`;
  return row ?? null;
}

const selectOrganization = (sql: Sql | Tx, id: string) => sql<OrganizationRow[]>`
  select id, name, slug, budget_cents_monthly as "budgetCentsMonthly" from organizations where id = ${id}`;

export async function updateOrganization(
  tx: Tx,
  id: string,
  { name, budgetCentsMonthly }: Pick<OrganizationRow, 'name' | 'budgetCentsMonthly'>,
): Promise<void> {
  await tx`
    update organizations set name = ${name}, budget_cents_monthly = ${budgetCentsMonthly} where id = ${id}`;
}

/** With everything in it; what its agents spent stays in the ledger. */
export async function deleteOrganization(tx: Tx, id: string): Promise<void> {
  await tx`delete from organizations where id = ${id}`;
}

export async function isOnlyOrganization(tx: Tx, userId: string): Promise<boolean> {
  return (await tx`select 1 from memberships where user_id = ${userId} limit 2`).length < 2;
}
