/**
 * `limit.would_reject`: a limit in audit mode would have rejected a call. Once per budget row and instance of its window,
 * and once per agent, rate limit and UTC day: windows of a minute would send an event each.
 */
import { utcDayOf } from '@acg/base/budget-rows';
import { RATE_LIMITS } from '@acg/base/limit-definitions';
import type { Tx } from '../db/postgres-client.js';
import { appendEvent } from '../events/append-events.js';
import { isBudgetPeriod } from '../ledger/budget-row-sums.js';

interface AuditedCall {
  readonly id: string;
  readonly startedAtMs: number;
  readonly dimensions: {
    readonly orgId: string;
    readonly agentId: string;
    readonly wouldReject: string;
    readonly budgetRows: string;
    readonly day: string;
  };
}

const PLAIN_BUDGETS = ['budget', 'project_budget', 'org_budget'];
const LIMITS: ReadonlySet<string> = new Set([...RATE_LIMITS.map(({ type }) => type), ...PLAIN_BUDGETS]);
const ROW = /^budget:([0-9a-f-]{36})$/;
const ITEMS_MAX = 70;

/** Called by the ingest within its transaction. */
export async function detectWouldReject(tx: Tx, entries: readonly AuditedCall[]): Promise<void> {
  const findings = new Map<
    string,
    { orgId: string; agentId: string; limit: string; budgetId: string | null; window: string; callId: string }
  >();
  for (const { id: callId, startedAtMs, dimensions } of entries) {
    const { orgId, agentId, wouldReject, budgetRows } = dimensions;
    if (wouldReject === '') continue;
    const day = dimensions.day || utcDayOf(startedAtMs);
    for (const item of wouldReject.split(',', ITEMS_MAX)) {
      const budgetId = ROW.exec(item)?.[1] ?? null;
      if (budgetId === null && !LIMITS.has(item)) continue;
      const row = budgetRows.split(',').find((one) => budgetId !== null && one.startsWith(`${budgetId}@`));
      const month = PLAIN_BUDGETS.includes(item) ? day.slice(0, 7) : day;
      const period = row?.slice(row.indexOf('@') + 1) ?? '';
      const window = isBudgetPeriod(period) ? period : month;
      const fact = `would_reject:${budgetId ?? `${agentId}:${item}`}:${window}`;
      if (!findings.has(fact))
        findings.set(fact, { orgId, agentId, limit: budgetId === null ? item : 'budget', budgetId, window, callId });
    }
  }
  if (findings.size === 0) return;
  const inserted = await tx<{ fact: string }[]>`
    insert into event_facts (fact) select unnest(${[...findings.keys()].sort()}::text[])
    on conflict (fact) do nothing returning fact`;
  for (const { fact } of inserted) {
    const found = findings.get(fact)!;
    const { orgId, agentId } = found;
    const [agent] = await tx<{ name: string }[]>`select name from agents where id = ${agentId} and org_id = ${orgId}`;
    if (agent !== undefined) await appendEvent(tx, orgId, 'limit.would_reject', { ...found, agentName: agent.name });
  }
}
