/**
 * Checks that a JSON document means the same to every parser. Fed as the body arrives, in pieces of any size; builds no
 * document. Names are compared decoded.
 * - not_json: violates RFC 8259 or UTF-8, so that lenient parsers might read something into it; or exceeds the bounds
 *   for nesting depth and for names of open objects
 * - ambiguous: parsers may differ. A name twice in one object (which one counts?). A name with NUL (the end of a C
 *   string) or half a surrogate pair (dropped, replaced or kept). A name that differs only in case from a watched one
 *   (some libraries ignore case).
 */
import { isUtf8 } from 'node:buffer';

export type JsonProblem = 'not_json' | 'ambiguous';

const DEPTH_MAX = 512;
/** Up to this many names of an object are compared one by one; more are kept in a set. */
const LINEAR_SEARCH_NAMES_MAX = 8;
const NAME_BYTES_MAX = 4_096;
/** Names of all open objects together that are kept for comparison. Vendors allow 5 000 in a schema. */
const NAMES_MAX = 10_000;
/** Characters of these names together. */
const NAME_CHARS_MAX = 512 * 1024;
/** Memory of a name besides its characters, in bytes (Node 20, measured: 10⁶ names of 7 characters take 69 MB). */
const NAME_OVERHEAD_BYTES = 64;

const VALUE = 0;
const FIRST_ITEM = 1; // or the end of an empty array
const FIRST_NAME = 2; // or the end of an empty object
const NAME = 3;
const COLON = 4;
const AFTER = 5;
const STRING = 6;
const ESCAPE = 7;
const UNICODE = 8;
const NUMBER = 9;
const LITERAL = 10;
const END = 11;

const STOP = 1;
const OTHER = 2;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/**
 * Class of a byte inside a string. 0: ASCII character. STOP: quote, backslash or control character. OTHER: byte of a
 * multi-byte character.
 */
const IN_STRINGS = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === QUOTE || byte === BACKSLASH ? STOP : byte < 0x80 ? 0 : OTHER,
);
const ESCAPED = new Set([...'"\\/bfnrt'].map((char) => char.charCodeAt(0)));
const NUMBER_GRAMMAR = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const NUMBER_BYTES_MAX = 512;
const LITERALS: Readonly<Record<number, string>> = { 116: 'true', 102: 'false', 110: 'null' };
const NEVER_IN_NAMES = /[\0\ud800-\udfff]/u; // with the u flag: lone surrogates only

export class StrictJsonValidator {
  #problem: JsonProblem | null = null;
  #state = VALUE;
  /** For each open container: the names of an object so far, null for an array. */
  readonly #open: (string[] | Set<string> | null)[] = [];
  readonly #watched: ReadonlySet<string>;
  readonly #watchedDepthMax: number;
  /** Number of kept names, and their characters. */
  #names = 0;
  #nameChars = 0;
  #isName = false;
  /** The current number or literal. */
  #text = '';
  /** The current name as raw bytes, including escapes. */
  #pieces: Buffer[] = [];
  #hexLeft = 0;
  /** The beginning of a UTF-8 character that continues in the next piece. */
  #incompleteChar = NOTHING;

  /**
   * `watched`: lower-case names that must not occur in other spellings, in objects down to this depth (1: the document
   * itself).
   */
  constructor(watched: readonly string[], watchedDepthMax: number) {
    this.#watched = new Set(watched);
    this.#watchedDepthMax = watchedDepthMax;
  }

  /** The problem found so far, or null. */
  get problem(): JsonProblem | null {
    return this.#problem;
  }

  /** Bytes of memory for the kept names. */
  get heldBytes(): number {
    return this.#names * NAME_OVERHEAD_BYTES + this.#nameChars;
  }

  get #hasFailed(): boolean {
    return this.#problem === 'not_json';
  }

  push(bytes: Buffer): void {
    if (this.#hasFailed || bytes.length === 0) return;
    if (!this.#isUtf8(bytes)) {
      this.#problem = 'not_json';
      return;
    }
    let at = 0;
    while (at < bytes.length && !this.#hasFailed) at = this.#step(bytes, at);
    if (this.#pieces.length > 0) this.#keepPieces();
  }

  /** Ends the document. Returns its problem, or null. */
  finish(): JsonProblem | null {
    if (this.#state === NUMBER && this.#open.length === 0) this.#endNumber();
    if (this.#state !== END || this.#incompleteChar.length > 0) this.#problem = 'not_json';
    return this.#problem;
  }

  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case STRING:
        return this.#readString(bytes, at);
      case ESCAPE:
        return this.#readEscape(bytes[at]!, at);
      case UNICODE:
        if (!isHex(bytes[at]!)) return this.#fail(at);
        if (this.#isName) this.#pieces.push(bytes.subarray(at, at + 1));
        if (--this.#hexLeft === 0) this.#state = STRING;
        return at + 1;
      case NUMBER:
        return this.#readNumber(bytes, at);
      case LITERAL:
        return this.#readLiteral(bytes[at]!, at);
      default:
        return this.#readStructure(bytes, at);
    }
  }

  #readStructure(bytes: Buffer, at: number): number {
    const byte = bytes[at]!;
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return at + 1;
    switch (this.#state) {
      case FIRST_ITEM:
        return byte === 0x5d ? this.#closeContainer(at) : this.#beginValue(byte, at);
      case VALUE:
        return this.#beginValue(byte, at);
      case FIRST_NAME:
        return byte === 0x7d ? this.#closeContainer(at) : this.#readName(bytes, at);
      case NAME:
        return this.#readName(bytes, at);
      case COLON:
        if (byte !== 0x3a) return this.#fail(at);
        this.#state = VALUE;
        return at + 1;
      case AFTER:
        return this.#afterValue(byte, at);
      default:
        return this.#fail(at); // a second document
    }
  }

  #beginValue(byte: number, at: number): number {
    this.#text = '';
    if (byte === QUOTE) {
      this.#isName = false;
      this.#state = STRING;
    } else if (byte === 0x7b) return this.#openContainer([], FIRST_NAME, at);
    else if (byte === 0x5b) return this.#openContainer(null, FIRST_ITEM, at);
    else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      this.#state = NUMBER;
      return at;
    } else if (LITERALS[byte] !== undefined) {
      this.#state = LITERAL;
      return at;
    } else return this.#fail(at);
    return at + 1;
  }

  #openContainer(names: string[] | null, state: number, at: number): number {
    if (this.#open.length >= DEPTH_MAX) return this.#fail(at);
    this.#open.push(names);
    this.#state = state;
    return at + 1;
  }

  #closeContainer(at: number): number {
    this.#releaseNames(this.#open.pop()!);
    this.#state = this.#open.length === 0 ? END : AFTER;
    return at + 1;
  }

  #releaseNames(names: string[] | Set<string> | null): void {
    if (names === null) return;
    this.#names -= Array.isArray(names) ? names.length : names.size;
    for (const name of names) this.#nameChars -= name.length;
  }

  #afterValue(byte: number, at: number): number {
    const isArray = this.#open[this.#open.length - 1] === null;
    if (byte === 0x2c) {
      this.#state = isArray ? VALUE : NAME;
      return at + 1;
    }
    return byte === (isArray ? 0x5d : 0x7d) ? this.#closeContainer(at) : this.#fail(at);
  }

  #readName(bytes: Buffer, at: number): number {
    if (bytes[at] !== QUOTE) return this.#fail(at);
    // Fast path for nearly every name: complete in these bytes, and plain ASCII.
    let end = at + 1;
    while (end < bytes.length && IN_STRINGS[bytes[end]!] === 0) end++;
    if (bytes[end] === QUOTE && end - at <= NAME_BYTES_MAX) {
      const name = bytes.toString('latin1', at + 1, end);
      this.#state = COLON;
      if (!this.#addName(name) || this.#resemblesWatched(name, name)) this.#problem ??= 'ambiguous';
      return end + 1;
    }
    this.#isName = true;
    this.#pieces = [];
    this.#state = STRING;
    return at + 1;
  }

  #readString(bytes: Buffer, from: number): number {
    const { length } = bytes;
    let at = from;
    while (at < length && IN_STRINGS[bytes[at]!] !== STOP) at++;
    if (at < length && bytes[at]! < 0x20) return this.#fail(at);
    if (this.#isName && at > from) this.#pieces.push(bytes.subarray(from, at));
    if (at === length) return at;
    if (bytes[at] === BACKSLASH) {
      if (this.#isName) this.#pieces.push(bytes.subarray(at, at + 1));
      this.#state = ESCAPE;
      return at + 1;
    }
    if (this.#isName) this.#endName();
    else this.#endValue();
    return at + 1;
  }

  #readEscape(byte: number, at: number): number {
    if (this.#isName) this.#pieces.push(Buffer.from([byte]));
    if (byte === 0x75) {
      this.#hexLeft = 4;
      this.#state = UNICODE;
      return at + 1;
    }
    if (!ESCAPED.has(byte)) return this.#fail(at);
    this.#state = STRING;
    return at + 1;
  }

  /** Copies the bytes of an unfinished name, because the caller's buffer may change after {@link push}. */
  #keepPieces(): void {
    const kept = Buffer.concat(this.#pieces);
    this.#pieces = [kept];
    if (kept.length > NAME_BYTES_MAX) this.#problem = 'not_json';
  }

  #endName(): void {
    this.#state = COLON;
    this.#isName = false;
    const pieces = this.#pieces;
    const raw = pieces.length === 1 ? pieces[0]!.toString() : Buffer.concat(pieces).toString();
    this.#pieces = [];
    const name = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
    const isAmbiguous = NEVER_IN_NAMES.test(name) || this.#resemblesWatched(name, name.normalize('NFKC'));
    if (!this.#addName(name) || isAmbiguous) this.#problem ??= 'ambiguous';
  }

  /** Returns false when the object already has the name. */
  #addName(name: string): boolean {
    const depth = this.#open.length - 1;
    const names = this.#open[depth]!;
    if (names instanceof Set ? names.has(name) : names.includes(name)) return false;
    this.#nameChars += name.length;
    if (++this.#names > NAMES_MAX || this.#nameChars > NAME_CHARS_MAX) this.#problem = 'not_json';
    if (names instanceof Set) {
      names.add(name);
      return true;
    }
    names.push(name);
    if (names.length === LINEAR_SEARCH_NAMES_MAX) this.#open[depth] = new Set(names);
    return true;
  }

  #resemblesWatched(name: string, composed: string): boolean {
    if (this.#open.length > this.#watchedDepthMax || this.#watched.has(name)) return false;
    return this.#watched.has(composed.toLowerCase().trim());
  }

  #readNumber(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length && isNumberByte(bytes[at]!)) at++;
    this.#text += bytes.toString('latin1', from, at);
    if (this.#text.length > NUMBER_BYTES_MAX) return this.#fail(at);
    if (at < bytes.length) this.#endNumber();
    return at;
  }

  #endNumber(): void {
    if (NUMBER_GRAMMAR.test(this.#text)) this.#endValue();
    else this.#problem = 'not_json';
  }

  #readLiteral(byte: number, at: number): number {
    this.#text += String.fromCharCode(byte);
    const word = LITERALS[this.#text.charCodeAt(0)]!;
    if (!word.startsWith(this.#text)) return this.#fail(at);
    if (this.#text === word) this.#endValue();
    return at + 1;
  }

  #endValue(): void {
    this.#state = this.#open.length === 0 ? END : AFTER;
  }

  #fail(at: number): number {
    this.#problem = 'not_json';
    return at + 1;
  }

  /** Whether the bytes are UTF-8. A character may span two pieces. */
  #isUtf8(bytes: Buffer): boolean {
    const whole = this.#incompleteChar.length === 0 ? bytes : Buffer.concat([this.#incompleteChar, bytes]);
    const cutOff = countIncompleteUtf8Bytes(whole);
    this.#incompleteChar = NOTHING;
    if (cutOff === 0) return isUtf8(whole);
    const end = whole.length - cutOff;
    this.#incompleteChar = Buffer.from(whole.subarray(end));
    return isUtf8(whole.subarray(0, end));
  }
}

/** Number of bytes at the end that begin an incomplete character. */
function countIncompleteUtf8Bytes(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
}

const NOTHING: Buffer = Buffer.alloc(0);

const isHex = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
const isNumberByte = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x2b || byte === 0x2e || (byte | 0x20) === 0x65;
