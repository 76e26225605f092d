/**
 * Deferred usage: usage that an agent fetches after the call that caused it, and can fetch repeatedly (entries of batch
 * results, background answers). Each entry is booked once by (organization, provider, source, entry), for any number of
 * fetches through any data plane: the claim and the booking are one transaction. Only this file adds its cost to
 * budgets. A closed result file keeps one row (close-batch-result-files.ts).
 *
 * A truncated answer is booked as far as it was seen, and the seen amounts are stored. When the complete answer
 * arrives, the remainder is booked. Several truncated reads count as their maximum.
 */
import { createHash } from 'node:crypto';
import { type ILine, type ILineUsage, LineUsage } from '@acg/proto/messages';
import { arrayLiteral } from '../db/array-literal.js';
import type { Tx } from '../db/postgres-client.js';
import {
  lockResultFilesAndFindClosed,
  type ResultFile,
  recordResultFileActivity,
  resultFileKey,
} from './close-batch-result-files.js';
import {
  COUNT_MAX,
  isUuid,
  NANOS_SUM_MAX,
  parseDayOrEmpty,
  parseTagsOrEmpty,
  slugOrEmpty,
  truncateAndReplaceNul,
} from './usage-field-validation.js';
import type { BookableRange, UsageEntry } from './usage-record-with-shared-dimensions.js';

/** The call that fetched deferred usage. */
interface DeferredUsageFetch {
  readonly recordId: string;
  readonly orgId: string;
  /** `''`: unknown. */
  readonly projectId: string;
  readonly agentId: string;
  readonly keyId: string;
  readonly providerSlug: string;
  readonly startedAtMs: number;
  /** `YYYY-MM` (UTC) of the admission; `''`: the month of `startedAtMs`. */
  readonly month: string;
  /** `YYYY-MM-DD` (UTC) of the admission; `''`: the day of `startedAtMs`. */
  readonly day: string;
  /** Tags of the call, `key=value,…`; `''`: none. */
  readonly tags: string;
  /** `''`: none. */
  readonly runId: string;
}

export interface DeferredUsageEntry {
  readonly fetch: DeferredUsageFetch;
  /** Digest of provider, source and entry id, hex. */
  readonly digest: string;
  /** Digest of provider and result file, hex. Null: a background answer, which belongs to no file. */
  readonly fileDigest: string | null;
  /** False: the answer was truncated; the complete one may follow. */
  readonly isComplete: boolean;
  readonly model: string;
  readonly tokensInUncached: number;
  readonly tokensCacheRead: number;
  readonly tokensCacheWrite: number;
  readonly tokensOut: number;
  readonly tokensReasoning: number;
  readonly costNanos: number;
}

const ENTRIES_PER_MESSAGE_MAX = 1_000;
const DIGEST_BYTES = 16;
const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

/** Decodes the entries of one message. Leaves out entries with invalid values. */
export function decodeDeferredUsage(bytes: Buffer, bookableRange: BookableRange): readonly DeferredUsageEntry[] {
  const usage = LineUsage.decode(bytes);
  const fetch = parseDeferredUsageFetch(usage, bookableRange);
  if (fetch === null) return [];
  const parseEntries = (lines: readonly ILine[], isComplete: boolean): DeferredUsageEntry[] =>
    lines
      .slice(0, ENTRIES_PER_MESSAGE_MAX)
      .flatMap((line) => parseDeferredEntry(fetch, usage.sourceId ?? '', line, isComplete) ?? []);
  return [...parseEntries(usage.lines ?? [], true), ...parseEntries(usage.seen ?? [], false)];
}

function parseDeferredUsageFetch(usage: ILineUsage, { fromMs, toMs }: BookableRange): DeferredUsageFetch | null {
  const { recordId = '', orgId = '', agentId = '', keyId = '' } = usage;
  const startedAtMs = usage.startedAtMs ?? 0;
  const providerSlug = slugOrEmpty(usage.providerSlug);
  const known = [recordId, orgId, agentId, keyId].every((id) => isUuid(id ?? ''));
  if (!known || providerSlug === '' || !(startedAtMs >= fromMs && startedAtMs < toMs)) return null;
  return {
    recordId: recordId!,
    orgId: orgId!,
    projectId: isUuid(usage.projectId ?? '') ? usage.projectId! : '',
    agentId: agentId!,
    keyId: keyId!,
    providerSlug,
    startedAtMs,
    month: MONTH.test(usage.month ?? '') ? usage.month! : '',
    day: parseDayOrEmpty(usage.day),
    tags: parseTagsOrEmpty(usage.tags),
    runId: isUuid(usage.runId ?? '') ? usage.runId! : '',
  };
}

function parseDeferredEntry(
  fetch: DeferredUsageFetch,
  sourceId: string,
  line: ILine,
  isComplete: boolean,
): DeferredUsageEntry | null {
  const amounts = {
    tokensInUncached: line.tokensInUncached ?? 0,
    tokensCacheRead: line.tokensCacheRead ?? 0,
    tokensCacheWrite: line.tokensCacheWrite ?? 0,
    tokensOut: line.tokensOut ?? 0,
    tokensReasoning: line.tokensReasoning ?? 0,
    costNanos: line.costNanos ?? 0,
  };
  if (!Object.values(amounts).every((value) => value >= 0 && value <= COUNT_MAX)) return null;
  const lineId = line.id ?? '';
  return {
    fetch,
    digest: shortDigest(fetch.providerSlug, sourceId, lineId),
    fileDigest: lineId === '' ? null : shortDigest(fetch.providerSlug, sourceId),
    isComplete,
    model: truncateAndReplaceNul(line.model, 200),
    ...amounts,
  };
}

const shortDigest = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, DIGEST_BYTES).toString('hex');

/**
 * Claims the entries. Returns those that are new, each once, and the remainders of those seen only in part before.
 * Skips entries of closed files.
 */
export async function claimDeferredUsage(
  tx: Tx,
  entries: readonly DeferredUsageEntry[],
): Promise<readonly DeferredUsageEntry[]> {
  if (entries.length === 0) return [];
  const closedFileKeys = await lockResultFilesAndFindClosed(tx, resultFilesOf(entries));
  const openEntries = entries.filter(
    (line) => !resultFilesOf([line]).some((file) => closedFileKeys.has(resultFileKey(file))),
  );
  const claimed = await claimDeferredEntries(tx, openEntries);
  await recordResultFileActivity(tx, resultFilesOf(claimed));
  return claimed;
}

/** The distinct result files of the entries. */
function resultFilesOf(entries: readonly DeferredUsageEntry[]): readonly ResultFile[] {
  const files = new Map<string, ResultFile>();
  for (const { fetch, fileDigest: source } of entries) {
    if (source === null) continue;
    const file = { orgId: fetch.orgId, source };
    files.set(resultFileKey(file), file);
  }
  return [...files.values()];
}

async function claimDeferredEntries(
  tx: Tx,
  entries: readonly DeferredUsageEntry[],
): Promise<readonly DeferredUsageEntry[]> {
  if (entries.length === 0) return [];
  const entriesByKey = new Map<string, DeferredUsageEntry>();
  for (const line of entries) {
    const key = deferredEntryKey(line.fetch.orgId, line.digest);
    const known = entriesByKey.get(key);
    if (known === undefined || !known.isComplete) entriesByKey.set(key, line);
  }
  const uniqueEntries = [...entriesByKey.values()];
  const rows = await tx<{ orgId: string; digest: string }[]>`
    insert into booked_lines (org_id, digest, source, seen)
    select org_id, digest, source, seen::bigint[] from unnest(
      ${arrayLiteral(uniqueEntries, ({ fetch }) => fetch.orgId)}::text::uuid[],
      ${arrayLiteral(uniqueEntries, ({ digest }) => `\\x${digest}`)}::text::bytea[],
      ${arrayLiteral(uniqueEntries, ({ fileDigest: source }) => (source === null ? null : `\\x${source}`))}::text::bytea[],
      ${arrayLiteral(uniqueEntries, (line) => (line.isComplete ? null : amountsArrayLiteral(line)))}::text::text[]) as r(org_id, digest, source, seen)
     order by org_id, digest
    on conflict do nothing
    returning org_id as "orgId", encode(digest, 'hex') as digest`;
  const newEntries = rows.map(({ orgId, digest }) => {
    const line = entriesByKey.get(deferredEntryKey(orgId, digest))!;
    entriesByKey.delete(deferredEntryKey(orgId, digest));
    return line;
  });
  return entriesByKey.size === 0 ? newEntries : [...newEntries, ...(await claimRemainingAmounts(tx, entriesByKey))];
}

/** For entries that were claimed before: returns what exceeds the amounts seen so far, and stores the new maximum. */
async function claimRemainingAmounts(
  tx: Tx,
  claimedEntriesByKey: ReadonlyMap<string, DeferredUsageEntry>,
): Promise<readonly DeferredUsageEntry[]> {
  const claimedEntries = [...claimedEntriesByKey.values()];
  const rows = await tx<{ orgId: string; digest: string; seen: number[] }[]>`
    select org_id as "orgId", encode(digest, 'hex') as digest, to_json(seen) as seen from booked_lines join unnest(
      ${arrayLiteral(claimedEntries, ({ fetch }) => fetch.orgId)}::text::uuid[],
      ${arrayLiteral(claimedEntries, ({ digest }) => `\\x${digest}`)}::text::bytea[]) as r(org_id, digest) using (org_id, digest)
     where seen is not null order by org_id, digest for update of booked_lines`;
  if (rows.length === 0) return [];
  const remainders: DeferredUsageEntry[] = [];
  const maxima: DeferredUsageEntry[] = [];
  for (const { orgId, digest, seen } of rows) {
    const line = claimedEntriesByKey.get(deferredEntryKey(orgId, digest))!;
    remainders.push(mapAmounts(line, (name, i) => Math.max(0, line[name] - seen[i]!)));
    maxima.push(mapAmounts(line, (name, i) => Math.max(line[name], seen[i]!)));
  }
  await tx`
    update booked_lines b set seen = r.seen::bigint[] from unnest(
      ${arrayLiteral(maxima, ({ fetch }) => fetch.orgId)}::text::uuid[],
      ${arrayLiteral(maxima, ({ digest }) => `\\x${digest}`)}::text::bytea[],
      ${arrayLiteral(maxima, (line) => (line.isComplete ? null : amountsArrayLiteral(line)))}::text::text[]) as r(org_id, digest, seen)
     where b.org_id = r.org_id and b.digest = r.digest`;
  return remainders;
}

const deferredEntryKey = (orgId: string, digest: string): string => `${orgId} ${digest}`;

const AMOUNT_FIELDS = [
  'tokensInUncached',
  'tokensCacheRead',
  'tokensCacheWrite',
  'tokensOut',
  'tokensReasoning',
  'costNanos',
] as const;

/** A Postgres array literal. */
const amountsArrayLiteral = (line: DeferredUsageEntry): string => `{${AMOUNT_FIELDS.map((name) => line[name]).join()}}`;

function mapAmounts(
  line: DeferredUsageEntry,
  amountOf: (name: (typeof AMOUNT_FIELDS)[number], i: number) => number,
): DeferredUsageEntry {
  const changed = { ...line };
  AMOUNT_FIELDS.forEach((name, i) => {
    changed[name] = amountOf(name, i);
  });
  return changed;
}

/** Stores the sum of the new entries per fetching call, until that call's usage record is booked. */
export async function storeDeferredSumsByRecordId(tx: Tx, newEntries: readonly DeferredUsageEntry[]): Promise<void> {
  if (newEntries.length === 0) return;
  const sums = new Map<string, Record<(typeof AMOUNT_FIELDS)[number], number>>();
  for (const line of newEntries) {
    const sum = sums.get(line.fetch.recordId);
    if (sum === undefined) sums.set(line.fetch.recordId, { ...line });
    else for (const name of AMOUNT_FIELDS) sum[name] += line[name];
  }
  const rows = [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
  const column = (name: (typeof AMOUNT_FIELDS)[number]) => arrayLiteral(rows, ([, sum]) => sum[name]);
  await tx`
    insert into line_sums as s (record_id, tokens_in_uncached, tokens_cache_read, tokens_cache_write, tokens_out,
      tokens_reasoning, cost_nanos)
    select * from unnest(
      ${arrayLiteral(rows, ([id]) => id)}::text::uuid[], ${column('tokensInUncached')}::text::bigint[],
      ${column('tokensCacheRead')}::text::bigint[], ${column('tokensCacheWrite')}::text::bigint[],
      ${column('tokensOut')}::text::bigint[], ${column('tokensReasoning')}::text::bigint[],
      ${column('costNanos')}::text::bigint[])
    on conflict (record_id) do update set
      tokens_in_uncached = s.tokens_in_uncached + excluded.tokens_in_uncached,
      tokens_cache_read = s.tokens_cache_read + excluded.tokens_cache_read,
      tokens_cache_write = s.tokens_cache_write + excluded.tokens_cache_write,
      tokens_out = s.tokens_out + excluded.tokens_out, tokens_reasoning = s.tokens_reasoning + excluded.tokens_reasoning,
      cost_nanos = least(s.cost_nanos, ${NANOS_SUM_MAX}) + excluded.cost_nanos`;
}

/** Sum of the deferred usage that one call fetched: tokens, and cost in nano-dollars. */
export type DeferredUsageSum = Readonly<Record<(typeof AMOUNT_FIELDS)[number], number>>;

/**
 * Adds the stored sums to usage records that this transaction has inserted, and deletes the sums. Returns them by
 * record id.
 */
export async function moveDeferredSumsToRecords(
  tx: Tx,
  entries: readonly UsageEntry[],
): Promise<ReadonlyMap<string, DeferredUsageSum>> {
  const entriesWithDeferredUsage = entries.filter(({ dimensions: kind }) => kind.lined);
  if (entriesWithDeferredUsage.length === 0) return new Map();
  const rows = await tx<(DeferredUsageSum & { readonly id: string })[]>`
    with calls as (
      select * from unnest(
        ${arrayLiteral(entriesWithDeferredUsage, ({ id }) => id)}::text::uuid[],
        ${arrayLiteral(entriesWithDeferredUsage, ({ dimensions: kind }) => kind.orgId)}::text::uuid[],
        ${arrayLiteral(entriesWithDeferredUsage, ({ startedAtMs }) => startedAtMs)}::text::bigint[]) as r(id, org_id, started_ms)),
    sums as (delete from line_sums s using calls c where s.record_id = c.id returning s.*, c.org_id, c.started_ms)
    update usage_records u set
      tokens_in_uncached = u.tokens_in_uncached + s.tokens_in_uncached,
      tokens_cache_read = u.tokens_cache_read + s.tokens_cache_read,
      tokens_cache_write = u.tokens_cache_write + s.tokens_cache_write, tokens_out = u.tokens_out + s.tokens_out,
      tokens_reasoning = u.tokens_reasoning + s.tokens_reasoning, cost_nanos = u.cost_nanos + s.cost_nanos
      from sums s where u.org_id = s.org_id and u.started_at = to_timestamp(s.started_ms::float8 / 1000) and u.id = s.record_id
    returning u.id, s.tokens_in_uncached as "tokensInUncached", s.tokens_cache_read as "tokensCacheRead",
      s.tokens_cache_write as "tokensCacheWrite", s.tokens_out as "tokensOut", s.tokens_reasoning as "tokensReasoning",
      s.cost_nanos as "costNanos"`;
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Adds the sums to the entries in memory, as the database has them now. Call it only after the commit: an entry that is
 * booked again would count its sum twice.
 */
export function addDeferredSumsToEntries(
  entries: readonly UsageEntry[],
  sums: ReadonlyMap<string, DeferredUsageSum>,
): void {
  if (sums.size === 0) return;
  for (const entry of entries) {
    const sum = sums.get(entry.id);
    if (sum !== undefined) for (const name of AMOUNT_FIELDS) entry[name] += sum[name];
  }
}
