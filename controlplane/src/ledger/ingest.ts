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
import { addRejections, claimCountIds, insertPoison, type PoisonEntry, type RejectionEntry } from './count-ledger.js';
import type { Newness } from './ledger.js';
import * as ledger from './ledger.js';
import { addLineSums, claimLines, keepLineSums, type LineSum, takeLineSums } from './lines.js';
import { insertMark, type LedgerMark, selectLostMarks } from './marks.js';
import {
  addMonthSpend,
  addScopeSpend,
  type MonthTotal,
  type ScopeTotal,
  selectMonthTotals,
  selectScopeTotals,
} from './month-spend.js';
import type { UsagePartitions } from './partitions.js';
import { type AgentMonth, paidMonths, rollUp } from './rollup.js';
import { readShipment, refusedByDatabase, type Shipment, type ShippedItems, type SightingEntry } from './shipment.js';
import { SKETCH_BYTES_COMPACT, Sketch } from './sketch.js';
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
  readonly spend: readonly SpendChange[];
  readonly rejections: readonly RejectionEntry[];
  readonly sightings: readonly SightingEntry[];
}

/** Draws conclusions in the transaction that books: budget events, circuit outcomes, abuse. */
export interface UsageObserver {
  /** Takes its row locks in a fixed order. A failure undoes the booking, and the data plane sends it again. */
  onBooked(tx: Tx, booked: BookedUsage): Promise<void>;
}

/** Hears of records that were booked for the first time, after the commit, lines of batches included. Must neither throw nor take long. */
type CommitListener = (entries: readonly UsageEntry[]) => void;

/** More reports wait than the ledger can book: the data plane keeps its records and comes again. */
export class IngestBusy extends Error {
  constructor() {
    super('too many usage reports are waiting');
    this.name = 'IngestBusy';
  }
}

export interface IngestMetrics {
  booked(records: number, duplicates: number, setAside: number, seconds: number, oldestEndMs: number): void;
  /** A data plane named a commit that the database has lost. */
  wentBack(): void;
}

interface Pending {
  readonly report: Shipment;
  resolve(response: IReportUsageResponse): void;
  reject(error: unknown): void;
}

interface Booking {
  /** Why the database refused records, by id. */
  readonly refused: ReadonlyMap<string, string>;
  readonly totals: ReadonlyMap<string, MonthTotal>;
  /** Of all reports together. */
  readonly scopes: readonly ScopeTotal[];
  /** Of the last commit; null: there was nothing to book. */
  readonly mark: LedgerMark | null;
  /** Ids of the marks that reports named and the database has lost. */
  readonly lostMarks: ReadonlySet<string>;
}

/** One transaction, committed. */
interface Commit {
  /** Records that were new. */
  readonly entries: readonly UsageEntry[];
  /** What lines added to some of them, by id. */
  readonly lineSums: ReadonlyMap<string, LineSum>;
  readonly mark: LedgerMark;
}

const monthKey = ({ agentId, month }: AgentMonth): string => `${agentId} ${month}`;

const TRANSACTIONS_MAX = 2;
const RECORDS_PER_TRANSACTION = 4_096;
const WAITING_MAX = 256;

export class Ingest {
  readonly #sql: Sql;
  readonly #partitions: UsagePartitions;
  readonly #observers: readonly UsageObserver[];
  readonly #metrics: IngestMetrics;
  readonly #log: Logger;
  readonly #waiting: Pending[] = [];
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
   * {@link IngestBusy} or what the database says; then send it again.
   */
  async report(body: Buffer): Promise<IReportUsageResponse> {
    if (this.#waiting.length >= WAITING_MAX) throw new IngestBusy();
    const report = readShipment(body, this.#partitions.span(Date.now()));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ report, resolve, reject });
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#running < TRANSACTIONS_MAX && this.#waiting.length > 0) {
      let records = 0;
      let taken = 0;
      while (taken < this.#waiting.length && (taken === 0 || records < RECORDS_PER_TRANSACTION)) {
        records += this.#waiting[taken++]!.report.entries.length;
      }
      this.#running++;
      void this.#answer(this.#waiting.splice(0, taken));
    }
  }

  async #answer(reports: readonly Pending[]): Promise<void> {
    try {
      const { refused, totals, scopes, mark, lostMarks } = await this.#book(reports.map(({ report }) => report));
      for (const { report, resolve } of reports) {
        const spend = paidMonths(report.entries, report.lines).flatMap((month) => totals.get(monthKey(month)) ?? []);
        const wentBack = report.lastMark !== null && lostMarks.has(report.lastMark.id);
        if (wentBack) this.#metrics.wentBack();
        resolve({ rejected: rejectedOf(report, refused), spend, scopes: [...scopes], mark, wentBack });
      }
    } catch (error) {
      for (const { reject } of reports) reject(error);
    } finally {
      this.#running--;
      this.#pump();
    }
  }

  async #book(reports: readonly Shipment[]): Promise<Booking> {
    const startMs = performance.now();
    const batch = merge(reports);
    const refused: PoisonEntry[] = [];
    await this.#partitions.ensure(batch.entries);
    const commits = await this.#bookOrHalve(batch, refused);
    const poison = [...reports.flatMap((report) => report.poison), ...refused];
    let mark = commits.at(-1)?.mark ?? null;
    if (poison.length > 0) {
      await insertPoison(this.#sql, poison);
      mark = await insertMark(this.#sql); // after the commit that it names, so that it is there only if that is
      this.#log.error({ count: poison.length, first: poison[0]!.reason }, 'usage records set aside');
    }
    const fresh = commits.reduce((sum, { entries }) => sum + entries.length, 0);
    let oldestMs = Date.now();
    for (const entry of batch.entries) oldestMs = Math.min(oldestMs, entry.startedAtMs + entry.durationMs);
    const seconds = (performance.now() - startMs) / 1_000;
    this.#metrics.booked(fresh, batch.entries.length - fresh, poison.length, seconds, oldestMs);
    // Also of what was booked before: the answer to the first attempt may have been lost.
    const paid = paidMonths(batch.entries, batch.lines);
    // After the commit: a failover before it would show the marks of a database that it was not booked in.
    const [totals, scopes, lostMarks] = await Promise.all([
      selectMonthTotals(this.#sql, paid),
      selectScopeTotals(this.#sql, paid),
      selectLostMarks(
        this.#sql,
        reports.flatMap(({ lastMark }) => lastMark ?? []),
      ),
    ]);
    if (lostMarks.size > 0)
      this.#log.error('the database has lost booked usage: data planes send what they still have of it again');
    return {
      refused: new Map(refused.map(({ sentId, reason }) => [sentId, reason])),
      totals: new Map(totals.map((total) => [monthKey(total), total])),
      scopes,
      mark,
      lostMarks,
    };
  }

  /** One commit as a rule, none where there is nothing to book. Adds what the database refuses to `poison`. */
  async #bookOrHalve(
    batch: ShippedItems,
    poison: PoisonEntry[],
    newness: Newness = 'all_new',
  ): Promise<readonly Commit[]> {
    const { entries, rejections, sightings, lines } = batch;
    if (entries.length + rejections.length + sightings.length + lines.length === 0) return [];
    try {
      const commit = await this.#sql.begin((tx) => this.#bookAll(tx, batch, newness));
      addLineSums(commit.entries, commit.lineSums);
      this.onCommitted?.(commit.entries);
      return [commit];
    } catch (error) {
      if (isBookedAlready(error) && newness === 'all_new') return this.#bookOrHalve(batch, poison, 'some_new');
      if (isMissingPartition(error)) this.#partitions.forget(); // the next attempt makes it
      if (!isDataError(error)) throw error;
      const halves = halvesOf(batch);
      if (halves !== null) {
        const [first, rest] = halves;
        return [...(await this.#bookOrHalve(first, poison)), ...(await this.#bookOrHalve(rest, poison))];
      }
      this.#log.error({ err: error }, 'the ledger refuses a usage record');
      for (const entry of entries) poison.push(refusedByDatabase(entry, error.message));
      return [];
    }
  }

  async #bookAll(tx: Tx, batch: ShippedItems, newness: Newness): Promise<Commit> {
    const lines = await claimLines(tx, batch.lines);
    await keepLineSums(tx, lines);
    const entries = await ledger.insertRecords(tx, batch.entries, newness);
    const lineSums = await takeLineSums(tx, entries);
    const { hourly, months, lastUsed } = rollUp(entries, lines);
    await ledger.touchKeys(tx, lastUsed);
    const counts = await claimCountIds(
      tx,
      [...batch.rejections, ...batch.sightings].map(({ id }) => id),
    );
    const rejections = batch.rejections.filter(({ id }) => counts.has(id));
    await addRejections(tx, rejections);
    // One behind the other on the connection, in this order, without a wait in between: their rows are locked.
    const [grown, , totals, , mark] = await Promise.all([
      ledger.addHourly(tx, hourly, SKETCH_BYTES_COMPACT),
      ledger.noteLate(tx, hourly, Date.now()),
      addMonthSpend(tx, months),
      addScopeSpend(tx, months),
      insertMark(tx),
    ]);
    await ledger.replaceSketches(
      tx,
      grown.map((row) => ({ ...row, sketch: Sketch.decode(row.sketch).encode() })),
    );
    const sums = new Map(months.map((sum) => [monthKey(sum), sum]));
    const spend = totals.map(({ agentId, month, spentNanos }): SpendChange => {
      const added = sums.get(monthKey({ agentId, month }))!;
      return { agentId, month, orgId: added.orgId, beforeNanos: spentNanos - added.costNanos, afterNanos: spentNanos };
    });
    const sightings = batch.sightings.filter(({ id }) => counts.has(id));
    await this.#observe(tx, { entries, spend, rejections, sightings });
    return { entries, lineSums, mark };
  }

  async #observe(tx: Tx, booked: BookedUsage): Promise<void> {
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
function halvesOf({
  entries,
  rejections,
  sightings,
  lines,
}: ShippedItems): readonly [ShippedItems, ShippedItems] | null {
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
    { entries: e[0], rejections: r[0], sightings: s[0], lines: l[0] },
    { entries: e[1], rejections: r[1], sightings: s[1], lines: l[1] },
  ];
}

/** Another control plane, with a shorter retention, has dropped the day. Reported as a check without a name. */
const isMissingPartition = (error: unknown): error is postgres.PostgresError =>
  error instanceof postgres.PostgresError && error.code === '23514' && error.constraint_name === undefined;

/** A record of the batch is in the ledger, twice in the batch, or was booked by somebody else meanwhile. */
const isBookedAlready = (error: unknown): boolean => error instanceof postgres.PostgresError && error.code === '23505';

/** Classes 22 (data exception) and 23 (integrity constraint): the data is at fault, not the moment. */
const isDataError = (error: unknown): error is postgres.PostgresError =>
  error instanceof postgres.PostgresError && /^2[23]/.test(error.code) && !isMissingPartition(error);

/** Counts and sightings once each, whatever the reports repeat; of records and lines the ledger sees to that. */
function merge(reports: readonly Shipment[]): ShippedItems {
  const all = <T>(of: (report: Shipment) => readonly T[]): readonly T[] =>
    reports.length === 1 ? of(reports[0]!) : reports.flatMap(of);
  return {
    entries: all(({ entries }) => entries),
    lines: all(({ lines }) => lines),
    rejections: once(all(({ rejections }) => rejections)),
    sightings: once(all(({ sightings }) => sightings)),
  };
}

const once = <T extends { readonly id: string }>(items: readonly T[]): readonly T[] =>
  items.length < 2 ? items : [...new Map(items.map((item) => [item.id, item])).values()];

function rejectedOf({ poison, entries }: Shipment, refused: ReadonlyMap<string, string>) {
  const rejected = poison.map(({ sentId, reason }) => ({ id: sentId, reason }));
  if (refused.size === 0) return rejected;
  const byDatabase = entries.flatMap(({ id }) => {
    const reason = refused.get(id);
    return reason === undefined ? [] : [{ id, reason }];
  });
  return [...rejected, ...byDatabase];
}
