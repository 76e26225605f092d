/**
 * Limits connections per client address (MAX_CONNECTIONS_PER_ADDRESS). New connections are counted as they open. The
 * server does not report whose connection ended, so the kernel's tables are read when an address reaches half of its
 * limit. A count is therefore never too low, and too high only until the next recount.
 */
import { bytesToClientNetworkKey } from '@acg/base/client-network-key';
import type { Logger } from '@acg/base/log';

interface AddressConnectionLimiterOptions {
  readonly perAddressMax: number;
  /**
   * Whether the address, as text, is a front proxy or this machine. Front proxies carry many clients; local clients are
   * trusted.
   */
  readonly isExempt: (address: string) => boolean;
  /**
   * Connections by network ({@link bytesToClientNetworkKey}); null where the system cannot tell, which disables the
   * limit.
   */
  readonly countConnections: () => Promise<ReadonlyMap<string, number> | null>;
  readonly log: Pick<Logger, 'warn'>;
}

const RECOUNT_INTERVAL_MS = 1_000;
const LOG_INTERVAL_MS = 60_000;
/** More networks than this trigger a recount, which drops networks without connections. */
const NETWORKS_MAX = 100_000;

export class AddressConnectionLimiter {
  readonly #options: AddressConnectionLimiterOptions;
  #counts = new Map<string, number>();
  /** Connections opened while a recount is running. */
  #openedDuringRecount = new Map<string, number>();
  #isRecounting = false;
  #recountedAtPerfMs = Number.NEGATIVE_INFINITY;
  #loggedAtPerfMs = Number.NEGATIVE_INFINITY;
  #isDisabled = false;

  constructor(options: AddressConnectionLimiterOptions) {
    this.#options = options;
  }

  /** Counts a new connection; false: its address has too many. `text` is called only where it is needed. */
  tryOpenConnection(address: Buffer, text: () => string): boolean {
    if (this.#isDisabled) return true;
    const network = bytesToClientNetworkKey(address);
    const { perAddressMax, isExempt: exempt } = this.#options;
    const count = (this.#counts.get(network) ?? 0) + 1;
    this.#counts.set(network, count);
    if (this.#isRecounting) this.#openedDuringRecount.set(network, (this.#openedDuringRecount.get(network) ?? 0) + 1);
    if (count * 2 <= perAddressMax && this.#counts.size <= NETWORKS_MAX) return true;
    if (exempt(text())) {
      this.#counts.delete(network);
      return true;
    }
    void this.#recount();
    if (count <= perAddressMax) return true;
    this.#logRejected(text());
    return false;
  }

  async #recount(): Promise<void> {
    if (this.#isRecounting || performance.now() - this.#recountedAtPerfMs < RECOUNT_INTERVAL_MS) return;
    this.#isRecounting = true;
    this.#openedDuringRecount = new Map();
    try {
      const found = await this.#options.countConnections();
      if (found === null) {
        this.#isDisabled = true;
        this.#counts.clear();
        return;
      }
      this.#counts = new Map(found);
      for (const [network, opened] of this.#openedDuringRecount)
        this.#counts.set(network, (this.#counts.get(network) ?? 0) + opened);
    } finally {
      this.#recountedAtPerfMs = performance.now();
      this.#isRecounting = false;
    }
  }

  #logRejected(address: string): void {
    const now = performance.now();
    if (now - this.#loggedAtPerfMs < LOG_INTERVAL_MS) return;
    this.#loggedAtPerfMs = now;
    this.#options.log.warn({ address }, 'closing connections: one address has reached MAX_CONNECTIONS_PER_ADDRESS');
  }
}
