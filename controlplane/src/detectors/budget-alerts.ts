/**
 * Budget events, each at most once (docs/contract.md#events): `agent.budget_exceeded` once per agent and month,
 * `usage.threshold` once per agent, month and threshold. Each alert is a unique row (a fact) that is inserted in the
 * transaction in which it becomes true. Of two concurrent inserts one waits and then does nothing, so concurrent
 * bookings and control planes emit an event once.
 *
 * A fact can become true in three ways: the ingest raises the spend past a limit; a PATCH lowers a limit to the spend
 * ({@link recheckBudgetOfAgent}, in its transaction); or both happen concurrently without seeing each other, which the
 * sweep every 30 s detects. A budget that is raised and reached again, or lowered again, causes no second event in that
 * month.
 */
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { Sql, Tx } from '../db/postgres-client.js';
import { appendEvent } from '../events/append-events.js';
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
  /** Null: the alert is about the budget itself. */
  readonly thresholdPercent: number | null;
}

/** Less than any spend, so every reached limit counts as newly reached. */
const BELOW_ANY_SPEND = -1;

/** Called by the ingest within its transaction, with the spend rows that it has locked. */
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
 * Called by the ingest with rejections because of an exhausted budget. A hard budget is exhausted when the next call
 * does not fit any more, even if the ledger never reaches the limit.
 */
export async function detectExhaustedHardBudgets(
  tx: Tx,
  rejections: readonly { agentId: string; minuteMs: number }[],
): Promise<void> {
  if (rejections.length === 0) return;
  const ids = rejections.map(({ agentId }) => agentId);
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
    rejections.flatMap(({ agentId, minuteMs }): BudgetAlert[] => {
      const agent = agents.get(agentId);
      if (agent === undefined) return [];
      const month = new Date(minuteMs).toISOString().slice(0, 7);
      const spentNanos = months.find((row) => row.agentId === agentId && row.month === month)?.spentNanos ?? 0;
      return [{ name: `budget_exceeded:${agentId}:${month}`, agent, spentNanos, thresholdPercent: null }];
    }),
  );
}

/** Called after a change of a budget or its thresholds, in the same transaction. */
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

/** Emits alerts that became true unnoticed. Returns the number of agents checked. */
export async function sweepBudgetAlerts(sql: Sql): Promise<number> {
  return sql.begin(async (tx) => {
    const [lock] = await tx<
      { acquired: boolean }[]
    >`select pg_try_advisory_xact_lock(hashtext('budget sweep')) as acquired`;
    if (!lock!.acquired) return 0;
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

/** Alerts for the agent's limits that the spend has passed. */
function reachedAlerts(
  agent: BudgetedAgent | undefined,
  { month, beforeNanos, afterNanos }: Omit<SpendChange, 'agentId' | 'orgId'>,
): BudgetAlert[] {
  if (agent === undefined) return [];
  const isNewlyReached = (percent: number): boolean => {
    // A budget of zero is reached by the first spend, not by zero spend.
    const limitNanos = Math.max(1, (agent.budgetCents * NANOS_PER_CENT * percent) / 100);
    return beforeNanos < limitNanos && afterNanos >= limitNanos;
  };
  const facts: BudgetAlert[] = [];
  for (const percent of agent.thresholds) {
    const name = `threshold:${agent.id}:${month}:${percent}`;
    if (isNewlyReached(percent)) facts.push({ name, agent, spentNanos: afterNanos, thresholdPercent: percent });
  }
  const name = `budget_exceeded:${agent.id}:${month}`;
  if (isNewlyReached(100)) facts.push({ name, agent, spentNanos: afterNanos, thresholdPercent: null });
  return facts;
}

/** Inserts the facts and appends an event for each new one. Of equal facts only the first counts. */
async function emitNewAlerts(tx: Tx, facts: readonly BudgetAlert[]): Promise<void> {
  if (facts.length === 0) return;
  // Sorted, so that two transactions lock the rows in the same order and never deadlock.
  const names = facts.map((fact) => fact.name).sort();
  const rows = await tx<{ fact: string }[]>`
    insert into event_facts (fact) select unnest(${names}::text[]) on conflict (fact) do nothing returning fact`;
  const newFacts = new Set(rows.map((row) => row.fact));
  for (const fact of facts) if (newFacts.delete(fact.name)) await appendAlertEvent(tx, fact);
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
