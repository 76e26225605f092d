/**
 * Day partitions of usage_records: made ahead, made on demand for records that waited in a spool, dropped by
 * retention. Rollups and month spend stay. Rows that lie in the default partition move when their day is made.
 */
import type { Logger } from '@acg/base/log';
import type { Sql, Tx } from '../db/sql.js';
import type { LedgerSpan } from './usage-entry.js';

const DAY_MS = 86_400_000;
const DAYS_AHEAD = 3;
const LOCK_TIMEOUT_MS = 5_000;
const COUNT_IDS_KEPT_DAYS = 2;

export class UsagePartitions {
  readonly #sql: Sql;
  readonly #retentionDays: number;
  readonly #log: Logger;
  /** Days that are known to have their partition, Unix ms of midnight. */
  readonly #made = new Set<number>();

  constructor(sql: Sql, retentionDays: number, log: Logger) {
    this.#sql = sql;
    this.#retentionDays = retentionDays;
    this.#log = log;
  }

  /** What may be booked: a record older than the kept days could not be told from one booked before. */
  span(nowMs: number): LedgerSpan {
    const today = dayOf(nowMs);
    return { fromMs: today - this.#retentionDays * DAY_MS, toMs: today + 2 * DAY_MS };
  }

  /** Makes the partitions of the days on which these lie. */
  async ensure(instants: Iterable<{ readonly startedAtMs: number }>): Promise<void> {
    const missing = new Set<number>();
    let known = Number.NaN;
    for (const { startedAtMs } of instants) {
      const day = dayOf(startedAtMs);
      if (day === known) continue; // nearly always
      if (this.#made.has(day)) known = day;
      else missing.add(day);
    }
    for (const day of [...missing].sort()) {
      await this.#sql.begin((tx) => makePartition(tx, day));
      this.#made.add(day);
    }
  }

  /** Makes the coming days, drops the old ones. Runs anywhere at any time; one instance at a time does the dropping. */
  async maintain(nowMs: number): Promise<void> {
    await this.ensure(Array.from({ length: DAYS_AHEAD + 1 }, (_, i) => ({ startedAtMs: nowMs + i * DAY_MS })));
    await this.#sql.begin(async (tx) => {
      const [lock] = await tx<{ ours: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtext('usage_retention')) as ours`;
      if (lock?.ours !== true) return;
      await tx.unsafe(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      const { fromMs } = this.span(nowMs);
      const dropped = await dropBefore(tx, fromMs);
      for (const day of this.#made) if (day < fromMs) this.#made.delete(day);
      await tx`delete from booked_counts where booked_at < now() - ${`${COUNT_IDS_KEPT_DAYS} days`}::text::interval`;
      if (dropped > 0) this.#log.info({ dropped }, 'days of usage logs dropped by retention');
    });
  }
}

export const dayOf = (ms: number): number => ms - (ms % DAY_MS);

/** Name of the partition of the day that begins at that midnight. */
export const partitionName = (day: number): string =>
  `usage_records_${new Date(day).toISOString().slice(0, 10).replaceAll('-', '')}`;

async function makePartition(tx: Tx, day: number): Promise<void> {
  const name = partitionName(day);
  await tx`select pg_advisory_xact_lock(hashtext('usage_partitions'))`;
  const [found] = await tx<{ made: boolean }[]>`select to_regclass(${name}) is not null as made`;
  if (found!.made) return;
  const from = new Date(day).toISOString();
  const to = new Date(day + DAY_MS).toISOString();
  await tx.unsafe(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  // Attaching asks for a lock on the parent that lets others read and write it; `partition of` would stop them all.
  await tx.unsafe(`
    lock table usage_records_default in access exclusive mode;
    create table ${name} (like usage_records including all);
    with moved as (delete from usage_records_default where started_at >= '${from}' and started_at < '${to}' returning *)
    insert into ${name} select * from moved;
    alter table usage_records attach partition ${name} for values from ('${from}') to ('${to}');`);
}

/** Drops the partitions of the days before `fromMs`; returns how many. */
async function dropBefore(tx: Tx, fromMs: number): Promise<number> {
  const first = partitionName(fromMs);
  const old = await tx<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'usage_records'::regclass
       and c.relname ~ '^usage_records_\\d{8}$' and c.relname < ${first} order by 1`;
  for (const { name } of old) await tx.unsafe(`drop table ${name}`);
  await tx`delete from usage_records_default where started_at < ${new Date(fromMs)}`;
  return old.length;
}
