/**
 * Checks that a JSON document means the same to every parser. Fed as the body arrives, in pieces of any size; builds no
 * document. Names are compared decoded.
 * - not_json: violates RFC 8259 or UTF-8, so that lenient parsers might read something into it; or exceeds the bounds
 *   for nesting depth, for a number, for a name, or for the names of open objects
 * - ambiguous: parsers may differ. A name twice in one object (which one counts?). A name with NUL (the end of a C
 *   string) or half a surrogate pair (dropped, replaced or kept). A name that differs only in case from a watched one
 *   (some libraries ignore case).
 */
import { isUtf8 } from 'node:buffer';
import { CLOSE, FAILED, JsonTokenizer, MORE, NAME, OPEN_ARRAY, OPEN_OBJECT } from '../../scan/json-tokenizer.js';

export type JsonProblem = 'not_json' | 'ambiguous';

const DEPTH_MAX = 512;
/** Up to this many names of an object are compared one by one; more are kept in a set. */
const LINEAR_SEARCH_NAMES_MAX = 8;
/** Names of all open objects together that are kept for comparison. Vendors allow 5 000 in a schema. */
const NAMES_MAX = 10_000;
/** Characters of these names together. */
const NAME_CHARS_MAX = 512 * 1024;
/** Memory of a name besides its characters, in bytes (Node 20, measured: 10⁶ names of 7 characters take 69 MB). */
const NAME_OVERHEAD_BYTES = 64;

const NEVER_IN_NAMES = /[\0\ud800-\udfff]/u; // with the u flag: lone surrogates only

export class StrictJsonValidator {
  readonly #tokens = new JsonTokenizer(true);
  #problem: JsonProblem | null = null;
  /** For each open container: the names of an object so far, null for an array. */
  readonly #open: (string[] | Set<string> | null)[] = [];
  readonly #watched: ReadonlySet<string>;
  readonly #watchedDepthMax: number;
  /** Number of kept names, and their characters. */
  #names = 0;
  #nameChars = 0;
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

  /** Bytes of memory for the kept names. */
  get heldBytes(): number {
    return this.#names * NAME_OVERHEAD_BYTES + this.#nameChars;
  }

  push(bytes: Buffer): void {
    if (this.#problem === 'not_json' || bytes.length === 0) return;
    if (!this.#isUtf8(bytes)) {
      this.#problem = 'not_json';
      return;
    }
    const tokens = this.#tokens;
    tokens.push(bytes, 0, bytes.length);
    for (let token = tokens.next(); token !== MORE && this.#problem !== 'not_json'; token = tokens.next()) {
      if (token === NAME) this.#checkName();
      else if (token === OPEN_OBJECT) this.#openContainer([]);
      else if (token === OPEN_ARRAY) this.#openContainer(null);
      else if (token === CLOSE) this.#releaseNames(this.#open.pop()!);
      else if (token === FAILED) this.#problem = 'not_json';
    }
  }

  /** Ends the document. Returns its problem, or null. */
  finish(): JsonProblem | null {
    if (!this.#tokens.end() || this.#incompleteChar.length > 0) this.#problem = 'not_json';
    return this.#problem;
  }

  #openContainer(names: string[] | null): void {
    if (this.#open.length >= DEPTH_MAX) this.#problem = 'not_json';
    this.#open.push(names);
  }

  #releaseNames(names: string[] | Set<string> | null): void {
    if (names === null) return;
    this.#names -= Array.isArray(names) ? names.length : names.size;
    for (const name of names) this.#nameChars -= name.length;
  }

  #checkName(): void {
    const { isNamePlain } = this.#tokens;
    const name = this.#tokens.decodeName()!;
    const composed = isNamePlain ? name : name.normalize('NFKC');
    const isAmbiguous = (!isNamePlain && NEVER_IN_NAMES.test(name)) || this.#resemblesWatched(name, composed);
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
