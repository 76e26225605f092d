/**
 * Names of built-in providers and of the operator's configuration, looked up as the system does it (nsswitch and all).
 * They are few, so each is asked for once at a time, and what was known serves while it is asked for again: a call never
 * waits for a name that resolved before. The only user of `dns.lookup`: a name that a tenant gave never comes here.
 */
import { lookup } from 'node:dns';
import type { ResolvedAddress } from '../egress/check-url.js';
import { NameResolutionError, type NameResolver } from './name-resolver.js';

type Lookup = (name: string) => Promise<readonly ResolvedAddress[]>;

interface CachedAddresses {
  readonly addresses: readonly ResolvedAddress[];
  readonly freshUntilPerfMs: number;
  readonly usableUntilPerfMs: number;
}

const FRESH_MS = 30_000;
/** While lookups fail, what was known last goes on serving for so long. */
const STALE_MS_MAX = 3_600_000;
const FAILURE_TTL_MS = 5_000;

export class OperatorNameResolver implements NameResolver {
  readonly #lookup: Lookup;
  readonly #nowTick: () => number;
  readonly #cache = new Map<string, CachedAddresses>();
  readonly #failures = new Map<string, { readonly error: NameResolutionError; readonly untilTick: number }>();
  readonly #pending = new Map<string, Promise<readonly ResolvedAddress[]>>();

  constructor(find: Lookup = systemLookup, nowTick: () => number = () => performance.now()) {
    this.#lookup = find;
    this.#nowTick = nowTick;
  }

  async resolve(name: string): Promise<readonly ResolvedAddress[]> {
    const now = this.#nowTick();
    const known = this.#cache.get(name);
    if (known !== undefined && now < known.freshUntilPerfMs) return known.addresses;
    const failed = this.#failures.get(name);
    const running = failed !== undefined && now < failed.untilTick ? null : this.#startLookup(name);
    if (known !== undefined && now < known.usableUntilPerfMs) {
      running?.catch(() => {}); // the next call asks again
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
      const now = this.#nowTick();
      this.#cache.set(name, { addresses, freshUntilPerfMs: now + FRESH_MS, usableUntilPerfMs: now + STALE_MS_MAX });
      this.#failures.delete(name);
      return addresses;
    } catch (cause) {
      const code = (cause as { code?: unknown }).code === 'ENOTFOUND' ? 'ENOTFOUND' : 'EAI_AGAIN';
      const error = new NameResolutionError(name, code);
      this.#failures.set(name, { error, untilTick: this.#nowTick() + FAILURE_TTL_MS });
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
