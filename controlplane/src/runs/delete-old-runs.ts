/** Retention of ended runs. */
import type { Tx } from '../db/postgres-client.js';

const KEPT_DAYS = 30;
const KEPT_PER_ORGANIZATION = 100_000;
/** Runs that one call of {@link deleteOldRuns} deletes at most. */
export const DELETED_PER_TICK = 10_000;

/**
 * Deletes ended runs after {@link KEPT_DAYS} days, and those of an organization beyond its newest
 * {@link KEPT_PER_ORGANIZATION}, each with its spend and its audit entries. Runs with running sub-runs stay. Returns the
 * number of deleted runs.
 */
export async function deleteOldRuns(tx: Tx): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    with crowded as (
      select org_id, (select ended_at from runs k where k.org_id = o.org_id and k.ended_at is not null
                       order by ended_at desc offset ${KEPT_PER_ORGANIZATION} limit 1) as oldest_kept
        from (select org_id from runs where ended_at is not null group by org_id having count(*) > ${KEPT_PER_ORGANIZATION}) o
    ), old as (
      select r.id from runs r left join crowded c on c.org_id = r.org_id
       where r.ended_at is not null
         and (r.ended_at < now() - make_interval(days => ${KEPT_DAYS}) or r.ended_at <= c.oldest_kept)
         and not exists (select from runs child where child.ancestors[1] = r.id and child.ancestors <> '{}'
                            and child.ended_at is null)
       limit ${DELETED_PER_TICK} for update of r skip locked
    ), spend as (delete from budget_spend where budget_id in (select id from old)
    ), cells as (delete from cell_spend where budget_id in (select id from old)
    ), entries as (delete from audit_entries where target_type = 'run' and target_id in (select id::text from old)
    ), gone as (delete from runs where id in (select id from old) returning 1)
    select count(*) as count from gone`;
  return row!.count;
}
