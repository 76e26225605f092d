/**
 * Every call that reached the provider is in the ledger exactly once, and nothing else is.
 *
 * A record is on disk before the last byte of its answer leaves (docs/contract.md#usage). So kill -9 of a data plane may
 * lose a call of which the client had not yet received everything, and no other fault may lose any: not a received
 * answer, whoever dies; not one that broke off, unless its own data plane was killed under it.
 */
import {
  type CallTrace,
  type FaultTrace,
  type LedgerCall,
  type ProviderObservation,
  wasDataPlaneKilledDuring,
} from '../evidence/history.js';

interface LedgerHistory {
  readonly calls: readonly CallTrace[];
  readonly observations: readonly ProviderObservation[];
  readonly ledgerCalls: readonly LedgerCall[];
  readonly faults: readonly FaultTrace[];
  /** Sums of the rollups, and of the month's spend. */
  readonly sums: { readonly requests: number; readonly costNanos: number; readonly spentNanos: number };
}

export function checkExactlyOnce({
  calls,
  observations: sightings,
  ledgerCalls: booked,
  faults,
  sums,
}: LedgerHistory): string[] {
  const broken: string[] = [];
  const records = new Map<string, LedgerCall>();
  for (const record of booked) {
    if (record.callId === null) broken.push(`record ${record.recordId} is of no call that was made`);
    else if (records.has(record.callId)) broken.push(`${record.callId} is booked twice`);
    else records.set(record.callId, record);
  }
  const seen = new Set(sightings.map(({ callId }) => callId));
  for (const call of calls) {
    const problem = checkCall(call, records.get(call.id) ?? null, seen.has(call.id), faults);
    if (problem !== null) broken.push(`${call.id} (${call.kind} through ${call.plane}) ${problem}`);
  }
  const known = new Set(calls.map(({ id }) => id));
  for (const id of seen) if (!known.has(id)) broken.push(`${id} reached the provider and nobody sent it`);
  const costNanos = booked.reduce((sum, record) => sum + record.costNanos, 0);
  const wrong = (what: string, sum: number, is: number): void => {
    if (sum !== is) broken.push(`${what}: ${sum}, the records say ${is}`);
  };
  wrong('calls in the rollups', sums.requests, booked.length);
  wrong('cost in the rollups, nano-dollars', sums.costNanos, costNanos);
  wrong("the month's spend, nano-dollars", sums.spentNanos, costNanos);
  return broken;
}

function checkCall(
  call: CallTrace,
  record: LedgerCall | null,
  seen: boolean,
  faults: readonly FaultTrace[],
): string | null {
  if (call.rejection !== null && wasRejectedBeforeForwarding(call)) {
    if (seen) return `was refused with ${call.status} and reached the provider`;
    return record === null ? null : `was refused with ${call.status} and is booked`;
  }
  if (record === null) {
    const wasForwarded = call.complete && (seen || call.rejection === null || call.status !== 503);
    if (wasForwarded) return 'was received completely and is not booked';
    return seen && !wasDataPlaneKilledDuring(call, faults) ? 'reached the provider and is not booked' : null;
  }
  if (call.requestId !== null && call.requestId !== record.recordId) return 'is booked under another id';
  return null;
}

/**
 * 502 and 504 are the gateway's own answers, too, but of calls that went to the provider. So did a WebSocket that the
 * provider agreed to when the data plane was about to stop.
 */
function wasRejectedBeforeForwarding({ status, kind, rejection: refusal }: CallTrace): boolean {
  if (status === 502 || status === 504) return false;
  return kind !== 'websocket' || !refusal!.message.includes('is stopping');
}
