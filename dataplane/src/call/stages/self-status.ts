/**
 * `GET /v1/self`: limits, spend and provider status of the agent (docs/contract.md#responses). Consumes nothing.
 *
 *   { agent {id, name, slug, status}, limits {rpm, …, budgetCents}, spentCents, spentUsd, month, budgetResetAt,
 *     auditedLimits [rpm …], budgets [{scope, budgetId?, window, models?, tag?, mode, budgetCents, spentCents, heldCents,
 *     spentUsd, heldUsd, resetAt}],
 *     providers [{slug, builtIn, mcp, status, circuit, rpmRemaining, rpmResetAt, … of each rate, policy}] }
 *
 * `policy` is null where everything is allowed, else `{closed, calls, models}`.
 *
 * Times are Unix seconds. The counters' figures are null while their store is unavailable.
 */

import type { Breakers } from '../../breaker/breakers-interface.js';
import type { AgentContext } from '../../context/agent-context.js';
import type { AgentLimits } from '../../limits/agent-limits.js';
import { describeBudgetRow } from '../../limits/budget-row.js';
import { calendarWindowAt } from '../../limits/calendar-window.js';
import type { Counters, LimitSnapshot, WindowSnapshot } from '../../limits/counters-interface.js';
import {
  BUDGET_ROW,
  LIMIT_TABLE,
  type LimitValues,
  nanosToCents,
  toDisplayValue,
  UNLIMITED,
} from '../../limits/limit-table.js';
import { REJECTIONS } from '../../rejection/rejections.js';
import type { Exchange } from '../exchange.js';
import { DONE, type Stage, WAIT } from '../pipeline.js';

export const SELF_PATH = '/v1/self';
const BUDGET = LIMIT_TABLE[BUDGET_ROW]!;

export function createSelfStatusStage(counters: Pick<Counters, 'peek'>, breakers: Pick<Breakers, 'getStatus'>): Stage {
  return (exchange: Exchange) => {
    if (exchange.request.method !== 'GET') {
      exchange.reject(REJECTIONS.methodNotAllowed);
      return DONE;
    }
    const context = exchange.access.context!;
    counters.peek({ limits: context.agentLimits, providerSlugs: [...context.upstreams.keys()] }, (snapshot) =>
      exchange.respondJson(JSON.stringify(buildSelfDocument(context, snapshot, breakers))),
    );
    return WAIT;
  };
}

function buildSelfDocument(
  context: AgentContext,
  snapshot: LimitSnapshot | null,
  breakers: Pick<Breakers, 'getStatus'>,
): object {
  const nowSec = snapshot?.takenAtSec ?? Date.now() / 1000;
  const month = calendarWindowAt('month', nowSec);
  const windows = new Map(snapshot?.windows.map((window) => [window.providerSlug, window]));
  return {
    agent: {
      id: context.agentId,
      name: context.agentName,
      slug: context.agentSlug,
      status: context.agentStatus,
    },
    limits: buildLimits(context.agentLimits.byRow),
    auditedLimits: context.agentLimits.auditedRows.map((row) => LIMIT_TABLE[row]!.type),
    spentCents: snapshot === null ? null : toDisplayValue(BUDGET, snapshot.spends[0]!.spentNanos),
    spentUsd: snapshot === null ? null : nanosToUsd(snapshot.spends[0]!.spentNanos),
    budgets: buildBudgets(snapshot, context.agentLimits, nowSec),
    month: month.name,
    budgetResetAt: month.endSec,
    providers: Array.from(context.upstreams.values(), (upstream) => {
      const window = windows.get(upstream.providerSlug);
      return {
        slug: upstream.providerSlug,
        builtIn: !upstream.isCustom,
        mcp: upstream.usageFormat === 'mcp',
        status: upstream.accountStatus,
        circuit: breakers.getStatus(upstream)?.state ?? 'CLOSED',
        ...buildRateWindows(context.agentLimits.byRow, window),
        policy: upstream.policy,
      };
    }),
  };
}

/** `{rpm, …, budgetCents}`; null = none. */
function buildLimits(limits: LimitValues): Readonly<Record<string, number | null>> {
  return Object.fromEntries(
    LIMIT_TABLE.filter(({ scope }) => scope !== 'project' && scope !== 'org').map((row, at) => [
      row.unit === 'cents' ? `${row.type}Cents` : row.type,
      toDisplayValue(row, limits[at]!),
    ]),
  );
}

/** `{rpmRemaining, rpmResetAt, …}`: the rows that count per provider. */
function buildRateWindows(
  limits: LimitValues,
  window: WindowSnapshot | undefined,
): Readonly<Record<string, number | null>> {
  const figures: Record<string, number | null> = {};
  LIMIT_TABLE.forEach(({ type, scope }, at) => {
    if (scope !== 'agent_provider') return;
    const isLimited = limits[at] !== UNLIMITED;
    figures[`${type}Remaining`] = isLimited ? (window?.remaining[at] ?? null) : null;
    figures[`${type}ResetAt`] = window?.resetAtSec[at] ?? null;
  });
  return figures;
}

/** Every row with a budget. */
function buildBudgets(snapshot: LimitSnapshot | null, limits: AgentLimits, nowSec: number): readonly object[] {
  return limits.checkedBudgets.map((row) => {
    const spend = snapshot?.spends.find(({ budget }) => budget === row);
    const cents = (nanos: number | undefined): number | null => (nanos === undefined ? null : nanosToCents(nanos));
    return {
      ...describeBudgetRow(row),
      mode: row.mode,
      budgetCents: nanosToCents(row.limitNanos),
      spentCents: cents(spend?.spentNanos),
      heldCents: cents(spend?.reservedNanos),
      spentUsd: nanosToUsd(spend?.spentNanos),
      heldUsd: nanosToUsd(spend?.reservedNanos),
      resetAt: row.resetsAtSec(nowSec),
    };
  });
}

/** Rounds to six decimals, for amounts below a cent. */
const nanosToUsd = (nanos: number | undefined): number | null =>
  nanos === undefined ? null : Math.round(nanos / 1_000) / 1e6;
