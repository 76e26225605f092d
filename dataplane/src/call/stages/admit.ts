/** RPM, RPD and budget in one atomic step (SPEC §8, checks 3 to 5). */
import type { AgentContext } from '../../context/agent-context.js';
import type { Admission, Counters } from '../../counters/counters.js';
import type { Exchange } from '../exchange.js';
import { DONE, NEXT, type Stage, type StageResult, WAIT } from '../pipeline.js';
import { budgetExceeded, type Rejection, rateLimited } from '../rejections.js';

const NANOS_PER_CENT = 10_000_000;

export function createAdmit(counters: Pick<Counters, 'admit'>, advance: (x: Exchange) => void): Stage {
  const settle = (x: Exchange, admission: Admission): StageResult => {
    x.admission = admission;
    const rejection = refusalOf(admission, x.context!);
    if (rejection !== null) {
      x.reject(rejection);
      return DONE;
    }
    return NEXT;
  };
  return (x) => {
    const context = x.context!;
    let waiting = false;
    let result: StageResult = WAIT;
    counters.admit(
      {
        agentId: context.agentId,
        providerSlug: x.upstream!.providerSlug,
        rpmLimit: context.rpmLimit,
        rpdLimit: context.rpdLimit,
        budgetNanos: context.budgetNanos,
        spendFloorNanos: context.spendNanos,
        spendFloorMonth: context.spendMonth,
      },
      (admission) => {
        if (!waiting) {
          result = settle(x, admission);
        } else if (!x.over && settle(x, admission) === NEXT) {
          advance(x);
        }
      },
    );
    waiting = true;
    return result;
  };
}

function refusalOf(admission: Admission, context: AgentContext): Rejection | null {
  switch (admission.outcome) {
    case 'rpm':
      return rateLimited('rpm', context.rpmLimit, admission.resetAtSec, Date.now());
    case 'rpd':
      return rateLimited('rpd', context.rpdLimit, admission.resetAtSec, Date.now());
    case 'budget':
      return budgetExceeded(roundHalfUp(admission.spentNanos), context.budgetCents ?? 0);
    default:
      return null;
  }
}

const roundHalfUp = (nanos: number): number => Math.floor(nanos / NANOS_PER_CENT + 0.5);
