/** SQL for the lines of a reconciliation: reads the ledger, replaces the lines of a range, and sums them up. */
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import type { Sql, Tx } from '../db/postgres-client.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { LATEST_TIMESTAMP_MS } from '../http/timestamp-params.js';
import type { HeldKey } from './match-held-keys.js';
import { type BookedLine, LINE_STATES, type LineState, type ReconciledLine } from './reconcile.js';
import type { DayRange } from './report/provider-report.js';

/** A provider account and its encrypted credentials, own or shared. */
export interface HolderRow {
  readonly id: string;
  readonly credentialId: string | null;
  readonly keyId: string;
  /** Base64. */
  readonly nonce: string;
  readonly ciphertext: string;
  /** Since when the account holds this credential; null: since its creation. */
  readonly rotatedAt: Date | null;
}

export const listHolders = (sql: Sql, orgId: string, providerSlug: string) =>
  sql<HolderRow[]>`
    select p.id, p.credential_id as "credentialId", coalesce(c.key_id, p.key_id) as "keyId",
           encode(coalesce(c.nonce, p.nonce), 'base64') as nonce,
           encode(coalesce(c.ciphertext, p.ciphertext), 'base64') as ciphertext,
           coalesce(c.rotated_at, p.rotated_at) as "rotatedAt"
      from provider_accounts p left join credentials c on c.id = p.credential_id
     where p.org_id = ${orgId} and p.provider_slug = ${providerSlug}`;

/** Records which keys the accounts hold now. Keys that they held before keep their time. */
export async function recordHeldKeys(sql: Sql, billingAccountId: string, keys: readonly HeldKey[]): Promise<void> {
  const held = JSON.stringify(keys);
  await sql.begin(async (tx) => {
    await tx`
      update billing_keys k set valid_to = coalesce(h."rotatedAt", now())
        from jsonb_to_recordset(${held}::text::jsonb) as h("accountId" uuid, "keyLabel" text, "rotatedAt" timestamptz)
       where k.billing_account_id = ${billingAccountId} and k.account_id = h."accountId" and k.valid_to is null
         and k.key_label is distinct from h."keyLabel"`;
    await tx`
      insert into billing_keys (billing_account_id, account_id, key_label, valid_from)
      select ${billingAccountId}, h."accountId", h."keyLabel", coalesce(h."rotatedAt", '-infinity')
        from jsonb_to_recordset(${held}::text::jsonb) as h("accountId" uuid, "keyLabel" text, "rotatedAt" timestamptz)
       where h."keyLabel" is not null and not exists (
         select from billing_keys k where k.billing_account_id = ${billingAccountId}
            and k.account_id = h."accountId" and k.valid_to is null)
      on conflict (billing_account_id, account_id, valid_from)
         do update set key_label = excluded.key_label, valid_to = null`;
  });
}

export async function listHeldLabels(sql: Sql, billingAccountId: string): Promise<readonly string[]> {
  const rows = await sql<{ label: string }[]>`
    select distinct key_label as label from billing_keys where billing_account_id = ${billingAccountId}`;
  return rows.map(({ label }) => label);
}

interface LedgerQuery extends DayRange {
  readonly orgId: string;
  readonly billingAccountId: string;
  readonly providerSlug: string;
  /** An hour or a day, as the provider reports. */
  readonly bucketMs: number;
}

interface LedgerRow extends Omit<BookedLine, 'tokens' | 'startMs'> {
  readonly start: Date;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

/**
 * Sums the ledger up per bucket, key and model. A call counts to the key that its account held when it began. Sums are
 * exact up to 2^53. Larger ones, of usage that a tenant's own provider invented, may exceed a bigint.
 */
export async function sumLedger(sql: Sql, query: LedgerQuery): Promise<readonly BookedLine[]> {
  const { orgId, billingAccountId, providerSlug, bucketMs, fromMs, toMs } = query;
  const unit = bucketMs === HOUR_MS ? 'hour' : 'day';
  const isPaid = sql`(r.cost_nanos > 0 or r.tokens_in_uncached + r.tokens_cache_read + r.tokens_cache_write + r.tokens_out > 0)`;
  const rows = await sql<LedgerRow[]>`
    select date_trunc(${unit}, r.started_at, 'UTC') as start, coalesce(k.key_label, '') as "keyLabel",
           k.key_label is not null as "isHeld", r.model,
           count(*) filter (where ${isPaid}) as requests,
           count(*) filter (where not ${isPaid} and r.method = 'POST'
             and (r.upstream_status < 300 or r.upstream_status >= 500)) as failed,
           sum(r.tokens_in_uncached)::float8 as input, sum(r.tokens_cache_read)::float8 as "cacheRead",
           sum(r.tokens_cache_write)::float8 as "cacheWrite", sum(r.tokens_out)::float8 as output,
           sum(r.cost_nanos)::float8 as nanos
      from usage_records r
      left join billing_keys k on k.billing_account_id = ${billingAccountId} and k.account_id = r.account_id
           and r.started_at >= k.valid_from and (k.valid_to is null or r.started_at < k.valid_to)
     where r.org_id = ${orgId} and r.started_at >= ${new Date(fromMs)} and r.started_at < ${new Date(toMs)}
       and r.provider_slug = ${providerSlug}
     group by 1, 2, 3, 4`;
  return rows
    .filter(({ requests, failed }) => requests + failed > 0)
    .map(({ start, input, cacheRead, cacheWrite, output, ...row }) => ({
      ...row,
      startMs: start.getTime(),
      tokens: { input, cacheRead, cacheWrite, cacheWrite1h: 0, output },
    }));
}

const LINES_PER_INSERT = 5_000;

/** Replaces the lines of the range. */
export async function replaceLines(
  tx: Tx,
  billingAccountId: string,
  { fromMs, toMs }: DayRange,
  lines: readonly ReconciledLine[],
): Promise<void> {
  await tx`
    delete from billing_lines where billing_account_id = ${billingAccountId}
       and hour >= ${new Date(fromMs)} and hour < ${new Date(toMs)}`;
  for (let at = 0; at < lines.length; at += LINES_PER_INSERT) {
    const part = JSON.stringify(lines.slice(at, at + LINES_PER_INSERT));
    await tx`
      insert into billing_lines (billing_account_id, hour, key_label, model, is_held, our_requests, our_tokens,
        our_nanos, their_requests, their_tokens, their_nanos, failure_nanos, unattributed_nanos, ambiguous_nanos,
        unbilled_nanos, price_nanos, state)
      select ${billingAccountId}, to_timestamp(l."startMs"::float8 / 1000), l."keyLabel", l.model, l."isHeld",
             l."ourRequests", l."ourTokens", l."ourNanos", l."theirRequests", l."theirTokens", l."theirNanos",
             l."failureNanos", l."unattributedNanos", l."ambiguousNanos", l."unbilledNanos", l."priceNanos", l.state
        from jsonb_to_recordset(${part}::text::jsonb) as l("startMs" bigint, "keyLabel" text, model text,
             "isHeld" boolean, "ourRequests" bigint, "ourTokens" bigint, "ourNanos" bigint, "theirRequests" bigint,
             "theirTokens" bigint, "theirNanos" bigint, "failureNanos" bigint, "unattributedNanos" bigint,
             "ambiguousNanos" bigint, "unbilledNanos" bigint, "priceNanos" bigint, state text)`;
  }
}

/** Price of a class on one day, USD per million tokens. */
export interface DriftRow {
  readonly accountId: string;
  readonly day: string;
  readonly model: string;
  readonly field: string;
  readonly ours: number;
  readonly theirs: number;
}

export async function replaceDrifts(
  tx: Tx,
  billingAccountId: string,
  { fromMs, toMs }: DayRange,
  drifts: readonly Omit<DriftRow, 'accountId'>[],
): Promise<void> {
  await tx`
    delete from billing_price_drifts where billing_account_id = ${billingAccountId}
       and day >= ${new Date(fromMs)} and day < ${new Date(toMs)}`;
  await tx`
    insert into billing_price_drifts (billing_account_id, day, model, field, our_usd_per_mtok, their_usd_per_mtok)
    select ${billingAccountId}, d.day, d.model, d.field, d.ours, d.theirs
      from jsonb_to_recordset(${JSON.stringify(drifts)}::text::jsonb)
        as d(day date, model text, field text, ours float8, theirs float8)`;
}

export const listDrifts = (sql: Sql | Tx, orgId: string, month: string) =>
  sql<DriftRow[]>`
    select d.billing_account_id as "accountId", d.day::text, d.model, d.field, d.our_usd_per_mtok as ours,
           d.their_usd_per_mtok as theirs
      from billing_price_drifts d join billing_accounts a on a.id = d.billing_account_id
     where a.org_id = ${orgId} and to_char(d.day, 'YYYY-MM') = ${month}
     order by d.billing_account_id, d.model, d.day, d.field`;

/** Unattributed cost of a held key on one day. */
export interface UnattributedRow {
  readonly keyLabel: string;
  readonly day: string;
  readonly nanos: number;
}

export const listUnattributed = (tx: Tx, billingAccountId: string, { fromMs, toMs }: DayRange, nanosMin: number) =>
  tx<UnattributedRow[]>`
    select key_label as "keyLabel", to_char(hour at time zone 'UTC', 'YYYY-MM-DD') as day,
           sum(unattributed_nanos)::bigint as nanos
      from billing_lines
     where billing_account_id = ${billingAccountId} and is_held and hour >= ${new Date(fromMs)}
       and hour < ${new Date(toMs)}
     group by 1, 2 having sum(unattributed_nanos) >= ${nanosMin} order by 2, 1`;

/** Returns true for the first call with this subject. */
export async function markAlert(tx: Tx, billingAccountId: string, event: string, subject: string): Promise<boolean> {
  const rows = await tx`
    insert into billing_alerts (billing_account_id, event, subject) values (${billingAccountId}, ${event}, ${subject})
    on conflict do nothing returning 1`;
  return rows.length > 0;
}

export type LineSums = Omit<ReconciledLine, 'startMs' | 'keyLabel' | 'model'>;

const mostUrgent = (sql: Sql) =>
  sql`(${[...LINE_STATES]}::text[])[max(array_position(${[...LINE_STATES]}::text[], l.state))]`;
const sums = (sql: Sql) => sql`
  bool_or(l.is_held) as "isHeld", ${mostUrgent(sql)} as state, sum(l.our_requests)::bigint as "ourRequests",
  sum(l.their_requests)::bigint as "theirRequests", sum(l.our_tokens)::bigint as "ourTokens",
  sum(l.their_tokens)::bigint as "theirTokens", sum(l.our_nanos)::bigint as "ourNanos",
  sum(l.their_nanos)::bigint as "theirNanos", sum(l.failure_nanos)::bigint as "failureNanos",
  sum(l.unattributed_nanos)::bigint as "unattributedNanos",
  sum(l.ambiguous_nanos)::bigint as "ambiguousNanos", sum(l.unbilled_nanos)::bigint as "unbilledNanos",
  sum(l.price_nanos)::bigint as "priceNanos"`;

/** UTC midnights of the first day of the month and of the next month. */
export function monthRange(month: string): DayRange {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return { fromMs: Date.UTC(year, number - 1, 1), toMs: Math.min(Date.UTC(year, number, 1), LATEST_TIMESTAMP_MS) };
}

/** `day`: `YYYY-MM-DD`. */
export function dayRange(day: string): DayRange {
  const fromMs = Date.parse(day);
  return { fromMs, toMs: Math.min(fromMs + DAY_MS, LATEST_TIMESTAMP_MS) };
}

interface MonthSums extends LineSums {
  readonly accountId: string;
  /** Held keys, calls of accounts whose key is unknown, and fees; false: keys that no account here holds. */
  readonly isInScope: boolean;
  readonly pendingNanos: number;
}

/** Sums of held and of other keys, per billing account of the organization. */
export function sumMonth(sql: Sql, orgId: string, month: string) {
  const { fromMs, toMs } = monthRange(month);
  return sql<MonthSums[]>`
    select l.billing_account_id as "accountId", (l.is_held or l.key_label = '') as "isInScope", ${sums(sql)},
           coalesce(sum(l.unbilled_nanos) filter (where l.state = 'pending'), 0)::bigint as "pendingNanos"
      from billing_lines l join billing_accounts a on a.id = l.billing_account_id
     where a.org_id = ${orgId} and l.hour >= ${new Date(fromMs)} and l.hour < ${new Date(toMs)}
     group by l.billing_account_id, 2`;
}

export interface LineFilter extends DayRange {
  readonly by: 'day' | 'hour' | 'key' | 'model' | 'line';
  readonly key: string | null;
  readonly model: string | null;
  readonly state: LineState | null;
}

interface LineRow extends LineSums {
  readonly start: Date | null;
  readonly key: string | null;
  readonly model: string | null;
}

/** Groups of lines; those with the largest difference first, or in the order of time. */
export async function listLines(
  sql: Sql,
  billingAccountId: string,
  { fromMs, toMs, by, key, model, state }: LineFilter,
  page: Page,
): Promise<ListResult<LineRow>> {
  const timed = by === 'hour' || by === 'line';
  const start = timed ? sql`l.hour` : by === 'day' ? sql`date_trunc('day', l.hour, 'UTC')` : sql`null::timestamptz`;
  const keyOf = by === 'key' || by === 'line' ? sql`l.key_label` : sql`null::text`;
  const modelOf = by === 'model' || by === 'line' ? sql`l.model` : sql`null::text`;
  const groups = sql`
    select ${start} as start, ${keyOf} as key, ${modelOf} as model, ${sums(sql)} from billing_lines l
     where l.billing_account_id = ${billingAccountId} and l.hour >= ${new Date(fromMs)} and l.hour < ${new Date(toMs)}
       and (${key}::text is null or l.key_label = ${key}) and (${model}::text is null or l.model = ${model})
       and (${state}::text is null or l.state = ${state})
     group by 1, 2, 3`;
  const rows = await sql<LineRow[]>`
    select * from (${groups}) g
     order by start, abs(g."theirNanos" - g."ourNanos") desc, key, model limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from (${groups}) g`;
  return { rows, total: count!.total };
}
