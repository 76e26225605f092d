/**
 * A usage record in the ledger: what a data plane sent, validated field by field (usage-record-columns.ts).
 *
 * Many records of a batch share their dimensions: whose call it was and how it ended. These share one {@link
 * UsageDimensions} object that is validated once, which keeps a batch that waits for its commit cheap for the garbage
 * collector.
 */
import { UsageRecordDimensions, UsageRecordMeasures } from '@acg/proto/generated/usage-record';
import { InvalidUsageRecord } from './usage-field-validation.js';
import { DIMENSION_COLUMNS, MEASURE_COLUMNS, type UsageRecordColumn } from './usage-record-columns.js';

/** Dimensions that many records share. Immutable after validation. */
export class UsageDimensions extends UsageRecordDimensions {
  dataPlaneId = '';

  /** Returns a validated copy. Throws {@link InvalidUsageRecord}. */
  static createValidated(sent: UsageRecordDimensions, dataPlaneId: string): UsageDimensions {
    const dimensions = new UsageDimensions();
    sent.copyTo(dimensions);
    dimensions.dataPlaneId = dataPlaneId;
    validateColumns(DIMENSION_COLUMNS, dimensions);
    return dimensions;
  }
}

/** One usage record. It can be booked after {@link setDimensionsAndValidate} has passed. */
export class UsageEntry extends UsageRecordMeasures {
  dimensions!: UsageDimensions;

  /** Throws {@link InvalidUsageRecord}. */
  setDimensionsAndValidate(dimensions: UsageDimensions, bookableRange: BookableRange): void {
    this.dimensions = dimensions;
    assertBookableTime(this.startedAtMs, bookableRange);
    for (let i = 0; i < MEASURE_VALIDATORS.length; i++) MEASURE_VALIDATORS[i]!(this);
  }

  get agentId(): string {
    return this.dimensions.agentId;
  }
  get orgId(): string {
    return this.dimensions.orgId;
  }
  get upstreamStatus(): number {
    return this.dimensions.status;
  }
  get circuitKey(): string {
    return this.dimensions.circuitKey;
  }
  get circuitEpoch(): number {
    return this.dimensions.circuitEpoch;
  }
  get circuitOutcome(): number {
    return this.dimensions.circuitOutcome;
  }
}

/**
 * Times for which the ledger has or creates partitions, Unix ms: from the oldest retained day to the end of tomorrow
 * (`toMs` exclusive).
 */
export interface BookableRange {
  readonly fromMs: number;
  readonly toMs: number;
}

const MEASURE_VALIDATORS = MEASURE_COLUMNS.flatMap(({ validate: check }) => (check === undefined ? [] : [check]));

function validateColumns<Part>(columns: readonly UsageRecordColumn<Part>[], part: Part): void {
  for (const { validate: check } of columns) check?.(part);
}

/** A call failed if its status is 400 or above or the transport failed. An abort by the client is not a failure. */
export const isFailedCall = (dimensions: UsageDimensions): boolean =>
  dimensions.responseStatus >= 400 || (dimensions.error !== '' && dimensions.error !== 'client_aborted');

function assertBookableTime(ms: number, { fromMs, toMs }: BookableRange): void {
  if (!(ms <= Number.MAX_SAFE_INTEGER)) throw new InvalidUsageRecord('started_at_ms is out of range');
  if (ms < fromMs) throw new InvalidUsageRecord('started_at_ms is older than the retention of logs');
  if (ms >= toMs) throw new InvalidUsageRecord('started_at_ms lies in the future: check the clock of the data plane');
}
