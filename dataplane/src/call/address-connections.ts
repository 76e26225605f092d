/**
 * How many connections one client address has (MAX_CONNECTIONS_PER_ADDRESS). New ones are counted as they come; what
 * has ended is only known by asking the kernel, which is done when an address seems to be half-way to its bound. So a
 * count is never too low, and seldom too high for longer than a moment.
 */
import { clientNetworkOfBytes } from '@acg/base/client-network';
import type { Logger } from '@acg/base/log';

interface AddressConnectionsOptions {
  readonly perAddressMax: number;
  /** The address, as text, is a front proxy or this machine: many clients, or nobody to fear. */
  readonly exempt: (address: string) => boolean;
  /** Connections by network ({@link clientNetworkOfBytes}); null where nobody can tell, which leaves all unbounded. */
  readonly recount: () => Promise<ReadonlyMap<string, number> | null>;
  readonly log: Pick<Logger, 'warn'>;
}

const RECOUNT_MS = 1_000;
const LOG_MS = 60_000;
/** Clients that left long ago are forgotten with the next recount. */
const NETWORKS_MAX = 100_000;

export class AddressConnections {
  readonly #options: AddressConnectionsOptions;
  #counts = new Map<string, number>();
  /** Opened while the kernel is asked. */
  #since = new Map<string, number>();
  #recounting = false;
  #recountedTick = Number.NEGATIVE_INFINITY;
  #loggedTick = Number.NEGATIVE_INFINITY;
  #unbounded = false;

  constructor(options: AddressConnectionsOptions) {
    this.#options = options;
  }

  /** A connection is there; false: its address has too many. `text` is asked for where it matters. */
  opened(address: Buffer, text: () => string): boolean {
    if (this.#unbounded) return true;
    const network = clientNetworkOfBytes(address);
    const { perAddressMax, exempt } = this.#options;
    const count = (this.#counts.get(network) ?? 0) + 1;
    this.#counts.set(network, count);
    if (this.#recounting) this.#since.set(network, (this.#since.get(network) ?? 0) + 1);
    if (count * 2 <= perAddressMax && this.#counts.size <= NETWORKS_MAX) return true;
    if (exempt(text())) {
      this.#counts.delete(network);
      return true;
    }
    void this.#recount();
    if (count <= perAddressMax) return true;
    this.#tell(text());
    return false;
  }

  async #recount(): Promise<void> {
    if (this.#recounting || performance.now() - this.#recountedTick < RECOUNT_MS) return;
    this.#recounting = true;
    this.#since = new Map();
    try {
      const found = await this.#options.recount();
      if (found === null) {
        this.#unbounded = true;
        this.#counts.clear();
        return;
      }
      this.#counts = new Map(found);
      for (const [network, opened] of this.#since) this.#counts.set(network, (this.#counts.get(network) ?? 0) + opened);
    } finally {
      this.#recountedTick = performance.now();
      this.#recounting = false;
    }
  }

  #tell(address: string): void {
    const now = performance.now();
    if (now - this.#loggedTick < LOG_MS) return;
    this.#loggedTick = now;
    this.#options.log.warn({ address }, 'connections closed: one address has MAX_CONNECTIONS_PER_ADDRESS of them');
  }
}
