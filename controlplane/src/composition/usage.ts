/** Builds the usage module: ingest, retention, rollups, reports and span export. Part of the composition root. */

import type { Logger } from '@acg/base/log';
import { createMinorGcTrigger, MinorGcPacer } from '@acg/base/minor-gc-by-buffer-bytes';
import { HOUR_MS } from '@acg/base/time-and-money-units';
import type { Config } from '../config.js';
import type { Sql } from '../db/postgres-client.js';
import type { App } from '../http/app.js';
import { UsagePartitions } from '../ledger/create-usage-day-partitions.js';
import { DailyRollups } from '../ledger/daily-rollups.js';
import { HourlyDimensionRollups } from '../ledger/hourly-dimension-rollups.js';
import { createIngestMetrics } from '../ledger/ingest-metrics.js';
import { LogSearchIndexes } from '../ledger/log-search-index.js';
import { TagDailyRollups } from '../ledger/tag-daily-rollups.js';
import { UsageIngest, type UsageObserver } from '../ledger/usage-ingest.js';
import { UsageRetention } from '../ledger/usage-retention.js';
import { ReplayService } from '../limits-replay/replay-service.js';
import { replayRoutes } from '../limits-replay/routes.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import type { Metrics } from '../ops/metrics.js';
import { TableSizes } from '../ops/table-sizes.js';
import { AgentFiguresReport } from '../reports/aggregates/agent-figures.js';
import { AgentReports } from '../reports/aggregates/agent-reports.js';
import { ScopeReports } from '../reports/aggregates/scope-reports.js';
import { AgentLogs } from '../reports/calls/agent-logs.js';
import { CallLog } from '../reports/calls/call-log.js';
import { MergedCalls } from '../reports/calls/merged-calls.js';
import { RejectedCalls } from '../reports/calls/rejected-calls.js';
import { QueryConcurrencyLimiter } from '../reports/query/query-concurrency-limiter.js';
import { agentReportRoutes } from '../reports/routes/agent-report-routes.js';
import { callRoutes } from '../reports/routes/call-routes.js';
import { scopeReportRoutes } from '../reports/routes/scope-report-routes.js';
import { createSpanExporter } from '../traces/create-span-exporter.js';

const MAINTAIN_INTERVAL_MS = HOUR_MS;
/** A past day with late usage is read from its hourly rollups for at most this long. */
const CLOSE_DAYS_INTERVAL_MS = 300_000;
const TABLE_SIZES_INTERVAL_MS = 600_000;

interface UsageDependencies {
  readonly config: Config;
  readonly log: Logger;
  readonly sql: Sql;
  /** Connection pool for reports, logs and exports. */
  readonly reads: Sql;
  /** Separate connection pool for the usage ingest. */
  readonly ingestSql: Sql;
  readonly metrics: Metrics;
  /** Called in this order, in the transaction that commits the usage. */
  readonly observers: readonly UsageObserver[];
  /** Whether retention may drop the partition of a day. */
  readonly mayDropDay: (dayMs: number) => Promise<boolean>;
}

export interface UsageModule {
  readonly ingest: UsageIngest;
  /** Creates today's partition before usage is ingested. */
  start(): Promise<void>;
  /** Must be called after the gRPC server has stopped and before the pool closes. */
  stop(): Promise<void>;
}

export function buildUsage(
  app: App,
  { config, log, sql, reads, ingestSql, metrics, observers, mayDropDay }: UsageDependencies,
): UsageModule {
  const partitions = new UsagePartitions(sql, config.usageLogRetentionDays);
  const ingestMetrics = createIngestMetrics(metrics.registry, () => metrics.countDatabaseRewind('usage'));
  const ingest = new UsageIngest(ingestSql, partitions, observers, ingestMetrics, log);
  const queryLimiter = new QueryConcurrencyLimiter(reads);
  const exportContext = { queryLimiter, gcPacer: new MinorGcPacer(createMinorGcTrigger()) };
  agentReportRoutes(app, new AgentReports(sql, queryLimiter), new AgentLogs(queryLimiter), exportContext);
  scopeReportRoutes(app, new ScopeReports(queryLimiter), new AgentFiguresReport(queryLimiter), exportContext);
  callRoutes(app, new CallLog(queryLimiter), new RejectedCalls(queryLimiter), new MergedCalls(queryLimiter));
  replayRoutes(app, new ReplayService(queryLimiter));
  const spans = config.otlp === null ? null : createSpanExporter(config.otlp, config.version, log, metrics);
  if (spans !== null) ingest.onCommitted = (entries) => spans.enqueue(entries);
  const background = new BackgroundTasks(log);
  const retentionDays = {
    logs: config.usageLogRetentionDays,
    rejections: config.rejectionRetentionDays,
    rollups: config.rollupRetentionDays,
  };
  const retention = new UsageRetention(sql, retentionDays, log, mayDropDay);
  const days = new DailyRollups(sql, log);
  const tags = new TagDailyRollups(sql);
  const hours = new HourlyDimensionRollups(sql);
  const searches = new LogSearchIndexes(sql, log);
  const tableSizes = new TableSizes(sql, metrics.registry);
  const updateRollups = async (): Promise<void> => {
    await hours.rollUpFinishedAndLateHours(Date.now());
    await days.rollUpFinishedAndLateDays(Date.now()); // the first run after an upgrade of a large ledger takes a while
    await tags.rollUpFinishedAndLateDays(Date.now());
    await searches.createMissingIndexes(Date.now());
  };
  return {
    ingest,
    async start() {
      await partitions.createPartitionsAhead(Date.now());
      background.runEvery('usage log partitions', MAINTAIN_INTERVAL_MS, () =>
        partitions.createPartitionsAhead(Date.now()),
      );
      const updateRollupsNow = background.runEvery('usage rollups', CLOSE_DAYS_INTERVAL_MS, updateRollups);
      const sweepNow = background.runEvery('usage retention', MAINTAIN_INTERVAL_MS, () =>
        retention.deleteExpiredUsage(Date.now()),
      );
      const updateTableSizesNow = background.runEvery('table sizes', TABLE_SIZES_INTERVAL_MS, () =>
        tableSizes.update(),
      );
      updateRollupsNow();
      updateTableSizesNow();
      sweepNow();
    },
    async stop() {
      const stopped = background.stop();
      searches.stopAndCancelIndexBuild();
      retention.stopAndCancelQuery();
      await stopped;
      await spans?.stop();
    },
  };
}
