import { randomBytes } from 'node:crypto';
import { Secret } from '@acg/base/secret';
import { migrate } from '@acg/controlplane/db/migrate';
import { openPool } from '@acg/controlplane/db/postgres-client';
import postgres from 'postgres';
import { expect, inject, test } from 'vitest';
import { waitUntil } from '../fixtures/wait-until.js';

test('migrations: a migration that a deadlock aborts is retried after the other work has finished', async () => {
  const server = inject('databaseServerUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = postgres(server, { max: 1, onnotice: () => {} });
  await admin.unsafe(`create database ${name}`);
  const url = server.replace(/\/postgres$/, `/${name}`);
  const sql = openPool(new Secret(url), { connectionsMax: 2, applicationName: 'migration' });
  const other = postgres(url, { max: 1, onnotice: () => {} });
  const held = await other.reserve();
  try {
    await held.unsafe(`begin; set local deadlock_timeout = '1h'; create table users (id integer)`);
    const migrated = migrate(sql);
    await waitUntil('the first migration waits', async () => {
      const waiting = await admin`
        select 1 from pg_stat_activity where datname = ${name} and application_name = 'migration' and wait_event_type = 'Lock'`;
      return waiting.length > 0;
    });
    await held.unsafe('lock table schema_migrations in access exclusive mode; rollback');
    expect((await migrated).length).toBeGreaterThan(1);
    expect(await migrate(sql)).toEqual([]);
  } finally {
    held.release();
    await other.end({ timeout: 1 });
    await sql.end({ timeout: 1 });
    await admin.unsafe(`drop database ${name} with (force)`);
    await admin.end();
  }
});
