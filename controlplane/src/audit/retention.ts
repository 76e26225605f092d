/** Deletes audit entries after AUDIT_RETENTION_DAYS, because they contain names and IP addresses. */
import { deleteInBatches, ROWS_PER_BATCH } from '../db/delete-in-batches.js';
import type { Sql } from '../db/sql.js';

/** Deletes older entries, at most about 100 000 per call. */
export async function pruneAuditEntries(sql: Sql, retentionDays: number): Promise<void> {
  await deleteInBatches(async () => {
    const rows = await sql`
      delete from audit_entries where id in (
        select id from audit_entries where at < now() - ${retentionDays} * interval '1 day'
         order by at limit ${ROWS_PER_BATCH} for update skip locked)`;
    return rows.count;
  });
}
