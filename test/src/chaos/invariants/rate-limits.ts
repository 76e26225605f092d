/**
 * In no 60 seconds the provider receives more calls of an agent than its limit per minute, and on no day (here: in no
 * run) more than its limit per day, while the counter store is up. During an outage calls pass unchecked, and a primary
 * that dies loses its last writes (docs/contract.md#limits). So each stretch between outages must keep the limit by
 * itself.
 *
 * The time of admission is not visible from outside: it is between the client's send and the provider's receipt. A call
 * counts only when that whole interval is inside the window and the stretch, so a freeze on the way causes no false
 * violation.
 */
import {
  type AgentLimits,
  type CallTrace,
  type Interval,
  overlaps,
  type ProviderObservation,
} from '../evidence/evidence-types.js';

export const WINDOW_MS = 60_000;
const DAY_MS = 24 * 60 * WINDOW_MS;

interface LimitHistory {
  readonly agents: readonly AgentLimits[];
  readonly calls: readonly CallTrace[];
  readonly observations: readonly ProviderObservation[];
  /** When not every data plane enforced limits. */
  readonly storeOutages: readonly Interval[];
}

interface LimitReport {
  readonly violations: string[];
  /** Windows that reached their limit: shows how much the run tested. */
  readonly fullWindows: number;
}

export function checkRateLimits({ agents, calls, observations, storeOutages }: LimitHistory): LimitReport {
  const seenAt = firstObservedAt(observations);
  const violations: string[] = [];
  let fullWindows = 0;
  for (const { agent, rpmLimit, rpdLimit } of agents) {
    const limits = [
      { limit: rpmLimit, windowMs: WINDOW_MS, name: '60 s' },
      { limit: rpdLimit, windowMs: DAY_MS, name: 'a day' },
    ];
    for (const { limit, windowMs, name } of limits) {
      if (limit === null) continue;
      const admitted = calls
        .filter((call) => call.agent === agent && seenAt.has(call.id))
        .map((call) => ({ from: call.sentAt, to: seenAt.get(call.id)! }))
        .filter((one) => !storeOutages.some((gap) => overlaps(gap, one)))
        .sort((a, b) => a.from - b.from);
      for (const [index, first] of admitted.entries()) {
        const end = Math.min(first.from + windowMs, nextOutageStart(storeOutages, first.to));
        const count = admitted.slice(index).filter((one) => one.to < end).length;
        if (count >= limit) fullWindows++;
        if (count <= limit) continue;
        const since = new Date(first.from).toISOString();
        violations.push(`${agent}: ${count} calls within ${name} from ${since}, ${limit} allowed`);
        break;
      }
    }
  }
  return { violations, fullWindows };
}

/** When the provider first received each call. */
export function firstObservedAt(observations: readonly ProviderObservation[]): Map<string, number> {
  const seenAt = new Map<string, number>();
  for (const { callId, receivedAt: at } of observations) seenAt.set(callId, Math.min(at, seenAt.get(callId) ?? at));
  return seenAt;
}

function nextOutageStart(storeOutages: readonly Interval[], after: number): number {
  return Math.min(
    ...storeOutages.filter(({ from }) => from >= after).map(({ from }) => from),
    Number.POSITIVE_INFINITY,
  );
}
