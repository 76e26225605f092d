/**
 * How many connections one client address has (MAX_CONNECTIONS_PER_ADDRESS). New ones are counted as they come; what
 * has ended is only known by asking the kernel, which is done when an address seems to be half-way to its bound. So a
 * count is never too low, and seldom too high for longer than a moment.
 */
import { bytesToClientNetworkKey } from '@acg/base/client-network';
import type { Logger } from '@acg/base/log';

interface AddressConnectionLimiterOptions {
  readonly perAddressMax: number;
  /** The address, as text, is a front proxy or this machine: many clients, or nobody to fear. */
  readonly isExempt: (address: string) => boolean;
  /** Connections by network ({@link bytesToClientNetworkKey}); null where nobody can tell, which leaves all unbounded. */
  readonly countConnections: () => Promise<ReadonlyMap<string, number> | null>;
  readonly log: Pick<Logger, 'warn'>;
}

const RECOUNT_INTERVAL_MS = 1_000;
const LOG_INTERVAL_MS = 60_000;
/** Clients that left long ago are forgotten with the next recount. */
const NETWORKS_MAX = 100_000;

export class AddressConnectionLimiter {
  readonly #options: AddressConnectionLimiterOptions;
  #counts = new Map<string, number>();
  /** Opened while the kernel is asked. */
  #openedDuringRecount = new Map<string, number>();
  #isRecounting = false;
  #recountedAtPerfMs = Number.NEGATIVE_INFINITY;
  #loggedAtPerfMs = Number.NEGATIVE_INFINITY;
  #isDisabled = false;

  constructor(options: AddressConnectionLimiterOptions) {
    this.#options = options;
  }

  /** A connection is there; false: its address has too many. `text` is asked for where it matters. */
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
    this.#options.log.warn({ address }, 'connections closed: one address has MAX_CONNECTIONS_PER_ADDRESS of them');
  }
}
