/** Chooses the counters that the configuration asks for. */
import type { Logger } from '@acg/base/log';
import type { Counters, CountersMetrics } from '../limits/counters.js';
import { MemoryCounters } from './memory/memory-counters.js';
import type { RedisAddress } from './redis/client/redis-address.js';
import { RedisCounters } from './redis/redis-counters.js';

interface CountersConfig {
  /** Null: counters of this process. */
  readonly redis: RedisAddress | null;
  readonly countersTimeoutMs: number;
}

/** Returns after at most a few seconds, also when Redis is away: then requests pass unchecked until it is there. */
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
  await counters.start();
  return counters;
}
