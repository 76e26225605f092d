/** Creates the span exporter and its metrics. */
import type { Logger } from '@acg/base/log';
import { Counter } from 'prom-client';
import type { Metrics } from '../ops/metrics.js';
import type { OtlpSettings } from './otlp-settings.js';
import { SpanExporter } from './span-exporter.js';

export function createSpanExporter(
  settings: OtlpSettings,
  version: string,
  log: Logger,
  metrics: Metrics,
): SpanExporter {
  const spans = new Counter({
    name: 'gateway_trace_spans_total',
    help: 'Spans of calls by outcome: sent, dropped, rejected by the collector, unsampled by the caller.',
    labelNames: ['outcome'],
    registers: [metrics.registry],
  });
  const exporter = new SpanExporter(settings, version, log, (outcome, count) => spans.inc({ outcome }, count));
  metrics.addGauge('gateway_trace_spans_queued', 'Spans in the queue of the exporter.', () => exporter.waiting);
  metrics.addGauge('gateway_trace_spans_waiting', 'Deprecated: gateway_trace_spans_queued.', () => exporter.waiting);
  return exporter;
}
