/** Stores which data planes cannot reach their counter store (docs/contract.md#counter-store-outage). */
import type { Logger } from '@acg/base/log';
import { DAY_MS } from '@acg/base/time-and-money-units';
import type { GatewayHandlers } from '@acg/proto/gateway-service';
import type { Sql } from '../db/postgres-client.js';
import { unaryHandler } from '../grpc/unary-handler-and-grpc-errors.js';

/** A longer outage is shown as this long: the figure comes from a data plane. */
const OUTAGE_MS_MAX = 30 * DAY_MS;

export function createCounterStoreHandler(sql: Sql, log: Logger): Pick<GatewayHandlers, 'reportCounterStore'> {
  return {
    reportCounterStore: unaryHandler(log, 'ReportCounterStore', async (request, caller) => {
      const { dataPlaneId, away, outageMs, uncheckedCalls } = request;
      const sinceMs = Math.min(Number(outageMs ?? 0), OUTAGE_MS_MAX);
      // A data plane reports for itself only. One that is not registered yet reports again.
      await sql`
        update data_planes set store_reported_at = now(), store_unchecked_calls = ${Number(uncheckedCalls ?? 0)},
               store_away_since = case when ${away === true} then now() - ${sinceMs} * interval '1 millisecond' end
         where id = ${dataPlaneId ?? ''} and identity = ${caller}`;
      return {};
    }),
  };
}
