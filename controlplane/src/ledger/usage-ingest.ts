/**
 * Books what data planes report (docs/contract.md#usage). A report is committed before it is answered, and booking it
 * again changes nothing. Reports that arrive while others are being booked share the next transaction, so many small
 * reports cost as little as one large one.
 *
 * Rollups, spend and observers see only new records. Each invalid record is quarantined and listed in `rejected`. If
 * the database rejects a batch, halving it finds the faulty item, so that no other organization's usage is lost.
 */
import { windowInCell } from '@acg/base/cells';
import { invariant } from '@acg/base/invariant-failures';
import type { Logger } from '@acg/base/log';
import type { IBudgetSpend, IReportUsageResponse } from '@acg/proto/messages';
import type { Sql, Tx } from '../db/postgres-client.js';
import { isDataError, isDuplicateKeyError, isMissingPartitionError } from './booking-errors.js';
import { type BudgetPeriod, budgetPeriodsOf, sumByBudgetRow } from './budget-row-sums.js';
import { addBudgetSpend, selectBudgetSpend, selectRowsOfDeferredUsage } from './budget-spend-store.js';
import { addCellSpend, cellPeriodsOf, selectCellSpend, sumByCell } from './cell-spend.js';
import type { UsagePartitions } from './create-usage-day-partitions.js';
import {
  decodeUsageBatch,
  type IpObservation,
  quarantineEntry,
  type UsageBatch,
  type UsageBatchItems,
} from './decode-usage-batch.js';
import {
  addDeferredSumsToEntries,
  claimDeferredUsage,
  type DeferredUsageSum,
  moveDeferredSumsToRecords,
  storeDeferredSumsByRecordId,
} from './deferred-usage-deduplication.js';
import { LatencySketch, SKETCH_COMPACTION_BYTES } from './latency-sketch.js';
import { insertCommitMark, type LedgerMark, selectLostCommitMarks } from './lost-commit-detection.js';
import { mergeBatches, splitBatch } from './merge-and-split-batches.js';
import {
  type AgentMonthSpend,
  addAgentMonthSpend,
  addProjectAndOrgMonthSpend,
  type ScopeMonthSpend,
  selectAgentMonthSpend,
  selectBudgetedProjectAndOrgSpend,
} from './month-spend-store.js';
import { addOpenTagDays } from './open-tag-days.js';
import { type FindUngrantedOrganizations, quarantineUngrantedUsage } from './quarantine-ungranted-usage.js';
import {
  addHourlyRejections,
  claimNewCountIds,
  insertQuarantinedRecords,
  insertRejectedCalls,
  type QuarantinedRecord,
  type RejectionEntry,
} from './rejection-and-quarantine-store.js';
import { addTagRollups, boundTagValues, sumByTag } from './tag-rollups.js';
import { type AgentMonth, aggregateUsage, monthsWithSpend } from './usage-aggregation.js';
import type { InsertMode } from './usage-record-and-rollup-store.js';
import * as ledger from './usage-record-and-rollup-store.js';
import type { UsageEntry } from './usage-record-with-shared-dimensions.js';

/** Spend of an agent in one month before and after a batch. */
export interface SpendChange {
  readonly agentId: string;
  readonly orgId: string;
  /** `YYYY-MM` (UTC) */
  readonly month: string;
  readonly beforeNanos: number;
  readonly afterNanos: number;
}

/** What one transaction added to the ledger; none of it was booked before. */
export interface BookedUsage {
  readonly entries: readonly UsageEntry[];
  readonly spendChanges: readonly SpendChange[];
  /** Budget rows whose spend grew. */
  readonly budgetPeriods: readonly BudgetPeriod[];
  readonly rejections: readonly RejectionEntry[];
  readonly ipObservations: readonly IpObservation[];
}

/** Reacts within the transaction that books: budget alerts, breaker outcomes, abuse detection. */
export interface UsageObserver {
  /** Must lock rows in a fixed order. An error rolls the booking back, and the data plane sends it again. */
  onBooked(tx: Tx, booked: BookedUsage): Promise<void>;
}

/**
 * Called after the commit with the new records, including the deferred usage that was added to them. Must neither throw
 * nor take long.
 */
type CommitListener = (entries: readonly UsageEntry[]) => void;

/** More reports wait than the ledger can book. The data plane keeps its records and retries. */
export class IngestOverloaded extends Error {
  constructor() {
    super('too many usage reports are waiting to be booked; retry later');
    this.name = 'IngestOverloaded';
  }
}

export interface IngestMetrics {
  recordBatch(records: number, duplicates: number, setAside: number, seconds: number, oldestEndMs: number): void;
  /** A data plane sent the mark of a commit that the database has lost. */
  recordLostCommit(): void;
}

interface PendingReport {
  readonly batch: UsageBatch;
  resolve(response: IReportUsageResponse): void;
  reject(error: unknown): void;
}

interface BookingResult {
  /** Why the database rejected records, by record id. */
  readonly rejectReasons: ReadonlyMap<string, string>;
  readonly totals: ReadonlyMap<string, AgentMonthSpend>;
  /** For all reports together. */
  readonly scopeTotals: readonly ScopeMonthSpend[];
  /** Of the budget rows that counted usage of these reports. */
  readonly budgets: readonly IBudgetSpend[];
  /** Mark of the last commit; null: there was nothing to book. */
  readonly mark: LedgerMark | null;
  /** Ids of the marks that reports contained and the database has lost. */
  readonly lostMarks: ReadonlySet<string>;
}

/** One committed transaction. */
interface CommittedBatch {
  /** The new records. */
  readonly entries: readonly UsageEntry[];
  /** Deferred usage that was added to some of them, by record id. */
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
   * `body`: an encoded `ReportUsageRequest`. Resolves after the commit. Rejects with {@link InvalidUsageBatch}, which
   * is final. After {@link IngestOverloaded} or a database error the caller retries. `findUngranted` null: the sender
   * may book for every organization.
   */
  async ingestReport(
    body: Buffer,
    findUngranted: FindUngrantedOrganizations | null = null,
  ): Promise<IReportUsageResponse> {
    if (this.#waiting.length >= WAITING_REPORTS_MAX) throw new IngestOverloaded();
    const decoded = decodeUsageBatch(body, this.#partitions.bookableRange(Date.now()));
    const batch = findUngranted === null ? decoded : await quarantineUngrantedUsage(decoded, findUngranted);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject });
      this.#startTransactions();
    });
  }

  #startTransactions(): void {
    while (this.#running < CONCURRENT_TRANSACTIONS_MAX && this.#waiting.length > 0) {
      let records = 0;
      let reportCount = 0;
      while (reportCount < this.#waiting.length && (reportCount === 0 || records < RECORDS_PER_TRANSACTION)) {
        records += this.#waiting[reportCount++]!.batch.entries.length;
      }
      this.#running++;
      void this.#bookAndRespond(this.#waiting.splice(0, reportCount));
    }
  }

  async #bookAndRespond(reports: readonly PendingReport[]): Promise<void> {
    try {
      const { rejectReasons, totals, scopeTotals, budgets, mark, lostMarks } = await this.#bookBatches(
        reports.map(({ batch }) => batch),
      );
      for (const { batch, resolve } of reports) {
        const spend = monthsWithSpend(batch.entries, batch.deferredUsage).flatMap(
          (month) => totals.get(agentMonthKey(month)) ?? [],
        );
        const wentBack = batch.lastMark !== null && lostMarks.has(batch.lastMark.id);
        if (wentBack) this.#metrics.recordLostCommit();
        resolve({
          rejected: rejectedRecords(batch, rejectReasons),
          spend,
          scopes: [...scopeTotals],
          budgets: [...budgets],
          mark,
          wentBack,
        });
      }
    } catch (error) {
      for (const { reject } of reports) reject(error);
    } finally {
      this.#running--;
      invariant(this.#running >= 0, 'ingest_transactions_not_negative');
      this.#startTransactions();
    }
  }

  async #bookBatches(reports: readonly UsageBatch[]): Promise<BookingResult> {
    const startMs = performance.now();
    const batch = mergeBatches(reports);
    const rejectedByDatabase: QuarantinedRecord[] = [];
    await this.#partitions.ensurePartitionsFor(batch.entries);
    const commits = await this.#bookOrSplit(batch, rejectedByDatabase);
    const quarantined = [...reports.flatMap((report) => report.quarantined), ...rejectedByDatabase];
    let mark = commits.at(-1)?.mark ?? null;
    if (quarantined.length > 0) {
      await insertQuarantinedRecords(this.#sql, quarantined);
      mark = await insertCommitMark(this.#sql); // committed after the usage, so the mark exists only if the usage does
      this.#log.error({ count: quarantined.length, first: quarantined[0]!.reason }, 'usage records quarantined');
    }
    const newRecords = commits.reduce((sum, { entries }) => sum + entries.length, 0);
    let oldestMs = Date.now();
    for (const entry of batch.entries) oldestMs = Math.min(oldestMs, entry.startedAtMs + entry.durationMs);
    const seconds = (performance.now() - startMs) / 1_000;
    this.#metrics.recordBatch(newRecords, batch.entries.length - newRecords, quarantined.length, seconds, oldestMs);
    // Includes months of usage booked before: the response to the first attempt may have been lost.
    const months = monthsWithSpend(batch.entries, batch.deferredUsage);
    // Read after the commit. A failover before it would otherwise compare the marks with a database that does not hold
    // this booking.
    const [totals, scopeTotals, budgets, lostMarks] = await Promise.all([
      selectAgentMonthSpend(this.#sql, months),
      selectBudgetedProjectAndOrgSpend(this.#sql, months),
      this.#selectBudgetSpend(batch),
      selectLostCommitMarks(
        this.#sql,
        reports.flatMap(({ lastMark }) => lastMark ?? []),
      ),
    ]);
    if (lostMarks.size > 0)
      this.#log.error('the database has lost booked usage; data planes send the usage again that they still have');
    return {
      rejectReasons: new Map(rejectedByDatabase.map(({ reportedId, reason }) => [reportedId, reason])),
      totals: new Map(totals.map((total) => [agentMonthKey(total), total])),
      scopeTotals,
      budgets,
      mark,
      lostMarks,
    };
  }

  async #selectBudgetSpend({ entries, deferredUsage }: UsageBatchItems): Promise<readonly IBudgetSpend[]> {
    const rows = await selectRowsOfDeferredUsage(this.#sql, deferredUsage);
    const [ofBudgets, ofCells] = await Promise.all([
      selectBudgetSpend(this.#sql, budgetPeriodsOf(entries, deferredUsage, rows)),
      selectCellSpend(this.#sql, cellPeriodsOf(entries)),
    ]);
    return [
      ...ofBudgets.map(({ budgetId, period, spentNanos, ledgerNanos }) => {
        return { budgetId, window: period, spentNanos, ledgerNanos };
      }),
      ...ofCells.map(({ budgetId, period, cell, spentNanos }) => {
        return { budgetId, window: windowInCell(period, cell), spentNanos, ledgerNanos: 0 };
      }),
    ];
  }

  /** Usually one commit, none for an empty batch. Adds records that the database rejects to `quarantined`. */
  async #bookOrSplit(
    batch: UsageBatchItems,
    quarantined: QuarantinedRecord[],
    insertMode: InsertMode = 'all_new',
  ): Promise<readonly CommittedBatch[]> {
    const { entries, rejections, ipObservations, deferredUsage } = batch;
    if (entries.length + rejections.length + ipObservations.length + deferredUsage.length === 0) return [];
    try {
      const commit = await this.#sql.begin((tx) => this.#bookInTransaction(tx, batch, insertMode));
      addDeferredSumsToEntries(commit.entries, commit.deferredSums);
      this.onCommitted?.(commit.entries);
      return [commit];
    } catch (error) {
      if (isDuplicateKeyError(error) && insertMode === 'all_new')
        return this.#bookOrSplit(batch, quarantined, 'some_new');
      if (isMissingPartitionError(error)) this.#partitions.clearKnownPartitions(); // the next attempt creates the partition
      if (!isDataError(error)) throw error;
      const halves = splitBatch(batch);
      if (halves !== null) {
        const [first, second] = halves;
        return [...(await this.#bookOrSplit(first, quarantined)), ...(await this.#bookOrSplit(second, quarantined))];
      }
      this.#log.error({ err: error }, 'the database rejects a usage record');
      for (const entry of entries)
        quarantined.push(quarantineEntry(entry, `the database rejects the record: ${error.message}`));
      return [];
    }
  }

  async #bookInTransaction(tx: Tx, batch: UsageBatchItems, insertMode: InsertMode): Promise<CommittedBatch> {
    const newDeferredUsage = await claimDeferredUsage(tx, batch.deferredUsage);
    await storeDeferredSumsByRecordId(tx, newDeferredUsage);
    const entries = await ledger.insertUsageRecords(tx, batch.entries, insertMode);
    const deferredSums = await moveDeferredSumsToRecords(tx, entries);
    const taggedUsage = await boundTagValues(tx, sumByTag(entries, newDeferredUsage));
    const { hourlyRollups, monthSums, lastUsedMsByKey, lastUsedMsByAccount } = aggregateUsage(
      entries,
      newDeferredUsage,
    );
    const budgetSums = sumByBudgetRow(entries, newDeferredUsage, await selectRowsOfDeferredUsage(tx, newDeferredUsage));
    await ledger.updateLastUsed(tx, 'api_keys', lastUsedMsByKey);
    await ledger.updateLastUsed(tx, 'provider_accounts', lastUsedMsByAccount);
    const newCountIds = await claimNewCountIds(
      tx,
      [...batch.rejections, ...batch.ipObservations].map(({ id }) => id),
    );
    const rejections = batch.rejections.filter(({ id }) => newCountIds.has(id));
    await addHourlyRejections(tx, rejections);
    await insertRejectedCalls(tx, rejections);
    // Pipelined on one connection in this order: the rows are locked, so no round trip may lie in between.
    const [oversized, , totals, , , , , , mark] = await Promise.all([
      ledger.addHourlyRollups(tx, hourlyRollups, SKETCH_COMPACTION_BYTES),
      ledger.insertLateDaysAndHours(tx, hourlyRollups, Date.now()),
      addAgentMonthSpend(tx, monthSums),
      addProjectAndOrgMonthSpend(tx, monthSums),
      addBudgetSpend(tx, budgetSums),
      addCellSpend(tx, sumByCell(entries)),
      addTagRollups(tx, taggedUsage),
      addOpenTagDays(tx, taggedUsage),
      insertCommitMark(tx),
    ]);
    await ledger.storeCompactedSketches(
      tx,
      oversized.map((row) => ({ ...row, sketch: LatencySketch.decode(row.sketch).encode() })),
    );
    const sums = new Map(monthSums.map((sum) => [agentMonthKey(sum), sum]));
    const spend = totals.map(({ agentId, month, spentNanos }): SpendChange => {
      const added = sums.get(agentMonthKey({ agentId, month }))!;
      return { agentId, month, orgId: added.orgId, beforeNanos: spentNanos - added.costNanos, afterNanos: spentNanos };
    });
    const ipObservations = batch.ipObservations.filter(({ id }) => newCountIds.has(id));
    await this.#notifyObservers(tx, {
      entries,
      spendChanges: spend,
      budgetPeriods: budgetSums,
      rejections,
      ipObservations,
    });
    return { entries, deferredSums, mark };
  }

  async #notifyObservers(tx: Tx, booked: BookedUsage): Promise<void> {
    for (const observer of this.#observers) {
      // A database error of an observer must not be treated as an invalid record.
      await observer.onBooked(tx, booked).catch((cause: unknown) => {
        throw new Error('a usage observer failed', { cause });
      });
    }
  }
}

function rejectedRecords({ quarantined, entries }: UsageBatch, rejectReasons: ReadonlyMap<string, string>) {
  const rejected = quarantined.map(({ reportedId, reason }) => ({ id: reportedId, reason }));
  if (rejectReasons.size === 0) return rejected;
  const byDatabase = entries.flatMap(({ id }) => {
    const reason = rejectReasons.get(id);
    return reason === undefined ? [] : [{ id, reason }];
  });
  return [...rejected, ...byDatabase];
}
