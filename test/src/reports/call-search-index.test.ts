import { createLogger } from '@acg/base/log';
import { startOfUtcDay } from '@acg/controlplane/ledger/create-usage-day-partitions';
import {
  LogSearchIndexes,
  partitionsWithoutSearchIndex,
  SEARCH_EXPRESSION,
} from '@acg/controlplane/ledger/log-search-index';
import type { IUsageRecord } from '@acg/proto/messages';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { createIngest, insertAgent, usageRecord } from '../ledger/usage-fixture.js';

const plane = useControlPlane();
const DAY = 86_400_000;
const now = Date.now();
const today = startOfUtcDay(now);
const sql = () => plane().database.sql;
const indexes = () => new LogSearchIndexes(sql(), createLogger('test', 'silent'));
const dayName = (ms: number) => `usage_records_${new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')}`;
const listMissingIndexes = async () =>
  (await partitionsWithoutSearchIndex(sql(), today + 2 * 3_600_000)).map(({ name }) => name);

async function searchIds(viewer: Member, agentId: string, search: string): Promise<string[]> {
  const days = { start: new Date(today - 9 * DAY).toISOString().slice(0, 10), limit: '100' };
  const query = new URLSearchParams({ ...days, search });
  const { body } = await viewer.call('GET', `/v1/usage/agents/${agentId}/logs?${query}`);
  expect(body.total).toBe(body.logs.length);
  return body.logs.map(({ id }: { id: string }) => id);
}

test('search: finds the same with and without the indexes of past days, including late records', async () => {
  const viewer = await plane().createMember('viewer');
  const agent = await insertAgent(sql(), viewer.orgId);
  const stranger = await insertAgent(sql(), viewer.orgId);
  const texts: Partial<IUsageRecord>[] = [
    { path: '/v1/Files/100%_done' },
    { path: '/v1/Files/100x1done', model: 'Claude-Opus' },
    { path: '/back\\slash', error: 'timeout', responseStatus: 504 },
    { path: '/größe/ÄRGER', model: '模型-тест' },
    { path: '/new\nline', model: 'a' },
    { model: 'gpt', error: 'reset' },
  ];
  const records = [0, 1, 2].flatMap((days) =>
    [agent, stranger].flatMap(({ id, orgId }) =>
      texts.map((changes, i) => usageRecord({ agentId: id, orgId, startedAtMs: now - days * DAY - i, ...changes })),
    ),
  );
  // The control plane's first background run must not index these days before the test does.
  const backgroundLock = await sql().reserve();
  await backgroundLock`select pg_advisory_lock(hashtext('usage_search'))`;
  const ingest = createIngest(sql());
  await ingest.report({ dataPlaneId: 'd', records });
  const own = records.filter(({ agentId }) => agentId === agent.id);
  const searches = [
    'files/100',
    '100%_d',
    'OPUS',
    'TimeOut',
    'k\\s',
    '_',
    'größe',
    'ÄRGER',
    'ärger',
    '模型',
    'ТЕСТ',
    'new\nline',
    'gpt\nreset',
    'a',
    'nowhere at all',
    own[3]!.id!.toUpperCase(),
    own[9]!.id!.slice(9, 23),
    own[9]!.id!.slice(-12),
    '%',
    '  ',
  ];
  const ask = async () => {
    const answers: string[][] = [];
    for (const search of searches) answers.push(await searchIds(viewer, agent.id, search)); // few run concurrently
    return answers;
  };
  const before = await ask();
  expect(before[2]).toHaveLength(3);
  expect(before[15]).toEqual([own[3]!.id]);
  expect(await listMissingIndexes()).toEqual([dayName(today - DAY), dayName(today - 2 * DAY)]);
  await backgroundLock`select pg_advisory_unlock(hashtext('usage_search'))`;
  backgroundLock.release();
  await Promise.all([
    indexes().createMissingIndexes(today + 2 * 3_600_000),
    indexes().createMissingIndexes(today + 2 * 3_600_000),
  ]);
  expect(await listMissingIndexes()).toEqual([]);
  expect(await ask()).toEqual(before);
  const late = usageRecord({ agentId: agent.id, orgId: agent.orgId, startedAtMs: now - DAY, model: 'late-needle' });
  await ingest.report({ dataPlaneId: 'd', records: [late] });
  expect(await searchIds(viewer, agent.id, 'E-NEEDL')).toEqual([late.id]);
  // The query must use the expressions of the index; otherwise the index is unused.
  const plan = await sql().begin(async (tx) => {
    await tx`set local enable_seqscan = off`;
    await tx`set local enable_indexscan = off`;
    return tx`explain select 1 from ${tx(dayName(today - DAY))} where ${tx.unsafe(SEARCH_EXPRESSION)} ilike '%needle%'`;
  });
  expect(JSON.stringify(plan)).toContain(`${dayName(today - DAY)}_search`);
});

test('search index: an unfinished index is recreated', async () => {
  const name = dayName(today - 5 * DAY);
  await createIngest(sql()).report({ dataPlaneId: 'd', records: [usageRecord({ startedAtMs: today - 5 * DAY })] });
  await indexes().createMissingIndexes(today + 2 * 3_600_000);
  await sql()`update pg_index set indisvalid = false where indexrelid = ${`${name}_search`}::regclass`;
  expect(await listMissingIndexes()).toEqual([name]);
  await indexes().createMissingIndexes(today + 2 * 3_600_000);
  expect(await listMissingIndexes()).toEqual([]);
});

test('search index: the current day has none, nor has a day that ended less than an hour ago', async () => {
  await createIngest(sql()).report({ dataPlaneId: 'd', records: [usageRecord({ startedAtMs: today - 6 * DAY })] });
  const asOf = today - 5 * DAY + 30 * 60_000;
  expect((await partitionsWithoutSearchIndex(sql(), asOf)).map(({ name }) => name)).not.toContain(
    dayName(today - 6 * DAY),
  );
  expect(await listMissingIndexes()).toContain(dayName(today - 6 * DAY));
});

test('search index: without pg_trgm no index exists and nothing fails', async () => {
  await sql()`drop extension pg_trgm cascade`;
  const before = await listMissingIndexes();
  expect(before.length).toBeGreaterThan(0);
  await indexes().createMissingIndexes(today + 2 * 3_600_000);
  expect(await listMissingIndexes()).toEqual(before);
});
