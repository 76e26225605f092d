import { createLogger } from '@acg/base/log';
import type { Sql, Tx } from '@acg/controlplane/db/postgres-client';
import { startOfUtcDay, UsagePartitions } from '@acg/controlplane/ledger/create-usage-day-partitions';
import { DailyRollups } from '@acg/controlplane/ledger/daily-rollups';
import { LatencySketch } from '@acg/controlplane/ledger/latency-sketch';
import type { BookedUsage } from '@acg/controlplane/ledger/usage-ingest';
import { UsageRetention } from '@acg/controlplane/ledger/usage-retention';
import type { IUsageRecord } from '@acg/proto/messages';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';
import { createIngest, newId, usageRecord } from './usage-fixture.js';

const db = useTestDatabase();
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const now = Date.now();

interface LedgerSums {
  requests: number;
  errors: number;
  tokensIn: number;
  tokensOut: number;
  cost: number;
  duration: number;
  sketch: string;
}

/** The expected ledger, computed from each record once. */
function expectedLedger(records: readonly IUsageRecord[]) {
  const hours = new Map<string, LedgerSums & { calls: IUsageRecord[] }>();
  const months = new Map<string, number>();
  for (const r of new Map(records.map((record) => [record.id, record])).values()) {
    const at = new Date(r.startedAtMs!);
    const key = `${r.agentId} ${at.toISOString().slice(0, 13)} ${r.providerSlug}`;
    const sums = hours.get(key) ?? {
      requests: 0,
      errors: 0,
      tokensIn: 0,
      tokensOut: 0,
      cost: 0,
      duration: 0,
      sketch: '',
      calls: [],
    };
    sums.requests++;
    sums.errors += r.responseStatus! >= 400 || r.error !== '' ? 1 : 0;
    sums.tokensIn += r.tokensInUncached! + r.tokensCacheRead! + r.tokensCacheWrite!;
    sums.tokensOut += r.tokensOut!;
    sums.cost += r.costNanos!;
    sums.duration += r.durationMs!;
    sums.calls.push(r);
    hours.set(key, sums);
    const month = `${r.agentId} ${at.toISOString().slice(0, 7)}`;
    if (r.costNanos! > 0) months.set(month, (months.get(month) ?? 0) + r.costNanos!);
  }
  const rollups = [...hours].map(([key, { calls, ...sums }]) => {
    const sketch = new LatencySketch();
    for (const { durationMs, responseStatus } of calls) {
      sketch.addLatency(durationMs!);
      sketch.addStatus(responseStatus!);
    }
    return [key, { ...sums, sketch: sketch.encode().toString('hex') }] as const;
  });
  return { hours: Object.fromEntries(rollups), months: Object.fromEntries(months) };
}

async function readLedger(agents: readonly string[]) {
  const rows = await db().sql<(LedgerSums & { key: string; bytes: Buffer })[]>`
    select agent_id || ' ' || to_char(hour, 'YYYY-MM-DD"T"HH24') || ' ' || provider_slug as key, requests, errors,
      tokens_in as "tokensIn", tokens_out as "tokensOut", cost_nanos as cost, duration_ms_sum as duration,
      latency_sketch as bytes from usage_hourly where agent_id = any(${[...agents]}::uuid[])`;
  const months = await db().sql<{ key: string; spent: number }[]>`
    select agent_id || ' ' || month as key, spent_nanos as spent from month_spend
     where agent_id = any(${[...agents]}::uuid[])`;
  return {
    hours: Object.fromEntries(
      rows.map(({ key, bytes, ...sums }) => [
        key,
        { ...sums, sketch: LatencySketch.decode(bytes).encode().toString('hex') },
      ]),
    ),
    months: Object.fromEntries(months.map(({ key, spent }) => [key, spent])),
  };
}

const createRecord = (agents: readonly string[]) =>
  fc.record({
    agentId: fc.constantFrom(...agents),
    providerSlug: fc.constantFrom('openai', 'anthropic', 'resend'),
    startedAtMs: fc.integer({ min: now - 3 * DAY, max: now }),
    responseStatus: fc.constantFrom(200, 201, 400, 429, 500, 502),
    error: fc.constantFrom('', 'timeout'),
    tokensInUncached: fc.nat(10_000),
    tokensCacheRead: fc.nat(100),
    tokensCacheWrite: fc.nat(100),
    tokensOut: fc.nat(10_000),
    costNanos: fc.oneof(fc.constant(0), fc.nat(2_000_000_000)),
    durationMs: fc.nat(600_000),
  });

test('ledger: replayed and split reports through several control planes add up to each record once', async () => {
  const planes = [createIngest(db().sql), createIngest(db().sql)];
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.array(fc.tuple(fc.nat(), fc.nat(40)), { minLength: 1, maxLength: 12 }),
      async (seed, cuts) => {
        const agents = [newId(), newId(), newId()];
        const [shapes] = fc.sample(fc.array(createRecord(agents), { minLength: 1, maxLength: 60 }), {
          seed,
          numRuns: 1,
        });
        const records = shapes!.map((shape) => usageRecord(shape));
        // Overlapping slices, from both planes at once, then everything again.
        const slices = cuts.map(([from, size]) =>
          records.slice(from % records.length, (from % records.length) + size + 1),
        );
        const reports = [...slices, records].map((slice, i) =>
          planes[i % 2]!.report({ dataPlaneId: 'd', records: slice }),
        );
        for (const answer of await Promise.all(reports)) expect(answer.rejected).toEqual([]);
        await planes[0]!.report({ dataPlaneId: 'd', records: [...records].reverse() });
        expect(await readLedger(agents)).toEqual(expectedLedger(records));
        const [count] = await db().sql<{ n: number }[]>`
        select count(*) as n from usage_records where agent_id = any(${agents}::uuid[])`;
        expect(count!.n).toBe(records.length);
      },
    ),
    { numRuns: 15 },
  );
});

test('ledger: many writers over the same hot agents finish without deadlock and with exact sums', async () => {
  const planes = Array.from({ length: 4 }, () => createIngest(db().sql));
  const agents = Array.from({ length: 5 }, newId);
  const records = Array.from({ length: 1_200 }, (_, i) =>
    usageRecord({ agentId: agents[(i * 7) % 5]!, providerSlug: i % 3 === 0 ? 'openai' : 'vercel', durationMs: i }),
  );
  const reports = Array.from({ length: 40 }, (_, i) => {
    const slice = [...records.slice(i * 30, i * 30 + 60)].sort(() => (i % 2 === 0 ? 1 : -1));
    return planes[i % 4]!.report({ dataPlaneId: `d${i}`, records: slice });
  });
  await Promise.all(reports);
  expect(await readLedger(agents)).toEqual(expectedLedger(records));
});

test('ledger: a record keeps every field', async () => {
  const record = usageRecord({
    agentId: newId(),
    keyId: newId(),
    orgId: newId(),
    accountId: newId(),
    status: 0,
    responseStatus: 504,
    error: 'timeout',
    path: '/v1/"odd"\\path,{x}',
    model: "o'brien\n∅",
    ttfbMs: null,
    statedCostNanos: 1_230_000,
    streamed: true,
    websocket: true,
    probeLease: 'x',
  });
  await createIngest(db().sql).report({ dataPlaneId: 'plane "7"', records: [record] });
  const [row] = await db().sql`select * from usage_records where id = ${record.id!}`;
  expect(row).toMatchObject({
    started_at: new Date(record.startedAtMs!),
    org_id: record.orgId,
    agent_id: record.agentId,
    key_id: record.keyId,
    provider_slug: 'openai',
    account_id: record.accountId,
    method: 'POST',
    path: record.path,
    status: 504,
    upstream_status: 0,
    error: 'timeout',
    model: record.model,
    tokens_in_uncached: 100,
    tokens_cache_read: 20,
    tokens_cache_write: 3,
    tokens_out: 50,
    tokens_reasoning: 10,
    cost_nanos: 1_234_567,
    stated_cost_nanos: 1_230_000,
    usage_source: 'reported',
    price_source: 'library',
    duration_ms: 250,
    ttfb_ms: null,
    bytes_in: 512,
    bytes_out: 2_048,
    streamed: true,
    websocket: true,
    data_plane_id: 'plane "7"',
  });
});

test('ledger: invalid records are quarantined individually and named; the others are recorded', async () => {
  const good = [usageRecord(), usageRecord({ model: 'nul \0 inside', path: `/${'p'.repeat(5_000)}` })];
  const bad = [
    usageRecord({ agentId: 'nobody' }),
    usageRecord({ startedAtMs: now - 92 * DAY }),
    usageRecord({ startedAtMs: now + 3 * DAY }),
    usageRecord({ costNanos: 2 ** 60 }),
    usageRecord({ tokensOut: -1 }),
    usageRecord({ providerSlug: 'No Slug' }),
    usageRecord({ id: 'no-uuid\0' }),
  ];
  const ingest = createIngest(db().sql);
  const report = { dataPlaneId: 'd', records: [bad[0]!, good[0]!, ...bad.slice(1), good[1]!] };
  for (let times = 0; times < 2; times++) {
    const { rejected } = await ingest.report(report);
    expect(rejected!.map(({ id }) => id).sort()).toEqual(bad.map(({ id }) => id!).sort());
  }
  const ids = good.map(({ id }) => id!);
  const booked = await db().sql`select path, model from usage_records where id = any(${ids}::uuid[])`;
  expect(booked).toHaveLength(2);
  expect(booked.some((row) => row.model === 'nul \ufffd inside' && row.path.length === 1_024)).toBe(true);
  const kept = await db().sql`select reason, record from poison_records`;
  expect(kept).toHaveLength(bad.length);
  expect(kept.some(({ reason, record }) => reason.includes('agent_id') && record.agentId === 'nobody')).toBe(true);
});

test('ledger: a record that only the database rejects is quarantined, and the rest is recorded', async () => {
  const records = Array.from({ length: 9 }, () => usageRecord());
  const { sql } = db();
  await sql.unsafe(`alter table usage_records add constraint refuse check (id <> '${records[4]!.id}')`);
  const { rejected } = await createIngest(sql).report({ dataPlaneId: 'd', records });
  await sql`alter table usage_records drop constraint refuse`;
  expect(rejected!.map(({ id }) => id)).toEqual([records[4]!.id]);
  const ids = records.map(({ id }) => id!);
  const [count] = await sql<{ n: number }[]>`select count(*) as n from usage_records where id = any(${ids}::uuid[])`;
  expect(count!.n).toBe(8);
});

test('ledger: an organization with many invalid records does not block the records of others', async () => {
  const { sql } = db();
  const [many, one] = [newId(), newId()];
  const poison = (orgId: string, count: number) =>
    Array.from({ length: count }, () => usageRecord({ orgId, costNanos: 2 ** 50 }));
  const kept = async (orgId: string): Promise<number> => {
    const [row] = await sql<{ n: number }[]>`select count(*) as n from poison_records where org_id = ${orgId}`;
    return row!.n;
  };
  const ingest = createIngest(sql);
  for (const count of [900, 300, 12_000]) {
    const { rejected } = await ingest.report({ dataPlaneId: 'd', records: poison(many, count) });
    expect(rejected).toHaveLength(count);
    expect(await kept(many)).toBe(count === 900 ? 900 : 1_000);
  }
  await ingest.report({ dataPlaneId: 'd', records: poison(one, 2) });
  expect(await kept(one)).toBe(2);
  const [unnamed] = poison('nobody', 1);
  await ingest.report({ dataPlaneId: 'd', records: [unnamed!] });
  expect(await sql`select 1 from poison_records where id = ${unnamed!.id!}`).toHaveLength(1);
});

/** One item of each kind, of one agent. */
function createOneOfEachKind(of: { agentId: string; orgId: string; keyId: string }) {
  const minuteMs = now - (now % 60_000);
  const lines = [{ id: 'line', model: 'gpt-4o-mini', tokensOut: 5, costNanos: 7 }];
  return {
    records: [usageRecord({ ...of, startedAtMs: now, costNanos: 1_000 })],
    rejections: [{ id: newId(), ...of, providerSlug: 'openai', reason: 'rpm', minuteMs, count: 3 }],
    sightings: [{ id: newId(), ...of, addressHash: Buffer.from([1, 2]), seenAtMs: now }],
    lines: [
      { recordId: newId(), projectId: newId(), ...of, providerSlug: 'openai', sourceId: 's', startedAtMs: now, lines },
    ],
  };
}
const newIds = () => ({ agentId: newId(), orgId: newId(), keyId: newId() });
const readSpentNanos = async ({ agentId }: { agentId: string }) =>
  (await db().sql<{ n: string }[]>`select spent_nanos::text as n from month_spend where agent_id = ${agentId}`)[0]?.n;
const readRejectionCount = async ({ agentId }: { agentId: string }) =>
  (await db().sql<{ count: number }[]>`select count from rejections_hourly where agent_id = ${agentId}`)[0]?.count;

test.each([
  ['a line', 'booked_lines', 'org_id', 'orgId'],
  ['a count of refusals', 'rejections_hourly', 'agent_id', 'agentId'],
] as const)(
  'ledger: %s that the database refuses costs no other organization anything',
  async (_what, table, column, id) => {
    const { sql } = db();
    const [bad, good] = [newIds(), Array.from({ length: 5 }, newIds)];
    const reports = [...good.slice(0, 2), bad, ...good.slice(2)].map(createOneOfEachKind);
    const all = <Name extends keyof (typeof reports)[0]>(name: Name) => reports.flatMap((one) => one[name] as never[]);
    await sql.unsafe(`alter table ${table} add constraint refuse check (${column} <> '${bad[id]}')`);
    const sighted: string[] = [];
    const ingest = createIngest(sql, [
      {
        onBooked: async (_tx, { ipObservations: sightings }) =>
          void sighted.push(...sightings.map(({ agentId }) => agentId)),
      },
    ]);
    const { rejected } = await ingest.report({
      dataPlaneId: 'd',
      records: all('records'),
      rejections: all('rejections'),
      sightings: all('sightings'),
      lines: all('lines'),
    });
    await sql.unsafe(`alter table ${table} drop constraint refuse`);
    await sql`delete from line_sums`; // of calls that are never reported
    expect(rejected).toEqual([]);
    for (const one of good) expect([await readSpentNanos(one), await readRejectionCount(one)]).toEqual(['1007', 3]);
    expect(good.every(({ agentId }) => sighted.includes(agentId))).toBe(true);
    expect([await readSpentNanos(bad), await readRejectionCount(bad)]).toEqual(
      table === 'booked_lines' ? ['1000', 3] : ['1007', undefined],
    );
  },
);

test('ledger: calls next to a rejected record show the totals of their deferred usage', async () => {
  const { sql } = db();
  const good = Array.from({ length: 4 }, newIds);
  const records = good.map((of) => usageRecord({ ...of, startedAtMs: now, costNanos: 0, lined: true }));
  const lines = records.map(({ id, agentId, orgId, keyId, startedAtMs }) => ({
    ...{ recordId: id!, agentId: agentId!, orgId: orgId!, keyId: keyId!, startedAtMs: startedAtMs! },
    ...{ providerSlug: 'openai', sourceId: 's', lines: [{ id: 'line', model: 'gpt-4o-mini', costNanos: 7 }] },
  }));
  const bad = usageRecord();
  await sql.unsafe(`alter table usage_records add constraint refuse check (id <> '${bad.id}')`);
  const { rejected } = await createIngest(sql).report({ dataPlaneId: 'd', records: [...records, bad], lines });
  await sql`alter table usage_records drop constraint refuse`;
  expect(rejected!.map(({ id }) => id)).toEqual([bad.id]);
  const ids = records.map(({ id }) => id!);
  const costs = await sql<{ cost: number }[]>`
    select cost_nanos as cost from usage_records where id = any(${ids}::uuid[])`;
  expect(costs.map(({ cost }) => cost)).toEqual([7, 7, 7, 7]);
  expect(await sql`select from line_sums`).toHaveLength(0);
});

test('ledger: a rejected record is kept even if it contains half of a surrogate pair', async () => {
  const { sql } = db();
  const record = usageRecord({ model: `${'x'.repeat(199)}\u{1f600}` }); // is cut to 200
  await sql.unsafe(`alter table usage_records add constraint refuse check (id <> '${record.id}')`);
  const { rejected } = await createIngest(sql).report({ dataPlaneId: 'd', records: [record, usageRecord()] });
  await sql`alter table usage_records drop constraint refuse`;
  expect(rejected!.map(({ id }) => id)).toEqual([record.id]);
  expect(await sql`select 1 from poison_records where id = ${record.id!}`).toHaveLength(1);
});

test('ledger: an organization whose providers report overflowing costs is still recorded, as are others', async () => {
  const { sql } = db();
  const [vast, other] = [newIds(), newIds()];
  const ingest = createIngest(sql);
  const report = (of: typeof vast) => ingest.report({ dataPlaneId: 'd', ...createOneOfEachKind(of) });
  await report(vast);
  const most = '9223372036854775000'; // of a bigint
  await sql`update month_spend set spent_nanos = ${most}::text::bigint, ledger_nanos = ${most}::text::bigint where agent_id = ${vast.agentId}`;
  await sql`update scope_spend_slots set spent_nanos = ${most}::text::bigint, ledger_nanos = ${most}::text::bigint where scope_id = ${vast.orgId}`;
  await sql`update usage_hourly set cost_nanos = ${most}::text::bigint where agent_id = ${vast.agentId}`;
  const [hers, theirs] = [createOneOfEachKind(vast), createOneOfEachKind(other)];
  const both = { records: [...hers.records, ...theirs.records], lines: [...hers.lines, ...theirs.lines] };
  hers.lines[0]!.lines[0]!.id = 'another line';
  expect((await ingest.report({ dataPlaneId: 'd', ...both })).rejected).toEqual([]);
  expect(await readSpentNanos(other)).toBe('1007');
  expect(Number(await readSpentNanos(vast))).toBeGreaterThan(2 ** 61);
  await sql`delete from line_sums`;
});

test('ledger: observers see each new fact once, with the month before and after', async () => {
  const seen: BookedUsage[] = [];
  const ingest = createIngest(db().sql, [{ onBooked: async (_tx, booked) => void seen.push(booked) }]);
  const ids = { agentId: newId(), orgId: newId() };
  const record = (costNanos: number) => usageRecord({ ...ids, costNanos, startedAtMs: now });
  const [a, b, c] = [record(100), record(20), record(3)];
  const rejection = {
    id: newId(),
    ...ids,
    providerSlug: 'openai',
    reason: 'rpm',
    minuteMs: now - (now % 60_000),
    count: 9,
  };
  const sighting = { id: newId(), ...ids, keyId: newId(), addressHash: Buffer.from([1, 2]), seenAtMs: now };
  await ingest.report({ dataPlaneId: 'd', records: [a], rejections: [rejection], sightings: [sighting] });
  await ingest.report({ dataPlaneId: 'd', records: [a, b, c], rejections: [rejection], sightings: [sighting] });
  const month = new Date(now).toISOString().slice(0, 7);
  expect(seen.map(({ spendChanges: spend }) => spend)).toEqual([
    [{ ...ids, month, beforeNanos: 0, afterNanos: 100 }],
    [{ ...ids, month, beforeNanos: 100, afterNanos: 123 }],
  ]);
  expect(seen.map(({ entries }) => entries.map(({ id }) => id).sort())).toEqual([[a!.id], [b!.id, c!.id].sort()]);
  expect(seen.map(({ rejections }) => rejections.length)).toEqual([1, 0]);
  expect(seen.map(({ ipObservations: sightings }) => sightings.map((s) => s.addressHash))).toEqual([['0102'], []]);
  const [row] = await db().sql`select count, reason from rejections_hourly where agent_id = ${ids.agentId}`;
  expect(row).toMatchObject({ count: 9, reason: 'rpm' });
});

test('ledger: a failing observer rolls back the commit, and a retry records everything', async () => {
  let failing = true;
  const ingest = createIngest(db().sql, [
    {
      onBooked: async (tx) => {
        if (failing) await tx`select 1 / 0`;
      },
    },
  ]);
  const record = usageRecord({ agentId: newId() });
  await expect(ingest.report({ dataPlaneId: 'd', records: [record] })).rejects.toThrow('observer');
  expect(await readLedger([record.agentId!])).toEqual({ hours: {}, months: {} });
  failing = false;
  await ingest.report({ dataPlaneId: 'd', records: [record] });
  expect(await readLedger([record.agentId!])).toEqual(expectedLedger([record]));
});

test('ledger: keys remember their last use, and never an earlier one', async () => {
  const { sql } = db();
  const [orgId, keyId] = [newId(), newId()];
  await sql`insert into organizations (id, name, slug) values (${orgId}, 'o', ${orgId})`;
  await sql`insert into api_keys (id, org_id, name, key_prefix, token_hash, scope)
    values (${keyId}, ${orgId}, 'k', 'acg_00000000', ${Buffer.from(keyId)}, 'org')`;
  const ingest = createIngest(sql);
  for (const startedAtMs of [now - 5_000, now - 1_000, now - 3_000]) {
    await ingest.report({ dataPlaneId: 'd', records: [usageRecord({ keyId, orgId, startedAtMs })] });
  }
  const lastUse = async () => (await sql`select last_used_at from api_keys where id = ${keyId}`)[0]!.last_used_at;
  expect(await lastUse()).toEqual(new Date(now - 1_000));
  const inOneBatch = [now, now - 2 * HOUR].map((startedAtMs) => usageRecord({ keyId, orgId, startedAtMs }));
  await ingest.report({ dataPlaneId: 'd', records: inOneBatch });
  expect(await lastUse()).toEqual(new Date(now));
});

test('ledger: accounts remember their last use to the minute, and never an earlier one', async () => {
  const { sql } = db();
  const [orgId, projectId, agentId, accountId] = [newId(), newId(), newId(), newId()];
  await sql`insert into organizations (id, name, slug) values (${orgId}, 'o', ${orgId})`;
  await sql`insert into projects (id, org_id, name, slug) values (${projectId}, ${orgId}, 'p', 'p')`;
  await sql`insert into agents (id, org_id, project_id, name, slug) values (${agentId}, ${orgId}, ${projectId}, 'a', 'a')`;
  const [credentialId] = [newId()];
  await sql`insert into credentials (id, org_id, name, provider_slug, key_id, nonce, ciphertext, circuit_key)
    values (${credentialId}, ${orgId}, 'c', 'openai', 'k', ${Buffer.alloc(12)}, ${Buffer.alloc(16)}, ${orgId})`;
  await sql`insert into provider_accounts (id, org_id, agent_id, provider_slug, credential_id, circuit_key)
    values (${accountId}, ${orgId}, ${agentId}, 'openai', ${credentialId}, ${orgId})`;
  const ingest = createIngest(sql);
  const book = (...times: readonly number[]) =>
    ingest.report({
      dataPlaneId: 'd',
      records: times.map((startedAtMs) => usageRecord({ accountId, orgId, agentId, startedAtMs })),
    });
  const lastUse = async () =>
    (await sql`select last_used_at from provider_accounts where id = ${accountId}`)[0]!.last_used_at;
  expect(await lastUse()).toBeNull();
  await book(now - 3 * HOUR, now - 2 * HOUR);
  expect(await lastUse()).toEqual(new Date(now - 2 * HOUR));
  await book(now - 2 * HOUR + 59_000);
  expect(await lastUse()).toEqual(new Date(now - 2 * HOUR));
  await book(now - 2 * HOUR + 61_000);
  expect(await lastUse()).toEqual(new Date(now - 2 * HOUR + 61_000));
  await book(now - 3 * HOUR);
  expect(await lastUse()).toEqual(new Date(now - 2 * HOUR + 61_000));
});

test('ledger: rejections of an hour add up, each report once, and those outside the retention are dropped', async () => {
  const ingest = createIngest(db().sql, [], 90);
  const [agentId, orgId] = [newId(), newId()];
  const minuteMs = now - (now % HOUR);
  const refusal = (count: number, at = minuteMs) => {
    return { id: newId(), orgId, agentId, providerSlug: 'openai', reason: 'rpm', minuteMs: at, count };
  };
  const [twice, once] = [refusal(7), refusal(2)];
  // The first two are committed at once; all others wait for them and are then committed together.
  const reports = [[refusal(1_000)], [refusal(100)], [twice], [twice, once], [twice]];
  await Promise.all(reports.map((rejections) => ingest.report({ dataPlaneId: 'd', rejections })));
  await ingest.report({
    dataPlaneId: 'd',
    rejections: [twice, refusal(50, now - 92 * DAY), refusal(50, now + 3 * DAY)],
  });
  const rows = await db().sql`select count from rejections_hourly where agent_id = ${agentId}`;
  expect(rows).toEqual([{ count: 1_109 }]);
});

test('ledger: a report is rejected for a retry when too many are waiting; the others are recorded', async () => {
  const ingest = createIngest(db().sql);
  const records = Array.from({ length: 2 + 256 + 1 }, () => usageRecord());
  const answers = await Promise.allSettled(
    records.map((record) => ingest.report({ dataPlaneId: 'd', records: [record] })),
  );
  const refused = records.filter((_, i) => answers[i]!.status === 'rejected');
  expect(refused).toEqual([records.at(-1)]);
  await ingest.report({ dataPlaneId: 'd', records: refused });
  const ids = records.map(({ id }) => id!);
  expect(await db().sql`select from usage_records where id = any(${ids}::uuid[])`).toHaveLength(records.length);
});

test('ledger: an hour of many different durations keeps a small sketch', async () => {
  const agentId = newId();
  const ingest = createIngest(db().sql);
  const records = Array.from({ length: 3_000 }, (_, i) =>
    usageRecord({ agentId, startedAtMs: now - (now % HOUR), durationMs: i * 97 }),
  );
  for (let at = 0; at < records.length; at += 300) {
    await ingest.report({ dataPlaneId: 'd', records: records.slice(at, at + 300) });
  }
  const [row] = await db().sql<{ bytes: number }[]>`
    select octet_length(latency_sketch) as bytes from usage_hourly where agent_id = ${agentId}`;
  expect(row!.bytes).toBeLessThanOrEqual(2_400);
  expect(await readLedger([agentId])).toEqual(expectedLedger(records));
});

const days = async () =>
  (
    await db().sql<{ name: string }[]>`
    select relname as name from pg_class where relname ~ '^usage_records_[0-9]{8}$' order by 1`
  ).map(({ name }) => name);
const nameOf = (ms: number) => `usage_records_${new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')}`;

const retention = (sql: Sql, days: number) =>
  new UsageRetention(sql, { logs: days, rejections: 400, rollups: null }, createLogger('test', 'silent'));

test('partitions: days are created ahead, old days are dropped, rollups stay', async () => {
  const { sql } = db();
  const agentId = newId();
  const old = usageRecord({ agentId, startedAtMs: now - 20 * DAY });
  const oldestKept = usageRecord({ agentId, startedAtMs: now - 7 * DAY });
  await createIngest(sql).report({ dataPlaneId: 'd', records: [old, oldestKept] });
  const partitions = new UsagePartitions(sql, 7);
  await Promise.all([partitions.createPartitionsAhead(now), new UsagePartitions(sql, 7).createPartitionsAhead(now)]);
  expect(await days()).toEqual(expect.arrayContaining([0, 1, 2, 3].map((i) => nameOf(now + i * DAY))));
  await Promise.all([retention(sql, 7).deleteExpiredUsage(now), retention(sql, 7).deleteExpiredUsage(now)]);
  expect(await days()).not.toContain(nameOf(now - 20 * DAY));
  expect(await days()).toContain(nameOf(now - 7 * DAY));
  expect(await readLedger([agentId])).toEqual(expectedLedger([old, oldestKept]));
  await retention(sql, 7).deleteExpiredUsage(now); // again: no change
});

test('retention: a reader of the oldest day is not disturbed and delays only the retention', async () => {
  const { sql } = db();
  const agentId = newId();
  const record = (daysAgo: number) => usageRecord({ agentId, startedAtMs: now - daysAgo * DAY });
  const ingest = createIngest(sql);
  await ingest.report({ dataPlaneId: 'd', records: [record(30), record(1)] });
  const count = (tx: Sql | Tx) => tx`select count(*) as n from usage_records where agent_id = ${agentId}`;
  let sweep: Promise<void> | undefined;
  await sql.begin('isolation level repeatable read', async (reader) => {
    expect(await count(reader)).toEqual([{ n: 2 }]);
    sweep = retention(sql, 7).deleteExpiredUsage(now);
    const waits = async () =>
      (
        await sql`
          select from pg_stat_activity
           where datname = current_database() and query like 'alter table usage_records detach%'
             and wait_event_type = 'Lock'`
      ).count;
    while ((await waits()) === 0) await new Promise((resolve) => setImmediate(resolve));
    await ingest.report({ dataPlaneId: 'd', records: [record(2)] });
    expect(await count(sql)).toEqual([{ n: 2 }]); // the old day is invisible for new readers
    expect(await count(reader)).toEqual([{ n: 2 }]); // the view of reports: the old day is visible, the new call is not
  });
  await sweep;
  expect(await days()).not.toContain(nameOf(now - 30 * DAY));
});

test('retention: an interrupted attempt is completed', async () => {
  const { sql } = db();
  const agentId = newId();
  const at = [40, 41].map((daysAgo) => usageRecord({ agentId, startedAtMs: now - daysAgo * DAY }));
  await createIngest(sql).report({ dataPlaneId: 'd', records: at });
  const [first, second] = [nameOf(now - 41 * DAY), nameOf(now - 40 * DAY)];
  const stopped = retention(sql, 7);
  await sql.begin(async (reader) => {
    await reader`select from usage_records where agent_id = ${agentId}`;
    const sweep = stopped.deleteExpiredUsage(now);
    const pending = async () => (await sql`select from pg_inherits where inhdetachpending`).count;
    while ((await pending()) === 0) await new Promise((resolve) => setImmediate(resolve));
    stopped.stopAndCancelQuery();
    await expect(sweep).rejects.toThrow('cancel');
  });
  expect(await days()).toEqual(expect.arrayContaining([first, second]));
  await sql.unsafe(`alter table usage_records detach partition ${second}`).catch(() => undefined); // one is pending already
  await retention(sql, 7).deleteExpiredUsage(now);
  const left = await days();
  expect(left.filter((name) => name === first || name === second)).toEqual([]);
});

test('retention: hours covered by daily rollups are deleted, except those of a day that is due for a new rollup', async () => {
  const { sql } = db();
  const [agentId, orgId] = [newId(), newId()];
  const neighbour = { agentId: newId(), orgId: newId() };
  const startedAtMs = startOfUtcDay(now) - 120 * DAY + 5 * HOUR;
  const ingest = createIngest(sql, [], 200);
  const book = () => ingest.report({ dataPlaneId: 'd', records: [usageRecord({ agentId, orgId, startedAtMs })] });
  const hours = async (of = agentId) => (await sql`select from usage_hourly where agent_id = ${of}`).count;
  await book();
  await ingest.report({ dataPlaneId: 'd', records: [usageRecord({ ...neighbour, startedAtMs })] });
  // As if recorded on that very day: no daily rollup covers it, although nothing was late.
  await sql`delete from usage_late where org_id = ${orgId}`;
  await retention(sql, 90).deleteExpiredUsage(now);
  expect(await hours()).toBe(1);
  const rollups = new DailyRollups(sql, createLogger('test', 'silent'));
  await rollups.rollUpFinishedAndLateDays(now);
  await expect(book()).rejects.toThrow(); // another control plane has dropped the day: it is recreated and nothing is quarantined
  expect((await book()).rejected).toEqual([]); // late, and not rolled up yet
  await retention(sql, 90).deleteExpiredUsage(now);
  expect(await hours()).toBe(1);
  expect(await hours(neighbour.agentId)).toBe(0); // it has no late records
  await rollups.rollUpFinishedAndLateDays(now);
  await retention(sql, 118).deleteExpiredUsage(now);
  expect(await hours()).toBe(1); // young enough to receive late records: two days longer than the logs
  await retention(sql, 90).deleteExpiredUsage(now);
  expect(await hours()).toBe(0);
  const [day] = await sql`select requests from usage_daily where agent_id = ${agentId}`;
  expect(day).toEqual({ requests: 2 });
});

test('ledger: a call counts to the month of its admission, in rollups and spend alike, and never far from its start', async () => {
  const agentId = newId();
  const month = (ms: number) => new Date(ms).toISOString().slice(0, 7);
  const turn = Date.parse(`${month(now)}-01`); // midnight between two months
  const record = (startedAtMs: number, admitted: string, costNanos: number) =>
    usageRecord({ agentId, startedAtMs, month: admitted, costNanos });
  await createIngest(db().sql).report({
    dataPlaneId: 'd',
    records: [
      record(turn - 5, month(now), 1), // began in the old month, admitted in the new one
      record(turn + 5, month(turn - 1), 10), // by a clock that is ahead of the store's
      record(turn - 5, month(turn - 1), 100),
      record(turn - 5, '', 1_000),
      record(turn - 5, '2001-01', 10_000), // nonsense
      record(turn - 5, 'soon', 100_000),
    ],
  });
  const hours = await db().sql`
    select hour, cost_nanos as "costNanos" from usage_hourly where agent_id = ${agentId} order by hour`;
  expect(hours).toEqual([
    { hour: new Date(turn - HOUR), costNanos: 111_110 },
    { hour: new Date(turn), costNanos: 1 },
  ]);
  const { months } = await readLedger([agentId]);
  expect(months).toEqual({ [`${agentId} ${month(turn - 1)}`]: 111_110, [`${agentId} ${month(now)}`]: 1 });
});

test('ledger: an acknowledgement reports the recorded spend of its agents, also for a repeated batch', async () => {
  const [paying, free, other] = [newId(), newId(), newId()];
  const month = new Date(now).toISOString().slice(0, 7);
  const ingest = createIngest(db().sql);
  await ingest.report({ dataPlaneId: 'e', records: [usageRecord({ agentId: paying, costNanos: 5 })] });
  const mine = {
    dataPlaneId: 'd',
    records: [
      usageRecord({ agentId: paying, costNanos: 7 }),
      usageRecord({ agentId: paying, costNanos: 11 }),
      usageRecord({ agentId: free, costNanos: 0 }),
    ],
  };
  const others = { dataPlaneId: 'e', records: [usageRecord({ agentId: other, costNanos: 3 })] };
  const [answer, another] = await Promise.all([ingest.report(mine), ingest.report(others)]);
  const spend = [{ agentId: paying, month, spentNanos: 23, ledgerNanos: 0 }];
  expect(answer.spend).toEqual(spend);
  expect(another.spend).toEqual([{ agentId: other, month, spentNanos: 3, ledgerNanos: 0 }]);
  expect((await ingest.report(mine)).spend).toEqual(spend);
});

test('deferred usage: recorded exactly once, regardless of the caller, the number of fetches, the parts and the plane', async () => {
  const { sql } = db();
  const [orgId, one, other] = [newId(), newId(), newId()];
  const month = new Date(now).toISOString().slice(0, 7);
  const line = (n: number) => ({
    id: `r${n}`,
    model: n % 2 === 0 ? 'cheap' : 'dear',
    tokensInUncached: 10,
    tokensCacheRead: 1,
    tokensOut: 5,
    costNanos: n % 2 === 0 ? 100 : 10_000,
  });
  const whole = Array.from({ length: 40 }, (_, n) => line(n));
  const fetched = (agentId: string, lines: typeof whole, sourceId = 'batch_1', provider = 'openai') => {
    const record = usageRecord({
      agentId,
      orgId,
      costNanos: 0,
      tokensInUncached: 0,
      tokensCacheRead: 0,
      tokensCacheWrite: 0,
      tokensOut: 0,
      tokensReasoning: 0,
      model: '',
      lined: true,
      providerSlug: provider,
    });
    const [recordId, keyId, startedAtMs] = [record.id!, record.keyId!, record.startedAtMs!];
    const half = lines.length >> 1;
    const usage = { recordId, orgId, agentId, keyId, providerSlug: provider, sourceId, startedAtMs };
    return {
      record,
      report: {
        dataPlaneId: 'd',
        lines: [
          { ...usage, lines: lines.slice(0, half) },
          { ...usage, lines: lines.slice(half) },
        ],
      },
    };
  };
  const planes = [createIngest(sql), createIngest(sql)];
  const cut = fetched(one, whole.slice(0, 15));
  await planes[0]!.report({ ...cut.report, records: [cut.record] });
  const fetches = [one, other, one, other].map((agentId) => fetched(agentId, whole));
  // The lines of a call may arrive some batches before its record.
  await Promise.all(fetches.map(({ report }, i) => planes[i % 2]!.report(report)));
  await Promise.all(
    fetches.map(({ report, record }, i) => planes[(i + 1) % 2]!.report({ ...report, records: [record] })),
  );
  const again = fetched(other, whole);
  const { spend } = await planes[0]!.report({ ...again.report, records: [again.record] });

  const cost = 20 * 100 + 20 * 10_000;
  const totals = await sql<{ agentId: string; spent: number; own: number }[]>`
    select agent_id as "agentId", spent_nanos as spent, ledger_nanos as own from month_spend where org_id = ${orgId}`;
  expect(totals.reduce((sum, { spent }) => sum + spent, 0)).toBe(cost);
  for (const { spent, own } of totals) expect(own).toBe(spent);
  const ofOther = totals.find(({ agentId }) => agentId === other);
  expect(spend).toEqual(
    ofOther === undefined ? [] : [{ agentId: other, month, spentNanos: ofOther.spent, ledgerNanos: ofOther.own }],
  );
  const models = await sql`
    select model, sum(requests)::int as requests, sum(tokens_in)::int as "tokensIn", sum(cost_nanos)::int as cost
      from usage_hourly where org_id = ${orgId} group by model order by model`;
  expect(models).toEqual([
    { model: '', requests: 6, tokensIn: 0, cost: 0 },
    { model: 'cheap', requests: 0, tokensIn: 220, cost: 2_000 },
    { model: 'dear', requests: 0, tokensIn: 220, cost: 200_000 },
  ]);
  // Each call's log shows the lines that were new with it.
  const logs = await sql<{ cost: number; out: number }[]>`
    select cost_nanos as cost, tokens_out as out from usage_records where org_id = ${orgId} order by cost_nanos desc`;
  expect(logs).toHaveLength(6);
  expect(logs.reduce((sum, row) => sum + row.cost, 0)).toBe(cost);
  expect(logs.reduce((sum, row) => sum + row.out, 0)).toBe(40 * 5);
  expect(await sql`select from line_sums`).toHaveLength(0);

  // Lines of another source, provider or organization are separate.
  const strange = [fetched(one, whole.slice(0, 1), 'batch_2'), fetched(one, whole.slice(0, 1), 'batch_1', 'anthropic')];
  for (const { report, record } of strange) await planes[0]!.report({ ...report, records: [record] });
  const [after] = await sql<{ spent: number }[]>`
    select sum(spent_nanos)::bigint as spent from month_spend where org_id = ${orgId}`;
  expect(after!.spent).toBe(cost + 200);
});

test('deferred usage: invalid lines are dropped and do not affect the others', async () => {
  const { sql } = db();
  const [agentId, orgId] = [newId(), newId()];
  const usage = {
    recordId: newId(),
    orgId,
    agentId,
    keyId: newId(),
    providerSlug: 'openai',
    sourceId: 's',
    startedAtMs: now,
  };
  const line = { id: 'a', model: 'nul \0', costNanos: 7 };
  await createIngest(sql).report({
    dataPlaneId: 'd',
    lines: [
      { ...usage, lines: [line, { ...line, id: 'b', costNanos: 2 ** 50 }] },
      { ...usage, agentId: 'nobody', lines: [{ ...line, id: 'c' }] },
      { ...usage, startedAtMs: now - 400 * DAY, lines: [{ ...line, id: 'd' }] },
      {},
    ],
  });
  const rows = await sql`select model, cost_nanos as cost from usage_hourly where agent_id = ${agentId}`;
  expect(rows).toEqual([{ model: 'nul \ufffd', cost: 7 }]);
});

test('ledger: an acknowledgement reports the spend of projects and organizations with a budget', async () => {
  const { sql } = db();
  const [orgId, projectId, agentId] = [newId(), newId(), newId()];
  const month = new Date(now).toISOString().slice(0, 7);
  await sql`insert into organizations (id, name, slug) values (${orgId}, 'o', ${orgId})`;
  await sql`insert into projects (id, org_id, name, slug, budget_cents_monthly) values (${projectId}, ${orgId}, 'p', 'p', 5)`;
  await sql`insert into agents (id, org_id, project_id, name, slug) values (${agentId}, ${orgId}, ${projectId}, 'a', 'a')`;
  const ingest = createIngest(sql);
  const call = (costNanos: number) => ({
    dataPlaneId: 'd',
    records: [usageRecord({ agentId, orgId, projectId, costNanos })],
  });
  const ofProject = { scope: 'project', id: projectId, month };
  expect((await ingest.report(call(7))).scopes).toEqual([{ ...ofProject, spentNanos: 7, ledgerNanos: 0 }]);
  await sql`update organizations set budget_cents_monthly = 0 where id = ${orgId}`;
  const lines = [
    {
      recordId: newId(),
      orgId,
      agentId,
      keyId: newId(),
      providerSlug: 'openai',
      sourceId: 'batch',
      startedAtMs: now,
      lines: [{ id: 'x', costNanos: 3 }],
    },
  ];
  const { scopes } = await ingest.report({ ...call(10), lines });
  const figures = { month, spentNanos: 20, ledgerNanos: 3 };
  expect(scopes).toHaveLength(2);
  expect(scopes).toEqual(
    expect.arrayContaining([
      { scope: 'project', id: projectId, ...figures },
      { scope: 'org', id: orgId, ...figures },
    ]),
  );
  await sql`update projects set budget_cents_monthly = null where id = ${projectId}`;
  expect((await ingest.report(call(0))).scopes).toEqual([]);
  expect((await ingest.report(call(1))).scopes).toMatchObject([{ scope: 'org', spentNanos: 21 }]);
});

test('deferred usage: a truncated response costs its received part, and the rest once when it is complete', async () => {
  const { sql } = db();
  const part = (tokensOut: number) => ({ model: 'm', tokensInUncached: 10, tokensOut, costNanos: 10 + 2 * tokensOut });
  const whole = { id: '', ...part(500), tokensInUncached: 8, tokensReasoning: 400, costNanos: 1_008 };
  const seen = (tokensOut: number) => ({ id: '', ...part(tokensOut) });
  type Step = { readonly lines?: (typeof whole)[]; readonly seen?: ReturnType<typeof seen>[] };
  const booked = async (orgId: string) => {
    const [row] = await sql<{ cost: number; tokensIn: number; tokensOut: number }[]>`
      select coalesce(sum(cost_nanos), 0)::int as cost, coalesce(sum(tokens_in), 0)::int as "tokensIn",
             coalesce(sum(tokens_out), 0)::int as "tokensOut" from usage_hourly where org_id = ${orgId}`;
    return row!;
  };
  const all = { cost: 1_010, tokensIn: 10, tokensOut: 500 }; // the input was an estimate, slightly too high
  const cases: [string, Step[], object][] = [
    ['seen', [{ seen: [seen(100)] }], { cost: 210, tokensIn: 10, tokensOut: 100 }],
    ['seen, then whole', [{ seen: [seen(100)] }, { lines: [whole] }], { ...all, cost: 1_008 }],
    [
      'seen twice, then whole, twice',
      [{ seen: [seen(100)] }, { seen: [seen(200)] }, { lines: [whole] }, { lines: [whole] }],
      { ...all, cost: 1_008 },
    ],
    [
      'seen again, less of it',
      [{ seen: [seen(200)] }, { seen: [seen(100)] }],
      { cost: 410, tokensIn: 10, tokensOut: 200 },
    ],
    ['whole, then seen', [{ lines: [whole] }, { seen: [seen(100)] }], { cost: 1_008, tokensIn: 8, tokensOut: 500 }],
    ['both at once', [{ lines: [whole], seen: [seen(100)] }], { cost: 1_008, tokensIn: 8, tokensOut: 500 }],
    [
      'more was seen than there was',
      [{ seen: [seen(600)] }, { lines: [whole] }],
      { cost: 1_210, tokensIn: 10, tokensOut: 600 },
    ],
  ];
  for (const [name, steps, expected] of cases) {
    const orgId = newId();
    const planes = [createIngest(sql), createIngest(sql)];
    for (const [i, step] of steps.entries()) {
      const usage = {
        recordId: newId(),
        orgId,
        agentId: newId(),
        keyId: newId(),
        providerSlug: 'openai',
        sourceId: 'resp_1',
        startedAtMs: now,
      };
      await planes[i % 2]!.report({ dataPlaneId: 'd', lines: [{ ...usage, ...step }] });
    }
    expect({ name, ...(await booked(orgId)) }).toEqual({ name, ...expected });
  }
});
