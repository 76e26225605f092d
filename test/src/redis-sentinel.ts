/** Real sentinels that watch one group of real servers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.js';
import { until } from './until.js';

export const SENTINEL_PASSWORD = 'sentinels, only';
export const GROUP = 'limits';

export class RedisSentinel {
  readonly #directory = mkdtempSync(join(tmpdir(), 'acg-sentinel-'));
  readonly admin: Redis;
  readonly #process: ChildProcess;

  private constructor(
    readonly port: number,
    config: readonly string[],
  ) {
    const file = join(this.#directory, 'sentinel.conf');
    writeFileSync(file, config.join('\n'));
    this.#process = spawn('redis-server', [file, '--sentinel', '--dir', this.#directory], { stdio: 'ignore' });
    this.admin = new Redis({
      host: '127.0.0.1',
      port,
      password: SENTINEL_PASSWORD,
      maxRetriesPerRequest: null,
      enableReadyCheck: false,
      retryStrategy: () => 20,
    });
    this.admin.on('error', () => {});
  }

  /** `quorum` of them have to agree that the primary is gone. Resolves when each knows the replica and the others. */
  static async group(
    primary: { readonly port: number },
    count: number,
    quorum: number,
  ): Promise<readonly RedisSentinel[]> {
    const sentinels: RedisSentinel[] = [];
    for (let i = 0; i < count; i++) {
      const port = await freePort();
      sentinels.push(
        new RedisSentinel(port, [
          `port ${port}`,
          'bind 127.0.0.1',
          `requirepass "${SENTINEL_PASSWORD}"`,
          `sentinel sentinel-pass "${SENTINEL_PASSWORD}"`,
          `sentinel monitor ${GROUP} 127.0.0.1 ${primary.port} ${quorum}`,
          `sentinel down-after-milliseconds ${GROUP} 1000`,
          `sentinel failover-timeout ${GROUP} 5000`,
        ]),
      );
    }
    await until('the sentinels know each other and the replica', async () => {
      for (const { admin } of sentinels) {
        const [state] = (await admin.call('SENTINEL', 'MASTERS')) as string[][];
        const field = (name: string): string | undefined => state?.[state.indexOf(name) + 1];
        if (field('num-slaves') !== '1' || field('num-other-sentinels') !== String(count - 1)) return false;
      }
      return true;
    });
    return sentinels;
  }

  /** Where it says that the primary is. */
  async primaryPort(): Promise<number> {
    const address = (await this.admin.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', GROUP)) as [string, string];
    return Number(address[1]);
  }

  pause(): void {
    this.#process.kill('SIGSTOP');
  }

  resume(): void {
    this.#process.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    this.admin.disconnect();
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exited;
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
