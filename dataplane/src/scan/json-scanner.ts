/**
 * Reads a few members of a JSON document without building it, at any chunk boundaries and in constant memory:
 *
 *   paths  `usage`, `response.usage`, `output[].type`   compiled once into a tree of nodes
 *   bytes  ── push ──▶  JsonTokenizer  ── onValue(slot, raw JSON text) ──▶  sink
 *
 * Follows only containers on a path and skips all others. An error outside skipped containers sets `hasFailed`.
 */
import { BoundedBuffer } from './bounded-buffer.js';
import { findMember, type JsonPathNode } from './json-paths.js';
import { CLOSE, JsonTokenizer, NAME, OPEN_ARRAY, OPEN_OBJECT, VALUE } from './json-tokenizer.js';

export interface JsonScanSink {
  /** `text`: raw JSON of the value, or null when it is longer than VALUE_BYTES_MAX. */
  onValue(slot: number, text: string | null): void;
}

export const VALUE_BYTES_MAX = 65_536;

export class JsonScanner {
  readonly #root: JsonPathNode;
  readonly #sink: JsonScanSink;
  readonly #tokens = new JsonTokenizer(false);
  /** Position of the next value; null: on no path. */
  #node: JsonPathNode | null;
  /** The open containers on a path. */
  readonly #stack: JsonPathNode[] = [];
  /** The beginning of a value that continues in the next chunk. */
  readonly #held = new BoundedBuffer(VALUE_BYTES_MAX);
  #isHeld = false;
  #isTooLong = false;

  constructor(root: JsonPathNode, sink: JsonScanSink) {
    this.#root = root;
    this.#sink = sink;
    this.#node = root;
  }

  /** Offset of the first byte of the last reported value, counted from the start of the document. */
  get valueStart(): number {
    return this.#tokens.valueStart;
  }

  get valueEnd(): number {
    return this.#tokens.valueEnd;
  }

  /** Offset of the first byte of the document's value; -1 before it. */
  get rootStart(): number {
    return this.#tokens.rootStart;
  }

  /** Bytes in strings that look like packed data. Sum over all documents. */
  get blobBytes(): number {
    return this.#tokens.blobBytes;
  }

  get isDone(): boolean {
    return this.#tokens.isDone;
  }

  get hasFailed(): boolean {
    return this.#tokens.hasFailed;
  }

  /** Starts a new document. `blobBytes` is kept. */
  reset(): void {
    this.#tokens.reset();
    this.#node = this.#root;
    this.#stack.length = 0;
    this.#isHeld = false;
  }

  /** Reads the next bytes of the document: `bytes[from, to)`. */
  push(bytes: Buffer, from: number, to: number): void {
    const tokens = this.#tokens;
    tokens.push(bytes, from, to);
    for (;;) {
      switch (tokens.next()) {
        case NAME:
          this.#node = this.#findMember();
          break;
        case OPEN_OBJECT:
          if (this.#node?.members) this.#stack.push(this.#node);
          else tokens.skipContainer();
          break;
        case OPEN_ARRAY:
          if (this.#node?.item) {
            this.#stack.push(this.#node);
            this.#node = this.#node.item;
          } else tokens.skipContainer();
          break;
        case CLOSE:
          this.#stack.pop();
          this.#node = this.#stack[this.#stack.length - 1]?.item ?? null; // in an object, its next name follows
          break;
        case VALUE:
          if (this.#node !== null && this.#node.slot >= 0) this.#report(this.#node.slot, bytes, from);
          break;
        default: // the chunk has been read, or the document is invalid
          if (tokens.isInValue && this.#node !== null && this.#node.slot >= 0) this.#hold(bytes, from, to);
          return;
      }
    }
  }

  #findMember(): JsonPathNode | null {
    const tokens = this.#tokens;
    const parent = this.#stack[this.#stack.length - 1]!;
    if (tokens.isNamePlain) return findMember(parent, tokens.nameBytes, tokens.nameStart, tokens.nameEnd);
    return parent.members!.get(tokens.decodeName() ?? '') ?? null;
  }

  #report(slot: number, bytes: Buffer, from: number): void {
    const { base, valueStart, valueEnd } = this.#tokens;
    let text: string | null = null;
    if (this.#isHeld) {
      this.#hold(bytes, from, valueEnd - base);
      if (!this.#isTooLong) text = this.#held.bytes.toString('utf8', 0, this.#held.length);
      this.#isHeld = false;
    } else if (valueEnd - valueStart <= VALUE_BYTES_MAX) {
      text = bytes.toString('utf8', valueStart - base, valueEnd - base);
    }
    this.#sink.onValue(slot, text);
  }

  /** Keeps the bytes of the current value in `bytes[from, to)`. */
  #hold(bytes: Buffer, from: number, to: number): void {
    if (!this.#isHeld) {
      this.#held.clear();
      this.#isHeld = true;
      this.#isTooLong = false;
    }
    const start = Math.max(from, this.#tokens.valueStart - this.#tokens.base);
    if (!this.#isTooLong && !this.#held.append(bytes, start, to)) this.#isTooLong = true;
  }
}
