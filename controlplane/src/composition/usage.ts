/** Builds the ledger: ingest, retention, usage answers; a part of the composition root. */

import type { Logger } from '@acg/base/log';
import { createMinorGcTrigger, MinorGcPacer } from '@acg/base/minor-gc-pacer';
import { HOUR_MS } from '@acg/base/units';
import type { Config } from '../config.js';
import type { Sql } from '../db/sql.js';
import type { App } from '../http/app.js';
import { DailyRollups } from '../ledger/daily-rollups.js';
import { HourlyDimensionRollups } from '../ledger/hourly-dimension-rollups.js';
import { createIngestMetrics } from '../ledger/ingest-metrics.js';
import { LogSearchIndexes } from '../ledger/log-search-index.js';
import { UsagePartitions } from '../ledger/usage-day-partitions.js';
import { UsageIngest, type UsageObserver } from '../ledger/usage-ingest.js';
import { UsageRetention } from '../ledger/usage-retention.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import type { Metrics } from '../ops/metrics.js';
import { AgentFiguresReport } from '../reports/aggregates/agent-figures.js';
import { AgentReports } from '../reports/aggregates/agent-reports.js';
import { ScopeReports } from '../reports/aggregates/scope-reports.js';
import { AgentLogs } from '../reports/calls/agent-logs.js';
import { CallLog } from '../reports/calls/call-log.js';
import { QueryConcurrencyLimiter } from '../reports/query/query-concurrency-limiter.js';
import { agentReportRoutes } from '../reports/routes/agent-report-routes.js';
import { callRoutes } from '../reports/routes/call-routes.js';
import { scopeReportRoutes } from '../reports/routes/scope-report-routes.js';
import { createSpanExporter } from '../traces/create-span-exporter.js';

const MAINTAIN_INTERVAL_MS = HOUR_MS;
/** How long a past day in which something was booked late is read from its hours. */
const CLOSE_DAYS_INTERVAL_MS = 300_000;

interface UsageDependencies {
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

export interface UsageModule {
  readonly ingest: UsageIngest;
  /** Makes today's partition before anything is booked. */
  start(): Promise<void>;
  /** Called after the gRPC server has stopped and before the pool closes. */
  stop(): Promise<void>;
}

export function buildUsage(
  app: App,
  { config, log, sql, reads, ingestSql, metrics, observers }: UsageDependencies,
): UsageModule {
  const partitions = new UsagePartitions(sql, config.usageLogRetentionDays);
  const figures = createIngestMetrics(metrics.registry, () => metrics.countDatabaseRewind('usage'));
  const ingest = new UsageIngest(ingestSql, partitions, observers, figures, log);
  const gate = new QueryConcurrencyLimiter(reads);
  const sender = { gate, gcPacer: new MinorGcPacer(createMinorGcTrigger()) };
  agentReportRoutes(app, new AgentReports(sql, gate), new AgentLogs(gate), sender);
  scopeReportRoutes(app, new ScopeReports(gate), new AgentFiguresReport(gate), sender);
  callRoutes(app, new CallLog(gate));
  const spans = config.otlp === null ? null : createSpanExporter(config.otlp, config.version, log, metrics);
  if (spans !== null) ingest.onCommitted = (entries) => spans.enqueue(entries);
  const background = new BackgroundTasks(log);
  const retentionDays = { logs: config.usageLogRetentionDays, rejections: config.rejectionRetentionDays };
  const retention = new UsageRetention(sql, retentionDays, log);
  const days = new DailyRollups(sql, log);
  const hours = new HourlyDimensionRollups(sql);
  const searches = new LogSearchIndexes(sql, log);
  const closeDays = async (): Promise<void> => {
    await hours.catchUp(Date.now());
    await days.catchUp(Date.now()); // after an upgrade of a large ledger the first time takes a while
    await searches.createMissing(Date.now());
  };
  return {
    ingest,
    async start() {
      await partitions.createAhead(Date.now());
      background.runEvery('partitions of usage logs', MAINTAIN_INTERVAL_MS, () => partitions.createAhead(Date.now()));
      const closeDaysNow = background.runEvery('usage of past days', CLOSE_DAYS_INTERVAL_MS, closeDays);
      const sweepNow = background.runEvery('usage retention', MAINTAIN_INTERVAL_MS, () => retention.sweep(Date.now()));
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
