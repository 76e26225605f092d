/**
 * `npm run erase-person -- EMAIL [--dry-run]`: erases a person's data while the gateway runs
 * (docs/operations.md#erasing-a-person). Prints what was erased; the trail of each of the person's organizations gets an
 * entry.
 */
import { hostname, userInfo } from 'node:os';
import { ConfigError, EnvReader } from '@acg/base/env-reader';
import { maskSecrets } from '@acg/base/log';
import { readDatabaseUrl } from '../db/database-url.js';
import { openPool } from '../db/postgres-client.js';
import { BreakGlassOwner, erasePerson, OnlyOwner } from './erase-person.js';

const EXIT_USAGE = 64;
const EXIT_REFUSED = 65;
const EXIT_CONFIG = 78;
const EXIT_UNAVAILABLE = 69;
const USAGE = 'usage: erase-person EMAIL [--dry-run]';

async function run(args: readonly string[]): Promise<void> {
  const isDryRun = args.includes('--dry-run');
  const [email, ...rest] = args.filter((arg) => arg !== '--dry-run');
  if (email === undefined || !email.includes('@') || rest.length > 0) {
    process.stderr.write(`${USAGE}\n`);
    process.exitCode = EXIT_USAGE;
    return;
  }
  const read = new EnvReader(process.env);
  const url = readDatabaseUrl(read, 'the postgres:// URL of the running gateway');
  read.throwIfInvalid();
  const sql = openPool(url, { connectionsMax: 1, applicationName: 'acg-erase-person' });
  try {
    const { userId, counts } = await erasePerson(sql, email, `${userInfo().username}@${hostname()}`, isDryRun);
    process.stdout.write(`${isDryRun ? 'would erase' : 'erased'} ${userId ?? 'an address without an account'}\n`);
    for (const [what, count] of Object.entries(counts)) process.stdout.write(`${count} ${what}\n`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  const problems = error instanceof ConfigError ? error.problems : [(error as Error).message];
  for (const problem of problems) process.stderr.write(`erase-person: ${maskSecrets(problem)}\n`);
  const isRefused = error instanceof OnlyOwner || error instanceof BreakGlassOwner;
  process.exitCode = error instanceof ConfigError ? EXIT_CONFIG : isRefused ? EXIT_REFUSED : EXIT_UNAVAILABLE;
}
