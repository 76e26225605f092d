/** Fills the ledger by SQL: log rows over 90 days, and the rollups that ingest would have created. */

import { DAY_MS } from '@acg/base/time-and-money-units';
import { uuidv7 } from '@acg/base/uuidv7';
import type { Sql } from '@acg/controlplane/db/postgres-client';
import { startOfUtcDay, UsagePartitions } from '@acg/controlplane/ledger/create-usage-day-partitions';

const DAYS = 90;
const AGENTS = 200;
const NEEDLES = 3;
/** Half of the calls have both tags. */
const CUSTOMERS = 500;
const FEATURES = 8;

export interface Seeded {
  /** Has a tenth of all rows. */
  readonly busyAgentId: string;
  readonly agentIds: readonly string[];
  readonly rows: number;
  /** The requested number; days are filled evenly, so `rows` may be slightly more. */
  readonly wanted: number;
}

interface Tenant {
  readonly orgId: string;
  readonly projectId: string;
}

export async function seedLedger(sql: Sql, tenant: Tenant, rows: number): Promise<Seeded> {
  const agentIds = Array.from({ length: AGENTS }, () => uuidv7(Date.now()));
  for (const id of agentIds) {
    await sql`insert into agents (id, org_id, project_id, name, slug, budget_cents_monthly, created_at)
      values (${id}, ${tenant.orgId}, ${tenant.projectId}, ${id}, ${id}, 100000000, now() - interval '100 days')`;
  }
  const today = startOfUtcDay(Date.now());
  const days = Array.from({ length: DAYS }, (_, i) => today - (DAYS - 1 - i) * DAY_MS);
  await new UsagePartitions(sql, DAYS + 10).ensurePartitionsFor(days.map((startedAtMs) => ({ startedAtMs })));
  const perDay = Math.ceil(rows / DAYS);
  const work = [...days];
  const lanes = [1, 2].map(async () => {
    for (let day = work.shift(); day !== undefined; day = work.shift()) {
      const spanMs = day === today ? Date.now() - today : DAY_MS;
      await fillDay(sql, tenant, agentIds, day, perDay, spanMs);
    }
  });
  await Promise.all(lanes);
  await hideNeedles(sql, tenant.orgId, agentIds, days[DAYS - 61]!);
  await rollUp(sql, tenant.orgId);
  const connection = await sql.reserve();
  await connection`set statement_timeout = 0`;
  await connection`vacuum analyze`; // as autovacuum would: enables index-only scans
  connection.release();
  return { busyAgentId: agentIds[0]!, agentIds, rows: perDay * DAYS, wanted: rows };
}

/** Rows in order of time, as they arrive. Agent 0 gets a tenth, the others the rest; one call in 50 fails. */
async function fillDay(
  sql: Sql,
  { orgId, projectId }: Tenant,
  agentIds: readonly string[],
  day: number,
  rows: number,
  spanMs: number,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local synchronous_commit = off`;
    await tx`set local statement_timeout = 0`;
    await tx`
      insert into usage_records (id, started_at, org_id, agent_id, key_id, provider_slug, account_id, method, path,
        status, upstream_status, error, model, tokens_in_uncached, tokens_cache_read, tokens_cache_write, tokens_out,
        tokens_reasoning, cost_nanos, usage_source, price_source, duration_ms, ttfb_ms, bytes_in, bytes_out, streamed,
        websocket, data_plane_id, project_id, tags)
      select uuidv7(), ${new Date(day)}::timestamptz + make_interval(secs => floor(i * ${spanMs}::float8 / ${rows}) / 1000),
             ${orgId}::uuid, a.id, a.id, (array['openai','anthropic','supabase','resend'])[1 + (i / 3) % 4], a.id, 'POST',
             '/v1/chat/completions', case when i % 50 = 0 then 500 else 200 end, case when i % 50 = 0 then 500 else 200 end,
             case when i % 5000 = 0 then 'timeout' else '' end,
             (array['gpt-4o-mini-2024-07-18', 'claude-sonnet-5-5', '', ''])[1 + (i / 3) % 4], 100 + i % 900, i % 64, 0,
             i % 700, 0, 100000 + i % 9000000, 'reported', 'library',
             (50 + exp(random() * 8))::integer, 40 + i % 100, 1500, 4000, i % 2 = 0, false, 'seed', ${projectId}::uuid,
             case when i % 2 = 0 then 'customer=c' || (i * 7919::bigint / 16) % ${CUSTOMERS} || ',feature=f' || i / 2 % ${FEATURES} else '' end
        from generate_series(1, ${rows}::integer) as i,
             lateral (select (${[...agentIds]}::uuid[])[case when i % 10 = 0 then 1 else 2 + (i * 7919::bigint) % ${AGENTS - 1} end] as id) a`;
  });
}

/** Gives three rows of each agent on that day a model that no other row has: a rare search must find them. */
async function hideNeedles(sql: Sql, orgId: string, agentIds: readonly string[], day: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await tx`
      update usage_records u set model = 'chatcmpl-needle-1'
        from (select started_at, id, row_number() over (partition by agent_id order by started_at) as n from usage_records
               where started_at >= ${new Date(day)} and started_at < ${new Date(day + DAY_MS)}
                 and agent_id = any(${[...agentIds]}::uuid[])) found
       where found.n <= ${NEEDLES} and u.org_id = ${orgId} and u.started_at = found.started_at and u.id = found.id
         and u.started_at >= ${new Date(day)} and u.started_at < ${new Date(day + DAY_MS)}`;
  });
}

/** Creates the rollups of all rows, with sketches in the stored form (ledger/sketch.ts). */
async function rollUp(sql: Sql, orgId: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await tx`set local work_mem = '256MB'`;
    await tx`
      insert into usage_hourly (agent_id, provider_slug, model, key_id, hour, org_id, project_id, requests, errors,
        tokens_in, tokens_out, cost_nanos, duration_ms_sum, latency_sketch)
      select agent_id, provider_slug, model, key_id, hour, min(org_id::text)::uuid, min(project_id::text)::uuid, sum(n), sum(errors), sum(tokens_in), sum(tokens_out),
             sum(cost), sum(duration), string_agg(int2send(bucket::int2) || int2send(n::int2), ''::bytea order by bucket)
        from (select agent_id, provider_slug, model, key_id, project_id, date_trunc('hour', started_at) as hour, org_id,
                     case when duration_ms <= 100 then duration_ms
                          else 100 + ceil(ln(duration_ms / 100.0::float8) / ln(1.025::float8)) end as bucket,
                     count(*) as n, count(*) filter (where status >= 400) as errors,
                     sum(tokens_in_uncached + tokens_cache_read + tokens_cache_write) as tokens_in,
                     sum(tokens_out) as tokens_out, sum(cost_nanos) as cost, sum(duration_ms) as duration
                from usage_records where org_id = ${orgId} group by 1, 2, 3, 4, 5, 6, 7, 8) b
       group by agent_id, provider_slug, model, key_id, hour`;
    await tx`
      insert into usage_tags (org_id, key, day, value, agent_id, project_id, requests, errors, tokens_in, tokens_out,
        cost_nanos, duration_ms_sum)
      select ${orgId}, split_part(tag, '=', 1), (started_at at time zone 'UTC')::date, split_part(tag, '=', 2), agent_id,
             min(project_id::text)::uuid, count(*), count(*) filter (where status >= 400),
             sum(tokens_in_uncached + tokens_cache_read + tokens_cache_write), sum(tokens_out), sum(cost_nanos), sum(duration_ms)
        from usage_records, unnest(string_to_array(tags, ',')) tag where org_id = ${orgId} and tags <> ''
       group by 2, 3, 4, 5 order by 3, 5`; // days beside each other, as bookings arrive
    await tx`
      insert into usage_tags_open (org_id, key, day, value, project_id, requests, errors, tokens_in, tokens_out, cost_nanos,
        duration_ms_sum)
      select org_id, key, day, value, project_id, sum(requests), sum(errors), sum(tokens_in), sum(tokens_out), sum(cost_nanos),
             sum(duration_ms_sum)
        from usage_tags where day = (now() at time zone 'UTC')::date group by 1, 2, 3, 4, 5`;
    // The control plane has seen an empty ledger and marked all days as rolled up.
    await tx`update usage_daily_progress set rolled_until = '-infinity'`;
    await tx`update usage_tags_progress set rolled_until = '-infinity'`;
    await tx`
      insert into month_spend (agent_id, month, org_id, spent_nanos)
      select agent_id, to_char(hour, 'YYYY-MM'), min(org_id::text)::uuid, sum(cost_nanos) from usage_hourly
       where org_id = ${orgId} group by 1, 2`;
  });
}
