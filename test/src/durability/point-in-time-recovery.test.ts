/**
 * Point-in-time recovery as docs/operations.md describes it: archived WAL and a base backup that was copied while the
 * server was writing. Restores to the end of the archive, and to a moment before a mistake. Prints RPO and RTO.
 */
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@acg/base/secret';
import { migrate } from '@acg/controlplane/db/migrate';
import { openPool, type Sql } from '@acg/controlplane/db/postgres-client';
import { findPostgresBinaries } from '@acg/singlenode/postgres/postgres-binaries';
import { PostgresCluster } from '@acg/singlenode/postgres/postgres-cluster';
import { afterAll, expect, test } from 'vitest';
import { waitUntil } from '../fixtures/wait-until.js';

const DATABASE = 'gateway';
const home = mkdtempSync(join(tmpdir(), 'acg-pitr-'));
const binaries = findPostgresBinaries();
const archive = join(home, 'archive');
const running: PostgresCluster[] = [];
afterAll(async () => {
  await Promise.all(running.map((cluster) => cluster.stop()));
  rmSync(home, { recursive: true, force: true });
});

/** The archive_command of deploy/postgres/archiving.conf with a directory as the archive. */
const ARCHIVING = [
  'wal_level=replica',
  'archive_mode=on',
  'archive_timeout=60',
  `archive_command=test ! -f ${archive}/%f && cp %p ${archive}/%f.part && mv ${archive}/%f.part ${archive}/%f`,
];

async function start(name: string, settings: readonly string[]): Promise<{ cluster: PostgresCluster; sql: Sql }> {
  const cluster = await PostgresCluster.start({
    ...{ binaries, directory: join(home, name), password: 'test-only-password', logFile: join(home, `${name}.log`) },
    ...{ port: 0, settings: ['shared_buffers=32MB', ...settings] },
  });
  running.push(cluster);
  return {
    cluster,
    sql: openPool(new Secret(cluster.url(DATABASE)), { connectionsMax: 1, applicationName: 'drill' }),
  };
}

const addOrganizations = (sql: Sql, slugs: readonly string[]): Promise<unknown> =>
  sql`insert into organizations (id, name, slug) select gen_random_uuid(), 'o', * from unnest(${[...slugs]}::text[])`;
const listSlugs = async (sql: Sql): Promise<readonly string[]> =>
  (await sql<{ slug: string }[]>`select slug from organizations order by slug`).map(({ slug }) => slug);

test('point-in-time recovery: a copy of a running server and its archive restore all archived commits', async () => {
  mkdirSync(archive);
  chmodSync(home, 0o711);
  if (binaries.user !== null) chownSync(archive, binaries.user.uid, binaries.user.gid);
  const { cluster, sql } = await start('primary', ARCHIVING);
  await cluster.createDatabase(DATABASE);
  await migrate(sql);
  await addOrganizations(sql, ['a-before-the-backup']);

  await sql`select pg_backup_start('drill', true)`;
  await addOrganizations(sql, ['b-while-copying']);
  cpSync(join(home, 'primary'), join(home, 'base'), {
    recursive: true,
    preserveTimestamps: true,
    filter: (path) => !/\/(?:postmaster\.(?:pid|opts)|pg_wal\/[^/]+|pg_stat_tmp\/.*)$/.test(path),
  });
  const [label] = await sql<{ labelfile: string }[]>`select labelfile from pg_backup_stop(false)`;
  writeFileSync(join(home, 'base', 'backup_label'), label!.labelfile);

  await addOrganizations(sql, ['c-after-the-backup']);
  const [moment] = await sql<{ at: string }[]>`select clock_timestamp()::text as at`;
  await sql`delete from organizations where slug = 'a-before-the-backup'`; // the mistake
  const [segment] = await sql<{ name: string }[]>`select pg_walfile_name(pg_switch_wal()) as name`;
  await waitUntil('the segment is archived', async () => readdirSync(archive).includes(segment!.name));
  await addOrganizations(sql, ['d-not-archived']);
  await sql.end();
  process.kill(cluster.pid, 'SIGKILL');
  await cluster.exited;

  const restore = async (
    name: string,
    target: readonly string[],
  ): Promise<{ slugs: readonly string[]; ms: number }> => {
    const startMs = performance.now();
    cpSync(join(home, 'base'), join(home, name), { recursive: true, preserveTimestamps: true });
    writeFileSync(join(home, name, 'recovery.signal'), '');
    if (binaries.user !== null) giveTo(join(home, name), binaries.user);
    const command = `restore_command=cp ${archive}/%f %p`;
    const restored = await start(name, [command, 'recovery_target_action=promote', ...target]);
    await waitUntil('recovery has ended', async () => {
      const [row] = await restored.sql<{ recovering: boolean }[]>`select pg_is_in_recovery() as recovering`;
      return !row!.recovering;
    });
    const ms = performance.now() - startMs;
    expect(await migrate(restored.sql)).toEqual([]);
    const slugs = await listSlugs(restored.sql);
    await restored.sql.end();
    return { slugs, ms };
  };

  const all = await restore('to-the-end', []);
  expect(all.slugs).toEqual(['b-while-copying', 'c-after-the-backup']);
  const before = await restore('to-the-moment', [`recovery_target_time=${moment!.at}`]);
  expect(before.slugs).toEqual(['a-before-the-backup', 'b-while-copying', 'c-after-the-backup']);
  console.info(`recovered in ${Math.round(all.ms)} ms; lost: the commits after the last archived segment`);
});

function giveTo(directory: string, { uid, gid }: { uid: number; gid: number }): void {
  for (const name of ['.', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })])
    chownSync(join(directory, name), uid, gid);
  chmodSync(directory, 0o700);
}
