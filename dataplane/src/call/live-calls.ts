/** The calls under way: which may come in, what happens to one whose agent goes away, and how they all come to an end. */

import { Bag } from '@acg/base/bag';
import { ignore } from '@acg/base/ignore';
import type { CallMetrics } from './call-metrics.js';
import { type Exchange, type ExchangeObserver, isRouted, type RoutedExchange } from './exchange.js';
import type { OpenAccesses } from './open-access.js';
import { OrgShares } from './org-shares.js';
import type { ProbeLeases } from './probe-leases.js';
import { REJECTIONS, type Rejection } from './rejections.js';
import type { Settle } from './settle.js';
import { WebSocketPlaces } from './websocket-places.js';

/** Counts refusals of known agents. */
export interface Tally {
  count(orgId: string, agentId: string, providerSlug: string, reason: string, nowMs: number): void;
}

interface LiveCallsDeps {
  readonly inflightMax: number;
  /** MAX_INFLIGHT_PER_ORG. */
  readonly inflightPerOrgMax: number;
  /** MAX_WEBSOCKETS. */
  readonly webSocketsMax: number;
  readonly spool: { readonly full: boolean; isFullFor(orgId: string): boolean };
  readonly settle: Settle;
  readonly probes: ProbeLeases;
  readonly releaseHold: (x: RoutedExchange) => void;
  /** Whether the refusal of a caller that nobody knows is one of too many from its address. */
  readonly isFlood: (x: Exchange) => boolean;
  readonly tally: Tally;
  readonly metrics: Pick<CallMetrics, 'onRejected'>;
}

export class LiveCalls implements ExchangeObserver, OpenAccesses {
  readonly #deps: LiveCallsDeps;
  readonly #live = new Bag<Exchange>();
  readonly #shares: OrgShares;
  readonly #places: WebSocketPlaces;
  /** Refused, and answered late: they take no place. */
  #late = 0;
  /** Open WebSockets: their calls are over, their places are not. */
  #webSockets = 0;
  #onIdle: (() => void) | null = null;
  /** The process is about to stop: connections end with their next answer. */
  draining = false;
  /** The drain has ended: what still arrives would be neither counted nor booked. */
  #drained = false;

  constructor(deps: LiveCallsDeps) {
    this.#deps = deps;
    this.#shares = new OrgShares(deps.inflightPerOrgMax, deps.inflightMax);
    this.#places = new WebSocketPlaces(deps.webSocketsMax);
  }

  get size(): number {
    return this.#live.size - this.#late;
  }

  add(x: Exchange): void {
    this.#live.add(x);
  }

  /** Whether a new request may come in; null: welcome. */
  refusal(): Rejection | null {
    if (this.#drained) return REJECTIONS.stopping;
    if (this.size + this.#webSockets >= this.#deps.inflightMax) return REJECTIONS.overloaded;
    return this.#deps.spool.full ? REJECTIONS.spoolFull : null;
  }

  /** Takes a place of the organization's share; null: it has one. */
  takeShare(x: RoutedExchange): Rejection | null {
    const { orgId } = x.routed.context;
    if (this.#deps.spool.isFullFor(orgId)) return REJECTIONS.spoolFull;
    const has = this.#shares.take(x, orgId, this.size + this.#webSockets);
    return has ? null : REJECTIONS.orgInflight;
  }

  /** Takes a place of those of WebSockets; null: it has one. */
  takeWebSocketPlace(x: RoutedExchange): Rejection | null {
    return this.#places.take(x.handshake!, x.routed.context.orgId);
  }

  /** Places of WebSockets that are taken. */
  get webSocketPlaces(): number {
    return this.#places.taken;
  }

  /** The call becomes a WebSocket, and keeps its places: that of a call until it ends, the other until it is gone. */
  webSocketOpened(x: Exchange): void {
    this.#webSockets++;
    x.keepsShare = true;
  }

  webSocketEnded(x: Exchange): void {
    if (!x.keepsShare) return;
    this.#webSockets--;
    x.keepsShare = false;
    this.#shares.give(x);
  }

  webSocketGone(x: Exchange): void {
    this.#places.give(x.handshake!);
  }

  rejected(x: Exchange, rejection: Rejection): void {
    this.#deps.metrics.onRejected(x, rejection);
    this.#deps.probes.giveBack(x);
    if (x.holdNanos > 0 && isRouted(x)) this.#deps.releaseHold(x);
    const { context } = x;
    if (context === null) {
      if (rejection.status < 500 && this.#deps.isFlood(x)) this.#answerLate(x);
      return;
    }
    const slug = x.routed?.upstream.providerSlug ?? '';
    this.#deps.tally.count(context.orgId, context.agentId, slug, rejection.reason, x.request.startedAtMs);
  }

  ended(x: Exchange): void {
    this.#live.delete(x);
    if (x.late) this.#late--;
    if (!x.keepsShare) this.#shares.give(x);
    if (!x.keepsShare && x.handshake !== null) this.#places.give(x.handshake);
    if (this.#live.size === 0) this.#onIdle?.();
  }

  /** The agent went away. */
  aborted(x: Exchange): void {
    x.aborted = true;
    if (x.finished) return;
    if (x.errorClass === '') x.errorClass = 'client_aborted';
    x.finish();
    this.#endUpstream(x);
  }

  forEachOpen(visit: (x: RoutedExchange) => void): void {
    this.#live.forEach((x) => {
      if (isRouted(x) && !x.settled) visit(x);
    });
  }

  /**
   * Ends fetches of results whose lines the spool has no room for, or cannot write, as one call can bring any number of
   * them. What has been passed on is booked; the rest is when somebody fetches it again.
   */
  endUnbookable(): void {
    const { spool } = this.#deps;
    this.forEachOpen((x) => {
      if (x.lines === null || !(spool.full || spool.isFullFor(x.routed.context.orgId))) return;
      if (x.errorClass === '') x.errorClass = 'spool_full';
      this.breakOff(x);
    });
  }

  /** Breaks the call off; one that has not gone upstream is looked at again before it does. */
  revoke(x: RoutedExchange): void {
    x.revoked = true;
    if (!x.forwarded || x.settled) return;
    if (x.errorClass === '') x.errorClass = 'revoked';
    this.breakOff(x);
  }

  /** Ends a call without another byte. */
  breakOff(x: Exchange): void {
    x.breakOff();
    this.#endUpstream(x);
  }

  /** Resolves when every call is done; breaks off what is left after `deadlineMs`. */
  async drain(deadlineMs: number): Promise<void> {
    if (this.#live.size > 0) await this.#idle(deadlineMs);
    this.#drained = true;
    this.#live.forEach((x) => {
      if (x.errorClass === '') x.errorClass = 'shutdown';
      this.breakOff(x);
    });
  }

  #answerLate(x: Exchange): void {
    x.late = true;
    this.#late++;
  }

  /** The agent will get nothing more: ends the call and books what is known of it. */
  #endUpstream(x: Exchange): void {
    x.upstreamWork?.abort();
    if (!x.forwarded) {
      this.#deps.probes.giveBack(x);
      if (x.holdNanos > 0 && isRouted(x)) this.#deps.releaseHold(x);
    } else if (!x.settled && isRouted(x)) this.#deps.settle(x, ignore);
  }

  #idle(deadlineMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, deadlineMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
