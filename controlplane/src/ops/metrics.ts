/**
 * Prometheus metrics of the control plane (docs/contract.md#metrics). One registry per service; other modules add
 * gauges to `metrics.registry`. No label grows with tenants: routes are labelled by pattern, statuses by class.
 */
import { invariantFailures } from '@acg/base/invariant-failures';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { App } from '../http/app.js';
import { listPeriodicWorks } from './background-tasks.js';

const DURATION_BUCKETS_S = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const UNKNOWN_ROUTE = 'unknown';
const REWIND_SIGNS = ['revisions', 'usage'] as const;
const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

export class Metrics {
  readonly registry = new Registry();
  readonly #requests: Counter<'method' | 'route' | 'status'>;
  readonly #durations: Histogram<'method' | 'route'>;
  readonly #rewinds: Counter<'seen_in'>;

  constructor(version: string) {
    const registers = [this.registry];
    // Process, memory, garbage collection and event-loop lag.
    collectDefaultMetrics({ register: this.registry });
    const build = new Gauge({
      name: 'gateway_build_info',
      help: 'Always 1; the labels identify the running version.',
      labelNames: ['plane', 'version', 'node'],
      registers,
    });
    build.set({ plane: 'control', version, node: process.version }, 1);
    this.#requests = new Counter({
      name: 'gateway_control_http_requests_total',
      help: 'Requests to the management API by route pattern and status class.',
      labelNames: ['method', 'route', 'status'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'gateway_control_http_request_duration_seconds',
      help: 'Time from the request to the last byte of its response.',
      labelNames: ['method', 'route'],
      buckets: DURATION_BUCKETS_S,
      registers,
    });
    this.#rewinds = new Counter({
      name: 'gateway_database_rewinds_total',
      help: 'Detected losses of committed transactions by the database, by the rows that revealed them.',
      labelNames: ['seen_in'],
      registers,
    });
    new Counter({
      name: 'gateway_invariant_failures_total',
      help: 'Failed internal checks by name.',
      labelNames: ['invariant'],
      registers,
      collect() {
        this.reset();
        for (const [name, count] of invariantFailures()) this.inc({ invariant: name }, count);
      },
    });
    this.#addBackgroundMetrics();
    // Starts at 0, so that the first increment shows in increase().
    for (const seenIn of REWIND_SIGNS) this.#rewinds.inc({ seen_in: seenIn }, 0);
  }

  #addBackgroundMetrics(): void {
    const registers = [this.registry];
    const labelNames = ['work'];
    new Gauge({
      name: 'gateway_background_last_success_timestamp_seconds',
      help: 'Last successful end of each periodic work, Unix time; at first, the start of the process.',
      ...{ labelNames, registers },
      collect() {
        for (const [work, { lastSuccessMs }] of listPeriodicWorks()) this.set({ work }, lastSuccessMs / 1_000);
      },
    });
    new Gauge({
      name: 'gateway_background_interval_seconds',
      help: 'Interval of each periodic work.',
      ...{ labelNames, registers },
      collect() {
        for (const [work, { intervalMs }] of listPeriodicWorks()) this.set({ work }, intervalMs / 1_000);
      },
    });
    new Counter({
      name: 'gateway_background_failures_total',
      help: 'Failed runs of each periodic work.',
      ...{ labelNames, registers },
      collect() {
        this.reset();
        for (const [work, { failures }] of listPeriodicWorks()) this.inc({ work }, failures);
      },
    });
  }

  /**
   * Counts a detected loss of committed transactions: the last known revision or a commit that recorded usage is
   * missing.
   */
  countDatabaseRewind(seenIn: (typeof REWIND_SIGNS)[number]): void {
    this.#rewinds.inc({ seen_in: seenIn });
  }

  /** Adds a gauge that is read at each scrape. */
  addGauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /**
   * Adds a counter with one label of the given values; the returned function increments it. Every value starts at 0.
   */
  addCounter<Value extends string>(
    name: string,
    help: string,
    label: string,
    values: readonly Value[],
  ): (value: Value) => void {
    const counter = new Counter({ name, help, labelNames: [label], registers: [this.registry] });
    for (const value of values) counter.inc({ [label]: value }, 0);
    return (value) => counter.inc({ [label]: value });
  }

  /** Counts one finished request. */
  observeRequest(request: FastifyRequest, reply: FastifyReply): void {
    const route = request.routeOptions.url ?? UNKNOWN_ROUTE;
    // Clients can invent methods for unknown routes only; these share one label value.
    const method = route === UNKNOWN_ROUTE ? UNKNOWN_ROUTE : request.method;
    const status = STATUS_CLASSES[Math.floor(reply.statusCode / 100) - 1] ?? '5xx';
    this.#requests.inc({ method, route, status });
    this.#durations.observe({ method, route }, reply.elapsedTime / 1000);
  }
}

export function metricsRoute(app: App, metrics: Metrics): void {
  app.get('/metrics', async (_request, reply) => {
    void reply.header('content-type', metrics.registry.contentType);
    return metrics.registry.metrics();
  });
}
