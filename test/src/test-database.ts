/** A fresh, migrated database for one test file, dropped afterwards. */
import { randomBytes } from 'node:crypto';
import { Secret } from '@acg/base/secret';
import { openSql, type Sql } from '@acg/controlplane/db/sql';
import postgres from 'postgres';
import { afterAll, beforeAll, inject } from 'vitest';
import { TEMPLATE_DATABASE } from './template-cluster.js';

export interface TestDatabase {
  readonly url: Secret;
  readonly sql: Sql;
  drop(): Promise<void>;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const server = inject('databaseServerUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = postgres(server, { max: 1, onnotice: () => {} });
  await admin.unsafe(`create database ${name} template ${TEMPLATE_DATABASE}`);
  const url = new Secret(server.replace(/\/postgres$/, `/${name}`));
  const sql = openSql(url, { connectionsMax: 10, applicationName: 'test' });
  return {
    url,
    sql,
    async drop() {
      await sql.end({ timeout: 1 });
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

/** One database for all tests of the calling file: `const db = useTestDatabase(); … db().sql`. */
export function useTestDatabase(): () => TestDatabase {
  let database: TestDatabase | null = null;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await database?.drop();
  });
  return () => database!;
}
