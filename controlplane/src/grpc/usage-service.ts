/** ReportUsage: answers after the ledger has committed. */
import type { Logger } from '@acg/base/log';
import type { IReportUsageRequest } from '@acg/proto/messages';
import type { GatewayHandlers } from '@acg/proto/service';
import { status } from '@grpc/grpc-js';
import { type Ingest, IngestBusy } from '../usage/ingest.js';
import { GrpcFault, unary } from './handler.js';

/** Records, counts and sightings of one call; a data plane sends far fewer. */
const ITEMS_MAX = 20_000;

/** INVALID_ARGUMENT tells the data plane that these bytes will never be taken; anything else, to come again. */
export function reportUsageHandler(ingest: Ingest, log: Logger): GatewayHandlers['reportUsage'] {
  return unary(log, 'ReportUsage', async (request) => {
    if (itemsOf(request) > ITEMS_MAX) {
      throw new GrpcFault(status.INVALID_ARGUMENT, `more than ${ITEMS_MAX} items in one report`);
    }
    try {
      return await ingest.report(request);
    } catch (error) {
      if (error instanceof IngestBusy) throw new GrpcFault(status.RESOURCE_EXHAUSTED, error.message);
      throw error;
    }
  });
}

const itemsOf = ({ records, rejections, sightings }: IReportUsageRequest): number =>
  (records?.length ?? 0) + (rejections?.length ?? 0) + (sightings?.length ?? 0);
