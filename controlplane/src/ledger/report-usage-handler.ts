/** ReportUsage: answers after the ledger has committed. */
import type { Logger } from '@acg/base/log';
import type { GatewayHandlers } from '@acg/proto/service';
import { status } from '@grpc/grpc-js';
import { GrpcFault, unary } from '../grpc/handler.js';
import { type Ingest, IngestBusy } from './ingest.js';
import { UnusableShipment } from './shipment.js';

/** INVALID_ARGUMENT tells the data plane that these bytes will never be taken; anything else, to come again. */
export function reportUsageHandler(ingest: Ingest, log: Logger): GatewayHandlers['reportUsage'] {
  return unary(log, 'ReportUsage', async (body) => {
    try {
      return await ingest.report(body);
    } catch (error) {
      if (error instanceof UnusableShipment) throw new GrpcFault(status.INVALID_ARGUMENT, error.message);
      if (error instanceof IngestBusy) throw new GrpcFault(status.RESOURCE_EXHAUSTED, error.message);
      throw error;
    }
  });
}
