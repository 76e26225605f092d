/**
 * Which data planes are connected, over all control-plane instances (docs/contract.md#without-the-counter-store). A row
 * ends with its connection; where its control plane died first, it counts as gone when nobody has confirmed it for
 * {@link REGISTRATION_TTL_MS}.
 */
import type { Sql } from '../db/sql.js';

interface DataPlaneRegistration {
  readonly id: string;
  readonly counters: 'memory' | 'redis';
  readonly version: string;
  readonly controlPlaneId: string;
  /** UUID of this connection. */
  readonly connectionId: string;
}

const REGISTRATION_TTL_MS = 6_000;

/** In-process counters of two data planes would multiply every limit. */
export class CountersNotSharedError extends Error {
  constructor(readonly other: string) {
    super(
      `this data plane counts in process and ${other} is connected already: limits would hold for each alone. ` +
        'Set REDIS_URL on every data plane, or stop the other one',
    );
    this.name = 'CountersNotShared';
  }
}

/** The same id replaces its older registration. Throws {@link CountersNotSharedError}. */
export async function registerDataPlane(sql: Sql, plane: DataPlaneRegistration): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('data_planes'))`;
    await tx`delete from data_planes where seen_at < now() - ${REGISTRATION_TTL_MS} * interval '1 millisecond'`;
    if (plane.counters === 'memory') {
      const [other] = await tx<{ id: string }[]>`select id from data_planes where id <> ${plane.id} limit 1`;
      if (other !== undefined) throw new CountersNotSharedError(other.id);
    }
    await tx`
      insert into data_planes (id, counters, control_plane_id, connection_id, version)
      values (${plane.id}, ${plane.counters}, ${plane.controlPlaneId}, ${plane.connectionId}, ${plane.version})
      on conflict (id) do update set counters = excluded.counters, control_plane_id = excluded.control_plane_id,
        connection_id = excluded.connection_id, version = excluded.version, connected_at = now(), seen_at = now()`;
  });
}

export async function unregisterDataPlane(sql: Sql, connectionId: string): Promise<void> {
  await sql`delete from data_planes where connection_id = ${connectionId}`;
}

/** Confirms connections; returns those that still hold. The rest was replaced, perhaps through another instance. */
export async function refreshRegistrations(sql: Sql, connectionIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ connectionId: string }[]>`
    update data_planes set seen_at = now() where connection_id = any(${[...connectionIds]}::uuid[])
    returning connection_id as "connectionId"`;
  return new Set(rows.map((row) => row.connectionId));
}
