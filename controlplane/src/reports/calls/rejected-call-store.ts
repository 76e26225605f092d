/** SQL of the rejected calls that are kept. */
import { containsPattern } from '../../db/like-pattern.js';
import type { Tx } from '../../db/postgres-client.js';
import type { Page } from '../../http/limit-offset-pagination.js';
import type { TimeRange } from '../query/time-range.js';
import { type CallChunk, type CallFilter, type ChunkQuery, selectChunk, statusCondition } from './call-store.js';
import type { RejectedCall } from './rejected-call-schema.js';

interface RejectedCallFilter {
  readonly orgId: string;
  readonly projectId: string | null;
  readonly agentId: string | null;
  readonly keyId: string | null;
  readonly reason: string | null;
  readonly range: TimeRange;
}

/** Newest first. */
export function selectRejectedCalls(tx: Tx, filter: RejectedCallFilter, page: Page): Promise<RejectedCall[]> {
  return loadRejectedCalls(
    tx,
    tx`select * from rejected_calls r where ${condition(tx, filter)}
        order by rejected_at desc, id desc limit ${page.limit} offset ${page.offset}`,
  );
}

/** Newest first. */
export const loadRejectedCallsById = (tx: Tx, orgId: string, ids: readonly string[]): Promise<RejectedCall[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : loadRejectedCalls(tx, tx`select * from rejected_calls where org_id = ${orgId} and id = any(${[...ids]}::uuid[])`);

/** With the current names of agent and key; null for deleted ones. */
async function loadRejectedCalls(tx: Tx, rejected: ReturnType<Tx>): Promise<RejectedCall[]> {
  const rows = await tx<(Omit<RejectedCall, 'rejectedAt'> & { readonly rejectedAt: Date })[]>`
    select r.id, r.rejected_at as "rejectedAt", r.reason, r.status, r.method, r.path,
           nullif(r.provider_slug, '') as "providerSlug", nullif(r.model, '') as model, nullif(r.tool, '') as tool,
           r.agent_id as "agentId", a.name as "agentName", r.key_id as "keyId", k.name as "keyName",
           k.key_prefix as "keyPrefix", r.client_network as "clientNetwork", r.budget_id as "budgetId"
      from (${rejected}) r
      left join agents a on a.id = r.agent_id and a.org_id = r.org_id
      left join key_names k on k.id = r.key_id and k.org_id = r.org_id
     order by r.rejected_at desc, r.id desc`;
  return rows.map((row) => ({ ...row, rejectedAt: row.rejectedAt.toISOString() }));
}

/** Reads the next `size` rejected calls whether they match the filter or not, newest first. */
export function scanRejectedChunk(
  tx: Tx,
  filter: CallFilter & { readonly reason: string | null },
  chunkQuery: ChunkQuery,
): Promise<CallChunk> {
  const { orgId, agentId, projectId, keyId, provider, model, search, reason } = filter;
  const { range, after, size } = chunkQuery;
  return selectChunk(
    tx,
    chunkQuery,
    tx`
    select rejected_at as started_at, id, true
           ${projectId === null ? tx`` : tx`and agent_id in (select a.id from agents a where a.project_id = ${projectId} and a.org_id = ${orgId})`}
           ${keyId === null ? tx`` : tx`and key_id = ${keyId}`}
           ${provider === null ? tx`` : tx`and provider_slug = ${provider}`}
           ${model === null ? tx`` : tx`and model = ${model}`}
           ${reason === null ? tx`` : tx`and reason = ${reason}`}
           ${statusCondition(tx, filter)}
           ${
             search === null
               ? tx``
               : tx`and concat_ws(' ', path, model, tool, reason, id::text) ilike ${containsPattern(search)}`
           } as hit
      from rejected_calls
     where org_id = ${orgId} ${agentId === null ? tx`` : tx`and agent_id = ${agentId}`}
       and rejected_at >= ${new Date(range.fromMs)} and rejected_at < ${new Date(range.toMs)}
       ${after === null ? tx`` : tx`and (rejected_at, id) < (${after.startedAt}::text::timestamptz, ${after.id}::uuid)`}
     order by rejected_at desc, id desc limit ${size}`,
  );
}

export async function countRejectedCalls(tx: Tx, filter: RejectedCallFilter): Promise<number> {
  const [row] = await tx<[{ total: number }]>`
    select count(*)::int as total from rejected_calls r where ${condition(tx, filter)}`;
  return row.total;
}

/** Rejected calls are stored without a project, so they belong to a project as long as their agent exists. */
function condition(tx: Tx, { orgId, projectId, agentId, keyId, reason, range }: RejectedCallFilter) {
  return tx`r.org_id = ${orgId}
    and r.rejected_at >= ${new Date(range.fromMs)} and r.rejected_at < ${new Date(range.toMs)}
    ${agentId === null ? tx`` : tx`and r.agent_id = ${agentId}`}
    ${keyId === null ? tx`` : tx`and r.key_id = ${keyId}`}
    ${reason === null ? tx`` : tx`and r.reason = ${reason}`}
    ${projectId === null ? tx`` : tx`and r.agent_id in (select id from agents where project_id = ${projectId} and org_id = ${orgId})`}`;
}
