/**
 * `usage_tags_open`: usage by tag and day without the agent, for the days that `usage_tags_daily` does not have yet.
 * Reports of an organization read one row per value of the running day instead of one per value and agent
 * (reports/query/rollup-selection.ts). Rows of closed days have no readers; the rollup of days deletes them.
 */
import { NIL_UUID } from '@acg/base/uuid-patterns';
import { arrayLiteral } from '../db/array-literal.js';
import type { Tx } from '../db/postgres-client.js';
import { addTagSums, newTagSums, type TaggedUsage, type TagSums } from './tag-rollups.js';
import { NANOS_SUM_MAX } from './usage-field-validation.js';

interface OpenDaySums extends TagSums {
  readonly orgId: string;
  readonly key: string;
  readonly day: string;
  readonly value: string;
  readonly projectId: string;
}

/** Adds the usage, which is in key order, so that all transactions lock rows in the same order. */
export async function addOpenTagDays(tx: Tx, usage: readonly TaggedUsage[]): Promise<void> {
  if (usage.length === 0) return;
  const rows = usage.flatMap(sumByProject);
  const column = (name: keyof OpenDaySums) => arrayLiteral(rows, (row) => row[name]);
  await tx`
    insert into usage_tags_open as t (org_id, key, day, value, project_id, requests, errors, tokens_in, tokens_out,
      cost_nanos, duration_ms_sum)
    select * from unnest(
      ${column('orgId')}::text::uuid[], ${column('key')}::text::text[], ${column('day')}::text::date[],
      ${column('value')}::text::text[], ${column('projectId')}::text::uuid[], ${column('requests')}::text::bigint[],
      ${column('errors')}::text::bigint[], ${column('tokensIn')}::text::bigint[], ${column('tokensOut')}::text::bigint[],
      ${column('costNanos')}::text::bigint[], ${column('durationMs')}::text::bigint[])
    on conflict (org_id, key, day, value, project_id) do update set
      requests = t.requests + excluded.requests, errors = t.errors + excluded.errors,
      tokens_in = t.tokens_in + excluded.tokens_in, tokens_out = t.tokens_out + excluded.tokens_out,
      cost_nanos = least(t.cost_nanos, ${NANOS_SUM_MAX}) + excluded.cost_nanos,
      duration_ms_sum = t.duration_ms_sum + excluded.duration_ms_sum`;
}

function sumByProject({ orgId, key, day, value, byAgent }: TaggedUsage): readonly OpenDaySums[] {
  const byProject = new Map<string, OpenDaySums>();
  for (const sums of byAgent.values()) {
    const projectId = sums.projectId || NIL_UUID;
    const known = byProject.get(projectId) ?? { orgId, key, day, value, projectId, ...newTagSums() };
    byProject.set(projectId, known);
    addTagSums(known, sums);
  }
  return [...byProject.values()].sort((a, b) => (a.projectId < b.projectId ? -1 : 1));
}
