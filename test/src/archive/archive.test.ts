/**
 * The archive of the ledger, read by DuckDB: exact sums, names, the rules of FOCUS 1.2, repairs, storage that is away, and
 * partitions that are dropped only behind a verified copy.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@acg/base/log';
import { Secret } from '@acg/base/secret';
import { readCharges } from '@acg/controlplane/archive/archive-store';
import { Archiver } from '@acg/controlplane/archive/archiver';
import { openObjectStore } from '@acg/controlplane/archive/object-store';
import { UsageRetention } from '@acg/controlplane/ledger/usage-retention';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { startControlPlane } from '../fixtures/control-plane.js';
import { useTestDatabase } from '../fixtures/test-database.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { S3StandIn } from '../stand-in-providers/s3.js';
import { insertArchivedOrganization, insertRecords, pastDay, queryDuckDb } from './archive-fixture.js';

const db = useTestDatabase();
const homes: string[] = [];
let home = '';
let archiver: Archiver;
const lines: string[] = [];
const log = createLogger('test', 'info', (line) => void lines.push(line));
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'acg-archive-'));
  homes.push(home);
  archiver = new Archiver(db().sql, openObjectStore({ kind: 'file', path: home }), log);
});
afterEach(async () => {
  await db().sql`delete from usage_records`;
  await db().sql`delete from archive_days`;
  await db().sql`delete from archive_complete_days`;
});
afterAll(() => {
  for (const path of homes) rmSync(path, { recursive: true, force: true });
});

const run = (of = archiver) => of.archiveClosedDays(Date.now());
const dayText = (dayMs: number) => new Date(dayMs).toISOString().slice(0, 10);
const usageFiles = (orgId: string) =>
  `read_parquet('${home}/usage/org=${orgId}/*/part-*.parquet', hive_partitioning = true)`;
const focusFiles = (orgId: string) =>
  `read_parquet('${home}/focus/org=${orgId}/*/part-*.parquet', hive_partitioning = false)`;
const ledgerSum = async (orgId: string) => {
  const [row] = await db().sql<{ rows: string; nanos: string }[]>`
    select count(*)::text as rows, sum(cost_nanos)::text as nanos from usage_records where org_id = ${orgId}`;
  return row!;
};

test('DuckDB reads the records with their names and the sum of the ledger to the nano-dollar', async () => {
  const { sql } = db();
  const one = await insertArchivedOrganization(sql, 'One');
  const two = await insertArchivedOrganization(sql, 'Two');
  await insertRecords(sql, one, pastDay(3), 45_000);
  await insertRecords(sql, one, pastDay(2), 1_000);
  await insertRecords(sql, two, pastDay(2), 10);
  await insertRecords(sql, one, pastDay(0), 10); // today is not closed
  await run();
  const [sums] = await queryDuckDb(
    `select count(*) as rows, sum("costNanos") as nanos, sum("costUsd") as usd, count(distinct id) as ids,
            count(*) filter ("costUsd"::decimal(38, 9) <> "costNanos"::decimal(38, 9) / 1000000000) as unequal from ${usageFiles(one.orgId)}`,
  );
  const [today] = await sql<{ nanos: string }[]>`
    select sum(cost_nanos)::text as nanos from usage_records where org_id = ${one.orgId} and started_at >= ${new Date(pastDay(0))}`;
  const all = await ledgerSum(one.orgId);
  const closedNanos = BigInt(all.nanos) - BigInt(today!.nanos);
  expect(sums).toMatchObject({ rows: '46000', ids: '46000', nanos: String(closedNanos), unequal: '0' });
  expect(sums!.usd).toBe(`${closedNanos / 1_000_000_000n}.${String(closedNanos % 1_000_000_000n).padStart(9, '0')}`);
  const [record] = await queryDuckDb(
    `select "agentName", "projectName", "keyName", "agentId", error, "ttfbMs", streamed, day, "createdAt"
       from ${usageFiles(one.orgId)} order by "createdAt" limit 1`,
  );
  expect(record).toMatchObject({
    agentName: 'Agent of One',
    projectName: 'Research',
    keyName: 'Production',
    agentId: one.agentId,
    error: null,
    streamed: 'false',
    day: dayText(pastDay(3)),
  });
  const [other] = await queryDuckDb(`select count(*) as rows, min("agentName") as name from ${usageFiles(two.orgId)}`);
  expect(other).toEqual({ rows: '10', name: 'Agent of Two' });
  expect(readdirSync(join(home, `usage/org=${one.orgId}/day=${dayText(pastDay(3))}`))).toHaveLength(2);
});

/** Columns that FOCUS 1.2 requires of every provider, or of one with these features, and whether null is allowed. */
const FOCUS_REQUIRED: Readonly<Record<string, 'never null' | 'null allowed'>> = {
  BilledCost: 'never null',
  BillingAccountId: 'never null',
  BillingAccountName: 'null allowed',
  BillingAccountType: 'never null',
  BillingCurrency: 'never null',
  BillingPeriodEnd: 'never null',
  BillingPeriodStart: 'never null',
  ChargeCategory: 'never null',
  ChargeClass: 'null allowed',
  ChargeDescription: 'null allowed',
  ChargeFrequency: 'never null',
  ChargePeriodEnd: 'never null',
  ChargePeriodStart: 'never null',
  ConsumedQuantity: 'never null',
  ConsumedUnit: 'never null',
  ContractedCost: 'never null',
  EffectiveCost: 'never null',
  InvoiceIssuerName: 'never null',
  ListCost: 'never null',
  PricingCategory: 'never null',
  PricingQuantity: 'never null',
  PricingUnit: 'never null',
  ProviderName: 'never null',
  PublisherName: 'never null',
  ResourceId: 'null allowed',
  ResourceName: 'null allowed',
  ResourceType: 'null allowed',
  ServiceCategory: 'never null',
  ServiceName: 'never null',
  ServiceSubcategory: 'never null',
  SkuId: 'null allowed',
  SkuPriceId: 'null allowed',
  SubAccountId: 'null allowed',
  SubAccountName: 'null allowed',
  SubAccountType: 'null allowed',
  Tags: 'null allowed',
};

test('the charges keep the rules of FOCUS 1.2 and have the sum of the ledger', async () => {
  const { sql } = db();
  const org = await insertArchivedOrganization(sql, 'Focus');
  await insertRecords(sql, org, pastDay(2), 5_000);
  await sql`update usage_records set tags = 'customer=acme,feature=search' where org_id = ${org.orgId} and tokens_out % 2 = 0`;
  await run();
  const files = focusFiles(org.orgId);
  const columns = await queryDuckDb(`describe select * from ${files}`);
  const types = new Map(columns.map((row) => [row.column_name!, row.column_type!]));
  for (const [name, nulls] of Object.entries(FOCUS_REQUIRED)) {
    expect([name, types.has(name)]).toEqual([name, true]);
    const [found] = await queryDuckDb(`select count(*) as nulls from ${files} where "${name}" is null`);
    if (nulls === 'never null') expect([name, found!.nulls]).toEqual([name, '0']);
  }
  // Columns that the specification does not have begin with x_.
  const unknown = [...types.keys()].filter((name) => FOCUS_REQUIRED[name] === undefined && !name.startsWith('x_'));
  expect(unknown).toEqual([]);
  for (const name of ['BilledCost', 'EffectiveCost', 'ListCost', 'ContractedCost'])
    expect(types.get(name)).toMatch(/^DECIMAL/);
  for (const name of ['ChargePeriodStart', 'ChargePeriodEnd', 'BillingPeriodStart', 'BillingPeriodEnd'])
    expect(types.get(name)).toBe('TIMESTAMP WITH TIME ZONE');
  const [rules] = await queryDuckDb(`
    select count(*) as rows, sum("BilledCost") as billed, sum("x_CostNanos") as nanos, sum("x_Requests") as requests,
           count(*) filter ("BillingCurrency" <> 'USD') as currencies,
           count(*) filter ("ChargeCategory" not in ('Usage', 'Purchase', 'Tax', 'Credit', 'Adjustment')) as categories,
           count(*) filter ("ChargeFrequency" not in ('One-Time', 'Recurring', 'Usage-Based')) as frequencies,
           count(*) filter ("ChargeClass" is not null and "ChargeClass" <> 'Correction') as classes,
           count(*) filter ("PricingCategory" not in ('Standard', 'Dynamic', 'Committed', 'Other')) as pricing,
           count(*) filter ("ServiceCategory" not in ('AI and Machine Learning', 'Other')) as services,
           count(*) filter ("ChargePeriodEnd" - "ChargePeriodStart" <> interval 1 hour) as periods,
           count(*) filter ("ChargePeriodStart" < "BillingPeriodStart" or "ChargePeriodEnd" > "BillingPeriodEnd") as months,
           count(*) filter (date_trunc('month', "BillingPeriodStart" at time zone 'UTC')
             <> "BillingPeriodStart" at time zone 'UTC') as starts,
           count(*) filter ("ConsumedQuantity" < 0 or "PricingQuantity" < 0) as quantities,
           count(*) filter ("SubAccountId" is null and "SubAccountName" is not null) as accounts,
           count(*) filter (not json_valid("Tags") or json_type("Tags") <> 'OBJECT') as tags,
           count(*) filter (len(json_keys("Tags")) <> len(list_distinct(json_keys("Tags")))) as keys,
           count(*) filter (exists (select 1 from (select unnest(json_extract("Tags", '$.*')) as v)
             where json_type(v) in ('OBJECT', 'ARRAY'))) as nested
      from ${files}`);
  const { nanos } = await ledgerSum(org.orgId);
  expect(rules).toMatchObject({ nanos, requests: '5000' });
  expect(rules!.billed!.replace('.', '')).toBe(nanos);
  const broken = Object.entries(rules!).filter(
    ([name, value]) => !['rows', 'billed', 'nanos', 'requests'].includes(name) && value !== '0',
  );
  expect(broken).toEqual([]);
});

test('Tags holds the tags of the calls unchanged, with the run and its label beside them; sums by tag are those of the ledger', async () => {
  const { sql } = db();
  const org = await insertArchivedOrganization(sql, 'Tagged');
  await insertRecords(sql, org, pastDay(2), 2_000);
  const runId = randomUUID();
  await sql`insert into runs ${sql({
    id: runId,
    org_id: org.orgId,
    agent_id: org.agentId,
    root_id: runId,
    label: 'nightly',
    budget_cents: 1,
    token_hash: randomBytes(32),
    key_prefix: 'acg_',
    created_at: new Date(),
    expires_at: new Date(),
  })}`;
  const hostile = 'note=a"b\\c=d\'{}:$1';
  await sql`update usage_records set run_id = ${runId}, tags = case tokens_out % 3
    when 0 then 'customer=acme,feature=search' when 1 then ${`customer=acme,${hostile}`} else '' end where org_id = ${org.orgId}`;
  await run();
  const rows = await queryDuckDb(`
    select "Tags" as tags, sum("x_CostNanos") as nanos, sum("x_Requests") as requests, min("x_RunId") as run, max("x_RunLabel") as label
      from ${focusFiles(org.orgId)} group by 1 order by 1`);
  const ledger = await sql<{ tags: string; nanos: string; requests: string }[]>`
    select tags, sum(cost_nanos)::text as nanos, count(*)::text as requests from usage_records
     where org_id = ${org.orgId} group by 1`;
  const expected = ledger.map(({ tags, ...sums }) => {
    const entries = tags === '' ? [] : tags.split(',').map((tag) => /^([^=]*)=(.*)$/.exec(tag)!.slice(1));
    return { tags: Object.fromEntries(entries), ...sums, run: runId, label: 'nightly' };
  });
  const found = rows.map((row) => ({ ...row, tags: JSON.parse(row.tags!) }));
  expect(found).toHaveLength(3);
  expect(new Set(found)).toEqual(new Set(expected));
  const [acme] = await queryDuckDb(
    `select sum("BilledCost") as usd from ${focusFiles(org.orgId)} where "Tags" ->> 'customer' = 'acme'`,
  );
  const nanos = ledger.filter(({ tags }) => tags !== '').reduce((sum, row) => sum + BigInt(row.nanos), 0n);
  expect(acme!.usd!.replace('.', '')).toBe(String(nanos));
});

test('the DuckDB recipes of docs/analytics.md for a directory run as they stand', async () => {
  const org = await insertArchivedOrganization(db().sql, 'Recipes');
  await insertRecords(db().sql, org, pastDay(2), 100);
  await run();
  const page = readFileSync(new URL('../../../docs/analytics.md', import.meta.url), 'utf8');
  const recipes = [...page.matchAll(/```sql\n([^`]*\/var\/lib\/acg-archive[^`]*)```/g)].map(([, query]) => query!);
  expect(recipes).toHaveLength(2);
  for (const recipe of recipes) {
    const query = recipe.replaceAll('/var/lib/acg-archive', home).replace('2026-01-', dayText(pastDay(2)).slice(0, 8));
    const found = await queryDuckDb(query);
    expect(found.reduce((calls, row) => calls + Number(row.calls), 0)).toBe(100);
  }
});

test('an hour with a tag of its own in each call is read once, in bounded batches, without a loss', async () => {
  const { sql } = db();
  const org = await insertArchivedOrganization(sql, 'Many tags');
  await insertRecords(sql, org, pastDay(2), 9_000);
  await sql`update usage_records set tags = 'user=' || id, started_at = ${new Date(pastDay(2))}
    where org_id = ${org.orgId}`;
  const batches: number[] = [];
  const tags: string[] = [];
  await readCharges(sql, org.orgId, new Date(pastDay(2)), async (rows) => {
    // One snapshot: what comes later is not in this reading.
    if (batches.length === 0)
      await sql`update usage_records set tags = 'user=0' where org_id = ${org.orgId} and tokens_out = 7`;
    batches.push(rows.length);
    tags.push(...rows.filter((row) => row.x_Model === 'gpt-5-mini').map((row) => row.Tags!));
  });
  expect(batches).toEqual(Array.from({ length: 9 }, () => 1_000));
  expect(tags).toHaveLength(4_500);
  expect(tags).toEqual(tags.toSorted());
  await sql`update usage_records set tags = 'user=' || id where org_id = ${org.orgId}`;
  await run();
  const [sums] = await queryDuckDb(
    `select count(*) as rows, count(distinct "Tags") as tags, sum("x_CostNanos") as nanos from ${focusFiles(org.orgId)}`,
  );
  expect(sums).toEqual({ rows: '9000', tags: '9000', nanos: (await ledgerSum(org.orgId)).nanos });
  expect(await archiver.findProblem(org.orgId, dayText(pastDay(2)))).toBeNull();
});

test('a late record archives its day again, and a repeated run writes nothing', async () => {
  const { sql } = db();
  const org = await insertArchivedOrganization(sql, 'Late');
  await insertRecords(sql, org, pastDay(2), 100);
  await run();
  const day = dayText(pastDay(2));
  const manifest = join(home, `manifests/org=${org.orgId}/day=${day}.json`);
  writeFileSync(`${manifest}.seen`, readFileSync(manifest));
  const [before] = await sql`select verified_at from archive_days where org_id = ${org.orgId}`;
  await run();
  expect((await sql`select verified_at from archive_days where org_id = ${org.orgId}`)[0]).toEqual(before);
  await insertRecords(sql, org, pastDay(2), 1);
  expect(await archiver.isArchived(pastDay(2))).toBe(false);
  expect(await archiver.findProblem(org.orgId, day)).toContain('the ledger has 101 records');
  await run();
  expect(await archiver.isArchived(pastDay(2))).toBe(true);
  expect(await archiver.findProblem(org.orgId, day)).toBeNull();
});

test('verification finds a file that is missing, cut or changed, and a manifest that is no manifest', async () => {
  const { sql } = db();
  const org = await insertArchivedOrganization(sql, 'Damaged');
  await insertRecords(sql, org, pastDay(2), 100);
  await run();
  const day = dayText(pastDay(2));
  const part = join(home, `usage/org=${org.orgId}/day=${day}/part-00000.parquet`);
  const manifest = join(home, `manifests/org=${org.orgId}/day=${day}.json`);
  const [bytes, text] = [readFileSync(part), readFileSync(manifest)];
  const problem = () => archiver.findProblem(org.orgId, day);
  writeFileSync(part, bytes.subarray(0, -1));
  expect(await problem()).toContain('another checksum');
  rmSync(part);
  expect(await problem()).toContain('is missing');
  writeFileSync(part, bytes);
  writeFileSync(manifest, text.toString().replace('"rows": 100', '"rows": 101'));
  expect(await problem()).toContain('was changed after');
  await sql`update archive_days set manifest_verified_at = null where org_id = ${org.orgId}`; // as by an earlier release
  expect(await problem()).toContain('was changed after');
  writeFileSync(manifest, '{');
  expect(await problem()).toContain('no manifest');
  rmSync(manifest);
  expect(await problem()).toContain('is missing');
  writeFileSync(manifest, text);
  expect(await problem()).toBeNull();
});

test('a partition is dropped only when the archive has all its records', async () => {
  const { sql } = db();
  const org = await insertArchivedOrganization(sql, 'Old');
  const oldDay = pastDay(12);
  await insertRecords(sql, org, oldDay, 50);
  const days = { logs: 10, rejections: 400, rollups: null };
  const retention = new UsageRetention(sql, days, log, (dayMs) => archiver.isArchived(dayMs));
  const count = async () => Number((await ledgerSum(org.orgId)).rows);
  await retention.deleteExpiredUsage(Date.now());
  expect(await count()).toBe(50);
  await run();
  await insertRecords(sql, org, oldDay, 1);
  await retention.deleteExpiredUsage(Date.now());
  expect(await count()).toBe(51);
  await run();
  await retention.deleteExpiredUsage(Date.now());
  expect(await count()).toBe(0);
  expect(await archiver.findProblem(org.orgId, dayText(oldDay))).toBeNull();
  const [sums] = await queryDuckDb(`select count(*) as rows from ${usageFiles(org.orgId)}`);
  expect(sums).toEqual({ rows: '51' });
});

test('S3 that is away, full or slow: the day waits, nothing counts as archived, and the next run completes it', async () => {
  const { sql } = db();
  const s3 = new S3StandIn();
  await s3.start();
  const { accessKeyId, secretAccessKey, region } = PROVIDER_CREDENTIALS.s3;
  const location = { kind: 's3', bucket: 'ledger', prefix: 'acg', endpoint: s3.origin, region, accessKeyId } as const;
  const remote = new Archiver(sql, openObjectStore({ ...location, secretAccessKey: new Secret(secretAccessKey) }), log);
  const org = await insertArchivedOrganization(sql, 'Remote');
  await insertRecords(sql, org, pastDay(2), 100);
  const day = dayText(pastDay(2));
  const answer = (status: number, code: string) => ({
    answer: { status, headers: [], body: Buffer.from(`<Error><Code>${code}</Code></Error>`) },
  });
  for (const fault of [{ reset: true } as const, answer(507, 'QuotaExceeded'), answer(503, 'SlowDown')]) {
    s3.failNext(fault);
    await run(remote);
    expect(await remote.isArchived(pastDay(2))).toBe(false);
    expect(remote.behindDays).toBeGreaterThan(0);
  }
  expect(lines.join('')).toContain('QuotaExceeded');
  await run(remote);
  expect(await remote.isArchived(pastDay(2))).toBe(true);
  expect(remote.behindDays).toBe(0);
  expect(s3.objectNames).toEqual(
    ['focus', 'manifests', 'usage'].map((kind) =>
      kind === 'manifests'
        ? `ledger/acg/manifests/org=${org.orgId}/day=${day}.json`
        : `ledger/acg/${kind}/org=${org.orgId}/day=${day}/part-00000.parquet`,
    ),
  );
  // What is read back is compared, not what was written: a store that loses a byte is found.
  await sql`delete from archive_days`;
  s3.failNext({}, 3);
  s3.failNext({ ...answer(200, '') });
  await run(remote);
  expect(await remote.isArchived(pastDay(2))).toBe(false);
  await s3.close();
});

test('two archivers at once: one works, the other does nothing', async () => {
  const { sql } = db();
  const org = await insertArchivedOrganization(sql, 'Twice');
  await insertRecords(sql, org, pastDay(2), 30_000);
  const second = new Archiver(sql, openObjectStore({ kind: 'file', path: home }), log);
  await Promise.all([run(), run(second)]);
  const [sums] = await queryDuckDb(`select count(*) as rows, count(distinct id) as ids from ${usageFiles(org.orgId)}`);
  expect(sums).toEqual({ rows: '30000', ids: '30000' });
});

test('the API lists the days of the organization and verifies one', async () => {
  const plane = await startControlPlane({ ARCHIVE_URL: `file://${home}` });
  const owner = await plane.createMember('owner');
  const { sql } = plane.database;
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'P' })).body.project.id;
  const agentId = (await owner.call('POST', '/v1/agents', { projectId, name: 'A' })).body.agent.id;
  await owner.call('POST', '/v1/api-keys', { name: 'k', agentId });
  await insertRecords(sql, { orgId: owner.orgId, agentId }, pastDay(2), 10);
  await plane.service.archive.archiver!.archiveClosedDays(Date.now());
  const day = dayText(pastDay(2));
  const { body } = await owner.call('GET', '/v1/archive');
  expect(body).toMatchObject({ enabled: true, total: 1, days: [{ day, rows: 10, files: 2 }] });
  expect((await owner.call('POST', '/v1/archive/verify', { day })).body).toEqual({
    day,
    ok: true,
    state: 'verified',
    problem: null,
  });
  rmSync(join(home, `focus/org=${owner.orgId}`), { recursive: true });
  const { body: broken } = await owner.call('POST', '/v1/archive/verify', { day });
  expect(broken).toMatchObject({ ok: false, state: 'differs', problem: expect.stringContaining('is missing') });
  expect((await owner.call('POST', '/v1/archive/verify', { day: '2020-01-01' })).status).toBe(404);
  const other = await plane.createMember('owner');
  expect((await other.call('GET', '/v1/archive')).body.total).toBe(0);
  expect((await other.call('POST', '/v1/archive/verify', { day })).status).toBe(404);
  await plane.stop();
});
