/** Usage by tag and day: booked once, bounded per key and day, exact for values with a budget. */
import { boundTagValues, newTagSums, TAG_KEYS_MAX, TAG_VALUES_MAX } from '@acg/controlplane/ledger/tag-rollups';
import type { IUsageRecord } from '@acg/proto/messages';
import { expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';
import { createIngest, insertAgent, newId, usageRecord } from './usage-fixture.js';

const db = useTestDatabase();
const DAY = new Date().toISOString().slice(0, 10);

async function createScene() {
  const orgId = newId();
  await db().sql`insert into organizations (id, name, slug) values (${orgId}, 'O', ${orgId})`;
  const agent = await insertAgent(db().sql, orgId);
  const call = (tags: string, changes: Partial<IUsageRecord> = {}) =>
    usageRecord({ orgId, agentId: agent.id, tags, day: DAY, costNanos: 1, ...changes });
  const sums = (key: string) => db().sql<{ value: string; requests: number; cost: number }[]>`
    select value, sum(requests)::int as requests, sum(cost_nanos)::int as cost from usage_tags
     where org_id = ${orgId} and key = ${key} and day = ${DAY} group by value order by value`;
  return { orgId, agentId: agent.id, call, sums };
}

test('tags of records and deferred usage are summed once', async () => {
  const { orgId, agentId, call, sums } = await createScene();
  const { report } = createIngest(db().sql);
  const records = [call('customer=acme,feature=x'), call('customer=acme'), call(''), call('customer=b,,bad tag,X=1')];
  const line = { id: 'a', model: 'o3', costNanos: 100 };
  const fetch = { recordId: newId(), orgId, agentId, keyId: newId(), providerSlug: 'openai', startedAtMs: Date.now() };
  const lines = [{ ...fetch, sourceId: 'f', day: DAY, tags: 'customer=acme', lines: [line] }];
  for (let i = 0; i < 2; i++) await report({ dataPlaneId: 'dp', records, lines });
  expect([...(await sums('customer'))]).toEqual([
    { value: 'acme', requests: 2, cost: 102 },
    { value: 'b', requests: 1, cost: 1 },
  ]);
  expect([...(await sums('feature'))]).toEqual([{ value: 'x', requests: 1, cost: 1 }]);
});

test('values beyond the bound are summed as other, unless they have a budget; keys beyond the bound have no sums', async () => {
  const { orgId, call, sums } = await createScene();
  const ingests = [createIngest(db().sql), createIngest(db().sql)];
  await db().sql`
    insert into budgets (id, org_id, time_window, cents, mode, tag) values (${newId()}, ${orgId}, 'day', 1, 'soft', 'user=zz-paid')`;
  const values = Array.from({ length: TAG_VALUES_MAX + 200 }, (_, i) => `user=u${String(i).padStart(4, '0')}`);
  // Both control planes book the same day at once.
  await Promise.all(
    ingests.map(({ report }, i) =>
      report({ dataPlaneId: `dp${i}`, records: values.filter((_, at) => at % 2 === i).map((tags) => call(tags)) }),
    ),
  );
  await ingests[0]!.report({
    dataPlaneId: 'dp',
    records: [call('user=zz-paid'), call('user=late'), call('user=u0000')],
  });
  const rows = await sums('user');
  expect(rows).toHaveLength(TAG_VALUES_MAX + 2);
  expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(values.length + 3);
  expect(rows.find(({ value }) => value === 'other')!.requests).toBeGreaterThanOrEqual(201);
  expect(rows.find(({ value }) => value === 'zz-paid')!.requests).toBe(1);

  const keys = Array.from({ length: TAG_KEYS_MAX + 5 }, (_, i) => `k${String(i).padStart(2, '0')}`);
  await ingests[1]!.report({ dataPlaneId: 'dp', records: keys.map((key) => call(`${key}=1`)) });
  const [{ count }] = await db().sql<[{ count: number }]>`
    select count(distinct key)::int as count from usage_tags where org_id = ${orgId}`;
  expect(count).toBe(TAG_KEYS_MAX); // with `user`
});

test.each([TAG_KEYS_MAX - 1, TAG_KEYS_MAX])(
  'thousands of new values beside %i full keys read a few pages each',
  async (fullKeys) => {
    const { orgId, agentId } = await createScene();
    await db().sql`
      insert into usage_tag_values (org_id, day, key, value)
      select ${orgId}, ${DAY}, 'k' || k, 'v' || v
        from generate_series(1, ${fullKeys}::int) k, generate_series(1, ${TAG_VALUES_MAX}::int) v`;
    const usage = Array.from({ length: 4_000 }, (_, i) => {
      const key = i % 2 === 0 ? 'k1' : 'user';
      const byAgent = new Map([[agentId, { agentId, projectId: '', ...newTagSums() }]]);
      return { orgId, key, day: DAY, value: `random-${i}`, byAgent };
    });
    const pages = await db().sql.begin(async (tx) => {
      const countPages = async () => {
        const [row] = await tx<{ pages: number }[]>`
          select pg_stat_get_xact_blocks_fetched('usage_tag_values'::regclass)
               + pg_stat_get_xact_blocks_fetched('usage_tag_values_pkey'::regclass) as pages`;
        return row!.pages;
      };
      const before = await countPages();
      const bounded = await boundTagValues(tx, usage);
      const own = bounded.filter(({ value }) => value !== 'other');
      expect(own).toHaveLength(fullKeys < TAG_KEYS_MAX ? TAG_VALUES_MAX : 0);
      return (await countPages()) - before;
    });
    expect(pages).toBeGreaterThan(0);
    expect(pages).toBeLessThan(20 * usage.length);
  },
);
