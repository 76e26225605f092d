/**
 * Fleet breakers: one per built-in provider with a fixed origin (docs/contract.md#circuits). Data planes report which
 * of these origins they contacted and whether they cannot connect. If none of them can connect, the breaker opens and
 * all data planes reject calls at once. Outcomes of calls play no role here, so no tenant can open or close these
 * breakers.
 *
 * Without the database the breakers keep their state. Without a control plane each data plane uses its own state.
 */

import type { JSONValue, Sql, Tx } from '../db/postgres-client.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import type { BreakerTransitionWriter } from './breaker-transition-writer.js';
import * as store from './circuit-store.js';
import { formatCircuitKey } from './provider-origin-org-circuit-key.js';

const EVALUATE_INTERVAL_MS = 1_000;
/** Reports of a data plane count for this long after its last contact with the origin. */
const CONTACT_TTL_MS = 30_000;
const PRUNE_INTERVAL_MS = 600_000;

/** A built-in provider with one origin for all organizations. */
export interface FleetOrigin {
  readonly providerSlug: string;
  /** scheme://host[:port] */
  readonly origin: string;
}

interface OriginContact {
  readonly origin: string;
  /** Time since the data plane dialed the origin or received a response, ms. */
  readonly ageMs: number;
  readonly unreachable: boolean;
}

/**
 * Numbers of data planes: connected to the control plane; recently in contact with an origin; of these, unable to
 * connect.
 */
export interface OriginReachability {
  readonly connected: number;
  readonly inContact: number;
  readonly unreachable: number;
}

/** True if no data plane that tried recently can connect: at least two, or the only one that exists. */
export const isOriginUnreachable = ({ connected, inContact, unreachable }: OriginReachability): boolean =>
  unreachable > 0 && unreachable === inContact && (unreachable >= 2 || connected <= 1);

export class FleetBreakers {
  readonly #sql: Sql;
  readonly #transitions: BreakerTransitionWriter;
  readonly #origins: readonly FleetOrigin[];
  readonly #knownOrigins: ReadonlySet<string>;
  readonly #background: BackgroundTasks;

  constructor(sql: Sql, transitions: BreakerTransitionWriter, origins: readonly FleetOrigin[]) {
    this.#sql = sql;
    this.#transitions = transitions;
    this.#origins = origins;
    this.#knownOrigins = new Set(origins.map(({ origin }) => origin));
    this.#background = new BackgroundTasks(transitions.log);
  }

  start(): void {
    this.#background.runEvery('fleet breakers', EVALUATE_INTERVAL_MS, () => this.evaluate());
    this.#background.runEvery('pruning contacts', PRUNE_INTERVAL_MS, () => pruneOriginContacts(this.#sql));
  }

  stop(): Promise<void> {
    return this.#background.stop();
  }

  /** Stores a data plane's reports. Leaves out origins that do not belong to a built-in provider. */
  async recordContacts(dataPlaneId: string, contacts: readonly OriginContact[]): Promise<void> {
    const known = contacts.filter(({ origin, ageMs }) => this.#knownOrigins.has(origin) && ageMs <= CONTACT_TTL_MS);
    if (known.length === 0) return;
    await this.#sql`
      insert into origin_contacts (data_plane_id, origin, contact_at, unreachable)
      select ${dataPlaneId}, c.origin, clock_timestamp() - c."ageMs" * interval '1 millisecond', c.unreachable
        from jsonb_to_recordset(${this.#sql.json(known as unknown as JSONValue)}) as c(
          origin text, "ageMs" float8, unreachable boolean)
       order by c.origin
      on conflict (origin, data_plane_id)
      do update set contact_at = excluded.contact_at, unreachable = excluded.unreachable`;
  }

  /** Opens and closes the breakers by the reports of all data planes, except those that an operator holds. */
  async evaluate(): Promise<void> {
    const reachability = await this.#loadReachability();
    const keys = this.#origins.map(fleetCircuitKey);
    const open = new Set((await store.loadCircuits(this.#sql, keys)).flatMap(keyIfNotClosed));
    const changing = this.#origins.filter(
      (one) => open.has(fleetCircuitKey(one)) !== isOriginUnreachable(reachabilityOf(reachability, one)),
    );
    if (changing.length === 0) return;
    await this.#insertMissing(changing);
    await this.#sql.begin((tx) => this.#applyReachability(tx, changing, reachability));
  }

  async #applyReachability(
    tx: Tx,
    origins: readonly FleetOrigin[],
    reachability: ReadonlyMap<string, OriginReachability>,
  ): Promise<void> {
    for (const row of await store.lockCircuits(tx, origins.map(fleetCircuitKey))) {
      if (row.reason === 'held' && row.openUntilMs > row.nowMs) continue;
      const reachabilityOfOrigin = reachabilityOf(
        reachability,
        origins.find((one) => fleetCircuitKey(one) === row.circuitKey)!,
      );
      const state = isOriginUnreachable(reachabilityOfOrigin) ? 'OPEN' : 'CLOSED';
      if (state === row.state) continue;
      const wasAnnounced = row.reason !== 'held';
      await this.#transitions.writeChanges(tx, [
        {
          circuitKey: row.circuitKey,
          state,
          epoch: row.epoch + 1,
          openUntilMs: 0,
          probesGood: 0,
          reason: state === 'OPEN' ? 'connect' : null,
          announced: state === 'OPEN',
        },
      ]);
      if (state === 'CLOSED' && !wasAnnounced) continue; // the operator's action caused no event
      await this.#transitions.appendCircuitEvents(tx, [
        {
          orgIds: await store.listOrgIdsWithProvider(tx, row.providerSlug),
          providerSlug: row.providerSlug,
          scope: 'fleet',
          state,
          seen: { requests: reachabilityOfOrigin.inContact, failures: reachabilityOfOrigin.unreachable },
        },
      ]);
    }
  }

  /**
   * An operator's override for `holdMs`: OPEN rejects every call, CLOSED lets calls pass regardless of the reports. 0
   * ends the hold. Returns false if no built-in provider with a fixed origin has this slug.
   */
  async override(providerSlug: string, state: 'OPEN' | 'CLOSED', holdMs: number): Promise<boolean> {
    const origins = this.#origins.filter((one) => one.providerSlug === providerSlug);
    await this.#insertMissing(origins);
    return this.#sql.begin(async (tx) => {
      const rows = await store.lockCircuits(tx, origins.map(fleetCircuitKey));
      await this.#transitions.writeChanges(
        tx,
        rows.map(({ circuitKey: key, epoch, nowMs }) => ({
          circuitKey: key,
          state,
          epoch: epoch + 1,
          openUntilMs: holdMs === 0 ? 0 : nowMs + holdMs,
          probesGood: 0,
          reason: holdMs === 0 ? null : 'held',
          announced: false,
        })),
      );
      return rows.length > 0;
    });
  }

  async #insertMissing(origins: readonly FleetOrigin[]): Promise<void> {
    const rows = origins.map((one) => ({
      circuitKey: fleetCircuitKey(one),
      providerSlug: one.providerSlug,
      orgId: null,
    }));
    await store.insertCircuits(this.#sql, rows);
  }

  /** Reachability by origin. */
  async #loadReachability(): Promise<ReadonlyMap<string, OriginReachability>> {
    const rows = await this.#sql<(OriginReachability & { origin: string })[]>`
      select origin, count(*)::integer as "inContact", (count(*) filter (where unreachable))::integer as unreachable,
             (select count(*)::integer from data_planes) as connected
        from origin_contacts where contact_at > clock_timestamp() - ${CONTACT_TTL_MS} * interval '1 millisecond'
       group by origin`;
    return new Map(rows.map(({ origin, ...reach }) => [origin, reach]));
  }
}

/** Deletes reports of data planes that no longer exist. */
export async function pruneOriginContacts(sql: Sql): Promise<void> {
  await sql`delete from origin_contacts where contact_at < now() - interval '1 hour'`;
}

const fleetCircuitKey = ({ providerSlug, origin }: FleetOrigin): string =>
  formatCircuitKey({ providerSlug, origin, orgId: null });

const keyIfNotClosed = ({ circuitKey: key, state }: store.CircuitRow): string[] => (state === 'CLOSED' ? [] : [key]);

const NO_CONTACTS: OriginReachability = { connected: 0, inContact: 0, unreachable: 0 };
const reachabilityOf = (
  reachability: ReadonlyMap<string, OriginReachability>,
  { origin }: FleetOrigin,
): OriginReachability => reachability.get(origin) ?? NO_CONTACTS;
