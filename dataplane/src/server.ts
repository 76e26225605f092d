/**
 * The agents' port: the HTTP server, the stages in their order, and what bounds them (connections, calls in flight).
 *
 *   accept → target → authenticate → route → circuit → admit → collect → forward ┐
 *                        any refusal answers and ends here                       ├─▶ relay → settle → last byte
 */

import uws, { type HttpRequest, type HttpResponse, type TemplatedApp, type us_listen_socket } from 'uWebSockets.js';
import { Bag } from '@acg/base/bag';
import { ChunkGarbage, minorCollector } from '@acg/base/chunk-garbage';
import type { Logger } from '@acg/base/log';
import type { CallMetering, Price } from './call/call-metering.js';
import type { Exchange, ExchangeObserver } from './call/exchange.js';
import { Pipeline } from './call/pipeline.js';
import { REJECTIONS, type Rejection } from './call/rejections.js';
import type { RelaySupport } from './call/relay.js';
import { cutClass, failureAnswer, planResponse } from './call/respond.js';
import { type AcceptOptions, Acceptor, type Admittance } from './call/stages/accept.js';
import { createAdmit } from './call/stages/admit.js';
import { type Contexts, createAuthenticate } from './call/stages/authenticate.js';
import { type Circuits, createCircuit } from './call/stages/circuit.js';
import { createCollect, EditedBodyBudget } from './call/stages/collect.js';
import { createForward } from './call/stages/forward.js';
import { parseRequestTarget, route } from './call/stages/route.js';
import { createSelf, SELF_PATH } from './call/stages/self.js';
import { createSettle, type RecordSink } from './call/stages/settle.js';
import type { Counters } from './counters/counters.js';
import type { UsageReading } from './metering/meter.js';
import type { UpstreamPools } from './upstream/pools.js';
import { PROXY_PREFIX } from './upstream/target.js';
import { WebSocketSessions } from './websocket/sessions.js';
import { checkUpgrade, createUpgrade, type Handshake } from './websocket/upgrade.js';

export interface ProxyOptions extends AcceptOptions {
  readonly connectionsMax: number;
  readonly inflightMax: number;
  /** Of an upstream's WebSocket handshake. */
  readonly handshakeTimeoutMs: number;
  /** Bytes of all bodies together that are held whole to be edited. */
  readonly editedBodiesBytesMax: number;
}

export interface ProxyMetrics {
  onRejected(x: Exchange, rejection: Rejection): void;
  onSettled(x: Exchange, reading: UsageReading | null, price: Price): void;
  /** A response that comes event by event has begun; `onSettled` ends it. */
  onStreamOpened(): void;
  onBug(): void;
}

export interface ProxyDeps {
  readonly options: ProxyOptions;
  readonly contexts: Contexts;
  readonly counters: Pick<Counters, 'admit' | 'addSpend' | 'standing'>;
  readonly circuits: Circuits;
  readonly spool: RecordSink & { readonly full: boolean };
  readonly metering: CallMetering;
  readonly pools: Pick<UpstreamPools, 'acquire' | 'connectorFor'>;
  /** Refusals of known agents. */
  readonly tally: { count(orgId: string, agentId: string, providerSlug: string, reason: string, nowMs: number): void };
  readonly onAuthenticated: (x: Exchange) => void;
  readonly metrics: ProxyMetrics;
  readonly log: Logger;
}

/** The port cannot be had; `message` is for the operator. */
export class PortInUse extends Error {}

export class ProxyServer implements Admittance, ExchangeObserver {
  readonly #deps: ProxyDeps;
  readonly #app: TemplatedApp = uws.App();
  readonly #pipeline: Pipeline;
  readonly #selfPipeline: Pipeline;
  readonly #upgradePipeline: Pipeline;
  /** Open WebSockets. */
  readonly sessions = new WebSocketSessions();
  readonly #acceptor: Acceptor;
  readonly #settle: ReturnType<typeof createSettle>;
  readonly #bodyBudget: EditedBodyBudget;
  readonly #garbage = new ChunkGarbage(minorCollector());
  readonly #live = new Bag<Exchange>();
  #listenSocket: us_listen_socket | null = null;
  #connections = 0;
  #onIdle: (() => void) | null = null;
  draining = false;
  /** The drain has ended: what still arrives would be neither counted nor booked. */
  #drained = false;

  constructor(deps: ProxyDeps) {
    this.#deps = deps;
    const { options } = deps;
    this.#settle = createSettle({
      spool: deps.spool,
      counters: deps.counters,
      metering: deps.metering,
      onSettled: (x, reading, price) => deps.metrics.onSettled(x, reading, price),
    });
    this.#bodyBudget = new EditedBodyBudget(options.editedBodiesBytesMax);
    this.#pipeline = this.#buildPipeline();
    this.#selfPipeline = this.#buildSelfPipeline();
    this.#upgradePipeline = this.#buildUpgradePipeline();
    this.#acceptor = new Acceptor(options, this, this, this.#garbage, (x) => this.#onAborted(x));
    this.#app.filter((res, count) => this.#onConnection(res, Number(count)));
    const behavior = this.sessions.behavior((res, req, context) => {
      const handshake = {
        key: req.getHeader('sec-websocket-key'),
        protocols: req.getHeader('sec-websocket-protocol'),
        context,
      };
      this.#onRequest(res, req, this.#upgradePipeline, handshake);
    });
    this.#app.ws(`${PROXY_PREFIX}*`, behavior);
    this.#app.any(SELF_PATH, (res, req) => this.#onRequest(res, req, this.#selfPipeline));
    this.#app.any('/*', (res, req) => this.#onRequest(res, req, this.#pipeline));
  }

  get inflight(): number {
    return this.#live.size;
  }

  get connections(): number {
    return this.#connections;
  }

  /** Resolves with the port. `shared`: several processes listen on it together; else it must be free. */
  listen(host: string, port: number, shared: boolean): Promise<number> {
    return new Promise((resolve, reject) => {
      const flags = shared ? 0 : EXCLUSIVE_PORT;
      const listen = this.#app.listen as unknown as (
        host: string,
        port: number,
        options: number,
        done: (socket: us_listen_socket | false) => void,
      ) => void;
      listen.call(this.#app, host, port, flags, (socket) => {
        if (socket === false) {
          reject(
            new PortInUse(
              `cannot listen on ${host}:${port}: stop the other process, or set DATAPLANE_PORT (DATAPLANE_HOST) to a free one`,
            ),
          );
          return;
        }
        this.#listenSocket = socket;
        resolve(uws.us_socket_local_port(socket as never));
      });
    });
  }

  /** Takes no new connections; resolves when the calls in flight are done, or breaks them off after `deadlineMs`. */
  async drain(deadlineMs: number): Promise<void> {
    this.draining = true;
    if (this.#listenSocket !== null) uws.us_listen_socket_close(this.#listenSocket);
    this.#listenSocket = null;
    this.sessions.endAll();
    if (this.#live.size > 0) await this.#idle(deadlineMs);
    this.#drained = true;
    this.#live.forEach((x) => {
      if (x.errorClass === '') x.errorClass = 'shutdown';
      this.#breakOff(x);
    });
  }

  /** Ends every connection. */
  close(): void {
    this.#app.close();
  }

  refusal(): Rejection | null {
    if (this.#drained) return REJECTIONS.stopping;
    if (this.#live.size >= this.#deps.options.inflightMax) return REJECTIONS.overloaded;
    return this.#deps.spool.full ? REJECTIONS.spoolFull : null;
  }

  rejected(x: Exchange, rejection: Rejection): void {
    this.#deps.metrics.onRejected(x, rejection);
    this.#giveProbeBack(x);
    const { context } = x;
    if (context === null) return;
    const slug = x.upstream?.providerSlug ?? '';
    this.#deps.tally.count(context.orgId, context.agentId, slug, rejection.reason, x.request.startedAtMs);
  }

  ended(x: Exchange): void {
    this.#live.delete(x);
    if (this.#live.size === 0) this.#onIdle?.();
  }

  #buildPipeline(): Pipeline {
    const { contexts, circuits, counters, metering, pools, options, onAuthenticated } = this.#deps;
    const advance = (x: Exchange): void => this.#pipeline.advance(x);
    const stages = [
      parseRequestTarget,
      createAuthenticate({ contexts, advance, onAuthenticated, anyStatus: false }),
      route,
      createCircuit(circuits, advance),
      createAdmit(counters, advance),
      createCollect(metering, this.#bodyBudget, options.bufferedBodyBytesMax, advance),
      createForward(pools, metering, this.#relaySupport()),
    ];
    return new Pipeline(stages, (error, x) => this.#onBug(error, x));
  }

  #buildUpgradePipeline(): Pipeline {
    const { contexts, circuits, counters, pools, options, onAuthenticated } = this.#deps;
    const advance = (x: Exchange): void => this.#upgradePipeline.advance(x);
    const stages = [
      parseRequestTarget,
      createAuthenticate({ contexts, advance, onAuthenticated, anyStatus: false }),
      route,
      checkUpgrade,
      createCircuit(circuits, advance),
      createAdmit(counters, advance),
      createUpgrade({
        connectorFor: (guarded) => pools.connectorFor(guarded),
        handshakeTimeoutMs: options.handshakeTimeoutMs,
        settle: this.#settle,
        draining: () => this.draining,
        onAgreed: (x) => this.#endProbe(x),
        onSession: (session) => this.sessions.add(session),
        onSessionEnd: (session) => this.sessions.remove(session),
      }),
    ];
    return new Pipeline(stages, (error, x) => this.#onBug(error, x));
  }

  #buildSelfPipeline(): Pipeline {
    const { contexts, circuits, counters, onAuthenticated } = this.#deps;
    const advance = (x: Exchange): void => this.#selfPipeline.advance(x);
    const stages = [
      createAuthenticate({ contexts, advance, onAuthenticated, anyStatus: true }),
      createSelf(counters, circuits),
    ];
    return new Pipeline(stages, (error, x) => this.#onBug(error, x));
  }

  #relaySupport(): RelaySupport {
    return {
      plan: (x, status, rawHeaders) => {
        const plan = planResponse(x, status, rawHeaders, this.#deps.metering);
        if (x.streamed) this.#deps.metrics.onStreamOpened();
        return plan;
      },
      settle: (x, done) => this.#settle(x, done),
      failed: (x, error) => {
        const answer = failureAnswer(x, error);
        this.#deps.log.debug({ err: error, requestId: x.request.id }, 'the upstream call failed');
        this.#settle(x, () => x.answerFailure(answer));
      },
      cut: (x, error) => {
        x.errorClass = cutClass(error);
      },
      release: (x) => x.connection?.release(),
      garbage: this.#garbage,
    };
  }

  #onConnection(res: HttpResponse, count: number): void {
    this.#connections += count > 0 ? 1 : -1;
    if (count > 0 && this.#connections > this.#deps.options.connectionsMax) res.close();
  }

  #onRequest(res: HttpResponse, req: HttpRequest, pipeline: Pipeline, handshake: Handshake | null = null): void {
    const x = this.#acceptor.accept(res, req);
    if (x === null) return;
    x.handshake = handshake;
    this.#live.add(x);
    pipeline.advance(x);
  }

  #onAborted(x: Exchange): void {
    x.aborted = true;
    if (x.finished) return;
    if (x.errorClass === '') x.errorClass = 'client_aborted';
    x.finish();
    this.#endUpstream(x);
  }

  #breakOff(x: Exchange): void {
    x.breakOff();
    this.#endUpstream(x);
  }

  /** The agent will get nothing more: ends the call and books what is known of it. */
  #endUpstream(x: Exchange): void {
    x.relay?.abort();
    x.abortUpgrade?.();
    if (x.forwarded && !x.settled) this.#settle(x, ignore);
    else if (!x.forwarded) this.#giveProbeBack(x);
  }

  #giveProbeBack(x: Exchange): void {
    if (x.probeLease === '' || x.forwarded) return;
    this.#deps.circuits.releaseProbe(x.upstream!.circuitKey, x.probeLease);
    x.probeLease = '';
  }

  /** A WebSocket may last for days: its probe must not wait for its end. */
  #endProbe(x: Exchange): void {
    if (x.probeLease === '') return;
    this.#deps.circuits.probeSucceeded(x.upstream!.circuitKey, x.circuitEpoch, x.probeLease);
    x.probeLease = '';
  }

  #onBug(error: unknown, x: Exchange): void {
    this.#deps.log.error({ err: error, requestId: x.request.id }, 'a stage failed');
    this.#deps.metrics.onBug();
    if (x.forwarded) this.#breakOff(x);
    else x.reject(REJECTIONS.internal);
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

/** The typings lack this export. */
const EXCLUSIVE_PORT = (uws as unknown as { LIBUS_LISTEN_EXCLUSIVE_PORT: number }).LIBUS_LISTEN_EXCLUSIVE_PORT;
const ignore = (): void => {};
