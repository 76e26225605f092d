/**
 * Names of built-in providers and of the operator's configuration, looked up as the system does it (nsswitch and all).
 * They are few, so each is asked for once at a time, and what was known serves while it is asked for again: a call never
 * waits for a name that resolved before. The only user of `dns.lookup`: a name that a tenant gave never comes here.
 */
import { lookup } from 'node:dns';
import type { ResolvedAddress } from '../egress/check-url.js';
import { type Names, NameUnresolved } from './names.js';

type Lookup = (name: string) => Promise<readonly ResolvedAddress[]>;

interface Known {
  readonly addresses: readonly ResolvedAddress[];
  readonly freshUntilTick: number;
  readonly usableUntilTick: number;
}

const FRESH_MS = 30_000;
/** While lookups fail, what was known last goes on serving for so long. */
const USABLE_MS = 3_600_000;
const FAILURE_MS = 5_000;

export class OperatorNames implements Names {
  readonly #lookup: Lookup;
  readonly #nowTick: () => number;
  readonly #known = new Map<string, Known>();
  readonly #failed = new Map<string, { readonly error: NameUnresolved; readonly untilTick: number }>();
  readonly #running = new Map<string, Promise<readonly ResolvedAddress[]>>();

  constructor(find: Lookup = systemLookup, nowTick: () => number = () => performance.now()) {
    this.#lookup = find;
    this.#nowTick = nowTick;
  }

  async resolve(name: string): Promise<readonly ResolvedAddress[]> {
    const now = this.#nowTick();
    const known = this.#known.get(name);
    if (known !== undefined && now < known.freshUntilTick) return known.addresses;
    const failed = this.#failed.get(name);
    const running = failed !== undefined && now < failed.untilTick ? null : this.#run(name);
    if (known !== undefined && now < known.usableUntilTick) {
      running?.catch(() => {}); // the next call asks again
      return known.addresses;
    }
    if (running === null) throw failed!.error;
    return running;
  }

  #run(name: string): Promise<readonly ResolvedAddress[]> {
    let running = this.#running.get(name);
    if (running === undefined) {
      running = this.#find(name).finally(() => this.#running.delete(name));
      this.#running.set(name, running);
    }
    return running;
  }

  async #find(name: string): Promise<readonly ResolvedAddress[]> {
    try {
      const addresses = await this.#lookup(name);
      const now = this.#nowTick();
      this.#known.set(name, { addresses, freshUntilTick: now + FRESH_MS, usableUntilTick: now + USABLE_MS });
      this.#failed.delete(name);
      return addresses;
    } catch (cause) {
      const code = (cause as { code?: unknown }).code === 'ENOTFOUND' ? 'ENOTFOUND' : 'EAI_AGAIN';
      const error = new NameUnresolved(name, code);
      this.#failed.set(name, { error, untilTick: this.#nowTick() + FAILURE_MS });
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
