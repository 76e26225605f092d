/**
 * Names that tenants give. Whatever their name servers do, it costs their tenant's own lookups alone: an own resolver on
 * the event loop, {@link LOOKUPS_PER_TENANT} lookups at once for each organization, bounded tries, answers and failures
 * kept for a while. Hosts file, search domains and `ndots` count as they do for the system's own resolver.
 */
import { Resolver } from 'node:dns';
import { hostname } from 'node:os';
import { LRUCache } from 'lru-cache';
import type { ResolvedAddress } from '../egress/check-url.js';
import { queryAddresses } from './address-query.js';
import { parseHosts } from './hosts-file.js';
import { LookupSlots } from './lookup-slots.js';
import { type Names, NameUnresolved } from './names.js';
import { candidatesOf, parseResolvConf } from './resolv-conf.js';
import { WatchedFile } from './watched-file.js';

export interface TenantNamesOptions {
  readonly hostsPath?: string;
  readonly resolvConfPath?: string;
  /** `address[:port]` of name servers; those of resolv.conf otherwise. */
  readonly servers?: readonly string[];
  /** How often the two files are looked at, at most. */
  readonly lookMs?: number;
  /** One try of one server. */
  readonly tryMs?: number;
  /** Milliseconds; what is known ages by it. */
  readonly nowTick?: () => number;
}

export const LOOKUPS_PER_TENANT = 8;
const WAITING_MAX = 256;
const TRY_MS = 2_000;
const TRIES = 2;
/** One lookup with all its tries and search domains. */
const LOOKUP_MS = 5_000;
const NAMES_MAX = 10_000;
const TTL_SEC_MIN = 5;
const TTL_SEC_MAX = 60;
const FAILURE_TTL_SEC = 5;

type Outcome = readonly ResolvedAddress[] | NameUnresolved;

export class TenantNames implements Names {
  readonly #options: TenantNamesOptions;
  readonly #hosts: WatchedFile<ReturnType<typeof parseHosts>>;
  readonly #conf: WatchedFile<ReturnType<typeof parseResolvConf>>;
  readonly #slots = new LookupSlots(LOOKUPS_PER_TENANT, WAITING_MAX, LOOKUP_MS);
  readonly #known: LRUCache<string, { readonly outcome: Outcome }>;
  /** Lookups under way, by name: whoever asks for the same name shares them. */
  readonly #running = new Map<string, Promise<Outcome>>();
  #resolver: Resolver;
  #resolverFor: string;

  constructor(options: TenantNamesOptions = {}) {
    this.#options = options;
    const perf = { now: options.nowTick ?? (() => performance.now()) };
    this.#known = new LRUCache({ max: NAMES_MAX, ttlResolution: 0, perf });
    const { hostsPath = '/etc/hosts', resolvConfPath = '/etc/resolv.conf', lookMs } = options;
    this.#hosts = new WatchedFile(hostsPath, parseHosts, lookMs);
    this.#conf = new WatchedFile(resolvConfPath, (text) => parseResolvConf(text, hostname()), lookMs);
    this.#resolverFor = this.#conf.current.servers;
    this.#resolver = this.#newResolver();
  }

  async resolve(given: string, tenant: string | null): Promise<readonly ResolvedAddress[]> {
    const name = given.toLowerCase();
    const outcome = this.#hosts.current.get(name) ?? this.#known.get(name)?.outcome ?? (await this.#find(name, tenant));
    if (outcome instanceof NameUnresolved) throw outcome;
    return outcome;
  }

  async #find(name: string, tenant: string | null): Promise<Outcome> {
    const owner = tenant ?? '';
    const shared = this.#running.get(name);
    if (shared !== undefined) return shared;
    if (!(await this.#slots.take(owner))) return new NameUnresolved(name, 'LOOKUPS_BUSY');
    try {
      // While this one waited, others may have asked.
      return await (this.#known.get(name)?.outcome ?? this.#running.get(name) ?? this.#start(name));
    } finally {
      this.#slots.give(owner);
    }
  }

  #start(name: string): Promise<Outcome> {
    const lookup = this.#lookUp(name).finally(() => this.#running.delete(name));
    this.#running.set(name, lookup);
    return lookup;
  }

  async #lookUp(name: string): Promise<Outcome> {
    const conf = this.#conf.current;
    if (this.#resolverFor !== conf.servers) {
      this.#resolverFor = conf.servers;
      this.#resolver = this.#newResolver();
    }
    const deadlineTick = performance.now() + LOOKUP_MS;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, LOOKUP_MS, null);
    });
    let code: NameUnresolved['code'] = 'ENOTFOUND';
    for (const candidate of candidatesOf(name, conf)) {
      const answer = await Promise.race([queryAddresses(this.#resolver, candidate), late]);
      if (answer !== null && answer.addresses.length > 0) {
        clearTimeout(timer);
        return this.#keep(name, answer.addresses, answer.ttlSec);
      }
      // Nobody answers: the next name would wait as long.
      if (answer === null || answer.unanswered || performance.now() >= deadlineTick) {
        code = 'EAI_AGAIN';
        break;
      }
    }
    clearTimeout(timer);
    return this.#keep(name, new NameUnresolved(name, code), FAILURE_TTL_SEC);
  }

  #keep(name: string, outcome: Outcome, ttlSec: number): Outcome {
    const ttl = Math.min(TTL_SEC_MAX, Math.max(TTL_SEC_MIN, ttlSec)) * 1_000;
    this.#known.set(name, { outcome }, { ttl });
    return outcome;
  }

  #newResolver(): Resolver {
    const resolver = new Resolver({ timeout: this.#options.tryMs ?? TRY_MS, tries: TRIES });
    if (this.#options.servers !== undefined) resolver.setServers(this.#options.servers);
    return resolver;
  }
}
