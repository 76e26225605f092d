/**
 * Finds out whether data planes still use previous credentials of rotations (docs/contract.md#rotation-with-overlap).
 * Each heartbeat names those that are about to retire, after all earlier invalidations, and the data planes answer with
 * their calls in flight.
 */
import type { Logger } from '@acg/base/log';
import { UUID_PATTERN_ANY_CASE } from '@acg/base/uuid-patterns';
import type { GatewayHandlers } from '@acg/proto/gateway-service';
import type { IFormerCredential } from '@acg/proto/messages';
import { status } from '@grpc/grpc-js';
import type { Sql } from '../db/postgres-client.js';
import { GrpcError, unaryHandler } from '../grpc/unary-handler-and-grpc-errors.js';

/** Of one heartbeat, those first that may retire soonest. Further ones follow when these have retired. */
const LISTED_MAX = 500;
const LISTED_PER_ORG = 50;

export async function listRetiring(sql: Sql): Promise<IFormerCredential[]> {
  return sql<IFormerCredential[]>`
    select id, version from (
      select coalesce(account_id, credential_id) as id, floor(extract(epoch from switched_at) * 1000000)::bigint as version,
             kept_until, row_number() over (partition by org_id order by kept_until) as nth
        from (select *, switched_at + keep_seconds * interval '1 second' as kept_until
                from credential_rotations where state = 'retiring') kept) retiring
     where nth <= ${LISTED_PER_ORG} order by nth, kept_until limit ${LISTED_MAX}`;
}

export function createCredentialUseHandler(sql: Sql, log: Logger): Pick<GatewayHandlers, 'reportCredentialUse'> {
  return {
    reportCredentialUse: unaryHandler(log, 'ReportCredentialUse', async ({ dataPlaneId, uses }, caller) => {
      const known = (uses ?? []).slice(0, LISTED_MAX).filter(({ id }) => UUID_PATTERN_ANY_CASE.test(id ?? ''));
      // A data plane answers for itself only.
      const [registered] = await sql`
        select from data_planes where id = ${dataPlaneId ?? ''} and identity = ${caller}`;
      if (registered === undefined)
        throw new GrpcError(status.FAILED_PRECONDITION, 'this data plane is not connected with this identity');
      if (known.length === 0) return {};
      await sql`
        insert into credential_rotation_uses (rotation_id, data_plane_id, calls)
        select r.id, ${dataPlaneId!}, u.calls
          from unnest(${known.map(({ id }) => id!)}::uuid[], ${known.map(({ version }) => version ?? 0)}::bigint[],
                      ${known.map(({ calls }) => calls ?? 0)}::bigint[]) as u(id, version, calls)
          join credential_rotations r on (r.account_id = u.id or r.credential_id = u.id) and r.state = 'retiring'
           and floor(extract(epoch from r.switched_at) * 1000000)::bigint = u.version
        on conflict (rotation_id, data_plane_id) do update set calls = excluded.calls
         where credential_rotation_uses.calls is distinct from excluded.calls`;
      return {};
    }),
  };
}
