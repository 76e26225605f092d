/**
 * The segment files of one spool, oldest first: appended at the end, read and acknowledged at the front.
 *
 *   [retained] … [retained][sealed, partly acknowledged][sealed] … [sealed][active]
 *                           ▲ reading starts at `acknowledgedBytes`         ▲ appended to
 *
 * A segment is sealed by size or age. After full acknowledgement it is retained for `retentionMs`, because a failover
 * may lose commits: `rewind` queues everything again. Retained segments do not count as in use; the oldest are deleted
 * when bytes are needed. The acknowledged offset is not stored on disk: after a restart at most one segment is sent
 * again, and the ledger deduplicates it.
 */
import { close, closeSync, fdatasync, ftruncateSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type FileOrgBytes, OrgSpoolUsage } from './org-spool-share-limit.js';
import {
  formatSegmentFileName,
  type LedgerMark,
  listRetainedSegments,
  listSegmentFiles,
  retainedSegmentPath,
  unsentSegmentPath,
  type WorkerDirectory,
} from './worker-directory.js';

export interface Segment {
  /** Changes when the segment is retained, and when it is queued again. */
  path: string;
  /** The directory whose lock protects the file. */
  readonly home: WorkerDirectory;
  /** Unix ms of the first byte. */
  readonly createdMs: number;
  /** Bytes of finished writes. */
  bytes: number;
  acknowledgedBytes: number;
  /** -1 once sealed. */
  fd: number;
  /** Empty until sealed, and once retained. */
  orgBytes: FileOrgBytes;
  /**
   * When the ledger had the whole segment, Unix ms; null: not yet. Stays set while a retained segment is sent again.
   */
  retainedSinceMs: number | null;
}

interface SegmentLimits {
  /** A segment is sealed at this size, bytes. */
  readonly segmentBytes: number;
  /** A segment is sealed at this age, ms. */
  readonly segmentAgeMs: number;
  /** How long a segment is retained after full acknowledgement, ms; 0: deleted at once. */
  readonly retentionMs: number;
}

const NAME_TRIES_MAX = 1_000;

export class SegmentQueue {
  readonly #ownDirectory: WorkerDirectory;
  readonly #limits: SegmentLimits;
  readonly orgUsage = new OrgSpoolUsage();
  readonly #segments: Segment[] = [];
  #active: Segment | null = null;
  #bytesOnDisk = 0;
  #bytesRetained = 0;
  #counter = 0;
  #mark: LedgerMark | null = null;
  /**
   * The newest mark of each adopted directory until the ledger has confirmed it. Commit numbers are issued again after
   * a failover, so a newer own mark does not imply an adopted one. At most one per worker.
   */
  readonly #adoptedMarks: LedgerMark[] = [];

  constructor(ownDirectory: WorkerDirectory, limits: SegmentLimits) {
    this.#ownDirectory = ownDirectory;
    this.#limits = limits;
  }

  /** Size of all files except retained ones, in bytes, including their acknowledged parts. */
  get bytesInUse(): number {
    return this.#bytesOnDisk - this.#bytesRetained;
  }

  /** Size of the files that the ledger has completely, in bytes. */
  get bytesRetained(): number {
    return this.#bytesRetained;
  }

  /**
   * The commit to check in the ledger: an adopted mark, else the newest commit that acknowledged something here; null:
   * unknown.
   */
  get ledgerMark(): LedgerMark | null {
    return this.#adoptedMarks[0] ?? this.#mark;
  }

  /** Drops an adopted mark: the ledger has confirmed that commit. */
  confirmMark(mark: LedgerMark): void {
    const at = this.#adoptedMarks.findIndex(({ id }) => id === mark.id);
    if (at === -1) return;
    this.#adoptedMarks.splice(at, 1);
    if (mark.number > (this.#mark?.number ?? 0)) this.#mark = mark;
  }

  get bytesUnacknowledged(): number {
    let sum = 0;
    for (const segment of this.#segments) sum += segment.bytes - segment.acknowledgedBytes;
    return sum;
  }

  /** The oldest segment with unacknowledged bytes. */
  findHead(): Segment | null {
    return this.#segments.find((segment) => segment.acknowledgedBytes < segment.bytes) ?? null;
  }

  /** The oldest segment that the ledger has never had completely. */
  findOldestUnreported(): Segment | null {
    return (
      this.#segments.find(
        ({ retainedSinceMs, acknowledgedBytes, bytes }) => retainedSinceMs === null && acknowledgedBytes < bytes,
      ) ?? null
    );
  }

  /** Whether the queue still has the segment. */
  contains(segment: Segment): boolean {
    return this.#segments.includes(segment);
  }

  /** Takes over the segment files of a directory whose lock the caller holds. Returns how many must be sent. */
  adopt(home: WorkerDirectory, nowMs: number): number {
    const retainedSegments: Segment[] = [];
    let newest: LedgerMark | null = null;
    for (const { path, reportedMs, mark } of listRetainedSegments(home.path)) {
      const { size: bytes, birthtimeMs: createdMs } = statSync(path);
      const retainedSinceMs = Math.min(reportedMs, nowMs);
      retainedSegments.push({
        path,
        home,
        createdMs,
        bytes,
        acknowledgedBytes: bytes,
        fd: -1,
        orgBytes: new Map(),
        retainedSinceMs,
      });
      this.#bytesRetained += bytes;
      if (mark !== null && mark.number > (newest?.number ?? 0)) newest = mark;
    }
    if (newest !== null) this.#adoptedMarks.push(newest);
    const unsentSegments: Segment[] = [];
    for (const path of listSegmentFiles(home.path)) {
      const { size: bytes, birthtimeMs: createdMs } = statSync(path);
      if (bytes === 0) rmSync(path);
      else
        unsentSegments.push({
          path,
          home,
          createdMs,
          bytes,
          acknowledgedBytes: 0,
          fd: -1,
          orgBytes: new Map(),
          retainedSinceMs: null,
        });
    }
    this.#segments.unshift(...retainedSegments, ...unsentSegments);
    for (const { bytes } of [...retainedSegments, ...unsentSegments]) this.#bytesOnDisk += bytes;
    return unsentSegments.length;
  }

  hasSegmentsIn(home: WorkerDirectory): boolean {
    return this.#segments.some((segment) => segment.home === home);
  }

  /** Appends with one write call. Throws file system errors; then nothing was appended. */
  append(bytes: Buffer, nowMs: number): void {
    const segment = this.#getOrCreateActive(nowMs);
    let written = 0;
    try {
      while (written < bytes.length) {
        written += writeSync(segment.fd, bytes, written, bytes.length - written, segment.bytes + written);
      }
    } catch (error) {
      this.#truncatePartialWrite(segment);
      throw error;
    }
    segment.bytes += bytes.length;
    this.#bytesOnDisk += bytes.length;
  }

  /** Records that the ledger has everything up to `offset` of a segment, by the commit of `mark` (null: unknown). */
  acknowledge(segment: Segment, offset: number, nowMs: number, mark: LedgerMark | null): void {
    if (mark !== null) this.#mark = mark;
    if (!this.contains(segment)) return; // it was retained, and evicted while its batch was inflight
    segment.acknowledgedBytes = Math.max(segment.acknowledgedBytes, offset);
    if (segment === this.#active && this.#shouldSeal(segment, nowMs)) this.#seal(segment);
    if (segment.fd === -1 && segment.acknowledgedBytes >= segment.bytes) this.#retain(segment, nowMs);
  }

  /**
   * Queues all segments again and drops all marks, because no ledger commit is known any more. Retained files get names
   * of unsent ones; otherwise a newer mark would hide them after a crash. Returns the queued bytes.
   */
  rewind(): number {
    this.#mark = null;
    this.#adoptedMarks.length = 0;
    for (const segment of this.#segments) {
      segment.acknowledgedBytes = 0;
      if (segment.retainedSinceMs !== null) renameToUnsent(segment);
    }
    return this.#bytesOnDisk;
  }

  /**
   * Deletes segments whose retention has ended. Seals and retains an idle active segment that is fully acknowledged.
   */
  deleteExpired(nowMs: number): void {
    const active = this.#active;
    if (active !== null && active.acknowledgedBytes >= active.bytes && this.#shouldSeal(active, nowMs)) {
      this.#seal(active);
      this.#retain(active, nowMs);
    }
    for (const segment of [...this.#segments]) {
      const { retainedSinceMs, acknowledgedBytes, bytes } = segment;
      if (retainedSinceMs === null || acknowledgedBytes < bytes) continue;
      if (nowMs - retainedSinceMs >= this.#limits.retentionMs) this.#remove(segment);
    }
  }

  /** Deletes the oldest retained segments until all files together take at most `bytesMax`, or none is left. */
  evictRetained(bytesMax: number): void {
    while (this.#bytesRetained > 0 && this.#bytesOnDisk > bytesMax) {
      this.#remove(this.#segments.find(({ retainedSinceMs }) => retainedSinceMs !== null)!);
    }
  }

  /** Removes an unreadable segment from the queue; its file stays. */
  abandon(segment: Segment): void {
    if (segment === this.#active) this.#seal(segment);
    this.#removeFromQueue(segment);
  }

  /** Seals the active segment. Nothing may be appended afterwards. */
  close(nowMs: number): void {
    if (this.#active !== null) this.#seal(this.#active);
    for (const segment of [...this.#segments]) {
      if (segment.retainedSinceMs === null && segment.acknowledgedBytes >= segment.bytes) this.#retain(segment, nowMs);
    }
  }

  #getOrCreateActive(nowMs: number): Segment {
    const active = this.#active;
    if (active !== null) {
      if (!this.#shouldSeal(active, nowMs)) return active;
      this.#seal(active);
      if (active.acknowledgedBytes >= active.bytes) this.#retain(active, nowMs);
    }
    const { path, fd } = this.#createFile(nowMs);
    const segment: Segment = {
      path,
      home: this.#ownDirectory,
      createdMs: nowMs,
      bytes: 0,
      acknowledgedBytes: 0,
      fd,
      orgBytes: new Map(),
      retainedSinceMs: null,
    };
    this.#segments.push(segment);
    this.#active = segment;
    return segment;
  }

  #createFile(nowMs: number): { path: string; fd: number } {
    for (let tries = 1; ; tries++) {
      const path = join(this.#ownDirectory.path, formatSegmentFileName(nowMs, this.#counter++));
      try {
        return { path, fd: openSync(path, 'wx', 0o600) };
      } catch (error) {
        // A file of an earlier run has the same millisecond, or the clock stepped back: try the next name.
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || tries === NAME_TRIES_MAX) throw error;
      }
    }
  }

  #shouldSeal(segment: Segment, nowMs: number): boolean {
    if (segment.bytes === 0) return false;
    return segment.bytes >= this.#limits.segmentBytes || nowMs - segment.createdMs >= this.#limits.segmentAgeMs;
  }

  /** Undoes a partial write. If truncation fails, part of a frame remains, and readers skip it. */
  #truncatePartialWrite(segment: Segment): void {
    try {
      ftruncateSync(segment.fd, segment.bytes);
    } catch {
      this.#seal(segment);
    }
  }

  /**
   * Seals a segment and flushes unacknowledged data to disk, off the event loop. So a power failure can lose the active
   * segment only. A process crash loses nothing, because the page cache survives it.
   */
  #seal(segment: Segment): void {
    const { fd } = segment;
    segment.fd = -1;
    segment.orgBytes = this.orgUsage.sealFile();
    if (segment === this.#active) this.#active = null;
    if (segment.acknowledgedBytes >= segment.bytes) closeSync(fd);
    else fdatasync(fd, () => close(fd));
  }

  /**
   * Retains a fully acknowledged segment. If the rename fails the file is deleted, because retention is only a
   * precaution.
   */
  #retain(segment: Segment, nowMs: number): void {
    if (this.#limits.retentionMs === 0 || segment.bytes === 0) {
      this.#remove(segment);
      return;
    }
    const path = retainedSegmentPath(segment.path, nowMs, this.#mark);
    try {
      renameSync(segment.path, path);
    } catch {
      this.#remove(segment);
      return;
    }
    segment.path = path;
    if (segment.retainedSinceMs === null) this.#bytesRetained += segment.bytes;
    segment.retainedSinceMs = nowMs;
    this.orgUsage.releaseFile(segment.orgBytes);
    segment.orgBytes = new Map();
  }

  #remove(segment: Segment): void {
    this.#removeFromQueue(segment);
    rmSync(segment.path, { force: true });
  }

  #removeFromQueue(segment: Segment): void {
    const at = this.#segments.indexOf(segment);
    if (at < 0) return;
    this.#segments.splice(at, 1);
    this.#bytesOnDisk -= segment.bytes;
    if (segment.retainedSinceMs !== null) this.#bytesRetained -= segment.bytes;
    this.orgUsage.releaseFile(segment.orgBytes);
  }
}

/** Renames the file to an unsent segment. If that fails, this process still sends the segment again. */
function renameToUnsent(segment: Segment): void {
  const path = unsentSegmentPath(segment.path);
  try {
    renameSync(segment.path, path);
    segment.path = path;
  } catch {
    // Only a crash before the segment is sent again would lose it.
  }
}
