/** SQL of the calls of an organization: one bounded chunk of its records at a time, newest first. */
import { containsPattern } from '../../db/like-pattern.js';
import type { Sql, Tx } from '../../db/postgres-client.js';
import { SEARCH_EXPRESSION } from '../../ledger/log-search-index.js';
import { JSON_ROW_SQL } from '../log-record/csv-and-json-row-sql.js';
import type { LogRecord } from '../log-record/log-schema.js';
import type { TimeRange } from '../query/time-range.js';
import type { Call, CallExtras } from './call-schema.js';

export interface CallFilter {
  readonly orgId: string;
  readonly agentId: string | null;
  readonly projectId: string | null;
  readonly keyId: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  /** Any of these statuses or classes; both empty: any status. */
  readonly statuses: readonly number[];
  /** First digit: 4 means 4xx. */
  readonly statusClasses: readonly number[];
  readonly minCostNanos: number | null;
  readonly search: string | null;
  /** `key=value`. */
  readonly tag: string | null;
  readonly runId: string | null;
  /** Only calls that a limit in audit mode would have rejected. */
  readonly wouldReject: boolean;
}

/** True if every record of the organization or agent matches. */
export const isUnfiltered = (filter: CallFilter): boolean =>
  filter.projectId === null &&
  filter.keyId === null &&
  filter.provider === null &&
  filter.model === null &&
  filter.statuses.length + filter.statusClasses.length === 0 &&
  filter.minCostNanos === null &&
  filter.search === null &&
  filter.tag === null &&
  filter.runId === null &&
  !filter.wouldReject;

/** Position of a record in the sort order, as text in Postgres format. */
export interface RecordPosition {
  readonly startedAt: string;
  readonly id: string;
}

export interface CallChunk {
  /** Matching records, newest first: up to `take`, after skipping `skip`. */
  readonly found: readonly RecordPosition[];
  readonly matching: number;
  /** Number of records read. */
  readonly scanned: number;
  /** Position of the oldest record read, and its Unix ms; null: none. */
  readonly last: RecordPosition | null;
  readonly lastMs: number | null;
}

export interface ChunkQuery {
  readonly range: TimeRange;
  /** Only records older than this one; null: start with the newest. */
  readonly after: RecordPosition | null;
  /** Maximum number of records to read. */
  readonly size: number;
  readonly skip: number;
  readonly take: number;
}

/** Reads the next `size` records whether they match or not, so the cost does not depend on the filter. */
export function scanChunk(tx: Tx, filter: CallFilter, chunkQuery: ChunkQuery): Promise<CallChunk> {
  return selectChunk(
    tx,
    chunkQuery,
    tx`
    select started_at, id, ${filterCondition(tx, filter)} as hit from usage_records
     where ${rangeCondition(tx, filter, chunkQuery)} order by started_at desc, id desc limit ${chunkQuery.size}`,
  );
}

/** Reads the next `size` matching records with any index that helps. */
export function findChunkByIndex(tx: Tx, filter: CallFilter, chunkQuery: ChunkQuery): Promise<CallChunk> {
  return selectChunk(
    tx,
    chunkQuery,
    tx`
    select started_at, id, true as hit from usage_records
     where ${rangeCondition(tx, filter, chunkQuery)} and ${filterCondition(tx, filter)}
     order by started_at desc, id desc limit ${chunkQuery.size}`,
  );
}

/** `records`: at most `size` rows with `started_at`, `id` and `hit`, in any order. */
export async function selectChunk(tx: Tx, { skip, take }: ChunkQuery, records: ReturnType<Tx>): Promise<CallChunk> {
  const [row] = await tx<[Omit<CallChunk, 'found'> & { found: RecordPosition[] | null }]>`
    with scanned as materialized (${records}),
    hits as (select started_at, id from scanned where hit),
    oldest as (select started_at, id from scanned order by started_at, id limit 1)
    select (select count(*) from scanned) as scanned, (select count(*) from hits) as matching,
           (select json_build_object('startedAt', started_at::text, 'id', id) from oldest) as last,
           (select floor(extract(epoch from started_at) * 1000)::bigint from oldest) as "lastMs",
           (select json_agg(json_build_object('startedAt', started_at::text, 'id', id))
              from (select * from hits order by started_at desc, id desc limit ${take} offset ${skip}) f) as found`;
  return { ...row, found: row.found ?? [] };
}

function rangeCondition(tx: Tx, { orgId, agentId }: CallFilter, { range, after }: ChunkQuery) {
  return tx`org_id = ${orgId} ${agentId === null ? tx`` : tx`and agent_id = ${agentId}`}
    and started_at >= ${new Date(range.fromMs)} and started_at < ${new Date(range.toMs)}
    ${
      after === null
        ? tx``
        : tx`and started_at <= ${after.startedAt}::text::timestamptz
      and (started_at, id) < (${after.startedAt}::text::timestamptz, ${after.id}::uuid)`
    }`;
}

function filterCondition(tx: Tx, filter: CallFilter) {
  const { projectId, keyId, provider, model, minCostNanos, search, tag, runId, wouldReject } = filter;
  return tx`true
    ${projectId === null ? tx`` : tx`and ${projectCondition(tx, projectId)}`}
    ${keyId === null ? tx`` : tx`and key_id = ${keyId}`}
    ${provider === null ? tx`` : tx`and provider_slug = ${provider}`}
    ${model === null ? tx`` : tx`and model = ${model}`}
    ${statusCondition(tx, filter)}
    ${minCostNanos === null ? tx`` : tx`and cost_nanos >= ${minCostNanos}`}
    ${search === null ? tx`` : tx`and ${tx.unsafe(SEARCH_EXPRESSION)} ilike ${containsPattern(search)}`}
    ${tag === null ? tx`` : tx`and strpos(',' || tags || ',', ${`,${tag},`}) > 0`}
    ${runId === null ? tx`` : tx`and run_id = ${runId}`}
    ${wouldReject ? tx`and would_reject <> ''` : tx``}`;
}

export const statusCondition = (tx: Tx, { statuses, statusClasses }: CallFilter) =>
  statuses.length + statusClasses.length === 0
    ? tx``
    : tx`and (
      status = any(${[...statuses]}::integer[]) or status / 100 = any(${[...statusClasses]}::integer[]))`;

/** Records sent without a project belong to the current project of their agent. */
export const projectCondition = (
  sql: Sql | Tx,
  projectId: string,
) => sql`(project_id = ${projectId} or project_id is null
  and agent_id in (select a.id from agents a where a.project_id = ${projectId}))`;

type LoadedCallRow = { readonly log: LogRecord } & CallExtras;

/** Loads calls with the current names of agent, key and project; null for deleted ones. */
export async function loadCallsAt(tx: Tx, orgId: string, positions: readonly RecordPosition[]): Promise<Call[]> {
  if (positions.length === 0) return [];
  const rows = await tx<LoadedCallRow[]>`
    select u.log, u.upstream_status as "upstreamStatus", u.websocket,
           coalesce(u.project_id, a.project_id) as "projectId", p.name as "projectName", a.name as "agentName",
           k.name as "keyName", k.key_prefix as "keyPrefix"
      from unnest(${positions.map(({ startedAt }) => startedAt)}::text[]::timestamptz[],
                  ${positions.map(({ id }) => id)}::uuid[]) with ordinality as f(started_at, id, n)
     cross join lateral (
       select r.*, ${tx.unsafe(JSON_ROW_SQL)}::json as log
         from usage_records r where r.org_id = ${orgId} and r.started_at = f.started_at and r.id = f.id limit 1) u
      left join lateral (select * from agents x where x.id = u.agent_id and x.org_id = ${orgId}) a on true
      left join lateral (select * from key_names x where x.id = u.key_id and x.org_id = ${orgId}) k on true
      left join lateral (
        select * from projects x where x.id = coalesce(u.project_id, a.project_id) and x.org_id = ${orgId}) p on true
     order by f.n`;
  return rows.map(({ log, ...more }) => ({ ...log, ...more }));
}

/** Finds the record with this id and start (Unix ms). */
export async function findCallPosition(
  tx: Tx,
  orgId: string,
  id: string,
  startedAtMs: number,
): Promise<RecordPosition | null> {
  const [row] = await tx<RecordPosition[]>`
    select started_at::text as "startedAt", id from usage_records
     where org_id = ${orgId} and started_at = ${new Date(startedAtMs)} and id = ${id}`;
  return row ?? null;
}
