/**
 * Commit marks of the ledger. Each transaction that books usage inserts one mark, and the data plane sends the latest
 * mark with its next reports. A missing mark shows that a failover to a lagging standby lost that commit, and perhaps
 * earlier ones. After such a failover Postgres issues the same numbers again; the random ids tell the marks apart.
 */
import { arrayLiteral } from '../db/array-literal.js';
import type { Sql, Tx } from '../db/postgres-client.js';

export interface LedgerMark {
  readonly number: number;
  /** Random UUID. */
  readonly id: string;
}

/** Inserts a mark in the transaction that books, so the mark exists exactly if the usage exists. */
export async function insertCommitMark(tx: Tx | Sql): Promise<LedgerMark> {
  const [mark] = await tx<LedgerMark[]>`insert into ledger_marks default values returning number, mark as id`;
  return mark!;
}

/**
 * Returns the ids of the marks that the database has lost. A mark older than the oldest stored one was pruned and
 * counts as present.
 */
export async function selectLostCommitMarks(sql: Sql, marks: readonly LedgerMark[]): Promise<ReadonlySet<string>> {
  if (marks.length === 0) return new Set();
  const rows = await sql<{ id: string }[]>`
    select asked.id from unnest(
        ${arrayLiteral(marks, ({ number }) => number)}::text::bigint[],
        ${arrayLiteral(marks, ({ id }) => id)}::text::uuid[]) as asked(number, id)
      left join ledger_marks kept on kept.number = asked.number and kept.mark = asked.id
     where kept.number is null and asked.number >= coalesce((select min(number) from ledger_marks), 0)`;
  return new Set(rows.map(({ id }) => id));
}

/** Deletes marks older than `keptMs` (ms). The newest mark always stays. */
export async function deleteOldCommitMarks(sql: Sql, keptMs: number): Promise<void> {
  await sql`
    delete from ledger_marks
     where at < now() - ${keptMs} * interval '1 millisecond' and number < (select max(number) from ledger_marks)`;
}
