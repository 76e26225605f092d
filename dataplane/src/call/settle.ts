/**
 * Ends every forwarded exchange exactly once, whichever way it went: usage, cost, spend, circuit outcome, and the one
 * usage record that the spool takes before the last byte of the response leaves.
 */
import { CircuitOutcome, type IUsageRecord } from '@acg/proto/messages';
import { MonthNameCache } from '../limits/calendar-month.js';
import type { Counters } from '../limits/counters.js';
import type { UsageReading } from '../metering/reading/usage-meter.js';
import type { CallCost } from '../pricing/price-table.js';
import type { CallMetering } from './call-metering.js';
import type { RoutedExchange } from './exchange.js';
import type { PendingDecodes } from './pending-decodes.js';
import { redactGatewayTokens, redactPath } from './redact-path.js';

/** Where usage records go. */
export interface UsageRecordSink {
  /** `done` runs once, later: null when the record survives a kill of the process. */
  appendRecord(record: IUsageRecord, done: (error: Error | null) => void): void;
}

/** Books `x`; `done` runs when its record is on disk, or with an error when it is not. A second call only runs `done`. */
export type Settle = (x: RoutedExchange, done: (error: Error | null) => void) => void;

interface SettleDeps {
  readonly spool: UsageRecordSink;
  readonly counters: Pick<Counters, 'settle'>;
  readonly metering: Pick<CallMetering, 'priceUsage' | 'estimateUnanswered'>;
  readonly pendingDecodes: Pick<PendingDecodes, 'onStarted' | 'onFinished'>;
  readonly onSettled: (x: RoutedExchange, reading: UsageReading | null, price: CallCost) => void;
  /** A call with a hard budget has cost more than it had reserved. */
  readonly onReservationExceeded: (nanos: number) => void;
}

/** `version-traceid-parentid-flags`; later versions may be longer. */
const TRACEPARENT_CHARS_MAX = 80;
const NO_PRICE: CallCost = Object.freeze({ costNanos: 0, source: 'none' });
/** Error types inside a stream that are the provider's own failure (docs/contract.md#circuits). */
const PROVIDER_STREAM_ERRORS: ReadonlySet<string> = new Set(['server_error', 'overloaded_error', 'api_error']);
const TRANSPORT_ERROR_CLASSES: ReadonlySet<string> = new Set(['connect', 'timeout', 'reset', 'upstream_cut']);

export function createSettle(deps: SettleDeps): Settle {
  const months = new MonthNameCache();
  return (x, done) => {
    if (x.settled) {
      done(null);
      return;
    }
    x.settled = true;
    if (x.meter?.drain?.(() => recordAfterDecode(x, done))) deps.pendingDecodes.onStarted();
    else recordUsage(x, done);
  };

  function recordAfterDecode(x: RoutedExchange, done: Parameters<Settle>[1]): void {
    recordUsage(x, done);
    deps.pendingDecodes.onFinished();
  }

  function recordUsage(x: RoutedExchange, done: Parameters<Settle>[1]): void {
    const isUnanswered = wasAbortedBeforeResponse(x);
    const reading = isUnanswered ? deps.metering.estimateUnanswered(x) : (x.meter?.finish(x.responseComplete) ?? null);
    if (reading?.streamError != null && x.errorClass === '') x.errorClass = 'stream_error';
    const successful = x.upstreamStatus >= 200 && x.upstreamStatus < 300;
    const price = (successful || isUnanswered) && reading !== null ? deps.metering.priceUsage(x, reading) : NO_PRICE;
    x.deferredUsage?.flush(); // before the record that they belong to
    // The record first: what is scheduled first runs first at the end of this turn, and the answer waits for the record.
    deps.spool.appendRecord(buildUsageRecord(x, reading, price, months), done);
    if (x.routed.context.agentLimits.hardBudget && price.costNanos > x.reservedNanos) {
      deps.onReservationExceeded(price.costNanos - x.reservedNanos);
    }
    const { reservedNanos: holdNanos } = x;
    x.reservedNanos = 0;
    settleCounters(deps.counters, x, price.costNanos, reading, holdNanos);
    deps.onSettled(x, reading, price);
  }
}

/**
 * The one case without a 2xx that costs something: the agent left after its whole request had been sent, and providers
 * bill the input that they have begun to work on. Timeouts and failures of the provider stay free.
 */
const wasAbortedBeforeResponse = (x: RoutedExchange): boolean =>
  x.aborted && x.errorClass === 'client_aborted' && x.upstreamStatus === 0 && x.requestFullySent;

function settleCounters(
  counters: Pick<Counters, 'settle'>,
  x: RoutedExchange,
  costNanos: number,
  reading: UsageReading | null,
  holdNanos: number,
): void {
  const tokens = reading === null ? 0 : sumInputTokens(reading) + reading.tokensOut;
  if (costNanos === 0 && tokens === 0 && holdNanos === 0) return;
  const { context, upstream } = x.routed;
  counters.settle({
    limits: context.agentLimits,
    providerSlug: upstream.providerSlug,
    month: x.admission!.month,
    costNanos,
    tokens,
    reservationNanos: holdNanos,
  });
}

/** Gives back what a call has reserved that never went upstream. */
export function releaseReservation(counters: Pick<Counters, 'settle'>, x: RoutedExchange): void {
  const { reservedNanos: holdNanos } = x;
  x.reservedNanos = 0;
  settleCounters(counters, x, 0, null, holdNanos);
}

/** Gives back what was granted to a call that had been settled meanwhile. */
export function releaseGrantedNanos(counters: Pick<Counters, 'settle'>, x: RoutedExchange, nanos: number): void {
  settleCounters(counters, x, 0, null, nanos);
}

const sumInputTokens = (reading: UsageReading): number =>
  reading.tokensInUncached + reading.tokensCacheRead + reading.tokensCacheWrite;

/** What this exchange says about the health of its upstream (docs/contract.md#circuits). */
function computeCircuitOutcome(x: RoutedExchange, streamError: string | null): number {
  const { upstream } = x.routed;
  if (x.failedLocally) return CircuitOutcome.NEUTRAL;
  // No connection came about: no agent can bring that about by what it sends.
  if (!x.requestSent && TRANSPORT_ERROR_CLASSES.has(x.errorClass)) return CircuitOutcome.FAILURE;
  if (upstream.failureStatuses.has(x.upstreamStatus)) {
    const marker = upstream.failureExemptMarker;
    return marker !== null && x.failureBodyPrefix.includes(marker) ? CircuitOutcome.NEUTRAL : CircuitOutcome.FAILURE;
  }
  // A provider may end an upload that the agent lets stall, and any agent can let one stall.
  if (x.body !== null && !x.body.isFullySent) return CircuitOutcome.NEUTRAL;
  if (TRANSPORT_ERROR_CLASSES.has(x.errorClass)) return CircuitOutcome.FAILURE;
  if (x.upstreamStatus === 0) return CircuitOutcome.NEUTRAL;
  if (streamError !== null && PROVIDER_STREAM_ERRORS.has(streamError)) return CircuitOutcome.FAILURE;
  // The agent left before the end: nobody knows how it would have gone on.
  return x.responseComplete ? CircuitOutcome.SUCCESS : CircuitOutcome.NEUTRAL;
}

function buildUsageRecord(
  x: RoutedExchange,
  reading: UsageReading | null,
  price: CallCost,
  months: MonthNameCache,
): IUsageRecord {
  const { context, target, upstream } = x.routed;
  const { providerPath: rest } = target;
  const record: IUsageRecord = {
    id: x.request.id,
    keyId: context.keyId,
    agentId: context.agentId,
    orgId: context.orgId,
    projectId: context.projectId,
    providerSlug: upstream.providerSlug,
    accountId: upstream.accountId,
    startedAtMs: x.request.startedAtMs,
    method: x.request.method,
    path: redactPath(rest),
    status: x.upstreamStatus,
    error: x.errorClass,
    model: redactGatewayTokens(x.deferredUsage?.model ?? reading?.model ?? x.requestModel ?? ''),
    tokensInUncached: reading?.tokensInUncached ?? 0,
    tokensCacheRead: reading?.tokensCacheRead ?? 0,
    tokensCacheWrite: reading?.tokensCacheWrite ?? 0,
    tokensOut: reading?.tokensOut ?? 0,
    tokensReasoning: reading?.tokensReasoning ?? 0,
    costNanos: price.costNanos,
    usageSource: reading?.source ?? 'none',
    priceSource: x.deferredUsage?.priceSource ?? price.source,
    durationMs: Math.round(performance.now() - x.request.startedAtPerfMs),
    bytesIn: x.body?.bytes ?? x.bytesIn,
    bytesOut: x.bytesOut,
    streamed: x.streamed,
    circuitKey: upstream.circuitKey,
    circuitEpoch: x.circuitEpoch,
    circuitOutcome: computeCircuitOutcome(x, reading?.streamError ?? null),
    probeLease: x.probeLease,
    responseStatus: x.responseStatus,
    websocket: x.websocket,
    traceparent: findTraceparent(x.request.headers),
    month: months.get(x.admission!.month),
    lined: x.deferredUsage !== null,
  };
  if (x.respondedAtPerfMs > 0) record.ttfbMs = Math.round(x.respondedAtPerfMs - x.request.startedAtPerfMs);
  return record;
}

/** The caller's place in a trace; what it says is the control plane's to check. */
function findTraceparent(headers: readonly string[]): string {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === 'traceparent') return headers[i + 1]!.length <= TRACEPARENT_CHARS_MAX ? headers[i + 1]! : '';
  }
  return '';
}
