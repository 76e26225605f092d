/**
 * Rollups of whole days. A day is added up once it has been over for an hour, in one transaction with the progress
 * mark; reports read days before the mark here and the rest from the hours, in one statement.
 *
 * What is booked later for such a day (a spool that waited) is added to both. The mark must not pass a day between a
 * booking's look at it and its commit: bookings of past days share a lock that moving the mark takes alone. Bookings of
 * today, nearly all, do not take part: the hour of grace is longer than any of them lasts.
 */
import type { Logger } from '@acg/base/log';
import { arrayLiteral } from '../db/array-literal.js';
import type { Sql, Tx } from '../db/sql.js';
import { dayOf } from './partitions.js';
import type { HourlySum } from './rollup.js';
import { SKETCH_BYTES_COMPACT, Sketch } from './sketch.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Days in one call; the next call goes on. */
const DAYS_MAX = 400;
const ROWS_AT_ONCE = 500;

export class DailyRollups {
  constructor(
    readonly sql: Sql,
    readonly log: Logger,
  ) {}

  /** Adds up the days that are over and not added up yet. May run anywhere at any time. */
  async catchUp(nowMs: number): Promise<void> {
    const end = dayOf(nowMs - HOUR_MS);
    let days = 0;
    while (days < DAYS_MAX && (await this.sql.begin((tx) => rollNextDay(tx, end)))) days++;
    if (days > 1) this.log.info({ days }, 'days of usage added up');
  }
}

/** False when there is nothing left to do before `endMs`. */
async function rollNextDay(tx: Tx, endMs: number): Promise<boolean> {
  await tx`set local statement_timeout = 0`;
  await tx`select pg_advisory_xact_lock(hashtext('usage_daily'))`;
  const [{ until }] = await tx<[{ until: Date | null }]>`
    select case when rolled_until > '-infinity' then rolled_until else date_trunc('day', (select min(hour) from usage_hourly)) end as until
      from usage_daily_progress`;
  const dayMs = until?.getTime() ?? endMs;
  if (dayMs >= endMs) {
    if (until === null) await setUntil(tx, endMs);
    return false;
  }
  await setUntil(tx, dayMs + DAY_MS);
  const day = new Date(dayMs).toISOString();
  // A cursor, because a day may have more rows than this process should hold.
  await tx.unsafe(`
    declare day_sums no scroll cursor for
    select '${day}'::timestamptz as day, agent_id as "agentId", provider_slug as "providerSlug",
           min(org_id::text) as "orgId", sum(requests)::text as requests, sum(errors)::text as errors,
           sum(tokens_in)::text as "tokensIn", sum(tokens_out)::text as "tokensOut", sum(cost_nanos)::text as "costNanos",
           sum(duration_ms_sum)::text as "durationMsSum", string_agg(latency_sketch, ''::bytea) as sketch
      from usage_hourly where hour >= '${day}' and hour < '${new Date(dayMs + DAY_MS).toISOString()}'
     group by agent_id, provider_slug`);
  for (;;) {
    const rows = await tx.unsafe<(Omit<DaySum, 'sketch'> & { readonly sketch: Buffer })[]>(
      `fetch ${ROWS_AT_ONCE} from day_sums`,
    );
    if (rows.length === 0) break;
    await addToDays(
      tx,
      rows.map((row) => ({ ...row, sketch: Sketch.decode(row.sketch) })),
    );
  }
  await tx.unsafe('close day_sums');
  return true;
}

const setUntil = (tx: Tx, ms: number) => tx`update usage_daily_progress set rolled_until = ${new Date(ms)}`;

interface DaySum {
  readonly day: Date;
  readonly agentId: string;
  readonly providerSlug: string;
  readonly orgId: string;
  readonly requests: number | string;
  readonly errors: number | string;
  readonly tokensIn: number | string;
  readonly tokensOut: number | string;
  readonly costNanos: number | string;
  readonly durationMsSum: number | string;
  readonly sketch: Sketch;
}

interface DaySketch {
  readonly day: Date;
  readonly agentId: string;
  readonly providerSlug: string;
  readonly sketch: Buffer;
}

/** Stores shorter forms of sketches whose rows this transaction holds. */
async function compact(tx: Tx, rows: readonly DaySketch[]): Promise<void> {
  await tx`
    update usage_daily d set latency_sketch = r.sketch
      from unnest(
        ${arrayLiteral(rows, (row) => row.day.toISOString())}::text::timestamptz[],
        ${arrayLiteral(rows, (row) => row.agentId)}::text::uuid[],
        ${arrayLiteral(rows, (row) => row.providerSlug)}::text::text[],
        ${arrayLiteral(rows, (row) => `\\x${Sketch.decode(row.sketch).encode().toString('hex')}`)}::text::bytea[]
      ) as r(day, agent_id, provider_slug, sketch)
     where d.agent_id = r.agent_id and d.provider_slug = r.provider_slug and d.day = r.day`;
}

/** Adds the sums of past days to those that have been added up already. After the hourly rollups, in their order. */
export async function addLate(tx: Tx, sums: readonly HourlySum[], nowMs: number): Promise<void> {
  const today = dayOf(nowMs);
  const late = sums.filter((sum) => sum.hourMs < today);
  if (late.length === 0) return;
  await tx`select pg_advisory_xact_lock_shared(hashtext('usage_daily'))`;
  const days = late.map((sum) => ({ ...sum, day: new Date(dayOf(sum.hourMs)) }));
  const grown = await addToDays(tx, days);
  if (grown.length > 0) await compact(tx, grown);
}

/** Adds to days before the mark, and leaves out others. Returns the rows whose sketch has grown long. */
function addToDays(tx: Tx, sums: readonly DaySum[]): Promise<DaySketch[]> {
  const column = (value: (sum: DaySum) => string | number) => arrayLiteral(sums, value);
  return tx<DaySketch[]>`
    with booked as (
      insert into usage_daily as d (agent_id, provider_slug, day, org_id, requests, errors, tokens_in, tokens_out,
        cost_nanos, duration_ms_sum, latency_sketch)
      select agent_id, provider_slug, day, min(org_id::text)::uuid, sum(requests), sum(errors), sum(tokens_in),
             sum(tokens_out), sum(cost_nanos), sum(duration_ms_sum), string_agg(latency_sketch, ''::bytea)
        from unnest(
          ${column((s) => s.agentId)}::text::uuid[],
          ${column((s) => s.providerSlug)}::text::text[],
          ${column((s) => s.day.toISOString())}::text::timestamptz[],
          ${column((s) => s.orgId)}::text::uuid[],
          ${column((s) => s.requests)}::text::bigint[],
          ${column((s) => s.errors)}::text::bigint[],
          ${column((s) => s.tokensIn)}::text::bigint[],
          ${column((s) => s.tokensOut)}::text::bigint[],
          ${column((s) => s.costNanos)}::text::bigint[],
          ${column((s) => s.durationMsSum)}::text::bigint[],
          ${column((s) => `\\x${s.sketch.encode().toString('hex')}`)}::text::bytea[]
        ) as r(agent_id, provider_slug, day, org_id, requests, errors, tokens_in, tokens_out, cost_nanos,
          duration_ms_sum, latency_sketch)
       where day < (select rolled_until from usage_daily_progress)
       group by agent_id, day, provider_slug order by agent_id, day, provider_slug
      on conflict (agent_id, day, provider_slug) do update set
        requests = d.requests + excluded.requests, errors = d.errors + excluded.errors,
        tokens_in = d.tokens_in + excluded.tokens_in, tokens_out = d.tokens_out + excluded.tokens_out,
        cost_nanos = d.cost_nanos + excluded.cost_nanos, duration_ms_sum = d.duration_ms_sum + excluded.duration_ms_sum,
        latency_sketch = d.latency_sketch || excluded.latency_sketch
      returning day, agent_id, provider_slug, latency_sketch)
    select day, agent_id as "agentId", provider_slug as "providerSlug", latency_sketch as sketch from booked
     where octet_length(latency_sketch) > ${SKETCH_BYTES_COMPACT} order by agent_id, day, provider_slug`;
}
