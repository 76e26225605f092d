/**
 * Resolves names that tenants configure. A slow or silent name server delays only its own tenant's lookups: queries run
 * on the event loop, {@link LOOKUPS_PER_TENANT} at once for each organization, with bounded tries. Answers and failures
 * are cached. Hosts file, search domains and `ndots` apply as in the system's resolver.
 */
import { Resolver } from 'node:dns';
import { hostname } from 'node:os';
import { LRUCache } from 'lru-cache';
import type { ResolvedAddress } from '../egress/check-tenant-url.js';
import { FairSemaphore, QueueFull } from '../fairness/fair-semaphore.js';
import { queryAddresses } from './address-query.js';
import { parseHostsFile } from './hosts-file.js';
import { NameResolutionError, type NameResolver } from './name-resolver-interface.js';
import { expandSearchDomains, parseResolvConf } from './resolv-conf.js';
import { WatchedFile } from './watched-file.js';

export interface TenantNameResolverOptions {
  readonly hostsPath?: string;
  readonly resolvConfPath?: string;
  /** `address[:port]` of name servers; default: those of resolv.conf. */
  readonly servers?: readonly string[];
  /** Minimum interval between checks of the two files, ms. */
  readonly fileCheckIntervalMs?: number;
  /** Timeout of one try at one server, ms. */
  readonly tryTimeoutMs?: number;
  /** Clock of the cache in ms, for tests. */
  readonly nowPerfMs?: () => number;
}

export const LOOKUPS_PER_TENANT = 8;
const WAITING_MAX = 256;
const TRY_TIMEOUT_MS = 2_000;
const TRIES = 2;
/** Covers one lookup with all its tries and search domains. */
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
  readonly #slots = new FairSemaphore({
    laneRunningMax: LOOKUPS_PER_TENANT,
    laneWaitingMax: WAITING_MAX,
    waitMsMax: LOOKUP_TIMEOUT_MS,
  });
  readonly #cache: LRUCache<string, { readonly outcome: LookupOutcome }>;
  /** Lookups in progress by name, shared by all callers that resolve the same name. */
  readonly #pending = new Map<string, Promise<LookupOutcome>>();
  #resolver: Resolver;
  #resolverServers: string;

  constructor(options: TenantNameResolverOptions = {}) {
    this.#options = options;
    const perf = { now: options.nowPerfMs ?? (() => performance.now()) };
    this.#cache = new LRUCache({ max: NAMES_MAX, ttlResolution: 0, perf });
    const {
      hostsPath = '/etc/hosts',
      resolvConfPath = '/etc/resolv.conf',
      fileCheckIntervalMs: checkIntervalMs,
    } = options;
    this.#hosts = new WatchedFile(hostsPath, parseHostsFile, checkIntervalMs);
    this.#conf = new WatchedFile(resolvConfPath, (text) => parseResolvConf(text, hostname()), checkIntervalMs);
    this.#resolverServers = this.#conf.current.servers;
    this.#resolver = this.#createResolver();
  }

  async resolve(rawName: string, tenant: string | null): Promise<readonly ResolvedAddress[]> {
    const name = rawName.toLowerCase();
    const outcome =
      this.#hosts.current.get(name) ?? this.#cache.get(name)?.outcome ?? (await this.#findShared(name, tenant));
    if (outcome instanceof NameResolutionError) throw outcome;
    return outcome;
  }

  async #findShared(name: string, tenant: string | null): Promise<LookupOutcome> {
    const owner = tenant ?? '';
    const shared = this.#pending.get(name);
    if (shared !== undefined) return shared;
    try {
      return await this.#slots.run(
        owner,
        // Another caller may have resolved the name while this one was queued.
        async () => this.#cache.get(name)?.outcome ?? this.#pending.get(name) ?? this.#startLookup(name),
      );
    } catch (error) {
      if (error instanceof QueueFull) return new NameResolutionError(name, 'LOOKUPS_BUSY');
      throw error;
    }
  }

  #startLookup(name: string): Promise<LookupOutcome> {
    const lookup = this.#lookUp(name).finally(() => this.#pending.delete(name));
    this.#pending.set(name, lookup);
    return lookup;
  }

  async #lookUp(name: string): Promise<LookupOutcome> {
    const conf = this.#conf.current;
    if (this.#resolverServers !== conf.servers) {
      this.#resolverServers = conf.servers;
      this.#resolver = this.#createResolver();
    }
    const deadlinePerfMs = performance.now() + LOOKUP_TIMEOUT_MS;
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
      // No server answered. The next search domain would use the same servers and wait as long.
      if (answer === null || answer.isUnanswered || performance.now() >= deadlinePerfMs) {
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
