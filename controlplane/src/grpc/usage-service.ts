/** ReportUsage: answers after the ledger has committed. */
import type { Logger } from '@acg/base/log';
import type { GatewayHandlers } from '@acg/proto/service';
import { status } from '@grpc/grpc-js';
import { type Ingest, IngestBusy } from '../usage/ingest.js';

/** Records, counts and sightings of one call; a data plane sends far fewer. */
const ITEMS_MAX = 20_000;

export function reportUsageHandler(ingest: Ingest, log: Logger): GatewayHandlers['reportUsage'] {
  return ({ request }, answer) => {
    const items = [request.records, request.rejections, request.sightings].reduce(
      (sum, list) => sum + (list?.length ?? 0),
      0,
    );
    if (items > ITEMS_MAX) {
      answer({ code: status.INVALID_ARGUMENT, details: `more than ${ITEMS_MAX} items in one report` });
      return;
    }
    ingest.report(request).then(
      (response) => answer(null, response),
      (error: unknown) => {
        if (error instanceof IngestBusy) {
          answer({ code: status.RESOURCE_EXHAUSTED, details: error.message });
          return;
        }
        log.error({ err: error }, 'usage report not booked');
        answer({ code: status.UNAVAILABLE, details: 'the ledger is not available' });
      },
    );
  };
}
