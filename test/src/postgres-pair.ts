/**
 * A Postgres primary with a streaming standby, behind one address that is moved at a failover. The replication goes
 * through a proxy of its own, so that the standby can be made to lag: what it has not received is lost when the primary dies.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@acg/base/secret';
import { migrate } from '@acg/controlplane/db/migrate';
import { openSql, type Sql } from '@acg/controlplane/db/sql';
import { findBinaries } from '@acg/singlenode/postgres/binaries';
import { PostgresCluster } from '@acg/singlenode/postgres/cluster';
import postgres from 'postgres';
import { TcpProxy } from './tcp-proxy.js';
import { until } from './until.js';

const DATABASE = 'gateway';
const PASSWORD = 'test-only-password';
const SETTINGS = [
  'max_connections=60',
  'shared_buffers=32MB',
  'wal_level=replica',
  'wal_retrieve_retry_interval=100ms',
];

export class PostgresPair {
  readonly #home: string;
  readonly #primary: PostgresCluster;
  readonly #standby: PostgresCluster;
  readonly #address: TcpProxy;
  readonly #replication: TcpProxy;
  #promoted = false;

  private constructor(home: string, primary: PostgresCluster, standby: PostgresCluster, proxies: readonly TcpProxy[]) {
    this.#home = home;
    this.#primary = primary;
    this.#standby = standby;
    [this.#address, this.#replication] = proxies as [TcpProxy, TcpProxy];
  }

  /** Both with the current schema. `synchronous`: a commit waits until the standby has it on its disk. */
  static async start(synchronous: boolean): Promise<PostgresPair> {
    const home = mkdtempSync(join(tmpdir(), 'acg-pair-'));
    chmodSync(home, 0o711); // the user that runs Postgres must be able to enter
    const options = (name: string, settings: readonly string[]) => ({
      binaries: findBinaries(),
      directory: join(home, name),
      password: PASSWORD,
      logFile: join(home, `${name}.log`),
      port: 0,
      settings: [...SETTINGS, ...settings],
    });
    const first = await PostgresCluster.start(options('primary', []));
    await first.createDatabase(DATABASE);
    const sql = openSql(new Secret(first.url(DATABASE)), { connectionsMax: 1, applicationName: 'migrate' });
    await migrate(sql);
    await sql.end();
    await first.stop();
    execFileSync('cp', ['-a', join(home, 'primary'), join(home, 'standby')]);
    const signal = join(home, 'standby', 'standby.signal');
    writeFileSync(signal, '');
    const primary = await PostgresCluster.start(
      options('primary', synchronous ? ['synchronous_standby_names=*', 'synchronous_commit=on'] : []),
    );
    const replication = await TcpProxy.start(primary.port);
    const source = `host=127.0.0.1 port=${replication.port} user=gateway password=${PASSWORD}`;
    const standby = await PostgresCluster.start(options('standby', [`primary_conninfo=${source}`]));
    const pair = new PostgresPair(home, primary, standby, [await TcpProxy.start(primary.port), replication]);
    await pair.caughtUp();
    return pair;
  }

  /** Leads to the primary, whichever server that is. */
  get url(): Secret {
    return new Secret(this.#primary.url(DATABASE).replace(`:${this.#primary.port}/`, `:${this.#address.port}/`));
  }

  /** For `StackOptions.database`; the pair ends by {@link stop}. */
  get database(): { readonly url: Secret; drop(): Promise<void> } {
    return { url: this.url, drop: async () => undefined };
  }

  /** A connection of the test's own to the primary of that moment. */
  open(): Sql {
    return openSql(this.url, { connectionsMax: 2, applicationName: 'drill' });
  }

  /** The standby has everything that the primary has. */
  async caughtUp(): Promise<void> {
    await until('the standby has caught up', async () => {
      const [ahead] = await this.#ask(
        this.#primary,
        (sql) => sql<{ lsn: string }[]>`select pg_current_wal_lsn() as lsn`,
      );
      const [row] = await this.#ask(
        this.#standby,
        (sql) =>
          sql<{ has: boolean }[]>`select coalesce(pg_last_wal_replay_lsn() >= ${ahead!.lsn}::pg_lsn, false) as has`,
      );
      return row!.has;
    });
  }

  /** From now on the standby gets nothing any more. */
  lag(): void {
    this.#replication.sever();
  }

  /** `kill -9` of the primary, promotion of the standby, and the address leads there. Returns ms. */
  async failOver(): Promise<number> {
    const startMs = performance.now();
    process.kill(this.#primary.pid, 'SIGKILL');
    await this.#primary.exited;
    this.#replication.sever();
    this.#promoted = true;
    await this.#ask(this.#standby, (sql) => sql`select pg_promote(true, 60)`);
    this.#address.targetPort = this.#standby.port;
    return performance.now() - startMs;
  }

  async stop(): Promise<void> {
    await this.#standby.stop();
    if (!this.#promoted) await this.#primary.stop();
    await this.#address.stop();
    await this.#replication.stop();
    rmSync(this.#home, { recursive: true, force: true });
  }

  async #ask<T>(cluster: PostgresCluster, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
    const sql = postgres(cluster.url('postgres'), { max: 1, connect_timeout: 5, onnotice: () => {} });
    try {
      return await work(sql);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
}
