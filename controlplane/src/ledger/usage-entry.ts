/**
 * A usage record as the ledger takes it: what a data plane sent, checked field by field (`columns.ts`).
 *
 * Many records of a batch share whose call it was and how it went. That part is a {@link UsageDimensions}: checked once, and
 * one object for all of them, so that a batch that waits for its commit is small for the garbage collector.
 */
import { UsageRecordFigures, UsageRecordKind } from '@acg/proto/generated/usage-record';
import { InvalidUsageRecord } from './usage-field-validation.js';
import { DIMENSION_COLUMNS, MEASURE_COLUMNS, type UsageRecordColumn } from './usage-record-columns.js';

/** What records share; once checked it does not change. */
export class UsageDimensions extends UsageRecordKind {
  dataPlaneId = '';

  /** A checked copy of what was sent. Throws {@link InvalidUsageRecord}. */
  static createValidated(sent: UsageRecordKind, dataPlaneId: string): UsageDimensions {
    const kind = new UsageDimensions();
    sent.copyTo(kind);
    kind.dataPlaneId = dataPlaneId;
    validateColumns(DIMENSION_COLUMNS, kind);
    return kind;
  }
}

/** A record; it can be booked once {@link validate} has passed. */
export class UsageEntry extends UsageRecordFigures {
  dimensions!: UsageDimensions;

  /** Throws {@link InvalidUsageRecord}. */
  validate(kind: UsageDimensions, span: BookableRange): void {
    this.dimensions = kind;
    assertBookableTime(this.startedAtMs, span);
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

/** Days that the ledger has or makes partitions for: [oldest kept day, tomorrow]. */
export interface BookableRange {
  readonly fromMs: number;
  readonly toMs: number;
}

const MEASURE_VALIDATORS = MEASURE_COLUMNS.flatMap(({ validate: check }) => (check === undefined ? [] : [check]));

function validateColumns<Part>(columns: readonly UsageRecordColumn<Part>[], part: Part): void {
  for (const { validate: check } of columns) check?.(part);
}

/** An error is an answer of 400 or above, or a transport failure; a client that leaves on purpose is none. */
export const isFailedCall = (kind: UsageDimensions): boolean =>
  kind.responseStatus >= 400 || (kind.error !== '' && kind.error !== 'client_aborted');

function assertBookableTime(ms: number, { fromMs, toMs }: BookableRange): void {
  if (!(ms <= Number.MAX_SAFE_INTEGER)) throw new InvalidUsageRecord('started_at_ms is out of range');
  if (ms < fromMs) throw new InvalidUsageRecord('started_at_ms is older than the retention of logs');
  if (ms >= toMs) throw new InvalidUsageRecord('started_at_ms lies in the future: check the clock of the data plane');
}
