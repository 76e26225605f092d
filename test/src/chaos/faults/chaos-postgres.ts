/** The run's own Postgres server: can be killed, frozen with all of its processes, and restarted on the same port. */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@acg/base/secret';
import { openPool, type Sql } from '@acg/controlplane/db/postgres-client';
import { findPostgresBinaries } from '@acg/singlenode/postgres/postgres-binaries';
import { type ClusterOptions, PostgresCluster } from '@acg/singlenode/postgres/postgres-cluster';

const DATABASE = 'gateway';
export const DATABASE_PASSWORD = 'chaos-only-database-password';

export class ChaosPostgres {
  #cluster: PostgresCluster;
  #frozen: readonly number[] = [];

  private constructor(
    readonly home: string,
    cluster: PostgresCluster,
    /** Direct connections of the run, which bypass the proxy that faults cut. */
    readonly sql: Sql,
  ) {
    this.#cluster = cluster;
  }

  static async start(): Promise<ChaosPostgres> {
    const home = mkdtempSync(join(tmpdir(), 'acg-chaos-'));
    chmodSync(home, 0o711); // the user that runs Postgres must be able to enter
    const cluster = await PostgresCluster.start(clusterOptions(home, 0));
    await cluster.createDatabase(DATABASE);
    const sql = openPool(new Secret(cluster.url(DATABASE)), { connectionsMax: 2, applicationName: 'chaos' });
    return new ChaosPostgres(home, cluster, sql);
  }

  get port(): number {
    return this.#cluster.port;
  }

  get serverLog(): string {
    return readFileSync(join(this.home, 'postgres.log'), 'utf8');
  }

  /** URL that connects through the proxy on that port. */
  proxiedUrl(port: number): Secret {
    return new Secret(this.#cluster.url(DATABASE).replace(`:${this.port}/`, `:${port}/`));
  }

  async kill(): Promise<void> {
    this.resume();
    process.kill(this.#cluster.pid, 'SIGKILL');
    await this.#cluster.exited;
  }

  async restart(): Promise<void> {
    this.#cluster = await PostgresCluster.start(clusterOptions(this.home, this.port));
  }

  /** Stops the server process first, so that it starts no process that would keep running. */
  freeze(): void {
    const { pid } = this.#cluster;
    sendSignal(pid, 'SIGSTOP');
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
    this.#frozen = [...children.map(Number), pid];
    for (const child of this.#frozen) sendSignal(child, 'SIGSTOP');
  }

  resume(): void {
    for (const pid of this.#frozen) sendSignal(pid, 'SIGCONT');
    this.#frozen = [];
  }

  async stop(): Promise<void> {
    this.resume();
    await this.sql.end({ timeout: 1 });
    await this.#cluster.stop();
    rmSync(this.home, { recursive: true, force: true });
  }
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // the process has exited meanwhile
  }
}

function clusterOptions(home: string, port: number): ClusterOptions {
  return {
    binaries: findPostgresBinaries(),
    directory: join(home, 'cluster'),
    password: DATABASE_PASSWORD,
    logFile: join(home, 'postgres.log'),
    port,
    settings: ['max_connections=150'],
  };
}
