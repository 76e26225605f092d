/** Forwarded and rejected calls in one list: order, filters, cursors and rights, compared with a plain filter. */
import { uuidv7 } from '@acg/base/uuidv7';
import { MergedCalls } from '@acg/controlplane/reports/calls/merged-calls';
import { SEARCH_LIMITS } from '@acg/controlplane/reports/calls/search-calls-in-bounded-chunks';
import { QueryConcurrencyLimiter } from '@acg/controlplane/reports/query/query-concurrency-limiter';
import { beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { createIngest, insertAgent, newId, usageRecord } from '../ledger/usage-fixture.js';

const plane = useControlPlane();
const now = Date.now();
const APART_MS = 1_000;
const CALLS = 240;
const KEYS = [newId(), newId()] as const;
let owner: Member;
let agentIds: string[];

interface TestCall {
  readonly id: string;
  readonly atMs: number;
  readonly isRejected: boolean;
  readonly agentId: string;
  readonly keyId: string;
  readonly path: string;
  readonly status: number;
  readonly reason: string | null;
}
const calls: TestCall[] = [];

beforeAll(async () => {
  owner = await plane().createMember('owner');
  const { sql } = plane().database;
  const { orgId } = owner;
  agentIds = [(await insertAgent(sql, orgId)).id, (await insertAgent(sql, orgId)).id];
  for (let i = 0; i < CALLS; i++) {
    // Four calls of both kinds at each instant.
    const atMs = now - (i - (i % 4)) * APART_MS;
    const isRejected = (i * 7) % 3 === 0;
    calls.push({
      id: uuidv7(atMs),
      atMs,
      isRejected,
      agentId: agentIds[(i >> 1) % 2]!,
      keyId: KEYS[(i >> 2) % 2]!,
      path: i % 10 < 2 ? `/v1/rare/${i}` : '/v1/chat/completions',
      status: isRejected ? [429, 403][i % 2]! : [200, 500, 429][i % 3]!,
      reason: isRejected ? ['rpm', 'sensitive_path'][i % 2]! : null,
    });
  }
  const records = calls
    .filter(({ isRejected }) => !isRejected)
    .map(({ id, atMs, agentId, keyId, path, status }) =>
      usageRecord({ id, orgId, agentId, keyId, path, startedAtMs: atMs, responseStatus: status, error: '' }),
    );
  const rejections = calls
    .filter(({ isRejected }) => isRejected)
    .map(({ id, atMs, agentId, keyId, path, status, reason }) => ({
      ...{ id: newId(), orgId, agentId, providerSlug: 'openai', reason, count: 1, minuteMs: atMs - (atMs % 60_000) },
      calls: [
        {
          ...{ id, keyId, rejectedAtMs: atMs, status, path },
          ...{ method: 'POST', model: 'gpt-4o-mini', tool: '', clientNetwork: '192.0.2.1' },
        },
      ],
    }));
  await createIngest(sql).report({ dataPlaneId: 'd', records, rejections });
  const stranger = await plane().createMember('owner');
  const { id } = await insertAgent(sql, stranger.orgId);
  await createIngest(sql).report({ dataPlaneId: 'd', records: [usageRecord({ orgId: stranger.orgId, agentId: id })] });
});

type Page = { calls: { id: string; state: string; at: string }[]; nextCursor: string | null; searchedFrom: string };
const newestFirst = (a: TestCall, b: TestCall): number => b.atMs - a.atMs || (a.id < b.id ? 1 : -1);
const expected = (keep: (call: TestCall) => boolean): string[] =>
  calls
    .filter(keep)
    .sort(newestFirst)
    .map(({ id }) => id);

async function readAll(query: string, caller: Member = owner): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const from: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { status, body } = await caller.call('GET', `/v1/usage/calls?${query}${from}`);
    expect(status).toBe(200);
    const page: Page = body;
    ids.push(...page.calls.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  return ids;
}

test('every filter pages through exactly the matching calls of both kinds, newest first', async () => {
  const cases: readonly (readonly [string, (call: TestCall) => boolean])[] = [
    ['limit=7', () => true],
    ['limit=100', () => true],
    ['state=rejected&limit=9', ({ isRejected }) => isRejected],
    ['state=forwarded&limit=9', ({ isRejected }) => !isRejected],
    [`agentId=${agentIds[1]}&limit=10`, ({ agentId }) => agentId === agentIds[1]],
    [`keyId=${KEYS[0]}&limit=11`, ({ keyId }) => keyId === KEYS[0]],
    ['status=429&limit=8', ({ status }) => status === 429],
    ['status=4xx,500&limit=8', ({ status }) => status !== 200],
    ['search=RARE&limit=5', ({ path }) => path.includes('rare')],
    ['search=sensitive&limit=5', ({ reason }) => reason === 'sensitive_path'],
    ['reason=rpm&limit=6', ({ reason }) => reason === 'rpm'],
    ['provider=anthropic', () => false],
    ['minCost=0&limit=50', () => true],
    ['minCost=0.1&limit=50', ({ isRejected }) => !isRejected],
    [`runId=${newId()}`, () => false],
    [`startTime=${new Date(now - 40_000).toISOString()}&limit=3`, ({ atMs }) => atMs >= now - 40_000],
    [`endTime=${new Date(now - 40_000).toISOString()}&limit=20`, ({ atMs }) => atMs < now - 40_000],
  ];
  for (const [query, keep] of cases) expect([query, await readAll(query)]).toEqual([query, expected(keep)]);
  const [first] = (await owner.call('GET', '/v1/usage/calls?limit=1&state=rejected')).body.calls;
  expect(first).toMatchObject({
    forwarded: null,
    rejected: { reason: expect.any(String), clientNetwork: '192.0.2.1' },
  });
});

test('a search that its bounds end goes on where it stopped, and skips no call', async () => {
  const { sql } = plane().database;
  const limits = { ...SEARCH_LIMITS, firstChunkRows: 16, scannedRowsMax: 20, countedRowsMax: 20 };
  const merged = new MergedCalls(new QueryConcurrencyLimiter(sql), Date.now, limits, 12);
  const actor = { orgId: owner.orgId, role: 'owner', token: null } as Parameters<MergedCalls['list']>[0];
  const found: string[] = [];
  let requests = 0;
  let stops = 0;
  for (let cursor: string | null = ''; cursor !== null; requests++) {
    const query = { search: 'rare', limit: 10, ...(cursor === '' ? {} : { cursor }) };
    const page: Awaited<ReturnType<MergedCalls['list']>> = await merged.list(actor, query);
    found.push(...page.calls.map(({ id }) => id));
    if (page.searchedFrom !== null) stops++;
    expect(requests).toBeLessThan(CALLS);
    cursor = page.nextCursor;
  }
  expect(found).toEqual(expected(({ path }) => path.includes('rare')));
  expect(stops).toBeGreaterThan(3);
});

test('viewers get forwarded calls only, and a changed cursor is 400', async () => {
  const viewer = await plane().createMember('viewer', owner.orgId);
  expect(await readAll('limit=100', viewer)).toEqual(expected(({ isRejected }) => !isRejected));
  for (const query of ['state=rejected', 'reason=rpm']) {
    expect((await viewer.call('GET', `/v1/usage/calls?${query}`)).status).toBe(403);
  }
  const uuid = newId();
  for (const cursor of [
    ...['', 'x', uuid, `2026-13-01T00:00:00.000000Z_${uuid}`, `2026-02-30T00:00:00.000000Z_${uuid}`],
    ...[`2026-01-01T00:00:00Z_${uuid}`, `2026-01-01T25:00:00.000000Z_${uuid}`, `0000-01-01T00:00:00.000000Z_${uuid}`],
  ])
    expect([cursor, (await owner.call('GET', `/v1/usage/calls?cursor=${cursor}`)).status]).toEqual([cursor, 400]);
});
