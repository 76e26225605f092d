/**
 * Every call ends in one of the ways that docs/contract.md#responses and #websockets name, and a fault explains each
 * failure. Violations: a rejection, a broken connection or a WebSocket close code without a fault, and a response that
 * looks complete but is not.
 */
import type { AgentLimits, CallTrace, FaultTrace, Interval } from '../evidence/evidence-types.js';
import { callInterval, overlaps } from '../evidence/evidence-types.js';
import type { FaultAction, Victim } from '../faults/fault-plan.js';

interface OutcomeHistory {
  readonly agents: readonly AgentLimits[];
  readonly calls: readonly CallTrace[];
  readonly faults: readonly FaultTrace[];
  readonly storeOutages: readonly Interval[];
}

/** Clients notice a recovery late: pools, streams and retry pauses need a moment. */
const RECOVERY_GRACE_MS = 5_000;
/** A breaker stays open for its cooldown, and a failed probe opens it again. */
const BREAKER_RECOVERY_GRACE_MS = 30_000;
/** A probe whose result was lost keeps its slot for this long. */
const PROBE_LEASE_MS = 60_000;

export function checkCallOutcomes(history: OutcomeHistory): string[] {
  const limits = new Map(history.agents.map((one) => [one.agent, one]));
  return history.calls.flatMap((call) => {
    const problem = call.responseProblem ?? explainOutcome(call, limits.get(call.agent)!, history);
    return problem === null ? [] : [`${call.id} (${call.kind} through ${call.plane}): ${problem}`];
  });
}

function explainOutcome(call: CallTrace, limits: AgentLimits, history: OutcomeHistory): string | null {
  if (call.rejection !== null) return checkRejection(call, limits, history);
  if (call.kind === 'websocket' && call.status === 101) return checkWebSocketClose(call, history);
  if (call.complete) return isSuccess(call) ? null : `status ${call.status}, which the provider does not send`;
  return checkBrokenConnection(call, history);
}

const isSuccess = ({ status }: CallTrace): boolean => status !== null && status >= 200 && status < 300;

/** Checks that the cause of the rejection happened. */
function checkRejection(call: CallTrace, limits: AgentLimits, history: OutcomeHistory): string | null {
  const { status, rejection } = call;
  const { message, limitType, hasRetryAfter } = rejection!;
  const because = (fits: boolean, hasToWait = false): string | null => {
    if (!fits) return `${status} "${message}" without a reason`;
    return hasToWait && !hasRetryAfter ? `${status} "${message}" without Retry-After` : null;
  };
  const wasFaulted = (victims: readonly Victim[]): boolean => wasFaultActive(call, history.faults, victims);
  if (status === 429) {
    if (limitType === 'rpm') return because(limits.rpmLimit !== null, true);
    if (limitType === 'tpm') return because(limits.tpmLimit !== null, true);
    if (limitType === 'rpd') return because(limits.rpdLimit !== null);
    return because(limitType === 'budget' && limits.budgetNanos !== null);
  }
  if (status === 502 || status === 504) return because(wasFaulted(['provider', call.plane]));
  if (status !== 503) return because(false);
  if (message.includes('provider is failing')) {
    return because(mayBreakerBeOpen(call, history.faults), true);
  }
  if (message.includes('token cannot be checked')) {
    return because(wasFaulted(['control-1', 'control-2', 'postgres', call.plane]), true);
  }
  if (message.includes('Limits cannot be checked')) {
    const away = history.storeOutages.some((gap) => overlaps(gap, callInterval(call)));
    return because(limits.rejectsWithoutStore && away, true);
  }
  if (message.includes('is stopping'))
    return because(wasFaultActive(call, history.faults, [call.plane], 0, ['restart']), true);
  return because(false);
}

/** True from a fault of the provider on, extended by faults of other targets that may have cost a probe. */
function mayBreakerBeOpen(call: CallTrace, faults: readonly FaultTrace[]): boolean {
  let until = Number.NEGATIVE_INFINITY;
  for (const { victim, from, to } of [...faults].sort((a, b) => a.from - b.from)) {
    if (from > call.endedAt) break;
    if (victim === 'provider') until = Math.max(until, to + BREAKER_RECOVERY_GRACE_MS);
    else if (victim !== 'redis' && from <= until)
      until = Math.max(until, to + PROBE_LEASE_MS + BREAKER_RECOVERY_GRACE_MS);
  }
  return call.sentAt <= until;
}

/** The provider can break the connection after its head, which an agent may not have (docs/contract.md#forwarding). */
function checkBrokenConnection(call: CallTrace, { faults }: OutcomeHistory): string | null {
  if (wasFaultActive(call, faults, [call.plane])) return null;
  // A client that still sends its body may see the connection close before it reads the rejection.
  const sendsLong = call.kind === 'upload' || call.kind === 's3';
  if (sendsLong && wasFaultActive(call, faults, ['provider'], BREAKER_RECOVERY_GRACE_MS)) return null;
  if (sendsLong && wasFaultActive(call, faults, ['control-1', 'control-2', 'postgres'])) return null;
  if (wasFaultActive(call, faults, ['provider'])) return null;
  return `was aborted (${call.error ?? 'ended early'}, status ${call.status}) without a reason`;
}

/** docs/contract.md#websockets. A client reports 1006 for a broken connection. */
function checkWebSocketClose(call: CallTrace, { faults }: OutcomeHistory): string | null {
  const because = (fits: boolean): string | null =>
    fits ? null : `closed with ${call.closeCode} (${call.error ?? 'no error'}) without a reason`;
  switch (call.closeCode) {
    case 1000:
      return null;
    case 1001:
      return because(wasFaultActive(call, faults, [call.plane], RECOVERY_GRACE_MS, ['restart']));
    case 1006:
      return because(wasFaultActive(call, faults, [call.plane]));
    case 1011:
      return because(wasFaultActive(call, faults, ['provider']));
    default:
      return because(false);
  }
}

function wasFaultActive(
  call: CallTrace,
  faults: readonly FaultTrace[],
  victims: readonly Victim[],
  aftermathMs = RECOVERY_GRACE_MS,
  actions: readonly FaultAction[] | null = null,
): boolean {
  return faults.some(
    ({ victim, action, from, to }) =>
      victims.includes(victim) &&
      (actions === null || actions.includes(action)) &&
      overlaps({ from, to: to + aftermathMs }, callInterval(call)),
  );
}
