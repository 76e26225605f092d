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
import { type FileShares, SpoolShares } from './spool-shares.js';
import {
  keptPath,
  type LedgerMark,
  listKeptFiles,
  listSegmentFiles,
  segmentFileName,
  unsentPath,
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
  acknowledged: number;
  /** -1 once sealed. */
  fd: number;
  /** Empty until sealed, and once kept. */
  shares: FileShares;
  /** When the ledger had all of it, Unix ms; null: not yet. Stays set while a kept segment is sent again. */
  keptSinceMs: number | null;
}

interface SegmentLimits {
  /** A segment is sealed when it reaches this … */
  readonly segmentBytes: number;
  /** … or is this old. */
  readonly segmentAgeMs: number;
  /** How long a segment stays after the ledger has all of it; 0: it is deleted at once. */
  readonly keepMs: number;
}

const NAME_TRIES_MAX = 1_000;

export class Segments {
  readonly #own: WorkerDirectory;
  readonly #limits: SegmentLimits;
  readonly shares = new SpoolShares();
  readonly #list: Segment[] = [];
  #active: Segment | null = null;
  #bytesOnDisk = 0;
  #bytesKept = 0;
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
    return this.#bytesOnDisk - this.#bytesKept;
  }

  /** Size of the files that the ledger has. */
  get bytesKept(): number {
    return this.#bytesKept;
  }

  /** The commit to ask the ledger for: an adopted one, or the newest that acknowledged something here; null: not known. */
  get mark(): LedgerMark | null {
    return this.#adoptedMarks[0] ?? this.#mark;
  }

  /** The ledger has that commit. */
  markStands(mark: LedgerMark): void {
    const at = this.#adoptedMarks.findIndex(({ id }) => id === mark.id);
    if (at === -1) return;
    this.#adoptedMarks.splice(at, 1);
    if (mark.number > (this.#mark?.number ?? 0)) this.#mark = mark;
  }

  get bytesUnacknowledged(): number {
    let sum = 0;
    for (const segment of this.#list) sum += segment.bytes - segment.acknowledged;
    return sum;
  }

  /** The oldest segment with something to send. */
  head(): Segment | null {
    return this.#list.find((segment) => segment.acknowledged < segment.bytes) ?? null;
  }

  /** The oldest one that the ledger has never had all of. */
  oldestUnshipped(): Segment | null {
    return (
      this.#list.find(({ keptSinceMs, acknowledged, bytes }) => keptSinceMs === null && acknowledged < bytes) ?? null
    );
  }

  /** Whether the segment's file is still there, as far as this process is concerned. */
  has(segment: Segment): boolean {
    return this.#list.includes(segment);
  }

  /** Takes over the files that lie in a directory whose lock the caller holds. Returns how many are to be sent. */
  adopt(home: WorkerDirectory, nowMs: number): number {
    const kept: Segment[] = [];
    let newest: LedgerMark | null = null;
    for (const { path, shippedMs, mark } of listKeptFiles(home.path)) {
      const { size: bytes, birthtimeMs: createdMs } = statSync(path);
      const keptSinceMs = Math.min(shippedMs, nowMs);
      kept.push({ path, home, createdMs, bytes, acknowledged: bytes, fd: -1, shares: [], keptSinceMs });
      this.#bytesKept += bytes;
      if (mark !== null && mark.number > (newest?.number ?? 0)) newest = mark;
    }
    if (newest !== null) this.#adoptedMarks.push(newest);
    const found: Segment[] = [];
    for (const path of listSegmentFiles(home.path)) {
      const { size: bytes, birthtimeMs: createdMs } = statSync(path);
      if (bytes === 0) rmSync(path);
      else found.push({ path, home, createdMs, bytes, acknowledged: 0, fd: -1, shares: [], keptSinceMs: null });
    }
    this.#list.unshift(...kept, ...found);
    for (const { bytes } of [...kept, ...found]) this.#bytesOnDisk += bytes;
    return found.length;
  }

  holds(home: WorkerDirectory): boolean {
    return this.#list.some((segment) => segment.home === home);
  }

  /** Appends with one write call; throws what the file system throws, and then nothing was appended. */
  append(bytes: Buffer, nowMs: number): void {
    const segment = this.#writable(nowMs);
    let written = 0;
    try {
      while (written < bytes.length) {
        written += writeSync(segment.fd, bytes, written, bytes.length - written, segment.bytes + written);
      }
    } catch (error) {
      this.#cutBack(segment);
      throw error;
    }
    segment.bytes += bytes.length;
    this.#bytesOnDisk += bytes.length;
  }

  /** Everything up to `offset` of a segment is in the ledger, by the commit of `mark` (null: not known). */
  acknowledge(segment: Segment, offset: number, nowMs: number, mark: LedgerMark | null): void {
    if (mark !== null) this.#mark = mark;
    if (!this.has(segment)) return; // it was kept, and made room while its batch was under way
    segment.acknowledged = Math.max(segment.acknowledged, offset);
    if (segment === this.#active && this.#due(segment, nowMs)) this.#seal(segment);
    if (segment.fd === -1 && segment.acknowledged >= segment.bytes) this.#keep(segment, nowMs);
  }

  /**
   * Everything that is here is to be sent again, and no commit of the ledger is known any more. Kept files get the names of
   * unsent ones: after a crash a newer mark would hide that they were not sent again. Returns the bytes.
   */
  rewind(): number {
    this.#mark = null;
    this.#adoptedMarks.length = 0;
    for (const segment of this.#list) {
      segment.acknowledged = 0;
      if (segment.keptSinceMs !== null) renameToUnsent(segment);
    }
    return this.#bytesOnDisk;
  }

  /** Deletes what was kept long enough. Where nothing is appended any more, seals what the ledger has all of. */
  sweep(nowMs: number): void {
    const active = this.#active;
    if (active !== null && active.acknowledged >= active.bytes && this.#due(active, nowMs)) {
      this.#seal(active);
      this.#keep(active, nowMs);
    }
    for (const segment of [...this.#list]) {
      const { keptSinceMs, acknowledged, bytes } = segment;
      if (keptSinceMs === null || acknowledged < bytes) continue;
      if (nowMs - keptSinceMs >= this.#limits.keepMs) this.#remove(segment);
    }
  }

  /** Deletes the oldest kept segments until all files together take at most `bytesMax`, or none is left. */
  makeRoom(bytesMax: number): void {
    while (this.#bytesKept > 0 && this.#bytesOnDisk > bytesMax) {
      this.#remove(this.#list.find(({ keptSinceMs }) => keptSinceMs !== null)!);
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
      if (segment.keptSinceMs === null && segment.acknowledged >= segment.bytes) this.#keep(segment, nowMs);
    }
  }

  #writable(nowMs: number): Segment {
    const active = this.#active;
    if (active !== null) {
      if (!this.#due(active, nowMs)) return active;
      this.#seal(active);
      if (active.acknowledged >= active.bytes) this.#keep(active, nowMs);
    }
    const { path, fd } = this.#create(nowMs);
    const segment: Segment = {
      path,
      home: this.#own,
      createdMs: nowMs,
      bytes: 0,
      acknowledged: 0,
      fd,
      shares: [],
      keptSinceMs: null,
    };
    this.#list.push(segment);
    this.#active = segment;
    return segment;
  }

  #create(nowMs: number): { path: string; fd: number } {
    for (let tries = 1; ; tries++) {
      const path = join(this.#own.path, segmentFileName(nowMs, this.#counter++));
      try {
        return { path, fd: openSync(path, 'wx', 0o600) };
      } catch (error) {
        // A file of an earlier run made in this very millisecond (or a clock that went back): take the next name.
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || tries === NAME_TRIES_MAX) throw error;
      }
    }
  }

  #due(segment: Segment, nowMs: number): boolean {
    if (segment.bytes === 0) return false;
    return segment.bytes >= this.#limits.segmentBytes || nowMs - segment.createdMs >= this.#limits.segmentAgeMs;
  }

  /** Undoes a partial write. Where even that fails the rest of a frame stays behind, which readers skip. */
  #cutBack(segment: Segment): void {
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
    segment.shares = this.shares.seal();
    if (segment === this.#active) this.#active = null;
    if (segment.acknowledged >= segment.bytes) closeSync(fd);
    else fdatasync(fd, () => close(fd));
  }

  /** The ledger has all of it. Where the file cannot be renamed it is deleted: keeping it is a precaution only. */
  #keep(segment: Segment, nowMs: number): void {
    if (this.#limits.keepMs === 0 || segment.bytes === 0) {
      this.#remove(segment);
      return;
    }
    const path = keptPath(segment.path, nowMs, this.#mark);
    try {
      renameSync(segment.path, path);
    } catch {
      this.#remove(segment);
      return;
    }
    segment.path = path;
    if (segment.keptSinceMs === null) this.#bytesKept += segment.bytes;
    segment.keptSinceMs = nowMs;
    this.shares.free(segment.shares);
    segment.shares = [];
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
    if (segment.keptSinceMs !== null) this.#bytesKept -= segment.bytes;
    this.shares.free(segment.shares);
  }
}

/** Where that fails the segment is still sent again by this process. */
function renameToUnsent(segment: Segment): void {
  const path = unsentPath(segment.path);
  try {
    renameSync(segment.path, path);
    segment.path = path;
  } catch {
    // Only a crash before it is sent again would lose it.
  }
}
