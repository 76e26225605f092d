/**
 * The segment files of one spool, oldest first: appended at the end, read and acknowledged at the front.
 *
 *   [sealed, partly acknowledged][sealed] … [sealed][active]
 *    ▲ reading starts at `acknowledged`              ▲ appended to
 *
 * A segment is sealed by size or age and deleted when all of it is acknowledged. How far a segment was acknowledged
 * is not kept on disk: after a restart at most one segment is sent again, and the ledger knows its ids.
 */
import { close, closeSync, fdatasync, ftruncateSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type FileShares, SpoolShares } from './spool-shares.js';
import { listSegmentFiles, segmentFileName, type WorkerDirectory } from './worker-directory.js';

export interface Segment {
  readonly path: string;
  /** Whose lock protects the file. */
  readonly home: WorkerDirectory;
  /** Unix ms of the first byte. */
  readonly createdMs: number;
  /** Bytes that hold finished writes. */
  bytes: number;
  acknowledged: number;
  /** -1 once sealed. */
  fd: number;
  /** Empty until sealed. */
  shares: FileShares;
}

interface SegmentLimits {
  /** A segment is sealed when it reaches this … */
  readonly segmentBytes: number;
  /** … or is this old. */
  readonly segmentAgeMs: number;
}

const NAME_TRIES_MAX = 1_000;

export class Segments {
  readonly #own: WorkerDirectory;
  readonly #limits: SegmentLimits;
  readonly shares = new SpoolShares();
  readonly #list: Segment[] = [];
  #active: Segment | null = null;
  #bytesOnDisk = 0;
  #counter = 0;

  constructor(own: WorkerDirectory, limits: SegmentLimits) {
    this.#own = own;
    this.#limits = limits;
  }

  /** Size of all files, acknowledged parts included. */
  get bytesOnDisk(): number {
    return this.#bytesOnDisk;
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

  /** Whether the segment's file is still there, as far as this process is concerned. */
  has(segment: Segment): boolean {
    return this.#list.includes(segment);
  }

  /** Takes over the files that lie in a directory whose lock the caller holds. Returns how many. */
  adopt(home: WorkerDirectory): number {
    const found: Segment[] = [];
    for (const path of listSegmentFiles(home.path)) {
      const { size, birthtimeMs } = statSync(path);
      if (size === 0) rmSync(path);
      else found.push({ path, home, createdMs: birthtimeMs, bytes: size, acknowledged: 0, fd: -1, shares: [] });
    }
    this.#list.unshift(...found);
    for (const segment of found) this.#bytesOnDisk += segment.bytes;
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

  /** Everything up to `offset` of a segment is in the ledger. */
  acknowledge(segment: Segment, offset: number, nowMs: number): void {
    segment.acknowledged = Math.max(segment.acknowledged, offset);
    if (segment === this.#active && this.#due(segment, nowMs)) this.#seal(segment);
    if (segment.fd === -1 && segment.acknowledged >= segment.bytes) this.#remove(segment);
  }

  /** Leaves a segment that cannot be read where it is and goes on without it. */
  abandon(segment: Segment): void {
    if (segment === this.#active) this.#seal(segment);
    this.#forget(segment);
  }

  /** Seals what is open; nothing may be appended afterwards. */
  close(): void {
    if (this.#active !== null) this.#seal(this.#active);
    for (const segment of [...this.#list]) {
      if (segment.acknowledged >= segment.bytes) this.#remove(segment);
    }
  }

  #writable(nowMs: number): Segment {
    const active = this.#active;
    if (active !== null) {
      if (!this.#due(active, nowMs)) return active;
      this.#seal(active);
      if (active.acknowledged >= active.bytes) this.#remove(active);
    }
    const { path, fd } = this.#create(nowMs);
    const segment: Segment = { path, home: this.#own, createdMs: nowMs, bytes: 0, acknowledged: 0, fd, shares: [] };
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

  #remove(segment: Segment): void {
    this.#forget(segment);
    rmSync(segment.path, { force: true });
  }

  #forget(segment: Segment): void {
    const at = this.#list.indexOf(segment);
    if (at < 0) return;
    this.#list.splice(at, 1);
    this.#bytesOnDisk -= segment.bytes;
    this.shares.free(segment.shares);
  }
}
