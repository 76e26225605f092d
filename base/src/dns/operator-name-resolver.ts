/**
 * Resolves names of built-in providers and of the operator's configuration with the system's resolver (`dns.lookup`,
 * which reads nsswitch.conf). Each name has at most one lookup in progress. A cached answer serves during a new lookup,
 * so a call never waits for a name that resolved before. This is the only user of `dns.lookup`; names from tenants use
 * {@link TenantNameResolver}.
 */
import { lookup } from 'node:dns';
import type { ResolvedAddress } from '../egress/check-tenant-url.js';
import { NameResolutionError, type NameResolver } from './name-resolver-interface.js';

type Lookup = (name: string) => Promise<readonly ResolvedAddress[]>;

interface CachedAddresses {
  readonly addresses: readonly ResolvedAddress[];
  readonly freshUntilPerfMs: number;
  readonly usableUntilPerfMs: number;
}

const FRESH_MS = 30_000;
/** While lookups fail, the last answer serves for this long, ms. */
const STALE_MS_MAX = 3_600_000;
const FAILURE_TTL_MS = 5_000;

export class OperatorNameResolver implements NameResolver {
  readonly #lookup: Lookup;
  readonly #nowPerfMs: () => number;
  readonly #cache = new Map<string, CachedAddresses>();
  readonly #failures = new Map<string, { readonly error: NameResolutionError; readonly untilPerfMs: number }>();
  readonly #pending = new Map<string, Promise<readonly ResolvedAddress[]>>();

  constructor(systemLookupFn: Lookup = systemLookup, nowPerfMs: () => number = () => performance.now()) {
    this.#lookup = systemLookupFn;
    this.#nowPerfMs = nowPerfMs;
  }

  async resolve(name: string): Promise<readonly ResolvedAddress[]> {
    const now = this.#nowPerfMs();
    const known = this.#cache.get(name);
    if (known !== undefined && now < known.freshUntilPerfMs) return known.addresses;
    const failed = this.#failures.get(name);
    const running = failed !== undefined && now < failed.untilPerfMs ? null : this.#startLookup(name);
    if (known !== undefined && now < known.usableUntilPerfMs) {
      running?.catch(() => {}); // the next call looks up again
      return known.addresses;
    }
    if (running === null) throw failed!.error;
    return running;
  }

  #startLookup(name: string): Promise<readonly ResolvedAddress[]> {
    let running = this.#pending.get(name);
    if (running === undefined) {
      running = this.#lookUpAndCache(name).finally(() => this.#pending.delete(name));
      this.#pending.set(name, running);
    }
    return running;
  }

  async #lookUpAndCache(name: string): Promise<readonly ResolvedAddress[]> {
    try {
      const addresses = await this.#lookup(name);
      const now = this.#nowPerfMs();
      this.#cache.set(name, { addresses, freshUntilPerfMs: now + FRESH_MS, usableUntilPerfMs: now + STALE_MS_MAX });
      this.#failures.delete(name);
      return addresses;
    } catch (cause) {
      const code = (cause as { code?: unknown }).code === 'ENOTFOUND' ? 'ENOTFOUND' : 'EAI_AGAIN';
      const error = new NameResolutionError(name, code);
      this.#failures.set(name, { error, untilPerfMs: this.#nowPerfMs() + FAILURE_TTL_MS });
      throw error;
    }
  }
}

const systemLookup: Lookup = (name) =>
  new Promise((resolve, reject) => {
    lookup(name, { all: true, verbatim: true }, (error, addresses) => {
      if (error === null) resolve(addresses);
      else reject(error);
    });
  });
