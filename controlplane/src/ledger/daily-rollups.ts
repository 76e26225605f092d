/**
 * Rollups of whole days, made of the hourly ones once a day has been over for an hour: `usage_daily` in their grain, and
 * `usage_daily_by`, an organization's day by one dimension at a time. Only this job writes them, one control plane at a
 * time, each day in one snapshot; reports read days before the progress mark here and the rest from the hours.
 *
 * What is booked for a day that is over is added to its hours, and a row of `usage_late` says so in the same
 * transaction: reports read such a day of that organization from the hours until it has been added up anew. So a booking
 * never waits for this job, and no report misses or doubles it. Bookings of today, nearly all, leave no such row: the
 * hour of grace is longer than any of them lasts.
 */

import type { Logger } from '@acg/base/log';
import { DAY_MS, HOUR_MS } from '@acg/base/units';
import type { Sql, Tx } from '../db/sql.js';
import { insertWithCompactedSketches, runStepExclusively, SUM_COLUMNS, SUM_EXPRESSIONS } from './rollup-jobs.js';
import { startOfUtcDay } from './usage-day-partitions.js';

/** Days in one call; the next call goes on. */
const DAYS_MAX = 400;

export class DailyRollups {
  constructor(
    readonly sql: Sql,
    readonly log: Logger,
  ) {}

  /** Adds up the days that are over and not added up yet, and anew those that changed. May run anywhere at any time. */
  async catchUp(nowMs: number): Promise<void> {
    const end = startOfUtcDay(nowMs - HOUR_MS);
    let days = 0;
    while (days < DAYS_MAX && (await runStepExclusively(this.sql, 'usage_daily', (tx) => rollUpNextDay(tx, end))))
      days++;
    if (days > 1) this.log.info({ days }, 'days of usage added up');
    while (days < DAYS_MAX && (await runStepExclusively(this.sql, 'usage_daily', rollUpLateDay))) days++;
  }
}

/** False when there is nothing left to do before `endMs`. */
async function rollUpNextDay(tx: Tx, endMs: number): Promise<boolean> {
  const [{ until }] = await tx<[{ until: Date | null }]>`
    select case when rolled_until > '-infinity' then rolled_until else date_trunc('day', (select min(hour) from usage_hourly)) end as until
      from usage_daily_progress`;
  const dayMs = until?.getTime() ?? endMs;
  if (dayMs >= endMs) {
    if (until === null) await setProgress(tx, endMs);
    return false;
  }
  await setProgress(tx, dayMs + DAY_MS);
  await tx`delete from usage_late where day = ${new Date(dayMs)}`;
  await rebuildDay(tx, dayMs, null);
  return true;
}

/** Adds up one organization's day anew; false when none has changed. */
async function rollUpLateDay(tx: Tx): Promise<boolean> {
  const [late] = await tx<{ orgId: string; day: Date }[]>`
    select org_id as "orgId", day from usage_late
     where day < (select rolled_until from usage_daily_progress) order by id limit 1`;
  if (late === undefined) return false;
  // Those that this snapshot sees, as it sees the hours they stand for; later ones stay.
  await tx`delete from usage_late where org_id = ${late.orgId} and day = ${late.day}`;
  await rebuildDay(tx, late.day.getTime(), late.orgId);
  return true;
}

const setProgress = (tx: Tx, ms: number) => tx`update usage_daily_progress set rolled_until = ${new Date(ms)}`;

/** Makes the day's rows of one organization, or of all of them, from its hours. */
async function rebuildDay(tx: Tx, dayMs: number, orgId: string | null): Promise<void> {
  const day = new Date(dayMs).toISOString();
  const ofOrg = orgId === null ? '' : `and org_id = '${orgId}'`;
  await tx.unsafe(`delete from usage_daily where day = '${day}' ${ofOrg}`);
  await tx.unsafe(`delete from usage_daily_by where day = '${day}' ${ofOrg}`);
  const grain = 'agent_id, provider_slug, model, key_id';
  await insertWithCompactedSketches(
    tx,
    'usage_daily',
    `day, ${grain}, org_id, project_id, ${SUM_COLUMNS}`,
    `select '${day}'::timestamptz as day, ${grain}, min(org_id::text)::uuid as org_id,
            max(project_id::text)::uuid as project_id, ${SUM_EXPRESSIONS}, string_agg(latency_sketch, ''::bytea) as latency_sketch
       from usage_hourly
      where hour >= '${day}' and hour < '${new Date(dayMs + DAY_MS).toISOString()}' ${ofOrg}
      group by ${grain}`,
  );
  for (const [dimension, value] of [
    ['agent', 'agent_id::text'],
    ['model', 'model'],
    ['key', 'key_id::text'],
  ]) {
    await tx.unsafe(`
      insert into usage_daily_by (day, dimension, value, org_id, project_id, ${SUM_COLUMNS}, latency_sketch)
      select day, '${dimension}', ${value}, org_id, project_id, ${SUM_EXPRESSIONS}, ''::bytea
        from usage_daily where day = '${day}' ${ofOrg} group by day, ${value}, org_id, project_id`);
  }
  await insertWithCompactedSketches(
    tx,
    'usage_daily_by',
    `day, dimension, value, org_id, project_id, ${SUM_COLUMNS}`,
    `select day, 'provider' as dimension, provider_slug as value, org_id, project_id, ${SUM_EXPRESSIONS},
            string_agg(latency_sketch, ''::bytea) as latency_sketch
       from usage_daily where day = '${day}' ${ofOrg} group by day, provider_slug, org_id, project_id`,
  );
}
