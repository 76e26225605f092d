/**
 * Gauge of the breaker states of the built-in providers (docs/contract.md#metrics). Custom providers are left out,
 * because their number grows with tenants.
 */
import { Gauge } from 'prom-client';
import type { Metrics } from '../ops/metrics.js';
import type { StatusService } from './status-service.js';

const STATES = ['CLOSED', 'HALF_OPEN', 'OPEN'] as const;

export function addCircuitMetrics(metrics: Metrics, status: StatusService): void {
  new Gauge({
    name: 'gateway_circuit_state',
    help: '1 for the current state of a built-in provider, 0 for the others.',
    labelNames: ['provider', 'state'] as const,
    registers: [metrics.registry],
    async collect() {
      const snapshot = await status.current().catch(() => null);
      for (const provider of snapshot?.providers ?? []) {
        for (const state of STATES) this.set({ provider: provider.slug, state }, provider.state === state ? 1 : 0);
      }
    },
  });
}
