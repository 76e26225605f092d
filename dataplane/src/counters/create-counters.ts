/** Creates the counters that the configuration selects: Redis counters, or counters in the memory of this process. */
import type { Logger } from '@acg/base/log';
import type { Counters, CountersMetrics } from '../limits/counters-interface.js';
import { MemoryCounters } from './memory/memory-counters.js';
import type { RedisAddress } from './redis/client/redis-address.js';
import { RedisCounters } from './redis/redis-counters.js';

interface CountersConfig {
  /** Null selects counters in the memory of this process. */
  readonly redis: RedisAddress | null;
  readonly countersTimeoutMs: number;
}

/**
 * Resolves after at most a few seconds, even when Redis is unavailable. Requests then pass unchecked until Redis is
 * back.
 */
export async function createCounters(config: CountersConfig, log: Logger, metrics: CountersMetrics): Promise<Counters> {
  if (config.redis === null) return new MemoryCounters();
  const counters = new RedisCounters(
    {
      ...config.redis,
      timeoutMs: config.countersTimeoutMs,
      connectionName: `acg-dataplane-${process.pid}`,
      tlsCa: null,
    },
    log,
    metrics,
  );
  await counters.waitForStoreAndCheckEviction();
  return counters;
}
