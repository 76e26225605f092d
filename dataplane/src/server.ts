/** The agents' server: puts together the port, the calls under way and the pipelines that carry them. */
import type { HttpRequest, HttpResponse, us_socket_context_t } from 'uWebSockets.js';
import { ChunkGarbage, minorCollector } from '@acg/base/chunk-garbage';
import type { Logger } from '@acg/base/log';
import { AddressConnections } from './call/address-connections.js';
import { AgentPort } from './call/agent-port.js';
import type { Handshake } from './call/agent-response.js';
import type { CallMetering } from './call/call-metering.js';
import type { CallMetrics } from './call/call-metrics.js';
import { CatchingUp } from './call/catching-up.js';
import { Failures } from './call/failures.js';
import { connectionsTo } from './call/kernel-connections.js';
import { LiveCalls, type Tally } from './call/live-calls.js';
import { OpenAccess } from './call/open-access.js';
import { ParkedResponse } from './call/parked-response.js';
import type { Pipeline } from './call/pipeline.js';
import { ProbeLeases } from './call/probe-leases.js';
import { createSettle, type RecordSink, releaseHold } from './call/settle.js';
import { type AcceptOptions, Acceptor } from './call/stages/accept.js';
import type { AuthenticateDeps, Contexts, UnknownTokenGate } from './call/stages/authenticate.js';
import { SELF_PATH } from './call/stages/self.js';
import type { TakeShare } from './call/stages/share.js';
import type { Circuits } from './circuit/circuits.js';
import type { Counters } from './counters/counters.js';
import { proxyPipeline } from './pipelines/proxy.js';
import { selfPipeline } from './pipelines/self.js';
import { upgradePipeline } from './pipelines/upgrade.js';
import type { UpstreamPools } from './upstream/pools.js';
import { PROXY_PREFIX } from './upstream/target.js';
import { BytePool } from './websocket/byte-pool.js';
import type { Lingering } from './websocket/session.js';
import { WebSocketSessions } from './websocket/sessions.js';

/** In a request's `Connection`: it asks for another protocol (RFC 6455, section 4.2.1). */
const UPGRADE = /\bupgrade\b/i;
/** Of a drain, for answers that are still being decoded: a few ms unless the machine stands still. */
const CATCH_UP_MS = 1_000;

export interface ProxyOptions extends AcceptOptions {
  readonly connectionsMax: number;
  readonly inflightMax: number;
  /** MAX_INFLIGHT_PER_ORG. */
  readonly inflightPerOrgMax: number;
  /** MAX_WEBSOCKETS. */
  readonly webSocketsMax: number;
  /** WEBSOCKET_MESSAGE_BYTES_MAX. */
  readonly webSocketMessageBytesMax: number;
  /** Of all WebSockets together; see websocket/byte-pool.ts. */
  readonly webSocketPoolBytes: number;
  readonly lingering: Lingering;
  readonly connectionsPerAddressMax: number;
  /** Addresses that may have any number of connections. */
  readonly exemptAddress: (address: string) => boolean;
  /** Processes that share the port. */
  readonly sharers: number;
  /** Of an upstream's WebSocket handshake. */
  readonly handshakeTimeoutMs: number;
  /** A longer body is not edited; one whose model must be checked is refused. */
  readonly editedBodyBytesMax: number;
  /** DATAPLANE_PUBLIC_URL; null = not set. */
  readonly publicUrl: string | null;
  /** Peers whose `X-Forwarded-…` is believed. */
  readonly trustedProxyCidrs: readonly string[];
  /** Bytes of all bodies together that are held whole to be edited. */
  readonly editedBodiesBytesMax: number;
}

export interface ProxyDeps {
  readonly options: ProxyOptions;
  readonly contexts: Contexts;
  readonly unknownTokens: UnknownTokenGate;
  readonly counters: Pick<Counters, 'admit' | 'grow' | 'settle' | 'standing'>;
  readonly circuits: Circuits;
  readonly spool: RecordSink & { readonly full: boolean; isFullFor(orgId: string): boolean };
  readonly metering: CallMetering;
  readonly pools: Pick<UpstreamPools, 'acquire' | 'dial'>;
  readonly tally: Tally;
  readonly onAuthenticated: AuthenticateDeps['onAuthenticated'];
  readonly metrics: CallMetrics;
  readonly log: Logger;
}

export class ProxyServer {
  /** Open WebSockets. */
  readonly sessions = new WebSocketSessions();
  /** Of calls and WebSockets that are under way. */
  readonly access: OpenAccess;
  readonly #parked = new ParkedResponse();
  readonly #port: AgentPort;
  #portNumber = 0;
  readonly #calls: LiveCalls;
  readonly #catchingUp = new CatchingUp();
  readonly #pool: BytePool;
  readonly #acceptor: Acceptor;

  constructor(deps: ProxyDeps) {
    const { options, spool, counters, metering, metrics, circuits, tally, log } = deps;
    const { sessions } = this;
    const garbage = new ChunkGarbage(minorCollector());
    const onSettled: CallMetrics['onSettled'] = (x, reading, price) => metrics.onSettled(x, reading, price);
    const settle = createSettle({
      spool,
      counters,
      metering,
      catchingUp: this.#catchingUp,
      onSettled,
      onHoldExceeded: (nanos) => metrics.onHoldExceeded(nanos),
    });
    const probes = new ProbeLeases(circuits);
    const { inflightMax, inflightPerOrgMax, webSocketsMax } = options;
    const calls = new LiveCalls({
      inflightMax,
      inflightPerOrgMax,
      webSocketsMax,
      spool,
      settle,
      probes,
      releaseHold: (x) => releaseHold(counters, x),
      isFlood: (x) => deps.unknownTokens.isFlood(x),
      tally,
      metrics,
    });
    const breakOff = calls.breakOff.bind(calls);
    const failures = new Failures({ settle, breakOff, onBug: () => metrics.onBug(), log });
    const takeShare: TakeShare = (x) => calls.takeShare(x);
    const parts = { ...deps, settle, failures, garbage, takeShare };
    const proxy = proxyPipeline(parts);
    const self = selfPipeline(parts);
    const pool = new BytePool(options.webSocketPoolBytes);
    const upgrade = upgradePipeline({
      ...parts,
      takeWebSocketPlace: (x) => calls.takeWebSocketPlace(x),
      messageBytesMax: options.webSocketMessageBytesMax,
      pool,
      lingering: options.lingering,
      parked: this.#parked,
      handshakeTimeoutMs: options.handshakeTimeoutMs,
      draining: () => calls.draining,
      onAgreed: (x) => probes.succeeded(x),
      onSession: (session) => {
        sessions.add(session);
        calls.webSocketOpened(session.x);
      },
      onSessionEnd: (session) => {
        sessions.remove(session);
        calls.webSocketEnded(session.x);
      },
      onSessionGone: (session) => calls.webSocketGone(session.x),
    });
    this.#calls = calls;
    this.#pool = pool;
    this.access = new OpenAccess(deps.contexts, [calls, sessions]);
    this.#acceptor = new Acceptor(options, calls, garbage, (x) => calls.aborted(x));
    const addresses = new AddressConnections({
      perAddressMax: options.connectionsPerAddressMax,
      exempt: options.exemptAddress,
      recount: () => this.#countConnections(options.sharers),
      log,
    });
    this.#port = new AgentPort(options.connectionsMax, addresses);
    const onUpgrade = (res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void => {
      // The server looks for a key only. Without this it would end the connection in the middle of the handshake.
      if (!UPGRADE.test(req.getHeader('connection'))) {
        this.#onRequest(res, req, proxy);
        return;
      }
      const key = req.getHeader('sec-websocket-key');
      const protocols = req.getHeader('sec-websocket-protocol');
      this.#onRequest(res, req, upgrade, { key, protocols, context, share: null });
    };
    const behavior = sessions.behavior(options.webSocketMessageBytesMax, onUpgrade, () => this.#port.webSocketClosed());
    this.#port.onWebSocket(`${PROXY_PREFIX}*`, behavior);
    this.#port.onRequest(SELF_PATH, (res, req) => this.#onRequest(res, req, self));
    this.#port.onRequest('/*', (res, req) => this.#onRequest(res, req, proxy));
  }

  get inflight(): number {
    return this.#calls.size;
  }

  /** Places of WebSockets that are taken: handshakes, open ones, and those whose connections may still be there. */
  get webSocketPlaces(): number {
    return this.#calls.webSocketPlaces;
  }

  /** Bytes that WebSockets hold, as far as they can be counted. */
  get webSocketBytes(): number {
    return this.#pool.bytes;
  }

  get connections(): number {
    return this.#port.connections;
  }

  /** Ends what brings more than can be booked; call it about once a second. */
  endUnbookable(): void {
    this.#calls.endUnbookable();
  }

  get draining(): boolean {
    return this.#calls.draining;
  }

  /** Resolves with the port. `shared`: several processes listen on it together; else it must be free. */
  async listen(host: string, port: number, shared: boolean): Promise<number> {
    await this.#parked.start();
    this.#portNumber = await this.#port.listen(host, port, shared);
    return this.#portNumber;
  }

  /**
   * Takes no new connections; resolves when the calls in flight are done, or breaks them off after `deadlineMs`, and
   * when they are booked: the process ends soon after.
   */
  async drain(deadlineMs: number): Promise<void> {
    this.#calls.draining = true;
    this.#port.stopListening();
    this.sessions.endAll();
    await this.#calls.drain(deadlineMs);
    await this.#catchingUp.none(CATCH_UP_MS);
  }

  /** Ends every connection. */
  close(): void {
    this.access.close();
    this.#port.close();
    this.#parked.close();
  }

  /** Those of other processes on the same port are about as many as ours. */
  async #countConnections(sharers: number): Promise<ReadonlyMap<string, number> | null> {
    const counts = this.#portNumber === 0 ? null : await connectionsTo(this.#portNumber);
    for (const [network, connections] of counts ?? []) counts!.set(network, Math.ceil(connections / sharers));
    return counts;
  }

  #onRequest(res: HttpResponse, req: HttpRequest, pipeline: Pipeline, handshake: Handshake | null = null): void {
    const x = this.#acceptor.accept(res, req);
    if (x === null) return;
    x.handshake = handshake;
    this.#calls.add(x);
    pipeline.advance(x);
  }
}
