/**
 * Usage by tag and day (docs/contract.md#tags), booked in the transaction of its records. Tags are the caller's claim, so
 * keys and values are bounded per organization and day: further values are summed as `other`, further keys are only in the
 * records. A value with a budget always has its own sums.
 */
import { arrayLiteral } from '../db/array-literal.js';
import type { Tx } from '../db/postgres-client.js';
import type { DeferredUsageEntry } from './deferred-usage-deduplication.js';
import { billingDayOf } from './usage-aggregation.js';
import { NANOS_SUM_MAX } from './usage-field-validation.js';
import { isFailedCall, type UsageDimensions, type UsageEntry } from './usage-record-with-shared-dimensions.js';

export const TAG_VALUES_MAX = 1_000;
export const TAG_KEYS_MAX = 20;
const OTHER = 'other';

interface TagSums {
  requests: number;
  errors: number;
  tokensIn: number;
  tokensOut: number;
  costNanos: number;
  durationMs: number;
}

interface TagCell extends TagSums {
  readonly orgId: string;
  readonly key: string;
  readonly day: string;
  readonly value: string;
  readonly agentId: string;
  /** `''`: not known. */
  readonly projectId: string;
}

/** Sums of new usage by tag and day. Empty where nothing has a tag. */
export function sumByTag(
  entries: readonly UsageEntry[],
  deferredUsage: readonly DeferredUsageEntry[],
): readonly TagCell[] {
  const cells = new Map<string, TagCell>();
  const cellsByDimensions = new Map<UsageDimensions, { readonly day: string; readonly cells: readonly TagCell[] }>();
  for (const entry of entries) {
    const { dimensions } = entry;
    if (dimensions.tags === '') continue;
    const day = billingDayOf(entry.startedAtMs, dimensions);
    let known = cellsByDimensions.get(dimensions);
    if (known?.day !== day) {
      known = { day, cells: findOrCreateCells(cells, dimensions, day) };
      cellsByDimensions.set(dimensions, known);
    }
    for (const cell of known.cells) {
      cell.requests++;
      if (isFailedCall(dimensions)) cell.errors++;
      cell.tokensIn += entry.tokensInUncached + entry.tokensCacheRead + entry.tokensCacheWrite;
      cell.tokensOut += entry.tokensOut;
      cell.costNanos += entry.costNanos;
      cell.durationMs += entry.durationMs;
    }
  }
  for (const line of deferredUsage) {
    if (line.fetch.tags === '') continue;
    for (const cell of findOrCreateCells(cells, line.fetch, billingDayOf(line.fetch.startedAtMs, line.fetch))) {
      cell.tokensIn += line.tokensInUncached + line.tokensCacheRead + line.tokensCacheWrite;
      cell.tokensOut += line.tokensOut;
      cell.costNanos += line.costNanos;
    }
  }
  return [...cells.values()];
}

type TaggedCaller = Pick<UsageDimensions, 'orgId' | 'agentId' | 'projectId' | 'tags'>;

function findOrCreateCells(cells: Map<string, TagCell>, caller: TaggedCaller, day: string): readonly TagCell[] {
  return caller.tags.split(',').map((tag) => {
    const cut = tag.indexOf('=');
    return findOrCreateCell(cells, { ...caller, key: tag.slice(0, cut), value: tag.slice(cut + 1), day });
  });
}

function findOrCreateCell(
  cells: Map<string, TagCell>,
  { orgId, agentId, projectId, key, value, day }: Omit<TagCell, keyof TagSums>,
): TagCell {
  const id = cellKey({ orgId, key, day, value, agentId });
  let cell = cells.get(id);
  if (cell === undefined) {
    const zero = { requests: 0, errors: 0, tokensIn: 0, tokensOut: 0, costNanos: 0, durationMs: 0 };
    cell = { orgId, agentId, projectId, key, value, day, ...zero };
    cells.set(id, cell);
  }
  return cell;
}

const cellKey = ({ orgId, key, day, value, agentId }: Omit<TagCell, keyof TagSums | 'projectId'>): string =>
  JSON.stringify([orgId, key, day, value, agentId]);

/**
 * Replaces values that may not have rows of their own by `other` and leaves out keys beyond the bound. Takes a lock per
 * organization while it adds values: call it before the rows of other tables are locked. Returns the cells in key order.
 */
export async function boundTagValues(tx: Tx, cells: readonly TagCell[]): Promise<readonly TagCell[]> {
  if (cells.length === 0) return [];
  const wanted = [...new Map(cells.map((cell) => [valueKey(cell), cell])).values()];
  const known = await selectKnownValues(tx, wanted);
  const missing = wanted.filter((cell) => !known.has(valueKey(cell)));
  if (missing.length > 0) for (const key of await addValues(tx, missing)) known.add(key);
  const unknown = cells.filter((cell) => !known.has(valueKey(cell)));
  const keys = unknown.length === 0 ? null : await selectKnownKeys(tx, unknown);
  const bounded = new Map<string, TagCell>();
  for (const cell of cells) {
    const isKnown = known.has(valueKey(cell));
    if (isKnown || keys?.has(keyOfDay(cell)))
      addSums(findOrCreateCell(bounded, isKnown ? cell : { ...cell, value: OTHER }), cell);
  }
  return [...bounded].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cell]) => cell);
}

const valueKey = ({ orgId, day, key, value }: Pick<TagCell, 'orgId' | 'day' | 'key' | 'value'>): string =>
  JSON.stringify([orgId, day, key, value]);

function addSums(to: TagCell, from: TagCell): void {
  for (const name of ['requests', 'errors', 'tokensIn', 'tokensOut', 'costNanos', 'durationMs'] as const)
    to[name] += from[name];
}

type TagValue = Pick<TagCell, 'orgId' | 'day' | 'key' | 'value'>;

const valueRows = (tx: Tx, values: readonly TagValue[]) => tx`
  unnest(${arrayLiteral(values, (v) => v.orgId)}::text::uuid[], ${arrayLiteral(values, (v) => v.day)}::text::date[],
         ${arrayLiteral(values, (v) => v.key)}::text::text[], ${arrayLiteral(values, (v) => v.value)}::text::text[])
    as v(org_id, day, key, value)`;
const valueColumns = (tx: Tx) => tx`org_id as "orgId", day::text as day, key, value`;

async function selectKnownValues(tx: Tx, values: readonly TagValue[]): Promise<Set<string>> {
  const rows = await tx<TagValue[]>`
    select ${valueColumns(tx)} from usage_tag_values join ${valueRows(tx, values)} using (org_id, day, key, value)`;
  return new Set(rows.map(valueKey));
}

const keyOfDay = ({ orgId, day, key }: Omit<TagValue, 'value'>): string => JSON.stringify([orgId, day, key]);

async function selectKnownKeys(tx: Tx, values: readonly TagValue[]): Promise<ReadonlySet<string>> {
  const distinct = [...new Map(values.map((value) => [keyOfDay(value), value])).values()];
  const rows = await tx<Omit<TagValue, 'value'>[]>`
    select v.org_id as "orgId", v.day::text as day, v.key from ${valueRows(tx, distinct)}
     where exists (select from usage_tag_values u where u.org_id = v.org_id and u.day = v.day and u.key = v.key)`;
  return new Set(rows.map(keyOfDay));
}

/** Adds values as far as there is room. Returns the added ones as {@link valueKey}. */
async function addValues(tx: Tx, missing: readonly TagValue[]): Promise<readonly string[]> {
  const added: string[] = [];
  for (const orgId of [...new Set(missing.map((value) => value.orgId))].sort()) {
    const values = missing.filter((value) => value.orgId === orgId);
    if (!(await hasRoom(tx, values))) continue;
    await tx`select pg_advisory_xact_lock(hashtext('usage_tag_values'), hashtext(${orgId}))`;
    const rows = await tx<TagValue[]>`
      with ${countedValues(tx, values)}, sent as (
        select v.*, value_count, key_count,
               v.key || '=' || v.value in (
                 select tag from budgets where org_id = ${orgId} and tag is not null) as budgeted,
               row_number() over (partition by v.day, v.key order by v.value) as position,
               dense_rank() over (partition by v.day, value_count > 0 order by v.key) as key_position
          from v join of_key using (org_id, day, key) join of_day using (org_id, day))
      insert into usage_tag_values (org_id, day, key, value)
      select org_id, day, key, value from sent
       where budgeted or (value_count + position <= ${TAG_VALUES_MAX} and (value_count > 0 or key_count + key_position <= ${TAG_KEYS_MAX}))
       order by day, key, value
      on conflict do nothing returning ${valueColumns(tx)}`;
    added.push(...rows.map(valueKey));
  }
  return added;
}

/** Without the lock: values are only ever added, so what is full stays full. */
async function hasRoom(tx: Tx, values: readonly TagValue[]): Promise<boolean> {
  const [row] = await tx<{ room: boolean }[]>`
    with ${countedValues(tx, values)}
    select exists (
      select from of_key join of_day using (org_id, day)
       where value_count between 1 and ${TAG_VALUES_MAX - 1} or value_count = 0 and key_count < ${TAG_KEYS_MAX})
        or exists (select from v join budgets b on b.org_id = v.org_id and b.tag = v.key || '=' || v.value) as room`;
  return row!.room;
}

/**
 * CTEs: `v`, the values; `of_key` and `of_day`, how many values a key and day has, and how many keys a day. Each key and
 * each day is counted once: a count per value would read all values of the day for each.
 */
const countedValues = (tx: Tx, values: readonly TagValue[]) => tx`
  v as materialized (select * from ${valueRows(tx, values)}
  ), of_key as materialized (
    select k.*, (select count(*) from usage_tag_values u
                  where u.org_id = k.org_id and u.day = k.day and u.key = k.key) as value_count
      from (select distinct org_id, day, key from v) k
  ), of_day as materialized (
    select d.*, (select count(distinct key) from usage_tag_values u where u.org_id = d.org_id and u.day = d.day) as key_count
      from (select distinct org_id, day from v) d
  )`;

/** Adds the cells, which are in key order. */
export async function addTagRollups(tx: Tx, cells: readonly TagCell[]): Promise<void> {
  if (cells.length === 0) return;
  const column = (name: keyof TagCell) => arrayLiteral(cells, (cell) => cell[name]);
  await tx`
    insert into usage_tags as t (org_id, key, day, value, agent_id, project_id, requests, errors, tokens_in, tokens_out,
      cost_nanos, duration_ms_sum)
    select * from unnest(
      ${column('orgId')}::text::uuid[], ${column('key')}::text::text[], ${column('day')}::text::date[],
      ${column('value')}::text::text[], ${column('agentId')}::text::uuid[],
      ${arrayLiteral(cells, ({ projectId }) => projectId || null)}::text::uuid[],
      ${column('requests')}::text::bigint[], ${column('errors')}::text::bigint[], ${column('tokensIn')}::text::bigint[],
      ${column('tokensOut')}::text::bigint[], ${column('costNanos')}::text::bigint[], ${column('durationMs')}::text::bigint[])
    on conflict (org_id, key, day, value, agent_id) do update set
      requests = t.requests + excluded.requests, errors = t.errors + excluded.errors,
      tokens_in = t.tokens_in + excluded.tokens_in, tokens_out = t.tokens_out + excluded.tokens_out,
      cost_nanos = least(t.cost_nanos, ${NANOS_SUM_MAX}) + excluded.cost_nanos,
      duration_ms_sum = t.duration_ms_sum + excluded.duration_ms_sum`;
}
