/**
 * Measures how long a query waits for a free connection of each pool, for `gateway_database_pool_wait_seconds`. A probe
 * that has not finished reports its age, so a pool whose connections are all busy shows before it recovers.
 */
import { Gauge, type Registry } from 'prom-client';
import type { Sql } from '../db/postgres-client.js';
import type { BackgroundTasks } from './background-tasks.js';

interface Probe {
  readonly startedMs: number;
  /** Null while it runs. */
  readonly durationMs: number | null;
}

const PROBE_INTERVAL_MS = 5_000;

export class PoolProbes {
  readonly #pools: Readonly<Record<string, Sql>>;
  readonly #probes = new Map<string, Probe>();

  constructor(pools: Readonly<Record<string, Sql>>, registry: Registry) {
    this.#pools = pools;
    const probes = this.#probes;
    new Gauge({
      name: 'gateway_database_pool_wait_seconds',
      help: 'Time of an empty query through each pool of database connections, including its wait for a free one.',
      labelNames: ['pool'],
      registers: [registry],
      collect() {
        for (const [pool, { startedMs, durationMs }] of probes)
          this.set({ pool }, (durationMs ?? performance.now() - startedMs) / 1_000);
      },
    });
  }

  /** Probes each pool every few seconds, independently of the others. */
  start(background: BackgroundTasks): void {
    for (const pool of Object.keys(this.#pools))
      background.runEvery(`probe of pool ${pool}`, PROBE_INTERVAL_MS, () => this.probe(pool));
  }

  /** Resolves when the probe has finished, also by an error, which readiness and the failing work report. */
  async probe(pool: string): Promise<void> {
    const startedMs = performance.now();
    this.#probes.set(pool, { startedMs, durationMs: null });
    await this.#pools[pool]!`select 1`.catch(() => undefined);
    this.#probes.set(pool, { startedMs, durationMs: performance.now() - startedMs });
  }
}
