/**
 * Rollups of whole hours by one dimension at a time, `usage_hourly_by`, made of the hourly ones once an hour is over: as
 * daily-rollups.ts makes days, and with the same promise. What is booked for an hour that is closed leaves a row of
 * `usage_late_hours` in its transaction, and reports read that hour of that organization from `usage_hourly` until it
 * has been added up anew. An hour is closed some minutes after its end, because a call is booked when it ends and counts
 * to the hour in which it began; it is added up later still, when each booking that found it open has ended.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '@acg/base/units';
import type { Sql, Tx } from '../db/sql.js';
import { insertWithCompactedSketches, runStepExclusively, SUM_COLUMNS, SUM_EXPRESSIONS } from './rollup-jobs.js';
import { HOURLY_ROLLUP_RETENTION_DAYS } from './usage-retention.js';

/** After its end. */
const CLOSED_AFTER_MS = 10 * MINUTE_MS;
/** After it is closed: longer than any booking lasts. */
const GRACE_MS = 20 * MINUTE_MS;
/** In one call; the next call goes on. */
const HOURS_MAX = 3_000;
const LATE_MAX = 5_000;

/** Whether a booking at that time must leave a note. */
export const isHourClosed = (hourMs: number, nowMs: number): boolean => hourMs + HOUR_MS + CLOSED_AFTER_MS <= nowMs;

export class HourlyDimensionRollups {
  constructor(readonly sql: Sql) {}

  /** Adds up the hours that are over and not added up yet, and anew those that changed. May run anywhere at any time. */
  async catchUp(nowMs: number): Promise<void> {
    const settledMs = nowMs - CLOSED_AFTER_MS - GRACE_MS;
    const end = settledMs - (settledMs % HOUR_MS);
    let hours = 0;
    while (
      hours < HOURS_MAX &&
      (await runStepExclusively(this.sql, 'usage_hourly_by', (tx) => rollUpNextHour(tx, end)))
    )
      hours++;
    let late = 0;
    while (late < LATE_MAX && (await runStepExclusively(this.sql, 'usage_hourly_by', rollUpLateHour))) late++;
  }
}

/** False when there is nothing left to do before `endMs`. */
async function rollUpNextHour(tx: Tx, endMs: number): Promise<boolean> {
  const [row] = await tx<[{ until: Date | null }]>`
    select case when rolled_until > '-infinity' then rolled_until
                else (select min(hour) from usage_hourly where hour >= ${new Date(endMs - HOURLY_ROLLUP_RETENTION_DAYS * DAY_MS)}) end as until
      from usage_hourly_progress`;
  const hourMs = row.until?.getTime() ?? endMs;
  if (hourMs >= endMs) {
    if (row.until === null) await setProgress(tx, endMs);
    return false;
  }
  await setProgress(tx, hourMs + HOUR_MS);
  await tx`delete from usage_late_hours where hour = ${new Date(hourMs)}`;
  await rebuildHour(tx, hourMs, null);
  return true;
}

/** Adds up one organization's hour anew; false when none has changed. */
async function rollUpLateHour(tx: Tx): Promise<boolean> {
  const [late] = await tx<{ orgId: string; hour: Date }[]>`
    select org_id as "orgId", hour from usage_late_hours
     where hour < (select rolled_until from usage_hourly_progress) order by id limit 1`;
  if (late === undefined) return false;
  // Those that this snapshot sees, as it sees the rows they stand for; later ones stay.
  await tx`delete from usage_late_hours where org_id = ${late.orgId} and hour = ${late.hour}`;
  await rebuildHour(tx, late.hour.getTime(), late.orgId);
  return true;
}

const setProgress = (tx: Tx, ms: number) => tx`update usage_hourly_progress set rolled_until = ${new Date(ms)}`;

async function rebuildHour(tx: Tx, hourMs: number, orgId: string | null): Promise<void> {
  const hour = new Date(hourMs).toISOString();
  const of = `hour = '${hour}' ${orgId === null ? '' : `and org_id = '${orgId}'`}`;
  await tx.unsafe(`delete from usage_hourly_by where ${of}`);
  for (const [dimension, value] of [
    ['agent', 'agent_id::text'],
    ['model', 'model'],
    ['key', 'key_id::text'],
  ]) {
    await tx.unsafe(`
      insert into usage_hourly_by (hour, dimension, value, org_id, project_id, ${SUM_COLUMNS}, latency_sketch)
      select hour, '${dimension}', ${value}, org_id, project_id, ${SUM_EXPRESSIONS}, ''::bytea
        from usage_hourly where ${of} group by hour, ${value}, org_id, project_id`);
  }
  await insertWithCompactedSketches(
    tx,
    'usage_hourly_by',
    `hour, dimension, value, org_id, project_id, ${SUM_COLUMNS}`,
    `select hour, 'provider' as dimension, provider_slug as value, org_id, project_id, ${SUM_EXPRESSIONS},
            string_agg(latency_sketch, ''::bytea) as latency_sketch
       from usage_hourly where ${of} group by hour, provider_slug, org_id, project_id`,
  );
}
