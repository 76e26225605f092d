/**
 * Watches whether Redis may evict keys of limits: CONFIG SET, and a failover to a server with other settings, change that
 * at any time. Looks after each connect and once a minute. Servers that do not permit CONFIG GET count as safe.
 */
import type { Logger } from '@acg/base/log';

const INTERVAL_MS = 60_000;

export class EvictionPolicyWatch {
  readonly #timer: NodeJS.Timeout;
  #reported = false;

  constructor(
    readonly fetchPolicies: () => Promise<readonly (string | null)[]>,
    readonly log: Logger,
    readonly setEvictable: (isEvictable: boolean) => void,
  ) {
    this.#timer = setInterval(() => void this.check(), INTERVAL_MS).unref();
  }

  /** Never rejects. Logs a change to an evicting policy once. */
  async check(): Promise<void> {
    const policies = await this.fetchPolicies().catch(() => []);
    // Without any reply the last known state stays.
    if (!policies.some((policy) => policy !== null)) return;
    const evicting = policies.find((policy) => policy !== null && policy !== 'noeviction');
    this.setEvictable(evicting !== undefined);
    if (evicting !== undefined && !this.#reported)
      this.log.warn(
        { policy: evicting },
        'Redis may evict the keys of limits when its memory is full. Set maxmemory-policy to noeviction.',
      );
    this.#reported = evicting !== undefined;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
