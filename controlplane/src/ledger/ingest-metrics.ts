/** Prometheus metrics of the ledger's ingest (docs/contract.md#metrics). */
import { Counter, Histogram, type Registry } from 'prom-client';
import type { IngestMetrics } from './usage-ingest.js';

const BATCH_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const LAG_BUCKETS_S = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600];

export function createIngestMetrics(registry: Registry, onLostCommit: () => void): IngestMetrics {
  const registers = [registry];
  const records = new Counter({
    name: 'gateway_ingest_records_total',
    help: 'Usage records by outcome: booked, duplicate (already booked), set_aside (quarantined).',
    labelNames: ['outcome'],
    registers,
  });
  const batches = new Histogram({
    name: 'gateway_ingest_batch_seconds',
    help: 'Time to commit one batch of usage reports.',
    buckets: BATCH_BUCKETS_S,
    registers,
  });
  const lag = new Histogram({
    name: 'gateway_ingest_lag_seconds',
    help: 'Time from the end of the oldest call of a batch to the commit of that batch.',
    buckets: LAG_BUCKETS_S,
    registers,
  });
  return {
    recordLostCommit: onLostCommit,
    recordBatch(added, duplicates, setAside, seconds, oldestEndMs) {
      records.inc({ outcome: 'booked' }, added);
      records.inc({ outcome: 'duplicate' }, duplicates);
      records.inc({ outcome: 'set_aside' }, setAside);
      batches.observe(seconds);
      lag.observe(Math.max(0, Date.now() - oldestEndMs) / 1_000);
    },
  };
}
