/**
 * What the ledger forgets: day partitions of the logs, hours of usage that days stand for, hours of rejections, lines of
 * old result files, ids that are remembered for a while. In the background, by one control plane at a time.
 *
 * A partition is detached without stopping anybody who reads or books: Postgres waits until all transactions that know
 * it have ended, and only then it is dropped. What an interrupted attempt left is finished first.
 */

import type { Logger } from '@acg/base/log';
import { DAY_MS, HOUR_MS } from '@acg/base/units';
import { deleteInBatches, ROWS_PER_BATCH } from '../db/delete-in-batches.js';
import { type ReservedConnection, withReservedConnection } from '../db/reserved-connection.js';
import type { Sql } from '../db/sql.js';
import { closeOldResultFiles, createDeferredUsageIndex } from './batch-result-files.js';
import { deleteOldCommitMarks } from './commit-marks.js';
import { partitionName, startOfUtcDay } from './usage-day-partitions.js';

/** Reports by the hour reach back 90 days; a late record is added up anew with all hours of its day. */
export const HOURLY_ROLLUP_RETENTION_DAYS = 92;
/** A record of the oldest day that is kept may be on its way into the ledger at midnight. */
const GRACE_DAYS = 1;
const COUNT_ID_RETENTION_DAYS = 2;
/** For records that wait in a spool; without them a log shows less, reports and budgets do not. */
const DEFERRED_SUM_RETENTION_DAYS = 7;
/** Twice the longest SPOOL_KEEP_MS: no data plane has usage of an older commit. */
const COMMIT_MARK_RETENTION_MS = 2 * HOUR_MS;
const ID_ROWS_PER_DELETE = 10_000;

interface RetentionDays {
  readonly logs: number;
  readonly rejections: number;
}

export class UsageRetention {
  #running: { cancel(): void } | null = null;
  #stopped = false;

  constructor(
    readonly sql: Sql,
    readonly retentionDays: RetentionDays,
    readonly log: Logger,
  ) {}

  /** Does nothing while another control plane does. */
  async sweep(nowMs: number): Promise<void> {
    const isOurs = await withReservedConnection(this.sql, async (connection) => {
      const [lock] = await connection<{ ours: boolean }[]>`
        select pg_try_advisory_lock(hashtext('usage_retention')) as ours`;
      if (lock?.ours !== true) return false;
      await connection`set statement_timeout = 0`;
      const dropped = await this.#dropPartitionsBefore(
        connection,
        startOfUtcDay(nowMs) - (this.retentionDays.logs + GRACE_DAYS) * DAY_MS,
      );
      if (dropped > 0) this.log.info({ dropped }, 'days of usage logs dropped by retention');
      await createDeferredUsageIndex(connection, (query) => this.#runCancellable(query));
      return true;
    });
    if (!isOurs) return;
    const hoursKeptDays = Math.max(HOURLY_ROLLUP_RETENTION_DAYS, this.retentionDays.logs + 2 * GRACE_DAYS);
    await deleteOldCommitMarks(this.sql, COMMIT_MARK_RETENTION_MS);
    await this.#deleteOldHourlyRollups(new Date(startOfUtcDay(nowMs) - hoursKeptDays * DAY_MS));
    await this.#deleteOldRejections(new Date(startOfUtcDay(nowMs) - this.retentionDays.rejections * DAY_MS));
    await closeOldResultFiles(this.sql, () => this.#stopped);
    await this.#deleteUntilDone(async () => {
      const gone = await this.sql`
        delete from booked_counts where id in (
          select id from booked_counts where booked_at < now() - ${`${COUNT_ID_RETENTION_DAYS} days`}::text::interval
           limit ${ID_ROWS_PER_DELETE})`;
      return gone.count;
    });
    await this.#deleteUntilDone(async () => {
      const gone = await this.sql`
        delete from line_sums where record_id in (
          select record_id from line_sums where at < now() - ${`${DEFERRED_SUM_RETENTION_DAYS} days`}::text::interval
           limit ${ID_ROWS_PER_DELETE})`;
      return gone.count;
    });
  }

  /** Organization by organization, which is what the table has an index for. */
  async #deleteOldRejections(before: Date): Promise<void> {
    await deleteInBatches(async () => {
      const gone = await this.sql`
        with recursive orgs as (
          (select org_id from rejections_hourly order by org_id limit 1)
          union all
          select (select r.org_id from rejections_hourly r where r.org_id > o.org_id order by r.org_id limit 1)
            from orgs o where o.org_id is not null)
        delete from rejections_hourly where ctid = any(array(
          select old.ctid from orgs cross join lateral (
            select r.ctid from rejections_hourly r where r.org_id = orgs.org_id and r.hour < ${before}
             limit ${ROWS_PER_BATCH}) old
           limit ${ROWS_PER_BATCH}))`;
      return gone.count;
    });
  }

  /** Gives up the partition under way; the next sweep goes on with it. */
  stop(): void {
    this.#stopped = true;
    this.#running?.cancel();
  }

  /** However many there are: what one statement did not delete in its time would be more an hour later, for ever. */
  async #deleteUntilDone(step: () => Promise<number>): Promise<void> {
    for (let gone = ID_ROWS_PER_DELETE; gone === ID_ROWS_PER_DELETE && !this.#stopped; ) gone = await step();
  }

  /** Returns how many partitions went. */
  async #dropPartitionsBefore(connection: ReservedConnection, beforeMs: number): Promise<number> {
    const partitions = await connection<{ name: string; pending: boolean }[]>`
      select c.relname as name, i.inhdetachpending as pending from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'usage_records'::regclass and c.relname ~ '^usage_records_\\d{8}$'
         and (c.relname < ${partitionName(beforeMs)} or i.inhdetachpending) order by i.inhdetachpending desc, 1`;
    // Detached by an attempt that did not come to drop them.
    const loose = await connection<{ name: string }[]>`
      select relname as name from pg_class c
       where relname ~ '^usage_records_\\d{8}$' and relkind = 'r' and relname < ${partitionName(beforeMs)}
         and not exists (select from pg_inherits i where i.inhrelid = c.oid)`;
    for (const { name, pending } of partitions) {
      if (this.#stopped) return 0;
      const how = pending ? 'finalize' : 'concurrently';
      await this.#runCancellable(connection.unsafe(`alter table usage_records detach partition ${name} ${how}`));
    }
    for (const { name } of [...partitions, ...loose]) await connection.unsafe(`drop table ${name}`);
    return partitions.length + loose.length;
  }

  async #runCancellable(query: Promise<unknown> & { cancel(): void }): Promise<void> {
    this.#running = query;
    try {
      await query;
    } finally {
      this.#running = null;
    }
  }

  async #deleteOldHourlyRollups(before: Date): Promise<void> {
    await deleteInBatches(async () => {
      // Only hours that days stand for; the block ranges of old hours are found by their own index.
      const gone = await this.sql`
        delete from usage_hourly where ctid = any(array(
          select ctid from usage_hourly
           where hour < least(${before}::timestamptz, (select rolled_until from usage_daily_progress))
             and not exists (select from usage_late l where l.org_id = usage_hourly.org_id
               and l.day = date_trunc('day', usage_hourly.hour))
           limit ${ROWS_PER_BATCH}))`;
      return gone.count;
    });
    await deleteInBatches(async () => {
      const gone = await this.sql`
        delete from usage_hourly_by where ctid = any(array(
          select ctid from usage_hourly_by where hour < ${before} limit ${ROWS_PER_BATCH}))`;
      return gone.count;
    });
  }
}
