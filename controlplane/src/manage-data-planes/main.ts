/**
 * `npm run data-planes -- create eu-1`: creates, rotates, revokes and lists identities of data planes, while the gateway
 * runs (docs/operations.md#identities-of-data-planes). A token is printed once. Every change is recorded with the user
 * and host of the command.
 */
import { hostname, userInfo } from 'node:os';
import { ConfigError, EnvReader } from '@acg/base/env-reader';
import { maskSecrets } from '@acg/base/log';
import {
  createIdentity,
  IDENTITY_NAME,
  listIdentities,
  listIdentityChanges,
  revokeIdentity,
  rotateIdentityToken,
} from '../data-planes/identity-store.js';
import { readDatabaseUrl } from '../db/database-url.js';
import { openPool, type Sql } from '../db/postgres-client.js';

const EXIT_USAGE = 64;
const EXIT_CONFIG = 78;
const EXIT_UNAVAILABLE = 69;
const EXIT_UNKNOWN = 1;
const USAGE = `usage: data-planes create NAME [--certificate COMMON-NAME [--no-token]]
       data-planes rotate NAME
       data-planes revoke NAME
       data-planes list
       data-planes history
NAME: up to 63 of a-z, 0-9 and -, beginning with a letter or digit.`;

/** Runs against the database; returns the lines to print and the exit code. */
type Command = (
  sql: Sql,
  changedBy: string,
) => Promise<{ readonly lines: readonly string[]; readonly exitCode?: number }>;

const tokenLine = (token: string): string => `DATAPLANE_TOKEN=${token}`;
const unknown = (name: string) => ({ lines: [`no identity ${name}, or it is revoked`], exitCode: EXIT_UNKNOWN });
const isoOrDash = (at: Date | null): string => at?.toISOString() ?? '-';

/** Null: invalid arguments. */
function parseCommand([verb, name = '', ...options]: readonly string[]): Command | null {
  if (verb === 'list' && name === '') return list;
  if (verb === 'history' && name === '') return history;
  if (!IDENTITY_NAME.test(name)) return null;
  if (verb === 'create') {
    const [flag, certificateName = null, ...rest] = options;
    const hasToken = rest[0] !== '--no-token';
    if (flag !== undefined && (flag !== '--certificate' || certificateName === null)) return null;
    if (rest.length > (hasToken ? 0 : 1)) return null;
    return async (sql, changedBy) => {
      const token = await createIdentity(sql, { name, certificateName, hasToken }, changedBy);
      return {
        lines: token === null ? [`created ${name} for the certificate ${certificateName}`] : [tokenLine(token)],
      };
    };
  }
  if (options.length > 0) return null;
  if (verb === 'rotate') {
    return async (sql, changedBy) => {
      const token = await rotateIdentityToken(sql, name, changedBy);
      return token === null ? unknown(name) : { lines: [tokenLine(token)] };
    };
  }
  if (verb !== 'revoke') return null;
  return async (sql, changedBy) =>
    (await revokeIdentity(sql, name, changedBy)) ? { lines: [`revoked ${name}`] } : unknown(name);
}

const list: Command = async (sql) => ({
  lines: (await listIdentities(sql)).map(({ name, certificateName, createdAt, revokedAt, connected, organizations }) =>
    [
      name,
      `certificate=${certificateName ?? '-'}`,
      `connected=${connected}`,
      `organizations=${organizations}`,
      `created=${isoOrDash(createdAt)}`,
      `revoked=${isoOrDash(revokedAt)}`,
    ].join(' '),
  ),
});

const history: Command = async (sql) => ({
  lines: (await listIdentityChanges(sql)).map(
    ({ at, identity, action, changedBy }) => `${at.toISOString()} ${action} ${identity} by ${changedBy}`,
  ),
});

async function run(command: Command): Promise<void> {
  const read = new EnvReader(process.env);
  const url = readDatabaseUrl(read, 'the postgres:// URL of the running gateway');
  read.throwIfInvalid();
  const sql = openPool(url, { connectionsMax: 1, applicationName: 'acg-data-planes' });
  try {
    const { lines, exitCode = 0 } = await command(sql, `${userInfo().username}@${hostname()}`);
    for (const line of lines) (exitCode === 0 ? process.stdout : process.stderr).write(`${line}\n`);
    process.exitCode = exitCode;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

const command = parseCommand(process.argv.slice(2));
if (command === null) {
  process.stderr.write(`data-planes: ${USAGE}\n`);
  process.exitCode = EXIT_USAGE;
} else {
  try {
    await run(command);
  } catch (error) {
    const problems = error instanceof ConfigError ? error.problems : [(error as Error).message];
    for (const problem of problems) process.stderr.write(`data-planes: ${maskSecrets(problem)}\n`);
    process.exitCode = error instanceof ConfigError ? EXIT_CONFIG : EXIT_UNAVAILABLE;
  }
}
