/** The calls under way: which may come in, what happens to one whose agent goes away, and how they all come to an end. */

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
  readonly releaseReservation: (x: RoutedExchange) => void;
  /** Whether the refusal of a caller that nobody knows is one of too many from its address. */
  readonly isOverRejectionLimit: (x: Exchange) => boolean;
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

  add(x: Exchange): void {
    this.#calls.add(x);
  }

  /** Whether a new request may come in; null: welcome. */
  checkCapacity(): Rejection | null {
    if (this.#isDrained) return REJECTIONS.shuttingDown;
    if (this.size + this.#openWebSockets >= this.#deps.inflightMax) return REJECTIONS.overloaded;
    return this.#deps.spool.isFull ? REJECTIONS.spoolFull : null;
  }

  /** Takes a place of the organization's share; null: it has one. */
  acquireOrgSlot(x: RoutedExchange): Rejection | null {
    const { orgId } = x.routed.context;
    if (this.#deps.spool.isFullFor(orgId)) return REJECTIONS.spoolFull;
    const has = this.#orgLimiter.tryAcquire(x, orgId, this.size + this.#openWebSockets);
    return has ? null : REJECTIONS.orgConcurrencyExceeded;
  }

  /** Takes a place of those of WebSockets; null: it has one. */
  acquireWebSocketSlot(x: RoutedExchange): Rejection | null {
    return this.#webSocketLimiter.acquire(x.handshake!, x.routed.context.orgId);
  }

  /** Places of WebSockets that are taken. */
  get webSocketSlotsUsed(): number {
    return this.#webSocketLimiter.slotsUsed;
  }

  /** The call becomes a WebSocket, and keeps its places: that of a call until it ends, the other until it is gone. */
  onWebSocketOpened(x: Exchange): void {
    this.#openWebSockets++;
    x.keepsSlot = true;
  }

  onWebSocketEnded(x: Exchange): void {
    if (!x.keepsSlot) return;
    this.#openWebSockets--;
    x.keepsSlot = false;
    this.#orgLimiter.release(x);
  }

  onWebSocketDisconnected(x: Exchange): void {
    this.#webSocketLimiter.release(x.handshake!);
  }

  onRejected(x: Exchange, rejection: Rejection): void {
    this.#deps.metrics.onRejected(x, rejection);
    this.#deps.probeLeases.release(x);
    if (x.reservedNanos > 0 && isRouted(x)) this.#deps.releaseReservation(x);
    const { context } = x;
    if (context === null) {
      if (rejection.status < 500 && this.#deps.isOverRejectionLimit(x)) this.#startTarpit(x);
      return;
    }
    const slug = x.routed?.upstream.providerSlug ?? '';
    this.#deps.rejectionCounter.record(context.orgId, context.agentId, slug, rejection.reason, x.request.startedAtMs);
  }

  onEnded(x: Exchange): void {
    this.#calls.delete(x);
    if (x.isTarpitted) this.#tarpittedCount--;
    if (!x.keepsSlot) this.#orgLimiter.release(x);
    if (!x.keepsSlot && x.handshake !== null) this.#webSocketLimiter.release(x.handshake);
    if (this.#calls.size === 0) this.#onIdle?.();
  }

  /** The agent went away. */
  onClientAborted(x: Exchange): void {
    x.aborted = true;
    if (x.finished) return;
    if (x.errorClass === '') x.errorClass = 'client_aborted';
    x.finish();
    this.#abortUpstream(x);
  }

  forEachOpen(visit: (x: RoutedExchange) => void): void {
    this.#calls.forEach((x) => {
      if (isRouted(x) && !x.settled) visit(x);
    });
  }

  /**
   * Ends fetches of results whose lines the spool has no room for, or cannot write, as one call can bring any number of
   * them. What has been passed on is booked; the rest is when somebody fetches it again.
   */
  abortWhenSpoolFull(): void {
    const { spool } = this.#deps;
    this.forEachOpen((x) => {
      if (x.deferredUsage === null || !(spool.isFull || spool.isFullFor(x.routed.context.orgId))) return;
      if (x.errorClass === '') x.errorClass = 'spool_full';
      this.abortCall(x);
    });
  }

  /** Breaks the call off; one that has not gone upstream is looked at again before it does. */
  revoke(x: RoutedExchange): void {
    x.revoked = true;
    if (!x.forwarded || x.settled) return;
    if (x.errorClass === '') x.errorClass = 'revoked';
    this.abortCall(x);
  }

  /** Ends a call without another byte. */
  abortCall(x: Exchange): void {
    x.destroyConnection();
    this.#abortUpstream(x);
  }

  /** Resolves when every call is done; breaks off what is left after `deadlineMs`. */
  async drain(deadlineMs: number): Promise<void> {
    if (this.#calls.size > 0) await this.#waitUntilIdle(deadlineMs);
    this.#isDrained = true;
    this.#calls.forEach((x) => {
      if (x.errorClass === '') x.errorClass = 'shutdown';
      this.abortCall(x);
    });
  }

  #startTarpit(x: Exchange): void {
    x.isTarpitted = true;
    this.#tarpittedCount++;
  }

  /** The agent will get nothing more: ends the call and books what is known of it. */
  #abortUpstream(x: Exchange): void {
    x.upstreamOperation?.abort();
    if (!x.forwarded) {
      this.#deps.probeLeases.release(x);
      if (x.reservedNanos > 0 && isRouted(x)) this.#deps.releaseReservation(x);
    } else if (!x.settled && isRouted(x)) this.#deps.settle(x, noop);
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
