/** Day partitions of `usage_records`: created some days ahead, and on demand for records that waited in a spool. */
import { DAY_MS } from '@acg/base/time-and-money-units';
import type { Sql, Tx } from '../db/postgres-client.js';
import type { BookableRange } from './usage-record-with-shared-dimensions.js';

const DAYS_AHEAD = 3;
const LOCK_TIMEOUT_MS = 5_000;

export class UsagePartitions {
  readonly #sql: Sql;
  readonly #retentionDays: number;
  /** Days whose partition is known to exist, Unix ms of UTC midnight. */
  readonly #created = new Set<number>();

  constructor(sql: Sql, retentionDays: number) {
    this.#sql = sql;
    this.#retentionDays = retentionDays;
  }

  /**
   * The times that may be booked. For a record older than the retained days, the ledger could not tell whether it was
   * booked before.
   */
  bookableRange(nowMs: number): BookableRange {
    const today = startOfUtcDay(nowMs);
    return { fromMs: today - this.#retentionDays * DAY_MS, toMs: today + 2 * DAY_MS };
  }

  /** Creates the missing partitions of the days of these times. */
  async ensurePartitionsFor(instants: Iterable<{ readonly startedAtMs: number }>): Promise<void> {
    const missing = new Set<number>();
    let lastKnownDay = Number.NaN;
    for (const { startedAtMs } of instants) {
      const day = startOfUtcDay(startedAtMs);
      if (day === lastKnownDay) continue; // nearly always
      if (this.#created.has(day)) lastKnownDay = day;
      else missing.add(day);
    }
    for (const day of [...missing].sort()) {
      await this.#sql.begin((tx) => createPartition(tx, day));
      this.#created.add(day);
    }
  }

  /** Forgets which partitions exist; the next call asks the database again. */
  clearKnownPartitions(): void {
    this.#created.clear();
  }

  /** Creates the partitions of the coming days. */
  async createPartitionsAhead(nowMs: number): Promise<void> {
    await this.ensurePartitionsFor(
      Array.from({ length: DAYS_AHEAD + 1 }, (_, i) => ({ startedAtMs: nowMs + i * DAY_MS })),
    );
    const { fromMs } = this.bookableRange(nowMs);
    for (const day of this.#created) if (day < fromMs) this.#created.delete(day);
  }
}

export const startOfUtcDay = (ms: number): number => ms - (ms % DAY_MS);

/** Name of the partition of the day that begins at this UTC midnight (Unix ms). */
export const partitionName = (dayMs: number): string =>
  `usage_records_${new Date(dayMs).toISOString().slice(0, 10).replaceAll('-', '')}`;

/** UTC midnight (Unix ms) of a partition's day. */
export function partitionDayMs(name: string): number {
  const day = name.slice(-8);
  return Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6)));
}

async function createPartition(tx: Tx, dayMs: number): Promise<void> {
  const name = partitionName(dayMs);
  await tx`select pg_advisory_xact_lock(hashtext('usage_partitions'))`;
  const [found] = await tx<{ made: boolean }[]>`select to_regclass(${name}) is not null as made`;
  if (found!.made) return;
  const from = new Date(dayMs).toISOString();
  const to = new Date(dayMs + DAY_MS).toISOString();
  await tx.unsafe(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  // `attach partition` takes a lock on the parent that allows reads and writes; `partition of` would block both.
  await tx.unsafe(`
    create table ${name} (like usage_records including all);
    alter table usage_records attach partition ${name} for values from ('${from}') to ('${to}');`);
}
