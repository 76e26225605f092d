/**
 * Usage that can be fetched again and again: lines of a batch's results, background answers. Each line is booked once
 * for ever by (organization, provider, source, line), whoever fetches it, how often and through whichever data plane:
 * its claim and its booking are one transaction. Its cost reaches budgets from here alone. Of old result files one row is
 * left (booked-files.ts).
 *
 * Of an answer that was cut off what was seen is booked, and remembered: when it comes whole, the rest is. Seen again in
 * parts, it counts as its largest part.
 */
import { createHash } from 'node:crypto';
import { type ILine, type ILineUsage, LineUsage } from '@acg/proto/messages';
import { arrayLiteral } from '../db/array-literal.js';
import type { Tx } from '../db/sql.js';
import { lockResultFiles, type ResultFile, resultFileKey, touchResultFiles } from './batch-result-files.js';
import type { BookableRange, UsageEntry } from './usage-entry.js';
import { COUNT_MAX, isUuid, NANOS_SUM_MAX, slugOrEmpty, truncateText } from './usage-field-validation.js';

/** The call that fetched some lines. */
interface DeferredUsageFetch {
  readonly recordId: string;
  readonly orgId: string;
  /** `''`: not known. */
  readonly projectId: string;
  readonly agentId: string;
  readonly keyId: string;
  readonly providerSlug: string;
  readonly startedAtMs: number;
  /** Of the admission; `''`: that of the start. */
  readonly month: string;
}

export interface DeferredUsageEntry {
  readonly fetch: DeferredUsageFetch;
  /** Hex. */
  readonly digest: string;
  /** Digest of the result file that it is a line of, hex; null: a background answer, which is no line of anything. */
  readonly fileDigest: string | null;
  /** False: it was cut off, and may come whole. */
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

/** The lines of one message; what makes no sense in it is left out. */
export function decodeDeferredUsage(bytes: Buffer, span: BookableRange): readonly DeferredUsageEntry[] {
  const usage = LineUsage.decode(bytes);
  const fetch = parseFetch(usage, span);
  if (fetch === null) return [];
  const read = (lines: readonly ILine[], whole: boolean): DeferredUsageEntry[] =>
    lines
      .slice(0, ENTRIES_PER_MESSAGE_MAX)
      .flatMap((line) => parseDeferredEntry(fetch, usage.sourceId ?? '', line, whole) ?? []);
  return [...read(usage.lines ?? [], true), ...read(usage.seen ?? [], false)];
}

function parseFetch(usage: ILineUsage, { fromMs, toMs }: BookableRange): DeferredUsageFetch | null {
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
  };
}

function parseDeferredEntry(
  fetch: DeferredUsageFetch,
  sourceId: string,
  line: ILine,
  whole: boolean,
): DeferredUsageEntry | null {
  const figures = {
    tokensInUncached: line.tokensInUncached ?? 0,
    tokensCacheRead: line.tokensCacheRead ?? 0,
    tokensCacheWrite: line.tokensCacheWrite ?? 0,
    tokensOut: line.tokensOut ?? 0,
    tokensReasoning: line.tokensReasoning ?? 0,
    costNanos: line.costNanos ?? 0,
  };
  if (!Object.values(figures).every((value) => value >= 0 && value <= COUNT_MAX)) return null;
  const lineId = line.id ?? '';
  return {
    fetch,
    digest: digestParts(fetch.providerSlug, sourceId, lineId),
    fileDigest: lineId === '' ? null : digestParts(fetch.providerSlug, sourceId),
    isComplete: whole,
    model: truncateText(line.model, 200),
    ...figures,
  };
}

const digestParts = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, DIGEST_BYTES).toString('hex');

/**
 * Claims the lines; returns those that nobody had claimed before, each once, and of those that were seen in part the rest.
 * Lines of a file that is closed are none of these.
 */
export async function claimDeferredUsage(
  tx: Tx,
  lines: readonly DeferredUsageEntry[],
): Promise<readonly DeferredUsageEntry[]> {
  if (lines.length === 0) return [];
  const closed = await lockResultFiles(tx, resultFilesOf(lines));
  const open = lines.filter((line) => !resultFilesOf([line]).some((file) => closed.has(resultFileKey(file))));
  const claimed = await claimEntries(tx, open);
  await touchResultFiles(tx, resultFilesOf(claimed));
  return claimed;
}

/** Each once. */
function resultFilesOf(lines: readonly DeferredUsageEntry[]): readonly ResultFile[] {
  const files = new Map<string, ResultFile>();
  for (const { fetch, fileDigest: source } of lines) {
    if (source === null) continue;
    const file = { orgId: fetch.orgId, source };
    files.set(resultFileKey(file), file);
  }
  return [...files.values()];
}

async function claimEntries(tx: Tx, lines: readonly DeferredUsageEntry[]): Promise<readonly DeferredUsageEntry[]> {
  if (lines.length === 0) return [];
  const wanted = new Map<string, DeferredUsageEntry>();
  for (const line of lines) {
    const key = deferredEntryKey(line.fetch.orgId, line.digest);
    const known = wanted.get(key);
    if (known === undefined || !known.isComplete) wanted.set(key, line);
  }
  const all = [...wanted.values()];
  const rows = await tx<{ orgId: string; digest: string }[]>`
    insert into booked_lines (org_id, digest, source, seen)
    select org_id, digest, source, seen::bigint[] from unnest(
      ${arrayLiteral(all, ({ fetch }) => fetch.orgId)}::text::uuid[],
      ${arrayLiteral(all, ({ digest }) => `\\x${digest}`)}::text::bytea[],
      ${arrayLiteral(all, ({ fileDigest: source }) => (source === null ? null : `\\x${source}`))}::text::bytea[],
      ${arrayLiteral(all, (line) => (line.isComplete ? null : amountsArrayLiteral(line)))}::text::text[]) as r(org_id, digest, source, seen)
     order by org_id, digest
    on conflict do nothing
    returning org_id as "orgId", encode(digest, 'hex') as digest`;
  const fresh = rows.map(({ orgId, digest }) => {
    const line = wanted.get(deferredEntryKey(orgId, digest))!;
    wanted.delete(deferredEntryKey(orgId, digest));
    return line;
  });
  return wanted.size === 0 ? fresh : [...fresh, ...(await claimRemainders(tx, wanted))];
}

/** Of lines that were claimed before: what is new of those that had been seen in part. */
async function claimRemainders(
  tx: Tx,
  wanted: ReadonlyMap<string, DeferredUsageEntry>,
): Promise<readonly DeferredUsageEntry[]> {
  const all = [...wanted.values()];
  const rows = await tx<{ orgId: string; digest: string; seen: number[] }[]>`
    select org_id as "orgId", encode(digest, 'hex') as digest, to_json(seen) as seen from booked_lines join unnest(
      ${arrayLiteral(all, ({ fetch }) => fetch.orgId)}::text::uuid[],
      ${arrayLiteral(all, ({ digest }) => `\\x${digest}`)}::text::bytea[]) as r(org_id, digest) using (org_id, digest)
     where seen is not null order by org_id, digest for update of booked_lines`;
  if (rows.length === 0) return [];
  const rests: DeferredUsageEntry[] = [];
  const known: DeferredUsageEntry[] = [];
  for (const { orgId, digest, seen } of rows) {
    const line = wanted.get(deferredEntryKey(orgId, digest))!;
    rests.push(mapAmounts(line, (name, i) => Math.max(0, line[name] - seen[i]!)));
    known.push(mapAmounts(line, (name, i) => Math.max(line[name], seen[i]!)));
  }
  await tx`
    update booked_lines b set seen = r.seen::bigint[] from unnest(
      ${arrayLiteral(known, ({ fetch }) => fetch.orgId)}::text::uuid[],
      ${arrayLiteral(known, ({ digest }) => `\\x${digest}`)}::text::bytea[],
      ${arrayLiteral(known, (line) => (line.isComplete ? null : amountsArrayLiteral(line)))}::text::text[]) as r(org_id, digest, seen)
     where b.org_id = r.org_id and b.digest = r.digest`;
  return rests;
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

/** As an array of Postgres. */
const amountsArrayLiteral = (line: DeferredUsageEntry): string => `{${AMOUNT_FIELDS.map((name) => line[name]).join()}}`;

function mapAmounts(
  line: DeferredUsageEntry,
  figure: (name: (typeof AMOUNT_FIELDS)[number], i: number) => number,
): DeferredUsageEntry {
  const changed = { ...line };
  AMOUNT_FIELDS.forEach((name, i) => {
    changed[name] = figure(name, i);
  });
  return changed;
}

/** Keeps what the new lines of each call come to, for its record. */
export async function storeDeferredSums(tx: Tx, fresh: readonly DeferredUsageEntry[]): Promise<void> {
  if (fresh.length === 0) return;
  const sums = new Map<string, Record<(typeof AMOUNT_FIELDS)[number], number>>();
  for (const line of fresh) {
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

/** What the lines of one call came to. */
export type DeferredUsageSum = Readonly<Record<(typeof AMOUNT_FIELDS)[number], number>>;

/** Adds to calls that were booked just now what their lines came to; returns that by the calls' ids. */
export async function moveDeferredSumsToRecords(
  tx: Tx,
  entries: readonly UsageEntry[],
): Promise<ReadonlyMap<string, DeferredUsageSum>> {
  const lined = entries.filter(({ dimensions: kind }) => kind.lined);
  if (lined.length === 0) return new Map();
  const rows = await tx<(DeferredUsageSum & { readonly id: string })[]>`
    with calls as (
      select * from unnest(
        ${arrayLiteral(lined, ({ id }) => id)}::text::uuid[],
        ${arrayLiteral(lined, ({ dimensions: kind }) => kind.orgId)}::text::uuid[],
        ${arrayLiteral(lined, ({ startedAtMs }) => startedAtMs)}::text::bigint[]) as r(id, org_id, started_ms)),
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

/** The entries as the database has them now. Only after the commit: booked again they would count their lines twice. */
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
