/**
 * Marks of the ledger's commits. Each transaction that books usage inserts one, and the data plane names it in its next
 * reports. A mark that is gone shows that the database lost that commit, and perhaps others before it, in a failover
 * to a standby that lagged behind. Numbers are issued again after such a failover; the random ids are not.
 */
import { arrayLiteral } from '../db/array-literal.js';
import type { Sql, Tx } from '../db/sql.js';

export interface LedgerMark {
  readonly number: number;
  /** Random UUID. */
  readonly id: string;
}

/** In the transaction that books: the mark is there exactly if its usage is. */
export async function insertCommitMark(tx: Tx | Sql): Promise<LedgerMark> {
  const [mark] = await tx<LedgerMark[]>`insert into ledger_marks default values returning number, mark as id`;
  return mark!;
}

/** The ids of those that the database has lost. One older than all that are kept was pruned, and counts as there. */
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

/** Deletes marks of that age; the newest one stays, however old. */
export async function deleteOldCommitMarks(sql: Sql, keptMs: number): Promise<void> {
  await sql`
    delete from ledger_marks
     where at < now() - ${keptMs} * interval '1 millisecond' and number < (select max(number) from ledger_marks)`;
}
