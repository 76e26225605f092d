/** The server for agents: wires the listener, the inflight calls and the pipelines that carry them. */
import type { HttpRequest, HttpResponse, us_socket_context_t } from 'uWebSockets.js';
import type { Logger } from '@acg/base/log';
import { createMinorGcTrigger, MinorGcPacer } from '@acg/base/minor-gc-by-buffer-bytes';
import type { Breakers } from './breaker/breakers-interface.js';
import type { WebSocketHandshake } from './call/agent-response-interface.js';
import type { CallMetering } from './call/call-metering-interface.js';
import type { CallMetrics } from './call/call-metrics-interface.js';
import type { ClientIpResolver } from './call/client-ip-resolver.js';
import { DialLimiter } from './call/dial-limiter.js';
import { FailureHandler } from './call/failure-handler.js';
import { InflightCalls, type RejectionCounter } from './call/inflight-call-admission-and-drain.js';
import { PendingDecodes } from './call/pending-decodes.js';
import type { Pipeline } from './call/pipeline.js';
import { ProbeLeaseReleaser } from './call/release-probe-without-usage-record.js';
import { SessionRevoker } from './call/session-revoker.js';
import { createSettle, releaseReservation, type UsageRecordSink } from './call/settle.js';
import { type AcceptOptions, RequestAcceptor } from './call/stages/accept-request.js';
import type { AcquireSlot } from './call/stages/acquire-slot.js';
import type { AuthenticateDeps, ContextLookup, UnauthenticatedLimiter } from './call/stages/authenticate.js';
import { type CallRuns, RUNS_PATH } from './call/stages/call-runs.js';
import { SELF_PATH } from './call/stages/self-status.js';
import type { Counters } from './limits/counters-interface.js';
import { AddressConnectionLimiter } from './listener/address-connection-limiter.js';
import { countConnectionsToPort } from './listener/count-connections-per-network.js';
import { HttpListener } from './listener/http-listener.js';
import { UpgradeCorkContext } from './listener/upgrade-cork-context.js';
import { createProxyPipeline } from './pipelines/proxy-pipeline.js';
import { createRunsPipeline } from './pipelines/runs-pipeline.js';
import { createSelfPipeline } from './pipelines/self-pipeline.js';
import { createWebSocketPipeline } from './pipelines/websocket-pipeline.js';
import type { ConnectionPools } from './upstream/connections/connection-pools-per-origin-and-owner.js';
import { PROXY_PREFIX } from './upstream/parse-proxy-request-target.js';
import { MemoryPool } from './websocket/memory-pool.js';
import { WebSocketSessionRegistry } from './websocket/session-registry.js';
import type { LingerTimeouts } from './websocket/websocket-session.js';

/** Token of the `Connection` header that requests another protocol (RFC 6455, section 4.2.1). */
const UPGRADE_TOKEN = /\bupgrade\b/i;
/** Wait for pending decodes during a drain, ms. A decode takes a few ms unless the machine stalls. */
const PENDING_DECODES_TIMEOUT_MS = 1_000;

export interface ProxyOptions extends AcceptOptions {
  readonly connectionsMax: number;
  readonly inflightMax: number;
  /** MAX_INFLIGHT_PER_ORG. */
  readonly inflightPerOrgMax: number;
  /** MAX_WEBSOCKETS. */
  readonly webSocketsMax: number;
  /** WEBSOCKET_MESSAGE_BYTES_MAX. */
  readonly webSocketMessageBytesMax: number;
  /** Bytes for all WebSockets together; see websocket/memory-pool.ts. */
  readonly webSocketPoolBytes: number;
  readonly lingerTimeouts: LingerTimeouts;
  readonly connectionsPerAddressMax: number;
  /** True for addresses that may have any number of connections. */
  readonly isAddressExempt: (address: string) => boolean;
  /** Processes that share the port. */
  readonly processCount: number;
  /** Timeout of an upstream's WebSocket handshake. */
  readonly handshakeTimeoutMs: number;
  /** UPSTREAM_CONNECT_TIMEOUT_MS. */
  readonly connectTimeoutMs: number;
  /** Bytes; a longer body is not edited, and is rejected when its model must be checked. */
  readonly editedBodyBytesMax: number;
  /** DATAPLANE_PUBLIC_URL; null = not set. */
  readonly publicUrl: string | null;
  /** Peers whose `X-Forwarded-…` headers are trusted. */
  readonly trustedProxyCidrs: readonly string[];
  /** Bytes of all bodies together that are buffered whole to be edited. */
  readonly editedBodiesBytesMax: number;
}

export interface ProxyDeps {
  readonly options: ProxyOptions;
  readonly contexts: ContextLookup;
  readonly unauthenticatedLimiter: UnauthenticatedLimiter;
  readonly counters: Pick<Counters, 'admit' | 'growReservation' | 'settle' | 'peek'>;
  readonly breakers: Breakers;
  readonly spool: UsageRecordSink & { readonly isFull: boolean; isFullFor(orgId: string): boolean };
  readonly metering: CallMetering;
  readonly pools: Pick<ConnectionPools, 'takeIdle' | 'create'>;
  readonly rejectionCounter: RejectionCounter;
  readonly clientAddress: Pick<ClientIpResolver, 'resolve'>;
  readonly onAuthenticated: AuthenticateDeps['onAuthenticated'];
  readonly callRuns: CallRuns;
  readonly metrics: CallMetrics;
  readonly log: Logger;
}

export class ProxyServer {
  /** Open WebSockets. */
  readonly sessions = new WebSocketSessionRegistry();
  /** Revokes open calls and WebSockets. */
  readonly sessionRevoker: SessionRevoker;
  readonly #corkContext = new UpgradeCorkContext();
  readonly #listener: HttpListener;
  #portNumber = 0;
  readonly #calls: InflightCalls;
  readonly #pendingDecodes = new PendingDecodes();
  readonly #webSocketMemory: MemoryPool;
  readonly #acceptor: RequestAcceptor;

  constructor(deps: ProxyDeps) {
    const { options, spool, counters, metering, metrics, breakers, rejectionCounter, log } = deps;
    const { sessions } = this;
    const gcPacer = new MinorGcPacer(createMinorGcTrigger());
    const onSettled: CallMetrics['onSettled'] = (exchange, reading, price) =>
      metrics.onSettled(exchange, reading, price);
    const settle = createSettle({
      spool,
      counters,
      metering,
      pendingDecodes: this.#pendingDecodes,
      onSettled,
      onReservationExceeded: (nanos) => metrics.onReservationExceeded(nanos),
    });
    const probeLeases = new ProbeLeaseReleaser(breakers);
    const dialLimiter = new DialLimiter(counters, options.connectTimeoutMs);
    const { inflightMax, inflightPerOrgMax, webSocketsMax } = options;
    const calls = new InflightCalls({
      inflightMax,
      inflightPerOrgMax,
      webSocketsMax,
      spool,
      settle,
      probeLeases,
      dialLimiter,
      releaseReservation: (exchange) => releaseReservation(counters, exchange),
      isOverRejectionLimit: (exchange) => deps.unauthenticatedLimiter.isOverRejectionLimit(exchange),
      rejectionCounter,
      clientAddress: deps.clientAddress,
      metrics,
    });
    const abortCall = calls.abortCall.bind(calls);
    const failures = new FailureHandler({
      settle,
      abortCall,
      countInternalError: () => metrics.onInternalError(),
      log,
    });
    const acquireOrgSlot: AcquireSlot = (exchange) => calls.acquireOrgSlot(exchange);
    const acquireListeningSlot: AcquireSlot = (exchange) => calls.acquireListeningSlot(exchange);
    const pipelineDeps = { ...deps, settle, failures, gcPacer, acquireOrgSlot, acquireListeningSlot, dialLimiter };
    const proxyPipeline = createProxyPipeline(pipelineDeps);
    const selfPipeline = createSelfPipeline(pipelineDeps);
    const runsPipeline = createRunsPipeline({
      ...pipelineDeps,
      acquireRunCallSlot: (exchange) => calls.acquireRunCallSlot(exchange),
    });
    const memoryPool = new MemoryPool(options.webSocketPoolBytes);
    const webSocketPipeline = createWebSocketPipeline({
      ...pipelineDeps,
      acquireWebSocketSlot: (exchange) => calls.acquireWebSocketSlot(exchange),
      messageBytesMax: options.webSocketMessageBytesMax,
      memoryPool,
      lingerTimeouts: options.lingerTimeouts,
      corkContext: this.#corkContext,
      handshakeTimeoutMs: options.handshakeTimeoutMs,
      isDraining: () => calls.isDraining,
      onUpstreamAccepted: (exchange) => probeLeases.reportSuccess(exchange),
      onSession: (session) => {
        sessions.add(session);
        calls.keepCallSlotForWebSocket(session.exchange);
      },
      onSessionEnd: (session) => {
        sessions.remove(session);
        calls.releaseCallSlotOfWebSocket(session.exchange);
      },
      onSessionDisconnected: (session) => calls.releaseWebSocketSlot(session.exchange),
    });
    this.#calls = calls;
    this.#webSocketMemory = memoryPool;
    this.sessionRevoker = new SessionRevoker(deps.contexts, [calls, sessions]);
    this.#acceptor = new RequestAcceptor(options, calls, gcPacer, (exchange) => calls.onClientAborted(exchange));
    const addresses = new AddressConnectionLimiter({
      perAddressMax: options.connectionsPerAddressMax,
      isExempt: options.isAddressExempt,
      countConnections: () => this.#countConnections(options.processCount),
      log,
    });
    this.#listener = new HttpListener(options.connectionsMax, addresses);
    const onUpgrade = (res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void => {
      // The server checks only the key. Without this check it would close the connection in the middle of the
      // handshake.
      if (!UPGRADE_TOKEN.test(req.getHeader('connection'))) {
        this.#onRequest(res, req, proxyPipeline);
        return;
      }
      const key = req.getHeader('sec-websocket-key');
      const protocols = req.getHeader('sec-websocket-protocol');
      this.#onRequest(res, req, webSocketPipeline, { key, protocols, context, slotOrgId: null });
    };
    const behavior = sessions.createBehavior(options.webSocketMessageBytesMax, onUpgrade, () =>
      this.#listener.onWebSocketClosed(),
    );
    this.#listener.onWebSocket(`${PROXY_PREFIX}*`, behavior);
    this.#listener.onRequest(SELF_PATH, (res, req) => this.#onRequest(res, req, selfPipeline));
    for (const path of [RUNS_PATH, `${RUNS_PATH}/*`])
      this.#listener.onRequest(path, (res, req) => this.#onRequest(res, req, runsPipeline));
    this.#listener.onRequest('/*', (res, req) => this.#onRequest(res, req, proxyPipeline));
  }

  get inflight(): number {
    return this.#calls.size;
  }

  /** WebSocket slots in use: handshakes, open sessions, and sessions whose connections may still be open. */
  get webSocketSlotsUsed(): number {
    return this.#calls.webSocketSlotsUsed;
  }

  /** Bytes that WebSockets hold, as far as they can be counted. */
  get webSocketBytes(): number {
    return this.#webSocketMemory.bytes;
  }

  get connections(): number {
    return this.#listener.connectionCount;
  }

  /** Aborts calls that bring more usage than the spool can take; call it about once a second. */
  abortCallsWhenSpoolFull(): void {
    this.#calls.abortDeferredFetchesIfSpoolFull();
  }

  get draining(): boolean {
    return this.#calls.isDraining;
  }

  /** Resolves with the port. `shared`: several processes listen on it together; otherwise it must be free. */
  async listen(host: string, port: number, shared: boolean): Promise<number> {
    await this.#corkContext.start();
    this.#portNumber = await this.#listener.listen(host, port, shared);
    return this.#portNumber;
  }

  /**
   * Stops accepting connections. Resolves when the open calls have ended and are booked; aborts those that are still
   * open after `deadlineMs`. The process may exit then.
   */
  async drain(deadlineMs: number): Promise<void> {
    this.#calls.isDraining = true;
    this.#listener.stopListening();
    this.sessions.closeAll();
    await this.#calls.drain(deadlineMs);
    await this.#pendingDecodes.waitUntilNone(PENDING_DECODES_TIMEOUT_MS);
  }

  /** Closes every connection. */
  close(): void {
    this.sessionRevoker.close();
    this.#listener.close();
    this.#corkContext.close();
  }

  /** Other processes on the same port have about as many connections as this one. */
  async #countConnections(processCount: number): Promise<ReadonlyMap<string, number> | null> {
    const counts = this.#portNumber === 0 ? null : await countConnectionsToPort(this.#portNumber);
    for (const [network, connections] of counts ?? []) counts!.set(network, Math.ceil(connections / processCount));
    return counts;
  }

  #onRequest(
    res: HttpResponse,
    req: HttpRequest,
    pipeline: Pipeline,
    handshake: WebSocketHandshake | null = null,
  ): void {
    const exchange = this.#acceptor.accept(res, req);
    if (exchange === null) return;
    exchange.handshake = handshake;
    this.#calls.add(exchange);
    pipeline.advance(exchange);
  }
}
