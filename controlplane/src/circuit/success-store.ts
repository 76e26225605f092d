/** Who had a success lately on a circuit that many organizations share. */
import type { Sql } from '../db/sql.js';

export interface Success {
  readonly circuitKey: string;
  readonly orgId: string;
}

const ROWS_MAX = 10_000;

/** Of circuits that are there. */
export async function writeSuccesses(sql: Sql, successes: readonly Success[]): Promise<void> {
  await sql`
    insert into circuit_successes (circuit_key, org_id, at)
    select s.key, s.org_id, now()
      from unnest(${successes.map((s) => s.circuitKey)}::text[], ${successes.map((s) => s.orgId)}::uuid[]) as s(key, org_id)
      join circuits c on c.circuit_key = s.key
     order by s.key, s.org_id -- one lock order for all writers
    on conflict (circuit_key, org_id) do update set at = excluded.at`;
}

/** Drops what is older than a day, so many at a time. */
export async function pruneSuccesses(sql: Sql): Promise<void> {
  await sql`
    delete from circuit_successes where ctid = any(array(
      select ctid from circuit_successes where at < now() - interval '1 day' limit ${ROWS_MAX}))`;
}
