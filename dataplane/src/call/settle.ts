/**
 * Books every forwarded exchange exactly once: usage, cost, spend, circuit outcome, and one usage record. The spool
 * takes the record before the last byte of the response leaves.
 */
import { windowInCell } from '@acg/base/cells';
import { invariant } from '@acg/base/invariant-failures';
import { CircuitOutcome, type IUsageRecord } from '@acg/proto/messages';
import type { AgentLimits } from '../limits/agent-limits.js';
import { calendarWindowAt } from '../limits/calendar-window.js';
import type { Counters } from '../limits/counters-interface.js';
import type { UsageReading } from '../metering/reading/response-usage-meter-interface.js';
import type { CallCost } from '../pricing/call-cost-calculator.js';
import type { CallMetering } from './call-metering-interface.js';
import type { RoutedExchange } from './exchange.js';
import { findCalledTool } from './mcp-call.js';
import type { PendingDecodes } from './pending-decodes.js';
import { redactAndTruncatePath, redactGatewayTokens } from './redact-gateway-tokens.js';

/** Stores usage records. */
export interface UsageRecordSink {
  /** `done` runs once, in a later turn: with null when the record survives a kill of the process. */
  appendRecord(record: IUsageRecord, done: (error: Error | null) => void): void;
}

/**
 * Books `exchange`. `done` runs when its record is on disk, or with an error when it is not. A second call only runs
 * `done`.
 */
export type Settle = (exchange: RoutedExchange, done: (error: Error | null) => void) => void;

interface SettleDeps {
  readonly spool: UsageRecordSink;
  readonly counters: Pick<Counters, 'settle'>;
  readonly metering: Pick<CallMetering, 'priceUsage' | 'estimateUnanswered'>;
  readonly pendingDecodes: Pick<PendingDecodes, 'onStarted' | 'onFinished'>;
  readonly onSettled: (exchange: RoutedExchange, reading: UsageReading | null, price: CallCost) => void;
  /** A call with a hard budget cost more than it had reserved. */
  readonly onReservationExceeded: (nanos: number) => void;
}

/** `version-traceid-parentid-flags`; later versions may be longer. */
const TRACEPARENT_CHARS_MAX = 80;
const NO_PRICE: CallCost = Object.freeze({ costNanos: 0, source: 'none' });
/** Error types inside a stream that are the provider's own failure (docs/contract.md#circuits). */
const PROVIDER_STREAM_ERRORS: ReadonlySet<string> = new Set(['server_error', 'overloaded_error', 'api_error']);
const TRANSPORT_ERROR_CLASSES: ReadonlySet<string> = new Set(['connect', 'timeout', 'reset', 'upstream_cut']);

export function createSettle(deps: SettleDeps): Settle {
  return (exchange, done) => {
    if (exchange.settled) {
      done(null);
      return;
    }
    exchange.settled = true;
    if (!invariant(exchange.wasAdmitted || !exchange.upstreamCall.requestSent, 'settle_after_admission')) {
      done(null);
      return;
    }
    if (exchange.metering.meter?.drain?.(() => recordAfterDecode(exchange, done))) deps.pendingDecodes.onStarted();
    else recordUsage(exchange, done);
  };

  function recordAfterDecode(exchange: RoutedExchange, done: Parameters<Settle>[1]): void {
    recordUsage(exchange, done);
    deps.pendingDecodes.onFinished();
  }

  function recordUsage(exchange: RoutedExchange, done: Parameters<Settle>[1]): void {
    if (!invariant(!exchange.metering.isRecorded, 'settle_records_once')) {
      done(null);
      return;
    }
    exchange.metering.isRecorded = true;
    const isUnanswered = wasAbortedAwaitingResponse(exchange);
    const reading = isUnanswered
      ? deps.metering.estimateUnanswered(exchange)
      : (exchange.metering.meter?.finish(exchange.upstreamCall.responseComplete) ?? null);
    if (reading?.streamError != null && exchange.errorClass === '') exchange.errorClass = 'stream_error';
    const successful = exchange.upstreamCall.status >= 200 && exchange.upstreamCall.status < 300;
    const price =
      (successful || isUnanswered) && reading !== null ? deps.metering.priceUsage(exchange, reading) : NO_PRICE;
    exchange.metering.deferredUsage?.flush(); // Before the record that the lines belong to.
    // The record first: tasks run in the order in which they are scheduled, and the response waits for the record.
    deps.spool.appendRecord(buildUsageRecord(exchange, reading, price), done);
    if (findAdmittedLimits(exchange).hasHardBudget && price.costNanos > exchange.admission.reservedNanos) {
      deps.onReservationExceeded(price.costNanos - exchange.admission.reservedNanos);
    }
    const { reservedNanos } = exchange.admission;
    exchange.admission.reservedNanos = 0;
    settleCounters(deps.counters, exchange, price.costNanos, reading, reservedNanos);
    deps.onSettled(exchange, reading, price);
  }
}

/**
 * The only case without a 2xx that costs something: the agent disconnected after its whole request had been sent.
 * Providers bill the input that they have begun to process. Timeouts and failures of the provider are free.
 */
const wasAbortedAwaitingResponse = (exchange: RoutedExchange): boolean =>
  exchange.aborted &&
  exchange.errorClass === 'client_aborted' &&
  exchange.upstreamCall.status === 0 &&
  exchange.upstreamCall.requestFullySent;

/** The limits that have admitted the call. */
export const findAdmittedLimits = ({ admission, routed }: RoutedExchange): AgentLimits =>
  admission.admittedBy ?? routed.context.agentLimits;

function settleCounters(
  counters: Pick<Counters, 'settle'>,
  exchange: RoutedExchange,
  costNanos: number,
  reading: UsageReading | null,
  reservedNanos: number,
): void {
  const tokens = reading === null ? 0 : sumInputTokens(reading) + reading.tokensOut;
  if (costNanos === 0 && tokens === 0 && reservedNanos === 0) return;
  counters.settle({
    limits: findAdmittedLimits(exchange),
    providerSlug: exchange.routed.upstream.providerSlug,
    admittedAtSec: exchange.admission.result!.admittedAtSec,
    costNanos,
    tokens,
    reservationNanos: reservedNanos,
  });
}

/** Releases the reservation of a call that is not forwarded. */
export function releaseReservation(counters: Pick<Counters, 'settle'>, exchange: RoutedExchange): void {
  const { reservedNanos } = exchange.admission;
  exchange.admission.reservedNanos = 0;
  settleCounters(counters, exchange, 0, null, reservedNanos);
}

/** Releases a reservation or a growth that was granted after the call had ended. */
export function releaseLateReservation(
  counters: Pick<Counters, 'settle'>,
  exchange: RoutedExchange,
  limits: AgentLimits,
  admittedAtSec: number,
  nanos: number,
): void {
  if (nanos === 0) return;
  const { providerSlug } = exchange.routed.upstream;
  counters.settle({ limits, providerSlug, admittedAtSec, costNanos: 0, tokens: 0, reservationNanos: nanos });
}

const sumInputTokens = (reading: UsageReading): number =>
  reading.tokensInUncached + reading.tokensCacheRead + reading.tokensCacheWrite;

/** Computes what this exchange says about the health of its upstream (docs/contract.md#circuits). */
function computeCircuitOutcome(exchange: RoutedExchange, streamError: string | null): number {
  const { upstream } = exchange.routed;
  if (exchange.upstreamCall.failedLocally) return CircuitOutcome.NEUTRAL;
  // No connection was made; nothing that an agent sends can cause that.
  if (!exchange.upstreamCall.requestSent && TRANSPORT_ERROR_CLASSES.has(exchange.errorClass))
    return CircuitOutcome.FAILURE;
  if (upstream.failureStatuses.has(exchange.upstreamCall.status)) {
    const marker = upstream.failureExemptMarker;
    return marker !== null && exchange.upstreamCall.failureBodyPrefix.includes(marker)
      ? CircuitOutcome.NEUTRAL
      : CircuitOutcome.FAILURE;
  }
  // A provider may close the connection of a stalled upload, and any agent can stall one.
  if (exchange.body !== null && !exchange.body.isFullySent) return CircuitOutcome.NEUTRAL;
  if (TRANSPORT_ERROR_CLASSES.has(exchange.errorClass)) return CircuitOutcome.FAILURE;
  if (exchange.upstreamCall.status === 0) return CircuitOutcome.NEUTRAL;
  if (streamError !== null && PROVIDER_STREAM_ERRORS.has(streamError)) return CircuitOutcome.FAILURE;
  // The agent disconnected before the end, so the outcome is unknown.
  return exchange.upstreamCall.responseComplete ? CircuitOutcome.SUCCESS : CircuitOutcome.NEUTRAL;
}

function buildUsageRecord(exchange: RoutedExchange, reading: UsageReading | null, price: CallCost): IUsageRecord {
  const { context, target, upstream } = exchange.routed;
  const { providerPath } = target;
  const record: IUsageRecord = {
    id: exchange.request.id,
    keyId: context.keyId,
    agentId: context.agentId,
    orgId: context.orgId,
    projectId: context.projectId,
    providerSlug: upstream.providerSlug,
    accountId: upstream.accountId,
    startedAtMs: exchange.request.startedAtMs,
    method: exchange.request.method,
    path: redactAndTruncatePath(providerPath),
    status: exchange.upstreamCall.status,
    error: exchange.errorClass,
    model: redactGatewayTokens(
      exchange.metering.deferredUsage?.model ?? reading?.model ?? exchange.metering.requestModel ?? '',
    ),
    tool: redactGatewayTokens(findCalledTool(exchange.admission.mcp)),
    tokensInUncached: reading?.tokensInUncached ?? 0,
    tokensCacheRead: reading?.tokensCacheRead ?? 0,
    tokensCacheWrite: reading?.tokensCacheWrite ?? 0,
    tokensOut: reading?.tokensOut ?? 0,
    tokensReasoning: reading?.tokensReasoning ?? 0,
    costNanos: price.costNanos,
    usageSource: reading?.source ?? 'none',
    priceSource: exchange.metering.deferredUsage?.priceSource ?? price.source,
    durationMs: Math.round(performance.now() - exchange.request.startedAtPerfMs),
    bytesIn: exchange.body?.bytes ?? exchange.metering.bytesIn,
    bytesOut: exchange.metering.bytesOut,
    streamed: exchange.response.streamed,
    circuitKey: upstream.circuitKey,
    circuitEpoch: exchange.admission.circuitEpoch,
    circuitOutcome: computeCircuitOutcome(exchange, reading?.streamError ?? null),
    probeLease: exchange.admission.probeLease,
    responseStatus: exchange.response.status,
    websocket: exchange.isWebSocket,
    traceparent: findTraceparent(exchange.request.headers),
    ...describeAdmission(exchange),
    lined: exchange.metering.deferredUsage !== null,
    tags: exchange.admission.tags.join(),
    runId: context.runIds[0] ?? '',
  };
  const statedCostNanos = reading?.extras.statedCostNanos ?? null;
  if (statedCostNanos !== null) record.statedCostNanos = statedCostNanos;
  if (exchange.upstreamCall.respondedAtPerfMs > 0)
    record.ttfbMs = Math.round(exchange.upstreamCall.respondedAtPerfMs - exchange.request.startedAtPerfMs);
  return record;
}

/** A call whose connection could not be made was not admitted: the ledger takes the windows of its start. */
function describeAdmission(exchange: RoutedExchange) {
  const { result } = exchange.admission;
  if (result === null) return NOT_ADMITTED;
  const { admittedAtSec, wouldReject } = result;
  return {
    month: calendarWindowAt('month', admittedAtSec).name,
    day: calendarWindowAt('day', admittedAtSec).name,
    budgetRows: listBudgetRows(findAdmittedLimits(exchange), admittedAtSec),
    wouldReject,
  };
}

const NOT_ADMITTED = { month: '', day: '', budgetRows: '', wouldReject: '' } as const;

/**
 * `<id>@<window>,…` of the rows that counted a call; the plain monthly ones have no id. Then `<id>@<window>/<cell>,…` of
 * its cell's shares.
 */
const listBudgetRows = ({ budgets }: AgentLimits, admittedAtSec: number): string =>
  budgets
    .flatMap((row) => {
      const window = row.windowsAt(admittedAtSec)[0]!.name;
      if (row.cell !== '') return `${row.ledgerId}@${windowInCell(window, row.cell)}`;
      return row.isPlain ? [] : `${row.id}@${window}`;
    })
    .join();

/** Reads the caller's trace context; the control plane validates it. */
function findTraceparent(headers: readonly string[]): string {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === 'traceparent') return headers[i + 1]!.length <= TRACEPARENT_CHARS_MAX ? headers[i + 1]! : '';
  }
  return '';
}
