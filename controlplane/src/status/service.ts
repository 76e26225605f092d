/**
 * The public status, cheap under any load: one query per second at most, shared by all who ask, and the last known
 * status (with its time) while the database does not answer.
 */
import { circuitKey } from '../circuit/circuit-key.js';
import type { Sql } from '../db/sql.js';
import { type Health, healthOf, overallHealth, type ProviderHealth, type StateCount } from './provider-health.js';

export interface StatusSnapshot {
  readonly status: Health;
  readonly providers: readonly ProviderHealth[];
  readonly lastUpdated: string;
}

interface ShownProvider {
  readonly slug: string;
  readonly displayName: string;
  /** Null where each account has its own address. */
  readonly baseUrl: string | null;
}

const FRESH_MS = 1_000;
/** An origin of a many-origin provider counts when it was used this lately, or has changed. */
const RECENT_MINUTES = 15;

export class StatusService {
  readonly #sql: Sql;
  readonly #providers: readonly ShownProvider[];
  /** The circuits of providers with one origin: shown whenever they were used last. */
  readonly #keys: readonly string[];
  readonly #manyOrigins: readonly string[];
  #snapshot: StatusSnapshot | null = null;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<StatusSnapshot> | null = null;

  constructor(sql: Sql, providers: readonly ShownProvider[]) {
    this.#sql = sql;
    this.#providers = providers;
    this.#keys = providers.flatMap(({ slug, baseUrl }) =>
      baseUrl === null ? [] : [circuitKey({ providerSlug: slug, origin: new URL(baseUrl).origin, orgId: null })],
    );
    this.#manyOrigins = providers.filter(({ baseUrl }) => baseUrl === null).map(({ slug }) => slug);
  }

  async current(): Promise<StatusSnapshot> {
    if (this.#snapshot !== null && performance.now() - this.#readAtMs < FRESH_MS) return this.#snapshot;
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
    const counts = await this.#sql<StateCount[]>`
      select provider_slug as "providerSlug", state, count(*) as origins from circuits
       where circuit_key = any(${[...this.#keys]}::text[])
          or (provider_slug = any(${[...this.#manyOrigins]}::text[]) and org_id is null
              and greatest(last_used_at, changed_at) > now() - ${RECENT_MINUTES} * interval '1 minute')
       group by provider_slug, state`;
    const providers = this.#providers.map(({ slug, displayName }) => healthOf(slug, displayName, counts));
    this.#snapshot = { status: overallHealth(providers), providers, lastUpdated: new Date().toISOString() };
    this.#readAtMs = performance.now();
    return this.#snapshot;
  }
}
