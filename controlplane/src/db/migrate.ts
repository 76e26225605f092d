/**
 * Numbered, forward-only migrations, run at start by whoever is first: an advisory lock makes the others wait and then
 * find nothing to do. Each file runs in one transaction with its own entry in `schema_migrations`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { waitForConnectionClose, withReservedConnection } from './reserved-connection.js';
import type { Sql } from './sql.js';

const MIGRATIONS_DIRECTORY = new URL('./migrations/', import.meta.url);
const DEADLOCK = '40P01';
const MIGRATION_FILE = /^(\d{4})_[a-z0-9_]+\.sql$/;

/** The database was written by a newer version of this program. */
class NewerSchemaError extends Error {
  constructor(readonly version: number) {
    super(`the database has schema ${version}, which this version does not know: start the newer version again`);
    this.name = 'NewerSchema';
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
 * In one transaction. Instances of the release before may be at work and lock the same tables in another order; where
 * Postgres ends the migration for that, nothing of it has happened, and it runs again.
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

/** Brings the schema up to date; returns the names of the files that ran. */
export function migrate(sql: Sql): Promise<readonly string[]> {
  return withReservedConnection(sql, async (connection) => {
    // Waiting for whoever migrates now, and a large migration, take as long as they take.
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
