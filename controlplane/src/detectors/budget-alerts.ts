/**
 * Budget events, once per fact (docs/contract.md#events): `agent.budget_exceeded` once per agent and month,
 * `usage.threshold` once per agent, month and threshold. The fact is a row, inserted in the transaction that makes it
 * true; of two that insert the same one waits for the other and then does nothing, so concurrent bookings and control
 * planes fire it once.
 *
 * A fact becomes true in three ways: spend grows past a limit (the ingest), a limit is lowered to the spend
 * ({@link recheckBudgetOfAgent}, in the transaction of the PATCH), or both at once without seeing each other (the sweep, which
 * runs every half minute). A budget that is raised and reached again, or lowered again, fires nothing new that month.
 */
import { NANOS_PER_CENT } from '@acg/base/units';
import type { Sql, Tx } from '../db/sql.js';
import { appendEvent } from '../events/event-outbox.js';
import type { SpendChange } from '../ledger/usage-ingest.js';

interface BudgetedAgent {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly budgetCents: number;
  readonly thresholds: readonly number[];
}

interface BudgetAlert {
  readonly name: string;
  readonly agent: BudgetedAgent;
  readonly spentNanos: number;
  /** Null: the budget itself. */
  readonly thresholdPercent: number | null;
}

/** Below any spend: every limit that is reached counts as reached just now. */
const BELOW_ANY_SPEND = -1;

/** Called by the ingest, in its transaction, with the spend rows that it holds. */
export async function detectReachedBudgets(tx: Tx, changes: readonly SpendChange[]): Promise<void> {
  if (changes.length === 0) return;
  const agents = await loadBudgetedAgents(
    tx,
    changes.map((change) => change.agentId),
  );
  if (agents.size === 0) return;
  await emitNewAlerts(
    tx,
    changes.flatMap((change) => reachedAlerts(agents.get(change.agentId), change)),
  );
}

/**
 * Called by the ingest with agents that were refused because their budget is spent. A hard budget is spent when the next
 * call does not fit any more, though the ledger may never reach it.
 */
export async function detectExhaustedHardBudgets(
  tx: Tx,
  refused: readonly { agentId: string; minuteMs: number }[],
): Promise<void> {
  if (refused.length === 0) return;
  const ids = refused.map(({ agentId }) => agentId);
  const hard = await tx<{ id: string }[]>`
    select id from agents where id = any(${ids}::uuid[]) and budget_mode = 'hard'`;
  if (hard.length === 0) return;
  const agents = await loadBudgetedAgents(
    tx,
    hard.map(({ id }) => id),
  );
  const months = await tx<{ agentId: string; month: string; spentNanos: number }[]>`
    select agent_id as "agentId", month, spent_nanos as "spentNanos" from month_spend
     where agent_id = any(${[...agents.keys()]}::uuid[])`;
  await emitNewAlerts(
    tx,
    refused.flatMap(({ agentId, minuteMs }): BudgetAlert[] => {
      const agent = agents.get(agentId);
      if (agent === undefined) return [];
      const month = new Date(minuteMs).toISOString().slice(0, 7);
      const spentNanos = months.find((one) => one.agentId === agentId && one.month === month)?.spentNanos ?? 0;
      return [{ name: `budget_exceeded:${agentId}:${month}`, agent, spentNanos, thresholdPercent: null }];
    }),
  );
}

/** Called after a budget or its thresholds were changed, in the same transaction. */
export async function recheckBudgetOfAgent(tx: Tx, agentId: string): Promise<void> {
  const agents = await loadBudgetedAgents(tx, [agentId]);
  const agent = agents.get(agentId);
  if (agent === undefined) return;
  const [spend] = await tx<{ month: string; spentNanos: number }[]>`
    select month, spent_nanos as "spentNanos" from month_spend
     where agent_id = ${agentId} and month = to_char(now() at time zone 'UTC', 'YYYY-MM')`;
  if (spend === undefined) return;
  await emitNewAlerts(
    tx,
    reachedAlerts(agent, { month: spend.month, beforeNanos: BELOW_ANY_SPEND, afterNanos: spend.spentNanos }),
  );
}

const SWEEP_MAX = 500;

/** Fires what has become true without anybody noticing; returns how many agents were looked at. */
export async function sweepBudgetAlerts(sql: Sql): Promise<number> {
  return sql.begin(async (tx) => {
    const [lock] = await tx<{ mine: boolean }[]>`select pg_try_advisory_xact_lock(hashtext('budget sweep')) as mine`;
    if (!lock!.mine) return 0;
    const rows = await tx<{ agentId: string; month: string; spentNanos: number }[]>`
      select distinct s.agent_id as "agentId", s.month, s.spent_nanos as "spentNanos"
        from month_spend s
        join agents a on a.id = s.agent_id and a.budget_cents_monthly is not null
       cross join lateral (
         select 'budget_exceeded:' || a.id || ':' || s.month as fact, 100 as percent
         union all
         select 'threshold:' || a.id || ':' || s.month || ':' || t, t from unnest(a.usage_thresholds) t) f
       where s.month = to_char(now() at time zone 'UTC', 'YYYY-MM')
         and s.spent_nanos > 0 and s.spent_nanos >= a.budget_cents_monthly * (${NANOS_PER_CENT / 100}::numeric) * f.percent
         and not exists (select 1 from event_facts e where e.fact = f.fact)
       limit ${SWEEP_MAX}`;
    if (rows.length === 0) return 0;
    const agents = await loadBudgetedAgents(
      tx,
      rows.map((row) => row.agentId),
    );
    const facts = rows.flatMap(({ agentId, month, spentNanos }) =>
      reachedAlerts(agents.get(agentId), { month, beforeNanos: BELOW_ANY_SPEND, afterNanos: spentNanos }),
    );
    await emitNewAlerts(tx, facts);
    return rows.length;
  });
}

async function loadBudgetedAgents(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, BudgetedAgent>> {
  const rows = await tx<BudgetedAgent[]>`
    select id, org_id as "orgId", name, budget_cents_monthly as "budgetCents", usage_thresholds as thresholds
      from agents where id = any(${[...ids]}::uuid[]) and budget_cents_monthly is not null`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** The limits of the agent that the spend has passed. */
function reachedAlerts(
  agent: BudgetedAgent | undefined,
  { month, beforeNanos, afterNanos }: Omit<SpendChange, 'agentId' | 'orgId'>,
): BudgetAlert[] {
  if (agent === undefined) return [];
  const passed = (percent: number): boolean => {
    // A budget of zero is reached by the first spend, not by none.
    const limitNanos = Math.max(1, (agent.budgetCents * NANOS_PER_CENT * percent) / 100);
    return beforeNanos < limitNanos && afterNanos >= limitNanos;
  };
  const facts: BudgetAlert[] = [];
  for (const percent of agent.thresholds) {
    const name = `threshold:${agent.id}:${month}:${percent}`;
    if (passed(percent)) facts.push({ name, agent, spentNanos: afterNanos, thresholdPercent: percent });
  }
  const name = `budget_exceeded:${agent.id}:${month}`;
  if (passed(100)) facts.push({ name, agent, spentNanos: afterNanos, thresholdPercent: null });
  return facts;
}

/** Of several that are the same the first one is told. */
async function emitNewAlerts(tx: Tx, facts: readonly BudgetAlert[]): Promise<void> {
  if (facts.length === 0) return;
  // In one order for everybody, so that two transactions never wait for each other.
  const names = facts.map((fact) => fact.name).sort();
  const rows = await tx<{ fact: string }[]>`
    insert into event_facts (fact) select unnest(${names}::text[]) on conflict (fact) do nothing returning fact`;
  const fresh = new Set(rows.map((row) => row.fact));
  for (const fact of facts) if (fresh.delete(fact.name)) await appendAlertEvent(tx, fact);
}

async function appendAlertEvent(tx: Tx, { agent, spentNanos, thresholdPercent }: BudgetAlert): Promise<void> {
  const spentCents = Math.round(spentNanos / NANOS_PER_CENT);
  const data = { agentId: agent.id, agentName: agent.name, budgetCentsMonthly: agent.budgetCents, spentCents };
  if (thresholdPercent === null) {
    await appendEvent(tx, agent.orgId, 'agent.budget_exceeded', { ...data, orgId: agent.orgId });
  } else {
    await appendEvent(tx, agent.orgId, 'usage.threshold', { ...data, thresholdPercent, orgId: agent.orgId });
  }
}
