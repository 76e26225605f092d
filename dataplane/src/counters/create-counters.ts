/** Creates the counters that the configuration selects: Redis counters, or counters in the memory of this process. */
import type { Logger } from '@acg/base/log';
import type { Counters, CountersMetrics, LayoutStage } from '../limits/counters-interface.js';
import { MemoryCounters } from './memory/memory-counters.js';
import type { RedisAddress } from './redis/client/redis-address.js';
import { RedisCounters } from './redis/redis-counters.js';
import { LayoutUpgrade } from './redis/upgrade/layout-upgrade.js';

interface CountersConfig {
  /** Null selects counters in the memory of this process. */
  readonly redis: RedisAddress | null;
  readonly countersTimeoutMs: number;
  readonly cell: { readonly name: string };
}

export interface CreatedCounters {
  readonly counters: Counters;
  /** Tells the counters which keys of the store count; in-process counters have none. */
  readonly setLayoutStage: (stage: LayoutStage) => void;
}

/**
 * Resolves after at most a few seconds, even when Redis is unavailable. Requests then pass unchecked until Redis is
 * back.
 */
export async function createCounters(
  config: CountersConfig,
  log: Logger,
  metrics: CountersMetrics,
): Promise<CreatedCounters> {
  if (config.redis === null) return { counters: new MemoryCounters(), setLayoutStage: () => undefined };
  const counters = new RedisCounters(
    {
      ...config.redis,
      timeoutMs: config.countersTimeoutMs,
      cellName: config.cell.name,
      connectionName: `acg-dataplane-${process.pid}`,
      tlsCa: null,
    },
    log,
    metrics,
  );
  await counters.waitForStoreAndCheckEviction();
  const upgrade = new LayoutUpgrade(counters, config.countersTimeoutMs, metrics);
  return { counters: upgrade, setLayoutStage: (stage) => upgrade.setLayoutStage(stage) };
}
