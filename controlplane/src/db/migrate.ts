/**
 * Numbered, forward-only migrations. The first instance to start runs them under an advisory lock; the others wait and
 * then find nothing to do. Each file runs in one transaction, together with its row in `schema_migrations`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Sql } from './postgres-client.js';
import { waitForConnectionClose, withReservedConnection } from './reserved-connection.js';

const MIGRATIONS_DIRECTORY = new URL('./migrations/', import.meta.url);
const DEADLOCK = '40P01';
const MIGRATION_FILE = /^(\d{4})_[a-z0-9_]+\.sql$/;

/** The schema was created by a newer version of this program. */
class NewerSchemaError extends Error {
  constructor(readonly version: number) {
    super(
      `the database has schema version ${version}, which this release does not support. Start the newer release again.`,
    );
    this.name = 'NewerSchemaError';
  }
}

interface Migration {
  readonly version: number;
  readonly name: string;
}

function listMigrations(): readonly Migration[] {
  return readdirSync(MIGRATIONS_DIRECTORY)
    .map((name) => ({ name, match: MIGRATION_FILE.exec(name) }))
    .filter(({ match }) => match !== null)
    .map(({ name, match }) => ({ version: Number(match![1]), name }))
    .sort((a, b) => a.version - b.version);
}

/**
 * Runs one migration in one transaction. Instances of the previous release may lock the same tables in another order.
 * If Postgres aborts the migration because of a deadlock, nothing has changed, and it runs again.
 */
async function runMigration(connection: Sql, version: number, name: string): Promise<void> {
  const text = readFileSync(new URL(name, MIGRATIONS_DIRECTORY), 'utf8');
  const entry = `insert into schema_migrations (version, name) values (${version}, '${name}')`;
  for (;;) {
    try {
      await connection.unsafe(`begin;\n${entry};\n${text}\ncommit;`);
      return;
    } catch (error) {
      await waitForConnectionClose();
      await connection`rollback`;
      if ((error as { code?: string }).code !== DEADLOCK) throw error;
    }
  }
}

/**
 * Migrates the schema to the newest version. Returns the names of the files that ran. Throws {@link NewerSchemaError}.
 */
export function migrate(sql: Sql): Promise<readonly string[]> {
  return withReservedConnection(sql, async (connection) => {
    // No timeout: waiting for another instance and a large migration may both take long.
    await connection`set statement_timeout = 0`;
    await connection`set idle_in_transaction_session_timeout = 0`;
    await connection`select pg_advisory_lock(hashtext('schema_migrations'))`;
    await connection`create table if not exists schema_migrations (
      version integer primary key, name text not null, applied_at timestamptz not null default now())`;
    const rows = await connection<{ version: number }[]>`select version from schema_migrations order by version`;
    const applied = new Set(rows.map((row) => row.version));
    const known = listMigrations();
    const newest = rows.at(-1)?.version ?? 0;
    if (newest > (known.at(-1)?.version ?? 0)) throw new NewerSchemaError(newest);
    const ran: string[] = [];
    for (const { version, name } of known) {
      if (applied.has(version)) continue;
      await runMigration(connection, version, name);
      ran.push(name);
    }
    return ran;
  });
}
