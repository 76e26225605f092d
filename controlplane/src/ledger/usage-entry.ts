/**
 * A usage record as the ledger takes it: what a data plane sent, checked field by field (`columns.ts`).
 *
 * Many records of a batch share whose call it was and how it went. That part is a {@link UsageKind}: checked once, and
 * one object for all of them, so that a batch that waits for its commit is small for the garbage collector.
 */
import { UsageRecordFigures, UsageRecordKind } from '@acg/proto/generated/usage-record';
import { Poison } from './checks.js';
import { type Column, FIGURES, KINDS } from './columns.js';

/** What records share; once checked it does not change. */
export class UsageKind extends UsageRecordKind {
  dataPlaneId = '';

  /** A checked copy of what was sent. Throws {@link Poison}. */
  static of(sent: UsageRecordKind, dataPlaneId: string): UsageKind {
    const kind = new UsageKind();
    sent.copyTo(kind);
    kind.dataPlaneId = dataPlaneId;
    runChecks(KINDS, kind);
    return kind;
  }
}

/** A record; it can be booked once {@link check} has passed. */
export class UsageEntry extends UsageRecordFigures {
  kind!: UsageKind;

  /** Throws {@link Poison}. */
  check(kind: UsageKind, span: LedgerSpan): void {
    this.kind = kind;
    checkInstant(this.startedAtMs, span);
    for (let i = 0; i < FIGURE_CHECKS.length; i++) FIGURE_CHECKS[i]!(this);
  }

  get agentId(): string {
    return this.kind.agentId;
  }
  get orgId(): string {
    return this.kind.orgId;
  }
  get upstreamStatus(): number {
    return this.kind.status;
  }
  get circuitKey(): string {
    return this.kind.circuitKey;
  }
  get circuitEpoch(): number {
    return this.kind.circuitEpoch;
  }
  get circuitOutcome(): number {
    return this.kind.circuitOutcome;
  }
}

/** Days that the ledger has or makes partitions for: [oldest kept day, tomorrow]. */
export interface LedgerSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

const FIGURE_CHECKS = FIGURES.flatMap(({ check }) => (check === undefined ? [] : [check]));

function runChecks<Part>(columns: readonly Column<Part>[], part: Part): void {
  for (const { check } of columns) check?.(part);
}

/** An error is an answer of 400 or above, or a transport failure; a client that leaves on purpose is none. */
export const isError = (kind: UsageKind): boolean =>
  kind.responseStatus >= 400 || (kind.error !== '' && kind.error !== 'client_aborted');

function checkInstant(ms: number, { fromMs, toMs }: LedgerSpan): void {
  if (!(ms <= Number.MAX_SAFE_INTEGER)) throw new Poison('started_at_ms is out of range');
  if (ms < fromMs) throw new Poison('started_at_ms is older than the retention of logs');
  if (ms >= toMs) throw new Poison('started_at_ms lies in the future: check the clock of the data plane');
}
