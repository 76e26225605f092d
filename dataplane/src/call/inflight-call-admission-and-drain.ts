/** Inflight calls of one process: admission by capacity, abort when the agent disconnects, and drain. */

import { invariant } from '@acg/base/invariant-failures';
import { noop } from '@acg/base/noop';
import type { RejectionReason } from '@acg/base/rejection-reasons';
import { SwapRemoveSet } from '@acg/base/swap-remove-set';
import { waitAtMost } from '@acg/base/wait-at-most';
import type { IRejectedCall } from '@acg/proto/messages';
import { OrgSlots } from '../concurrency/org-slots.js';
import { REJECTIONS, type Rejection } from '../rejection/rejections.js';
import type { CallMetrics } from './call-metrics-interface.js';
import type { ClientIpResolver } from './client-ip-resolver.js';
import { describeRejectedCall } from './describe-rejected-call.js';
import type { DialLimiter } from './dial-limiter.js';
import { type Exchange, type ExchangeObserver, isRouted, type RoutedExchange } from './exchange.js';
import type { ProbeLeaseReleaser } from './release-probe-without-usage-record.js';
import type { RevocableSessions } from './session-revoker.js';
import type { Settle } from './settle.js';

/** Counts rejections of authenticated agents. */
export interface RejectionCounter {
  /** `describe` is called only for the calls that are kept. */
  record(
    orgId: string,
    agentId: string,
    providerSlug: string,
    reason: RejectionReason,
    nowMs: number,
    describe: () => IRejectedCall,
    budgetId?: string,
  ): void;
}

interface InflightCallsDeps {
  readonly inflightMax: number;
  /** MAX_INFLIGHT_PER_ORG. */
  readonly inflightPerOrgMax: number;
  /** MAX_WEBSOCKETS. */
  readonly webSocketsMax: number;
  readonly spool: { readonly isFull: boolean; isFullFor(orgId: string): boolean };
  readonly settle: Settle;
  readonly probeLeases: ProbeLeaseReleaser;
  readonly dialLimiter: Pick<DialLimiter, 'release'>;
  readonly releaseReservation: (exchange: RoutedExchange) => void;
  /** True when the client of an unauthenticated request exceeds its rejection rate. */
  readonly isOverRejectionLimit: (exchange: Exchange) => boolean;
  readonly rejectionCounter: RejectionCounter;
  readonly clientAddress: Pick<ClientIpResolver, 'resolve'>;
  readonly metrics: Pick<CallMetrics, 'onRejected'>;
}

/** Part of the calls in flight that may be streams that wait for events. */
const LISTENING_RATIO = 1 / 4;
/** Part of the calls in flight that may be calls about runs. */
const RUN_CALLS_RATIO = 1 / 8;

export class InflightCalls implements ExchangeObserver, RevocableSessions {
  readonly #deps: InflightCallsDeps;
  readonly #calls = new SwapRemoveSet<Exchange>();
  readonly #callSlots: OrgSlots;
  /**
   * Slots of WebSockets, handshakes included. The server buffers an agent's unfinished message internally, so only the
   * number of WebSockets bounds that memory.
   */
  readonly #webSocketSlots: OrgSlots;
  /** Slots of streams that wait for events. They last long, so they may not use up the slots of other calls. */
  readonly #listeningSlots: OrgSlots;
  /** Slots of calls about runs. Not those of other calls: an organization that holds all of these can still end a run. */
  readonly #runCallSlots: OrgSlots;
  /** Calls whose rejection is delayed; they use no slot. */
  #tarpittedCount = 0;
  /** Open WebSockets. Their calls have ended; their slots are still used. */
  #openWebSockets = 0;
  #onIdle: (() => void) | null = null;
  /** The process is about to stop: connections close after their next response. */
  isDraining = false;
  /** The drain has ended: a later call would be neither counted nor booked. */
  #isDrained = false;

  constructor(deps: InflightCallsDeps) {
    this.#deps = deps;
    this.#callSlots = new OrgSlots(deps.inflightMax, deps.inflightPerOrgMax);
    this.#webSocketSlots = new OrgSlots(deps.webSocketsMax);
    this.#listeningSlots = new OrgSlots(Math.ceil(deps.inflightMax * LISTENING_RATIO));
    this.#runCallSlots = new OrgSlots(Math.ceil(deps.inflightMax * RUN_CALLS_RATIO));
  }

  get size(): number {
    return this.#calls.size - this.#tarpittedCount;
  }

  add(exchange: Exchange): void {
    this.#calls.add(exchange);
  }

  /** Null: a new request is accepted. */
  checkCapacity(): Rejection | null {
    if (this.#isDrained) return REJECTIONS.shuttingDown;
    if (this.size + this.#openWebSockets >= this.#deps.inflightMax) return REJECTIONS.overloaded;
    return this.#deps.spool.isFull ? REJECTIONS.spoolFull : null;
  }

  /** Acquires a slot of the organization's concurrency limit; null: acquired. */
  acquireOrgSlot(exchange: RoutedExchange): Rejection | null {
    const { orgId } = exchange.routed.context;
    if (this.#deps.spool.isFullFor(orgId)) return REJECTIONS.spoolFull;
    // Calls in flight include this one, and those whose organization is not known yet.
    const free = this.#deps.inflightMax - (this.size + this.#openWebSockets - 1);
    return this.#callSlots.acquire(exchange.admission, orgId, free);
  }

  /** Acquires a WebSocket slot; null: acquired. */
  acquireWebSocketSlot(exchange: RoutedExchange): Rejection | null {
    return this.#webSocketSlots.acquire(exchange.handshake!, exchange.routed.context.orgId);
  }

  /** Acquires a slot for a stream that waits for events; null: acquired. */
  acquireListeningSlot(exchange: RoutedExchange): Rejection | null {
    return this.#listeningSlots.acquire(exchange.admission.mcp!, exchange.routed.context.orgId);
  }

  /** Acquires a slot for an authenticated call about runs; null: acquired. */
  acquireRunCallSlot(exchange: Exchange): Rejection | null {
    exchange.admission.runCall = { slotOrgId: null };
    return this.#runCallSlots.acquire(exchange.admission.runCall, exchange.access.context!.orgId);
  }

  /** WebSocket slots in use. */
  get webSocketSlotsUsed(): number {
    return this.#webSocketSlots.used;
  }

  /**
   * The call becomes a WebSocket. It keeps the call's slot until the session ends, and the WebSocket slot until both
   * connections are closed.
   */
  keepCallSlotForWebSocket(exchange: Exchange): void {
    this.#openWebSockets++;
    exchange.admission.keepsSlot = true;
  }

  releaseCallSlotOfWebSocket(exchange: Exchange): void {
    if (!exchange.admission.keepsSlot) return;
    if (invariant(this.#openWebSockets > 0, 'open_websockets_not_negative')) this.#openWebSockets--;
    exchange.admission.keepsSlot = false;
    this.#callSlots.release(exchange.admission);
  }

  releaseWebSocketSlot(exchange: Exchange): void {
    this.#webSocketSlots.release(exchange.handshake!);
  }

  recordRejectionAndRelease(exchange: Exchange, rejection: Rejection): void {
    this.#deps.metrics.onRejected(exchange, rejection);
    this.#deps.probeLeases.releaseUnlessForwarded(exchange);
    if (exchange.admission.reservedNanos > 0 && isRouted(exchange)) this.#deps.releaseReservation(exchange);
    const { context } = exchange.access;
    const { clientAddress, rejectionCounter } = this.#deps;
    if (context === null) {
      if (rejection.status < 500 && this.#deps.isOverRejectionLimit(exchange)) this.#markTarpitted(exchange);
      return;
    }
    const slug = exchange.routed?.upstream.providerSlug ?? '';
    rejectionCounter.record(
      context.orgId,
      context.agentId,
      slug,
      rejection.reason,
      exchange.request.startedAtMs,
      () => describeRejectedCall(exchange, context, rejection, clientAddress.resolve(exchange)),
      rejection.budgetId,
    );
  }

  releaseConnection(exchange: Exchange): void {
    const { upstreamCall } = exchange;
    upstreamCall.heldConnection?.release();
    upstreamCall.heldConnection = null;
    // A dial that goes on counts until it ends: an agent that disconnects again and again must not open more and more.
    if (!upstreamCall.isDialing) this.#deps.dialLimiter.release(exchange);
  }

  onEnded(exchange: Exchange): void {
    this.#calls.delete(exchange);
    if (exchange.response.isTarpitted && invariant(this.#tarpittedCount > 0, 'tarpitted_calls_not_negative'))
      this.#tarpittedCount--;
    if (!exchange.admission.keepsSlot) this.#callSlots.release(exchange.admission);
    if (!exchange.admission.keepsSlot && exchange.handshake !== null) this.#webSocketSlots.release(exchange.handshake);
    const { mcp, runCall } = exchange.admission;
    if (runCall !== null) this.#runCallSlots.release(runCall);
    if (mcp !== null) {
      this.#listeningSlots.release(mcp);
      mcp.answerMemory.releaseAll();
    }
    if (this.#calls.size === 0) this.#onIdle?.();
  }

  /** The agent disconnected. */
  onClientAborted(exchange: Exchange): void {
    exchange.aborted = true;
    if (exchange.isFinished) return;
    if (exchange.errorClass === '') exchange.errorClass = 'client_aborted';
    exchange.markFinished();
    this.#abortUpstreamAndSettle(exchange);
  }

  forEachOpen(visit: (exchange: RoutedExchange) => void): void {
    this.#calls.forEach((exchange) => {
      if (isRouted(exchange) && !exchange.settled) visit(exchange);
    });
  }

  /**
   * Aborts fetches of results whose deferred usage the spool cannot take, because one call can bring any number of
   * lines. The lines forwarded so far are booked; the others are booked when the result is fetched again.
   */
  abortDeferredFetchesIfSpoolFull(): void {
    const { spool } = this.#deps;
    this.forEachOpen((exchange) => {
      if (exchange.metering.deferredUsage === null || !(spool.isFull || spool.isFullFor(exchange.routed.context.orgId)))
        return;
      if (exchange.errorClass === '') exchange.errorClass = 'spool_full';
      this.abortCall(exchange);
    });
  }

  /** Aborts a forwarded call. A call that was not forwarded is checked again before it is. */
  revoke(exchange: RoutedExchange): void {
    exchange.access.revoked = true;
    if (!exchange.wasForwarded || exchange.settled) return;
    if (exchange.errorClass === '') exchange.errorClass = 'revoked';
    this.abortCall(exchange);
  }

  /** Ends a call without sending another byte. */
  abortCall(exchange: Exchange): void {
    exchange.destroyConnection();
    this.#abortUpstreamAndSettle(exchange);
  }

  /** Resolves when every call has ended; aborts the remaining calls after `deadlineMs`. */
  async drain(deadlineMs: number): Promise<void> {
    if (this.#calls.size > 0) await this.#waitUntilIdle(deadlineMs);
    this.#isDrained = true;
    this.#calls.forEach((exchange) => {
      if (exchange.errorClass === '') exchange.errorClass = 'shutdown';
      this.abortCall(exchange);
    });
  }

  #markTarpitted(exchange: Exchange): void {
    exchange.response.isTarpitted = true;
    this.#tarpittedCount++;
  }

  /** The agent gets nothing more: aborts the upstream call and books it. */
  #abortUpstreamAndSettle(exchange: Exchange): void {
    exchange.upstreamCall.operation?.abort();
    this.releaseConnection(exchange);
    if (!exchange.wasForwarded) {
      this.#deps.probeLeases.releaseUnlessForwarded(exchange);
      if (exchange.admission.reservedNanos > 0 && isRouted(exchange)) this.#deps.releaseReservation(exchange);
    } else if (!exchange.settled && isRouted(exchange)) this.#deps.settle(exchange, noop);
  }

  async #waitUntilIdle(deadlineMs: number): Promise<void> {
    const idle = new Promise<void>((resolve) => (this.#onIdle = resolve));
    await waitAtMost(idle, deadlineMs);
  }
}
