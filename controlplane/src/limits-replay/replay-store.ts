/** SQL that reads recorded calls for a replay, the oldest first, in batches that continue after the last call. */
import type { ReplayedCall } from '@acg/base/rate-windows/limit-replay';
import type { Sql } from '../db/postgres-client.js';

export type ReplayRecord = ReplayedCall;

export interface ReplayBatchQuery {
  readonly orgId: string;
  readonly agentIds: readonly string[];
  /** Unix ms, inclusive. */
  readonly fromMs: number;
  /** Unix ms, exclusive. */
  readonly toMs: number;
  /** Position of the last call that was read; null: begin. */
  readonly after: { readonly startedAt: string; readonly id: string } | null;
}

interface ReplayBatch {
  readonly records: readonly ReplayRecord[];
  /** Null: there are no more. */
  readonly next: ReplayBatchQuery['after'];
}

const BATCH_ROWS = 5_000;

export async function selectReplayBatch(
  sql: Sql,
  { orgId, agentIds, fromMs, toMs, after }: ReplayBatchQuery,
): Promise<ReplayBatch> {
  const lowerBound =
    after === null
      ? sql`started_at >= ${new Date(fromMs)}`
      : sql`started_at >= ${after.startedAt}::text::timestamptz
          and (started_at, id) > (${after.startedAt}::text::timestamptz, ${after.id}::uuid)`;
  // One agent: its own index. Several: the index of the organization.
  const ofAgents =
    agentIds.length === 1 ? sql`agent_id = ${agentIds[0]!}` : sql`agent_id = any(${[...agentIds]}::uuid[])`;
  const rows = await sql<(ReplayRecord & { readonly startedAt: string; readonly id: string })[]>`
    select id, started_at::text as "startedAt", (extract(epoch from started_at) * 1000)::float8 as "startedMs",
           agent_id as "agentId", provider_slug as "providerSlug", model, tags, duration_ms as "durationMs",
           tokens_in_uncached + tokens_cache_read + tokens_cache_write + tokens_out as tokens, cost_nanos as "costNanos"
      from usage_records
     where org_id = ${orgId} and ${ofAgents} and ${lowerBound} and started_at < ${new Date(toMs)}
     order by started_at, id limit ${BATCH_ROWS}`;
  const last = rows.at(-1);
  const next = rows.length < BATCH_ROWS || last === undefined ? null : { startedAt: last.startedAt, id: last.id };
  return { records: rows, next };
}
