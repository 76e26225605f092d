/**
 * The data plane's metrics (docs/contract.md#metrics). The number of label values never grows with tenants: providers
 * appear by their public slug, which is `custom` for every custom provider.
 */
import { invariantFailures } from '@acg/base/invariant-failures';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { CallMetrics } from '../call/call-metrics-interface.js';
import type { Exchange, RoutedExchange } from '../call/exchange.js';
import type { CountersMetrics } from '../limits/counters-interface.js';
import type { UsageReading } from '../metering/reading/response-usage-meter-interface.js';
import type { CallCost } from '../pricing/call-cost-calculator.js';
import type { Rejection } from '../rejection/rejections.js';
import {
  type Aggregator,
  CounterSeries,
  GaugeSeries,
  type HistogramCell,
  HistogramSeries,
  ObservedCounterSeries,
  type SeriesCell,
} from './hot-path-metric-series.js';

const OVERHEAD_BUCKETS_SECONDS = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5];
const CALL_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const STORE_BUCKETS_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1];
const STATUS_CLASSES = ['failed', '1xx', '2xx', '3xx', '4xx', '5xx'];

/** Values that other components keep; read at each scrape. */
interface MetricSources {
  /** Of this process. */
  readonly bounds: {
    readonly inflight: number;
    readonly connections: number;
    readonly webSocketSlots: number;
    readonly spoolBytes: number;
    readonly memoryBytes: number;
  };
  /** Newest revision of changes that was applied. */
  revision(): number;
  linkAgeSeconds(): number;
  clockOffsetSeconds(): number;
  inflight(): number;
  connections(): number;
  webSockets(): number;
  webSocketSlotsUsed(): number;
  webSocketBytes(): number;
  upstreamPools(): number;
  upstreamFreeConnections(): number;
  cacheHits(): number;
  cacheMisses(): number;
  cachedContexts(): number;
  linkUp(): boolean;
  countersEnforcing(): boolean;
  spool(): {
    bytesUnacknowledged: number;
    bytesRetained: number;
    oldestAgeMs: number;
    isFull: boolean;
    writeErrors: number;
  };
  usageReporter(): { recordsReported: number; recordsRejected: number; failures: number; rewinds: number };
  /** Number of known breakers in each state. */
  breakers(): Readonly<Record<'CLOSED' | 'HALF_OPEN' | 'OPEN', number>>;
  /** Origins of built-in providers whose connect breaker is open. */
  connectBreakersOpen(): number;
}

/** The cells of one provider, cached so that a request looks up one map entry. */
interface ProviderCells {
  readonly requests: readonly SeriesCell[];
  readonly overhead: HistogramCell;
  readonly upstream: HistogramCell;
}

export class Metrics implements CallMetrics, CountersMetrics {
  readonly registry = new Registry();
  readonly #requests: CounterSeries;
  readonly #overhead: HistogramSeries;
  readonly #upstream: HistogramSeries;
  readonly #rejections: CounterSeries;
  readonly #usage: CounterSeries;
  readonly #priceSources: CounterSeries;
  readonly #unchecked: SeriesCell;
  readonly #internalErrors: SeriesCell;
  readonly #malformedStreams: SeriesCell;
  readonly #reservationExceeded: SeriesCell;
  readonly #storeLatency: HistogramCell;
  readonly #resolves: HistogramSeries;
  readonly #providers = new Map<string, ProviderCells>();
  #isEvictable = false;
  /** Responses that are being streamed. */
  streams = 0;

  constructor(version: string) {
    const { registry } = this;
    const counter = (name: string, help: string, labels: readonly string[]) =>
      new CounterSeries(name, help, registry, labels);
    this.#requests = counter('gateway_requests_total', 'Forwarded calls by outcome', ['provider', 'status']);
    this.#overhead = new HistogramSeries(
      'gateway_overhead_seconds',
      'Time in the gateway before the upstream call',
      registry,
      OVERHEAD_BUCKETS_SECONDS,
      'provider',
    );
    this.#upstream = new HistogramSeries(
      'gateway_upstream_seconds',
      'Time from the upstream call to its response head',
      registry,
      CALL_BUCKETS_SECONDS,
      'provider',
    );
    this.#rejections = counter('gateway_rejections_total', 'Requests that the gateway rejected', ['reason']);
    this.#usage = counter('gateway_usage_total', 'Successful calls by the source of their usage', ['source']);
    this.#priceSources = counter('gateway_price_total', 'Successful calls by the source of their price', [
      'provider',
      'source',
    ]);
    this.#unchecked = counter(
      'gateway_unchecked_total',
      'Requests that passed unchecked without the counter store',
      [],
    ).cell();
    this.#malformedStreams = counter(
      'gateway_malformed_streams_total',
      'Event streams with a wrong checksum or length, of which the usage was not read to the end',
      [],
    ).cell();
    this.#reservationExceeded = counter(
      'gateway_reservation_exceeded_usd_total',
      'Cost of calls with hard budgets above their reservations, US dollars',
      [],
    ).cell();
    new ObservedCounterSeries(
      'gateway_hold_exceeded_usd_total',
      'Deprecated: gateway_reservation_exceeded_usd_total',
      registry,
      () => this.#reservationExceeded.value,
    );
    this.#internalErrors = counter(
      'gateway_stage_failures_total',
      'Requests that ended in an internal error',
      [],
    ).cell();
    this.#storeLatency = new HistogramSeries(
      'gateway_counters_seconds',
      'Duration of counter store calls',
      registry,
      STORE_BUCKETS_SECONDS,
    ).cell();
    this.#resolves = new HistogramSeries(
      'gateway_resolve_seconds',
      'Duration of token lookups at the control plane',
      registry,
      CALL_BUCKETS_SECONDS,
      'outcome',
    );
    const build = [{ labels: { version, node: process.version }, value: 1 }];
    new GaugeSeries('gateway_build_info', 'Version of the data plane', registry, () => build, 'first');
    new GaugeSeries('gateway_streams', 'Event streams in flight', registry, () => this.streams);
    collectDefaultMetrics({ register: registry });
  }

  /** Registers the values that other components keep. */
  registerSources(sources: MetricSources): void {
    const { registry } = this;
    const gauge = (name: string, help: string, read: () => number, aggregator: Aggregator = 'sum') =>
      new GaugeSeries(name, help, registry, read, aggregator);
    const total = (name: string, help: string, read: () => number) =>
      new ObservedCounterSeries(name, help, registry, read);
    gauge('gateway_inflight', 'Requests in flight', () => sources.inflight());
    gauge('gateway_connections', 'Connections of agents', () => sources.connections());
    gauge('gateway_websockets', 'Open WebSockets', () => sources.webSockets());
    gauge('gateway_websocket_slots', 'WebSocket slots in use', () => sources.webSocketSlotsUsed());
    gauge('gateway_websocket_places', 'Deprecated: gateway_websocket_slots', () => sources.webSocketSlotsUsed());
    gauge('gateway_websocket_bytes', 'Bytes that WebSockets buffer, as counted', () => sources.webSocketBytes());
    const { bounds } = sources;
    gauge('gateway_inflight_max', 'Bound of gateway_inflight', () => bounds.inflight);
    gauge('gateway_connections_max', 'Bound of gateway_connections', () => bounds.connections);
    gauge('gateway_websocket_slots_max', 'Bound of gateway_websocket_slots', () => bounds.webSocketSlots);
    gauge('gateway_spool_max_bytes', 'Bound of gateway_spool_bytes', () => bounds.spoolBytes);
    gauge('gateway_memory_max_bytes', 'Memory that the process may use', () => bounds.memoryBytes);
    gauge('gateway_context_revision', 'Newest revision of changes that was applied', () => sources.revision(), 'min');
    gauge(
      'gateway_link_age_seconds',
      'Time since the last event from the control plane',
      () => sources.linkAgeSeconds(),
      'max',
    );
    gauge(
      'gateway_clock_offset_seconds',
      'Time of this machine minus the database’s',
      () => sources.clockOffsetSeconds(),
      'max',
    );
    gauge('gateway_upstream_origins', 'Pools of upstream connections: one per origin and organization or account', () =>
      sources.upstreamPools(),
    );
    gauge('gateway_upstream_free_connections', 'Idle upstream connections', () => sources.upstreamFreeConnections());
    gauge('gateway_contexts', 'Cached agent contexts', () => sources.cachedContexts());
    gauge(
      'gateway_link_up',
      '1 while invalidations arrive from the control plane',
      () => Number(sources.linkUp()),
      'min',
    );
    gauge(
      'gateway_counters_enforcing',
      '1 while limits are enforced',
      () => Number(sources.countersEnforcing()),
      'min',
    );
    gauge(
      'gateway_counters_evictable',
      '1 while Redis may evict the keys of limits: its maxmemory-policy is not noeviction',
      () => Number(this.#isEvictable),
      'max',
    );
    gauge(
      'gateway_spool_bytes',
      'Bytes of usage that the ledger has not acknowledged',
      () => sources.spool().bytesUnacknowledged,
    );
    gauge(
      'gateway_spool_kept_bytes',
      'Bytes of acknowledged usage that is retained',
      () => sources.spool().bytesRetained,
    );
    gauge(
      'gateway_spool_age_seconds',
      'Age of the oldest usage that the ledger has not acknowledged',
      () => sources.spool().oldestAgeMs / 1000,
      'max',
    );
    gauge(
      'gateway_spool_full',
      '1 while new calls of at least one organization are rejected',
      () => Number(sources.spool().isFull),
      'max',
    );
    total('gateway_spool_write_errors_total', 'Failed spool writes', () => sources.spool().writeErrors);
    total('gateway_records_shipped_total', 'Usage records acknowledged', () => sources.usageReporter().recordsReported);
    total(
      'gateway_records_set_aside_total',
      'Usage records that the ledger rejected',
      () => sources.usageReporter().recordsRejected,
    );
    total('gateway_ship_failures_total', 'Failed ReportUsage calls', () => sources.usageReporter().failures);
    total(
      'gateway_spool_rewinds_total',
      'Times that retained usage was sent again',
      () => sources.usageReporter().rewinds,
    );
    new ObservedCounterSeries('gateway_invariant_failures_total', 'Failed internal checks by name', registry, () =>
      Array.from(invariantFailures(), ([invariant, value]) => ({ labels: { invariant }, value })),
    );
    new ObservedCounterSeries('gateway_context_lookups_total', 'Context cache lookups', registry, () => [
      { labels: { result: 'hit' }, value: sources.cacheHits() },
      { labels: { result: 'miss' }, value: sources.cacheMisses() },
    ]);
    gauge('gateway_unreachable_origins', 'Origins of built-in providers with an open connect breaker', () =>
      sources.connectBreakersOpen(),
    );
    new GaugeSeries('gateway_circuits', 'Known breakers by state', registry, () =>
      Object.entries(sources.breakers()).map(([state, value]) => ({ labels: { state }, value })),
    );
  }

  onRejected(_exchange: Exchange, rejection: Rejection): void {
    this.#rejections.cell(rejection.reason).value++;
  }

  onSettled(exchange: RoutedExchange, reading: UsageReading | null, price: CallCost): void {
    if (exchange.response.streamed) this.streams--;
    const provider = exchange.routed.upstream.publicSlug;
    const cells = this.#providers.get(provider) ?? this.#createProviderCells(provider);
    cells.requests[Math.min(5, Math.trunc(exchange.upstreamCall.status / 100))]!.value++;
    cells.overhead.observe((exchange.upstreamCall.dispatchedAtPerfMs - exchange.request.startedAtPerfMs) / 1000);
    if (exchange.upstreamCall.respondedAtPerfMs > 0)
      cells.upstream.observe(
        (exchange.upstreamCall.respondedAtPerfMs - exchange.upstreamCall.dispatchedAtPerfMs) / 1000,
      );
    if (exchange.upstreamCall.status < 200 || exchange.upstreamCall.status > 299) return;
    if (reading !== null) this.#usage.cell(reading.source).value++;
    if (reading?.isMalformed) this.#malformedStreams.value++;
    this.#priceSources.cell(provider, price.source).value++;
  }

  onStreamOpened(): void {
    this.streams++;
  }

  onReservationExceeded(nanos: number): void {
    this.#reservationExceeded.value += nanos / 1e9;
  }

  onInternalError(): void {
    this.#internalErrors.value++;
  }

  onResolved(outcome: string, durationMs: number): void {
    this.#resolves.cell(outcome).observe(durationMs / 1000);
  }

  countUnchecked(count: number): void {
    this.#unchecked.value += count;
  }

  get uncheckedTotal(): number {
    return this.#unchecked.value;
  }

  setEnforcing(): void {}

  setEvictable(isEvictable: boolean): void {
    this.#isEvictable = isEvictable;
  }

  observeStoreLatency(ms: number): void {
    this.#storeLatency.observe(ms / 1000);
  }

  #createProviderCells(provider: string): ProviderCells {
    const cells = {
      requests: STATUS_CLASSES.map((status) => this.#requests.cell(provider, status)),
      overhead: this.#overhead.cell(provider),
      upstream: this.#upstream.cell(provider),
    };
    this.#providers.set(provider, cells);
    return cells;
  }
}
