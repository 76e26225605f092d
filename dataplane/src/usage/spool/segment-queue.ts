/**
 * The segment files of one spool, oldest first: appended at the end, read and acknowledged at the front.
 *
 *   [kept] … [kept][sealed, partly acknowledged][sealed] … [sealed][active]
 *                   ▲ reading starts at `acknowledged`              ▲ appended to
 *
 * A segment is sealed by size or age. When all of it is acknowledged it is kept for `keepMs`, because the database may
 * lose what it has committed: `rewind` sends everything that is here once more. Kept segments take no room from anything:
 * they do not count as in use, and the oldest go first where bytes are needed. How far a segment was acknowledged is not
 * stored on disk: after a restart at most one segment is sent again, and the ledger knows its ids.
 */
import { close, closeSync, fdatasync, ftruncateSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type FileOrgBytes, OrgSpoolUsage } from './org-spool-usage.js';
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
  /** Changes when the segment is kept, and when it is to be sent again. */
  path: string;
  /** Whose lock protects the file. */
  readonly home: WorkerDirectory;
  /** Unix ms of the first byte. */
  readonly createdMs: number;
  /** Bytes that hold finished writes. */
  bytes: number;
  acknowledgedBytes: number;
  /** -1 once sealed. */
  fd: number;
  /** Empty until sealed, and once kept. */
  orgBytes: FileOrgBytes;
  /** When the ledger had all of it, Unix ms; null: not yet. Stays set while a kept segment is sent again. */
  retainedSinceMs: number | null;
}

interface SegmentLimits {
  /** A segment is sealed when it reaches this … */
  readonly segmentBytes: number;
  /** … or is this old. */
  readonly segmentAgeMs: number;
  /** How long a segment stays after the ledger has all of it; 0: it is deleted at once. */
  readonly retentionMs: number;
}

const NAME_TRIES_MAX = 1_000;

export class SegmentQueue {
  readonly #own: WorkerDirectory;
  readonly #limits: SegmentLimits;
  readonly orgUsage = new OrgSpoolUsage();
  readonly #list: Segment[] = [];
  #active: Segment | null = null;
  #bytesOnDisk = 0;
  #bytesRetained = 0;
  #counter = 0;
  #mark: LedgerMark | null = null;
  /**
   * The newest mark of each adopted directory, until the ledger was asked for it: numbers are issued again after a failover,
   * so a newer one says nothing about it. As many as workers at most.
   */
  readonly #adoptedMarks: LedgerMark[] = [];

  constructor(own: WorkerDirectory, limits: SegmentLimits) {
    this.#own = own;
    this.#limits = limits;
  }

  /** Size of the files that must stay, acknowledged parts included: all but the kept ones. */
  get bytesInUse(): number {
    return this.#bytesOnDisk - this.#bytesRetained;
  }

  /** Size of the files that the ledger has. */
  get bytesRetained(): number {
    return this.#bytesRetained;
  }

  /** The commit to ask the ledger for: an adopted one, or the newest that acknowledged something here; null: not known. */
  get ledgerMark(): LedgerMark | null {
    return this.#adoptedMarks[0] ?? this.#mark;
  }

  /** The ledger has that commit. */
  confirmMark(mark: LedgerMark): void {
    const at = this.#adoptedMarks.findIndex(({ id }) => id === mark.id);
    if (at === -1) return;
    this.#adoptedMarks.splice(at, 1);
    if (mark.number > (this.#mark?.number ?? 0)) this.#mark = mark;
  }

  get bytesUnacknowledged(): number {
    let sum = 0;
    for (const segment of this.#list) sum += segment.bytes - segment.acknowledgedBytes;
    return sum;
  }

  /** The oldest segment with something to send. */
  findHead(): Segment | null {
    return this.#list.find((segment) => segment.acknowledgedBytes < segment.bytes) ?? null;
  }

  /** The oldest one that the ledger has never had all of. */
  findOldestUnreported(): Segment | null {
    return (
      this.#list.find(
        ({ retainedSinceMs: keptSinceMs, acknowledgedBytes: acknowledged, bytes }) =>
          keptSinceMs === null && acknowledged < bytes,
      ) ?? null
    );
  }

  /** Whether the segment's file is still there, as far as this process is concerned. */
  contains(segment: Segment): boolean {
    return this.#list.includes(segment);
  }

  /** Takes over the files that lie in a directory whose lock the caller holds. Returns how many are to be sent. */
  adopt(home: WorkerDirectory, nowMs: number): number {
    const kept: Segment[] = [];
    let newest: LedgerMark | null = null;
    for (const { path, shippedMs, mark } of listRetainedSegments(home.path)) {
      const { size: bytes, birthtimeMs: createdMs } = statSync(path);
      const keptSinceMs = Math.min(shippedMs, nowMs);
      kept.push({
        path,
        home,
        createdMs,
        bytes,
        acknowledgedBytes: bytes,
        fd: -1,
        orgBytes: [],
        retainedSinceMs: keptSinceMs,
      });
      this.#bytesRetained += bytes;
      if (mark !== null && mark.number > (newest?.number ?? 0)) newest = mark;
    }
    if (newest !== null) this.#adoptedMarks.push(newest);
    const found: Segment[] = [];
    for (const path of listSegmentFiles(home.path)) {
      const { size: bytes, birthtimeMs: createdMs } = statSync(path);
      if (bytes === 0) rmSync(path);
      else
        found.push({ path, home, createdMs, bytes, acknowledgedBytes: 0, fd: -1, orgBytes: [], retainedSinceMs: null });
    }
    this.#list.unshift(...kept, ...found);
    for (const { bytes } of [...kept, ...found]) this.#bytesOnDisk += bytes;
    return found.length;
  }

  hasSegmentsIn(home: WorkerDirectory): boolean {
    return this.#list.some((segment) => segment.home === home);
  }

  /** Appends with one write call; throws what the file system throws, and then nothing was appended. */
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

  /** Everything up to `offset` of a segment is in the ledger, by the commit of `mark` (null: not known). */
  acknowledge(segment: Segment, offset: number, nowMs: number, mark: LedgerMark | null): void {
    if (mark !== null) this.#mark = mark;
    if (!this.contains(segment)) return; // it was kept, and made room while its batch was under way
    segment.acknowledgedBytes = Math.max(segment.acknowledgedBytes, offset);
    if (segment === this.#active && this.#shouldSeal(segment, nowMs)) this.#seal(segment);
    if (segment.fd === -1 && segment.acknowledgedBytes >= segment.bytes) this.#retain(segment, nowMs);
  }

  /**
   * Everything that is here is to be sent again, and no commit of the ledger is known any more. Kept files get the names of
   * unsent ones: after a crash a newer mark would hide that they were not sent again. Returns the bytes.
   */
  rewind(): number {
    this.#mark = null;
    this.#adoptedMarks.length = 0;
    for (const segment of this.#list) {
      segment.acknowledgedBytes = 0;
      if (segment.retainedSinceMs !== null) renameToUnsent(segment);
    }
    return this.#bytesOnDisk;
  }

  /** Deletes what was kept long enough. Where nothing is appended any more, seals what the ledger has all of. */
  deleteExpired(nowMs: number): void {
    const active = this.#active;
    if (active !== null && active.acknowledgedBytes >= active.bytes && this.#shouldSeal(active, nowMs)) {
      this.#seal(active);
      this.#retain(active, nowMs);
    }
    for (const segment of [...this.#list]) {
      const { retainedSinceMs: keptSinceMs, acknowledgedBytes: acknowledged, bytes } = segment;
      if (keptSinceMs === null || acknowledged < bytes) continue;
      if (nowMs - keptSinceMs >= this.#limits.retentionMs) this.#remove(segment);
    }
  }

  /** Deletes the oldest kept segments until all files together take at most `bytesMax`, or none is left. */
  evictRetained(bytesMax: number): void {
    while (this.#bytesRetained > 0 && this.#bytesOnDisk > bytesMax) {
      this.#remove(this.#list.find(({ retainedSinceMs: keptSinceMs }) => keptSinceMs !== null)!);
    }
  }

  /** Leaves a segment that cannot be read where it is and goes on without it. */
  abandon(segment: Segment): void {
    if (segment === this.#active) this.#seal(segment);
    this.#forget(segment);
  }

  /** Seals what is open; nothing may be appended afterwards. */
  close(nowMs: number): void {
    if (this.#active !== null) this.#seal(this.#active);
    for (const segment of [...this.#list]) {
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
    const { path, fd } = this.#create(nowMs);
    const segment: Segment = {
      path,
      home: this.#own,
      createdMs: nowMs,
      bytes: 0,
      acknowledgedBytes: 0,
      fd,
      orgBytes: [],
      retainedSinceMs: null,
    };
    this.#list.push(segment);
    this.#active = segment;
    return segment;
  }

  #create(nowMs: number): { path: string; fd: number } {
    for (let tries = 1; ; tries++) {
      const path = join(this.#own.path, formatSegmentFileName(nowMs, this.#counter++));
      try {
        return { path, fd: openSync(path, 'wx', 0o600) };
      } catch (error) {
        // A file of an earlier run made in this very millisecond (or a clock that went back): take the next name.
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || tries === NAME_TRIES_MAX) throw error;
      }
    }
  }

  #shouldSeal(segment: Segment, nowMs: number): boolean {
    if (segment.bytes === 0) return false;
    return segment.bytes >= this.#limits.segmentBytes || nowMs - segment.createdMs >= this.#limits.segmentAgeMs;
  }

  /** Undoes a partial write. Where even that fails the rest of a frame stays behind, which readers skip. */
  #truncatePartialWrite(segment: Segment): void {
    try {
      ftruncateSync(segment.fd, segment.bytes);
    } catch {
      this.#seal(segment);
    }
  }

  /**
   * What is unacknowledged when a segment is sealed is pushed to the disk itself, off the event loop, so that a power
   * cut can take at most the active segment. A crash of the process takes nothing: the page cache outlives it.
   */
  #seal(segment: Segment): void {
    const { fd } = segment;
    segment.fd = -1;
    segment.orgBytes = this.orgUsage.sealFile();
    if (segment === this.#active) this.#active = null;
    if (segment.acknowledgedBytes >= segment.bytes) closeSync(fd);
    else fdatasync(fd, () => close(fd));
  }

  /** The ledger has all of it. Where the file cannot be renamed it is deleted: keeping it is a precaution only. */
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
    segment.orgBytes = [];
  }

  #remove(segment: Segment): void {
    this.#forget(segment);
    rmSync(segment.path, { force: true });
  }

  #forget(segment: Segment): void {
    const at = this.#list.indexOf(segment);
    if (at < 0) return;
    this.#list.splice(at, 1);
    this.#bytesOnDisk -= segment.bytes;
    if (segment.retainedSinceMs !== null) this.#bytesRetained -= segment.bytes;
    this.orgUsage.releaseFile(segment.orgBytes);
  }
}

/** Where that fails the segment is still sent again by this process. */
function renameToUnsent(segment: Segment): void {
  const path = unsentSegmentPath(segment.path);
  try {
    renameSync(segment.path, path);
    segment.path = path;
  } catch {
    // Only a crash before it is sent again would lose it.
  }
}
