/**
 * The durable queue between the proxy and the control plane (docs/contract.md#usage). A record is on disk before the
 * last byte of its response leaves, so whatever a client has completely received survives kill -9 of this process.
 *
 * - One write call per loop turn, synchronous: measured on Node 20, 2 vCPU, ext4 (2026-11): a 355-byte pwrite takes
 *   1 µs, the same through the thread pool 30 µs of CPU. It goes to the page cache; `segments.ts` says when to disk.
 * - Nothing is dropped: at the byte cap, or when the file system refuses, `full` turns true and new calls are to be
 *   refused, while calls in flight still append. What could not be written waits in memory and is written later.
 * - Reading and acknowledging is the shipper's, one batch at a time.
 */
import { rename } from 'node:fs/promises';
import type { Logger } from '@acg/base/log';
import { usageRecordBytesMax } from '@acg/proto/generated/usage-record';
import {
  AddressSighting,
  type IAddressSighting,
  type ILineUsage,
  type IRejectionCount,
  type IUsageRecord,
  LineUsage,
  RejectionCount,
  UsageRecord,
} from '@acg/proto/messages';
import { FrameBuffer, MESSAGE_BYTES_MAX } from './frame-buffer.js';
import { Quarantine } from './quarantine.js';
import { type FrameScanLimits, scanFrames } from './segment-format.js';
import { type Segment, SegmentQueue } from './segment-queue.js';
import { SegmentReader } from './segment-reader.js';
import { adoptDeadSiblings, claimWorkerDirectory, type LedgerMark, type WorkerDirectory } from './worker-directory.js';

export interface SpoolOptions {
  /** Root that the workers of this data plane share. */
  readonly directory: string;
  /** Of this worker: SPOOL_MAX_BYTES divided by the number of workers. */
  readonly bytesMax: number;
  readonly segmentAgeMs?: number;
  /** How long what the ledger has stays, to be sent again should the database lose it; ms, 0 (default): not at all. */
  readonly retentionMs?: number;
  readonly retryMs?: number;
  readonly now?: () => number;
}

/** Frames that wait for their acknowledgement. The payloads are valid until the next `read`. */
export interface SpoolBatch {
  /** Runs of fields of ReportUsageRequest: concatenated they are its body. */
  readonly payloads: readonly Buffer[];
  readonly records: number;
  readonly segment: Segment;
  readonly to: number;
}

interface SpoolStats {
  readonly bytesUnacknowledged: number;
  /** Of files that must stay. */
  readonly bytesOnDisk: number;
  /** Of files that the ledger has. */
  readonly bytesRetained: number;
  /** Age of the oldest thing not acknowledged, 0 when there is none. */
  readonly oldestAgeMs: number;
  /** For one organization at least. */
  readonly isFull: boolean;
  readonly damagedBytes: number;
  readonly writeErrors: number;
}

/** The spool could not write a record; it is kept in memory and written when the file system takes it again. */
class SpoolWriteError extends Error {
  constructor(cause: unknown) {
    super('the usage spool cannot be written', { cause });
    this.name = 'SpoolWriteFailed';
  }
}

type AppendCallback = (error: Error | null) => void;
const FIELD = { record: 0x12, rejection: 0x1a, sighting: 0x22, lines: 0x2a } as const;
const SEGMENT_BYTES_MAX = 4 * 1024 * 1024;
const READ_BYTES = 512 * 1024;
/** `full` ends below this part of the cap, so that it does not flicker. */
const RESUME_RATIO = 0.9;
/** Records kept while the disk refuses; calls in flight are bounded, so this is not reached in practice. */
const UNWRITTEN_BYTES_MAX = 64 * 1024 * 1024;

export class Spool {
  readonly #root: string;
  readonly #bytesMax: number;
  readonly #retryMs: number;
  readonly #now: () => number;
  readonly #log: Logger;
  readonly #own: WorkerDirectory;
  readonly #directories = new Map<string, WorkerDirectory>();
  readonly #segments: SegmentQueue;
  readonly #frames = new FrameBuffer();
  #waiting: AppendCallback[] = [];
  #spare: AppendCallback[] = [];
  #scheduled = false;
  #unwritten: Buffer[] = [];
  #unwrittenBytes = 0;
  #retryTimer: NodeJS.Timeout | null = null;
  #isAtCap = false;
  readonly #reader = new SegmentReader(READ_BYTES);
  readonly #quarantine: Quarantine;
  #writeErrors = 0;
  #closed = false;
  /** Called when there may be something new to send. */
  onAppended: (() => void) | null = null;

  /** Claims a worker directory and takes over what it and dead siblings hold. */
  constructor(options: SpoolOptions, log: Logger) {
    this.#root = options.directory;
    this.#bytesMax = options.bytesMax;
    this.#retryMs = options.retryMs ?? 1_000;
    this.#now = options.now ?? Date.now;
    this.#log = log;
    this.#quarantine = new Quarantine(log);
    this.#own = claimWorkerDirectory(options.directory);
    this.#directories.set(this.#own.path, this.#own);
    this.#segments = new SegmentQueue(this.#own, {
      segmentBytes: Math.min(SEGMENT_BYTES_MAX, Math.ceil(options.bytesMax / 8)),
      segmentAgeMs: options.segmentAgeMs ?? 5_000,
      retentionMs: options.retentionMs ?? 0,
    });
    const left = this.#segments.adopt(this.#own, this.#now());
    if (left > 0) log.info({ segments: left }, 'usage records of an earlier run found');
    this.adopt();
  }

  /** True: new calls must be refused (docs/contract.md#usage). Records of running calls are still taken. */
  get isFull(): boolean {
    return this.#isAtCap || this.#unwrittenBytes > 0;
  }

  /** True: new calls of this organization must be refused, others go on. */
  isFullFor(orgId: string): boolean {
    return this.#segments.orgUsage.isOverQuota(orgId, this.#bytesFree);
  }

  get #bytesFree(): number {
    return this.#bytesMax - this.#segments.bytesInUse;
  }

  /**
   * Takes a record; encoded before the call returns. `done` runs once, in a later turn: with null when the record
   * survives a kill of the process, with an error when only memory holds it.
   */
  appendRecord(record: IUsageRecord, done: AppendCallback): void {
    const bytesMax = usageRecordBytesMax(record);
    if (bytesMax > MESSAGE_BYTES_MAX) {
      this.#appendLongRecord(record, done);
      return;
    }
    if (!this.#frames.addRecord(FIELD.record, record, bytesMax)) {
      this.flush();
      this.#frames.addRecord(FIELD.record, record, bytesMax);
    }
    this.#segments.orgUsage.add(record.orgId ?? '', this.#frames.lastMessageBytes);
    this.#scheduleFlush();
    this.#waiting.push(done);
  }

  /** Lines of a result that is being read; on disk before any record that is appended later. */
  appendDeferredUsage(deferredUsage: ILineUsage): void {
    this.#appendMessage(FIELD.lines, LineUsage.encode(deferredUsage).finish(), deferredUsage.orgId);
  }

  /** Statistics: not taken while the spool is full, nor of whom it is full for. Returns whether it was. */
  appendRejection(count: IRejectionCount): boolean {
    if (this.isFull || this.isFullFor(count.orgId ?? '')) return false;
    this.#appendMessage(FIELD.rejection, RejectionCount.encode(count).finish(), count.orgId);
    return true;
  }

  /** Statistics, like {@link appendRejection}. */
  appendAddressObservation(observation: IAddressSighting): boolean {
    if (this.isFull || this.isFullFor(observation.orgId ?? '')) return false;
    this.#appendMessage(FIELD.sighting, AddressSighting.encode(observation).finish(), observation.orgId);
    return true;
  }

  stats(): SpoolStats {
    const oldest = this.#segments.findOldestUnreported();
    return {
      bytesUnacknowledged: this.#segments.bytesUnacknowledged + this.#unwrittenBytes,
      bytesOnDisk: this.#segments.bytesInUse,
      bytesRetained: this.#segments.bytesRetained,
      oldestAgeMs: oldest === null ? 0 : Math.max(0, this.#now() - oldest.createdMs),
      isFull: this.isFull || this.#segments.orgUsage.isAnyOverQuota(this.#bytesFree),
      damagedBytes: this.#quarantine.totalBytes,
      writeErrors: this.#writeErrors,
    };
  }

  /** The oldest frames not acknowledged, null when there are none. One reader; acknowledge before reading on. */
  async read(limit: FrameScanLimits): Promise<SpoolBatch | null> {
    for (;;) {
      const segment = this.#segments.findHead();
      if (segment === null) return null;
      const at = segment.acknowledgedBytes;
      const end = segment.bytes;
      const chunk = await this.#readChunk(segment, at, Math.min(end, at + READ_BYTES));
      if (chunk === null) continue;
      const scan = scanFrames(chunk, at + chunk.length >= end, limit);
      for (const range of scan.damaged) this.#quarantine.store(segment.path, at, chunk, range);
      if (scan.payloads.length > 0) {
        return { payloads: scan.payloads, records: scan.records, segment, to: at + scan.consumed };
      }
      this.#segments.acknowledge(segment, at + scan.consumed, this.#now(), null);
      this.#updateFullness();
    }
  }

  /** The batch is in the ledger, by the commit of `mark`; null: an older control plane names none. */
  acknowledge(batch: SpoolBatch, mark: LedgerMark | null = null): void {
    if (this.#closed) return; // its directory may be another process's by now: that one sends it again
    this.#segments.acknowledge(batch.segment, batch.to, this.#now(), mark);
    this.#updateFullness();
  }

  /** The commit of the ledger to ask for: it has acknowledged something of this spool. */
  get mark(): LedgerMark | null {
    return this.#segments.ledgerMark;
  }

  /** The ledger, asked for that commit, has it. */
  confirmMark(mark: LedgerMark): void {
    this.#segments.confirmMark(mark);
  }

  /** The ledger has lost commits: everything that is still here is read again. Returns how many bytes that is. */
  rewind(): number {
    return this.#closed ? 0 : this.#segments.rewind();
  }

  /** The control plane refuses this batch for good: it is kept in a file for the operator and leaves the queue. */
  quarantine(batch: SpoolBatch): void {
    const bytes = Buffer.concat(batch.payloads);
    this.#quarantine.store(batch.segment.path, batch.to, bytes, { from: 0, to: bytes.length });
    this.acknowledge(batch);
  }

  /**
   * Takes over segments of workers that died; gives adopted directories back that are empty; deletes what was kept long
   * enough. Cheap; call it often.
   */
  adopt(): void {
    this.#segments.deleteExpired(this.#now());
    for (const [path, home] of this.#directories) {
      if (home === this.#own || this.#segments.hasSegmentsIn(home)) continue;
      home.lock.release();
      this.#directories.delete(path);
    }
    for (const home of adoptDeadSiblings(this.#root, new Set(this.#directories.keys()))) {
      this.#directories.set(home.path, home);
      const segments = this.#segments.adopt(home, this.#now());
      this.#log.info({ segments }, 'usage records of a worker that ended adopted');
    }
    this.#updateFullness();
  }

  /** Writes what is waiting and lets go of all files; segments that are not acknowledged stay for the next start. */
  async close(): Promise<void> {
    this.flush();
    this.#closed = true;
    if (this.#unwritten.length > 0) this.#retryUnwritten();
    if (this.#retryTimer !== null) clearInterval(this.#retryTimer);
    if (this.#unwrittenBytes > 0)
      this.#log.fatal({ bytes: this.#unwrittenBytes }, 'usage records lost: the spool cannot be written');
    await this.#reader.close();
    this.#segments.close(this.#now());
    for (const home of this.#directories.values()) home.lock.release();
    this.#directories.clear();
  }

  /** Writes this turn's records now. */
  readonly flush = (): void => {
    this.#scheduled = false;
    const bytes = this.#frames.takeFrames();
    const waiting = this.#waiting;
    this.#waiting = this.#spare;
    const error = bytes.length === 0 ? null : this.#write(bytes);
    for (const done of waiting) this.#runCallback(done, error);
    waiting.length = 0;
    this.#spare = waiting;
    if (error === null && bytes.length > 0) this.onAppended?.();
  };

  /** One that may break the frame bound: only its encoded form tells. */
  #appendLongRecord(record: IUsageRecord, done: AppendCallback): void {
    const bytes = UsageRecord.encode(record).finish();
    if (bytes.length > MESSAGE_BYTES_MAX) {
      done(new SpoolWriteError('the record is too large'));
      return;
    }
    this.#appendMessage(FIELD.record, bytes, record.orgId);
    this.#waiting.push(done);
  }

  #appendMessage(tag: number, message: Uint8Array, orgId: string | null | undefined): void {
    if (!this.#frames.add(tag, message)) {
      this.flush();
      this.#frames.add(tag, message);
    }
    this.#segments.orgUsage.add(orgId ?? '', this.#frames.lastMessageBytes);
    this.#scheduleFlush();
  }

  #scheduleFlush(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.flush); // after this turn's I/O callbacks: one write for all of them
  }

  #runCallback(done: AppendCallback, error: Error | null): void {
    try {
      done(error);
    } catch (bug) {
      this.#log.error({ err: bug }, 'a spool callback failed');
    }
  }

  #write(bytes: Buffer): SpoolWriteError | null {
    try {
      this.#appendEvicting(bytes);
    } catch (error) {
      this.#keepUnwritten(bytes, error);
      return new SpoolWriteError(error);
    }
    this.#updateFullness();
    return null;
  }

  /** What the ledger has makes room, below the byte cap and on a full disk. Throws what the file system throws. */
  #appendEvicting(bytes: Buffer): void {
    this.#segments.evictRetained(this.#bytesMax - bytes.length);
    try {
      this.#segments.append(bytes, this.#now());
    } catch (error) {
      if (this.#segments.bytesRetained === 0) throw error;
      this.#segments.evictRetained(0);
      this.#segments.append(bytes, this.#now());
    }
  }

  #keepUnwritten(bytes: Buffer, error: unknown): void {
    this.#writeErrors++;
    if (this.#unwrittenBytes === 0)
      this.#log.error({ err: error }, 'the usage spool cannot be written: refusing new calls');
    if (this.#unwrittenBytes + bytes.length > UNWRITTEN_BYTES_MAX) {
      this.#log.fatal({ bytes: bytes.length }, 'usage records lost: the spool cannot be written and memory is full');
      return;
    }
    this.#unwritten.push(Buffer.from(bytes));
    this.#unwrittenBytes += bytes.length;
    this.#retryTimer ??= setInterval(this.#retryUnwritten, this.#retryMs).unref();
  }

  readonly #retryUnwritten = (): void => {
    while (this.#unwritten.length > 0) {
      const bytes = this.#unwritten[0]!;
      try {
        this.#appendEvicting(bytes);
      } catch {
        this.#reader.closeIf((segment) => !this.#segments.contains(segment));
        return; // still refused; the next tick tries again
      }
      this.#unwritten.shift();
      this.#unwrittenBytes -= bytes.length;
    }
    if (this.#retryTimer !== null) clearInterval(this.#retryTimer);
    this.#retryTimer = null;
    this.#updateFullness();
    this.#log.info('the usage spool can be written again');
    this.onAppended?.();
  };

  #updateFullness(): void {
    this.#reader.closeIf((segment) => !this.#segments.contains(segment));
    const bytes = this.#segments.bytesInUse;
    const atCap = this.#isAtCap ? bytes >= this.#bytesMax * RESUME_RATIO : bytes >= this.#bytesMax;
    if (atCap === this.#isAtCap) return;
    this.#isAtCap = atCap;
    if (atCap) this.#log.error({ bytes }, 'the usage spool is full: refusing new calls');
    else this.#log.info({ bytes }, 'the usage spool has room again');
  }

  /** Null: the file cannot be read and was taken out of the queue. */
  async #readChunk(segment: Segment, from: number, to: number): Promise<Buffer | null> {
    try {
      return await this.#reader.read(segment, from, to);
    } catch (error) {
      this.#log.error({ err: error, segment: segment.path }, 'a spool segment cannot be read: set aside');
      await this.#reader.close();
      await rename(segment.path, `${segment.path}.unreadable`).catch(() => undefined);
      this.#quarantine.totalBytes += segment.bytes - from;
      this.#segments.abandon(segment);
      return null;
    }
  }
}
