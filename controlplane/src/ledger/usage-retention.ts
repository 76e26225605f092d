/**
 * Retention of the ledger. Deletes day partitions of the logs, hours that daily rollups replace, hours of rejections,
 * rollups and spend (if configured), entries of old result files, and ids kept for deduplication. Runs in the background on one control plane at a time.
 *
 * Detaching a partition does not block readers or bookings: Postgres waits until all transactions that use it have
 * ended; only then the partition is dropped. A sweep first finishes what an interrupted one left.
 */

import type { Logger } from '@acg/base/log';
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import { deleteInBatches, ROWS_PER_BATCH } from '../db/delete-in-batches.js';
import type { Sql } from '../db/postgres-client.js';
import { type ReservedConnection, withReservedConnection } from '../db/reserved-connection.js';
import { closeOldResultFilesAndDeleteEntries, createDeferredUsageIndexIfMissing } from './close-batch-result-files.js';
import { partitionDayMs, partitionName, startOfUtcDay } from './create-usage-day-partitions.js';
import { deleteOldCommitMarks } from './lost-commit-detection.js';

/** Hourly reports reach back 90 days. A late record rebuilds its day from all hours of that day. */
export const HOURLY_ROLLUP_RETENTION_DAYS = 92;
/** A record of the oldest retained day may be on its way into the ledger at midnight. */
const GRACE_DAYS = 1;
const COUNT_ID_RETENTION_DAYS = 2;
/** For records that wait in a spool. Without the sums a log entry shows less; reports and budgets stay correct. */
const DEFERRED_SUM_RETENTION_DAYS = 7;
/** Twice the longest SPOOL_KEEP_MS: no data plane keeps usage of an older commit. */
const COMMIT_MARK_RETENTION_MS = 2 * HOUR_MS;
/** docs/contract.md#usage */
const REJECTED_CALL_RETENTION_DAYS = 30;
/** Longer than any usage waits in a spool. */
const BUDGET_WINDOW_RETENTION_DAYS = 40;
const ID_ROWS_PER_DELETE = 10_000;

interface RetentionDays {
  readonly logs: number;
  readonly rejections: number;
  /** Null: kept for ever. */
  readonly rollups: number | null;
}

export class UsageRetention {
  #running: { cancel(): void } | null = null;
  #stopped = false;

  constructor(
    readonly sql: Sql,
    readonly retentionDays: RetentionDays,
    readonly log: Logger,
    /** Whether the partition of a day (UTC midnight, Unix ms) may go. */
    readonly mayDropDay: (dayMs: number) => Promise<boolean> = async () => true,
  ) {}

  /** Does nothing while another control plane sweeps. */
  async deleteExpiredUsage(nowMs: number): Promise<void> {
    const isOurs = await withReservedConnection(this.sql, async (connection) => {
      const [lock] = await connection<{ ours: boolean }[]>`
        select pg_try_advisory_lock(hashtext('usage_retention')) as ours`;
      if (lock?.ours !== true) return false;
      await connection`set statement_timeout = 0`;
      const dropped = await this.#dropPartitionsBefore(
        connection,
        startOfUtcDay(nowMs) - (this.retentionDays.logs + GRACE_DAYS) * DAY_MS,
      );
      if (dropped > 0) this.log.info({ dropped }, 'daily log partitions dropped by retention');
      await createDeferredUsageIndexIfMissing(connection, (query) => this.#runCancellable(query));
      return true;
    });
    if (!isOurs) return;
    const hoursKeptDays = Math.max(HOURLY_ROLLUP_RETENTION_DAYS, this.retentionDays.logs + 2 * GRACE_DAYS);
    await deleteOldCommitMarks(this.sql, COMMIT_MARK_RETENTION_MS);
    await this.#deleteOldHourlyRollups(new Date(startOfUtcDay(nowMs) - hoursKeptDays * DAY_MS));
    await this.#deleteOldRejections(new Date(startOfUtcDay(nowMs) - this.retentionDays.rejections * DAY_MS));
    if (this.retentionDays.rollups !== null)
      await this.#deleteOldRollups(new Date(startOfUtcDay(nowMs) - this.retentionDays.rollups * DAY_MS));
    await closeOldResultFilesAndDeleteEntries(this.sql, () => this.#stopped);
    await deleteInBatches(async () => {
      const deleted = await this.sql`
        delete from rejected_calls where ctid = any(array(
          select ctid from rejected_calls where rejected_at < ${new Date(nowMs - REJECTED_CALL_RETENTION_DAYS * DAY_MS)}
           limit ${ROWS_PER_BATCH}))`;
      return deleted.count;
    });
    await this.#deleteClosedBudgetWindows(nowMs);
    await deleteInBatches(async () => {
      const before = new Date(startOfUtcDay(nowMs) - (this.retentionDays.logs + 2 * GRACE_DAYS) * DAY_MS);
      const deleted = await this.sql`
        delete from usage_tag_values where ctid = any(array(
          select ctid from usage_tag_values where day < ${before} limit ${ROWS_PER_BATCH}))`;
      return deleted.count;
    });
    await this.#deleteUntilDone(async () => {
      const deleted = await this.sql`
        delete from booked_counts where id in (
          select id from booked_counts where booked_at < now() - ${`${COUNT_ID_RETENTION_DAYS} days`}::text::interval
           limit ${ID_ROWS_PER_DELETE})`;
      return deleted.count;
    });
    await this.#deleteUntilDone(async () => {
      const deleted = await this.sql`
        delete from line_sums where record_id in (
          select record_id from line_sums where at < now() - ${`${DEFERRED_SUM_RETENTION_DAYS} days`}::text::interval
           limit ${ID_ROWS_PER_DELETE})`;
      return deleted.count;
    });
  }

  /** Deletes organization by organization, to use the index of the table. */
  async #deleteOldRejections(before: Date): Promise<void> {
    await deleteInBatches(async () => {
      const deleted = await this.sql`
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
      return deleted.count;
    });
  }

  /**
   * Spend of closed days and weeks, and all of rows that are gone. Months of an existing row stay, because a row of all
   * time sums them up. Spend of runs (`total`) belongs to the runs.
   */
  async #deleteClosedBudgetWindows(nowMs: number): Promise<void> {
    const before = new Date(nowMs - BUDGET_WINDOW_RETENTION_DAYS * DAY_MS);
    await deleteInBatches(async () => {
      const deleted = await this.sql`
        delete from budget_spend where ctid = any(array(
          select s.ctid from budget_spend s
           where s.updated_at < ${before}
             and case when s.period = 'total' then not exists (select from runs r where r.id = s.budget_id)
                      else length(s.period) > 7 or not exists (select from budgets b where b.id = s.budget_id) end
           limit ${ROWS_PER_BATCH}))`;
      return deleted.count;
    });
    await deleteInBatches(async () => {
      const deleted = await this.sql`
        delete from cell_spend where ctid = any(array(
          select s.ctid from cell_spend s
           where s.updated_at < ${before}
             and case when s.period = 'total' then not exists (select from runs r where r.id = s.budget_id)
                      else not exists (select from budgets b where b.id = s.budget_id and b.time_window = 'total') end
           limit ${ROWS_PER_BATCH}))`;
      return deleted.count;
    });
  }

  /** Daily rollups by their day, spend by its month: a month goes when its last day is old enough. */
  async #deleteOldRollups(before: Date): Promise<void> {
    const month = before.toISOString().slice(0, 7);
    const deletions = [
      ...['usage_daily', 'usage_daily_by', 'usage_tags', 'usage_tags_daily'].map(
        (table) => [table, this.sql`day < ${before}`] as const,
      ),
      ...['month_spend', 'scope_spend', 'scope_spend_slots'].map(
        (table) => [table, this.sql`month < ${month}`] as const,
      ),
    ];
    for (const [table, isOld] of deletions) {
      await deleteInBatches(async () => {
        const deleted = await this.sql`
          delete from ${this.sql(table)} where ctid = any(array(
            select ctid from ${this.sql(table)} where ${isOld} limit ${ROWS_PER_BATCH}))`;
        return deleted.count;
      });
    }
  }

  /** Cancels the running statement; the next sweep repeats it. */
  stopAndCancelQuery(): void {
    this.#stopped = true;
    this.#running?.cancel();
  }

  /** Repeats until nothing is left. With one batch per sweep, the backlog could grow without bound. */
  async #deleteUntilDone(step: () => Promise<number>): Promise<void> {
    for (let deleted = ID_ROWS_PER_DELETE; deleted === ID_ROWS_PER_DELETE && !this.#stopped; ) deleted = await step();
  }

  /** Returns the number of dropped partitions. */
  async #dropPartitionsBefore(connection: ReservedConnection, beforeMs: number): Promise<number> {
    const partitions = await connection<{ name: string; pending: boolean }[]>`
      select c.relname as name, i.inhdetachpending as pending from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'usage_records'::regclass and c.relname ~ '^usage_records_\\d{8}$'
         and (c.relname < ${partitionName(beforeMs)} or i.inhdetachpending) order by i.inhdetachpending desc, 1`;
    // Partitions that an interrupted attempt detached but did not drop.
    const detached = await connection<{ name: string }[]>`
      select relname as name from pg_class c
       where relname ~ '^usage_records_\\d{8}$' and relkind = 'r' and relname < ${partitionName(beforeMs)}
         and not exists (select from pg_inherits i where i.inhrelid = c.oid)`;
    const droppable: string[] = [];
    for (const { name, pending } of partitions) {
      if (this.#stopped) return 0;
      if (!pending && !(await this.mayDropDay(partitionDayMs(name)))) continue;
      droppable.push(name);
      const how = pending ? 'finalize' : 'concurrently';
      await this.#runCancellable(connection.unsafe(`alter table usage_records detach partition ${name} ${how}`));
    }
    const names = [...droppable, ...detached.map(({ name }) => name)];
    for (const name of names) await connection.unsafe(`drop table ${name}`);
    return names.length;
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
      // Only hours that daily rollups replace. A BRIN index on the hour finds the blocks of old hours.
      const deleted = await this.sql`
        delete from usage_hourly where ctid = any(array(
          select ctid from usage_hourly
           where hour < least(${before}::timestamptz, (select rolled_until from usage_daily_progress))
             and not exists (select from usage_late l where l.org_id = usage_hourly.org_id
               and l.day = date_trunc('day', usage_hourly.hour))
           limit ${ROWS_PER_BATCH}))`;
      return deleted.count;
    });
    await deleteInBatches(async () => {
      const deleted = await this.sql`
        delete from usage_hourly_by where ctid = any(array(
          select ctid from usage_hourly_by where hour < ${before} limit ${ROWS_PER_BATCH}))`;
      return deleted.count;
    });
  }
}
