/**
 * Events of budget rows, each once per row and instance of its window: `budget.exceeded`, and `budget.threshold` per
 * percentage of the agent's `usageThresholds`. The plain monthly rows have events of their own (budget-alerts.ts), whose
 * facts and reasons apply here too: the ingest, a change of the row, and a sweep can each find that a row is reached.
 */

import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { PendingQuery, Row } from 'postgres';
import type { Sql, Tx } from '../db/postgres-client.js';
import { appendEvent } from '../events/append-events.js';
import type { BudgetPeriod } from '../ledger/budget-row-sums.js';

interface ReachedRow {
  readonly id: string;
  readonly orgId: string;
  readonly scope: 'agent' | 'project' | 'org';
  readonly scopeId: string;
  readonly scopeName: string;
  readonly window: 'day' | 'week' | 'month' | 'total';
  readonly cents: number;
  readonly mode: 'soft' | 'hard' | 'audit';
  readonly models: readonly string[];
  readonly tag: string;
  /** Of the agent; none for a project or an organization. */
  readonly thresholds: readonly number[];
  /** Instance of the window; `total` of all time. */
  readonly period: string;
  readonly spentNanos: number;
}

/**
 * Rows with their spend in one instance of their window. `rows` selects `id, org_id, period`. The plain monthly rows are
 * left out.
 */
const selectRows = (tx: Tx, rows: PendingQuery<Row[]>) => tx<ReachedRow[]>`
  with asked as (${rows})
  select b.id, b.org_id as "orgId", b.scope, b.scope_id as "scopeId", coalesce(a.name, p.name, o.name) as "scopeName",
         b.time_window as window, b.cents, b.mode, b.models, b.tag, coalesce(a.usage_thresholds, '{}') as thresholds,
         r.period, s.spent_nanos as "spentNanos"
    from (select distinct b.id, case when b.time_window = 'total' then 'total' else asked.period end as period
            from asked join budgets b on b.id = asked.id and b.org_id = asked.org_id) r
    join budgets b on b.id = r.id
    join organizations o on o.id = b.org_id
    left join agents a on a.id = b.agent_id
    left join projects p on p.id = b.project_id
   cross join lateral (
     select least(coalesce(sum(spent_nanos), 0), 9223372036854775807)::bigint as spent_nanos from budget_spend s
      where s.budget_id = b.id and s.org_id = b.org_id and (b.time_window = 'total' or s.period = r.period)) s
   where not (b.time_window = 'month' and b.models = '{}' and b.tag = '')`;

/** Called by the ingest within its transaction. */
export async function detectReachedBudgetRows(tx: Tx, periods: readonly BudgetPeriod[]): Promise<void> {
  if (periods.length === 0) return;
  const rows = tx`
    select * from unnest(${periods.map(({ budgetId }) => budgetId)}::uuid[], ${periods.map(({ orgId }) => orgId)}::uuid[],
                         ${periods.map(({ period }) => period)}::text[]) as r(id, org_id, period)`;
  await emitReached(tx, await selectRows(tx, rows));
}

/**
 * Called by the ingest with rejections by rows. A hard row is exhausted when the next call does not fit any more, even if
 * the ledger never reaches its cents.
 */
export async function detectExhaustedHardRows(
  tx: Tx,
  rejections: readonly { readonly orgId: string; readonly minuteMs: number; readonly budgetIds: readonly string[] }[],
): Promise<void> {
  const rejected = rejections.flatMap(({ orgId, minuteMs, budgetIds }) =>
    budgetIds.map((id) => ({ id, orgId, at: new Date(minuteMs).toISOString() })),
  );
  if (rejected.length === 0) return;
  const rows = tx`
    select b.id, b.org_id, (budget_periods(b.time_window, r.at))[1] as period
      from unnest(${rejected.map(({ id }) => id)}::uuid[], ${rejected.map(({ orgId }) => orgId)}::uuid[],
                  ${rejected.map(({ at }) => at)}::text[]::timestamptz[]) as r(id, org_id, at)
      join budgets b on b.id = r.id and b.org_id = r.org_id and b.mode = 'hard'`;
  await emitAlerts(
    tx,
    (await selectRows(tx, rows)).map((row) => exceededAlert(row)),
  );
}

/** Called after a change of the rows of an agent, a project or an organization, in the same transaction. */
export async function recheckBudgetRows(
  tx: Tx,
  { orgId, id }: { readonly orgId: string; readonly id: string },
): Promise<void> {
  const rows = tx`
    select b.id, b.org_id, (budget_periods(b.time_window, now()))[1] as period
      from budgets b where b.org_id = ${orgId} and b.scope_id = ${id}`;
  await emitReached(tx, await selectRows(tx, rows));
}

const SWEEP_MAX = 500;
const SWEPT_MINUTES = 10;

/** Emits alerts that became true unnoticed in the last minutes. Returns the number of rows checked. */
export async function sweepBudgetRowAlerts(sql: Sql): Promise<number> {
  return sql.begin(async (tx) => {
    const [lock] = await tx<{ acquired: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtext('budget row sweep')) as acquired`;
    if (!lock!.acquired) return 0;
    const rows = tx`
      select distinct b.id, b.org_id, s.period from budgets b
        join budget_spend s on s.budget_id = b.id and s.org_id = b.org_id
       where s.updated_at > now() - ${SWEPT_MINUTES} * interval '1 minute' and s.period = any(budget_periods(b.time_window, now()))
         and not exists (select from event_facts e where e.fact = 'budget_row:' || b.id || ':' ||
           case when b.time_window = 'total' then 'total' else s.period end)
       limit ${SWEEP_MAX}`;
    const found = await selectRows(tx, rows);
    await emitReached(tx, found);
    return found.length;
  });
}

interface RowAlert {
  readonly fact: string;
  readonly row: ReachedRow;
  /** Null: the row itself is reached. */
  readonly thresholdPercent: number | null;
}

const exceededAlert = (row: ReachedRow): RowAlert => ({
  fact: `budget_row:${row.id}:${row.period}`,
  row,
  thresholdPercent: null,
});

async function emitReached(tx: Tx, rows: readonly ReachedRow[]): Promise<void> {
  const isReached = ({ cents, spentNanos }: ReachedRow, percent: number): boolean =>
    // A budget of zero is reached by the first spend, not by zero spend.
    spentNanos >= Math.max(1, (cents * NANOS_PER_CENT * percent) / 100);
  await emitAlerts(
    tx,
    rows.flatMap((row) => [
      ...row.thresholds
        .filter((percent) => isReached(row, percent))
        .map((percent) => ({
          fact: `row_threshold:${row.id}:${row.period}:${percent}`,
          row,
          thresholdPercent: percent,
        })),
      ...(isReached(row, 100) ? [exceededAlert(row)] : []),
    ]),
  );
}

/** Inserts the facts, sorted for one lock order, and appends an event for each new one. */
async function emitAlerts(tx: Tx, alerts: readonly RowAlert[]): Promise<void> {
  if (alerts.length === 0) return;
  const facts = [...new Set(alerts.map(({ fact }) => fact))].sort();
  const inserted = await tx<{ fact: string }[]>`
    insert into event_facts (fact) select unnest(${facts}::text[]) on conflict (fact) do nothing returning fact`;
  const news = new Set(inserted.map(({ fact }) => fact));
  for (const { fact, row, thresholdPercent } of alerts) {
    if (!news.delete(fact)) continue;
    const { id, orgId, scope, scopeId, scopeName, window, cents, mode, models, tag, period, spentNanos } = row;
    const data = {
      budgetId: id,
      scope,
      scopeId,
      scopeName,
      window,
      period,
      budgetCents: cents,
      spentCents: Math.round(spentNanos / NANOS_PER_CENT),
      mode,
      ...(models.length === 0 ? {} : { models: [...models] }),
      ...(tag === '' ? {} : { tag }),
      ...(scope === 'agent' ? { agentId: scopeId, agentName: scopeName } : {}),
      orgId,
    };
    if (thresholdPercent === null) await appendEvent(tx, orgId, 'budget.exceeded', data);
    else await appendEvent(tx, orgId, 'budget.threshold', { ...data, thresholdPercent });
  }
}
