/**
 * SQL of the ledger's write side: one statement per table for any batch size. All statements run in one transaction, in
 * the order in which this file and then month-spend-store.ts list them. Each locks its rows in key order, so control
 * planes that book at the same time wait for each other but cannot deadlock.
 */
import { NIL_UUID } from '@acg/base/uuid-patterns';
import { arrayLiteral } from '../db/array-literal.js';
import type { Tx } from '../db/postgres-client.js';
import { startOfUtcDay } from './create-usage-day-partitions.js';
import { isHourClosed } from './hourly-dimension-rollups.js';
import type { HourlyRollup } from './usage-aggregation.js';
import { NANOS_SUM_MAX } from './usage-field-validation.js';
import { DIMENSION_COLUMNS, MEASURE_COLUMNS, type UsageRecordColumn } from './usage-record-columns.js';
import type { UsageDimensions, UsageEntry } from './usage-record-with-shared-dimensions.js';

const storedColumns = <Part>(columns: readonly UsageRecordColumn<Part>[]) =>
  columns.filter(({ column }) => column !== null);
const STORED_MEASURE_COLUMNS = storedColumns(MEASURE_COLUMNS);
const STORED_DIMENSION_COLUMNS = storedColumns(DIMENSION_COLUMNS);

/**
 * Parameters: arrays of the measure columns, arrays of the dimension columns, and for each record the index of its
 * dimensions.
 */
const INSERT_RECORDS = buildUsageRecordInsert();
const INSERT_NEW_RECORDS = `${INSERT_RECORDS} on conflict do nothing returning id`;

function buildUsageRecordInsert(): string {
  const names = (columns: readonly { readonly column: string | null }[]) => columns.map(({ column }) => column).join();
  const values = (columns: readonly { readonly sqlType: string }[], first: number) =>
    columns.map(({ sqlType: type }, i) => `$${first + i}::text::${type}[]`).join();
  const measureExpressions = STORED_MEASURE_COLUMNS.map(
    ({ column, storedSql: stored }) => stored ?? `r.${column}`,
  ).join();
  const firstDimensionParameter = STORED_MEASURE_COLUMNS.length + 1;
  const dimensionIndexParameter = firstDimensionParameter + STORED_DIMENSION_COLUMNS.length;
  return `
    insert into usage_records (${names(STORED_MEASURE_COLUMNS)}, ${names(STORED_DIMENSION_COLUMNS)})
    select ${measureExpressions}, ${names(STORED_DIMENSION_COLUMNS)}
      from unnest(${values(STORED_MEASURE_COLUMNS, 1)}, $${dimensionIndexParameter}::text::integer[]) as r(${names(STORED_MEASURE_COLUMNS)}, kind)
      join unnest(${values(STORED_DIMENSION_COLUMNS, firstDimensionParameter)}) with ordinality as kinds(${names(STORED_DIMENSION_COLUMNS)}, kind) using (kind)
     order by 1, 2`;
}

/**
 * Whether some records of a batch may be booked already. That is rare, so a batch is first inserted as `all_new`, which
 * saves an index lookup per record. If that fails with a duplicate key, the batch is inserted again as `some_new`.
 */
export type InsertMode = 'all_new' | 'some_new';

/** Inserts the records and returns the new ones, each once. `all_new` fails if a record exists; `some_new` skips it. */
export async function insertUsageRecords(
  tx: Tx,
  entries: readonly UsageEntry[],
  insertMode: InsertMode,
): Promise<readonly UsageEntry[]> {
  const { dimensionIndexes, distinctDimensions } = uniqueDimensions(entries);
  const parameters = [
    ...STORED_MEASURE_COLUMNS.map(({ value }) => arrayLiteral(entries, value)),
    ...STORED_DIMENSION_COLUMNS.map(({ value }) => arrayLiteral(distinctDimensions, value)),
    `{${dimensionIndexes.join()}}`,
  ];
  if (insertMode === 'all_new') {
    await tx.unsafe(INSERT_RECORDS, parameters, { prepare: true });
    return entries;
  }
  const rows = await tx.unsafe<{ id: string }[]>(INSERT_NEW_RECORDS, parameters, { prepare: true });
  const newIds = new Set(rows.map(({ id }) => id));
  return entries.filter(({ id }) => newIds.delete(id));
}

/** Returns the distinct dimensions of the entries, and for each entry the index (from 1) of its dimensions. */
function uniqueDimensions(entries: readonly UsageEntry[]): {
  readonly dimensionIndexes: readonly number[];
  readonly distinctDimensions: readonly UsageDimensions[];
} {
  const numbers = new Map<UsageDimensions, number>();
  const dimensionIndexes = entries.map(({ dimensions }) => {
    let number = numbers.get(dimensions);
    if (number === undefined) {
      number = numbers.size + 1;
      numbers.set(dimensions, number);
    }
    return number;
  });
  return { dimensionIndexes, distinctDimensions: [...numbers.keys()] };
}

/** Accounts are large rows: a batch writes one only once a minute. */
const LAST_USED_STEPS = { api_keys: '0', provider_accounts: '1 minute' } as const;

/**
 * Stores when keys or accounts were last used (Unix ms by id). Best effort: skips a row that another transaction is
 * writing; the next batch updates it.
 */
export async function updateLastUsed(
  tx: Tx,
  table: keyof typeof LAST_USED_STEPS,
  lastUsed: ReadonlyMap<string, number>,
): Promise<void> {
  const used = [...lastUsed].sort(([a], [b]) => (a < b ? -1 : 1));
  if (used.length === 0) return;
  await tx`
    with used as (
      select * from unnest(
        ${arrayLiteral(used, ([id]) => id)}::text::uuid[],
        ${arrayLiteral(used, ([, ms]) => new Date(ms).toISOString())}::text::timestamptz[]) as u(id, at)),
    free as (
      select t.id, at from ${tx(table)} t join used using (id)
       where t.last_used_at is null or t.last_used_at < at - ${LAST_USED_STEPS[table]}::text::interval
       order by t.id for no key update of t skip locked)
    update ${tx(table)} t set last_used_at = free.at from free where t.id = free.id`;
}

/** Adds to the hourly rollups. Returns the rows whose sketch exceeds `sketchBytesMax`, still locked. */
export async function addHourlyRollups(
  tx: Tx,
  sums: readonly HourlyRollup[],
  sketchBytesMax: number,
): Promise<readonly OversizedSketch[]> {
  if (sums.length === 0) return [];
  const column = (value: (sum: HourlyRollup) => string | number | null) => arrayLiteral(sums, value);
  return tx<OversizedSketch[]>`
    with booked as (
      insert into usage_hourly as h (agent_id, provider_slug, model, key_id, hour, org_id, project_id, requests, errors,
        tokens_in, tokens_out, cost_nanos, duration_ms_sum, last_at, latency_sketch)
      select agent_id, provider_slug, model, key_id, hour, org_id,
             case when project_id <> ${NIL_UUID} then project_id
                  else coalesce((select a.project_id from agents a where a.id = agent_id), project_id) end,
             requests, errors, tokens_in, tokens_out, cost_nanos, duration_ms_sum, last_at, sketch
        from unnest(
          ${column((s) => s.agentId)}::text::uuid[],
          ${column((s) => s.providerSlug)}::text::text[],
          ${column((s) => s.model)}::text::text[],
          ${column((s) => s.keyId)}::text::uuid[],
          ${column((s) => new Date(s.hourMs).toISOString())}::text::timestamptz[],
          ${column((s) => s.orgId)}::text::uuid[],
          ${column((s) => s.projectId || NIL_UUID)}::text::uuid[],
          ${column((s) => s.requests)}::text::bigint[],
          ${column((s) => s.errors)}::text::bigint[],
          ${column((s) => s.tokensIn)}::text::bigint[],
          ${column((s) => s.tokensOut)}::text::bigint[],
          ${column((s) => s.costNanos)}::text::bigint[],
          ${column((s) => s.durationMsSum)}::text::bigint[],
          ${column((s) => (s.lastMs === 0 ? null : new Date(s.lastMs).toISOString()))}::text::timestamptz[],
          ${column((s) => `\\x${s.sketch.encode().toString('hex')}`)}::text::bytea[]
        ) as r(agent_id, provider_slug, model, key_id, hour, org_id, project_id, requests, errors, tokens_in, tokens_out,
          cost_nanos, duration_ms_sum, last_at, sketch)
       order by agent_id, hour, provider_slug, model, key_id
      on conflict (agent_id, hour, provider_slug, model, key_id) do update set
        requests = h.requests + excluded.requests, errors = h.errors + excluded.errors,
        tokens_in = h.tokens_in + excluded.tokens_in, tokens_out = h.tokens_out + excluded.tokens_out,
        cost_nanos = least(h.cost_nanos, ${NANOS_SUM_MAX}) + excluded.cost_nanos,
        duration_ms_sum = h.duration_ms_sum + excluded.duration_ms_sum,
        last_at = greatest(h.last_at, excluded.last_at),
        latency_sketch = h.latency_sketch || excluded.latency_sketch
      returning agent_id, provider_slug, model, key_id, hour, latency_sketch)
    select agent_id as "agentId", provider_slug as "providerSlug", model, key_id as "keyId", hour,
           latency_sketch as sketch
      from booked where octet_length(latency_sketch) > ${sketchBytesMax}
     order by agent_id, hour, provider_slug, model, key_id`;
}

export interface OversizedSketch {
  readonly agentId: string;
  readonly providerSlug: string;
  readonly model: string;
  readonly keyId: string;
  readonly hour: Date;
  readonly sketch: Buffer;
}

/** Stores compacted sketches. The transaction must hold the locks of their rows. */
export async function storeCompactedSketches(tx: Tx, sketches: readonly OversizedSketch[]): Promise<void> {
  if (sketches.length === 0) return;
  const column = (value: (sketch: OversizedSketch) => string) => arrayLiteral(sketches, value);
  await tx`
    update usage_hourly h set latency_sketch = r.sketch
      from unnest(
        ${column((s) => s.agentId)}::text::uuid[],
        ${column((s) => s.providerSlug)}::text::text[],
        ${column((s) => s.model)}::text::text[],
        ${column((s) => s.keyId)}::text::uuid[],
        ${column((s) => s.hour.toISOString())}::text::timestamptz[],
        ${column((s) => `\\x${s.sketch.toString('hex')}`)}::text::bytea[]
      ) as r(agent_id, provider_slug, model, key_id, hour, sketch)
     where h.agent_id = r.agent_id and h.provider_slug = r.provider_slug and h.model = r.model
       and h.key_id = r.key_id and h.hour = r.hour`;
}

/** Records which past days and closed hours got bookings, so that the rollup jobs rebuild them. */
export async function insertLateDaysAndHours(tx: Tx, sums: readonly HourlyRollup[], nowMs: number): Promise<void> {
  const todayMs = startOfUtcDay(nowMs);
  const late = new Map<string, { readonly orgId: string; readonly dayMs: number }>();
  for (const { orgId, hourMs } of sums) {
    const dayMs = startOfUtcDay(hourMs);
    if (dayMs < todayMs) late.set(`${orgId} ${dayMs}`, { orgId, dayMs });
  }
  await Promise.all([insertLateHours(tx, sums, nowMs), insertLateDays(tx, [...late.values()])]);
}

async function insertLateDays(
  tx: Tx,
  days: readonly { readonly orgId: string; readonly dayMs: number }[],
): Promise<void> {
  if (days.length === 0) return;
  await tx`
    insert into usage_late (org_id, day)
    select * from unnest(
      ${arrayLiteral(days, ({ orgId }) => orgId)}::text::uuid[],
      ${arrayLiteral(days, ({ dayMs }) => new Date(dayMs).toISOString())}::text::timestamptz[])`;
}

async function insertLateHours(tx: Tx, sums: readonly HourlyRollup[], nowMs: number): Promise<void> {
  const late = new Map<string, HourlyRollup>();
  for (const sum of sums) if (isHourClosed(sum.hourMs, nowMs)) late.set(`${sum.orgId} ${sum.hourMs}`, sum);
  if (late.size === 0) return;
  const hours = [...late.values()];
  await tx`
    insert into usage_late_hours (org_id, hour)
    select * from unnest(
      ${arrayLiteral(hours, ({ orgId }) => orgId)}::text::uuid[],
      ${arrayLiteral(hours, ({ hourMs }) => new Date(hourMs).toISOString())}::text::timestamptz[])`;
}
