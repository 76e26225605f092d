/** Composition root of one data-plane process: builds every adapter, wires the stages, starts and stops in order. */
import { Dialer } from '@acg/base/dialer/dialer';
import { CidrList } from '@acg/base/egress/cidr-list';
import type { Logger } from '@acg/base/log';
import { OperatorNames } from '@acg/base/names/operator-names';
import { TenantNames } from '@acg/base/names/tenant-names';
import { GatewayClient } from '@acg/proto/client';
import { AddressWatch } from './call/address-watch.js';
import { ClientAddress } from './call/client-address.js';
import { ProviderMetering } from './call/provider-metering.js';
import { CircuitBoard } from './circuit/circuit-board.js';
import { ConnectBreakers } from './circuit/connect-breakers.js';
import { GrpcProbeClient } from './circuit/grpc-probe-client.js';
import { LoopStalls } from './circuit/loop-stalls.js';
import type { Config } from './config.js';
import { ContextCache, DEFAULT_CONTEXT_CACHE_OPTIONS } from './context/context-cache.js';
import { ContextSource, type LinkListener } from './context/context-source.js';
import { endsSession } from './context/invalidation.js';
import { UnknownTokens } from './context/unknown-tokens.js';
import type { Counters } from './counters/counters.js';
import { createCounters } from './counters/create-counters.js';
import { noteLedger } from './counters/ledger-notes.js';
import { Metrics } from './ops/metrics.js';
import type { OpsSource } from './ops/ops-server.js';
import { PriceTable } from './pricing/price.js';
import { ProxyServer } from './server.js';
import { UpstreamPools } from './upstream/pools.js';
import { AddressSightings } from './usage/address-sightings.js';
import { GrpcUsageSink } from './usage/grpc-sink.js';
import { RejectionTally } from './usage/rejection-tally.js';
import { Shipper } from './usage/shipper.js';
import { Spool } from './usage/spool.js';

export interface GatewayIdentity {
  readonly dataPlaneId: string;
  /** Processes that share the port and the spool's byte cap. */
  readonly workers: number;
}

const HANDSHAKE_TIMEOUT_MS = 30_000;
/**
 * After a WebSocket's close the server waits 16 to 20 s for the agent's end. Of what the agent has not read it holds a few
 * pieces, and whenever the agent makes room for a part of them, it gets 104 s more.
 */
const LINGERING = { ms: 20_000, unreadMs: 600_000 };
const LOOPBACK = ['127.0.0.0/8', '::1/128'];
const TALLY_FLUSH_MS = 5_000;
const EXPIRY_CHECK_MS = 1_000;
const REPORT_TIMEOUT_MS = 5_000;
/** All bodies together that are held whole because they have to be edited. */
const EDITED_BODIES = 25;
/** Part of the drain time that is kept for sending usage. */
const FLUSH_RATIO = 0.2;

export class Gateway implements OpsSource {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #client: GatewayClient;
  readonly #source: ContextSource;
  readonly #cache: ContextCache;
  readonly #counters: Counters;
  readonly #board: CircuitBoard;
  readonly #connects: ConnectBreakers;
  readonly #stalls = new LoopStalls();
  readonly #spool: Spool;
  readonly #shipper: Shipper;
  readonly #tally: RejectionTally;
  readonly #pools: UpstreamPools;
  readonly #server: ProxyServer;
  readonly #tallyTimer: NodeJS.Timeout;
  readonly #expiryTimer: NodeJS.Timeout;

  /** Builds and connects everything but the agents' port. `onFatal`: this data plane must not run, and why. */
  static async create(
    config: Config,
    identity: GatewayIdentity,
    log: Logger,
    onFatal: (message: string) => void,
  ): Promise<Gateway> {
    const metrics = new Metrics(config.version);
    const counters = await createCounters(config, log, metrics);
    return new Gateway(config, identity, log, metrics, counters, onFatal);
  }

  private constructor(
    config: Config,
    identity: GatewayIdentity,
    log: Logger,
    metrics: Metrics,
    counters: Counters,
    onFatal: (message: string) => void,
  ) {
    this.#config = config;
    this.#log = log;
    this.#metrics = metrics;
    this.#counters = counters;
    this.#client = new GatewayClient(config.controlplaneGrpc, config.link);
    const prices = new PriceTable(Date.now);
    const { dataPlaneId } = identity;
    const spoolOptions = {
      directory: config.spoolDir,
      bytesMax: Math.floor(config.spoolBytesMax / identity.workers),
      keepMs: config.spoolKeepMs,
    };
    this.#spool = new Spool(spoolOptions, log);
    this.#shipper = new Shipper(
      this.#spool,
      new GrpcUsageSink(this.#client, (response) => noteLedger(counters, response)),
      { dataPlaneId, onWentBack: () => this.#source.forget() },
      log,
    );
    this.#connects = new ConnectBreakers({
      dial: (origin, done) => this.#pools.dial(origin, null, done),
      report: (contacts) => this.#client.reportContacts({ dataPlaneId, contacts }, REPORT_TIMEOUT_MS),
      stalledSince: (ms) => this.#stalls.since(ms),
      log,
    });
    const clock = { nowMs: Date.now, linkUp: () => this.#source.up };
    this.#board = new CircuitBoard(new GrpcProbeClient(this.#client, dataPlaneId, log), clock, this.#connects);
    const about = { dataPlaneId, counters: counters.kind, version: config.version };
    this.#source = new ContextSource(this.#client, about, this.#listener(prices, onFatal), log);
    this.#cache = new ContextCache(this.#source, {
      ...DEFAULT_CONTEXT_CACHE_OPTIONS,
      ttlMs: config.contextTtlMs,
      staleIfErrorMs: config.contextStaleIfErrorMs,
      onResolved: (outcome, durationMs) => metrics.onResolved(outcome, durationMs),
    });
    this.#tally = new RejectionTally((count) => this.#spool.appendRejection(count));
    this.#tallyTimer = setInterval(() => this.#tally.flush(Date.now()), TALLY_FLUSH_MS).unref();
    this.#pools = new UpstreamPools({
      headersTimeoutMs: config.upstreamHeadersTimeoutMs,
      bodyTimeoutMs: config.upstreamBodyTimeoutMs,
      dialer: new Dialer({
        allowCidrs: config.egressAllowCidrs,
        connectTimeoutMs: config.upstreamConnectTimeoutMs,
        tenantNames: new TenantNames(),
        operatorNames: new OperatorNames(),
      }),
      onDialled: (...dialled) => this.#connects.dialled(...dialled),
    });
    this.#server = this.#createServer(new ProviderMetering(prices, this.#spool, config.editedBodyBytesMax));
    this.#expiryTimer = setInterval(() => {
      this.#server.access.endExpired(Date.now());
      this.#server.endUnbookable();
    }, EXPIRY_CHECK_MS).unref();
    this.#observeFigures();
    counters.onDataLost(() => this.#cache.refreshAll());
    this.#source.start(this.#cache);
  }

  /** Opens the agents' port; resolves with its number, rejects when it is taken. */
  listen(port: number, shared: boolean): Promise<number> {
    return this.#server.listen(this.#config.host, port, shared);
  }

  metrics(): Promise<string> {
    return this.#metrics.registry.metrics();
  }

  /** For putting the figures of several workers together. */
  metricsJson(): Promise<object[]> {
    return this.#metrics.registry.getMetricsAsJSON();
  }

  notReady(): string | null {
    if (this.#server.draining) return 'draining';
    if (!this.#source.ready) return 'the control plane has not been reached yet';
    return this.#spool.full ? 'the usage spool is full' : null;
  }

  /** Finishes what runs, sends the usage, lets go of everything. What cannot be sent in time stays in the spool. */
  async stop(): Promise<void> {
    const { drainTimeoutMs } = this.#config;
    await this.#server.drain(drainTimeoutMs * (1 - FLUSH_RATIO));
    clearInterval(this.#tallyTimer);
    clearInterval(this.#expiryTimer);
    this.#connects.stop();
    this.#stalls.stop();
    this.#tally.flush(Date.now());
    await this.#counters.close();
    const sent = await this.#shipper.flush(drainTimeoutMs * FLUSH_RATIO);
    if (!sent)
      this.#log.warn('not all usage was acknowledged: the rest stays in the spool and is sent at the next start');
    await this.#shipper.stop();
    await this.#spool.close();
    this.#source.stop();
    this.#pools.close();
    this.#client.close();
    this.#server.close();
  }

  #listener(prices: PriceTable, onFatal: (message: string) => void): LinkListener {
    return {
      onCircuits: (circuits) => this.#board.replace(circuits),
      onCircuit: (circuit) => this.#board.update(circuit),
      onPrices: (book) => prices.replaceOverrides(book),
      onSessionsEnd: (invalidation) => {
        this.#server.access.endRevoked((context, slug) => endsSession(invalidation, context, slug));
      },
      onReset: () => this.#server.access.review(),
      onFatal,
    };
  }

  #createServer(metering: ProviderMetering): ProxyServer {
    const config = this.#config;
    const sightings = new AddressSightings((sighting) => this.#spool.appendSighting(sighting));
    const clientAddress = new ClientAddress(config.trustedProxyCidrs);
    const addressWatch = new AddressWatch(sightings, clientAddress);
    const exempt = new CidrList([...LOOPBACK, ...config.trustedProxyCidrs]);
    const unknownTokens = new UnknownTokens(config.unknownTokensPerAddress);
    return new ProxyServer({
      options: {
        headerBytesMax: config.headerBytesMax,
        headerCountMax: config.headerCountMax,
        bufferedBodyBytesMax: config.bufferedBodyBytesMax,
        connectionsMax: config.connectionsMax,
        inflightMax: config.inflightMax,
        inflightPerOrgMax: config.inflightPerOrgMax,
        webSocketsMax: config.webSocketsMax,
        webSocketMessageBytesMax: config.webSocketMessageBytesMax,
        webSocketPoolBytes: config.webSocketPoolBytes,
        lingering: LINGERING,
        connectionsPerAddressMax: config.connectionsPerAddressMax,
        exemptAddress: (address) => exempt.includes(address),
        sharers: config.workers,
        handshakeTimeoutMs: Math.min(config.upstreamHeadersTimeoutMs, HANDSHAKE_TIMEOUT_MS),
        editedBodyBytesMax: config.editedBodyBytesMax,
        publicUrl: config.publicUrl,
        trustedProxyCidrs: config.trustedProxyCidrs,
        editedBodiesBytesMax: config.editedBodyBytesMax * EDITED_BODIES,
      },
      contexts: this.#cache,
      unknownTokens: {
        ask: (x) => unknownTokens.ask(clientAddress.of(x)),
        answered: (asker, unknown) => unknownTokens.answered(asker, unknown),
        isFlood: (x) => unknownTokens.isFlood(clientAddress.of(x)),
      },
      counters: this.#counters,
      circuits: this.#board,
      spool: this.#spool,
      metering,
      pools: this.#pools,
      tally: this.#tally,
      onAuthenticated: (x, context) => addressWatch.observe(x, context),
      metrics: this.#metrics,
      log: this.#log,
    });
  }

  #observeFigures(): void {
    const server = this.#server;
    this.#metrics.observe({
      inflight: () => server.inflight,
      connections: () => server.connections,
      webSockets: () => server.sessions.size,
      webSocketPlaces: () => server.webSocketPlaces,
      webSocketBytes: () => server.webSocketBytes,
      upstreamPools: () => this.#pools.count,
      upstreamFreeConnections: () => this.#pools.freeConnections,
      cacheHits: () => this.#cache.hits,
      cacheMisses: () => this.#cache.misses,
      cachedContexts: () => this.#cache.size,
      linkUp: () => this.#source.up,
      countersEnforcing: () => this.#counters.enforcing,
      spool: () => this.#spool.figures(),
      shipped: () => this.#shipper.figures(),
      circuits: () => this.#board.counts(),
      unreachableOrigins: () => this.#connects.open,
    });
  }
}
