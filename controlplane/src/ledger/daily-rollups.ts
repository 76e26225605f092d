/**
 * Daily rollups, computed from the hourly ones one hour after the day's end: `usage_daily` has the same dimensions,
 * `usage_daily_by` has one dimension at a time. Only this job writes them, on one control plane at a time, each day in
 * one snapshot. Reports read days before the progress mark from here and all other days from the hours.
 *
 * A booking for a past day changes its hours and inserts a row of `usage_late` in the same transaction. Reports then
 * read that day of that organization from the hours until this job has rebuilt it. So a booking never waits for this
 * job, and no report misses or doubles it. Bookings of today, nearly all, insert no such row: no booking lasts as long
 * as the hour of grace.
 */

import type { Logger } from '@acg/base/log';
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import type { Sql, Tx } from '../db/postgres-client.js';
import { startOfUtcDay } from './create-usage-day-partitions.js';
import {
  insertWithCompactedSketches,
  runRollupStepExclusively,
  SUM_COLUMNS,
  SUM_EXPRESSIONS,
} from './exclusive-rollup-steps.js';

/** Per call; the next call continues. */
const DAYS_MAX = 400;

export class DailyRollups {
  constructor(
    readonly sql: Sql,
    readonly log: Logger,
  ) {}

  /**
   * Rolls up finished days that are missing, then rebuilds days that changed afterwards. Any control plane may call it
   * at any time.
   */
  async rollUpFinishedAndLateDays(nowMs: number): Promise<void> {
    const end = startOfUtcDay(nowMs - HOUR_MS);
    let days = 0;
    while (days < DAYS_MAX && (await runRollupStepExclusively(this.sql, 'usage_daily', (tx) => rollUpNextDay(tx, end))))
      days++;
    if (days > 1) this.log.info({ days }, 'days of usage rolled up');
    while (days < DAYS_MAX && (await runRollupStepExclusively(this.sql, 'usage_daily', rollUpLateDay))) days++;
  }
}

/** Returns false when no day before `endMs` is left. */
async function rollUpNextDay(tx: Tx, endMs: number): Promise<boolean> {
  const [{ until }] = await tx<[{ until: Date | null }]>`
    select case when rolled_until > '-infinity' then rolled_until else date_trunc('day', (select min(hour) from usage_hourly)) end as until
      from usage_daily_progress`;
  const dayMs = until?.getTime() ?? endMs;
  if (dayMs >= endMs) {
    if (until === null) await setRolledUpUntil(tx, endMs);
    return false;
  }
  await setRolledUpUntil(tx, dayMs + DAY_MS);
  await tx`delete from usage_late where day = ${new Date(dayMs)}`;
  await rebuildDay(tx, dayMs, null);
  return true;
}

/** Rebuilds one late day of one organization. Returns false when there is none. */
async function rollUpLateDay(tx: Tx): Promise<boolean> {
  const [late] = await tx<{ orgId: string; day: Date }[]>`
    select org_id as "orgId", day from usage_late
     where day < (select rolled_until from usage_daily_progress) order by id limit 1`;
  if (late === undefined) return false;
  // Deletes the rows that this snapshot sees, which match the hours that it sees. Rows of later bookings stay.
  await tx`delete from usage_late where org_id = ${late.orgId} and day = ${late.day}`;
  await rebuildDay(tx, late.day.getTime(), late.orgId);
  return true;
}

const setRolledUpUntil = (tx: Tx, ms: number) => tx`update usage_daily_progress set rolled_until = ${new Date(ms)}`;

/** Rebuilds the day's rows from its hours, for one organization or (null) for all. */
async function rebuildDay(tx: Tx, dayMs: number, orgId: string | null): Promise<void> {
  const day = new Date(dayMs).toISOString();
  const orgCondition = orgId === null ? '' : `and org_id = '${orgId}'`;
  await tx.unsafe(`delete from usage_daily where day = '${day}' ${orgCondition}`);
  await tx.unsafe(`delete from usage_daily_by where day = '${day}' ${orgCondition}`);
  const grain = 'agent_id, provider_slug, model, key_id';
  await insertWithCompactedSketches(
    tx,
    'usage_daily',
    `day, ${grain}, org_id, project_id, ${SUM_COLUMNS}`,
    `select '${day}'::timestamptz as day, ${grain}, min(org_id::text)::uuid as org_id,
            max(project_id::text)::uuid as project_id, ${SUM_EXPRESSIONS}, string_agg(latency_sketch, ''::bytea) as latency_sketch
       from usage_hourly
      where hour >= '${day}' and hour < '${new Date(dayMs + DAY_MS).toISOString()}' ${orgCondition}
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
        from usage_daily where day = '${day}' ${orgCondition} group by day, ${value}, org_id, project_id`);
  }
  await insertWithCompactedSketches(
    tx,
    'usage_daily_by',
    `day, dimension, value, org_id, project_id, ${SUM_COLUMNS}`,
    `select day, 'provider' as dimension, provider_slug as value, org_id, project_id, ${SUM_EXPRESSIONS},
            string_agg(latency_sketch, ''::bytea) as latency_sketch
       from usage_daily where day = '${day}' ${orgCondition} group by day, provider_slug, org_id, project_id`,
  );
}
