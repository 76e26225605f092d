import { BoundedBuffer } from './bounded-buffer.js';

/** Longest part header plus model name that is read, in bytes. */
const PART_BYTES_MAX = 1_024;
const MODEL_FIELD = /^content-disposition:\s*form-data;[^\r\n]*\bname="?model"?\s*(?:;|\r|$)/im;

/**
 * Finds the `model` field of a multipart form at any chunk boundaries. Reads only parts after the form's own boundary,
 * so a file that looks like a field has no effect.
 */
export class MultipartModelScanner {
  /** Null when there is no model field, or two different ones. */
  model: string | null = null;
  readonly #delimiter: Buffer;
  /** While searching: the last bytes of the previous chunk. While reading: the beginning of the part. */
  readonly #held = new BoundedBuffer(PART_BYTES_MAX);
  #isReading = false;
  #isAmbiguous = false;

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`--${boundary}\r\n`, 'latin1');
  }

  observe(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) at = this.#isReading ? this.#readPart(chunk, at) : this.#findBoundary(chunk, at);
  }

  #findBoundary(chunk: Buffer, from: number): number {
    const overlap = this.#delimiter.length - 1;
    if (this.#held.length > 0) {
      const seam = Math.min(chunk.length, from + overlap);
      this.#held.append(chunk, from, seam);
      const found = this.#held.bytes.subarray(0, this.#held.length).indexOf(this.#delimiter);
      if (found >= 0) {
        // The delimiter ends inside the seam: continue directly after it.
        const past = this.#held.length - (found + this.#delimiter.length);
        this.#startPart();
        return seam - past;
      }
      if (seam === chunk.length) {
        this.#keepTail(overlap);
        return seam;
      }
      this.#held.clear();
    }
    const found = chunk.indexOf(this.#delimiter, from);
    if (found >= 0) {
      this.#startPart();
      return found + this.#delimiter.length;
    }
    this.#held.append(chunk, Math.max(from, chunk.length - overlap), chunk.length);
    return chunk.length;
  }

  #startPart(): void {
    this.#held.clear();
    this.#isReading = true;
  }

  #keepTail(bytes: number): void {
    const from = Math.max(0, this.#held.length - bytes);
    const tail = Buffer.from(this.#held.bytes.subarray(from, this.#held.length));
    this.#held.clear();
    this.#held.append(tail, 0, tail.length);
  }

  #readPart(chunk: Buffer, from: number): number {
    const to = Math.min(chunk.length, from + PART_BYTES_MAX - this.#held.length);
    this.#held.append(chunk, from, to);
    const part = this.#held.bytes.subarray(0, this.#held.length);
    const blank = part.indexOf('\r\n\r\n');
    const end = blank < 0 ? -1 : part.indexOf('\r\n', blank + 4);
    const isModel = blank >= 0 && MODEL_FIELD.test(part.toString('latin1', 0, blank));
    if (end >= 0 && isModel) this.#setModel(part.toString('utf8', blank + 4, end));
    const isDecided = blank >= 0 && (!isModel || end >= 0);
    if (!isDecided && this.#held.length < PART_BYTES_MAX) return to;
    // The bytes read may contain the next boundary. Search again from the start of the value.
    const again = blank >= 0 ? blank : part.length;
    const back = Math.min(to - from, part.length - again);
    this.#isReading = false;
    this.#held.clear();
    return to - back;
  }

  #setModel(model: string): void {
    if (this.model !== null && this.model !== model) this.#isAmbiguous = true;
    this.model = this.#isAmbiguous || model === '' ? null : model.slice(0, 256);
  }
}

/** The boundary of a `multipart/form-data` content type; null when there is none. */
export function parseMultipartBoundary(contentType: string): string | null {
  const found = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType.slice(0, 512));
  return found?.[1] ?? found?.[2] ?? null;
}
