/**
 * Search indexes for the logs: one trigram index (pg_trgm) per day partition, created when the day is over. The open
 * day has none, because each record would change about fifty places of the index; a search reads the agent's records of
 * that day. An index does not help with a term of fewer than three letters either.
 *
 * Indexes are built concurrently with writes, newest day first, by one control plane at a time. An index that an
 * interrupted attempt left is rebuilt. On a server without pg_trgm there are none, and a search reads all of the
 * agent's records.
 */

import type { Logger } from '@acg/base/log';
import { HOUR_MS } from '@acg/base/time-and-money-units';
import type { Sql } from '../db/postgres-client.js';
import { type ReservedConnection, withReservedConnection } from '../db/reserved-connection.js';
import { partitionName, startOfUtcDay } from './create-usage-day-partitions.js';

/**
 * The text of a record that a search matches. Postgres uses the index only for queries with exactly this expression.
 */
export const SEARCH_EXPRESSION = `(path || E'\\n' || model || E'\\n' || error || E'\\n' || id::text)`;

const LOCK_TIMEOUT_MS = 60_000;

export class LogSearchIndexes {
  #running: { cancel(): void } | null = null;
  #stopped = false;

  constructor(
    readonly sql: Sql,
    readonly log: Logger,
  ) {}

  /**
   * Creates missing indexes of days that ended at least an hour ago. Does nothing while another control plane does
   * this.
   */
  async createMissingIndexes(nowMs: number): Promise<void> {
    await withReservedConnection(this.sql, async (connection) => {
      const [lock] = await connection<{ ours: boolean }[]>`
        select pg_try_advisory_lock(hashtext('usage_search')) as ours from pg_extension where extname = 'pg_trgm'`;
      if (lock?.ours !== true) return;
      await connection`set statement_timeout = 0`;
      await connection`select set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, false)`;
      await this.#createIndexesOfPastDaysWithLock(connection, nowMs);
    });
  }

  /** Cancels the running index build; the next start repeats it. */
  stopAndCancelIndexBuild(): void {
    this.#stopped = true;
    this.#running?.cancel();
  }

  async #createIndexesOfPastDaysWithLock(connection: ReservedConnection, nowMs: number): Promise<void> {
    const days = await partitionsWithoutSearchIndex(this.sql, nowMs);
    try {
      for (const { name, broken } of days) {
        if (this.#stopped) return;
        if (broken) await connection.unsafe(`drop index concurrently ${name}_search`);
        const createIndex = connection.unsafe(
          `create index concurrently ${name}_search on ${name} using gin (${SEARCH_EXPRESSION} gin_trgm_ops) with (fastupdate = off)`,
        );
        this.#running = createIndex;
        await createIndex;
        await connection.unsafe(`analyze ${name}`); // the planner needs the statistics of the expression to choose the index
      }
      if (days.length > 0) this.log.info({ days: days.length }, 'days of usage logs indexed for search');
    } catch (error) {
      if (!this.#stopped) throw error;
    } finally {
      this.#running = null;
    }
  }
}

interface UnindexedPartition {
  /** Name of the partition. */
  readonly name: string;
  /** True: an interrupted attempt left an invalid index. */
  readonly broken: boolean;
}

/** Partitions of days that ended at least an hour ago and have no valid search index, newest first. */
export function partitionsWithoutSearchIndex(sql: Sql, nowMs: number): Promise<UnindexedPartition[]> {
  return sql<UnindexedPartition[]>`
    select p.relname as name, x.indexrelid is not null as broken
      from pg_inherits i join pg_class p on p.oid = i.inhrelid
      left join pg_class c on c.relname = p.relname || '_search' and c.relnamespace = p.relnamespace
      left join pg_index x on x.indexrelid = c.oid
     where i.inhparent = 'usage_records'::regclass and p.relname ~ '^usage_records_\\d{8}$'
       and p.relname < ${partitionName(startOfUtcDay(nowMs - HOUR_MS))} and x.indisvalid is not true
     order by 1 desc`;
}
