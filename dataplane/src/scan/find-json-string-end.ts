/**
 * Finds the end of a JSON string, at any chunk boundaries. Strict: checks escapes and control characters (RFC 8259 §7).
 * Lenient: searches for the closing quote with a native function, and measures packed data.
 */

/** The string violates RFC 8259. */
export const INVALID = -1;

/** A loop finds the end of a short string faster than the native search, which takes 11 ns. */
const NEAR_BYTES = 16;
/** Packed data can begin with its type: `data:image/png;base64,`. */
const BLOB_PREFIX_BYTES = 32;
/** A shorter stretch of a string always counts as text. */
const BLOB_BYTES_MIN = 2_048;
const BLOB_SAMPLE_BYTES = 256;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** State of an escape sequence; above 0: hexadecimal digits still expected (strict only). */
const NO_ESCAPE = 0;
const ESCAPE_STARTED = -1;
const ESCAPED = new Set([...'"\\/bfnrt'].map((char) => char.charCodeAt(0)));

const PLAIN = 0;
const STOP = 1;
const MULTI_BYTE = 2;
/** Class of a byte inside a string. STOP: quote, backslash or control character. */
const CLASSES = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === QUOTE || byte === BACKSLASH ? STOP : byte < 0x80 ? PLAIN : MULTI_BYTE,
);

/** Whether the byte is an ASCII character that stands for itself inside a string. */
export const isPlainInString = (byte: number): boolean => CLASSES[byte] === PLAIN;

export class JsonStringEndFinder {
  /** Bytes in strings that look like packed data (base64): long, without blanks or escapes. Lenient only. */
  blobBytes = 0;
  readonly #isStrict: boolean;
  /** The chunk ended in an escape sequence. */
  #escape = NO_ESCAPE;

  constructor(isStrict: boolean) {
    this.#isStrict = isStrict;
  }

  /** Forgets an unfinished string. Keeps `blobBytes`. */
  reset(): void {
    this.#escape = NO_ESCAPE;
  }

  /**
   * Index of the quote that ends the string whose content continues at `from`; `to` when the chunk does not contain it.
   * Lenient: `bytes` must end at `to`.
   */
  findEnd(bytes: Buffer, from: number, to: number): number {
    return this.#isStrict ? this.#check(bytes, from, to) : this.#search(bytes, from, to);
  }

  #check(bytes: Buffer, from: number, to: number): number {
    for (let at = from; at < to; at++) {
      if (this.#escape === NO_ESCAPE) {
        while (at < to && CLASSES[bytes[at]!] !== STOP) at++;
        if (at === to || bytes[at] === QUOTE) return at;
        if (bytes[at] !== BACKSLASH) return INVALID;
        this.#escape = ESCAPE_STARTED;
      } else if (!this.#acceptsEscape(bytes[at]!)) return INVALID;
    }
    return to;
  }

  /** Reads the next byte of an escape sequence. */
  #acceptsEscape(byte: number): boolean {
    if (this.#escape !== ESCAPE_STARTED) {
      this.#escape--;
      return isHex(byte);
    }
    this.#escape = byte === 0x75 ? 4 : NO_ESCAPE;
    return byte === 0x75 || ESCAPED.has(byte);
  }

  #search(bytes: Buffer, from: number, to: number): number {
    if (from >= to) return to;
    let at = this.#escape === NO_ESCAPE ? from : from + 1;
    this.#escape = NO_ESCAPE;
    for (const near = Math.min(to, at + NEAR_BYTES); at < near && bytes[at] !== BACKSLASH; at++) {
      if (bytes[at] === QUOTE) return at;
    }
    for (;;) {
      const quote = bytes.indexOf(QUOTE, at);
      const stop = quote < 0 ? to : quote;
      const sample = at + BLOB_PREFIX_BYTES;
      if (stop - sample >= BLOB_BYTES_MIN && looksLikeBase64(bytes, sample)) this.blobBytes += stop - sample;
      const isEscaped = (countBackslashesBefore(bytes, at, stop) & 1) === 1;
      if (quote < 0 && isEscaped) this.#escape = ESCAPE_STARTED;
      if (quote < 0 || !isEscaped) return stop;
      at = stop + 1;
    }
  }
}

const isHex = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);

function countBackslashesBefore(bytes: Buffer, start: number, end: number): number {
  let at = end;
  while (at > start && bytes[at - 1] === BACKSLASH) at--;
  return end - at;
}

/** Whether the sample at `from` contains only letters, digits and `+/=_-` (base64, base64url, hex). */
function looksLikeBase64(bytes: Buffer, from: number): boolean {
  for (let at = from; at < from + BLOB_SAMPLE_BYTES; at++) {
    const byte = bytes[at]!;
    const isLetter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
    const isOther = (byte >= 0x2f && byte <= 0x39) || byte === 0x2b || byte === 0x3d || byte === 0x5f || byte === 0x2d;
    if (!isLetter && !isOther) return false;
  }
  return true;
}
