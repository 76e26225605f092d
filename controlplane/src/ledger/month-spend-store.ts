/** SQL of the monthly spend of agents, projects and organizations, in nano-dollars. */
import { arrayLiteral } from '../db/array-literal.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import type { AgentMonth, MonthSpendSum } from './usage-aggregation.js';
import { NANOS_SUM_MAX } from './usage-field-validation.js';

export interface AgentMonthSpend extends AgentMonth {
  readonly spentNanos: number;
  /** The part that only the ledger counts: deferred usage, which data planes do not add to their spend counters. */
  readonly ledgerNanos: number;
}

const monthSumsSqlFragment = (tx: Tx, sums: readonly MonthSpendSum[]) => tx`
  select * from unnest(
    ${arrayLiteral(sums, (s) => s.agentId)}::text::uuid[],
    ${arrayLiteral(sums, (s) => s.month)}::text::text[],
    ${arrayLiteral(sums, (s) => s.orgId)}::text::uuid[],
    ${arrayLiteral(sums, (s) => s.costNanos)}::text::bigint[],
    ${arrayLiteral(sums, (s) => s.ledgerNanos)}::text::bigint[]
  ) as r(agent_id, month, org_id, spent_nanos, ledger_nanos)`;

/** Adds to the spend of agents and months. Returns the new totals. */
export async function addAgentMonthSpend(tx: Tx, sums: readonly MonthSpendSum[]): Promise<readonly AgentMonthSpend[]> {
  if (sums.length === 0) return [];
  return tx<AgentMonthSpend[]>`
    insert into month_spend as m (agent_id, month, org_id, spent_nanos, ledger_nanos)
    ${monthSumsSqlFragment(tx, sums)}
    order by agent_id, month
    on conflict (agent_id, month) do update set spent_nanos = least(m.spent_nanos, ${NANOS_SUM_MAX}) + excluded.spent_nanos,
      ledger_nanos = least(m.ledger_nanos, ${NANOS_SUM_MAX}) + excluded.ledger_nanos
    returning agent_id as "agentId", month, spent_nanos as "spentNanos", ledger_nanos as "ledgerNanos"`;
}

/**
 * Rows per scope and month. If more transactions than this run at once, over all control planes, some wait for each
 * other.
 */
const SPEND_ROWS_PER_SCOPE = 16;

/** Selects the first free slot as `slot`, which stays locked until the commit; if all are taken, one of them. */
export const freeSpendSlotSql = (tx: Tx) => tx`
  select coalesce((
    select slot from generate_series(0, ${SPEND_ROWS_PER_SCOPE - 1}) as slot
     where pg_try_advisory_xact_lock(hashtext('scope_spend_slots'), slot) limit 1), pg_backend_pid() % ${SPEND_ROWS_PER_SCOPE}) as slot`;

/**
 * Adds the same sums to the agents' projects and organizations, in key order. Each transaction locks its own slot until
 * its commit, and so writes its own rows: with one row per scope, all bookings of an organization would wait for each
 * other. A transaction takes the first free slot, so there are only as many rows as concurrent bookings.
 */
export async function addProjectAndOrgMonthSpend(tx: Tx, sums: readonly MonthSpendSum[]): Promise<void> {
  if (sums.length === 0) return;
  await tx`
    with free as (${freeSpendSlotSql(tx)}),
    spent as (${monthSumsSqlFragment(tx, sums)}),
    scoped as (
      select 'org' as scope, org_id as scope_id, month, spent_nanos, ledger_nanos from spent
      union all
      select 'project', a.project_id, month, spent_nanos, ledger_nanos from spent join agents a on a.id = agent_id)
    insert into scope_spend_slots as s (scope, scope_id, month, slot, spent_nanos, ledger_nanos)
    select scope, scope_id, month, (select slot from free),
           sum(spent_nanos), sum(ledger_nanos)
      from scoped group by scope_id, month, scope order by scope_id, month, scope
    on conflict (scope_id, month, scope, slot) do update set spent_nanos = least(s.spent_nanos, ${NANOS_SUM_MAX}) + excluded.spent_nanos,
      ledger_nanos = least(s.ledger_nanos, ${NANOS_SUM_MAX}) + excluded.ledger_nanos`;
}

/** The totals of those months that have spend. */
export async function selectAgentMonthSpend(
  sql: Sql,
  months: readonly AgentMonth[],
): Promise<readonly AgentMonthSpend[]> {
  if (months.length === 0) return [];
  return sql<AgentMonthSpend[]>`
    select agent_id as "agentId", month, spent_nanos as "spentNanos", ledger_nanos as "ledgerNanos"
      from month_spend join unnest(
        ${arrayLiteral(months, (s) => s.agentId)}::text::uuid[],
        ${arrayLiteral(months, (s) => s.month)}::text::text[]) as r(agent_id, month) using (agent_id, month)`;
}

/** Spend of a project or an organization with a budget in one month. */
export interface ScopeMonthSpend extends Omit<AgentMonthSpend, 'agentId'> {
  readonly scope: 'project' | 'org';
  readonly id: string;
}

/** The spend of those of the agents' projects and organizations that have a budget. */
export async function selectBudgetedProjectAndOrgSpend(
  sql: Sql,
  months: readonly AgentMonth[],
): Promise<readonly ScopeMonthSpend[]> {
  if (months.length === 0) return [];
  return sql<ScopeMonthSpend[]>`
    with scopes as (
      select distinct scope, id, month from (
        select 'project' as scope, p.id, month
          from unnest(
            ${arrayLiteral(months, (s) => s.agentId)}::text::uuid[],
            ${arrayLiteral(months, (s) => s.month)}::text::text[]) as r(agent_id, month)
          join agents a on a.id = r.agent_id
          join projects p on p.id = a.project_id and p.budget_cents_monthly is not null
        union all
        select 'org', o.id, month
          from unnest(
            ${arrayLiteral(months, (s) => s.agentId)}::text::uuid[],
            ${arrayLiteral(months, (s) => s.month)}::text::text[]) as r(agent_id, month)
          join agents a on a.id = r.agent_id
          join organizations o on o.id = a.org_id and o.budget_cents_monthly is not null) as budgeted)
    select scopes.scope, scopes.id, scopes.month, s.spent_nanos as "spentNanos", s.ledger_nanos as "ledgerNanos"
      from scopes cross join lateral scope_month(scopes.scope, scopes.id, scopes.month) s`;
}
