/** A real `redis-server` for one test file: own port, own directory, and the ways in which stores fail. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.js';

const READY_TIMEOUT_MS = 90_000;

interface RedisServerOptions {
  /** Extra configuration, e.g. `['--maxmemory', '2mb']`. */
  readonly args?: readonly string[];
  /** Paths of PEM files; set → the port speaks TLS only. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string; readonly caPem: string };
  /** For the test's own connection when ACLs lock the default user. */
  readonly adminUser?: { readonly username: string; readonly password: string };
}

export class RedisServer {
  readonly directory = mkdtempSync(join(tmpdir(), 'acg-redis-'));
  readonly #options: RedisServerOptions;
  #port = 0;
  #process: ChildProcess | null = null;
  #admin: Redis | null = null;

  private constructor(options: RedisServerOptions) {
    this.#options = options;
  }

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(options);
    server.#port = await freePort();
    await server.restart();
    return server;
  }

  get port(): number {
    return this.#port;
  }

  get url(): URL {
    return new URL(`${this.#options.tls === undefined ? 'redis' : 'rediss'}://127.0.0.1:${this.#port}`);
  }

  /** A connection of the test's own. */
  get admin(): Redis {
    if (this.#admin === null) throw new Error('redis-server is not running');
    return this.#admin;
  }

  /** Starts it (again) on its port; without persistence it comes up empty. */
  async restart(extra: readonly string[] = []): Promise<void> {
    const { tls, args = [] } = this.#options;
    const listen =
      tls === undefined
        ? ['--port', String(this.#port)]
        : ['--port', '0', '--tls-port', String(this.#port), '--tls-auth-clients', 'no', '--tls-ca-cert-file', tls.ca];
    const keys = tls === undefined ? [] : ['--tls-cert-file', tls.cert, '--tls-key-file', tls.key];
    const fixed = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', this.directory];
    this.#process = spawn('redis-server', [...listen, ...keys, ...fixed, ...args, ...extra], { stdio: 'ignore' });
    await this.#connectAdmin();
  }

  /** SIGKILL: the port refuses from now on. */
  async kill(): Promise<void> {
    this.#admin?.disconnect();
    this.#admin = null;
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill('SIGKILL');
    await exited;
  }

  /** SIGSTOP: sockets stay open and connects succeed, but nothing answers. */
  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  async #connectAdmin(): Promise<void> {
    const { tls, adminUser } = this.#options;
    const admin = new Redis({
      host: '127.0.0.1',
      port: this.#port,
      protocol: 2,
      maxRetriesPerRequest: null,
      enableReadyCheck: false,
      retryStrategy: () => 20,
      ...(tls === undefined ? {} : { tls: { ca: tls.caPem } }),
      ...adminUser,
    });
    admin.on('error', () => {});
    this.#admin = admin;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('redis-server did not come up')), READY_TIMEOUT_MS);
    });
    try {
      await Promise.race([admin.ping().catch(() => 'loading'), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
