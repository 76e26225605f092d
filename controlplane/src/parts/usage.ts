/** Builds the ledger: ingest, retention, usage answers; a part of the composition root. */

import { ChunkGarbage, minorCollector } from '@acg/base/chunk-garbage';
import type { Logger } from '@acg/base/log';
import { HOUR_MS } from '@acg/base/units';
import type { Config } from '../config.js';
import type { Sql } from '../db/sql.js';
import type { App } from '../http/app.js';
import { DailyRollups } from '../ledger/daily-rollups.js';
import { HourRollups } from '../ledger/hour-rollups.js';
import { Ingest, type UsageObserver } from '../ledger/ingest.js';
import { ingestMetrics } from '../ledger/ingest-metrics.js';
import { UsagePartitions } from '../ledger/partitions.js';
import { UsageRetention } from '../ledger/retention.js';
import { SearchIndexes } from '../ledger/search-index.js';
import { Background } from '../ops/background.js';
import type { Metrics } from '../ops/metrics.js';
import { AgentFiguresReport } from '../reports/agent-figures.js';
import { callRoutes } from '../reports/call-routes.js';
import { Calls } from '../reports/calls.js';
import { UsageLogs } from '../reports/logs.js';
import { QueryGate } from '../reports/query-gate.js';
import { UsageReports } from '../reports/reports.js';
import { usageRoutes } from '../reports/routes.js';
import { ScopeReports } from '../reports/scope-reports.js';
import { scopeRoutes } from '../reports/scope-routes.js';
import { buildSpanExporter } from '../traces/span-metrics.js';

const MAINTAIN_INTERVAL_MS = HOUR_MS;
/** How long a past day in which something was booked late is read from its hours. */
const CLOSE_DAYS_INTERVAL_MS = 300_000;

interface UsageParts {
  readonly config: Config;
  readonly log: Logger;
  readonly sql: Sql;
  /** For reports, logs and exports. */
  readonly reads: Sql;
  /** Connections of their own for booking. */
  readonly ingestSql: Sql;
  readonly metrics: Metrics;
  /** Asked in this order, in the transaction that books. */
  readonly observers: readonly UsageObserver[];
}

export interface UsagePart {
  readonly ingest: Ingest;
  /** Makes today's partition before anything is booked. */
  start(): Promise<void>;
  /** Called after the gRPC server has stopped and before the pool closes. */
  stop(): Promise<void>;
}

export function buildUsage(
  app: App,
  { config, log, sql, reads, ingestSql, metrics, observers }: UsageParts,
): UsagePart {
  const partitions = new UsagePartitions(sql, config.usageLogRetentionDays);
  const figures = ingestMetrics(metrics.registry, () => metrics.countRewind('usage'));
  const ingest = new Ingest(ingestSql, partitions, observers, figures, log);
  const gate = new QueryGate(reads);
  const sender = { gate, garbage: new ChunkGarbage(minorCollector()) };
  usageRoutes(app, new UsageReports(sql, gate), new UsageLogs(gate), sender);
  scopeRoutes(app, new ScopeReports(gate), new AgentFiguresReport(gate), sender);
  callRoutes(app, new Calls(gate));
  const spans = config.otlp === null ? null : buildSpanExporter(config.otlp, config.version, log, metrics);
  if (spans !== null) ingest.onCommitted = (entries) => spans.offer(entries);
  const background = new Background(log);
  const kept = { logs: config.usageLogRetentionDays, rejections: config.rejectionRetentionDays };
  const retention = new UsageRetention(sql, kept, log);
  const days = new DailyRollups(sql, log);
  const hours = new HourRollups(sql);
  const searches = new SearchIndexes(sql, log);
  const closeDays = async (): Promise<void> => {
    await hours.catchUp(Date.now());
    await days.catchUp(Date.now()); // after an upgrade of a large ledger the first time takes a while
    await searches.catchUp(Date.now());
  };
  return {
    ingest,
    async start() {
      await partitions.makeAhead(Date.now());
      background.every('partitions of usage logs', MAINTAIN_INTERVAL_MS, () => partitions.makeAhead(Date.now()));
      const closeDaysNow = background.every('usage of past days', CLOSE_DAYS_INTERVAL_MS, closeDays);
      const sweepNow = background.every('usage retention', MAINTAIN_INTERVAL_MS, () => retention.sweep(Date.now()));
      closeDaysNow();
      sweepNow();
    },
    async stop() {
      const stopped = background.stop();
      searches.stop();
      retention.stop();
      await stopped;
      await spans?.stop();
    },
  };
}
