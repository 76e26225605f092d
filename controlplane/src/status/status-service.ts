/**
 * Provides the public status; it never affects calls (docs/contract.md#circuits). Runs at most one query per second for
 * all requests. While the database is unavailable it returns the last known status with its time.
 */

import type { CircuitStateName } from '../breaker/breaker-state-machine.js';
import { formatCircuitKey } from '../breaker/provider-origin-org-circuit-key.js';
import type { Sql } from '../db/postgres-client.js';
import {
  type Health,
  type OrgCountByState,
  overallHealth,
  type ProviderHealth,
  providerHealth,
} from './provider-health.js';

export interface StatusSnapshot {
  readonly status: Health;
  readonly providers: readonly ProviderHealth[];
  /** Null: every connected data plane reaches its counter store. */
  readonly counterStoreOutage: CounterStoreOutage | null;
  readonly lastUpdated: string;
}

interface CounterStoreOutage {
  /** ISO. */
  readonly since: string;
  readonly dataPlanes: number;
}

interface StatusProvider {
  readonly slug: string;
  readonly displayName: string;
  /** Fixed origins, the default one first; null when an account may have its own. */
  readonly origins: readonly string[] | null;
}

const SNAPSHOT_TTL_MS = 1_000;
const OUTAGE_REPORT_MAX_AGE_MS = 20_000;
const NO_ORGANIZATION: OrgCountByState = { CLOSED: 0, HALF_OPEN: 0, OPEN: 0 };

export class StatusService {
  readonly #sql: Sql;
  readonly #providers: readonly StatusProvider[];
  /** Value of CIRCUIT_WINDOW_MS. */
  readonly #windowMs: number;
  /** Keys of the fixed origins. */
  readonly #keys: readonly string[];
  /** Keys of the fleet's breakers of the default origins. */
  readonly #fleetKeys: readonly string[];
  readonly #manyOrigins: readonly string[];
  #snapshot: StatusSnapshot | null = null;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<StatusSnapshot> | null = null;

  constructor(sql: Sql, providers: readonly StatusProvider[], windowMs: number) {
    this.#sql = sql;
    this.#providers = providers;
    this.#windowMs = windowMs;
    const keysOf = ({ slug, origins }: StatusProvider): string[] =>
      (origins ?? []).map((origin) => formatCircuitKey({ providerSlug: slug, origin, orgId: null }));
    this.#keys = providers.flatMap(keysOf);
    this.#fleetKeys = providers.flatMap((provider) => keysOf(provider).slice(0, 1));
    this.#manyOrigins = providers.filter(({ origins }) => origins === null).map(({ slug }) => slug);
  }

  async current(): Promise<StatusSnapshot> {
    if (this.#snapshot !== null && performance.now() - this.#readAtMs < SNAPSHOT_TTL_MS) return this.#snapshot;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    try {
      return await this.#reading;
    } catch (error) {
      if (this.#snapshot === null) throw error;
      return this.#snapshot;
    }
  }

  async #read(): Promise<StatusSnapshot> {
    const [counts, fleet, counterStoreOutage] = await Promise.all([
      this.#organizations(),
      this.#fleet(),
      this.#counterStoreOutage(),
    ]);
    const providers = this.#providers.map(({ slug, displayName }) =>
      providerHealth(slug, displayName, counts.get(slug) ?? NO_ORGANIZATION, fleet.get(slug) ?? 'CLOSED'),
    );
    const lastUpdated = new Date().toISOString();
    this.#snapshot = { status: overallHealth(providers), providers, counterStoreOutage, lastUpdated };
    this.#readAtMs = performance.now();
    return this.#snapshot;
  }

  /**
   * Counts organizations that used the provider in the window and have proven that they can: by a success in the window
   * or in the day before their breaker opened. An open breaker passes no call, so it counts while it is open; one that
   * an administrator holds open does not count. With several origins the best one counts. An organization's own
   * provider of the same slug does not count.
   */
  async #organizations(): Promise<ReadonlyMap<string, OrgCountByState>> {
    const windowStart = this.#sql`now() - ${this.#windowMs}::float8 * interval '1 millisecond'`;
    const rows = await this.#sql<(OrgCountByState & { slug: string })[]>`
      select slug, count(*) filter (where best = 1) as "CLOSED", count(*) filter (where best = 2) as "HALF_OPEN",
             count(*) filter (where best = 3) as "OPEN"
        from (
          select provider_slug as slug, min(array_position(array['CLOSED', 'HALF_OPEN', 'OPEN'], state)) as best
            from circuits
           where org_id is not null
             and not exists (select 1 from custom_providers c
                              where c.org_id = circuits.org_id and c.slug = circuits.provider_slug and c.deleted_at is null)
             and (origin_key = any(${[...this.#keys]}::text[]) or provider_slug = any(${[...this.#manyOrigins]}::text[]))
             and (state = 'CLOSED' and last_used_at > ${windowStart}
                  and (succeeded_at <= ${windowStart} and succeeded_at > ${windowStart} - interval '1 day'
                       or succeeded_before_at > ${windowStart} - interval '1 day')
                  or state <> 'CLOSED' and announced and succeeded_at > opened_at - interval '1 day'
                  and (state = 'OPEN' or greatest(last_used_at, changed_at) > ${windowStart}))
           group by provider_slug, org_id) organizations
       group by slug`;
    return new Map(rows.map(({ slug, ...count }) => [slug, count]));
  }

  /** Of connected data planes that reported it lately; they report every 5 s. */
  async #counterStoreOutage(): Promise<CounterStoreOutage | null> {
    const [row] = await this.#sql<[{ since: Date | null; dataPlanes: number }]>`
      select min(store_away_since) as since, count(*)::int as "dataPlanes" from data_planes
       where store_away_since is not null
         and least(seen_at, store_reported_at) > now() - ${OUTAGE_REPORT_MAX_AGE_MS} * interval '1 millisecond'`;
    return row.since === null ? null : { since: row.since.toISOString(), dataPlanes: row.dataPlanes };
  }

  /** Returns the fleet's breakers that are not closed, by provider. */
  async #fleet(): Promise<ReadonlyMap<string, CircuitStateName>> {
    const rows = await this.#sql<{ slug: string; state: CircuitStateName }[]>`
      select provider_slug as slug, state from circuits
       where circuit_key = any(${[...this.#fleetKeys]}::text[]) and state <> 'CLOSED'`;
    return new Map(rows.map(({ slug, state }) => [slug, state]));
  }
}
