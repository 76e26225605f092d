/**
 * Composition root of one data-plane process: builds every adapter, wires the stages, starts and stops them in order.
 */
import { Dialer } from '@acg/base/dialer/dialer';
import { OperatorNameResolver } from '@acg/base/dns/operator-name-resolver';
import { TenantNameResolver } from '@acg/base/dns/tenant-name-resolver';
import { CidrList } from '@acg/base/egress/cidr-list';
import type { Logger } from '@acg/base/log';
import { ControlPlaneClient } from '@acg/proto/control-plane-client';
import type { LinkSecurity } from '@acg/proto/link-tls-or-shared-secret';
import { ConnectBreakerRegistry } from './breaker/connect-breaker-registry.js';
import { EventLoopStallDetector } from './breaker/event-loop-stall-detector.js';
import { GrpcProbeClient } from './breaker/grpc-probe-client.js';
import { PushedBreakerRegistry } from './breaker/pushed-breaker-registry.js';
import { ClientIpResolver } from './call/client-ip-resolver.js';
import { ProviderMetering } from './call/provider-metering.js';
import { TokenIpTracker } from './call/sample-client-ips-per-token.js';
import type { CallRuns } from './call/stages/call-runs.js';
import type { Config } from './config.js';
import { ContextCache, DEFAULT_CONTEXT_CACHE_OPTIONS } from './context/context-cache.js';
import { ControlPlaneLink, isClockOff, type LinkListener } from './context/control-plane-link.js';
import { endsSession, type FormerCredential, listEndedRuns } from './context/invalidation-matching-and-history.js';
import { UnauthenticatedRateLimiter } from './context/unauthenticated-rate-limiter.js';
import { type CreatedCounters, createCounters } from './counters/create-counters.js';
import { applyLedgerSpend } from './limits/apply-ledger-spend.js';
import { CounterStoreReports } from './limits/counter-store-reports.js';
import type { Counters } from './limits/counters-interface.js';
import { Metrics } from './ops/metrics.js';
import type { OpsSource } from './ops/ops-server.js';
import { CallCostCalculator } from './pricing/call-cost-calculator.js';
import { usableMemoryBytes } from './process/usable-memory.js';
import { ProxyServer } from './proxy-server.js';
import { ConnectionPools } from './upstream/connections/connection-pools-per-origin-and-owner.js';
import { GrpcUsageSink } from './usage/grpc-usage-sink.js';
import { RejectionAggregator } from './usage/rejection-aggregator.js';
import { TokenIpObservations } from './usage/report-new-client-ips-per-token.js';
import { Spool } from './usage/spool/spool.js';
import { UsageReporter } from './usage/usage-reporter.js';

export interface GatewayIdentity {
  readonly dataPlaneId: string;
  /** Processes that share the port and the spool's byte cap. */
  readonly workers: number;
}

const HANDSHAKE_TIMEOUT_MS = 30_000;
/**
 * After a WebSocket's close the server waits 16 to 20 s for the agent's end. It holds a few pieces of unread bytes, and
 * whenever the agent makes room for a part of them, it gets 104 s more.
 */
const LINGER_TIMEOUTS = { lingerMs: 20_000, unreadLingerMs: 600_000 };
const LOOPBACK = ['127.0.0.0/8', '::1/128'];
const REJECTION_FLUSH_INTERVAL_MS = 5_000;
const EXPIRY_CHECK_INTERVAL_MS = 1_000;
const REPORT_TIMEOUT_MS = 5_000;
const CALL_RUNS_TIMEOUT_MS = 5_000;
/** Bytes of all bodies together that are buffered whole because they have to be edited. */
const BUFFERED_BODIES_MAX = 25;
/** Part of the drain time that is reserved for sending usage. */
const USAGE_FLUSH_TIME_RATIO = 0.2;

export class Gateway implements OpsSource {
  readonly #config: Config;
  readonly #dataPlaneId: string;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #client: ControlPlaneClient;
  readonly #controlPlaneLink: ControlPlaneLink;
  readonly #cache: ContextCache;
  readonly #counters: Counters;
  readonly #breakers: PushedBreakerRegistry;
  readonly #connectBreakers: ConnectBreakerRegistry;
  readonly #counterStoreReports: CounterStoreReports;
  readonly #stallDetector = new EventLoopStallDetector();
  readonly #spool: Spool;
  readonly #spoolBytesMax: number;
  readonly #shipper: UsageReporter;
  readonly #rejectionCounts: RejectionAggregator;
  readonly #pools: ConnectionPools;
  readonly #server: ProxyServer;
  readonly #rejectionFlushTimer: NodeJS.Timeout;
  readonly #expiryTimer: NodeJS.Timeout;

  /**
   * Builds and connects everything except the agents' port. `onFatal` is called with the reason when this data plane
   * must not run.
   */
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
    { counters, setLayoutStage }: CreatedCounters,
    onFatal: (message: string) => void,
  ) {
    this.#config = config;
    this.#dataPlaneId = identity.dataPlaneId;
    this.#log = log;
    this.#metrics = metrics;
    this.#counters = counters;
    this.#client = new ControlPlaneClient(config.controlplaneGrpc, config.link);
    const prices = new CallCostCalculator(Date.now);
    const { dataPlaneId } = identity;
    this.#spoolBytesMax = Math.floor(config.spoolBytesMax / identity.workers);
    const spoolOptions = {
      directory: config.spoolDir,
      bytesMax: this.#spoolBytesMax,
      retentionMs: config.spoolKeepMs,
    };
    this.#spool = new Spool(spoolOptions, log);
    this.#shipper = new UsageReporter(
      this.#spool,
      new GrpcUsageSink(this.#client, (response) => applyLedgerSpend(counters, response)),
      { dataPlaneId, onLedgerRolledBack: () => this.#controlPlaneLink.resetCache() },
      log,
    );
    this.#connectBreakers = new ConnectBreakerRegistry({
      dial: (origin, done) => this.#pools.dialUnpooled(origin, null, done),
      reportContacts: (contacts) => this.#client.reportContacts({ dataPlaneId, contacts }, REPORT_TIMEOUT_MS),
      hasStalledSince: (ms) => this.#stallDetector.hasStalledSince(ms),
      log,
    });
    const clock = { nowMs: Date.now, isLinkUp: () => this.#controlPlaneLink.isUp };
    this.#breakers = new PushedBreakerRegistry(
      new GrpcProbeClient(this.#client, dataPlaneId, log),
      clock,
      this.#connectBreakers,
    );
    const about = { dataPlaneId, counters: counters.kind, version: config.version };
    this.#controlPlaneLink = new ControlPlaneLink(
      this.#client,
      about,
      {
        ...this.#createLinkListener(prices, onFatal),
        onCounterLayout: setLayoutStage,
      },
      log,
      Math.random,
      config.cell,
    );
    this.#cache = new ContextCache(this.#controlPlaneLink, {
      ...DEFAULT_CONTEXT_CACHE_OPTIONS,
      ttlMs: config.contextTtlMs,
      staleIfErrorMs: config.contextStaleIfErrorMs,
      onResolved: (outcome, durationMs) => metrics.onResolved(outcome, durationMs),
    });
    this.#rejectionCounts = new RejectionAggregator((count) => this.#spool.appendRejection(count));
    this.#rejectionFlushTimer = setInterval(
      () => this.#rejectionCounts.flush(Date.now()),
      REJECTION_FLUSH_INTERVAL_MS,
    ).unref();
    this.#pools = new ConnectionPools({
      headersTimeoutMs: config.upstreamHeadersTimeoutMs,
      bodyTimeoutMs: config.upstreamBodyTimeoutMs,
      dialer: new Dialer({
        allowCidrs: config.egressAllowCidrs,
        connectTimeoutMs: config.upstreamConnectTimeoutMs,
        tenantNames: new TenantNameResolver(),
        operatorNames: new OperatorNameResolver(),
      }),
      onDialed: (...dialled) => this.#connectBreakers.onDialed(...dialled),
    });
    this.#server = this.#createServer(new ProviderMetering(prices, this.#spool, config.editedBodyBytesMax), (request) =>
      this.#client.callRuns({ ...request, dataPlaneId }, CALL_RUNS_TIMEOUT_MS),
    );
    this.#expiryTimer = setInterval(() => {
      this.#server.sessionRevoker.revokeExpired(Date.now());
      this.#server.abortCallsWhenSpoolFull();
    }, EXPIRY_CHECK_INTERVAL_MS).unref();
    this.#registerMetrics();
    this.#counterStoreReports = new CounterStoreReports({
      isEnforcing: () => counters.isEnforcing,
      uncheckedTotal: () => metrics.uncheckedTotal,
      report: (state) => this.#client.reportCounterStore({ dataPlaneId, ...state }, REPORT_TIMEOUT_MS),
      log,
    });
    counters.setDataLostListener(() => this.#cache.refreshAll());
    this.#controlPlaneLink.start(this.#cache);
  }

  /** Opens the agents' port. Resolves with its number; rejects when it is in use. */
  listen(port: number, shared: boolean): Promise<number> {
    return this.#server.listen(this.#config.host, port, shared);
  }

  /** The token holds for the next call to the control plane, certificates for the next connection. */
  replaceLinkSecurity(security: LinkSecurity): void {
    this.#client.replaceSecurity(security);
  }

  metrics(): Promise<string> {
    return this.#metrics.registry.metrics();
  }

  /** Metrics of this process, which the parent adds to those of other workers. */
  metricsJson(): Promise<object[]> {
    return this.#metrics.registry.getMetricsAsJSON();
  }

  notReadyReason(): string | null {
    if (this.#server.draining) return 'draining';
    if (!this.#controlPlaneLink.isReady) return 'the control plane has not been reached yet';
    const { clockOffsetMs } = this.#controlPlaneLink;
    if (isClockOff(clockOffsetMs)) {
      const direction = clockOffsetMs > 0 ? 'ahead of' : 'behind';
      return `the clock is ${Math.round(Math.abs(clockOffsetMs) / 1_000)} s ${direction} the database's: set it`;
    }
    return this.#spool.isFull ? 'the usage spool is full' : null;
  }

  /**
   * Ends the open calls, sends the usage and closes everything. Usage that cannot be sent in time stays in the spool.
   */
  async stop(): Promise<void> {
    const { drainTimeoutMs } = this.#config;
    await this.#server.drain(drainTimeoutMs * (1 - USAGE_FLUSH_TIME_RATIO));
    clearInterval(this.#rejectionFlushTimer);
    clearInterval(this.#expiryTimer);
    this.#counterStoreReports.stop();
    this.#connectBreakers.stop();
    this.#stallDetector.stop();
    this.#rejectionCounts.flush(Date.now());
    await this.#counters.close();
    const sent = await this.#shipper.flush(drainTimeoutMs * USAGE_FLUSH_TIME_RATIO);
    if (!sent)
      this.#log.warn('not all usage was acknowledged: the rest stays in the spool and is sent at the next start');
    await this.#shipper.stop();
    await this.#spool.close();
    this.#controlPlaneLink.stop();
    this.#pools.closeGracefully();
    this.#client.close();
    this.#server.close();
  }

  #createLinkListener(
    prices: CallCostCalculator,
    onFatal: (message: string) => void,
  ): Omit<LinkListener, 'onCounterLayout'> {
    return {
      onCircuits: (circuits) => this.#breakers.replaceAll(circuits),
      onCircuit: (circuit) => this.#breakers.update(circuit),
      onPrices: (book) => prices.replaceOverrides(book),
      onSessionsEnd: (invalidation, contexts) => {
        for (const context of contexts)
          for (const runId of listEndedRuns(invalidation, context)) this.#counters.endRun(runId);
        this.#server.sessionRevoker.revokeMatching((context, upstream) => endsSession(invalidation, context, upstream));
      },
      onReset: () => this.#server.sessionRevoker.recheckAll(),
      onRetiring: (former) => this.#reportCredentialUse(former),
      onFatal,
    };
  }

  #reportCredentialUse(former: readonly FormerCredential[]): void {
    if (former.length === 0) return;
    const counts = this.#server.sessionRevoker.countUses(former);
    const uses = former.map(({ id, version }, i) => ({ id, version, calls: counts[i]! }));
    // The next heartbeat asks again.
    this.#client
      .reportCredentialUse({ dataPlaneId: this.#dataPlaneId, uses }, REPORT_TIMEOUT_MS)
      .catch((error: unknown) => this.#log.debug({ err: error }, 'use of former credentials not reported'));
  }

  #createServer(metering: ProviderMetering, callRuns: CallRuns): ProxyServer {
    const config = this.#config;
    const sightings = new TokenIpObservations((sighting) => this.#spool.appendAddressObservation(sighting));
    const clientAddress = new ClientIpResolver(config.trustedProxyCidrs);
    const addressWatch = new TokenIpTracker(sightings, clientAddress);
    const exempt = new CidrList([...LOOPBACK, ...config.trustedProxyCidrs]);
    const unknownTokens = new UnauthenticatedRateLimiter(config.unknownTokensPerAddress);
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
        lingerTimeouts: LINGER_TIMEOUTS,
        connectionsPerAddressMax: config.connectionsPerAddressMax,
        isAddressExempt: (address) => exempt.includes(address),
        processCount: config.workers,
        connectTimeoutMs: config.upstreamConnectTimeoutMs,
        handshakeTimeoutMs: Math.min(config.upstreamHeadersTimeoutMs, HANDSHAKE_TIMEOUT_MS),
        editedBodyBytesMax: config.editedBodyBytesMax,
        publicUrl: config.publicUrl,
        trustedProxyCidrs: config.trustedProxyCidrs,
        editedBodiesBytesMax: config.editedBodyBytesMax * BUFFERED_BODIES_MAX,
      },
      contexts: this.#cache,
      unauthenticatedLimiter: {
        startLookup: (x) => unknownTokens.startLookup(clientAddress.resolve(x)),
        finishLookup: (asker, unknown) => unknownTokens.finishLookup(asker, unknown),
        isOverRejectionLimit: (x) => unknownTokens.isOverRejectionLimit(clientAddress.resolve(x)),
      },
      counters: this.#counters,
      breakers: this.#breakers,
      spool: this.#spool,
      metering,
      pools: this.#pools,
      rejectionCounter: this.#rejectionCounts,
      clientAddress,
      callRuns,
      onAuthenticated: (x, context) => addressWatch.sampleClientIp(x, context),
      metrics: this.#metrics,
      log: this.#log,
    });
  }

  #registerMetrics(): void {
    const server = this.#server;
    this.#metrics.registerSources({
      bounds: {
        inflight: this.#config.inflightMax,
        connections: this.#config.connectionsMax,
        webSocketSlots: this.#config.webSocketsMax,
        spoolBytes: this.#spoolBytesMax,
        memoryBytes: usableMemoryBytes() / this.#config.workers,
      },
      revision: () => this.#cache.seenRevision,
      linkAgeSeconds: () => this.#controlPlaneLink.msSinceEvent / 1_000,
      clockOffsetSeconds: () => this.#controlPlaneLink.clockOffsetMs / 1_000,
      inflight: () => server.inflight,
      connections: () => server.connections,
      webSockets: () => server.sessions.size,
      webSocketSlotsUsed: () => server.webSocketSlotsUsed,
      webSocketBytes: () => server.webSocketBytes,
      upstreamPools: () => this.#pools.poolCount,
      upstreamFreeConnections: () => this.#pools.idleConnectionCount,
      cacheHits: () => this.#cache.hits,
      cacheMisses: () => this.#cache.misses,
      cachedContexts: () => this.#cache.size,
      linkUp: () => this.#controlPlaneLink.isUp,
      countersEnforcing: () => this.#counters.isEnforcing,
      spool: () => this.#spool.stats(),
      usageReporter: () => this.#shipper.stats(),
      breakers: () => this.#breakers.countByState(),
      connectBreakersOpen: () => this.#connectBreakers.openCount,
    });
  }
}
