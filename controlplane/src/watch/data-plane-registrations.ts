/**
 * Registers the connected data planes of all control-plane instances (docs/contract.md#counter-store-outage). The
 * row is deleted when the connection ends. If its control plane died first, the row expires {@link REGISTRATION_TTL_MS}
 * after the last refresh.
 */
import type { Sql } from '../db/postgres-client.js';

interface DataPlaneRegistration {
  readonly id: string;
  /** Name of its own identity; '' with the shared INTERNAL_TOKEN. */
  readonly identity: string;
  readonly counters: 'memory' | 'redis';
  /** Newest layout of keys in the counter store that it writes; see counter-layout.ts. */
  readonly counterLayout: number;
  readonly version: string;
  readonly controlPlaneId: string;
  /** UUID of this connection. */
  readonly connectionId: string;
}

const REGISTRATION_TTL_MS = 6_000;

/** Two data planes with in-process counters would multiply every limit. */
export class CountersNotSharedError extends Error {
  constructor(readonly other: string) {
    super(
      `this data plane uses in-process counters, and data plane ${other} is already connected. Each would enforce the limits separately. ` +
        'Set REDIS_URL on every data plane, or stop the other data plane.',
    );
    this.name = 'CountersNotSharedError';
  }
}

/** A connected data plane with another identity has this id: its streams must not be replaced by a stranger's. */
export class DataPlaneIdTakenError extends Error {
  constructor(id: string) {
    super(`data plane ${id} is connected with another identity`);
    this.name = 'DataPlaneIdTakenError';
  }
}

/**
 * Replaces an older registration of the same id and identity. Throws {@link CountersNotSharedError} or {@link
 * DataPlaneIdTakenError}.
 */
export async function registerDataPlane(sql: Sql, plane: DataPlaneRegistration): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('data_planes'))`;
    await tx`delete from data_planes where seen_at < now() - ${REGISTRATION_TTL_MS} * interval '1 millisecond'`;
    const taken = await tx`select 1 from data_planes where id = ${plane.id} and identity <> ${plane.identity}`;
    if (taken.length > 0) throw new DataPlaneIdTakenError(plane.id);
    if (plane.counters === 'memory') {
      const [other] = await tx<{ id: string }[]>`select id from data_planes where id <> ${plane.id} limit 1`;
      if (other !== undefined) throw new CountersNotSharedError(other.id);
    }
    await tx`
      insert into data_planes (id, identity, counters, counter_layout, control_plane_id, connection_id, version)
      values (${plane.id}, ${plane.identity}, ${plane.counters}, ${plane.counterLayout}, ${plane.controlPlaneId},
        ${plane.connectionId}, ${plane.version})
      on conflict (id) do update set counters = excluded.counters, counter_layout = excluded.counter_layout,
        control_plane_id = excluded.control_plane_id, connection_id = excluded.connection_id,
        version = excluded.version, connected_at = now(), seen_at = now(), store_away_since = null`;
  });
}

export async function unregisterDataPlane(sql: Sql, connectionId: string): Promise<void> {
  await sql`delete from data_planes where connection_id = ${connectionId}`;
}

/** Refreshes registrations. Returns those that still exist; others were replaced, perhaps through another instance. */
export async function refreshRegistrations(sql: Sql, connectionIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ connectionId: string }[]>`
    update data_planes set seen_at = now() where connection_id = any(${[...connectionIds]}::uuid[])
    returning connection_id as "connectionId"`;
  return new Set(rows.map((row) => row.connectionId));
}
