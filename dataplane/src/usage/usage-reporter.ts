/**
 * Sends the spool to the control plane: one batch at a time, in order, repeated until it is acknowledged. An
 * acknowledged batch is committed in the ledger; the ledger deduplicates repeated batches by record id. While the
 * control plane is unavailable the spool grows; its byte cap is the backpressure.
 *
 * Each call names the last known ledger commit. If a failover lost that commit, all retained records are sent again. An
 * idle reporter checks every {@link CHECK_EVERY_MS} while the spool retains data.
 */

import { Backoff } from '@acg/base/backoff';
import type { Logger } from '@acg/base/log';
import { waitAtMost } from '@acg/base/wait-at-most';
import { LedgerMark as LedgerMarkMessage } from '@acg/proto/messages';
import type { Spool, SpoolBatch } from './spool/spool.js';
import type { LedgerMark } from './spool/worker-directory.js';

interface CommittedReport {
  readonly kind: 'committed';
  readonly rejected: readonly { readonly id: string; readonly reason: string }[];
  /** The ledger commit of this batch; null: nothing was committed, or the control plane is older. */
  readonly mark: LedgerMark | null;
  /** The database has lost the commit that the call named, and perhaps others. */
  readonly hasLedgerRolledBack: boolean;
}

/** `rejected`: the control plane will never accept these bytes. Transport errors reject the promise instead. */
export type ReportOutcome = CommittedReport | { readonly kind: 'rejected'; readonly reason: string };

export interface UsageSink {
  /** Sends the encoded body of a ReportUsage call. */
  report(body: Buffer): Promise<ReportOutcome>;
}

interface UsageReporterOptions {
  readonly dataPlaneId: string;
  /** Maximum records per call. */
  readonly recordsMax?: number;
  /** How long, in ms, the first record of a batch waits for more. */
  readonly lingerMs?: number;
  readonly backoff?: Backoff;
  /** Interval of the search for segments of dead workers, ms. */
  readonly adoptEveryMs?: number;
  /** Interval of an idle reporter's ledger check, ms; for tests. */
  readonly checkEveryMs?: number;
  /** Called when the database has lost commits: earlier replies of the control plane may be invalid. */
  readonly onLedgerRolledBack?: () => void;
}

interface UsageReporterStats {
  readonly recordsReported: number;
  readonly recordsRejected: number;
  readonly failures: number;
  /** Whether the last call succeeded. */
  readonly isConnected: boolean;
  /** How often the whole spool was sent again because the database had lost commits. */
  readonly rewinds: number;
}

/** Maximum frames per call. Its bytes are bounded by one spool read, 512 KiB. */
const FRAMES_MAX = 2_000;
const STOP_GRACE_MS = 1_000;
/** Bounds how late an idle data plane repeats records that a failover lost. */
const CHECK_EVERY_MS = 5_000;
/** Field 50 of ReportUsageRequest, length-delimited. */
const LAST_MARK_TAG = Buffer.from([0x92, 0x03]);

export class UsageReporter {
  readonly #spool: Spool;
  readonly #sink: UsageSink;
  readonly #log: Logger;
  readonly #idField: Buffer;
  readonly #recordsMax: number;
  readonly #lingerMs: number;
  readonly #backoff: Backoff;
  readonly #adoptTimer: NodeJS.Timeout;
  readonly #checkTimer: NodeJS.Timeout;
  readonly #onLedgerRolledBack: () => void;
  readonly #runLoop: Promise<void>;
  #stopped = false;
  #flushing = 0;
  #hasSignal = false;
  #wake: (() => void) | null = null;
  #endSleep: (() => void) | null = null;
  #idleWaiters: (() => void)[] = [];
  /** After a rejected batch: number of frames that are still sent one by one. */
  #singleFramesLeft = 0;
  #isConnected = true;
  #recordsReported = 0;
  #recordsRejected = 0;
  #failures = 0;
  #rewinds = 0;
  /** Nothing was sent since the last tick of the check timer. */
  #wasQuiet = false;
  #checkDue = false;

  /** Starts sending at once. */
  constructor(spool: Spool, sink: UsageSink, options: UsageReporterOptions, log: Logger) {
    this.#spool = spool;
    this.#sink = sink;
    this.#log = log;
    const id = Buffer.from(options.dataPlaneId).subarray(0, 127);
    this.#idField = Buffer.concat([Buffer.from([0x0a, id.length]), id]); // field 1, data_plane_id
    this.#recordsMax = options.recordsMax ?? 2_000;
    this.#lingerMs = options.lingerMs ?? 100;
    this.#backoff = options.backoff ?? new Backoff(200, 5_000);
    spool.onAppended = this.#wakeUp;
    this.#onLedgerRolledBack = options.onLedgerRolledBack ?? (() => undefined);
    this.#adoptTimer = setInterval(() => this.#adoptDeadWorkers(), options.adoptEveryMs ?? 10_000).unref();
    this.#checkTimer = setInterval(this.#scheduleIdleCheck, options.checkEveryMs ?? CHECK_EVERY_MS).unref();
    this.#runLoop = this.#sendUntilStopped();
  }

  stats(): UsageReporterStats {
    return {
      recordsReported: this.#recordsReported,
      recordsRejected: this.#recordsRejected,
      failures: this.#failures,
      isConnected: this.#isConnected,
      rewinds: this.#rewinds,
    };
  }

  /** Sends everything without lingering. Returns true when everything was acknowledged within `timeoutMs`. */
  async flush(timeoutMs: number): Promise<boolean> {
    this.#spool.flush();
    this.#flushing++;
    const idle = new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
    this.#wakeUp();
    this.#endSleep?.();
    await waitAtMost(idle, timeoutMs);
    this.#flushing--;
    return this.#spool.stats().bytesUnacknowledged === 0;
  }

  /** Stops, and waits at most 1 s for the running call. Unacknowledged records stay in the spool. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#adoptTimer);
    clearInterval(this.#checkTimer);
    this.#spool.onAppended = null;
    this.#wakeUp();
    this.#endSleep?.();
    // A control plane that does not reply must not block the process exit: its records stay in the spool.
    await waitAtMost(this.#runLoop, STOP_GRACE_MS);
  }

  async #sendUntilStopped(): Promise<void> {
    while (!this.#stopped) {
      const batch = await this.#readBatch();
      if (batch === null) {
        for (const resolve of this.#idleWaiters.splice(0)) resolve();
        if (this.#checkDue) await this.#checkLedgerMark();
        else await this.#waitForWork();
      } else {
        await this.#reportUntilAcknowledged(batch);
        if (batch.records >= this.#recordsMax) continue;
      }
      if (this.#flushing === 0 && this.#singleFramesLeft === 0) await this.#sleep(this.#lingerMs);
    }
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  async #readBatch(): Promise<SpoolBatch | null> {
    const framesMax = this.#singleFramesLeft > 0 ? 1 : FRAMES_MAX;
    try {
      return await this.#spool.read({ recordsMax: this.#recordsMax, framesMax });
    } catch (error) {
      this.#log.error({ err: error }, 'cannot read the usage spool');
      await this.#sleep(this.#backoff.nextDelayMs());
      this.#wakeUp();
      return null;
    }
  }

  async #reportUntilAcknowledged(batch: SpoolBatch): Promise<void> {
    this.#wasQuiet = false;
    const { ledgerMark: mark } = this.#spool;
    const body = this.#encodeBody(mark, batch.payloads);
    while (!this.#stopped) {
      try {
        const outcome = await this.#sink.report(body);
        this.#onReachable();
        if (outcome.kind === 'rejected') this.#onRejected(batch, outcome.reason);
        else this.#onCommitted(batch, mark, outcome);
        return;
      } catch (error) {
        this.#onUnreachable(error);
        await this.#sleep(this.#backoff.nextDelayMs());
      }
    }
  }

  #encodeBody(mark: LedgerMark | null, payloads: readonly Buffer[]): Buffer {
    if (mark === null) return Buffer.concat([this.#idField, ...payloads]);
    const message = LedgerMarkMessage.encode(mark).finish(); // below 128 bytes: its length is one byte
    return Buffer.concat([this.#idField, LAST_MARK_TAG, Buffer.from([message.length]), message, ...payloads]);
  }

  readonly #scheduleIdleCheck = (): void => {
    const { bytesRetained, bytesOnDisk } = this.#spool.stats();
    if (this.#wasQuiet && bytesRetained + bytesOnDisk > 0 && this.#spool.ledgerMark !== null) {
      this.#checkDue = true;
      this.#wakeUp();
    }
    this.#wasQuiet = true;
  };

  /** Sends the last mark without records. If the control plane is unavailable, the next timer tick tries again. */
  async #checkLedgerMark(): Promise<void> {
    this.#checkDue = false;
    try {
      const { ledgerMark: mark } = this.#spool;
      const outcome = await this.#sink.report(this.#encodeBody(mark, []));
      this.#onReachable();
      if (outcome.kind === 'rejected') return;
      if (outcome.hasLedgerRolledBack) this.#rewind();
      else if (mark !== null) this.#spool.confirmMark(mark);
    } catch (error) {
      this.#onUnreachable(error);
    }
  }

  /**
   * Queues all retained records again. The running batch stays unacknowledged and is sent again after the records
   * before it.
   */
  #rewind(): void {
    this.#rewinds++;
    const bytes = this.#spool.rewind();
    this.#log.error({ bytes }, 'the database lost committed usage records: sending all retained records again');
    this.#onLedgerRolledBack();
  }

  #onCommitted(
    batch: SpoolBatch,
    confirmedMark: LedgerMark | null,
    { rejected, mark, hasLedgerRolledBack }: CommittedReport,
  ): void {
    if (hasLedgerRolledBack) {
      this.#rewind();
      return;
    }
    if (confirmedMark !== null) this.#spool.confirmMark(confirmedMark);
    this.#spool.acknowledge(batch, mark);
    this.#singleFramesLeft = Math.max(0, this.#singleFramesLeft - 1);
    this.#recordsReported += batch.records;
    this.#recordsRejected += rejected.length;
    if (rejected.length === 0) return;
    this.#log.warn({ count: rejected.length, first: rejected[0] }, 'the control plane quarantined usage records');
  }

  /** One bad frame must not block the rest: frames are sent one by one until the bad one is found and quarantined. */
  #onRejected(batch: SpoolBatch, reason: string): void {
    if (batch.payloads.length > 1) {
      this.#singleFramesLeft = batch.payloads.length; // nothing was acknowledged, so the same bytes are read again
      return;
    }
    this.#log.error({ reason, records: batch.records }, 'the control plane rejected a batch of usage records');
    this.#spool.quarantine(batch);
    this.#singleFramesLeft = Math.max(0, this.#singleFramesLeft - 1);
  }

  #onReachable(): void {
    this.#backoff.reset();
    if (!this.#isConnected) this.#log.info('the control plane accepts usage records again');
    this.#isConnected = true;
  }

  #onUnreachable(error: unknown): void {
    this.#failures++;
    if (this.#isConnected) this.#log.warn({ err: error }, 'cannot report usage records to the control plane: spooling');
    this.#isConnected = false;
  }

  /** Waits for an append, a flush or a stop. */
  async #waitForWork(): Promise<void> {
    if (!this.#hasSignal && !this.#stopped) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = null;
    this.#hasSignal = false;
  }

  /** Waits; flush or stop ends the wait early, an append does not. */
  async #sleep(ms: number): Promise<void> {
    if (this.#stopped) return;
    const endedEarly = new Promise<void>((resolve) => (this.#endSleep = resolve));
    await waitAtMost(endedEarly, ms);
    this.#endSleep = null;
  }

  readonly #wakeUp = (): void => {
    this.#hasSignal = true;
    this.#wake?.();
  };

  #adoptDeadWorkers(): void {
    try {
      this.#spool.adoptDeadWorkers();
    } catch (error) {
      this.#log.error({ err: error }, 'cannot search the spool directory for segments of dead workers');
    }
    if (this.#spool.stats().bytesUnacknowledged > 0) this.#wakeUp();
  }
}
