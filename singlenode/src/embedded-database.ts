/** The embedded Postgres of a single node: chooses its directory, starts it and restarts it when it dies. */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { NodeSecrets } from './node-secrets.js';
import { findPostgresBinaries, isReachableBy, sharedClusterDirectory } from './postgres/postgres-binaries.js';
import { PostgresCluster } from './postgres/postgres-cluster.js';

const DATABASE = 'gateway';
export const EMBEDDED_SETTINGS = [
  'shared_buffers=256MB',
  'max_connections=100',
  'max_wal_size=2GB',
  'wal_compression=on',
];

export class EmbeddedDatabase {
  #cluster: PostgresCluster | null = null;
  #stopping = false;

  constructor(
    readonly dataDir: string,
    readonly secrets: NodeSecrets,
    /** Called after a crash: with null when the server was restarted, else with the problem. */
    readonly onRestart: (problem: string | null) => void,
  ) {}

  /** Starts the server, creates the database and returns its URL. */
  async start(): Promise<string> {
    this.#cluster = await this.#startCluster(0);
    await this.#cluster.createDatabase(DATABASE);
    return this.#cluster.url(DATABASE);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#cluster?.stop();
  }

  async #startCluster(port: number): Promise<PostgresCluster> {
    const binaries = findPostgresBinaries();
    const cluster = await PostgresCluster.start({
      binaries,
      directory: chooseClusterDirectory(this.dataDir, this.secrets, binaries.user),
      password: this.secrets.databasePassword,
      logFile: join(this.dataDir, 'postgres.log'),
      port,
      settings: EMBEDDED_SETTINGS,
    });
    void cluster.exited.then(() => this.#restart(cluster.port));
    return cluster;
  }

  async #restart(port: number): Promise<void> {
    if (this.#stopping) return;
    try {
      this.#cluster = await this.#startCluster(port); // the same port, so that the control plane reconnects without a restart
      this.onRestart(null);
    } catch (error) {
      this.onRestart((error as Error).message);
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
