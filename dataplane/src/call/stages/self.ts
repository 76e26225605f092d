/**
 * `GET /v1/self`: what the agent of this gateway token may still do (docs/contract.md#answers). Consumes nothing.
 *
 *   { agent {id, name, slug, status}, limits {rpm, …, budgetCents}, spentCents, spentUsd, month, budgetResetAt,
 *     budgets [{scope, budgetCents, spentCents, heldCents, spentUsd, heldUsd}],
 *     providers [{slug, status, circuit, rpmRemaining, rpmResetAt, … of each rate, policy}] }
 *
 * `policy` is null where everything is allowed, else `{closed, calls, models}`.
 *
 * Times are Unix seconds. The counters' figures are null while their store is unavailable.
 */

import type { Circuits } from '../../circuit/circuits.js';
import type { AgentContext } from '../../context/agent-context.js';
import type { AgentStanding, Counters, WindowStanding } from '../../counters/counters.js';
import { BUDGET_ROW, LIMIT_TABLE, type Limits, MONEY_ROWS, shown, UNLIMITED } from '../../counters/limit-table.js';
import type { Exchange } from '../exchange.js';
import { DONE, type Stage, WAIT } from '../pipeline.js';
import { REJECTIONS } from '../rejections.js';

export const SELF_PATH = '/v1/self';
const BUDGET = LIMIT_TABLE[BUDGET_ROW]!;

export function createSelf(counters: Pick<Counters, 'standing'>, circuits: Pick<Circuits, 'view'>): Stage {
  return (x: Exchange) => {
    if (x.request.method !== 'GET') {
      x.reject(REJECTIONS.methodNotAllowed);
      return DONE;
    }
    const context = x.context!;
    counters.standing({ terms: context.terms, providerSlugs: [...context.upstreams.keys()] }, (standing) =>
      x.answerJson(JSON.stringify(describe(context, standing, circuits, Date.now()))),
    );
    return WAIT;
  };
}

function describe(
  context: AgentContext,
  standing: AgentStanding | null,
  circuits: Pick<Circuits, 'view'>,
  nowMs: number,
): object {
  const now = new Date(nowMs);
  const windows = new Map(standing?.windows.map((window) => [window.providerSlug, window]));
  return {
    agent: {
      id: context.agentId,
      name: context.agentName,
      slug: context.agentSlug,
      status: context.agentStatus,
    },
    limits: describeLimits(context.terms.limits),
    spentCents: standing === null ? null : shown(BUDGET, standing.spends[0]!.spentNanos),
    spentUsd: standing === null ? null : usd(standing.spends[0]!.spentNanos),
    budgets: describeBudgets(standing, context.terms.limits),
    month: now.toISOString().slice(0, 7),
    budgetResetAt: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) / 1000,
    providers: Array.from(context.upstreams.values(), (upstream) => {
      const window = windows.get(upstream.providerSlug);
      return {
        slug: upstream.providerSlug,
        status: upstream.accountStatus,
        circuit: circuits.view(upstream)?.state ?? 'CLOSED',
        ...describeWindows(context.terms.limits, window),
        policy: upstream.policy,
      };
    }),
  };
}

/** `{rpm, …, budgetCents}`; null = none. */
function describeLimits(limits: Limits): Readonly<Record<string, number | null>> {
  return Object.fromEntries(
    LIMIT_TABLE.filter(({ scope }) => scope !== 'project' && scope !== 'org').map((row, at) => [
      row.unit === 'cents' ? `${row.type}Cents` : row.type,
      shown(row, limits[at]!),
    ]),
  );
}

/** `{rpmRemaining, rpmResetAt, …}`: the rows that count per provider. */
function describeWindows(limits: Limits, window: WindowStanding | undefined): Readonly<Record<string, number | null>> {
  const figures: Record<string, number | null> = {};
  LIMIT_TABLE.forEach(({ type, scope }, at) => {
    if (scope !== 'agent_provider') return;
    const isLimited = limits[at] !== UNLIMITED;
    figures[`${type}Remaining`] = isLimited ? (window?.remaining[at] ?? null) : null;
    figures[`${type}ResetAt`] = window?.resetAtSec[at] ?? null;
  });
  return figures;
}

/** `[{scope, budgetCents, spentCents, heldCents, spentUsd, heldUsd}]` of every scope that has a budget. */
function describeBudgets(standing: AgentStanding | null, limits: Limits): readonly object[] {
  return MONEY_ROWS.flatMap((at) => {
    const row = LIMIT_TABLE[at]!;
    const budgetCents = shown(row, limits[at]!);
    if (budgetCents === null) return [];
    const spend = standing?.spends.find((one) => one.row === at);
    const cents = (nanos: number | undefined): number | null => (nanos === undefined ? null : shown(row, nanos));
    const { scope } = row;
    return [
      {
        scope,
        budgetCents,
        spentCents: cents(spend?.spentNanos),
        heldCents: cents(spend?.heldNanos),
        spentUsd: usd(spend?.spentNanos),
        heldUsd: usd(spend?.heldNanos),
      },
    ];
  });
}

/** To six decimals: what whole cents do not show. */
const usd = (nanos: number | undefined): number | null =>
  nanos === undefined ? null : Math.round(nanos / 1_000) / 1e6;
