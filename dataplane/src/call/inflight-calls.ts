/** The calls under way: which may come in, what happens to one whose agent goes away, and how they all come to an end. */

import { invariant } from '@acg/base/invariant';
import { noop } from '@acg/base/noop';
import { SwapRemoveSet } from '@acg/base/swap-remove-set';
import { OrgConcurrencyLimiter } from '../concurrency/org-concurrency-limiter.js';
import { WebSocketLimiter } from '../concurrency/websocket-limiter.js';
import { REJECTIONS, type Rejection } from '../rejection/rejections.js';
import type { CallMetrics } from './call-metrics.js';
import { type Exchange, type ExchangeObserver, isRouted, type RoutedExchange } from './exchange.js';
import type { ProbeLeases } from './probe-leases.js';
import type { RevocableSessions } from './session-revoker.js';
import type { Settle } from './settle.js';

/** Counts refusals of known agents. */
export interface RejectionCounter {
  record(orgId: string, agentId: string, providerSlug: string, reason: string, nowMs: number): void;
}

interface InflightCallsDeps {
  readonly inflightMax: number;
  /** MAX_INFLIGHT_PER_ORG. */
  readonly inflightPerOrgMax: number;
  /** MAX_WEBSOCKETS. */
  readonly webSocketsMax: number;
  readonly spool: { readonly isFull: boolean; isFullFor(orgId: string): boolean };
  readonly settle: Settle;
  readonly probeLeases: ProbeLeases;
  readonly releaseReservation: (exchange: RoutedExchange) => void;
  /** Whether the refusal of a caller that nobody knows is one of too many from its address. */
  readonly isOverRejectionLimit: (exchange: Exchange) => boolean;
  readonly rejectionCounter: RejectionCounter;
  readonly metrics: Pick<CallMetrics, 'onRejected'>;
}

export class InflightCalls implements ExchangeObserver, RevocableSessions {
  readonly #deps: InflightCallsDeps;
  readonly #calls = new SwapRemoveSet<Exchange>();
  readonly #orgLimiter: OrgConcurrencyLimiter;
  readonly #webSocketLimiter: WebSocketLimiter;
  /** Refused, and answered late: they take no place. */
  #tarpittedCount = 0;
  /** Open WebSockets: their calls are over, their places are not. */
  #openWebSockets = 0;
  #onIdle: (() => void) | null = null;
  /** The process is about to stop: connections end with their next answer. */
  isDraining = false;
  /** The drain has ended: what still arrives would be neither counted nor booked. */
  #isDrained = false;

  constructor(deps: InflightCallsDeps) {
    this.#deps = deps;
    this.#orgLimiter = new OrgConcurrencyLimiter(deps.inflightPerOrgMax, deps.inflightMax);
    this.#webSocketLimiter = new WebSocketLimiter(deps.webSocketsMax);
  }

  get size(): number {
    return this.#calls.size - this.#tarpittedCount;
  }

  add(exchange: Exchange): void {
    this.#calls.add(exchange);
  }

  /** Whether a new request may come in; null: welcome. */
  checkCapacity(): Rejection | null {
    if (this.#isDrained) return REJECTIONS.shuttingDown;
    if (this.size + this.#openWebSockets >= this.#deps.inflightMax) return REJECTIONS.overloaded;
    return this.#deps.spool.isFull ? REJECTIONS.spoolFull : null;
  }

  /** Takes a place of the organization's share; null: it has one. */
  acquireOrgSlot(exchange: RoutedExchange): Rejection | null {
    const { orgId } = exchange.routed.context;
    if (this.#deps.spool.isFullFor(orgId)) return REJECTIONS.spoolFull;
    const has = this.#orgLimiter.tryAcquire(exchange.admission, orgId, this.size + this.#openWebSockets);
    return has ? null : REJECTIONS.orgConcurrencyExceeded;
  }

  /** Takes a place of those of WebSockets; null: it has one. */
  acquireWebSocketSlot(exchange: RoutedExchange): Rejection | null {
    return this.#webSocketLimiter.acquire(exchange.handshake!, exchange.routed.context.orgId);
  }

  /** Places of WebSockets that are taken. */
  get webSocketSlotsUsed(): number {
    return this.#webSocketLimiter.slotsUsed;
  }

  /** The call becomes a WebSocket, and keeps its places: that of a call until it ends, the other until it is gone. */
  onWebSocketOpened(exchange: Exchange): void {
    this.#openWebSockets++;
    exchange.admission.keepsSlot = true;
  }

  onWebSocketEnded(exchange: Exchange): void {
    if (!exchange.admission.keepsSlot) return;
    if (invariant(this.#openWebSockets > 0, 'open_websockets_not_negative')) this.#openWebSockets--;
    exchange.admission.keepsSlot = false;
    this.#orgLimiter.release(exchange.admission);
  }

  onWebSocketDisconnected(exchange: Exchange): void {
    this.#webSocketLimiter.release(exchange.handshake!);
  }

  onRejected(exchange: Exchange, rejection: Rejection): void {
    this.#deps.metrics.onRejected(exchange, rejection);
    this.#deps.probeLeases.release(exchange);
    if (exchange.admission.reservedNanos > 0 && isRouted(exchange)) this.#deps.releaseReservation(exchange);
    const { context } = exchange.access;
    if (context === null) {
      if (rejection.status < 500 && this.#deps.isOverRejectionLimit(exchange)) this.#startTarpit(exchange);
      return;
    }
    const slug = exchange.routed?.upstream.providerSlug ?? '';
    this.#deps.rejectionCounter.record(
      context.orgId,
      context.agentId,
      slug,
      rejection.reason,
      exchange.request.startedAtMs,
    );
  }

  onEnded(exchange: Exchange): void {
    this.#calls.delete(exchange);
    if (exchange.response.isTarpitted && invariant(this.#tarpittedCount > 0, 'tarpitted_calls_not_negative'))
      this.#tarpittedCount--;
    if (!exchange.admission.keepsSlot) this.#orgLimiter.release(exchange.admission);
    if (!exchange.admission.keepsSlot && exchange.handshake !== null)
      this.#webSocketLimiter.release(exchange.handshake);
    if (this.#calls.size === 0) this.#onIdle?.();
  }

  /** The agent went away. */
  onClientAborted(exchange: Exchange): void {
    exchange.aborted = true;
    if (exchange.isFinished) return;
    if (exchange.errorClass === '') exchange.errorClass = 'client_aborted';
    exchange.finish();
    this.#abortUpstream(exchange);
  }

  forEachOpen(visit: (exchange: RoutedExchange) => void): void {
    this.#calls.forEach((exchange) => {
      if (isRouted(exchange) && !exchange.settled) visit(exchange);
    });
  }

  /**
   * Ends fetches of results whose lines the spool has no room for, or cannot write, as one call can bring any number of
   * them. What has been passed on is booked; the rest is when somebody fetches it again.
   */
  abortWhenSpoolFull(): void {
    const { spool } = this.#deps;
    this.forEachOpen((exchange) => {
      if (exchange.metering.deferredUsage === null || !(spool.isFull || spool.isFullFor(exchange.routed.context.orgId)))
        return;
      if (exchange.errorClass === '') exchange.errorClass = 'spool_full';
      this.abortCall(exchange);
    });
  }

  /** Breaks the call off; one that has not gone upstream is looked at again before it does. */
  revoke(exchange: RoutedExchange): void {
    exchange.access.revoked = true;
    if (!exchange.wasForwarded || exchange.settled) return;
    if (exchange.errorClass === '') exchange.errorClass = 'revoked';
    this.abortCall(exchange);
  }

  /** Ends a call without another byte. */
  abortCall(exchange: Exchange): void {
    exchange.destroyConnection();
    this.#abortUpstream(exchange);
  }

  /** Resolves when every call is done; breaks off what is left after `deadlineMs`. */
  async drain(deadlineMs: number): Promise<void> {
    if (this.#calls.size > 0) await this.#waitUntilIdle(deadlineMs);
    this.#isDrained = true;
    this.#calls.forEach((exchange) => {
      if (exchange.errorClass === '') exchange.errorClass = 'shutdown';
      this.abortCall(exchange);
    });
  }

  #startTarpit(exchange: Exchange): void {
    exchange.response.isTarpitted = true;
    this.#tarpittedCount++;
  }

  /** The agent will get nothing more: ends the call and books what is known of it. */
  #abortUpstream(exchange: Exchange): void {
    exchange.upstreamCall.operation?.abort();
    if (!exchange.wasForwarded) {
      this.#deps.probeLeases.release(exchange);
      if (exchange.admission.reservedNanos > 0 && isRouted(exchange)) this.#deps.releaseReservation(exchange);
    } else if (!exchange.settled && isRouted(exchange)) this.#deps.settle(exchange, noop);
  }

  #waitUntilIdle(deadlineMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, deadlineMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
