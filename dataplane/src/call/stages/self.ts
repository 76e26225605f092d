/**
 * `GET /v1/self`: what the agent of this gateway token may still do (DESIGN §5). Consumes nothing.
 *
 *   { agent {id, name, slug, status}, limits {rpm, rpd, budgetCents}, spentCents, month, budgetResetAt,
 *     providers [{slug, status, circuit, rpmRemaining, rpmResetAt, rpdRemaining, rpdResetAt}] }
 *
 * Times are Unix seconds. The counters' figures are null while their store is unavailable.
 */
import type { AgentContext } from '../../context/agent-context.js';
import type { AgentStanding, Counters } from '../../counters/counters.js';
import type { Exchange } from '../exchange.js';
import { DONE, type Stage, WAIT } from '../pipeline.js';
import { REJECTIONS } from '../rejections.js';
import type { Circuits } from './circuit.js';

export const SELF_PATH = '/v1/self';
const NANOS_PER_CENT = 10_000_000;

export function createSelf(counters: Pick<Counters, 'standing'>, circuits: Pick<Circuits, 'view'>): Stage {
  return (x: Exchange) => {
    if (x.request.method !== 'GET') {
      x.reject(REJECTIONS.methodNotAllowed);
      return DONE;
    }
    const context = x.context!;
    counters.standing(
      {
        agentId: context.agentId,
        providerSlugs: [...context.upstreams.keys()],
        rpmLimit: context.rpmLimit,
        rpdLimit: context.rpdLimit,
        spendFloorNanos: context.spendNanos,
        spendFloorMonth: context.spendMonth,
      },
      (standing) => x.answerJson(JSON.stringify(describe(context, standing, circuits, Date.now()))),
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
    limits: { rpm: context.rpmLimit, rpd: context.rpdLimit, budgetCents: context.budgetCents },
    spentCents: standing === null ? null : Math.floor(standing.spentNanos / NANOS_PER_CENT + 0.5),
    month: now.toISOString().slice(0, 7),
    budgetResetAt: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) / 1000,
    providers: Array.from(context.upstreams.values(), (upstream) => {
      const window = windows.get(upstream.providerSlug);
      return {
        slug: upstream.providerSlug,
        status: upstream.accountStatus,
        circuit: circuits.view(upstream.circuitKey)?.state ?? 'CLOSED',
        rpmRemaining: window?.rpmRemaining ?? null,
        rpmResetAt: window?.rpmResetAtSec ?? null,
        rpdRemaining: window?.rpdRemaining ?? null,
        rpdResetAt: window?.rpdResetAtSec ?? null,
      };
    }),
  };
}
