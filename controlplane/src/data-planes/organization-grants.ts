/**
 * Organizations of which each data plane was given contexts. Stored in Postgres before the first context is sent, so
 * that usage is accepted by any control plane, also after a restart. Known grants are cached for a day and then stored
 * again; unused ones are deleted after 90 days.
 */
import { DAY_MS } from '@acg/base/time-and-money-units';
import { arrayLiteral } from '../db/array-literal.js';
import { ROWS_PER_BATCH } from '../db/delete-in-batches.js';
import type { Sql } from '../db/postgres-client.js';
import type { LinkCaller } from '../grpc/link-caller.js';

/** Who is given contexts: an identity, or, with the shared INTERNAL_TOKEN, the id that the data plane names. */
interface Grantee {
  readonly identity: LinkCaller;
  readonly dataPlaneId: string;
}

const GRANTS_KEPT_DAYS = 90;
/** Pairs of data plane and organization: 5 000 organizations on 40 data planes. */
const CACHED_MAX = 200_000;
const DATA_PLANE_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:-\d{1,4})?$/;

/** The id in the data directory, which all workers share; '' for an id that no data plane creates. */
const storedId = (dataPlaneId: string): string => DATA_PLANE_ID.exec(dataPlaneId)?.[1] ?? '';

export class OrganizationGrants {
  readonly #sql: Sql;
  readonly #countsShared: boolean;
  /** Organizations by `identity data-plane-id`. */
  #cached = new Map<string, Set<string>>();
  #cachedPairs = 0;
  #cachedSinceMs = 0;
  /** Called when a data plane reports usage of an organization of which it was given no context. */
  onUngranted: (grantee: Grantee, count: number) => void = () => undefined;

  /**
   * `countsShared`: a data plane that got its identity now may still book what it was given while it used the shared
   * INTERNAL_TOKEN.
   */
  constructor(sql: Sql, countsShared: boolean) {
    this.#sql = sql;
    this.#countsShared = countsShared;
  }

  /** Resolves when the grants are stored; usually they are known, and nothing is written. */
  async record({ identity, dataPlaneId }: Grantee, orgIds: readonly string[]): Promise<void> {
    const ownId = identity === '' ? storedId(dataPlaneId) : '';
    const known = this.#knownOrganizations(identity, ownId);
    const missing = [...new Set(orgIds)].filter((id) => !known.has(id));
    if (missing.length === 0) return;
    await this.#store(identity, ownId, missing);
    for (const id of missing) known.add(id);
    this.#cachedPairs += missing.length;
  }

  /** Returns those organizations of which the data plane was given no context. Never any for the shared token. */
  async findUngranted({ identity, dataPlaneId }: Grantee, orgIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (identity === '') return new Set();
    const known = this.#knownOrganizations(identity, '');
    const missing = new Set(orgIds.filter((id) => !known.has(id)));
    if (missing.size === 0) return missing;
    const sharedId = this.#countsShared ? storedId(dataPlaneId) || null : null;
    const rows = await this.#sql<{ orgId: string }[]>`
      select distinct org_id as "orgId" from data_plane_organizations
       where org_id = any(${arrayLiteral([...missing], (id) => id)}::text::uuid[])
         and ((identity = ${identity} and data_plane_id = '') or (identity = '' and data_plane_id = ${sharedId}))`;
    for (const { orgId } of rows) {
      missing.delete(orgId);
      known.add(orgId);
    }
    this.#cachedPairs += rows.length;
    if (missing.size > 0) this.onUngranted({ identity, dataPlaneId }, missing.size);
    return missing;
  }

  /** Stores all cached grants again, after the database lost committed transactions. */
  async storeCachedAgain(): Promise<void> {
    for (const [key, orgIds] of this.#cached) {
      const [identity = '', ownId = ''] = key.split(' ');
      await this.#store(identity, ownId, [...orgIds]);
    }
  }

  async deleteOld(): Promise<void> {
    await this.#sql`
      delete from data_plane_organizations where ctid = any(array(
        select ctid from data_plane_organizations where granted_at < now() - ${`${GRANTS_KEPT_DAYS} days`}::text::interval
         limit ${ROWS_PER_BATCH}))`;
  }

  #knownOrganizations(identity: string, ownId: string): Set<string> {
    const now = Date.now();
    if (now - this.#cachedSinceMs > DAY_MS || this.#cachedPairs > CACHED_MAX) {
      this.#cached = new Map();
      this.#cachedPairs = 0;
      this.#cachedSinceMs = now;
    }
    const key = `${identity} ${ownId}`;
    let known = this.#cached.get(key);
    if (known === undefined) {
      known = new Set();
      this.#cached.set(key, known);
    }
    return known;
  }

  async #store(identity: string, ownId: string, orgIds: readonly string[]): Promise<void> {
    await this.#sql`
      insert into data_plane_organizations as g (identity, data_plane_id, org_id)
      select ${identity}, ${ownId}, id from unnest(${arrayLiteral(orgIds, (id) => id)}::text::uuid[]) id order by id
      on conflict (identity, data_plane_id, org_id) do update set granted_at = now()
       where g.granted_at < now() - interval '12 hours'`;
  }
}
