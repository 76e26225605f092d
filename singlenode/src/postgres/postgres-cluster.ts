/**
 * One embedded Postgres server on 127.0.0.1. It runs in its own process group, so that Ctrl-C on a terminal does not
 * stop it before the planes. A small supervising shell stops the server when its standard input closes. So no server is
 * left behind, even when this process is killed.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { type PostgresBinaries, PostgresUnavailable } from './postgres-binaries.js';

const execute = promisify(execFile);

/**
 * $1 is the postgres binary, the rest are its arguments. The shell stops the server when its standard input (descriptor
 * 3) closes.
 */
const SUPERVISOR_SCRIPT = 'exec 3<&0; "$@" 3<&- & pid=$!; (cat <&3 >/dev/null; kill -INT $pid 2>/dev/null) & wait $pid';
const START_TIMEOUT_MS = 60_000;
/** How long to wait for leftover processes of a killed server. */
const LEFTOVER_TIMEOUT_MS = 30_000;
const MEMORY_IN_USE = /shared memory block .* is still in use/;
const PORT_IN_USE = /could not bind .*: Address already in use/;
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 50;
const SUPERUSER = 'gateway';

export interface ClusterOptions {
  readonly binaries: PostgresBinaries;
  /** Directory of the cluster; created when missing. */
  readonly directory: string;
  readonly password: string;
  /** The log file of the server. */
  readonly logFile: string;
  /** 0: any free port. */
  readonly port: number;
  /** Additional `name=value` settings. */
  readonly settings: readonly string[];
}

export class PostgresCluster {
  readonly #supervisor: ChildProcess;
  /** Resolves when the server has ended, for whatever reason. */
  readonly exited: Promise<void>;

  private constructor(
    readonly options: ClusterOptions,
    readonly port: number,
    supervisor: ChildProcess,
  ) {
    this.#supervisor = supervisor;
    this.exited = new Promise((resolve) =>
      supervisor.once('exit', () => {
        supervisor.stdin?.destroy(); // lets the supervisor's watcher end when the server has ended by itself
        resolve();
      }),
    );
  }

  /** Throws {@link PostgresUnavailable} with one line that says what to do. */
  static async start(options: ClusterOptions): Promise<PostgresCluster> {
    rmSync(initialPasswordFile(options.directory), { force: true }); // of a start that was killed
    if (!existsSync(join(options.directory, 'PG_VERSION'))) {
      assertEmpty(options.directory);
      await initializeCluster(options);
    }
    await stopOrphanedServer(options.directory);
    const deadline = Date.now() + LEFTOVER_TIMEOUT_MS;
    for (;;) {
      const logBytes = statSync(options.logFile, { throwIfNoEntry: false })?.size ?? 0;
      const port = options.port === 0 ? await findFreePort() : options.port;
      const cluster = PostgresCluster.#launch(options, port);
      try {
        await cluster.#waitUntilReady();
        return cluster;
      } catch (error) {
        // Two failures are worth a retry. Processes of a killed server hold its shared memory until the end of their
        // queries. A port that was free may be taken by another process before Postgres binds it.
        const log = readLogFrom(options.logFile, logBytes);
        const isRetryable = MEMORY_IN_USE.test(log) || (options.port === 0 && PORT_IN_USE.test(log));
        if (!isRetryable || Date.now() > deadline) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  static #launch(options: ClusterOptions, port: number): PostgresCluster {
    const log = openSync(options.logFile, 'a', 0o600);
    const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', ...options.settings];
    const supervisor = spawn(
      '/bin/sh',
      [
        '-c',
        SUPERVISOR_SCRIPT,
        'sh',
        options.binaries.postgres,
        '-D',
        options.directory,
        ...settings.flatMap((s) => ['-c', s]),
      ],
      { cwd: '/', detached: true, stdio: ['pipe', log, log], ...(options.binaries.user ?? {}) },
    );
    closeSync(log);
    return new PostgresCluster(options, port, supervisor);
  }

  url(database: string): string {
    return `postgres://${SUPERUSER}:${this.options.password}@127.0.0.1:${this.port}/${database}`;
  }

  /** Process id of the server itself (first line of postmaster.pid). */
  get pid(): number {
    return readPid(this.options.directory) ?? 0;
  }

  async createDatabase(name: string, template: string | null = null): Promise<void> {
    await this.#withAdminConnection(async (sql) => {
      const [exists] = await sql`select 1 from pg_database where datname = ${name}`;
      if (exists !== undefined) return;
      await sql.unsafe(`create database "${name}"${template === null ? '' : ` template "${template}"`}`);
    });
  }

  /** Fast shutdown: connections are closed, no committed data is lost. */
  async stop(): Promise<void> {
    this.#supervisor.stdin?.end();
    const timer = setTimeout(() => {
      const pid = this.pid;
      if (pid > 0) process.kill(pid, 'SIGQUIT'); // immediate shutdown: the next start recovers from the write-ahead log
    }, STOP_TIMEOUT_MS);
    await this.exited;
    clearTimeout(timer);
  }

  async #waitUntilReady(): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    let hasExited = false;
    void this.exited.then(() => {
      hasExited = true;
    });
    let lastError: unknown = null;
    while (Date.now() < deadline && !hasExited) {
      try {
        await this.#withAdminConnection((sql) => sql`select 1`);
        return;
      } catch (error) {
        lastError = error;
        if ((error as { code?: string }).code === '28P01') break; // a wrong password cannot succeed later
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    await this.stop();
    throw new PostgresUnavailable(
      hasExited
        ? `Postgres did not start on ${this.options.directory}: see ${this.options.logFile} (${lastLogLine(this.options.logFile)})`
        : `Postgres on ${this.options.directory} rejects the connection: ${(lastError as Error).message}`,
    );
  }

  async #withAdminConnection<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
    const sql = postgres(this.url('postgres'), { max: 1, connect_timeout: 5, onnotice: () => {} });
    try {
      return await work(sql);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
}

const initialPasswordFile = (directory: string): string => `${directory}.initial-password`;

/** A directory with files but without their version is damaged: initdb would advise to empty it. */
function assertEmpty(directory: string): void {
  if (!existsSync(directory) || readdirSync(directory).length === 0) return;
  throw new PostgresUnavailable(
    `the database in ${directory} is damaged (PG_VERSION is missing): restore it from a backup`,
  );
}

async function initializeCluster({ binaries, directory, password }: ClusterOptions): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  const passwordFile = initialPasswordFile(directory);
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (binaries.user !== null) {
    chownSync(directory, binaries.user.uid, binaries.user.gid);
    chownSync(passwordFile, binaries.user.uid, binaries.user.gid);
  }
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  const login = [`--username=${SUPERUSER}`, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  try {
    await execute(binaries.initdb, ['-D', directory, ...locale, ...login], { cwd: '/', ...(binaries.user ?? {}) });
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    throw new PostgresUnavailable(`initdb failed on ${directory}: ${(stderr ?? message).trim().split('\n').at(-1)}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** Stops a server that still uses the directory after its owner and its supervisor were killed. */
async function stopOrphanedServer(directory: string): Promise<void> {
  const pid = readPid(directory);
  if (pid === null || !isPostgresProcess(pid)) return;
  process.kill(pid, 'SIGINT');
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while (isPostgresProcess(pid) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

function readPid(directory: string): number | null {
  try {
    const pid = Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return Number.isInteger(pid) && pid > 1 ? pid : null;
  } catch {
    return null;
  }
}

/** Whether the process is a Postgres server: the pid may have been reused by another program. */
function isPostgresProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('postgres');
  } catch {
    return process.platform !== 'linux';
  }
}

function lastLogLine(file: string): string {
  return readLogFrom(file, 0).trim().split('\n').at(-1) ?? '';
}

function readLogFrom(file: string, byte: number): string {
  try {
    return readFileSync(file).toString('utf8', byte);
  } catch {
    return 'no log';
  }
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
