/**
 * Collects deferred usage of one call: lines of a batch's results or a background response, which another call may
 * fetch again. The ledger books each line once.
 *
 * Lines leave in groups while they stream, so a result of any length takes little memory. When a download is cut off,
 * the lines read so far are recorded.
 */
import type { ILine, ILineUsage } from '@acg/proto/messages';
import type { DeferredUsageReading } from '../metering/reading/response-usage-meter-interface.js';

/** Stores groups of lines. Each survives a kill of the process, like the records that are appended after it. */
export interface DeferredUsageSink {
  appendDeferredUsage(lines: ILineUsage): void;
}

/** The call that fetched the lines. */
type DeferredUsageCallFields = Omit<ILineUsage, 'sourceId' | 'lines' | 'seen'>;

const BATCH_LINES_MAX = 200;
/** Upper bound of a group's encoded lines, far below what the spool takes in one piece. */
const BATCH_BYTES_MAX = 48 * 1024;
const LINE_BYTES_MAX = 72;
const UNIT_BYTES_MAX = 3;

export class DeferredUsageCollector {
  readonly #fetch: DeferredUsageCallFields;
  readonly #sink: DeferredUsageSink;
  #finalLines: ILine[] = [];
  #partialLines: ILine[] = [];
  #bufferedBytes = 0;
  #sourceId = '';
  /** Model of the lines so far; `''` when they differ, null before the first line. */
  model: string | null = null;
  priceSource = 'none';

  constructor(fetch: DeferredUsageCallFields, sink: DeferredUsageSink) {
    this.#fetch = fetch;
    this.#sink = sink;
  }

  add(
    { sourceId, lineId, isPartial: partial, reading }: DeferredUsageReading,
    costNanos: number,
    priceSource: string,
  ): void {
    const model = reading.model ?? '';
    this.model = this.model === null || this.model === model ? model : '';
    if (this.priceSource !== 'fallback') this.priceSource = priceSource; // Keeps the least certain source.
    const bytes = LINE_BYTES_MAX + UNIT_BYTES_MAX * (lineId.length + model.length);
    if (
      this.#finalLines.length >= BATCH_LINES_MAX ||
      this.#bufferedBytes + bytes > BATCH_BYTES_MAX ||
      sourceId !== this.#sourceId
    )
      this.flush();
    this.#sourceId = sourceId;
    this.#bufferedBytes += bytes;
    (partial ? this.#partialLines : this.#finalLines).push({
      id: lineId,
      model,
      tokensInUncached: reading.tokensInUncached,
      tokensCacheRead: reading.tokensCacheRead,
      tokensCacheWrite: reading.tokensCacheWrite,
      tokensOut: reading.tokensOut,
      tokensReasoning: reading.tokensReasoning,
      costNanos,
    });
  }

  /** Stores the remaining lines; runs before the call's own record is appended. */
  flush(): void {
    if (this.#finalLines.length === 0 && this.#partialLines.length === 0) return;
    this.#sink.appendDeferredUsage({
      ...this.#fetch,
      sourceId: this.#sourceId,
      lines: this.#finalLines,
      seen: this.#partialLines,
    });
    this.#finalLines = [];
    this.#partialLines = [];
    this.#bufferedBytes = 0;
  }
}
