/** The ReportUsage RPC: responds after the ledger has committed. */
import type { Logger } from '@acg/base/log';
import type { GatewayHandlers } from '@acg/proto/gateway-service';
import { status } from '@grpc/grpc-js';
import type { LinkCaller } from '../grpc/link-caller.js';
import { GrpcError, unaryHandler } from '../grpc/unary-handler-and-grpc-errors.js';
import { InvalidUsageBatch } from './decode-usage-batch.js';
import type { FindUngrantedOrganizations } from './quarantine-ungranted-usage.js';
import { IngestOverloaded, type UsageIngest } from './usage-ingest.js';

/**
 * `ungrantedFor` says for which organizations a caller must not book; null: it may for all.
 *
 * INVALID_ARGUMENT means that these bytes can never be booked. After any other error the data plane sends them again.
 */
export function createReportUsageHandler(
  ingest: UsageIngest,
  ungrantedFor: (caller: LinkCaller) => FindUngrantedOrganizations | null,
  log: Logger,
): GatewayHandlers['reportUsage'] {
  return unaryHandler(log, 'ReportUsage', async (body, caller) => {
    try {
      return await ingest.ingestReport(body, ungrantedFor(caller));
    } catch (error) {
      if (error instanceof InvalidUsageBatch) throw new GrpcError(status.INVALID_ARGUMENT, error.message);
      if (error instanceof IngestOverloaded) throw new GrpcError(status.RESOURCE_EXHAUSTED, error.message);
      throw error;
    }
  });
}
