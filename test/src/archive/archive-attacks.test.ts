/** The archive against a hostile writer of its storage, hostile names, and a tenant whose day cannot be written. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@acg/base/log';
import { Secret } from '@acg/base/secret';
import { Archiver } from '@acg/controlplane/archive/archiver';
import { type ObjectStore, openObjectStore, StorageUnavailable } from '@acg/controlplane/archive/object-store';
import { UsageRetention } from '@acg/controlplane/ledger/usage-retention';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { S3StandIn } from '../stand-in-providers/s3.js';
import { insertArchivedOrganization, insertRecords, pastDay, queryDuckDb } from './archive-fixture.js';

const db = useTestDatabase();
const home = mkdtempSync(join(tmpdir(), 'acg-archive-attacks-'));
const lines: string[] = [];
const log = createLogger('test', 'info', (line) => void lines.push(line));
const DAY_MS = pastDay(12);
const DAY = new Date(DAY_MS).toISOString().slice(0, 10);
let archiver: Archiver;
beforeEach(async () => {
  archiver = new Archiver(db().sql, openObjectStore({ kind: 'file', path: home }), log);
  for (const table of ['usage_records', 'archive_days', 'archive_complete_days'])
    await db().sql.unsafe(`delete from ${table}`);
  lines.length = 0;
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const run = () => archiver.archiveClosedDays(Date.now());
const manifestOf = (orgId: string) => join(home, `manifests/org=${orgId}/day=${DAY}.json`);
const partOf = (orgId: string) => join(home, `usage/org=${orgId}/day=${DAY}/part-00000.parquet`);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const rowsOf = async (orgId: string) =>
  Number((await db().sql`select count(*)::text as rows from usage_records where org_id = ${orgId}`)[0]!.rows);

test('a manifest that was edited leads to no other file, and its figures are no code: one line says what is wrong', async () => {
  const { sql } = db();
  const org = await insertArchivedOrganization(sql, 'Edited');
  await insertRecords(sql, org, DAY_MS, 20);
  await run();
  await sql`update archive_days set manifest_verified_at = null`; // as by an earlier release: no checksum helps
  const path = manifestOf(org.orgId);
  const text = readFileSync(path, 'utf8');
  const outside = join(home, 'outside');
  writeFileSync(outside, readFileSync(partOf(org.orgId)));
  const edit = (change: (manifest: Record<string, unknown>, file: Record<string, unknown>) => void): string => {
    const manifest = JSON.parse(text);
    change(manifest, manifest.usage[0]);
    return JSON.stringify(manifest);
  };
  const edits = [
    edit((_, file) => Object.assign(file, { key: '../outside' })),
    edit((_, file) => Object.assign(file, { key: '/etc/passwd' })),
    edit((_, file) => Object.assign(file, { key: `usage/org=${org.orgId}/day=${DAY}/part-00000.parquet\0` })),
    edit((_, file) => Object.assign(file, { key: String(file.key).replace(org.orgId, 'another') })),
    edit((_, file) => Object.assign(file, { costNanos: '1e3' })),
    edit((_, file) => Object.assign(file, { bytes: 1e308 })),
    edit((_, file) => Object.assign(file, { bytes: -1 })),
    edit((manifest) => Object.assign(manifest, { rows: '20' })),
    edit((manifest) => Object.assign(manifest, { usage: [null] })),
    edit((manifest) => Object.assign(manifest, { usage: { length: 1e9 } })),
    edit((manifest) => Object.assign(manifest, { orgId: 'another' })),
    'null',
    '[]',
    '"'.repeat(3),
  ];
  for (const edited of edits) {
    writeFileSync(path, edited);
    expect([edited, await archiver.findProblem(org.orgId, DAY)]).toEqual([
      edited,
      expect.stringMatching(/is no manifest of this day$/),
    ]);
  }
  // A file that is no Parquet, with a manifest that agrees.
  const bytes = Buffer.from('PAR1 no rows, no columns, no end');
  writeFileSync(partOf(org.orgId), bytes);
  const replaced = edit((_, file) => Object.assign(file, { bytes: bytes.length, sha256: sha256(bytes) }));
  writeFileSync(path, replaced);
  await sql`update archive_days set bytes = bytes - ${JSON.parse(text).usage[0].bytes - bytes.length}::int`;
  expect(await archiver.findProblem(org.orgId, DAY)).toMatch(/is no Parquet file of the archive$/);
  // A huge file is not read into memory: its entry says how long it may be.
  writeFileSync(partOf(org.orgId), Buffer.alloc(64 * 1_048_576));
  expect(await archiver.findProblem(org.orgId, DAY)).toContain('another checksum');
});

test('names with / .. = quotes and control characters are values: no file outside of the folder of the organization', async () => {
  const { sql } = db();
  const name = '../../etc/=x\'"\n\t\u0001;$(a)%00\u202e';
  const org = await insertArchivedOrganization(sql, name);
  await insertRecords(sql, org, DAY_MS, 20);
  await sql`update usage_records set model = ${`../${name}`} where org_id = ${org.orgId}`;
  await run();
  expect(await archiver.findProblem(org.orgId, DAY)).toBeNull();
  const [usage] = await queryDuckDb(
    `select min("agentName") as agent, min(model) as model, count(*) as rows from read_parquet('${partOf(org.orgId)}')`,
  );
  expect(usage).toEqual({ agent: `Agent of ${name}`, model: `../${name}`, rows: '20' });
  const [focus] = await queryDuckDb(
    `select min("BillingAccountName") as org, min("SkuId") as sku from read_parquet('${partOf(org.orgId).replace('/usage/', '/focus/')}')`,
  );
  expect(focus).toEqual({ org: name, sku: `openai/../${name}` });
});

test('a tenant whose sum exceeds a bigint, or whose day cannot be written, keeps no other tenant waiting', async () => {
  const { sql } = db();
  const [huge, broken, other] = [
    await insertArchivedOrganization(sql, 'Huge'),
    await insertArchivedOrganization(sql, 'Broken'),
    await insertArchivedOrganization(sql, 'Other'),
  ];
  for (const org of [huge, broken, other]) await insertRecords(sql, org, DAY_MS, 4);
  await insertRecords(sql, other, pastDay(11), 4);
  await sql`update usage_records set cost_nanos = 9000000000000000000 where org_id = ${huge.orgId}`;
  const store = openObjectStore({ kind: 'file', path: home });
  const put: ObjectStore['put'] = async (key, bytes) => {
    if (key.includes(broken.orgId)) throw new Error('this day cannot be written');
    await store.put(key, bytes);
  };
  archiver = new Archiver(sql, { put, get: store.get.bind(store) }, log);
  await run();
  expect(await archiver.findProblem(huge.orgId, DAY)).toBeNull();
  const [sums] = await queryDuckDb(`select sum("costNanos") as nanos from read_parquet('${partOf(huge.orgId)}')`);
  expect(sums).toEqual({ nanos: '36000000000000000000' });
  for (const ms of [DAY_MS, pastDay(11)])
    expect(await archiver.findProblem(other.orgId, new Date(ms).toISOString().slice(0, 10))).toBeNull();
  expect(await archiver.findProblem(broken.orgId, DAY)).toContain('not in the archive yet');
  expect(archiver.behindDays).toBe(1);
  expect(await archiver.isArchived(DAY_MS)).toBe(false);
});

test('a charge of an hour that exceeds a bigint is split into parts of 18 digits, with the sums of the ledger', async () => {
  const { sql } = db();
  const org = await insertArchivedOrganization(sql, 'Invented');
  await insertRecords(sql, org, DAY_MS, 4);
  const nanos = 9_000_000_000_000_000_001n;
  await sql`
    update usage_records set started_at = ${new Date(DAY_MS)}, model = 'm', cost_nanos = ${String(nanos)}::text::bigint,
           tokens_in_uncached = 4000000000000000001, tokens_cache_read = 0, tokens_out = 0 where org_id = ${org.orgId}`;
  await run();
  expect(lines.join('')).not.toContain('could not be written');
  expect(await archiver.findProblem(org.orgId, DAY)).toBeNull();
  const [charges] = await queryDuckDb(`
    select sum("x_CostNanos") as nanos, sum("BilledCost") as usd, sum("ConsumedQuantity") as tokens, sum("x_Requests") as calls,
           max("x_CostNanos") < 1000000000000000000 and max("ConsumedQuantity") < 1000000000000000000 as fits
      from read_parquet('${partOf(org.orgId).replace('/usage/', '/focus/')}')`);
  const sum = String(4n * nanos);
  expect(charges).toEqual({
    nanos: sum,
    usd: `${sum.slice(0, -9)}.${sum.slice(-9)}`,
    tokens: '16000000000000000004',
    calls: '4',
    fits: 'true',
  });
});

test('storage that rejects one organization keeps no other one waiting beyond the next run', async () => {
  const { sql } = db();
  const orgs = [await insertArchivedOrganization(sql, 'One'), await insertArchivedOrganization(sql, 'Two')];
  const [rejected, other] = orgs.sort((a, b) => (a.orgId < b.orgId ? -1 : 1)) as [(typeof orgs)[0], (typeof orgs)[0]];
  const days = [DAY_MS, pastDay(11)];
  for (const org of orgs) for (const dayMs of days) await insertRecords(sql, org, dayMs, 4);
  const store = openObjectStore({ kind: 'file', path: home });
  let isRejected = true;
  const put: ObjectStore['put'] = async (key, bytes) => {
    if (isRejected && key.includes(rejected.orgId)) throw new StorageUnavailable(`PUT ${key}: 403 AccessDenied`);
    await store.put(key, bytes);
  };
  archiver = new Archiver(sql, { put, get: store.get.bind(store) }, log);
  const archived = async () =>
    (await sql<{ orgId: string }[]>`select org_id as "orgId" from archive_days order by 1`).map(({ orgId }) => orgId);
  await run();
  expect(await archived()).toEqual([]);
  await run();
  expect(await archived()).toEqual([other.orgId, other.orgId]);
  expect(archiver.behindDays).toBe(2);
  isRejected = false;
  await run();
  expect(await archived()).toEqual([rejected.orgId, rejected.orgId, other.orgId, other.orgId]);
  expect(archiver.behindDays).toBe(0);
  for (const dayMs of days) expect(await archiver.isArchived(dayMs)).toBe(true);
});

test('retention reads a day back before it drops it: a damaged one is archived again first', async () => {
  const { sql } = db();
  const [org, whole] = [await insertArchivedOrganization(sql, 'Lost'), await insertArchivedOrganization(sql, 'Whole')];
  for (const { orgId, agentId } of [org, whole]) await insertRecords(sql, { orgId, agentId }, DAY_MS, 30);
  const days = { logs: 10, rejections: 400, rollups: null };
  const retention = new UsageRetention(sql, days, log, (dayMs) => archiver.isArchived(dayMs));
  const sweep = () => retention.deleteExpiredUsage(Date.now());
  await run();
  rmSync(partOf(org.orgId)); // as by a rule of the bucket that deletes old objects
  await sweep();
  expect([await rowsOf(org.orgId), await rowsOf(whole.orgId)]).toEqual([30, 30]);
  expect(lines.join('')).toContain('a day is damaged; archived again within an hour');
  await run();
  await sweep();
  expect([await rowsOf(org.orgId), await rowsOf(whole.orgId)]).toEqual([0, 0]);
  for (const { orgId } of [org, whole]) expect(await archiver.findProblem(orgId, DAY)).toBeNull();
});

test('S3 that is away, without the bucket or with other rights says nothing about a day; retention keeps it', async () => {
  const { sql } = db();
  const s3 = new S3StandIn();
  await s3.start();
  const { accessKeyId, secretAccessKey, region } = PROVIDER_CREDENTIALS.s3;
  const location = { kind: 's3', bucket: 'ledger', prefix: '', endpoint: s3.origin, region, accessKeyId } as const;
  archiver = new Archiver(sql, openObjectStore({ ...location, secretAccessKey: new Secret(secretAccessKey) }), log);
  const org = await insertArchivedOrganization(sql, 'Remote');
  await insertRecords(sql, org, DAY_MS, 10);
  await run();
  expect(await archiver.findProblem(org.orgId, DAY)).toBeNull();
  const answer = (status: number, code: string) => ({
    answer: { status, headers: [], body: Buffer.from(`<Error><Code>${code}</Code></Error>`) },
  });
  const faults = [
    [{ reset: true } as const, /GET manifests\/\S+: UND_ERR_SOCKET/],
    [answer(503, 'SlowDown'), /: 503 SlowDown$/],
    [answer(404, 'NoSuchBucket'), /: 404 NoSuchBucket$/],
    [answer(403, 'AccessDenied'), /: 403 AccessDenied$/],
  ] as const;
  for (const [fault, text] of faults) {
    s3.failNext(fault);
    const error = await archiver.findProblem(org.orgId, DAY).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StorageUnavailable);
    expect((error as Error).message).toMatch(text);
    s3.failNext(fault);
    expect(await archiver.isArchived(DAY_MS)).toBe(false);
  }
  expect(await rowsOf(org.orgId)).toBe(10);
  s3.failNext(answer(404, 'NoSuchKey'));
  expect(await archiver.findProblem(org.orgId, DAY)).toMatch(/\.json is missing$/);
  expect(await archiver.isArchived(DAY_MS)).toBe(true);
  await s3.close();
});
