/**
 * Indexes for the search in logs, one per day partition, made when the day is over: three-letter pieces of the searched
 * text (pg_trgm). An open day has none, because each record would touch some fifty places of it; a search reads the
 * agent's records of that day. A term of fewer than three letters finds no help in an index either.
 *
 * Made without stopping writers, newest day first, by one control plane at a time; what an interrupted attempt left is
 * made anew. On a server without pg_trgm there are none, and a search reads all of the agent's records.
 */

import type { Logger } from '@acg/base/log';
import { HOUR_MS } from '@acg/base/units';
import { type ReservedConnection, withReservedConnection } from '../db/reserved-connection.js';
import type { Sql } from '../db/sql.js';
import { partitionName, startOfUtcDay } from './usage-day-partitions.js';

/** The text of a record that a search looks at. The index serves only queries that spell it the same. */
export const SEARCH_EXPRESSION = `(path || E'\\n' || model || E'\\n' || error || E'\\n' || id::text)`;

const LOCK_TIMEOUT_MS = 60_000;

export class LogSearchIndexes {
  #running: { cancel(): void } | null = null;
  #stopped = false;

  constructor(
    readonly sql: Sql,
    readonly log: Logger,
  ) {}

  /** Makes what is missing for days that have been over for an hour. Does nothing while another control plane does. */
  async createMissing(nowMs: number): Promise<void> {
    await withReservedConnection(this.sql, async (connection) => {
      const [lock] = await connection<{ ours: boolean }[]>`
        select pg_try_advisory_lock(hashtext('usage_search')) as ours from pg_extension where extname = 'pg_trgm'`;
      if (lock?.ours !== true) return;
      await connection`set statement_timeout = 0`;
      await connection`select set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, false)`;
      await this.#createMissing(connection, nowMs);
    });
  }

  /** Gives up the index under way; the next start makes it anew. */
  stop(): void {
    this.#stopped = true;
    this.#running?.cancel();
  }

  async #createMissing(connection: ReservedConnection, nowMs: number): Promise<void> {
    const days = await partitionsWithoutSearchIndex(this.sql, nowMs);
    try {
      for (const { name, broken } of days) {
        if (this.#stopped) return;
        if (broken) await connection.unsafe(`drop index concurrently ${name}_search`);
        const make = connection.unsafe(
          `create index concurrently ${name}_search on ${name} using gin (${SEARCH_EXPRESSION} gin_trgm_ops) with (fastupdate = off)`,
        );
        this.#running = make;
        await make;
        await connection.unsafe(`analyze ${name}`); // how common a text is decides whether the index is worth it
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
  /** Of the partition. */
  readonly name: string;
  /** There is an index that an interrupted attempt left unfinished. */
  readonly broken: boolean;
}

/** Partitions of days that have been over for an hour and have no index for search, newest first. */
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
