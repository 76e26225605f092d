/** Longest part header plus model name that is read, in bytes. */
const PART_BYTES_MAX = 1_024;
const MODEL_FIELD = /^content-disposition:\s*form-data;[^\r\n]*\bname="?model"?\s*(?:;|\r|$)/im;
const DASH = 0x2d;
const EMPTY: Buffer = Buffer.alloc(0);

/**
 * Finds the `model` field of a multipart form at any chunk boundaries. Reads only parts after the form's own boundary,
 * so a file that looks like a field has no effect. Lenient, for metering: policies use parseStrictMultipart.
 */
export class MultipartModelScanner {
  /** Null when there is no model field, or two different ones. */
  model: string | null = null;
  readonly #delimiter: Buffer;
  /** The end of the last chunk, when it can be the beginning of a delimiter or of a field. */
  #held = EMPTY;
  #isAmbiguous = false;

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`--${boundary}\r\n`, 'latin1');
  }

  observe(chunk: Buffer): void {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    let at = 0;
    for (let found = bytes.indexOf(this.#delimiter); found >= 0; found = bytes.indexOf(this.#delimiter, at)) {
      at = found + this.#delimiter.length;
      const part = bytes.subarray(at, at + PART_BYTES_MAX);
      if (!this.#readPart(part) && part.length < PART_BYTES_MAX) {
        this.#held = Buffer.from(bytes.subarray(found));
        return;
      }
    }
    this.#held = Buffer.from(bytes.subarray(this.#findTail(bytes, at)));
  }

  /** Returns false when more bytes of the part are needed. */
  #readPart(part: Buffer): boolean {
    const blank = part.indexOf('\r\n\r\n');
    if (blank < 0) return false;
    if (!MODEL_FIELD.test(part.toString('latin1', 0, blank))) return true;
    const end = part.indexOf('\r\n', blank + 4);
    if (end < 0) return false;
    const model = part.toString('utf8', blank + 4, end);
    if (this.model !== null && this.model !== model) this.#isAmbiguous = true;
    this.model = this.#isAmbiguous || model === '' ? null : model.slice(0, 256);
    return true;
  }

  /** Index from which the bytes are the beginning of a delimiter; their length when they are not. */
  #findTail(bytes: Buffer, from: number): number {
    const { length } = bytes;
    let at = Math.max(from, length - this.#delimiter.length + 1);
    while (at < length && (bytes[at] !== DASH || bytes.compare(this.#delimiter, 0, length - at, at) !== 0)) at++;
    return at;
  }
}

/** The boundary of a `multipart/form-data` content type; null when there is none. */
export function parseMultipartBoundary(contentType: string): string | null {
  const found = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType.slice(0, 512));
  return found?.[1] ?? found?.[2] ?? null;
}
