/**
 * The fleet's breakers: one per built-in provider with a fixed origin (docs/contract.md#circuits). Data planes say which
 * of these origins they have been in contact with and whether they cannot connect; where none of them can, all refuse
 * calls at once. What organizations' calls come back with plays no part here: no tenant can open or close these breakers.
 * On failure: without a database they stay as they are; without a control plane each data plane goes by its own.
 */

import type { JSONValue, Sql, Tx } from '../db/sql.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import type { BreakerTransitions } from './breaker-transitions.js';
import { formatCircuitKey } from './circuit-key.js';
import * as store from './circuit-store.js';

const EVALUATE_INTERVAL_MS = 1_000;
/** What a data plane said counts for so long after its last contact. */
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
  /** How long ago it was dialled or has answered, ms. */
  readonly ageMs: number;
  readonly unreachable: boolean;
}

/** Data planes: connected to the control plane; in contact with an origin lately; of those, unable to connect to it. */
export interface OriginReachability {
  readonly connected: number;
  readonly inContact: number;
  readonly unreachable: number;
}

/** No data plane that has tried lately can connect: at least two, or the only one there is. */
export const isOriginUnreachable = ({ connected, inContact, unreachable }: OriginReachability): boolean =>
  unreachable > 0 && unreachable === inContact && (unreachable >= 2 || connected <= 1);

export class FleetBreakers {
  readonly #sql: Sql;
  readonly #transitions: BreakerTransitions;
  readonly #origins: readonly FleetOrigin[];
  readonly #knownOrigins: ReadonlySet<string>;
  readonly #background: BackgroundTasks;

  constructor(sql: Sql, transitions: BreakerTransitions, origins: readonly FleetOrigin[]) {
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

  /** What a data plane says of the origins; those that are no built-in provider's are left out. */
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

  /** Opens and closes what the reports of all data planes say; what an operator holds stays. */
  async evaluate(): Promise<void> {
    const reach = await this.#loadReachability();
    const keys = this.#origins.map(fleetCircuitKey);
    const open = new Set((await store.loadCircuits(this.#sql, keys)).flatMap(keyIfNotClosed));
    const moving = this.#origins.filter(
      (one) => open.has(fleetCircuitKey(one)) !== isOriginUnreachable(reachabilityOf(reach, one)),
    );
    if (moving.length === 0) return;
    await this.#insertMissing(moving);
    await this.#sql.begin((tx) => this.#applyReachability(tx, moving, reach));
  }

  async #applyReachability(
    tx: Tx,
    origins: readonly FleetOrigin[],
    reach: ReadonlyMap<string, OriginReachability>,
  ): Promise<void> {
    for (const row of await store.lockCircuits(tx, origins.map(fleetCircuitKey))) {
      if (row.reason === 'held' && row.openUntilMs > row.nowMs) continue;
      const seen = reachabilityOf(reach, origins.find((one) => fleetCircuitKey(one) === row.circuitKey)!);
      const state = isOriginUnreachable(seen) ? 'OPEN' : 'CLOSED';
      if (state === row.state) continue;
      const told = row.reason !== 'held';
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
      if (state === 'CLOSED' && !told) continue; // the operator's doing was no event
      await this.#transitions.appendCircuitEvents(tx, [
        {
          orgIds: await store.listOrgIdsWithProvider(tx, row.providerSlug),
          providerSlug: row.providerSlug,
          scope: 'fleet',
          state,
          seen: { requests: seen.inContact, failures: seen.unreachable },
        },
      ]);
    }
  }

  /**
   * An operator's decision for `holdMs`: OPEN refuses every call, CLOSED lets calls pass whatever data planes can reach;
   * with 0 the hold ends. Returns false where no built-in provider with a fixed origin has that name.
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

  /** By origin. */
  async #loadReachability(): Promise<ReadonlyMap<string, OriginReachability>> {
    const rows = await this.#sql<(OriginReachability & { origin: string })[]>`
      select origin, count(*)::integer as "inContact", (count(*) filter (where unreachable))::integer as unreachable,
             (select count(*)::integer from data_planes) as connected
        from origin_contacts where contact_at > clock_timestamp() - ${CONTACT_TTL_MS} * interval '1 millisecond'
       group by origin`;
    return new Map(rows.map(({ origin, ...reach }) => [origin, reach]));
  }
}

/** Of data planes that are gone. */
export async function pruneOriginContacts(sql: Sql): Promise<void> {
  await sql`delete from origin_contacts where contact_at < now() - interval '1 hour'`;
}

const fleetCircuitKey = ({ providerSlug, origin }: FleetOrigin): string =>
  formatCircuitKey({ providerSlug, origin, orgId: null });

const keyIfNotClosed = ({ circuitKey: key, state }: store.CircuitRow): string[] => (state === 'CLOSED' ? [] : [key]);

const NO_CONTACTS: OriginReachability = { connected: 0, inContact: 0, unreachable: 0 };
const reachabilityOf = (reach: ReadonlyMap<string, OriginReachability>, { origin }: FleetOrigin): OriginReachability =>
  reach.get(origin) ?? NO_CONTACTS;
