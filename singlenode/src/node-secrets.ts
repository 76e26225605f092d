/**
 * Keys and secrets of a single node without configuration: created once and stored in the data directory with mode
 * 0600. A damaged file is never replaced: without its master key the stored credentials are lost.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface NodeSecrets {
  readonly masterKeys: string;
  readonly jwtSecret: string;
  readonly internalToken: string;
  readonly databasePassword: string;
  /** Name of the Postgres directory when it cannot be inside the data directory. */
  readonly clusterName: string;
}

export class DamagedDataDirectoryError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DamagedDataDirectoryError';
  }
}

const FILE = 'secrets.json';
/** Exists from before the secrets are stored until the first database runs. Without it, a missing database is a loss. */
const NO_DATABASE_YET = 'database-not-created-yet';
const FIELDS = ['masterKeys', 'jwtSecret', 'internalToken', 'databasePassword', 'clusterName'] as const;

/** `initialised`: the data directory already holds a database, so missing secrets mean damage. */
export function loadOrCreateSecrets(dataDir: string, initialised: boolean): NodeSecrets {
  const path = join(dataDir, FILE);
  if (!existsSync(path)) {
    if (initialised) {
      throw new DamagedDataDirectoryError(
        `${path} is missing but ${dataDir} holds a database: restore that file from a backup, or set GATEWAY_DATA_DIR to an empty directory`,
      );
    }
    writeFileSync(join(dataDir, NO_DATABASE_YET), '', { mode: 0o600 });
    return createSecrets(path);
  }
  const secrets = parseSecrets(readFileSync(path, 'utf8'));
  if (secrets === null) {
    throw new DamagedDataDirectoryError(
      `${path} is damaged: restore it from a backup, or set GATEWAY_DATA_DIR to an empty directory`,
    );
  }
  return secrets;
}

/** Whether the first start ended before it had created the database. */
export const awaitsFirstDatabase = (dataDir: string): boolean => existsSync(join(dataDir, NO_DATABASE_YET));

/** From now on, a missing database stops the start. */
export const recordDatabaseCreated = (dataDir: string): void => rmSync(join(dataDir, NO_DATABASE_YET), { force: true });

function parseSecrets(text: string): NodeSecrets | null {
  try {
    const value = JSON.parse(text) as Record<string, unknown>;
    return FIELDS.every((field) => typeof value[field] === 'string' && value[field] !== '')
      ? (value as unknown as NodeSecrets)
      : null;
  } catch {
    return null;
  }
}

function createSecrets(path: string): NodeSecrets {
  const secrets: NodeSecrets = {
    masterKeys: `k1:${randomBytes(32).toString('base64')}`,
    jwtSecret: randomBytes(48).toString('base64url'),
    internalToken: randomBytes(32).toString('base64url'),
    databasePassword: randomBytes(24).toString('base64url'),
    clusterName: randomUUID(),
  };
  writeFileSync(`${path}.partial`, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.partial`, path);
  return secrets;
}
