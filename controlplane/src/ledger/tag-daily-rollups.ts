/**
 * `usage_tags_daily`: usage by tag and day without the agent, computed from `usage_tags` one hour after the day's end. Only
 * this job writes it, on one control plane at a time, each day in one snapshot. Reports read days before the progress mark
 * from here, later ones from `usage_tags_open` (open-tag-days.ts). A day with late bookings is read from `usage_tags` until
 * this job has rebuilt it.
 */
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import type { Sql, Tx } from '../db/postgres-client.js';
import { startOfUtcDay } from './create-usage-day-partitions.js';
import { runRollupStepExclusively, SUM_COLUMNS, SUM_EXPRESSIONS } from './exclusive-rollup-steps.js';

/** Per call; the next call continues. */
const DAYS_MAX = 400;
const JOB = 'usage_tags_daily';

export class TagDailyRollups {
  constructor(readonly sql: Sql) {}

  /** Rolls up finished days that are missing, then rebuilds days that changed afterwards. Any control plane may call it. */
  async rollUpFinishedAndLateDays(nowMs: number): Promise<void> {
    const end = isoDay(startOfUtcDay(nowMs - HOUR_MS));
    for (const step of [(tx: Tx) => rollUpNextDay(tx, end), rollUpLateDay])
      for (let days = 0; days < DAYS_MAX && (await runRollupStepExclusively(this.sql, JOB, step)); days++);
    await this.sql`delete from usage_tags_open where day < (select rolled_until from usage_tags_progress)`;
  }
}

/** Returns false when no day before `end` is left. */
async function rollUpNextDay(tx: Tx, end: string): Promise<boolean> {
  const [row] = await tx<{ day: string | null }[]>`
    select (case when rolled_until > '-infinity' then rolled_until else (select min(day) from usage_tags) end)::text as day
      from usage_tags_progress`;
  const day = row?.day ?? end;
  if (day >= end) {
    if (row?.day == null) await setRolledUntil(tx, end);
    return false;
  }
  await setRolledUntil(tx, isoDay(Date.parse(day) + DAY_MS));
  await tx`delete from usage_tags_late where day = ${day}::text::date`;
  await rebuildDay(tx, day, tx``);
  return true;
}

/** Rebuilds one late day of one organization. Returns false when no day is late. */
async function rollUpLateDay(tx: Tx): Promise<boolean> {
  const [late] = await tx<{ orgId: string; day: string }[]>`
    select org_id as "orgId", day::text from usage_tags_late
     where day < (select rolled_until from usage_tags_progress) order by id limit 1`;
  if (late === undefined) return false;
  // Deletes the rows that this snapshot sees, which match the bookings that it sees. Rows of later bookings stay.
  await tx`delete from usage_tags_late where org_id = ${late.orgId} and day = ${late.day}::text::date`;
  await rebuildDay(tx, late.day, tx`and org_id = ${late.orgId}`);
  return true;
}

const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const setRolledUntil = (tx: Tx, day: string) => tx`update usage_tags_progress set rolled_until = ${day}::text::date`;

async function rebuildDay(tx: Tx, day: string, orgCondition: ReturnType<Tx>): Promise<void> {
  await tx`delete from usage_tags_daily where day = ${day}::text::date ${orgCondition}`;
  await tx`
    insert into usage_tags_daily (org_id, key, day, value, project_id, ${tx.unsafe(SUM_COLUMNS)})
    select org_id, key, day, value, project_id, ${tx.unsafe(SUM_EXPRESSIONS)} from usage_tags
     where day = ${day}::text::date ${orgCondition} group by org_id, key, day, value, project_id order by org_id, key`;
}
