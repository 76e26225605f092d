/**
 * Whether a JSON document means the same to every parser. Fed as the body arrives, in pieces of any size; builds nothing.
 *
 *   not_json    breaks the grammar of RFC 8259 (or is no UTF-8): lenient parsers might read something into it; or is
 *               nested deeper, or has more names in open objects, than is kept in memory
 *   ambiguous   parsers may differ: a name twice in one object (which one counts?), a name with NUL (the end of a C
 *               string) or half a surrogate pair (dropped, replaced or kept), a name that only differs in case from one
 *               that is looked for (some libraries do not care)
 *
 * Names are compared as they read after their escapes.
 */
import { isUtf8 } from 'node:buffer';

export type JsonProblem = 'not_json' | 'ambiguous';

const DEPTH_MAX = 512;
/** So many names of an object are compared one by one; more are kept in a set. */
const FEW_NAMES = 8;
const NAME_BYTES_MAX = 4_096;
/** Names that are kept to be compared: those of all open objects together. Vendors allow 5 000 in a schema. */
const NAMES_MAX = 10_000;
/** Their characters together. */
const NAME_CHARS_MAX = 512 * 1024;
/** What a name takes in memory besides its characters, bytes (Node 20, measured: 10⁶ names of 7 take 69 MB). */
const NAME_BYTES = 64;

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
/** By byte: 0 stands for itself in a string, STOP ends a stretch of such bytes, OTHER is part of a longer character. */
const IN_STRINGS = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === QUOTE || byte === BACKSLASH ? STOP : byte < 0x80 ? 0 : OTHER,
);
const ESCAPED = new Set([...'"\\/bfnrt'].map((char) => char.charCodeAt(0)));
const NUMBER_GRAMMAR = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const NUMBER_BYTES_MAX = 512;
const LITERALS: Readonly<Record<number, string>> = { 116: 'true', 102: 'false', 110: 'null' };
const NEVER_IN_NAMES = /[\0\ud800-\udfff]/u; // with the flag: lone halves only

export class StrictJsonValidator {
  #problem: JsonProblem | null = null;
  #state = VALUE;
  /** Per open container: the names of an object so far, null for an array. */
  readonly #open: (string[] | Set<string> | null)[] = [];
  readonly #watched: ReadonlySet<string>;
  readonly #watchedDepthMax: number;
  /** Names of open objects, and their characters. */
  #names = 0;
  #nameChars = 0;
  #isName = false;
  /** The number or literal under way. */
  #text = '';
  /** The name under way as it stands, escapes and all. */
  #pieces: Buffer[] = [];
  #hexLeft = 0;
  /** The beginning of a UTF-8 character whose rest is in the next piece. */
  #cutOff = NOTHING;

  /** `watched`: lower-case names that are looked for, in objects at most so deep (1: the document itself). */
  constructor(watched: readonly string[], watchedDepthMax: number) {
    this.#watched = new Set(watched);
    this.#watchedDepthMax = watchedDepthMax;
  }

  /** What is wrong with the bytes so far. */
  get problem(): JsonProblem | null {
    return this.#problem;
  }

  /** Memory that the names take, bytes. */
  get heldBytes(): number {
    return this.#names * NAME_BYTES + this.#nameChars;
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

  /** The document has ended. */
  finish(): JsonProblem | null {
    if (this.#state === NUMBER && this.#open.length === 0) this.#endNumber();
    if (this.#state !== END || this.#cutOff.length > 0) this.#problem = 'not_json';
    return this.#problem;
  }

  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case STRING:
        return this.#string(bytes, at);
      case ESCAPE:
        return this.#escape(bytes[at]!, at);
      case UNICODE:
        if (!isHex(bytes[at]!)) return this.#fail(at);
        if (this.#isName) this.#pieces.push(bytes.subarray(at, at + 1));
        if (--this.#hexLeft === 0) this.#state = STRING;
        return at + 1;
      case NUMBER:
        return this.#number(bytes, at);
      case LITERAL:
        return this.#literal(bytes[at]!, at);
      default:
        return this.#structure(bytes, at);
    }
  }

  #structure(bytes: Buffer, at: number): number {
    const byte = bytes[at]!;
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return at + 1;
    switch (this.#state) {
      case FIRST_ITEM:
        return byte === 0x5d ? this.#close(at) : this.#value(byte, at);
      case VALUE:
        return this.#value(byte, at);
      case FIRST_NAME:
        return byte === 0x7d ? this.#close(at) : this.#name(bytes, at);
      case NAME:
        return this.#name(bytes, at);
      case COLON:
        if (byte !== 0x3a) return this.#fail(at);
        this.#state = VALUE;
        return at + 1;
      case AFTER:
        return this.#after(byte, at);
      default:
        return this.#fail(at); // a second document
    }
  }

  #value(byte: number, at: number): number {
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

  #close(at: number): number {
    this.#releaseNames(this.#open.pop()!);
    this.#state = this.#open.length === 0 ? END : AFTER;
    return at + 1;
  }

  #releaseNames(names: string[] | Set<string> | null): void {
    if (names === null) return;
    this.#names -= Array.isArray(names) ? names.length : names.size;
    for (const name of names) this.#nameChars -= name.length;
  }

  #after(byte: number, at: number): number {
    const isArray = this.#open[this.#open.length - 1] === null;
    if (byte === 0x2c) {
      this.#state = isArray ? VALUE : NAME;
      return at + 1;
    }
    return byte === (isArray ? 0x5d : 0x7d) ? this.#close(at) : this.#fail(at);
  }

  #name(bytes: Buffer, at: number): number {
    if (bytes[at] !== QUOTE) return this.#fail(at);
    // Nearly every name: here as a whole, of plain ASCII.
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

  #string(bytes: Buffer, from: number): number {
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

  #escape(byte: number, at: number): number {
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

  /** The caller's buffer may change after {@link push}: what of a name is in it is copied. */
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
    const isOdd = NEVER_IN_NAMES.test(name) || this.#resemblesWatched(name, name.normalize('NFKC'));
    if (!this.#addName(name) || isOdd) this.#problem ??= 'ambiguous';
  }

  /** False: the object has it already. */
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
    if (names.length === FEW_NAMES) this.#open[depth] = new Set(names);
    return true;
  }

  #resemblesWatched(name: string, composed: string): boolean {
    if (this.#open.length > this.#watchedDepthMax || this.#watched.has(name)) return false;
    return this.#watched.has(composed.toLowerCase().trim());
  }

  #number(bytes: Buffer, from: number): number {
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

  #literal(byte: number, at: number): number {
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

  /** A character may stand across two pieces. */
  #isUtf8(bytes: Buffer): boolean {
    const whole = this.#cutOff.length === 0 ? bytes : Buffer.concat([this.#cutOff, bytes]);
    const cutOff = countIncompleteUtf8Bytes(whole);
    this.#cutOff = NOTHING;
    if (cutOff === 0) return isUtf8(whole);
    const end = whole.length - cutOff;
    this.#cutOff = Buffer.from(whole.subarray(end));
    return isUtf8(whole.subarray(0, end));
  }
}

/** How many bytes at the end are the beginning of a character that is not complete. */
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
