/** Records of past days for the archive, written by Postgres, and queries of the archive by DuckDB. */
import { randomUUID } from 'node:crypto';
import { createLogger } from '@acg/base/log';
import { Archiver } from '@acg/controlplane/archive/archiver';
import { openObjectStore } from '@acg/controlplane/archive/object-store';
import type { Sql } from '@acg/controlplane/db/postgres-client';
import { UsagePartitions } from '@acg/controlplane/ledger/create-usage-day-partitions';
import { DuckDBInstance } from '@duckdb/node-api';
import { waitUntil } from '../fixtures/wait-until.js';

const DAY_MS = 86_400_000;
const RETENTION_DAYS = 90;

interface SeededOrganization {
  readonly orgId: string;
  readonly agentId: string;
}

/** An organization with an agent, its project and key, whose records follow. */
export async function insertArchivedOrganization(sql: Sql, name: string): Promise<SeededOrganization> {
  const [orgId, projectId, agentId, keyId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  await sql`insert into organizations (id, name, slug) values (${orgId}, ${name}, ${orgId})`;
  await sql`insert into projects (id, org_id, name, slug) values (${projectId}, ${orgId}, 'Research', 'research')`;
  await sql`insert into agents (id, org_id, project_id, name, slug)
    values (${agentId}, ${orgId}, ${projectId}, ${`Agent of ${name}`}, 'agent')`;
  await sql`insert into api_keys (id, org_id, name, scope, agent_id, token_hash, key_prefix)
    values (${keyId}, ${orgId}, 'Production', 'agent', ${agentId}, sha256(${keyId}::text::bytea), 'acg_')`;
  return { orgId, agentId };
}

/** Archives as a control plane does every hour, also while another one has just begun to. */
export async function archiveClosedDays(sql: Sql, directory: string): Promise<void> {
  const archiver = new Archiver(
    sql,
    openObjectStore({ kind: 'file', path: directory }),
    createLogger('test', 'silent'),
  );
  await waitUntil('the days are archived', async () => {
    await archiver.archiveClosedDays(Date.now());
    const [row] = await sql`
      select exists (select from usage_records r where started_at < ${new Date(pastDay(1))} and not exists (
        select from archive_days d where d.org_id = r.org_id and d.day = (r.started_at at time zone 'UTC')::date)) as left`;
    return row!.left === false && archiver.behindDays === 0;
  });
}

/** Inserts `count` records over the UTC day that begins at `dayMs`, with a cost that no double holds exactly. */
export async function insertRecords(
  sql: Sql,
  { orgId, agentId }: SeededOrganization,
  dayMs: number,
  count: number,
  withTags = false,
): Promise<void> {
  await new UsagePartitions(sql, RETENTION_DAYS).ensurePartitionsFor([{ startedAtMs: dayMs }]);
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await tx`
      insert into usage_records (id, started_at, org_id, agent_id, key_id, provider_slug, account_id, method, path, status,
        upstream_status, error, model, tokens_in_uncached, tokens_cache_read, tokens_cache_write, tokens_out,
        tokens_reasoning, cost_nanos, usage_source, price_source, duration_ms, ttfb_ms, bytes_in, bytes_out, streamed,
        websocket, data_plane_id, project_id, tags)
      select gen_random_uuid(), to_timestamp(${dayMs / 1_000}::float8) + (i::float8 / ${count}) * interval '86399 seconds',
             ${orgId}, ${agentId}, (select id from api_keys where agent_id = ${agentId} limit 1), 'openai',
             ${agentId}, 'POST', '/v1/chat/completions', 200, 200, case when i % 50 = 0 then 'timeout' else '' end,
             case when i % 2 = 0 then 'gpt-5-mini' else 'gpt-5-nano' end, i % 997, i % 31, 0, i % 499, 0,
             1000000007 + (i % 1013), 'reported', 'library', 250, case when i % 7 = 0 then null else 120 end, 512, 2048,
             i % 2 = 0, false, 'dp', (select project_id from agents where id = ${agentId}),
             case when ${withTags} and i % 2 = 0 then 'customer=c' || i % 500 || ',feature=f' || i % 8 else '' end
        from generate_series(1, ${count}) i`;
  });
}

/** UTC midnight of a day before today. */
export function pastDay(daysAgo: number): number {
  const now = Date.now();
  return now - (now % DAY_MS) - daysAgo * DAY_MS;
}

/** Runs a query in DuckDB; every value as text. */
export async function queryDuckDb(query: string): Promise<Record<string, string | null>[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const rows = (await connection.runAndReadAll(query)).getRowObjectsJson();
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)])),
    );
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
