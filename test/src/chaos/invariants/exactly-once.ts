/**
 * Every call that reached the provider is in the ledger exactly once, and nothing else is.
 *
 * A record is on disk before the last byte of its response is sent (docs/contract.md#usage). So only kill -9 of a data
 * plane may lose a call, and only one whose client had not received the whole response. A received response is never
 * lost. An aborted call is lost only when its own data plane was killed meanwhile.
 */
import {
  type CallTrace,
  type FaultTrace,
  type LedgerCall,
  type ProviderObservation,
  wasDataPlaneKilledDuring,
} from '../evidence/evidence-types.js';

interface LedgerHistory {
  readonly calls: readonly CallTrace[];
  readonly observations: readonly ProviderObservation[];
  readonly ledgerCalls: readonly LedgerCall[];
  readonly faults: readonly FaultTrace[];
  /** Totals of the rollups and of the month's spend. */
  readonly sums: { readonly requests: number; readonly costNanos: number; readonly spentNanos: number };
}

export function checkExactlyOnce({ calls, observations, ledgerCalls, faults, sums }: LedgerHistory): string[] {
  const violations: string[] = [];
  const records = new Map<string, LedgerCall>();
  for (const record of ledgerCalls) {
    if (record.callId === null) violations.push(`record ${record.recordId} matches no call`);
    else if (records.has(record.callId)) violations.push(`${record.callId} is recorded twice`);
    else records.set(record.callId, record);
  }
  const seen = new Set(observations.map(({ callId }) => callId));
  for (const call of calls) {
    const problem = checkCall(call, records.get(call.id) ?? null, seen.has(call.id), faults);
    if (problem !== null) violations.push(`${call.id} (${call.kind} through ${call.plane}) ${problem}`);
  }
  const known = new Set(calls.map(({ id }) => id));
  for (const id of seen) if (!known.has(id)) violations.push(`${id} reached the provider, but no client sent it`);
  const costNanos = ledgerCalls.reduce((sum, record) => sum + record.costNanos, 0);
  const wrong = (what: string, sum: number, is: number): void => {
    if (sum !== is) violations.push(`${what}: ${sum}, the records contain ${is}`);
  };
  wrong('calls in the rollups', sums.requests, ledgerCalls.length);
  wrong('cost in the rollups, nano-dollars', sums.costNanos, costNanos);
  wrong("the month's spend, nano-dollars", sums.spentNanos, costNanos);
  return violations;
}

function checkCall(
  call: CallTrace,
  record: LedgerCall | null,
  seen: boolean,
  faults: readonly FaultTrace[],
): string | null {
  // The second send was rejected, after a kept connection that was dead.
  const wasRetried = record?.error === 'retry_rejected';
  if (call.rejection !== null && wasRejectedBeforeForwarding(call) && !wasRetried) {
    if (seen) return `was rejected with ${call.status} and reached the provider`;
    return record === null ? null : `was rejected with ${call.status} and is recorded`;
  }
  if (record === null) {
    const wasForwarded = call.complete && (seen || call.rejection === null || call.status !== 503);
    if (wasForwarded) return 'was received completely and is not recorded';
    return seen && !wasDataPlaneKilledDuring(call, faults) ? 'reached the provider and is not recorded' : null;
  }
  if (call.requestId !== null && call.requestId !== record.recordId) return 'is recorded under another id';
  return null;
}

/**
 * The gateway also responds with 502 and 504 itself, but those calls were forwarded. So was a WebSocket that the
 * provider accepted just before the data plane shut down.
 */
function wasRejectedBeforeForwarding({ status, kind, rejection }: CallTrace): boolean {
  if (status === 502 || status === 504) return false;
  return kind !== 'websocket' || !rejection!.message.includes('is stopping');
}
