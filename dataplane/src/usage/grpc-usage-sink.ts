/** Sends usage batches to a control-plane instance with the ReportUsage call. */
import { type ControlPlaneClient, LinkError } from '@acg/proto/control-plane-client';
import type { IReportUsageResponse } from '@acg/proto/messages';
import type { ReportOutcome, UsageSink } from './usage-reporter.js';

/** Long enough for a database commit that waits for a checkpoint. Meanwhile the batch stays in the spool. */
const CALL_TIMEOUT_MS = 30_000;
/** gRPC INVALID_ARGUMENT: the control plane will never accept these bytes. */
const INVALID_ARGUMENT = 3;

export class GrpcUsageSink implements UsageSink {
  readonly #client: ControlPlaneClient;
  readonly #onCommitted: (response: IReportUsageResponse) => void;

  /** `onCommitted` receives the ledger's reply to each committed batch. */
  constructor(client: ControlPlaneClient, onCommitted: (response: IReportUsageResponse) => void) {
    this.#client = client;
    this.#onCommitted = onCommitted;
  }

  async report(body: Buffer): Promise<ReportOutcome> {
    try {
      const response = await this.#client.reportUsageBody(body, CALL_TIMEOUT_MS);
      this.#onCommitted(response);
      const { rejected, mark, wentBack: hasLedgerRolledBack } = response;
      return {
        kind: 'committed',
        rejected: (rejected ?? []).map(({ id, reason }) => ({ id: id ?? '', reason: reason ?? '' })),
        mark: mark == null || !mark.id ? null : { number: mark.number ?? 0, id: mark.id },
        hasLedgerRolledBack: hasLedgerRolledBack ?? false,
      };
    } catch (error) {
      if (!(error instanceof LinkError) || error.code !== INVALID_ARGUMENT) throw error;
      return { kind: 'rejected', reason: error.details };
    }
  }
}
