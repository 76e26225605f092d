/**
 * The embedded Postgres of a single node: chooses its directory, starts it and restarts it when it dies. A database
 * that an earlier start has created and that is missing now stops the start: an empty one would look like a loss of
 * all agents.
 */
import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  awaitsFirstDatabase,
  DamagedDataDirectoryError,
  type NodeSecrets,
  recordDatabaseCreated,
} from './node-secrets.js';
import { findPostgresBinaries, isReachableBy, sharedClusterDirectory } from './postgres/postgres-binaries.js';
import { PostgresCluster } from './postgres/postgres-cluster.js';

const DATABASE = 'gateway';
export const EMBEDDED_SETTINGS = [
  'shared_buffers=256MB',
  'max_connections=100',
  'max_wal_size=2GB',
  'wal_compression=on',
];

interface EmbeddedDatabaseOptions {
  readonly dataDir: string;
  readonly secrets: NodeSecrets;
  /** `--new-database`: creates an empty database in place of a missing one. */
  readonly replaceMissing: boolean;
  /** Called after a crash: with null when the server was restarted, else with the problem. */
  readonly onRestart: (problem: string | null) => void;
}

export class EmbeddedDatabase {
  #cluster: PostgresCluster | null = null;
  #stopping = false;

  constructor(readonly options: EmbeddedDatabaseOptions) {}

  /** Starts the server, creates the database and returns its URL. */
  async start(): Promise<string> {
    this.#cluster = await this.#startCluster(0);
    await this.#cluster.createDatabase(DATABASE);
    recordDatabaseCreated(this.options.dataDir);
    return this.#cluster.url(DATABASE);
  }

  /** Absolute path of the database files. */
  get directory(): string {
    return this.#cluster!.options.directory;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#cluster?.stop();
  }

  async #startCluster(port: number): Promise<PostgresCluster> {
    const { dataDir, secrets } = this.options;
    const binaries = findPostgresBinaries();
    const directory = chooseClusterDirectory(dataDir, secrets, binaries.user);
    this.#assertNotLost(directory);
    const cluster = await PostgresCluster.start({
      binaries,
      directory,
      password: secrets.databasePassword,
      logFile: join(dataDir, 'postgres.log'),
      port,
      settings: EMBEDDED_SETTINGS,
    });
    void cluster.exited.then(() => this.#restart(cluster.port));
    return cluster;
  }

  #assertNotLost(directory: string): void {
    const { dataDir, replaceMissing } = this.options;
    const hasFiles = existsSync(join(directory, 'PG_VERSION'));
    if (!hasFiles && awaitsFirstDatabase(dataDir)) rmSync(directory, { recursive: true, force: true }); // initdb was killed
    if (existsSync(directory)) {
      if (replaceMissing && hasFiles)
        throw new DamagedDataDirectoryError(`--new-database: ${directory} holds a database: start without this option`);
      return;
    }
    if (replaceMissing || awaitsFirstDatabase(dataDir)) return;
    throw new DamagedDataDirectoryError(
      `the database of ${dataDir} is missing: restore it from a backup to ${directory}, or begin anew without its data: npm start -- --new-database`,
    );
  }

  async #restart(port: number): Promise<void> {
    if (this.#stopping) return;
    try {
      this.#cluster = await this.#startCluster(port); // the same port, so that the control plane reconnects without a restart
      this.options.onRestart(null);
    } catch (error) {
      this.options.onRestart((error as Error).message);
    }
  }
}

/** Whether the data directory belongs to an earlier start with an embedded database. */
export const hasDatabase = (dataDir: string): boolean =>
  existsSync(join(dataDir, 'postgres')) || existsSync(join(dataDir, 'postgres.log'));

function chooseClusterDirectory(
  dataDir: string,
  secrets: NodeSecrets,
  user: { uid: number; gid: number } | null,
): string {
  const inside = join(resolve(dataDir), 'postgres');
  if (user === null || existsSync(inside)) return inside;
  const outside = sharedClusterDirectory(secrets.clusterName);
  if (existsSync(outside)) return outside;
  chmodSync(dataDir, 0o711); // the files in it stay 0600; the user that runs Postgres must be able to traverse the directory
  if (isReachableBy(dataDir, user)) return inside;
  mkdirSync(dirname(outside), { recursive: true, mode: 0o755 });
  return outside;
}
