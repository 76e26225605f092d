/** SQL of the calls of an organization: a bounded piece of its records at a time, newest first. */
import { containing } from '../db/like-pattern.js';
import type { Sql, Tx } from '../db/sql.js';
import { SEARCHED_TEXT } from '../ledger/search-index.js';
import type { Call } from './call-schema.js';
import { JSON_LINE } from './log-lines.js';
import type { TimeRange } from './period.js';

export interface CallFilter {
  readonly orgId: string;
  readonly agentId: string | null;
  readonly projectId: string | null;
  readonly keyId: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  /** Any of these; empty: any at all. */
  readonly statuses: readonly number[];
  /** Hundreds: 4 is 4xx. */
  readonly statusClasses: readonly number[];
  readonly minCostNanos: number | null;
  readonly search: string | null;
}

/** Whether each record of the organization, or of the agent, matches. */
export const isOpen = (filter: CallFilter): boolean =>
  filter.projectId === null &&
  filter.keyId === null &&
  filter.provider === null &&
  filter.model === null &&
  filter.statuses.length + filter.statusClasses.length === 0 &&
  filter.minCostNanos === null &&
  filter.search === null;

/** Where a record stands in the order: texts of Postgres. */
export interface Place {
  readonly startedAt: string;
  readonly id: string;
}

export interface Piece {
  /** Matching records, newest first, from the `skip`-th on, `take` at most. */
  readonly found: readonly Place[];
  readonly matching: number;
  /** Records looked at. */
  readonly scanned: number;
  /** The oldest of them, and its Unix ms; null: none. */
  readonly last: Place | null;
  readonly lastMs: number | null;
}

interface PieceAsked {
  readonly range: TimeRange;
  /** Records behind this one; null: from the newest on. */
  readonly after: Place | null;
  /** Records to look at, at most. */
  readonly size: number;
  readonly skip: number;
  readonly take: number;
}

/** Looks at the next `size` records, whether they match or not: what it costs does not depend on the filter. */
export function scanPiece(tx: Tx, filter: CallFilter, asked: PieceAsked): Promise<Piece> {
  return piece(
    tx,
    asked,
    tx`
    select started_at, id, ${matching(tx, filter)} as hit from usage_records
     where ${source(tx, filter, asked)} order by started_at desc, id desc limit ${asked.size}`,
  );
}

/** Looks for the next `size` records that match, by whatever index helps. */
export function findPiece(tx: Tx, filter: CallFilter, asked: PieceAsked): Promise<Piece> {
  return piece(
    tx,
    asked,
    tx`
    select started_at, id, true as hit from usage_records
     where ${source(tx, filter, asked)} and ${matching(tx, filter)}
     order by started_at desc, id desc limit ${asked.size}`,
  );
}

async function piece(tx: Tx, { skip, take }: PieceAsked, records: ReturnType<Tx>): Promise<Piece> {
  const [row] = await tx<[Omit<Piece, 'found'> & { found: Place[] | null }]>`
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

function source(tx: Tx, { orgId, agentId }: CallFilter, { range, after }: PieceAsked) {
  return tx`org_id = ${orgId} ${agentId === null ? tx`` : tx`and agent_id = ${agentId}`}
    and started_at >= ${new Date(range.fromMs)} and started_at < ${new Date(range.toMs)}
    ${
      after === null
        ? tx``
        : tx`and started_at <= ${after.startedAt}::text::timestamptz
      and (started_at, id) < (${after.startedAt}::text::timestamptz, ${after.id}::uuid)`
    }`;
}

function matching(tx: Tx, filter: CallFilter) {
  const { projectId, keyId, provider, model, statuses, statusClasses, minCostNanos, search } = filter;
  return tx`true
    ${projectId === null ? tx`` : tx`and ${ofProject(tx, projectId)}`}
    ${keyId === null ? tx`` : tx`and key_id = ${keyId}`}
    ${provider === null ? tx`` : tx`and provider_slug = ${provider}`}
    ${model === null ? tx`` : tx`and model = ${model}`}
    ${
      statuses.length + statusClasses.length === 0
        ? tx``
        : tx`and (
      status = any(${[...statuses]}::integer[]) or status / 100 = any(${[...statusClasses]}::integer[]))`
    }
    ${minCostNanos === null ? tx`` : tx`and cost_nanos >= ${minCostNanos}`}
    ${search === null ? tx`` : tx`and ${tx.unsafe(SEARCHED_TEXT)} ilike ${containing(search)}`}`;
}

/** Records that came without their project are their agent's. */
export const ofProject = (sql: Sql | Tx, projectId: string) => sql`(project_id = ${projectId} or project_id is null
  and agent_id in (select a.id from agents a where a.project_id = ${projectId}))`;

type CallRow = { readonly log: Omit<Call, keyof More> } & More;
type More = Pick<
  Call,
  'upstreamStatus' | 'websocket' | 'projectId' | 'projectName' | 'agentName' | 'keyName' | 'keyPrefix'
>;

/** What people call the agent, the key and the project now; null for what is gone. */
export async function loadCalls(tx: Tx, orgId: string, places: readonly Place[]): Promise<Call[]> {
  if (places.length === 0) return [];
  const rows = await tx<CallRow[]>`
    select u.log, u.upstream_status as "upstreamStatus", u.websocket,
           coalesce(u.project_id, a.project_id) as "projectId", p.name as "projectName", a.name as "agentName",
           k.name as "keyName", k.key_prefix as "keyPrefix"
      from unnest(${places.map(({ startedAt }) => startedAt)}::text[]::timestamptz[],
                  ${places.map(({ id }) => id)}::uuid[]) with ordinality as f(started_at, id, n)
     cross join lateral (
       select r.*, ${tx.unsafe(JSON_LINE)}::json as log
         from usage_records r where r.org_id = ${orgId} and r.started_at = f.started_at and r.id = f.id limit 1) u
      left join lateral (select * from agents x where x.id = u.agent_id and x.org_id = ${orgId}) a on true
      left join lateral (select * from api_keys x where x.id = u.key_id and x.org_id = ${orgId}) k on true
      left join lateral (
        select * from projects x where x.id = coalesce(u.project_id, a.project_id) and x.org_id = ${orgId}) p on true
     order by f.n`;
  return rows.map(({ log, ...more }) => ({ ...log, ...more }));
}

/** The record with that id that began in that millisecond. */
export async function findCall(tx: Tx, orgId: string, id: string, startedAtMs: number): Promise<Place | null> {
  const [row] = await tx<Place[]>`
    select started_at::text as "startedAt", id from usage_records
     where org_id = ${orgId} and started_at = ${new Date(startedAtMs)} and id = ${id}`;
  return row ?? null;
}
