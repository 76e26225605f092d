/**
 * Splits a JSON document into tokens, at any chunk boundaries. Keeps the open containers and at most one member name,
 * no values. Strict: checks RFC 8259. Lenient: checks only the structure, and finds the end of a string with a native
 * search. A violation ends the document with the token FAILED; it never throws.
 */
import { BoundedBuffer } from './bounded-buffer.js';
import { INVALID, isPlainInString, JsonStringEndFinder } from './find-json-string-end.js';

/** One of the constants below. */
type JsonToken = 0 | 1 | 2 | 3 | 4 | 5 | 6;
/** No token is complete: the chunk has been read. */
export const MORE = 0;
/** The document is invalid. No token follows. */
export const FAILED = 1;
export const OPEN_OBJECT = 2;
export const OPEN_ARRAY = 3;
/** The end of an object or array that was not skipped. */
export const CLOSE = 4;
/** A member name with its colon to come. */
export const NAME = 5;
/** The end of a string, a number, a literal, or a skipped container: `[valueStart, valueEnd)`. */
export const VALUE = 6;

/** A longer name, as raw bytes, has no text; strict tokenizers reject it. */
const NAME_BYTES_MAX = 4_096;
/** A longer number is not valid in strict documents. */
const SCALAR_BYTES_MAX = 512;
const IN_VALUE = 0;
const IN_FIRST_VALUE = 1; // or the end of an empty array
const IN_FIRST_NAME = 2; // or the end of an empty object
const BEFORE_NAME = 3;
const BEFORE_COLON = 4;
const AFTER_VALUE = 5;
const DONE = 6;
const HAS_FAILED = 7;
// States inside a token:
const IN_NAME = 8;
const IN_STRING = 9;
const IN_SCALAR = 10;
const SKIPPING = 11;
const SKIPPING_STRING = 12;

const QUOTE = 0x22;
const STRICT_SCALAR = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

export class JsonTokenizer {
  /** Offset of the last value's first byte, counted from the start of the document. Also set by OPEN tokens. */
  valueStart = 0;
  valueEnd = 0;
  /** Offset of the document's first value; -1 before it. */
  rootStart = -1;

  /** The last name, raw and without quotes: `nameBytes[nameStart, nameEnd)`. Valid until the next call. */
  nameBytes: Buffer = EMPTY;
  nameStart = 0;
  nameEnd = 0;
  /** The last name is ASCII without escapes. False when it must be decoded, or spans chunks. */
  isNamePlain = false;

  readonly #isStrict: boolean;
  readonly #strings: JsonStringEndFinder;
  #state = IN_VALUE;
  /** For each open container: whether it is an array. */
  readonly #arrays: boolean[] = [];
  #bytes: Buffer = EMPTY;
  #at = 0;
  #to = 0;
  /** Bytes of the document before index 0 of the chunk. */
  #base = 0;
  #skipDepth = 0;
  /** A name that began in an earlier chunk, or is not plain. */
  readonly #name = new BoundedBuffer(NAME_BYTES_MAX);
  #isNameTooLong = false;
  /** Strict: the current number or literal. */
  #scalar = '';

  constructor(isStrict: boolean) {
    this.#isStrict = isStrict;
    this.#strings = new JsonStringEndFinder(isStrict);
  }

  /** Bytes in strings that look like packed data (lenient only). Sum over all documents. */
  get blobBytes(): number {
    return this.#strings.blobBytes;
  }

  /** The document is complete. */
  get isDone(): boolean {
    return this.#state === DONE;
  }

  get hasFailed(): boolean {
    return this.#state === HAS_FAILED;
  }

  /** The chunk ended inside a string, number, literal or skipped container. */
  get isInValue(): boolean {
    return this.#state >= IN_STRING;
  }

  /** Offset in the document of index 0 of the chunk. */
  get base(): number {
    return this.#base;
  }

  /** Starts a new document. Keeps `blobBytes`. */
  reset(): void {
    this.valueStart = 0;
    this.valueEnd = 0;
    this.rootStart = -1;
    this.#state = IN_VALUE;
    this.#arrays.length = 0;
    this.#at = 0;
    this.#to = 0;
    this.#base = 0;
    this.#strings.reset();
    this.#name.clear();
    this.#isNameTooLong = false;
    this.#scalar = '';
  }

  /** Continues the document with the chunk `bytes[from, to)`. Read it with {@link next} until MORE or FAILED. */
  push(bytes: Buffer, from: number, to: number): void {
    this.#base += this.#to - from;
    this.#bytes = to < bytes.length ? bytes.subarray(0, to) : bytes; // ends a search at `to`
    this.#at = from;
    this.#to = to;
  }

  next(): JsonToken {
    while (this.#at < this.#to) {
      const token = this.#state < IN_NAME ? this.#readStructure() : this.#readContent();
      if (token !== MORE) return token;
    }
    this.#bytes = EMPTY; // the buffer belongs to the caller
    this.nameBytes = EMPTY;
    return this.#state === HAS_FAILED ? FAILED : MORE;
  }

  /** Call it after an OPEN token: the container becomes one VALUE. Only brackets outside strings are checked in it. */
  skipContainer(): void {
    this.#arrays.pop();
    this.#skipDepth = 1;
    this.#state = SKIPPING;
  }

  /** Ends the document, because a number at its end has no mark. Returns whether it is complete. */
  end(): boolean {
    if (this.#state === IN_SCALAR && this.#arrays.length === 0 && this.#acceptsScalar()) this.#state = DONE;
    return this.#state === DONE;
  }

  /** Text of the last name; null when it is too long, or an escape in it is invalid. */
  decodeName(): string | null {
    if (this.isNamePlain) return this.nameBytes.toString('latin1', this.nameStart, this.nameEnd);
    if (this.#isNameTooLong) return null;
    const raw = this.nameBytes.toString('utf8', this.nameStart, this.nameEnd);
    if (!raw.includes('\\')) return raw;
    try {
      return JSON.parse(`"${raw}"`) as string;
    } catch {
      return null;
    }
  }

  #readStructure(): JsonToken {
    const bytes = this.#bytes;
    const to = this.#to;
    let at = this.#at;
    while (isBlank(bytes[at]!)) if (++at === to) break;
    this.#at = at + 1;
    if (at === to) return MORE;
    const byte = bytes[at]!;
    switch (this.#state) {
      case IN_FIRST_VALUE:
        return byte === 0x5d ? this.#closeContainer() : this.#beginValue(byte, at);
      case IN_VALUE:
        return this.#beginValue(byte, at);
      case IN_FIRST_NAME:
        return byte === 0x7d ? this.#closeContainer() : this.#beginName(byte);
      case BEFORE_NAME:
        return this.#beginName(byte);
      case BEFORE_COLON:
        if (byte !== 0x3a) return this.#fail();
        this.#state = IN_VALUE;
        return MORE;
      case AFTER_VALUE:
        return this.#afterValue(byte);
      default: // DONE: a second value
        return this.#fail();
    }
  }

  #readContent(): JsonToken {
    switch (this.#state) {
      case IN_NAME:
        return this.#readName();
      case IN_STRING:
        return this.#readString();
      case IN_SCALAR:
        return this.#readScalar();
      default:
        return this.#readSkipped();
    }
  }

  #beginValue(byte: number, at: number): JsonToken {
    this.valueStart = this.#base + at;
    if (this.rootStart < 0) this.rootStart = this.valueStart;
    if (byte === QUOTE) {
      this.#state = IN_STRING;
      return this.#readString();
    }
    if (byte === 0x7b) {
      this.#arrays.push(false);
      this.#state = IN_FIRST_NAME;
      return OPEN_OBJECT;
    }
    if (byte === 0x5b) {
      this.#arrays.push(true);
      this.#state = IN_FIRST_VALUE;
      return OPEN_ARRAY;
    }
    if (!isScalarStart(byte)) return this.#fail();
    this.#at = at;
    this.#state = IN_SCALAR;
    return this.#readScalar();
  }

  #afterValue(byte: number): JsonToken {
    const isArray = this.#arrays[this.#arrays.length - 1]!;
    if (byte === 0x2c) {
      this.#state = isArray ? IN_VALUE : BEFORE_NAME;
      return MORE;
    }
    return byte === (isArray ? 0x5d : 0x7d) ? this.#closeContainer() : this.#fail();
  }

  #closeContainer(): JsonToken {
    this.#arrays.pop();
    this.#endValue(this.#at);
    return CLOSE;
  }

  #beginName(byte: number): JsonToken {
    if (byte !== QUOTE) return this.#fail();
    // Fast path for nearly every name: complete in this chunk, and plain ASCII.
    const bytes = this.#bytes;
    const start = this.#at;
    let end = start;
    while (end < this.#to && isPlainInString(bytes[end]!)) end++;
    if (end < this.#to && bytes[end] === QUOTE && end - start <= NAME_BYTES_MAX) {
      this.#at = end + 1;
      return this.#endName(bytes, start, end, true);
    }
    this.#name.clear();
    this.#isNameTooLong = false;
    this.#state = IN_NAME;
    return MORE;
  }

  #readName(): JsonToken {
    const from = this.#at;
    const close = this.#findStringEnd(from);
    if (!this.#name.append(this.#bytes, from, Math.min(close, this.#to))) this.#isNameTooLong = true;
    if (this.#state === HAS_FAILED || (this.#isStrict && this.#isNameTooLong)) return this.#fail();
    this.#at = close + 1;
    if (close >= this.#to) return MORE;
    return this.#endName(this.#name.bytes, 0, this.#isNameTooLong ? 0 : this.#name.length, false);
  }

  #endName(bytes: Buffer, start: number, end: number, isPlain: boolean): JsonToken {
    this.nameBytes = bytes;
    this.nameStart = start;
    this.nameEnd = end;
    this.isNamePlain = isPlain;
    this.#state = BEFORE_COLON;
    return NAME;
  }

  #readString(): JsonToken {
    const close = this.#findStringEnd(this.#at);
    this.#at = close + 1;
    return close < this.#to ? this.#endValue(close + 1) : MORE;
  }

  #readScalar(): JsonToken {
    const bytes = this.#bytes;
    const from = this.#at;
    let at = from;
    while (at < this.#to && !endsScalar(bytes[at]!)) at++;
    this.#at = at; // the delimiter belongs to the container
    if (this.#isStrict) {
      this.#scalar += bytes.toString('latin1', from, Math.min(at, from + SCALAR_BYTES_MAX + 1));
      if (this.#scalar.length > SCALAR_BYTES_MAX) return this.#fail();
    }
    if (at === this.#to) return MORE;
    return this.#acceptsScalar() ? this.#endValue(at) : this.#fail();
  }

  #acceptsScalar(): boolean {
    const isValid = !this.#isStrict || STRICT_SCALAR.test(this.#scalar);
    this.#scalar = '';
    return isValid;
  }

  #readSkipped(): JsonToken {
    const bytes = this.#bytes;
    const to = this.#to;
    let at = this.#at;
    if (this.#state === SKIPPING_STRING) {
      at = this.#findStringEnd(at) + 1;
      if (at <= to) this.#state = SKIPPING;
    }
    let depth = this.#skipDepth;
    for (; at < to; at++) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        at = this.#findStringEnd(at + 1);
        if (at >= to) this.#state = SKIPPING_STRING;
      } else if (byte === 0x7b || byte === 0x5b) depth++;
      else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) {
        this.#at = at + 1;
        return this.#endValue(at + 1);
      }
    }
    this.#skipDepth = depth;
    this.#at = to;
    return MORE;
  }

  #endValue(end: number): JsonToken {
    this.valueEnd = this.#base + end;
    this.#state = this.#arrays.length === 0 ? DONE : AFTER_VALUE;
    return VALUE;
  }

  #fail(): JsonToken {
    this.#state = HAS_FAILED;
    this.#at = this.#to;
    return MORE; // `next` returns FAILED
  }

  /** Index of the quote that ends the string, or the chunk's end when the chunk does not contain it. */
  #findStringEnd(from: number): number {
    const end = this.#strings.findEnd(this.#bytes, from, this.#to);
    if (end !== INVALID) return end;
    this.#state = HAS_FAILED;
    return this.#to;
  }
}

const EMPTY: Buffer = Buffer.alloc(0);

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Whether a number or a literal can begin with this byte. */
const isScalarStart = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x74 || byte === 0x66 || byte === 0x6e;

const endsScalar = (byte: number): boolean => byte === 0x2c || byte === 0x7d || byte === 0x5d || byte <= 0x20;
