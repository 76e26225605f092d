/** The calls of an organization, compared with a plain filter over the recorded calls. */
import { createLogger } from '@acg/base/log';
import { uuidv7 } from '@acg/base/uuidv7';
import { searchOlderCalls } from '@acg/client/search-older-calls';
import { LogSearchIndexes } from '@acg/controlplane/ledger/log-search-index';
import { CallLog } from '@acg/controlplane/reports/calls/call-log';
import type { CallsReply } from '@acg/controlplane/reports/calls/call-schema';
import { QueryConcurrencyLimiter } from '@acg/controlplane/reports/query/query-concurrency-limiter';
import { beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { createIngest, type InsertedAgent, insertAgent, newId, usageRecord } from '../ledger/usage-fixture.js';

const plane = useControlPlane();
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NANOS_PER_CENT = 10_000_000;
const now = Date.now();
const KEYS = [newId(), newId(), newId()];

let owner: Member;
let agents: (InsertedAgent & { readonly projectId: string })[];
let keyId: string;
const records: ReturnType<typeof usageRecord>[] = [];

beforeAll(async () => {
  owner = await plane().createMember('owner');
  const { sql } = plane().database;
  const { orgId } = owner;
  agents = await Promise.all(
    [0, 1, 2].map(async () => {
      const agent = await insertAgent(sql, orgId);
      const [row] = await sql<{ projectId: string }[]>`
        select project_id as "projectId" from agents where id = ${agent.id}`;
      return { ...agent, ...row! };
    }),
  );
  const body = { name: 'ci', projectId: agents[0]!.projectId, agentId: agents[0]!.id };
  keyId = (await owner.call('POST', '/v1/api-keys', body)).body.key.id;
  for (let i = 0; i < 900; i++) {
    const startedAtMs = now - (((i - (i % 3)) * 7_919_317) % (5 * DAY)); // three at a time
    const agent = agents[Math.floor(i ** 1.5) % 3]!;
    records.push(
      usageRecord({
        id: uuidv7(startedAtMs),
        agentId: agent.id,
        orgId,
        // A record without a project belongs to the project of its agent.
        ...(i % 4 === 0 ? {} : { projectId: agent.projectId }),
        keyId: i % 11 === 0 ? keyId : KEYS[i % 3]!,
        providerSlug: ['openai', 'anthropic', 'resend'][(i >> 2) % 3]!,
        model: ['', 'gpt-5-mini', 'claude-sonnet'][(i >> 3) % 3]!,
        path: i % 50 === 0 ? `/v1/Batches/${i}` : '/v1/chat/completions',
        error: i % 13 === 0 ? 'timeout' : '',
        responseStatus: [200, 201, 404, 429, 500, 503][(i >> 1) % 6]!,
        costNanos: (i * 7_654_321) % 90_000_000,
        startedAtMs,
      }),
    );
  }
  await createIngest(sql).report({ dataPlaneId: 'd', records });
  await new LogSearchIndexes(sql, createLogger('test', 'silent')).createMissingIndexes(now);
  const stranger = await plane().createMember('owner');
  const { id } = await insertAgent(sql, stranger.orgId);
  await createIngest(sql).report({
    dataPlaneId: 'd',
    records: Array.from({ length: 50 }, () => usageRecord({ agentId: id, orgId: stranger.orgId })),
  });
});

type Record = (typeof records)[number];
const searchableText = (r: Record): string => [r.path, r.model, r.error, r.id].join('\n').toLowerCase();
const iso = (ms: number): string => new Date(ms).toISOString();

/** Each filter with its query and its predicate. */
const filters = (): Readonly<{ [name: string]: readonly (readonly [string, (r: Record) => boolean])[] }> => ({
  agentId: agents.map(({ id }) => [`agentId=${id}`, (r: Record) => r.agentId === id] as const),
  projectId: agents.map(({ id, projectId }) => [`projectId=${projectId}`, (r: Record) => r.agentId === id] as const),
  keyId: [...KEYS, keyId, newId()].map((id) => [`keyId=${id}`, (r: Record) => r.keyId === id] as const),
  provider: ['openai', 'vercel'].map((slug) => [`provider=${slug}`, (r: Record) => r.providerSlug === slug] as const),
  model: ['', 'gpt-5-mini', 'gpt'].map((model) => [`model=${model}`, (r: Record) => r.model === model] as const),
  status: [
    ['status=404', (r) => r.responseStatus === 404],
    ['status=4xx', (r) => r.responseStatus! >= 400 && r.responseStatus! < 500],
    ['status=201,5xx', (r) => r.responseStatus === 201 || r.responseStatus! >= 500],
    ['status=418', () => false],
  ],
  minCost: [
    ['minCost=4.5', (r) => r.costNanos! >= 4.5 * NANOS_PER_CENT],
    ['minCost=0', () => true],
  ],
  search: [
    ['search=BATCH', (r) => searchableText(r).includes('batch')],
    ['search=timeout', (r) => searchableText(r).includes('timeout')],
    ['search=e7', (r) => searchableText(r).includes('e7')],
    ['search=%25', () => false],
    [`search=${records[7]!.id!.slice(9)}`, (r) => r.id!.endsWith(records[7]!.id!.slice(9))],
  ],
  time: [
    [`startTime=${iso(now - 2 * DAY)}`, (r) => r.startedAtMs! >= now - 2 * DAY],
    [`endTime=${iso(now - 30 * HOUR)}`, (r) => r.startedAtMs! < now - 30 * HOUR],
    [
      `startTime=${iso(now - 3 * DAY)}&endTime=${iso(now - DAY)}`,
      (r) => r.startedAtMs! >= now - 3 * DAY && r.startedAtMs! < now - DAY,
    ],
  ],
});

const newestFirst = (a: Record, b: Record): number => b.startedAtMs! - a.startedAtMs! || (a.id! < b.id! ? 1 : -1);
const filterRecords = (tests: readonly ((r: Record) => boolean)[]): Record[] =>
  records.filter((record) => tests.every((matches) => matches(record))).sort(newestFirst);
const searchCalls = async (query: string): Promise<CallsReply> => {
  const { status, body } = await owner.call('GET', `/v1/usage/logs?${query}`);
  expect([query, status, body.error]).toEqual([query, 200, undefined]);
  return body;
};
const listIds = ({ logs }: Pick<CallsReply, 'logs'>): string[] => logs.map(({ id }) => id);

test('calls: each filter, and any two of them, find what a plain filter over the records finds, newest first', async () => {
  const all = Object.values(filters());
  const cases = all.flat().map(([query, matches]) => ({ query, tests: [matches] }));
  all.forEach((some, i) => {
    for (const other of all.slice(i + 1)) {
      const [one, two] = [some[i % some.length]!, other[i % other.length]!];
      cases.push({ query: `${one[0]}&${two[0]}`, tests: [one[1], two[1]] });
    }
  });
  for (const { query, tests } of [{ query: '', tests: [] }, ...cases]) {
    const expected = filterRecords(tests);
    const page = await searchCalls(`${query}&limit=20`);
    expect({ query, ids: listIds(page), total: page.total }).toEqual({
      query,
      ids: expected.slice(0, 20).map(({ id }) => id),
      total: expected.length,
    });
    expect([query, page.totalCapped, page.searchedFrom]).toEqual([query, false, null]);
    const last = await searchCalls(`${query}&limit=20&offset=${Math.max(0, expected.length - 7)}`);
    expect([query, listIds(last)]).toEqual([query, expected.slice(-7).map(({ id }) => id)]);
  }
  expect(cases.length).toBeGreaterThan(50);
});

const actor = () => ({
  userId: owner.userId,
  email: '',
  orgId: owner.orgId,
  role: 'viewer' as const,
  ip: '',
  session: null,
  token: null,
});

const UNBOUNDED_SEARCH = { scanTimeMaxMs: Number.POSITIVE_INFINITY, indexTimeoutMs: 60_000 };

test.each([
  [
    'for its number of records',
    { scannedRowsMax: 91, countedRowsMax: 40, firstChunkRows: 10, chunkRowsMax: 30, ...UNBOUNDED_SEARCH },
    6,
  ],
  [
    'for its time',
    {
      scannedRowsMax: 900,
      countedRowsMax: 900,
      firstChunkRows: 20,
      chunkRowsMax: 900,
      scanTimeMaxMs: 0,
      indexTimeoutMs: 1,
    },
    20,
  ],
])(
  'calls: a search that is given up %s says from where on, and goes on from there without losing one',
  async (_, bounds, roundsMin) => {
    const calls = new CallLog(new QueryConcurrencyLimiter(plane().database.sql), () => now, bounds);
    const asked = [
      { status: '404' },
      { status: '418' },
      { search: 'e7' },
      { provider: 'resend', minCost: 8 },
      { search: 'timeout' },
    ];
    for (const query of asked) {
      const { body } = await owner.call('GET', `/v1/usage/logs?limit=100&${new URLSearchParams(query as never)}`);
      const found = new Set<string>();
      let endTime: string | undefined;
      let rounds = 0;
      for (;;) {
        const page = { limit: 100, offset: 0 };
        const reply = await calls.list(actor(), { ...query, ...(endTime === undefined ? {} : { endTime }) }, page);
        for (const id of listIds(reply)) found.add(id);
        expect(reply.totalCapped).toBe(reply.searchedFrom !== null);
        rounds++;
        if (reply.searchedFrom === null) break;
        expect(reply.searchedFrom < (endTime ?? iso(now + DAY))).toBe(true);
        endTime = reply.searchedFrom;
      }
      // The index finds a long word in one go, if it is in time.
      if (query.search !== 'timeout') expect(rounds).toBeGreaterThanOrEqual(roundsMin);
      expect(body.totalCapped).toBe(false);
      expect([...found].slice(0, 100)).toEqual(listIds(body));
      expect(found.size).toBe(body.total);
    }
  },
);

test('calls: a client that continues where responses end gets the same pages as one unbounded response', async () => {
  const bounds = { scannedRowsMax: 60, countedRowsMax: 40, firstChunkRows: 10, chunkRowsMax: 30, ...UNBOUNDED_SEARCH };
  const calls = new CallLog(new QueryConcurrencyLimiter(plane().database.sql), () => now, bounds);
  const filter = { status: '5xx', model: 'gpt-5-mini' };
  const matching = filterRecords([(r) => r.responseStatus! >= 500, ({ model }) => model === 'gpt-5-mini']);
  expect(matching.length).toBeGreaterThan(60);
  const load = ({ limit, offset, ...query }: { limit: number; offset: number }) =>
    calls.list(actor(), { ...filter, ...query }, { limit, offset });
  for (const offset of [0, 25, 50, 75, 100]) {
    const page = await searchOlderCalls<CallsReply['logs'][number], CallsReply>(load, { limit: 25, offset }, 100);
    expect(listIds(page)).toEqual(matching.slice(offset, offset + 25).map(({ id }) => id));
    expect(page).toMatchObject({ limit: 25, offset, searchedFrom: null });
    if (page.logs.length < 25) expect(page).toMatchObject({ total: matching.length, totalCapped: false });
  }
  const endTime = iso(now - 2 * DAY);
  const older = matching.filter(({ startedAtMs }) => startedAtMs! < now - 2 * DAY).map(({ id }) => id);
  const all = await searchOlderCalls<CallsReply['logs'][number], CallsReply>(
    load,
    { limit: 100, offset: 0, endTime },
    100,
  );
  expect(listIds(all)).toEqual(older);
  const some = await searchOlderCalls<CallsReply['logs'][number], CallsReply>(
    load,
    { limit: 100, offset: 0, endTime },
    3,
  );
  expect(older.slice(0, some.logs.length)).toEqual(listIds(some));
  expect(some.logs.length).toBeLessThan(older.length);
  expect(some.searchedFrom).not.toBeNull();
});

test('calls: a full page ends the search, and the total is the count so far', async () => {
  const bounds = { scannedRowsMax: 500, countedRowsMax: 40, firstChunkRows: 10, chunkRowsMax: 30, ...UNBOUNDED_SEARCH };
  const calls = new CallLog(new QueryConcurrencyLimiter(plane().database.sql), () => now, bounds);
  const reply = await calls.list(actor(), { status: '2xx' }, { limit: 5, offset: 0 });
  const expected = filterRecords([(r) => r.responseStatus! < 300]);
  expect(listIds(reply)).toEqual(expected.slice(0, 5).map(({ id }) => id));
  expect(reply).toMatchObject({ totalCapped: true, searchedFrom: null });
  expect(reply.total).toBeGreaterThanOrEqual(5);
  expect(reply.total).toBeLessThan(expected.length);
});

test('calls: one call by id with the values of its record; a row of the list has the same values', async () => {
  const record = records.find((one) => one.keyId === keyId && one.agentId === agents[0]!.id && one.model !== '')!;
  const { status, body } = await owner.call('GET', `/v1/usage/logs/${record.id}`);
  expect(status).toBe(200);
  // Not all fields: call-log-fields.test.ts checks that a call has every field of the list.
  expect(body.log).toMatchObject({
    id: record.id,
    requestId: record.id,
    createdAt: iso(record.startedAtMs!),
    agentId: agents[0]!.id,
    agentName: agents[0]!.name,
    projectId: agents[0]!.projectId,
    projectName: 'P',
    keyId,
    keyName: 'ci',
    keyPrefix: expect.stringMatching(/^acg_/),
    providerSlug: record.providerSlug,
    accountId: record.accountId,
    method: 'POST',
    path: record.path,
    status: record.responseStatus,
    upstreamStatus: 200,
    error: record.error || null,
    model: record.model,
    tokensIn: 123,
    tokensOut: 50,
    tokensCacheRead: 20,
    tokensCacheWrite: 3,
    tokensReasoning: 10,
    costCents: record.costNanos! / NANOS_PER_CENT,
    usageSource: 'reported',
    priceSource: 'library',
    durationMs: 250,
    ttfbMs: 120,
    bytesIn: 512,
    bytesOut: 2_048,
    streamed: false,
    websocket: false,
    dataPlaneId: 'd',
  });
  const { logs } = await searchCalls(`search=${record.id}`);
  expect(logs).toEqual([body.log]);
});

test('calls: calls of a deleted agent stay, without its name', async () => {
  const { sql } = plane().database;
  const gone = await insertAgent(sql, owner.orgId);
  const id = uuidv7(now);
  const call = usageRecord({ id, agentId: gone.id, orgId: owner.orgId, startedAtMs: now, model: 'of-the-gone' });
  await createIngest(sql).report({ dataPlaneId: 'd', records: [call] });
  await sql`delete from agents where id = ${gone.id}`;
  const { body } = await owner.call('GET', `/v1/usage/logs/${id}`);
  expect(body.log).toMatchObject({ agentId: gone.id, agentName: null, projectId: null, keyName: null });
  expect(listIds(await searchCalls('model=of-the-gone'))).toEqual([id]);
  expect(listIds(await searchCalls(`agentId=${gone.id}`))).toEqual([id]);
});

test('calls: those of another organization are invisible, and so are those of another project for a project token', async () => {
  const stranger = await plane().createMember('owner');
  const record = records.find(({ agentId }) => agentId === agents[1]!.id)!;
  expect((await stranger.call('GET', `/v1/usage/logs/${record.id}`)).status).toBe(404);
  expect((await stranger.call('GET', '/v1/usage/logs')).body).toMatchObject({ logs: [], total: 0 });
  for (const query of [`agentId=${agents[1]!.id}`, `projectId=${agents[1]!.projectId}`])
    expect((await stranger.call('GET', `/v1/usage/logs?${query}`)).status).toBe(404);
  const body = { name: 't', role: 'viewer', projectId: agents[0]!.projectId };
  const { secretToken: token } = (await owner.call('POST', '/v1/management-tokens', body)).body;
  const asToken = (path: string) => plane().call('GET', path, { token });
  expect((await asToken(`/v1/usage/logs/${record.id}`)).status).toBe(404);
  const own = records.find(({ agentId }) => agentId === agents[0]!.id)!;
  expect((await asToken(`/v1/usage/logs/${own.id}`)).status).toBe(200);
  const listed = (await asToken('/v1/usage/logs?limit=100')).body as CallsReply;
  expect(new Set(listed.logs.map(({ agentId }) => agentId))).toEqual(new Set([agents[0]!.id]));
  expect(listed.total).toBe(records.filter(({ agentId }) => agentId === agents[0]!.id).length);
});

test.each([
  ['status=4x', 'status must be statuses or classes of them, such as 404 or 4xx,5xx'],
  ['status=200,', 'status must be statuses or classes of them, such as 404 or 4xx,5xx'],
  ['minCost=-1', 'minCost must be >= 0'],
  ['startTime=yesterday', expect.stringContaining('startTime must match format')],
  ['startTime=2026-06-30T23:59:60Z', 'startTime is not a valid time'],
  ['startTime=2026-01-02T00:00:00Z&endTime=2026-01-01T00:00:00Z', 'startTime must not be after endTime'],
  ['offset=100001', 'offset must be at most 100000. Set endTime to read older calls.'],
  ['day=today', 'unknown query parameter "day"'],
])('calls: %s is 400', async (query, error) => {
  const { status, body } = await owner.call('GET', `/v1/usage/logs?${query}`);
  expect([status, body]).toEqual([400, { error }]);
});

test('calls: times at the ends of the calendar and ids of no data plane get a response', async () => {
  for (const query of ['endTime=9999-12-31T23:59:59-14:00', 'startTime=0001-01-01T00:00:00%2B14:00'])
    expect((await searchCalls(query)).logs.length).toBeGreaterThan(0);
  for (const id of ['ffffffff-ffff-7fff-bfff-ffffffffffff', '00000000-0000-0000-0000-000000000000', newId()])
    expect((await owner.call('GET', `/v1/usage/logs/${id}`)).status).toBe(404);
});
