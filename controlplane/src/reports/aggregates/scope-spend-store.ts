/** SQL of the spend and the budget of an organization, a project or an agent. */
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import type { Tx } from '../../db/postgres-client.js';
import { rollupsByDimension, type UsageScope } from '../query/rollup-selection.js';

export interface ScopeSpend {
  /** Spend of the calendar month, nano-dollars. */
  readonly monthNanos: number;
  /** Spend of the last 24 hours, nano-dollars. The first, partial hour counts proportionally. */
  readonly recentNanos: number;
  /** Start of the first hour with spend within the last 24 hours. */
  readonly firstHour: Date | null;
  /** Monthly budget in US cents; null: none. */
  readonly budgetCents: number | null;
  /** Null: deleted. */
  readonly createdAt: Date | null;
}

export async function loadScopeSpend(tx: Tx, scope: UsageScope, month: string, nowMs: number): Promise<ScopeSpend> {
  const { orgId, projectId, agentIds } = scope;
  const [agentId = null] = agentIds ?? [];
  const id = agentId ?? projectId ?? orgId;
  const owner =
    agentId === null && projectId === null
      ? tx`select budget_cents_monthly, created_at from organizations where id = ${orgId}`
      : tx`select budget_cents_monthly, created_at from ${agentId === null ? tx`projects` : tx`agents`}
            where id = ${id} and org_id = ${orgId}`;
  const monthSpend =
    agentId === null
      ? tx`select spent_nanos from scope_month(${projectId === null ? 'org' : 'project'}, ${id}, ${month})`
      : tx`select spent_nanos from month_spend where agent_id = ${id} and month = ${month} and org_id = ${orgId}`;
  const since = new Date(nowMs - DAY_MS);
  const last24Hours = {
    fromMs: since.getTime() - (since.getTime() % HOUR_MS),
    toMs: nowMs - (nowMs % HOUR_MS) + HOUR_MS,
  };
  const [row] = await tx<[ScopeSpend]>`
    select coalesce((${monthSpend}), 0) as "monthNanos", coalesce(r.nanos, 0)::float8 as "recentNanos",
           r.first as "firstHour", o.budget_cents_monthly as "budgetCents", o.created_at as "createdAt"
      from (select sum(case when hour < ${since}
                            then cost_nanos * (1 - extract(epoch from ${since}::timestamptz - hour) / 3600)
                            else cost_nanos end) as nanos,
                   min(hour) filter (where cost_nanos > 0) as first
              from ${rollupsByDimension(tx, scope, last24Hours, 'provider')} d) r
      left join (${owner}) o on true`;
  return row;
}
