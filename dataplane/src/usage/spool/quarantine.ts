/**
 * Keeps unusable spool bytes in files for the operator: damaged ones, and batches that the control plane rejected for
 * good.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Logger } from '@acg/base/log';
import type { ByteRange } from './segment-format.js';

const FILES_MAX = 64;

export class Quarantine {
  readonly #log: Logger;
  #files = 0;
  /** All bytes ever quarantined or unreadable, including those beyond the file limit. */
  totalBytes = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Writes a range of `chunk`, which starts at offset `chunkAt` of the segment, to `{directory of the
   * segment}/set-aside/`.
   */
  store(segmentPath: string, chunkAt: number, chunk: Buffer, range: ByteRange): void {
    this.totalBytes += range.to - range.from;
    const directory = join(dirname(segmentPath), 'set-aside');
    const path = join(directory, `${basename(segmentPath)}-${chunkAt + range.from}.bin`);
    this.#log.error({ segment: segmentPath, bytes: range.to - range.from }, 'quarantined spool bytes');
    if (this.#files++ >= FILES_MAX) return;
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeFileSync(path, chunk.subarray(range.from, range.to), { mode: 0o600 });
    } catch (error) {
      this.#log.error({ err: error }, 'cannot write quarantined spool bytes');
    }
  }
}
