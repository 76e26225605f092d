/**
 * The stage of the upgrade of the counter store's keys (docs/counters.md#upgrade): `both` while data planes of the
 * previous release may run, then `new`, for ever. Each heartbeat of each control plane calls {@link advanceCounterLayout}.
 */
import { type ICounterLayout, LayoutStage } from '@acg/proto/messages';
import type { Sql } from '../db/postgres-client.js';

/** The layout that this release writes; data planes of the previous release announce none. */
export const PRESENT_LAYOUT = 2;

/**
 * How long no data plane of the previous release may have been connected before `new` begins. Longer than it takes one to
 * reconnect when its control plane restarts, and than the lease of the reservations of a killed one.
 */
const ABSENCE_MS = 60_000;

/** Begins `new` where no data plane of the previous release has been seen for long enough. Returns the stage. */
export async function advanceCounterLayout(sql: Sql): Promise<ICounterLayout> {
  await sql`
    update counter_layout set previous_seen_at = now()
     where stage = 'both'
       and exists (select from data_planes
                    where counters = 'redis' and counter_layout < ${PRESENT_LAYOUT}
                      and seen_at > now() - ${ABSENCE_MS} * interval '1 millisecond')`;
  await sql`
    update counter_layout set stage = 'new', began_at = now()
     where stage = 'both' and previous_seen_at < now() - ${ABSENCE_MS} * interval '1 millisecond'`;
  const [row] = await sql<{ stage: 'both' | 'new'; beganAtMs: number | null }[]>`
    select stage, (extract(epoch from began_at) * 1000)::float8 as "beganAtMs" from counter_layout`;
  if (row === undefined || row.stage === 'both') return { stage: LayoutStage.BOTH };
  return { stage: LayoutStage.NEW, sinceMs: Math.floor(row.beganAtMs ?? 0) };
}
