/** Where the shipper's batches go: the ReportUsage call of any control-plane instance. */
import { type GatewayClient, LinkError } from '@acg/proto/client';
import type { ShipOutcome, UsageSink } from './shipper.js';

/** Long enough for a commit behind a checkpoint; the batch stays in the spool meanwhile. */
const CALL_TIMEOUT_MS = 30_000;
/** gRPC INVALID_ARGUMENT: the same bytes will never be taken. */
const INVALID_ARGUMENT = 3;

export class GrpcUsageSink implements UsageSink {
  readonly #client: GatewayClient;

  constructor(client: GatewayClient) {
    this.#client = client;
  }

  async ship(body: Buffer): Promise<ShipOutcome> {
    try {
      const { rejected } = await this.#client.reportUsageBody(body, CALL_TIMEOUT_MS);
      return {
        kind: 'booked',
        rejected: (rejected ?? []).map(({ id, reason }) => ({ id: id ?? '', reason: reason ?? '' })),
      };
    } catch (error) {
      if (!(error instanceof LinkError) || error.code !== INVALID_ARGUMENT) throw error;
      return { kind: 'refused', reason: error.details };
    }
  }
}
