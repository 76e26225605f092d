/**
 * Carries the spool to the control plane: one batch at a time, in order, again and again until it is acknowledged.
 * An acknowledged batch is committed in the ledger; a batch sent twice is known there by its ids. While the control
 * plane is away the spool grows, and its byte cap is the backpressure.
 *
 * Each call names the last commit of the ledger that acknowledged something. Where the database has lost it, in a failover
 * to a standby that lagged behind, all that the spool still has is sent again. A shipper with nothing to send
 * asks every {@link CHECK_EVERY_MS} as long as the spool keeps something.
 */
import { Backoff } from '@acg/base/backoff';
import type { Logger } from '@acg/base/log';
import { LedgerMark as LedgerMarkMessage } from '@acg/proto/messages';
import type { Spool, SpoolBatch } from './spool/spool.js';
import type { LedgerMark } from './spool/worker-directory.js';

interface CommittedReport {
  readonly kind: 'booked';
  readonly rejected: readonly { readonly id: string; readonly reason: string }[];
  /** Of the commit; null: there was nothing to book, or an older control plane. */
  readonly mark: LedgerMark | null;
  /** The database has lost the commit that the call named, and perhaps others. */
  readonly hasLedgerRolledBack: boolean;
}

/** `refused`: the control plane will never take these bytes. A transport problem is a rejected promise. */
export type ReportOutcome = CommittedReport | { readonly kind: 'refused'; readonly reason: string };

export interface UsageSink {
  /** Sends the encoded body of a ReportUsage call. */
  report(body: Buffer): Promise<ReportOutcome>;
}

interface UsageReporterOptions {
  readonly dataPlaneId: string;
  /** Records per call. */
  readonly recordsMax?: number;
  /** How long the first record of a batch waits for more. */
  readonly lingerMs?: number;
  readonly backoff?: Backoff;
  /** How often segments of dead workers are looked for. */
  readonly adoptEveryMs?: number;
  /** How often an idle shipper asks whether the ledger still has what it acknowledged; for tests. */
  readonly checkEveryMs?: number;
  /** The database went back: what the control plane said before may not be true any more. */
  readonly onLedgerRolledBack?: () => void;
}

interface UsageReporterStats {
  readonly recordsReported: number;
  readonly recordsRejected: number;
  readonly failures: number;
  /** Whether the last call succeeded. */
  readonly isConnected: boolean;
  /** How often all that the spool still had was sent again, because the database went back. */
  readonly rewinds: number;
}

/** Bounds the parts of one call; its bytes are bounded by what the spool reads at once, 512 KiB. */
const FRAMES_MAX = 2_000;
const STOP_GRACE_MS = 1_000;
/** Bounds how late an idle data plane sends again what a failover lost. */
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
  readonly #loop: Promise<void>;
  #stopped = false;
  #flushing = 0;
  #signalled = false;
  #wake: (() => void) | null = null;
  #interrupt: (() => void) | null = null;
  #idle: (() => void)[] = [];
  /** After a refusal: how many frames still go one by one. */
  #singleFramesLeft = 0;
  #isConnected = true;
  #recordsReported = 0;
  #recordsRejected = 0;
  #failures = 0;
  #rewinds = 0;
  /** Nothing was sent since the last turn of the check's timer. */
  #quiet = false;
  #checkDue = false;

  /** Starts shipping at once. */
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
    this.#loop = this.#run();
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

  /** Sends everything without lingering. True when all of it was acknowledged within the time. */
  async flush(timeoutMs: number): Promise<boolean> {
    this.#spool.flush();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    this.#flushing++;
    const idle = new Promise<void>((resolve) => this.#idle.push(resolve));
    this.#wakeUp();
    this.#interrupt?.();
    await Promise.race([idle, timeout]);
    clearTimeout(timer);
    this.#flushing--;
    return this.#spool.stats().bytesUnacknowledged === 0;
  }

  /** Stops, and waits a moment for the call under way. What is not acknowledged stays in the spool. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#adoptTimer);
    clearInterval(this.#checkTimer);
    this.#spool.onAppended = null;
    this.#wakeUp();
    this.#interrupt?.();
    // A control plane that is silent must not hold up the end of this process: its records stay in the spool.
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_GRACE_MS);
    });
    await Promise.race([this.#loop, grace]);
    clearTimeout(timer);
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const batch = await this.#read();
      if (batch === null) {
        for (const resolve of this.#idle.splice(0)) resolve();
        if (this.#checkDue) await this.#checkLedgerMark();
        else await this.#waitForWork();
      } else {
        await this.#deliver(batch);
        if (batch.records >= this.#recordsMax) continue;
      }
      if (this.#flushing === 0 && this.#singleFramesLeft === 0) await this.#sleep(this.#lingerMs);
    }
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #read(): Promise<SpoolBatch | null> {
    const framesMax = this.#singleFramesLeft > 0 ? 1 : FRAMES_MAX;
    try {
      return await this.#spool.read({ recordsMax: this.#recordsMax, framesMax });
    } catch (error) {
      this.#log.error({ err: error }, 'the usage spool cannot be read');
      await this.#sleep(this.#backoff.nextDelayMs());
      this.#wakeUp();
      return null;
    }
  }

  async #deliver(batch: SpoolBatch): Promise<void> {
    this.#quiet = false;
    const { mark } = this.#spool;
    const body = this.#encodeBody(mark, batch.payloads);
    while (!this.#stopped) {
      try {
        const outcome = await this.#sink.report(body);
        this.#onReachable();
        if (outcome.kind === 'refused') this.#onRejected(batch, outcome.reason);
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
    const { bytesRetained: bytesKept, bytesOnDisk } = this.#spool.stats();
    if (this.#quiet && bytesKept + bytesOnDisk > 0 && this.#spool.mark !== null) {
      this.#checkDue = true;
      this.#wakeUp();
    }
    this.#quiet = true;
  };

  /** Asks with nothing but the last mark. A control plane that is away is asked again at the timer's next turn. */
  async #checkLedgerMark(): Promise<void> {
    this.#checkDue = false;
    try {
      const { mark } = this.#spool;
      const outcome = await this.#sink.report(this.#encodeBody(mark, []));
      this.#onReachable();
      if (outcome.kind === 'refused') return;
      if (outcome.hasLedgerRolledBack) this.#rewind();
      else if (mark !== null) this.#spool.confirmMark(mark);
    } catch (error) {
      this.#onUnreachable(error);
    }
  }

  /** The batch under way is not acknowledged: it is read and sent once more, after what comes before it. */
  #rewind(): void {
    this.#rewinds++;
    const bytes = this.#spool.rewind();
    this.#log.error({ bytes }, 'the database has lost usage that it had acknowledged: sending again what is kept');
    this.#onLedgerRolledBack();
  }

  #onCommitted(
    batch: SpoolBatch,
    asked: LedgerMark | null,
    { rejected, mark, hasLedgerRolledBack: wentBack }: CommittedReport,
  ): void {
    if (wentBack) {
      this.#rewind();
      return;
    }
    if (asked !== null) this.#spool.confirmMark(asked);
    this.#spool.acknowledge(batch, mark);
    this.#singleFramesLeft = Math.max(0, this.#singleFramesLeft - 1);
    this.#recordsReported += batch.records;
    this.#recordsRejected += rejected.length;
    if (rejected.length === 0) return;
    this.#log.warn({ count: rejected.length, first: rejected[0] }, 'the control plane set usage records aside');
  }

  /** One bad frame must not hold up the rest: frames go one by one until the bad one is found and set aside. */
  #onRejected(batch: SpoolBatch, reason: string): void {
    if (batch.payloads.length > 1) {
      this.#singleFramesLeft = batch.payloads.length; // nothing was acknowledged: the same bytes are read again
      return;
    }
    this.#log.error({ reason, records: batch.records }, 'the control plane refuses a batch of usage records');
    this.#spool.quarantine(batch);
    this.#singleFramesLeft = Math.max(0, this.#singleFramesLeft - 1);
  }

  #onReachable(): void {
    this.#backoff.reset();
    if (!this.#isConnected) this.#log.info('the control plane takes usage records again');
    this.#isConnected = true;
  }

  #onUnreachable(error: unknown): void {
    this.#failures++;
    if (this.#isConnected) this.#log.warn({ err: error }, 'the control plane does not take usage records: spooling');
    this.#isConnected = false;
  }

  /** Waits until something was appended, or flush or stop is called. */
  async #waitForWork(): Promise<void> {
    if (!this.#signalled && !this.#stopped) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = null;
    this.#signalled = false;
  }

  /** Waits; only the call of flush or stop ends it early, never an append. */
  async #sleep(ms: number): Promise<void> {
    if (this.#stopped) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
      this.#interrupt = resolve;
    });
    clearTimeout(timer);
    this.#interrupt = null;
  }

  readonly #wakeUp = (): void => {
    this.#signalled = true;
    this.#wake?.();
  };

  #adoptDeadWorkers(): void {
    try {
      this.#spool.adopt();
    } catch (error) {
      this.#log.error({ err: error }, 'the spool directory cannot be searched');
    }
    if (this.#spool.stats().bytesUnacknowledged > 0) this.#wakeUp();
  }
}
