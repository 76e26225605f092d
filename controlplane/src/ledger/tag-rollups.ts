/**
 * Usage by tag and day (docs/contract.md#tags), booked in the transaction of its records. Tags are the caller's claim, so
 * keys and values are bounded per organization and day: further values are summed as `other`, further keys are only in the
 * records. A value with a budget always has its own sums.
 */
import { MINUTE_MS } from '@acg/base/time-and-money-units';
import { arrayLiteral } from '../db/array-literal.js';
import type { Tx } from '../db/postgres-client.js';
import type { DeferredUsageEntry } from './deferred-usage-deduplication.js';
import { billingDayOf } from './usage-aggregation.js';
import { NANOS_SUM_MAX } from './usage-field-validation.js';
import { isFailedCall, type UsageDimensions, type UsageEntry } from './usage-record-with-shared-dimensions.js';

export const TAG_VALUES_MAX = 1_000;
export const TAG_KEYS_MAX = 20;
const OTHER = 'other';

/** Sums of calls. Cost in nano-dollars, duration in ms. */
export interface TagSums {
  requests: number;
  errors: number;
  tokensIn: number;
  tokensOut: number;
  costNanos: number;
  durationMs: number;
}

export const newTagSums = (): TagSums => ({
  requests: 0,
  errors: 0,
  tokensIn: 0,
  tokensOut: 0,
  costNanos: 0,
  durationMs: 0,
});

export function addTagSums(to: TagSums, from: TagSums): void {
  to.requests += from.requests;
  to.errors += from.errors;
  to.tokensIn += from.tokensIn;
  to.tokensOut += from.tokensOut;
  to.costNanos += from.costNanos;
  to.durationMs += from.durationMs;
}

interface TagValue {
  readonly orgId: string;
  readonly key: string;
  readonly day: string;
  readonly value: string;
}

interface AgentTagSums extends TagSums {
  readonly agentId: string;
  /** `''`: not known. */
  readonly projectId: string;
}

/** New usage with one tag on one day. */
export interface TaggedUsage extends TagValue {
  readonly byAgent: ReadonlyMap<string, AgentTagSums>;
}

class MutableTaggedUsage implements TaggedUsage {
  readonly byAgent = new Map<string, AgentTagSums>();

  constructor(
    readonly orgId: string,
    readonly key: string,
    readonly day: string,
    readonly value: string,
  ) {}

  sumsOf({ agentId, projectId }: Pick<AgentTagSums, 'agentId' | 'projectId'>): AgentTagSums {
    let sums = this.byAgent.get(agentId);
    if (sums === undefined) {
      sums = { agentId, projectId, ...newTagSums() };
      this.byAgent.set(agentId, sums);
    }
    return sums;
  }
}

/** Neither tags nor ids contain a line break (base/budget-rows.ts). */
const valueKey = ({ orgId, key, day, value }: TagValue): string => `${orgId}\n${key}\n${day}\n${value}`;

/** In the order in which transactions lock rows. */
const inKeyOrder = <T extends TagValue>(values: Iterable<T>): readonly T[] =>
  Array.from(values, (value) => ({ id: valueKey(value), value }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ value }) => value);

/** Usage of one organization and day, by `key=value`. */
type UsageByTag = Map<string, MutableTaggedUsage>;

/** Sums new usage by tag and day. Returns it in key order; empty where nothing has a tag. */
export function sumByTag(
  entries: readonly UsageEntry[],
  deferredUsage: readonly DeferredUsageEntry[],
): readonly TaggedUsage[] {
  const byOrgAndDay = new Map<string, UsageByTag>();
  const usageOf = (orgId: string, day: string): UsageByTag => {
    const id = orgId + day;
    const known = byOrgAndDay.get(id) ?? new Map();
    byOrgAndDay.set(id, known);
    return known;
  };
  // Each call may have tags of its own, while many share their dimensions: the day is computed once per minute of these.
  const recent = new Map<UsageDimensions, RecentDay>();
  for (const entry of entries) {
    const { dimensions, tags, startedAtMs } = entry;
    if (tags === '') continue;
    const minute = Math.floor(startedAtMs / MINUTE_MS);
    let known = recent.get(dimensions);
    if (known?.minute !== minute) {
      const day = billingDayOf(startedAtMs, dimensions);
      known = { minute, day, usage: usageOf(dimensions.orgId, day), isFailed: isFailedCall(dimensions) };
      recent.set(dimensions, known);
    }
    for (const tag of tags.split(',')) {
      const sums = findOrCreate(known.usage, dimensions.orgId, known.day, tag).sumsOf(dimensions);
      sums.requests++;
      if (known.isFailed) sums.errors++;
      sums.durationMs += entry.durationMs;
      addTokensAndCost(sums, entry);
    }
  }
  for (const line of deferredUsage) {
    const { fetch } = line;
    if (fetch.tags === '') continue;
    const day = billingDayOf(fetch.startedAtMs, fetch);
    const usage = usageOf(fetch.orgId, day);
    for (const tag of fetch.tags.split(','))
      addTokensAndCost(findOrCreate(usage, fetch.orgId, day, tag).sumsOf(fetch), line);
  }
  return inKeyOrder([...byOrgAndDay.values()].flatMap((usage) => [...usage.values()]));
}

interface RecentDay {
  readonly minute: number;
  readonly day: string;
  readonly usage: UsageByTag;
  readonly isFailed: boolean;
}

function findOrCreate(usage: UsageByTag, orgId: string, day: string, tag: string): MutableTaggedUsage {
  let tagged = usage.get(tag);
  if (tagged === undefined) {
    const cut = tag.indexOf('=');
    tagged = new MutableTaggedUsage(orgId, tag.slice(0, cut), day, tag.slice(cut + 1));
    usage.set(tag, tagged);
  }
  return tagged;
}

type TokensAndCost = Pick<
  DeferredUsageEntry,
  'tokensInUncached' | 'tokensCacheRead' | 'tokensCacheWrite' | 'tokensOut' | 'costNanos'
>;

function addTokensAndCost(sums: TagSums, usage: TokensAndCost): void {
  sums.tokensIn += usage.tokensInUncached + usage.tokensCacheRead + usage.tokensCacheWrite;
  sums.tokensOut += usage.tokensOut;
  sums.costNanos += usage.costNanos;
}

/**
 * Replaces values that may not have rows of their own by `other` and leaves out keys beyond the bound. Takes a lock per
 * organization while it adds values: call it before the rows of other tables are locked. Takes and returns key order.
 */
export async function boundTagValues(tx: Tx, usage: readonly TaggedUsage[]): Promise<readonly TaggedUsage[]> {
  if (usage.length === 0) return [];
  const known = await selectKnownValues(tx, usage);
  if (known.size === usage.length) return usage;
  for (const id of await addValues(
    tx,
    usage.filter((value) => !known.has(valueKey(value))),
  ))
    known.add(id);
  const unknown = usage.filter((value) => !known.has(valueKey(value)));
  if (unknown.length === 0) return usage;
  const keys = await selectKnownKeys(tx, unknown);
  const others = new Map<string, MutableTaggedUsage>();
  for (const { orgId, key, day, value, byAgent } of usage) {
    const isKnown = known.has(valueKey({ orgId, key, day, value }));
    if (!isKnown && !keys.has(keyOfDay({ orgId, day, key }))) continue;
    const to = new MutableTaggedUsage(orgId, key, day, isKnown ? value : OTHER);
    const merged = others.get(valueKey(to)) ?? to; // a caller may use the value `other` itself
    others.set(valueKey(to), merged);
    for (const sums of byAgent.values()) addTagSums(merged.sumsOf(sums), sums);
  }
  return inKeyOrder(others.values());
}

const valueArrays = (tx: Tx, values: readonly TagValue[]) => tx`
  unnest(${arrayLiteral(values, (v) => v.orgId)}::text::uuid[], ${arrayLiteral(values, (v) => v.day)}::text::date[],
         ${arrayLiteral(values, (v) => v.key)}::text::text[], ${arrayLiteral(values, (v) => v.value)}::text::text[])`;
const valueRows = (tx: Tx, values: readonly TagValue[]) => tx`
  ${valueArrays(tx, values)} as v(org_id, day, key, value)`;
const valueColumns = (tx: Tx) => tx`org_id as "orgId", day::text as day, key, value`;

async function selectKnownValues(tx: Tx, values: readonly TagValue[]): Promise<Set<string>> {
  const rows = await tx<TagValue[]>`
    select ${valueColumns(tx)} from usage_tag_values join ${valueRows(tx, values)} using (org_id, day, key, value)`;
  return new Set(rows.map(valueKey));
}

const keyOfDay = ({ orgId, day, key }: Omit<TagValue, 'value'>): string => `${orgId}\n${day}\n${key}`;

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

/** Adds the usage, which is in key order. Values are sent once, and the sums of agents name them by their index. */
export async function addTagRollups(tx: Tx, usage: readonly TaggedUsage[]): Promise<void> {
  if (usage.length === 0) return;
  const rows = usage.flatMap(({ byAgent }, i) => Array.from(byAgent.values(), (sums) => ({ at: i + 1, sums })));
  const column = (name: keyof AgentTagSums) => arrayLiteral(rows, ({ sums }) => sums[name]);
  await tx`
    insert into usage_tags as t (org_id, key, day, value, agent_id, project_id, requests, errors, tokens_in, tokens_out,
      cost_nanos, duration_ms_sum)
    select org_id, key, day, value, agent_id, project_id, requests, errors, tokens_in, tokens_out, cost_nanos, duration_ms_sum
      from ${valueArrays(tx, usage)} with ordinality as v(org_id, day, key, value, at)
      join unnest(
        ${arrayLiteral(rows, ({ at }) => at)}::text::bigint[], ${column('agentId')}::text::uuid[],
        ${arrayLiteral(rows, ({ sums }) => sums.projectId || null)}::text::uuid[],
        ${column('requests')}::text::bigint[], ${column('errors')}::text::bigint[], ${column('tokensIn')}::text::bigint[],
        ${column('tokensOut')}::text::bigint[], ${column('costNanos')}::text::bigint[], ${column('durationMs')}::text::bigint[])
        as s(at, agent_id, project_id, requests, errors, tokens_in, tokens_out, cost_nanos, duration_ms_sum) using (at)
     order by at, agent_id
    on conflict (org_id, key, day, value, agent_id) do update set
      requests = t.requests + excluded.requests, errors = t.errors + excluded.errors,
      tokens_in = t.tokens_in + excluded.tokens_in, tokens_out = t.tokens_out + excluded.tokens_out,
      cost_nanos = least(t.cost_nanos, ${NANOS_SUM_MAX}) + excluded.cost_nanos,
      duration_ms_sum = t.duration_ms_sum + excluded.duration_ms_sum`;
}
