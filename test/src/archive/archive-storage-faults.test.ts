/** Storage that does not answer, and the bound after which retention drops days that the archive does not have. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@acg/base/log';
import { Secret } from '@acg/base/secret';
import { Archiver } from '@acg/controlplane/archive/archiver';
import { openObjectStore } from '@acg/controlplane/archive/object-store';
import { expect, test } from 'vitest';
import { startControlPlane } from '../fixtures/control-plane.js';
import { useTestDatabase } from '../fixtures/test-database.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { S3StandIn } from '../stand-in-providers/s3.js';
import { insertArchivedOrganization, insertRecords, pastDay } from './archive-fixture.js';

const db = useTestDatabase();
const S3_TIMEOUT_MS = 500;

test('S3 that takes a request and never answers: the day waits, is logged, and is archived later', async () => {
  const { sql } = db();
  const s3 = new S3StandIn();
  await s3.start();
  const { accessKeyId, secretAccessKey, region } = PROVIDER_CREDENTIALS.s3;
  const lines: string[] = [];
  const store = openObjectStore(
    {
      kind: 's3',
      bucket: 'ledger',
      prefix: '',
      endpoint: s3.origin,
      region,
      accessKeyId,
      secretAccessKey: new Secret(secretAccessKey),
    },
    S3_TIMEOUT_MS,
  );
  const archiver = new Archiver(
    sql,
    store,
    createLogger('test', 'info', (line) => void lines.push(line)),
  );
  await insertRecords(sql, await insertArchivedOrganization(sql, 'Slow'), pastDay(2), 10);
  s3.failNext({ hang: true });
  await archiver.archiveClosedDays(Date.now());
  expect(lines.join('')).toContain('could not be written');
  expect(lines.join('')).toMatch(/timeout/i);
  expect(await archiver.isArchived(pastDay(2))).toBe(false);
  await archiver.archiveClosedDays(Date.now());
  expect(await archiver.isArchived(pastDay(2))).toBe(true);
  s3.releaseHangingResponses();
  await s3.close();
});

test('storage that stays away: a day is kept until the bound, then dropped, and the metric says so', async () => {
  const home = mkdtempSync(join(tmpdir(), 'acg-archive-away-'));
  const blocked = join(home, 'file');
  writeFileSync(blocked, ''); // a file where the directory of the archive should be
  const plane = await startControlPlane({
    ARCHIVE_URL: `file://${blocked}`,
    ARCHIVE_DROP_UNVERIFIED_AFTER_DAYS: '10',
  });
  try {
    const { sql } = plane.database;
    const org = await insertArchivedOrganization(sql, 'Away');
    for (const day of [9, 11]) await insertRecords(sql, org, pastDay(day), 5);
    const { archive } = plane.service;
    await archive.archiver!.archiveClosedDays(Date.now());
    expect([await archive.mayDropDay(pastDay(9)), await archive.mayDropDay(pastDay(11))]).toEqual([false, true]);
    const metrics = await (await fetch(`${plane.url}/metrics`)).text();
    expect(metrics).toMatch(/gateway_archive_days_dropped_total\{archived="no"\} 1/);
    expect(metrics).toMatch(/gateway_archive_days_dropped_total\{archived="yes"\} 0/);
  } finally {
    await plane.stop();
    rmSync(home, { recursive: true, force: true });
  }
});
