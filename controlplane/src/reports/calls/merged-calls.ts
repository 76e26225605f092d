/**
 * Forwarded and rejected calls in one list, newest first, in pages by cursor. A page reads a bounded number of rows of
 * both; where the bound ends the search, the reply holds the cursor that continues it (docs/contract.md#usage).
 */
import type { Tx } from '../../db/postgres-client.js';
import { Forbidden, InvalidInput } from '../../domain/errors.js';
import { type Actor, isRoleAtLeast } from '../../http/route-access.js';
import { runInScope } from '../aggregates/scope-reports.js';
import type { QueryConcurrencyLimiter } from '../query/query-concurrency-limiter.js';
import { parseTimeRange, type TimeRange } from '../query/time-range.js';
import { replaceNul } from './agent-logs.js';
import { configureScan, parseCallFilter } from './call-log.js';
import { type CallFilter, isUnfiltered, loadCallsAt, type RecordPosition } from './call-store.js';
import type { MergedCall, MergedCallsQuery, MergedCallsReply } from './merged-call-schema.js';
import { loadRejectedCallsById, scanRejectedChunk } from './rejected-call-store.js';
import { SEARCH_LIMITS, type SearchLimits, searchCalls } from './search-calls-in-bounded-chunks.js';

const LIMIT_DEFAULT = 50;
/** Rejected calls that a page with a filter reads. */
const REJECTED_SCANNED_MAX = 20_000;
/** Sorts after every other id of its instant. */
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

type Filter = CallFilter & { readonly reason: string | null };

/** Positions of one kind of calls, newest first. */
interface Found {
  readonly positions: readonly RecordPosition[];
  /** Where a bound ended the search; null: the page is full, or nothing older matches. */
  readonly stoppedAt: RecordPosition | null;
}

interface MergedPosition extends RecordPosition {
  readonly isRejected: boolean;
}

const NONE: Found = { positions: [], stoppedAt: null };

export class MergedCalls {
  constructor(
    readonly queryLimiter: QueryConcurrencyLimiter,
    readonly now: () => number = Date.now,
    readonly searchLimits: SearchLimits = SEARCH_LIMITS,
    readonly rejectedScannedMax: number = REJECTED_SCANNED_MAX,
  ) {}

  async list(actor: Actor, query: MergedCallsQuery): Promise<MergedCallsReply> {
    const mayReadRejected = isRoleAtLeast(actor.role, 'admin');
    if (!mayReadRejected && (query.state === 'rejected' || query.reason !== undefined))
      throw new Forbidden('Rejected calls need the role admin. Leave out state and reason to list forwarded calls.');
    const limit = query.limit ?? LIMIT_DEFAULT;
    const range = parseTimeRange(query.startTime, query.endTime);
    const { reason } = query;
    const filter = { ...parseCallFilter(actor, query), reason: reason === undefined ? null : replaceNul(reason) };
    const after = query.cursor === undefined ? null : parseCursor(query.cursor);
    const { orgId, projectId, agentId } = filter;
    const scope = { orgId, projectId, agentIds: agentId === null ? null : [agentId] };
    return runInScope(this.queryLimiter, scope, async (tx) => {
      await configureScan(tx, filter);
      // One more than the page tells whether another page follows.
      const take = limit + 1;
      const wantsForwarded = query.state !== 'rejected' && filter.reason === null;
      const wantsRejected = mayReadRejected && query.state !== 'forwarded' && mayMatchRejected(filter);
      const forwarded = wantsForwarded ? await this.#findForwarded(tx, filter, range, after, take) : NONE;
      const rejected = wantsRejected ? await this.#findRejected(tx, filter, range, after, take) : NONE;
      const { page, next, stopped } = cutPage(await mergePositions(tx, forwarded, rejected), limit);
      return {
        calls: await loadPage(tx, orgId, page),
        limit,
        nextCursor: next === null ? null : `${next.startedAt}_${next.id}`,
        searchedFrom: stopped && next !== null ? new Date(next.startedAt).toISOString() : null,
      };
    });
  }

  async #findForwarded(
    tx: Tx,
    filter: Filter,
    range: TimeRange,
    after: RecordPosition | null,
    limit: number,
  ): Promise<Found> {
    const page = { limit, offset: 0 };
    const start = { after, countMatches: false };
    const found = await searchCalls(tx, filter, range, page, this.now(), this.searchLimits, start);
    const { positions, searchedFrom } = found;
    return {
      positions,
      stoppedAt: searchedFrom === null ? null : { startedAt: searchedFrom.toISOString(), id: LOWEST_ID },
    };
  }

  async #findRejected(
    tx: Tx,
    filter: Filter,
    range: TimeRange,
    after: RecordPosition | null,
    limit: number,
  ): Promise<Found> {
    const size = isUnfiltered(filter) && filter.reason === null ? limit : this.rejectedScannedMax;
    const chunk = await scanRejectedChunk(tx, filter, { range, after, size, skip: 0, take: limit });
    const isFull = chunk.found.length === limit;
    return { positions: chunk.found, stoppedAt: isFull || chunk.scanned < size ? null : chunk.last };
  }
}

/** Rejected calls cost nothing and are stored without run, tags and limits in audit mode. */
const mayMatchRejected = ({ minCostNanos, runId, tag, wouldReject }: Filter): boolean =>
  (minCostNanos ?? 0) === 0 && runId === null && tag === null && !wouldReject;

function parseCursor(cursor: string): RecordPosition {
  const [startedAt, id] = cursor.split('_') as [string, string];
  const ms = Date.parse(startedAt);
  // `Date.parse` accepts 30 February, Postgres does not. No call is from the year 0.
  if (Number.isNaN(ms) || ms <= 0 || new Date(ms).toISOString().slice(0, 19) !== startedAt.slice(0, 19))
    throw new InvalidInput('cursor must be nextCursor of the page before');
  return { startedAt, id };
}

interface Merged {
  /** Newest first; instants in microseconds, UTC, so that their texts sort like them. */
  readonly positions: readonly MergedPosition[];
  /** The newest place at which one of the searches stopped. */
  readonly stoppedAt: RecordPosition | null;
}

async function mergePositions(tx: Tx, forwarded: Found, rejected: Found): Promise<Merged> {
  const rows = [
    ...forwarded.positions.map((position) => ({ ...position, kind: 'forwarded' })),
    ...rejected.positions.map((position) => ({ ...position, kind: 'rejected' })),
    ...[forwarded, rejected].flatMap(({ stoppedAt }) => (stoppedAt === null ? [] : { ...stoppedAt, kind: 'stop' })),
  ];
  if (rows.length === 0) return { positions: [], stoppedAt: null };
  const sorted = await tx<{ startedAt: string; id: string; kind: string }[]>`
    select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "startedAt", id, kind
      from unnest(${rows.map(({ startedAt }) => startedAt)}::text[]::timestamptz[], ${rows.map(({ id }) => id)}::uuid[],
                  ${rows.map(({ kind }) => kind)}::text[]) as f(at, id, kind)
     order by at desc, id desc`;
  const stop = sorted.findIndex(({ kind }) => kind === 'stop');
  const isWithin = (i: number): boolean => stop === -1 || i < stop || samePosition(sorted[i]!, sorted[stop]!);
  return {
    positions: sorted
      .filter(({ kind }, i) => kind !== 'stop' && isWithin(i))
      .map(({ kind, ...position }) => ({ ...position, isRejected: kind === 'rejected' })),
    stoppedAt: sorted[stop] ?? null,
  };
}

const samePosition = (a: RecordPosition, b: RecordPosition): boolean => a.id === b.id && a.startedAt === b.startedAt;

function cutPage({ positions, stoppedAt }: Merged, limit: number) {
  const page = positions.slice(0, limit);
  const isFull = positions.length > limit;
  const next: RecordPosition | null = isFull ? page.at(-1)! : stoppedAt;
  return { page, next, stopped: !isFull && stoppedAt !== null };
}

async function loadPage(tx: Tx, orgId: string, page: readonly MergedPosition[]): Promise<MergedCall[]> {
  const calls = await loadCallsAt(
    tx,
    orgId,
    page.filter(({ isRejected }) => !isRejected),
  );
  const rejectedCalls = await loadRejectedCallsById(
    tx,
    orgId,
    page.filter(({ isRejected }) => isRejected).map(({ id }) => id),
  );
  const forwardedById = new Map(calls.map((call) => [call.id, call]));
  const rejectedById = new Map(rejectedCalls.map((call) => [call.id, call]));
  return page.flatMap(({ startedAt, id, isRejected }) => {
    const forwarded = isRejected ? null : (forwardedById.get(id) ?? null);
    const rejected = isRejected ? (rejectedById.get(id) ?? null) : null;
    if (forwarded === null && rejected === null) return [];
    const at = new Date(startedAt).toISOString();
    return { state: isRejected ? ('rejected' as const) : ('forwarded' as const), at, id, forwarded, rejected };
  });
}
