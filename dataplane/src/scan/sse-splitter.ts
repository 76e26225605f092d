/**
 * Splits a server-sent event stream (WHATWG HTML §9.2.6) into raw events, at any chunk boundaries. Lines end in LF, CR or
 * CRLF; a blank line ends an event. Copies only events that span chunks. Memory is bounded: an event over the bound is
 * passed in pieces as it arrives.
 */
import { BoundedBuffer } from './bounded-buffer.js';

/** Receives every byte of the stream once, in order. The bytes are valid only during the call. */
export interface RawEventSink {
  /**
   * One event with its blank line: `bytes[from, to)`. `lineEnds[0, lines)`: where each line before the blank one ends,
   * from `from` on.
   */
  onRawEvent(bytes: Buffer, from: number, to: number, lineEnds: readonly number[], lines: number): void;
  /** The next piece of an event over the bound. */
  onRawPiece(bytes: Buffer, from: number, to: number): void;
  /** The event that was passed in pieces has ended. */
  onRawPiecesEnd(): void;
  /** The LF `chunk[0]` belongs to the event that ended in CR with the previous chunk. */
  onLateLf(chunk: Buffer): void;
}

/** An event with more lines counts as one over the bound. */
const LINES_MAX = 1_024;
const LF = 0x0a;
const CR = 0x0d;

export class SseSplitter {
  readonly #sink: RawEventSink;
  /** The beginning of an event from earlier chunks. */
  readonly #held: BoundedBuffer;
  /** The current event is passed in pieces. */
  #isLong = false;
  /** The chunk ended inside a line. */
  #isInLine = false;
  /** The chunk ended in CR. */
  #expectsLf = false;
  /** Where the lines of the current event end, from its first byte on. */
  readonly #lineEnds: number[] = [];
  #lines = 0;

  constructor(eventBytesMax: number, sink: RawEventSink) {
    this.#held = new BoundedBuffer(eventBytesMax);
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    const { length } = chunk;
    let from = 0;
    let at = 0;
    if (this.#expectsLf && length > 0) {
      this.#expectsLf = false;
      if (chunk[0] === LF) at = 1;
      if (at === 1 && this.#held.length === 0 && !this.#isLong) {
        this.#sink.onLateLf(chunk);
        from = 1;
      }
    }
    const lineEnds = new LineEnds(chunk);
    while (at < length) {
      const end = lineEnds.find(at);
      if (end === length) {
        this.#isInLine = true;
        break;
      }
      const isBlank = end === at && !this.#isInLine;
      this.#isInLine = false;
      at = skipLineEnd(chunk, end);
      this.#expectsLf = end === length - 1 && chunk[end] === CR;
      if (isBlank) {
        this.#endEvent(chunk, from, at);
        from = at;
      } else if (!this.#isLong) {
        this.#lineEnds[this.#lines++] = this.#held.length + end - from;
        if (this.#lines > LINES_MAX) {
          this.#passPiece(chunk, from, at);
          from = at;
        }
      }
    }
    if (from < length && (this.#isLong || !this.#held.append(chunk, from, length)))
      this.#passPiece(chunk, from, length);
  }

  /** Ends the stream. Reports an event without its closing blank line, too. */
  end(): void {
    if (this.#isInLine) this.#lineEnds[this.#lines++] = this.#held.length;
    if (this.#held.length > 0 || this.#isLong) this.#endEvent(EMPTY, 0, 0);
  }

  #endEvent(chunk: Buffer, from: number, to: number): void {
    const held = this.#held;
    if (this.#isLong || (held.length > 0 && !held.append(chunk, from, to))) {
      this.#passPiece(chunk, from, to);
      this.#isLong = false;
      this.#sink.onRawPiecesEnd();
    } else if (held.length === 0) {
      this.#sink.onRawEvent(chunk, from, to, this.#lineEnds, this.#lines);
    } else {
      const { length } = held;
      held.clear(); // its bytes stay valid until the next append
      this.#sink.onRawEvent(held.bytes, 0, length, this.#lineEnds, this.#lines);
    }
    this.#lines = 0;
  }

  #passPiece(chunk: Buffer, from: number, to: number): void {
    if (!this.#isLong && this.#held.length > 0) this.#sink.onRawPiece(this.#held.bytes, 0, this.#held.length);
    this.#held.clear();
    this.#isLong = true;
    this.#sink.onRawPiece(chunk, from, to);
  }
}

const EMPTY: Buffer = Buffer.alloc(0);

/** Finds line ends with native searches. Remembers the next LF and the next CR, so that the time is linear. */
export class LineEnds {
  readonly #bytes: Buffer;
  #lf = -1;
  #cr = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Index of the first LF or CR at or after `at`, which must not decrease; the length when there is none. */
  find(at: number): number {
    if (this.#lf < at) this.#lf = indexOrEnd(this.#bytes, LF, at);
    if (this.#cr < at) this.#cr = indexOrEnd(this.#bytes, CR, at);
    return this.#lf < this.#cr ? this.#lf : this.#cr;
  }
}

function indexOrEnd(bytes: Buffer, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at < 0 ? bytes.length : at;
}

/** Index after the LF, CR or CRLF at `end`. */
export const skipLineEnd = (bytes: Buffer, end: number): number =>
  bytes[end] === CR && bytes[end + 1] === LF ? end + 2 : end + 1;

/** Offset behind the next LF, CR or CRLF from `at` on; -1: none. Linear, whatever the line ends are. */
export function findLineEnd(bytes: Buffer, at: number): number {
  for (let i = at; i < bytes.length; i++) if (bytes[i] === LF || bytes[i] === CR) return skipLineEnd(bytes, i);
  return -1;
}

/** Media types of streams whose events are JSON documents, one on each line. */
export const LINE_STREAM_TYPES: ReadonlySet<string> = new Set(['application/stream+json', 'application/x-ndjson']);
