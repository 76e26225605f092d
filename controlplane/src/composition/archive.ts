/** Builds the archive of the ledger: the job, its metrics, and the rule for dropping days. Part of the composition root. */
import type { Logger } from '@acg/base/log';
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import { Archiver, dayText } from '../archive/archiver.js';
import { openObjectStore } from '../archive/object-store.js';
import { archiveRoutes } from '../archive/routes.js';
import type { Config } from '../config.js';
import type { Sql } from '../db/postgres-client.js';
import type { App } from '../http/app.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import type { Metrics } from '../ops/metrics.js';

const ARCHIVE_INTERVAL_MS = HOUR_MS;

interface ArchiveDependencies {
  readonly config: Config;
  readonly log: Logger;
  readonly sql: Sql;
  readonly metrics: Metrics;
}

export interface ArchiveModule {
  /** Null without ARCHIVE_URL. */
  readonly archiver: Archiver | null;
  /** Whether retention may drop the partition of a day. */
  readonly mayDropDay: (dayMs: number) => Promise<boolean>;
  start(): void;
  stop(): Promise<void>;
}

export function buildArchive(app: App, { config, log, sql, metrics }: ArchiveDependencies): ArchiveModule {
  const archiver = config.archive === null ? null : new Archiver(sql, openObjectStore(config.archive), log);
  archiveRoutes(app, sql, archiver);
  const background = new BackgroundTasks(log);
  const droppedUnverified = metrics.addCounter(
    'gateway_archive_days_dropped_total',
    'Days of the ledger dropped by retention, by whether the archive has them verified.',
    'archived',
    ['yes', 'no'] as const,
  );
  metrics.addGauge(
    'gateway_archive_behind_days',
    'Closed days that the archive does not have yet.',
    () => archiver?.behindDays ?? 0,
  );
  const keptDays = config.archiveDropUnverifiedAfterDays;
  return {
    archiver,
    async mayDropDay(dayMs) {
      if (archiver === null) return true;
      if (await archiver.isArchived(dayMs)) {
        droppedUnverified('yes');
        return true;
      }
      if (keptDays === 0 || Date.now() - dayMs < keptDays * DAY_MS) return false;
      log.error({ day: dayText(dayMs) }, 'archive: day dropped without a copy (ARCHIVE_DROP_UNVERIFIED_AFTER_DAYS)');
      droppedUnverified('no');
      return true;
    },
    start() {
      if (archiver === null) return;
      const run = background.runEvery('usage archive', ARCHIVE_INTERVAL_MS, () =>
        archiver.archiveClosedDays(Date.now()),
      );
      run();
    },
    stop() {
      archiver?.stop();
      return background.stop();
    },
  };
}
