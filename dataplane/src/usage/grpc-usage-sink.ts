/** Where the shipper's batches go: the ReportUsage call of any control-plane instance. */
import { type ControlPlaneClient, LinkError } from '@acg/proto/control-plane-client';
import type { IReportUsageResponse } from '@acg/proto/messages';
import type { ReportOutcome, UsageSink } from './usage-reporter.js';

/** Long enough for a commit behind a checkpoint; the batch stays in the spool meanwhile. */
const CALL_TIMEOUT_MS = 30_000;
/** gRPC INVALID_ARGUMENT: the same bytes will never be taken. */
const INVALID_ARGUMENT = 3;

export class GrpcUsageSink implements UsageSink {
  readonly #client: ControlPlaneClient;
  readonly #onCommitted: (response: IReportUsageResponse) => void;

  /** `onBooked` hears what the ledger has to say of each batch. */
  constructor(client: ControlPlaneClient, onBooked: (response: IReportUsageResponse) => void) {
    this.#client = client;
    this.#onCommitted = onBooked;
  }

  async report(body: Buffer): Promise<ReportOutcome> {
    try {
      const response = await this.#client.reportUsageBody(body, CALL_TIMEOUT_MS);
      this.#onCommitted(response);
      const { rejected, mark, wentBack } = response;
      return {
        kind: 'booked',
        rejected: (rejected ?? []).map(({ id, reason }) => ({ id: id ?? '', reason: reason ?? '' })),
        mark: mark == null || !mark.id ? null : { number: mark.number ?? 0, id: mark.id },
        hasLedgerRolledBack: wentBack ?? false,
      };
    } catch (error) {
      if (!(error instanceof LinkError) || error.code !== INVALID_ARGUMENT) throw error;
      return { kind: 'refused', reason: error.details };
    }
  }
}
