/**
 * Books what data planes report (docs/contract.md#usage): everything of a report is committed before it is answered,
 * and booking it again changes nothing. Reports that arrive while others are being booked share the next transaction,
 * so many small reports cost as little as one large one.
 *
 * Rollups, spend and observers see only records that were new. A record that makes no sense is set aside by itself
 * and answered in `rejected`; one that only the database finds fault with, or a line or count, is found by halving the
 * batch, so that it takes nothing of other organizations along.
 */
import type { Logger } from '@acg/base/log';
import type { IReportUsageResponse } from '@acg/proto/messages';
import postgres from 'postgres';
import type { Sql, Tx } from '../db/sql.js';
import { insertCommitMark, type LedgerMark, selectLostCommitMarks } from './commit-marks.js';
import {
  addDeferredSumsToEntries,
  claimDeferredUsage,
  type DeferredUsageSum,
  moveDeferredSumsToRecords,
  storeDeferredSums,
} from './deferred-usage.js';
import { LatencySketch, SKETCH_COMPACTION_BYTES } from './latency-sketch.js';
import type { InsertMode } from './ledger-store.js';
import * as ledger from './ledger-store.js';
import {
  type AgentMonthSpend,
  addAgentMonthSpend,
  addProjectAndOrgMonthSpend,
  type ScopeMonthSpend,
  selectAgentMonthSpend,
  selectProjectAndOrgMonthSpend,
} from './month-spend-store.js';
import {
  addHourlyRejections,
  claimNewCountIds,
  insertQuarantinedRecords,
  type QuarantinedRecord,
  type RejectionEntry,
} from './rejection-and-quarantine-store.js';
import { type AgentMonth, aggregateUsage, monthsWithSpend } from './usage-aggregation.js';
import {
  decodeUsageBatch,
  type IpObservation,
  quarantineEntry,
  type UsageBatch,
  type UsageBatchItems,
} from './usage-batch.js';
import type { UsagePartitions } from './usage-day-partitions.js';
import type { UsageEntry } from './usage-entry.js';

/** An agent's month before and after a batch. */
export interface SpendChange {
  readonly agentId: string;
  readonly orgId: string;
  /** `YYYY-MM` (UTC) */
  readonly month: string;
  readonly beforeNanos: number;
  readonly afterNanos: number;
}

/** What a transaction added to the ledger; nothing of it was there before. */
export interface BookedUsage {
  readonly entries: readonly UsageEntry[];
  readonly spendChanges: readonly SpendChange[];
  readonly rejections: readonly RejectionEntry[];
  readonly ipObservations: readonly IpObservation[];
}

/** Draws conclusions in the transaction that books: budget events, circuit outcomes, abuse. */
export interface UsageObserver {
  /** Takes its row locks in a fixed order. A failure undoes the booking, and the data plane sends it again. */
  onBooked(tx: Tx, booked: BookedUsage): Promise<void>;
}

/** Hears of records that were booked for the first time, after the commit, lines of batches included. Must neither throw nor take long. */
type CommitListener = (entries: readonly UsageEntry[]) => void;

/** More reports wait than the ledger can book: the data plane keeps its records and comes again. */
export class IngestOverloaded extends Error {
  constructor() {
    super('too many usage reports are waiting');
    this.name = 'IngestBusy';
  }
}

export interface IngestMetrics {
  recordBatch(records: number, duplicates: number, setAside: number, seconds: number, oldestEndMs: number): void;
  /** A data plane named a commit that the database has lost. */
  recordLostCommit(): void;
}

interface PendingReport {
  readonly batch: UsageBatch;
  resolve(response: IReportUsageResponse): void;
  reject(error: unknown): void;
}

interface BookingResult {
  /** Why the database refused records, by id. */
  readonly rejectReasons: ReadonlyMap<string, string>;
  readonly totals: ReadonlyMap<string, AgentMonthSpend>;
  /** Of all reports together. */
  readonly scopeTotals: readonly ScopeMonthSpend[];
  /** Of the last commit; null: there was nothing to book. */
  readonly mark: LedgerMark | null;
  /** Ids of the marks that reports named and the database has lost. */
  readonly lostMarks: ReadonlySet<string>;
}

/** One transaction, committed. */
interface CommittedBatch {
  /** Records that were new. */
  readonly entries: readonly UsageEntry[];
  /** What lines added to some of them, by id. */
  readonly deferredSums: ReadonlyMap<string, DeferredUsageSum>;
  readonly mark: LedgerMark;
}

const agentMonthKey = ({ agentId, month }: AgentMonth): string => `${agentId} ${month}`;

const CONCURRENT_TRANSACTIONS_MAX = 2;
const RECORDS_PER_TRANSACTION = 4_096;
const WAITING_REPORTS_MAX = 256;

export class UsageIngest {
  readonly #sql: Sql;
  readonly #partitions: UsagePartitions;
  readonly #observers: readonly UsageObserver[];
  readonly #metrics: IngestMetrics;
  readonly #log: Logger;
  readonly #waiting: PendingReport[] = [];
  #running = 0;
  onCommitted: CommitListener | null = null;

  constructor(
    sql: Sql,
    partitions: UsagePartitions,
    observers: readonly UsageObserver[],
    metrics: IngestMetrics,
    log: Logger,
  ) {
    this.#sql = sql;
    this.#partitions = partitions;
    this.#observers = observers;
    this.#metrics = metrics;
    this.#log = log;
  }

  /**
   * `body`: a `ReportUsageRequest`. Resolves after the commit. Rejects with `UnusableShipment`, which is final, or with
   * {@link IngestOverloaded} or what the database says; then send it again.
   */
  async ingestReport(body: Buffer): Promise<IReportUsageResponse> {
    if (this.#waiting.length >= WAITING_REPORTS_MAX) throw new IngestOverloaded();
    const report = decodeUsageBatch(body, this.#partitions.bookableRange(Date.now()));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch: report, resolve, reject });
      this.#startTransactions();
    });
  }

  #startTransactions(): void {
    while (this.#running < CONCURRENT_TRANSACTIONS_MAX && this.#waiting.length > 0) {
      let records = 0;
      let taken = 0;
      while (taken < this.#waiting.length && (taken === 0 || records < RECORDS_PER_TRANSACTION)) {
        records += this.#waiting[taken++]!.batch.entries.length;
      }
      this.#running++;
      void this.#bookAndRespond(this.#waiting.splice(0, taken));
    }
  }

  async #bookAndRespond(reports: readonly PendingReport[]): Promise<void> {
    try {
      const {
        rejectReasons: refused,
        totals,
        scopeTotals: scopes,
        mark,
        lostMarks,
      } = await this.#bookBatches(reports.map(({ batch: report }) => report));
      for (const { batch: report, resolve } of reports) {
        const spend = monthsWithSpend(report.entries, report.deferredUsage).flatMap(
          (month) => totals.get(agentMonthKey(month)) ?? [],
        );
        const wentBack = report.lastMark !== null && lostMarks.has(report.lastMark.id);
        if (wentBack) this.#metrics.recordLostCommit();
        resolve({ rejected: rejectedRecords(report, refused), spend, scopes: [...scopes], mark, wentBack });
      }
    } catch (error) {
      for (const { reject } of reports) reject(error);
    } finally {
      this.#running--;
      this.#startTransactions();
    }
  }

  async #bookBatches(reports: readonly UsageBatch[]): Promise<BookingResult> {
    const startMs = performance.now();
    const batch = mergeBatches(reports);
    const refused: QuarantinedRecord[] = [];
    await this.#partitions.ensureFor(batch.entries);
    const commits = await this.#bookOrSplit(batch, refused);
    const poison = [...reports.flatMap((report) => report.quarantined), ...refused];
    let mark = commits.at(-1)?.mark ?? null;
    if (poison.length > 0) {
      await insertQuarantinedRecords(this.#sql, poison);
      mark = await insertCommitMark(this.#sql); // after the commit that it names, so that it is there only if that is
      this.#log.error({ count: poison.length, first: poison[0]!.reason }, 'usage records set aside');
    }
    const fresh = commits.reduce((sum, { entries }) => sum + entries.length, 0);
    let oldestMs = Date.now();
    for (const entry of batch.entries) oldestMs = Math.min(oldestMs, entry.startedAtMs + entry.durationMs);
    const seconds = (performance.now() - startMs) / 1_000;
    this.#metrics.recordBatch(fresh, batch.entries.length - fresh, poison.length, seconds, oldestMs);
    // Also of what was booked before: the answer to the first attempt may have been lost.
    const paid = monthsWithSpend(batch.entries, batch.deferredUsage);
    // After the commit: a failover before it would show the marks of a database that it was not booked in.
    const [totals, scopes, lostMarks] = await Promise.all([
      selectAgentMonthSpend(this.#sql, paid),
      selectProjectAndOrgMonthSpend(this.#sql, paid),
      selectLostCommitMarks(
        this.#sql,
        reports.flatMap(({ lastMark }) => lastMark ?? []),
      ),
    ]);
    if (lostMarks.size > 0)
      this.#log.error('the database has lost booked usage: data planes send what they still have of it again');
    return {
      rejectReasons: new Map(refused.map(({ reportedId: sentId, reason }) => [sentId, reason])),
      totals: new Map(totals.map((total) => [agentMonthKey(total), total])),
      scopeTotals: scopes,
      mark,
      lostMarks,
    };
  }

  /** One commit as a rule, none where there is nothing to book. Adds what the database refuses to `poison`. */
  async #bookOrSplit(
    batch: UsageBatchItems,
    poison: QuarantinedRecord[],
    newness: InsertMode = 'all_new',
  ): Promise<readonly CommittedBatch[]> {
    const { entries, rejections, ipObservations: sightings, deferredUsage: lines } = batch;
    if (entries.length + rejections.length + sightings.length + lines.length === 0) return [];
    try {
      const commit = await this.#sql.begin((tx) => this.#bookInTransaction(tx, batch, newness));
      addDeferredSumsToEntries(commit.entries, commit.deferredSums);
      this.onCommitted?.(commit.entries);
      return [commit];
    } catch (error) {
      if (isDuplicateKeyError(error) && newness === 'all_new') return this.#bookOrSplit(batch, poison, 'some_new');
      if (isMissingPartitionError(error)) this.#partitions.clearKnownPartitions(); // the next attempt makes it
      if (!isDataError(error)) throw error;
      const halves = splitBatch(batch);
      if (halves !== null) {
        const [first, rest] = halves;
        return [...(await this.#bookOrSplit(first, poison)), ...(await this.#bookOrSplit(rest, poison))];
      }
      this.#log.error({ err: error }, 'the ledger refuses a usage record');
      for (const entry of entries) poison.push(quarantineEntry(entry, error.message));
      return [];
    }
  }

  async #bookInTransaction(tx: Tx, batch: UsageBatchItems, newness: InsertMode): Promise<CommittedBatch> {
    const lines = await claimDeferredUsage(tx, batch.deferredUsage);
    await storeDeferredSums(tx, lines);
    const entries = await ledger.insertUsageRecords(tx, batch.entries, newness);
    const lineSums = await moveDeferredSumsToRecords(tx, entries);
    const { hourlyRollups: hourly, monthSums: months, lastUsedMsByKey: lastUsed } = aggregateUsage(entries, lines);
    await ledger.updateKeysLastUsed(tx, lastUsed);
    const counts = await claimNewCountIds(
      tx,
      [...batch.rejections, ...batch.ipObservations].map(({ id }) => id),
    );
    const rejections = batch.rejections.filter(({ id }) => counts.has(id));
    await addHourlyRejections(tx, rejections);
    // One behind the other on the connection, in this order, without a wait in between: their rows are locked.
    const [grown, , totals, , mark] = await Promise.all([
      ledger.addHourlyRollups(tx, hourly, SKETCH_COMPACTION_BYTES),
      ledger.insertLatePeriods(tx, hourly, Date.now()),
      addAgentMonthSpend(tx, months),
      addProjectAndOrgMonthSpend(tx, months),
      insertCommitMark(tx),
    ]);
    await ledger.storeCompactedSketches(
      tx,
      grown.map((row) => ({ ...row, sketch: LatencySketch.decode(row.sketch).encode() })),
    );
    const sums = new Map(months.map((sum) => [agentMonthKey(sum), sum]));
    const spend = totals.map(({ agentId, month, spentNanos }): SpendChange => {
      const added = sums.get(agentMonthKey({ agentId, month }))!;
      return { agentId, month, orgId: added.orgId, beforeNanos: spentNanos - added.costNanos, afterNanos: spentNanos };
    });
    const sightings = batch.ipObservations.filter(({ id }) => counts.has(id));
    await this.#notifyObservers(tx, { entries, spendChanges: spend, rejections, ipObservations: sightings });
    return { entries, deferredSums: lineSums, mark };
  }

  async #notifyObservers(tx: Tx, booked: BookedUsage): Promise<void> {
    for (const observer of this.#observers) {
      // An observer's own trouble with the database must not look like a bad record.
      await observer.onBooked(tx, booked).catch((cause: unknown) => {
        throw new Error('a usage observer failed', { cause });
      });
    }
  }
}

/**
 * By the number of all items together. Null: there is only one. Lines first: a call takes what its lines came to when it is
 * booked, so they are booked with it or before.
 */
function splitBatch({
  entries,
  rejections,
  ipObservations: sightings,
  deferredUsage: lines,
}: UsageBatchItems): readonly [UsageBatchItems, UsageBatchItems] | null {
  const size = entries.length + rejections.length + sightings.length + lines.length;
  if (size <= 1) return null;
  let left = size >> 1;
  const cut = <T>(items: readonly T[]): readonly [readonly T[], readonly T[]] => {
    const at = Math.min(left, items.length);
    left -= at;
    return [items.slice(0, at), items.slice(at)];
  };
  const [l, e, r, s] = [cut(lines), cut(entries), cut(rejections), cut(sightings)];
  return [
    { entries: e[0], rejections: r[0], ipObservations: s[0], deferredUsage: l[0] },
    { entries: e[1], rejections: r[1], ipObservations: s[1], deferredUsage: l[1] },
  ];
}

/** Another control plane, with a shorter retention, has dropped the day. Reported as a check without a name. */
const isMissingPartitionError = (error: unknown): error is postgres.PostgresError =>
  error instanceof postgres.PostgresError && error.code === '23514' && error.constraint_name === undefined;

/** A record of the batch is in the ledger, twice in the batch, or was booked by somebody else meanwhile. */
const isDuplicateKeyError = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code === '23505';

/** Classes 22 (data exception) and 23 (integrity constraint): the data is at fault, not the moment. */
const isDataError = (error: unknown): error is postgres.PostgresError =>
  error instanceof postgres.PostgresError && /^2[23]/.test(error.code) && !isMissingPartitionError(error);

/** Counts and sightings once each, whatever the reports repeat; of records and lines the ledger sees to that. */
function mergeBatches(reports: readonly UsageBatch[]): UsageBatchItems {
  const all = <T>(of: (report: UsageBatch) => readonly T[]): readonly T[] =>
    reports.length === 1 ? of(reports[0]!) : reports.flatMap(of);
  return {
    entries: all(({ entries }) => entries),
    deferredUsage: all(({ deferredUsage: lines }) => lines),
    rejections: uniqueById(all(({ rejections }) => rejections)),
    ipObservations: uniqueById(all(({ ipObservations: sightings }) => sightings)),
  };
}

const uniqueById = <T extends { readonly id: string }>(items: readonly T[]): readonly T[] =>
  items.length < 2 ? items : [...new Map(items.map((item) => [item.id, item])).values()];

function rejectedRecords({ quarantined: poison, entries }: UsageBatch, refused: ReadonlyMap<string, string>) {
  const rejected = poison.map(({ reportedId: sentId, reason }) => ({ id: sentId, reason }));
  if (refused.size === 0) return rejected;
  const byDatabase = entries.flatMap(({ id }) => {
    const reason = refused.get(id);
    return reason === undefined ? [] : [{ id, reason }];
  });
  return [...rejected, ...byDatabase];
}
