/** Reads the spool's segments; keeps one file open at a time. */
import { type FileHandle, open } from 'node:fs/promises';
import { noop } from '@acg/base/noop';
import type { Segment } from './segment-queue.js';

export class SegmentByteRangeReader {
  readonly #chunk: Buffer;
  #open: { readonly segment: Segment; readonly file: FileHandle } | null = null;

  constructor(bytesMax: number) {
    this.#chunk = Buffer.allocUnsafe(bytesMax);
  }

  /**
   * Returns bytes of the segment, valid until the next call. Throws file system errors, and an error at the end of the
   * file.
   */
  async read(segment: Segment, from: number, to: number): Promise<Buffer> {
    if (this.#open?.segment !== segment) {
      await this.close();
      this.#open = { segment, file: await open(segment.path, 'r') };
    }
    const { bytesRead } = await this.#open.file.read(this.#chunk, 0, to - from, from);
    if (bytesRead === 0) throw new Error('spool segment is shorter than expected');
    return this.#chunk.subarray(0, bytesRead);
  }

  /**
   * Closes a deleted file, because it takes disk space while it is open. On a full disk that may be all the space left.
   */
  closeIf(isGone: (segment: Segment) => boolean): void {
    if (this.#open !== null && isGone(this.#open.segment)) this.close().catch(noop);
  }

  async close(): Promise<void> {
    const opened = this.#open;
    this.#open = null;
    await opened?.file.close();
  }
}

/** The segment itself is good and can be read later. */
export const isOutOfDescriptors = (error: unknown): boolean =>
  ['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException).code ?? '');
