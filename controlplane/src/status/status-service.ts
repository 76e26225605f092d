/**
 * The public status, which only reports (docs/contract.md#circuits). Cheap under any load: one query per second at most,
 * shared by all who ask, and the last known status (with its time) while the database does not answer.
 */

import type { CircuitStateName } from '../breaker/breaker-state-machine.js';
import { formatCircuitKey } from '../breaker/circuit-key.js';
import type { Sql } from '../db/sql.js';
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
  readonly lastUpdated: string;
}

interface StatusProvider {
  readonly slug: string;
  readonly displayName: string;
  /** Null where each account has its own address. */
  readonly baseUrl: string | null;
}

const SNAPSHOT_TTL_MS = 1_000;
const NO_ORGANIZATION: OrgCountByState = { CLOSED: 0, HALF_OPEN: 0, OPEN: 0 };

export class StatusService {
  readonly #sql: Sql;
  readonly #providers: readonly StatusProvider[];
  /** CIRCUIT_WINDOW_MS. */
  readonly #windowMs: number;
  /** The fleet's breakers, of providers with one origin. */
  readonly #keys: readonly string[];
  readonly #manyOrigins: readonly string[];
  #snapshot: StatusSnapshot | null = null;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<StatusSnapshot> | null = null;

  constructor(sql: Sql, providers: readonly StatusProvider[], windowMs: number) {
    this.#sql = sql;
    this.#providers = providers;
    this.#windowMs = windowMs;
    this.#keys = providers.flatMap(({ slug, baseUrl }) =>
      baseUrl === null ? [] : [formatCircuitKey({ providerSlug: slug, origin: new URL(baseUrl).origin, orgId: null })],
    );
    this.#manyOrigins = providers.filter(({ baseUrl }) => baseUrl === null).map(({ slug }) => slug);
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
    const [counts, fleet] = await Promise.all([this.#organizations(), this.#fleet()]);
    const providers = this.#providers.map(({ slug, displayName }) =>
      providerHealth(slug, displayName, counts.get(slug) ?? NO_ORGANIZATION, fleet.get(slug) ?? 'CLOSED'),
    );
    this.#snapshot = { status: overallHealth(providers), providers, lastUpdated: new Date().toISOString() };
    this.#readAtMs = performance.now();
    return this.#snapshot;
  }

  /**
   * Counts organizations that have shown that they can use the provider (a success in the day before their breaker
   * opened, or before the window) and that have used it in the window. An open breaker lets no call pass, so it counts
   * as long as it is open; one that an administrator holds says nothing. With several origins the best of them counts.
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

  /** The fleet's breakers that are not closed, by provider. */
  async #fleet(): Promise<ReadonlyMap<string, CircuitStateName>> {
    const rows = await this.#sql<{ slug: string; state: CircuitStateName }[]>`
      select provider_slug as slug, state from circuits
       where circuit_key = any(${[...this.#keys]}::text[]) and state <> 'CLOSED'`;
    return new Map(rows.map(({ slug, state }) => [slug, state]));
  }
}
