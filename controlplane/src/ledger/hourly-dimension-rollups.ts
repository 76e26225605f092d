/**
 * Hourly rollups by one dimension at a time, `usage_hourly_by`, computed from `usage_hourly` in the same way and with
 * the same guarantees as daily-rollups.ts. A booking for a closed hour inserts a row of `usage_late_hours` in its
 * transaction. Reports read that hour of that organization from `usage_hourly` until this job has rebuilt it.
 *
 * An hour closes some minutes after its end, because a call is booked when it ends but counts to the hour in which it
 * began. It is rolled up after a further wait, when every booking that saw it open has ended.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '@acg/base/time-and-money-units';
import type { Sql, Tx } from '../db/postgres-client.js';
import {
  insertWithCompactedSketches,
  runRollupStepExclusively,
  SUM_COLUMNS,
  SUM_EXPRESSIONS,
} from './exclusive-rollup-steps.js';
import { HOURLY_ROLLUP_RETENTION_DAYS } from './usage-retention.js';

/** After the end of the hour. */
const CLOSED_AFTER_MS = 10 * MINUTE_MS;
/** After the hour is closed; longer than any booking lasts. */
const GRACE_MS = 20 * MINUTE_MS;
/** Per call; the next call continues. */
const HOURS_MAX = 3_000;
const LATE_MAX = 5_000;

/** True: a booking for this hour must insert a row of `usage_late_hours`. */
export const isHourClosed = (hourMs: number, nowMs: number): boolean => hourMs + HOUR_MS + CLOSED_AFTER_MS <= nowMs;

export class HourlyDimensionRollups {
  constructor(readonly sql: Sql) {}

  /**
   * Rolls up finished hours that are missing, then rebuilds hours that changed afterwards. Any control plane may call
   * it at any time.
   */
  async rollUpFinishedAndLateHours(nowMs: number): Promise<void> {
    const settledMs = nowMs - CLOSED_AFTER_MS - GRACE_MS;
    const end = settledMs - (settledMs % HOUR_MS);
    let hours = 0;
    while (
      hours < HOURS_MAX &&
      (await runRollupStepExclusively(this.sql, 'usage_hourly_by', (tx) => rollUpNextHour(tx, end)))
    )
      hours++;
    let late = 0;
    while (late < LATE_MAX && (await runRollupStepExclusively(this.sql, 'usage_hourly_by', rollUpLateHour))) late++;
  }
}

/** Returns false when no hour before `endMs` is left. */
async function rollUpNextHour(tx: Tx, endMs: number): Promise<boolean> {
  const [row] = await tx<[{ until: Date | null }]>`
    select case when rolled_until > '-infinity' then rolled_until
                else (select min(hour) from usage_hourly where hour >= ${new Date(endMs - HOURLY_ROLLUP_RETENTION_DAYS * DAY_MS)}) end as until
      from usage_hourly_progress`;
  const hourMs = row.until?.getTime() ?? endMs;
  if (hourMs >= endMs) {
    if (row.until === null) await setRolledUpUntil(tx, endMs);
    return false;
  }
  await setRolledUpUntil(tx, hourMs + HOUR_MS);
  await tx`delete from usage_late_hours where hour = ${new Date(hourMs)}`;
  await rebuildHour(tx, hourMs, null);
  return true;
}

/** Rebuilds one late hour of one organization. Returns false when there is none. */
async function rollUpLateHour(tx: Tx): Promise<boolean> {
  const [late] = await tx<{ orgId: string; hour: Date }[]>`
    select org_id as "orgId", hour from usage_late_hours
     where hour < (select rolled_until from usage_hourly_progress) order by id limit 1`;
  if (late === undefined) return false;
  // Deletes the rows that this snapshot sees, which match the usage that it sees. Rows of later bookings stay.
  await tx`delete from usage_late_hours where org_id = ${late.orgId} and hour = ${late.hour}`;
  await rebuildHour(tx, late.hour.getTime(), late.orgId);
  return true;
}

const setRolledUpUntil = (tx: Tx, ms: number) => tx`update usage_hourly_progress set rolled_until = ${new Date(ms)}`;

async function rebuildHour(tx: Tx, hourMs: number, orgId: string | null): Promise<void> {
  const hour = new Date(hourMs).toISOString();
  const hourCondition = `hour = '${hour}' ${orgId === null ? '' : `and org_id = '${orgId}'`}`;
  await tx.unsafe(`delete from usage_hourly_by where ${hourCondition}`);
  for (const [dimension, value] of [
    ['agent', 'agent_id::text'],
    ['model', 'model'],
    ['key', 'key_id::text'],
  ]) {
    await tx.unsafe(`
      insert into usage_hourly_by (hour, dimension, value, org_id, project_id, ${SUM_COLUMNS}, latency_sketch)
      select hour, '${dimension}', ${value}, org_id, project_id, ${SUM_EXPRESSIONS}, ''::bytea
        from usage_hourly where ${hourCondition} group by hour, ${value}, org_id, project_id`);
  }
  await insertWithCompactedSketches(
    tx,
    'usage_hourly_by',
    `hour, dimension, value, org_id, project_id, ${SUM_COLUMNS}`,
    `select hour, 'provider' as dimension, provider_slug as value, org_id, project_id, ${SUM_EXPRESSIONS},
            string_agg(latency_sketch, ''::bytea) as latency_sketch
       from usage_hourly where ${hourCondition} group by hour, provider_slug, org_id, project_id`,
  );
}
