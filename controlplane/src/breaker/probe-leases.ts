/**
 * Leases of the probe slots of HALF_OPEN breakers: data planes of the whole fleet together get exactly as many as the
 * rules allow. A successful probe keeps its slot, a failed one ends the epoch. A probe that was not sent, or whose data
 * plane died, frees its slot by `release` or when the lease expires.
 */
import { randomUUID } from 'node:crypto';
import type { Sql, Tx } from '../db/postgres-client.js';
import { availableProbes, type CircuitRules, NEW_CIRCUIT } from './breaker-state-machine.js';
import { type CircuitNotice, type CircuitRow, loadCircuits, lockCircuits } from './circuit-store.js';

/** After this time a probe without a result frees its slot. A later result still counts. */
const LEASE_MS = 60_000;

interface ProbeGrant {
  /** Null: no free slot. */
  readonly lease: string | null;
  /** The current state, for a data plane that has missed a change. */
  readonly circuit: CircuitNotice;
}

export class ProbeLeases {
  constructor(
    readonly sql: Sql,
    readonly rules: CircuitRules,
    readonly leaseMs: number = LEASE_MS,
  ) {}

  async acquire(circuitKey: string, epoch: number, dataPlaneId: string): Promise<ProbeGrant> {
    // Read without a lock first: while all slots are taken, rejected requests must not queue for the row.
    const [seen] = await loadCircuits(this.sql, [circuitKey]);
    if (seen === undefined) return { lease: null, circuit: circuitNotice(circuitKey, NEW_CIRCUIT) };
    if (seen.state !== 'HALF_OPEN' || seen.epoch !== epoch || (await this.#availableProbes(this.sql, seen)) === 0) {
      return { lease: null, circuit: circuitNotice(circuitKey, seen) };
    }
    return this.sql.begin(async (tx) => {
      const [row] = await lockCircuits(tx, [circuitKey]);
      if (row === undefined) return { lease: null, circuit: circuitNotice(circuitKey, NEW_CIRCUIT) };
      const free = row.epoch === epoch && (await this.#availableProbes(tx, row)) > 0;
      const lease = free ? await this.#insert(tx, row, dataPlaneId) : null;
      return { lease, circuit: circuitNotice(circuitKey, row) };
    });
  }

  /** Frees an unused slot. Ignores an unknown lease. */
  async release(circuitKey: string, lease: string): Promise<void> {
    if (!isLeaseId(lease)) return;
    await this.sql`delete from circuit_probes where lease = ${lease} and circuit_key = ${circuitKey}`;
  }

  async #availableProbes(sql: Sql | Tx, circuit: CircuitRow): Promise<number> {
    const [row] = await sql<{ leased: number }[]>`
      select count(*) as leased from circuit_probes
       where circuit_key = ${circuit.circuitKey} and epoch = ${circuit.epoch} and expires_at > clock_timestamp()`;
    return availableProbes(circuit, row!.leased, this.rules);
  }

  async #insert(tx: Tx, circuit: CircuitRow, dataPlaneId: string): Promise<string> {
    const lease = randomUUID();
    await tx`
      insert into circuit_probes (lease, circuit_key, epoch, data_plane_id, expires_at)
      values (${lease}, ${circuit.circuitKey}, ${circuit.epoch}, ${dataPlaneId},
              clock_timestamp() + ${this.leaseMs} * interval '1 millisecond')`;
    return lease;
  }
}

const LEASE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const isLeaseId = (text: string): boolean => LEASE.test(text);

const circuitNotice = (circuitKey: string, { state, epoch, openUntilMs }: Omit<CircuitNotice, 'circuitKey'>) => ({
  circuitKey,
  state,
  epoch,
  openUntilMs,
});
