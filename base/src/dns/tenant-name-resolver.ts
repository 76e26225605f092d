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
import { parseHostsFile } from './hosts-file.js';
import { LookupSemaphore } from './lookup-semaphore.js';
import { NameResolutionError, type NameResolver } from './name-resolver.js';
import { expandSearchDomains, parseResolvConf } from './resolv-conf.js';
import { WatchedFile } from './watched-file.js';

export interface TenantNameResolverOptions {
  readonly hostsPath?: string;
  readonly resolvConfPath?: string;
  /** `address[:port]` of name servers; those of resolv.conf otherwise. */
  readonly servers?: readonly string[];
  /** How often the two files are looked at, at most. */
  readonly fileCheckIntervalMs?: number;
  /** One try of one server. */
  readonly tryTimeoutMs?: number;
  /** Milliseconds; what is known ages by it. */
  readonly nowTick?: () => number;
}

export const LOOKUPS_PER_TENANT = 8;
const WAITING_MAX = 256;
const TRY_TIMEOUT_MS = 2_000;
const TRIES = 2;
/** One lookup with all its tries and search domains. */
const LOOKUP_TIMEOUT_MS = 5_000;
const NAMES_MAX = 10_000;
const TTL_SEC_MIN = 5;
const TTL_SEC_MAX = 60;
const FAILURE_TTL_SEC = 5;

type LookupOutcome = readonly ResolvedAddress[] | NameResolutionError;

export class TenantNameResolver implements NameResolver {
  readonly #options: TenantNameResolverOptions;
  readonly #hosts: WatchedFile<ReturnType<typeof parseHostsFile>>;
  readonly #conf: WatchedFile<ReturnType<typeof parseResolvConf>>;
  readonly #slots = new LookupSemaphore(LOOKUPS_PER_TENANT, WAITING_MAX, LOOKUP_TIMEOUT_MS);
  readonly #cache: LRUCache<string, { readonly outcome: LookupOutcome }>;
  /** Lookups under way, by name: whoever asks for the same name shares them. */
  readonly #pending = new Map<string, Promise<LookupOutcome>>();
  #resolver: Resolver;
  #resolverFor: string;

  constructor(options: TenantNameResolverOptions = {}) {
    this.#options = options;
    const perf = { now: options.nowTick ?? (() => performance.now()) };
    this.#cache = new LRUCache({ max: NAMES_MAX, ttlResolution: 0, perf });
    const { hostsPath = '/etc/hosts', resolvConfPath = '/etc/resolv.conf', fileCheckIntervalMs: lookMs } = options;
    this.#hosts = new WatchedFile(hostsPath, parseHostsFile, lookMs);
    this.#conf = new WatchedFile(resolvConfPath, (text) => parseResolvConf(text, hostname()), lookMs);
    this.#resolverFor = this.#conf.current.servers;
    this.#resolver = this.#createResolver();
  }

  async resolve(given: string, tenant: string | null): Promise<readonly ResolvedAddress[]> {
    const name = given.toLowerCase();
    const outcome =
      this.#hosts.current.get(name) ?? this.#cache.get(name)?.outcome ?? (await this.#findShared(name, tenant));
    if (outcome instanceof NameResolutionError) throw outcome;
    return outcome;
  }

  async #findShared(name: string, tenant: string | null): Promise<LookupOutcome> {
    const owner = tenant ?? '';
    const shared = this.#pending.get(name);
    if (shared !== undefined) return shared;
    if (!(await this.#slots.acquire(owner))) return new NameResolutionError(name, 'LOOKUPS_BUSY');
    try {
      // While this one waited, others may have asked.
      return await (this.#cache.get(name)?.outcome ?? this.#pending.get(name) ?? this.#startLookup(name));
    } finally {
      this.#slots.release(owner);
    }
  }

  #startLookup(name: string): Promise<LookupOutcome> {
    const lookup = this.#lookUp(name).finally(() => this.#pending.delete(name));
    this.#pending.set(name, lookup);
    return lookup;
  }

  async #lookUp(name: string): Promise<LookupOutcome> {
    const conf = this.#conf.current;
    if (this.#resolverFor !== conf.servers) {
      this.#resolverFor = conf.servers;
      this.#resolver = this.#createResolver();
    }
    const deadlineTick = performance.now() + LOOKUP_TIMEOUT_MS;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, LOOKUP_TIMEOUT_MS, null);
    });
    let code: NameResolutionError['code'] = 'ENOTFOUND';
    for (const candidate of expandSearchDomains(name, conf)) {
      const answer = await Promise.race([queryAddresses(this.#resolver, candidate), late]);
      if (answer !== null && answer.addresses.length > 0) {
        clearTimeout(timer);
        return this.#cacheOutcome(name, answer.addresses, answer.ttlSec);
      }
      // Nobody answers: the next name would wait as long.
      if (answer === null || answer.isUnanswered || performance.now() >= deadlineTick) {
        code = 'EAI_AGAIN';
        break;
      }
    }
    clearTimeout(timer);
    return this.#cacheOutcome(name, new NameResolutionError(name, code), FAILURE_TTL_SEC);
  }

  #cacheOutcome(name: string, outcome: LookupOutcome, ttlSec: number): LookupOutcome {
    const ttl = Math.min(TTL_SEC_MAX, Math.max(TTL_SEC_MIN, ttlSec)) * 1_000;
    this.#cache.set(name, { outcome }, { ttl });
    return outcome;
  }

  #createResolver(): Resolver {
    const resolver = new Resolver({ timeout: this.#options.tryTimeoutMs ?? TRY_TIMEOUT_MS, tries: TRIES });
    if (this.#options.servers !== undefined) resolver.setServers(this.#options.servers);
    return resolver;
  }
}
