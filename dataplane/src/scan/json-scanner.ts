/**
 * Reads a few members of a JSON document without building it, at any chunk boundaries and in constant memory:
 *
 *   paths  `usage`, `response.usage`, `output[].type`   compiled once into a tree of nodes
 *   bytes  ── push ──▶  state machine  ── onValue(slot, raw JSON text) ──▶  sink
 *
 * Tracks only containers on a path and skips all others by counting brackets outside strings. So text inside a JSON
 * string is never taken for a member, and depth costs nothing. The grammar is checked only in the tracked containers;
 * an error there sets `hasFailed`.
 */
import { BoundedBuffer } from './bounded-buffer.js';
import { findMember, type JsonPathNode } from './json-paths.js';

export interface JsonScanSink {
  /** `text`: raw JSON of the value, or null when it is longer than VALUE_BYTES_MAX. */
  onValue(slot: number, text: string | null): void;
}

export const VALUE_BYTES_MAX = 65_536;
const KEY_BYTES_MAX = 256;
/** After this many bytes of a string, the native search for its end is faster than a loop. */
const NEAR_BYTES = 48;

/** A shorter stretch of a string always counts as text. */
const BLOB_BYTES_MIN = 2_048;
const BLOB_SAMPLE_BYTES = 256;

const VALUE = 0;
const FIRST_VALUE = 1; // or the end of an empty array
const FIRST_KEY = 2; // or the end of an empty object
const KEY = 3;
const IN_KEY = 4;
const COLON = 5;
const AFTER = 6;
const IN_STRING = 7;
const IN_LITERAL = 8;
const SKIP = 9;
const SKIP_STRING = 10;
const DONE = 11;
const FAILED = 12;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export class JsonScanner {
  /** Offset of the first byte of the last reported value, counted from the start of the document. */
  valueStart = 0;
  valueEnd = 0;
  /** Bytes in strings that look like packed data (base64): long, without blanks or escapes. Sum over all documents. */
  blobBytes = 0;
  /** Offset of the first structural byte of the document; -1 before it. */
  rootStart = -1;

  readonly #root: JsonPathNode;
  readonly #sink: JsonScanSink;
  #state = VALUE;
  #node: JsonPathNode | null;
  readonly #stack: JsonPathNode[] = [];
  /** Parallel to #stack: whether the container is an array. */
  readonly #arrays: boolean[] = [];
  #skipDepth = 0;
  #escaped = false;
  #keyText = '';
  #keyTooLong = false;
  /** Bytes of the document before index 0 of the current chunk. */
  #base = 0;
  #captureFrom = -1;
  #captureLost = false;
  readonly #held = new BoundedBuffer(VALUE_BYTES_MAX);

  constructor(root: JsonPathNode, sink: JsonScanSink) {
    this.#root = root;
    this.#sink = sink;
    this.#node = root;
  }

  get isDone(): boolean {
    return this.#state === DONE;
  }

  get hasFailed(): boolean {
    return this.#state === FAILED;
  }

  /** Starts a new document. `blobBytes` is kept. */
  reset(): void {
    this.#state = VALUE;
    this.#node = this.#root;
    this.#stack.length = 0;
    this.#arrays.length = 0;
    this.#skipDepth = 0;
    this.#escaped = false;
    this.#keyText = '';
    this.#keyTooLong = false;
    this.#base = 0;
    this.#captureFrom = -1;
    this.#captureLost = false;
    this.#held.clear();
    this.valueStart = 0;
    this.valueEnd = 0;
    this.rootStart = -1;
  }

  /** Reads the next bytes of the document: `bytes[from, to)`. */
  push(bytes: Buffer, from: number, to: number): void {
    if (this.#state === FAILED) return;
    this.#base -= from;
    if (this.#captureFrom >= 0) this.#captureFrom = from;
    let at = from;
    while (at < to && this.#state !== FAILED) at = this.#step(bytes, at, to);
    if (this.#captureFrom >= 0) this.#holdCapture(bytes, to);
    this.#base += to;
  }

  #step(bytes: Buffer, at: number, to: number): number {
    switch (this.#state) {
      case SKIP:
        return this.#skipContainer(bytes, at, to);
      case SKIP_STRING: {
        const close = this.#findStringEnd(bytes, at, to);
        if (close < to) this.#state = SKIP;
        return close + 1;
      }
      case IN_STRING: {
        const close = this.#findStringEnd(bytes, at, to);
        if (close < to) this.#endValue(bytes, close + 1);
        return close + 1;
      }
      case IN_KEY:
        return this.#readKey(bytes, at, to);
      case IN_LITERAL:
        return this.#readLiteral(bytes, at, to);
      default:
        return this.#readStructure(bytes, at, to);
    }
  }

  #readStructure(bytes: Buffer, at: number, to: number): number {
    const byte = bytes[at]!;
    if (isBlank(byte)) {
      let next = at + 1;
      while (next < to && isBlank(bytes[next]!)) next++;
      return next;
    }
    switch (this.#state) {
      case FIRST_VALUE:
        if (byte === 0x5d) return this.#closeContainer(at);
        return this.#beginValue(byte, at);
      case VALUE:
        return this.#beginValue(byte, at);
      case FIRST_KEY:
        if (byte === 0x7d) return this.#closeContainer(at);
        return this.#beginKey(byte, at);
      case KEY:
        return this.#beginKey(byte, at);
      case COLON:
        this.#state = byte === 0x3a ? VALUE : FAILED;
        return at + 1;
      case AFTER:
        return this.#afterValue(byte, at);
      default: // DONE: a second value
        this.#state = FAILED;
        return at + 1;
    }
  }

  #beginKey(byte: number, at: number): number {
    this.#state = byte === QUOTE ? IN_KEY : FAILED;
    this.#keyText = '';
    this.#keyTooLong = false;
    return at + 1;
  }

  #readKey(bytes: Buffer, at: number, to: number): number {
    if (this.#keyText === '' && !this.#keyTooLong && !this.#escaped) {
      // Fast path for nearly every key: complete in these bytes and without escapes.
      let end = at;
      while (end < to && bytes[end] !== QUOTE && bytes[end] !== BACKSLASH) end++;
      if (end < to && bytes[end] === QUOTE) {
        this.#node = findMember(this.#stack[this.#stack.length - 1]!, bytes, at, end);
        this.#state = COLON;
        return end + 1;
      }
    }
    const close = this.#findStringEnd(bytes, at, to);
    const end = Math.min(close, to);
    if (this.#keyText.length + (end - at) > KEY_BYTES_MAX) this.#keyTooLong = true;
    else this.#keyText += bytes.toString('latin1', at, end);
    if (close < to) {
      this.#node = this.#stack[this.#stack.length - 1]!.members!.get(this.#keyName()) ?? null;
      this.#state = COLON;
    }
    return close + 1;
  }

  #keyName(): string {
    if (this.#keyTooLong) return '';
    if (!this.#keyText.includes('\\')) return this.#keyText;
    try {
      return String(JSON.parse(`"${this.#keyText}"`));
    } catch {
      return '';
    }
  }

  #beginValue(byte: number, at: number): number {
    const node = this.#node;
    if (this.rootStart < 0) this.rootStart = this.#base + at;
    if (byte === 0x7b && node?.members) return this.#openContainer(node, false, at);
    if (byte === 0x5b && node?.item) return this.#openContainer(node, true, at);
    if (node !== null && node.slot >= 0) {
      this.valueStart = this.#base + at;
      this.#captureFrom = at;
      this.#captureLost = false;
      this.#held.clear();
    }
    if (byte === QUOTE) this.#state = IN_STRING;
    else if (byte === 0x7b || byte === 0x5b) {
      this.#state = SKIP;
      this.#skipDepth = 1;
    } else if (isLiteralStart(byte)) this.#state = IN_LITERAL;
    else this.#state = FAILED;
    return at + 1;
  }

  #openContainer(node: JsonPathNode, isArray: boolean, at: number): number {
    this.#stack.push(node);
    this.#arrays.push(isArray);
    this.#node = node.item;
    this.#state = isArray ? FIRST_VALUE : FIRST_KEY;
    return at + 1;
  }

  #closeContainer(at: number): number {
    this.#stack.pop();
    this.#arrays.pop();
    this.#state = this.#stack.length === 0 ? DONE : AFTER;
    return at + 1;
  }

  #afterValue(byte: number, at: number): number {
    const isArray = this.#arrays[this.#arrays.length - 1]!;
    if (byte === 0x2c) {
      if (isArray) this.#node = this.#stack[this.#stack.length - 1]!.item;
      this.#state = isArray ? VALUE : KEY;
      return at + 1;
    }
    if (byte === (isArray ? 0x5d : 0x7d)) return this.#closeContainer(at);
    this.#state = FAILED;
    return at + 1;
  }

  #skipContainer(bytes: Buffer, from: number, to: number): number {
    let depth = this.#skipDepth;
    for (let at = from; at < to; at++) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        const close = this.#findStringEnd(bytes, at + 1, to);
        if (close >= to) {
          this.#skipDepth = depth;
          this.#state = SKIP_STRING;
          return to;
        }
        at = close;
      } else if (byte === 0x7b || byte === 0x5b) depth++;
      else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) {
        this.#endValue(bytes, at + 1);
        return at + 1;
      }
    }
    this.#skipDepth = depth;
    return to;
  }

  #readLiteral(bytes: Buffer, from: number, to: number): number {
    for (let at = from; at < to; at++) {
      const byte = bytes[at]!;
      if (byte === 0x2c || byte === 0x7d || byte === 0x5d || byte <= 0x20) {
        this.#endValue(bytes, at);
        return at; // the delimiter belongs to the container
      }
    }
    return to;
  }

  #endValue(bytes: Buffer, end: number): void {
    this.#state = this.#stack.length === 0 ? DONE : AFTER;
    if (this.#captureFrom < 0) return;
    const slot = this.#node!.slot;
    this.valueEnd = this.#base + end;
    let text: string | null = null;
    if (this.#held.length === 0 && !this.#captureLost) {
      if (end - this.#captureFrom <= VALUE_BYTES_MAX) text = bytes.toString('utf8', this.#captureFrom, end);
    } else {
      this.#holdCapture(bytes, end);
      if (!this.#captureLost) text = this.#held.bytes.toString('utf8', 0, this.#held.length);
    }
    this.#captureFrom = -1;
    this.#sink.onValue(slot, text);
  }

  #holdCapture(bytes: Buffer, to: number): void {
    if (!this.#captureLost && !this.#held.append(bytes, this.#captureFrom, to)) this.#captureLost = true;
  }

  /** Index of the quote that ends the string, or `to` when these bytes do not contain it. */
  #findStringEnd(bytes: Buffer, from: number, to: number): number {
    let at = from;
    if (this.#escaped && at < to) {
      this.#escaped = false;
      at++;
    }
    for (let near = at + NEAR_BYTES; at < to; ) {
      const byte = bytes[at]!;
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) {
        at += 2;
        near = at + NEAR_BYTES;
        if (at > to) this.#escaped = true;
      } else if (++at === near) {
        const found = bytes.subarray(at, to).indexOf(QUOTE);
        const stop = found < 0 ? to : at + found;
        if (stop - at >= BLOB_BYTES_MIN && looksLikeBase64(bytes, at)) this.blobBytes += stop - at;
        const isEscaped = (countBackslashesBefore(bytes, at, stop) & 1) === 1;
        if (found < 0) {
          this.#escaped = isEscaped;
          return to;
        }
        if (!isEscaped) return stop;
        at = stop + 1;
        near = at + NEAR_BYTES;
      }
    }
    return to;
  }
}

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

function isLiteralStart(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x74 || byte === 0x66 || byte === 0x6e;
}

/** Number of backslashes directly before `end`, looking back no further than `start`. */
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
