/** Metrics of the delivery queue (docs/contract.md#metrics). */
import { Counter, Gauge } from 'prom-client';
import type { Sql } from '../db/postgres-client.js';
import type { Metrics } from '../ops/metrics.js';
import type { DeliveryResult } from './delivery-dispatcher.js';
import { loadQueueState, type QueueState } from './delivery-queue.js';

/** One scrape reads both gauges; within this time the second read shares the query of the first. */
const SHARED_MS = 500;

/** Returns the observer of finished attempts. */
export function addWebhookMetrics(metrics: Metrics, sql: Sql): (result: DeliveryResult) => void {
  const registers = [metrics.registry];
  let shared: { readonly atMs: number; readonly state: Promise<QueueState> } | null = null;
  const state = (): Promise<QueueState> => {
    const nowMs = performance.now();
    if (shared === null || nowMs - shared.atMs > SHARED_MS) shared = { atMs: nowMs, state: loadQueueState(sql) };
    return shared.state;
  };
  const depth = 'gateway_webhook_queue_depth';
  const age = 'gateway_webhook_queue_age_seconds';
  addGauge(depth, 'Deliveries that are not finished, endpoints that are paused left out.', (s) => s.depth);
  addGauge(age, 'How long the oldest delivery that is due has been due.', (s) => s.ageSeconds);
  const attempts = new Counter({
    name: 'gateway_webhook_attempts_total',
    help: 'Delivery attempts by result; `lost_lease`: another worker had claimed the delivery.',
    labelNames: ['result'] as const,
    registers,
  });
  return (result) => attempts.inc({ result });

  function addGauge(name: string, help: string, value: (state: QueueState) => number): void {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        // An unreachable database must not remove the other metrics.
        const current = await state().catch(() => null);
        if (current !== null) this.set(value(current));
      },
    });
  }
}
