/**
 * No 60 seconds hold more calls of an agent at the provider than its limit per minute, and no day (here: no run) more than
 * its limit per day, wherever the counter store could be asked. Without the store calls pass unchecked, and a primary
 * that dies takes its last writes along (docs/contract.md#limits): time is cut into stretches in which the store was
 * there, and each of them must keep the limit by itself.
 *
 * When a call was admitted is not seen from outside, only that it was between its client's sending and the provider's
 * reading. A call counts where all of that time lies inside the window and the stretch, so whatever froze on the way
 * cannot make it look like a violation.
 */
import {
  type AgentLimits,
  type CallTrace,
  type Interval,
  overlaps,
  type ProviderObservation,
} from '../evidence/history.js';

export const WINDOW_MS = 60_000;
const DAY_MS = 24 * 60 * WINDOW_MS;

interface LimitHistory {
  readonly agents: readonly AgentLimits[];
  readonly calls: readonly CallTrace[];
  readonly observations: readonly ProviderObservation[];
  /** When limits were not enforced by every data plane. */
  readonly storeOutages: readonly Interval[];
}

interface LimitReport {
  readonly violations: string[];
  /** Windows that came within a call of their limit: how sharp the test was. */
  readonly fullWindows: number;
}

export function checkRateLimits({
  agents,
  calls,
  observations: sightings,
  storeOutages: storeAway,
}: LimitHistory): LimitReport {
  const seenAt = firstObservedAt(sightings);
  const broken: string[] = [];
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
        .filter((one) => !storeAway.some((gap) => overlaps(gap, one)))
        .sort((a, b) => a.from - b.from);
      for (const [index, first] of admitted.entries()) {
        const end = Math.min(first.from + windowMs, nextOutageStart(storeAway, first.to));
        const count = admitted.slice(index).filter((one) => one.to < end).length;
        if (count >= limit) fullWindows++;
        if (count <= limit) continue;
        const since = new Date(first.from).toISOString();
        broken.push(`${agent}: ${count} calls within ${name} from ${since}, ${limit} allowed`);
        break;
      }
    }
  }
  return { violations: broken, fullWindows };
}

/** When the provider first saw each call. */
export function firstObservedAt(sightings: readonly ProviderObservation[]): Map<string, number> {
  const seenAt = new Map<string, number>();
  for (const { callId, receivedAt: at } of sightings) seenAt.set(callId, Math.min(at, seenAt.get(callId) ?? at));
  return seenAt;
}

function nextOutageStart(storeAway: readonly Interval[], after: number): number {
  return Math.min(...storeAway.filter(({ from }) => from >= after).map(({ from }) => from), Number.POSITIVE_INFINITY);
}
