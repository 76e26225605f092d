/**
 * Parses a server-sent event stream into the names and the data of its events, at any chunk boundaries. Handles data
 * over several lines, and a leading BOM. Memory is bounded: the data of an event over `EVENT_BYTES_MAX` is reported in
 * pieces.
 */
import { BoundedBuffer } from './bounded-buffer.js';
import { LineEnds, type RawEventSink, SseSplitter, skipLineEnd } from './sse-splitter.js';

export type SseEventKind = typeof EVENT_PLAIN | typeof EVENT_DELTA | typeof EVENT_ERROR;
/** No `event:` line, or a name without a meaning for the gateway. */
export const EVENT_PLAIN = 0;
/** `…delta`: generated content (`content_block_delta`, `response.output_text.delta`). */
export const EVENT_DELTA = 1;
/** `error` or `response.failed`. */
export const EVENT_ERROR = 2;

/** Receives the events. The bytes are valid only during the call. */
export interface SseSink {
  /** The data of one complete event, lines joined by LF. */
  onEvent(kind: SseEventKind, bytes: Buffer, from: number, to: number): void;
  /** An event longer than {@link EVENT_BYTES_MAX}: its data in pieces, then `onLongDataEnd`. */
  onLongData(bytes: Buffer, from: number, to: number): void;
  onLongDataEnd(kind: SseEventKind): void;
}

export const EVENT_BYTES_MAX = 65_536;

const LF = 0x0a;
const CR = 0x0d;
const NEWLINE = Buffer.from('\n');
const BOM = Buffer.from('\ufeff');
const DATA = Buffer.from('data');
const EVENT = Buffer.from('event');
/** A longer event name has no meaning for the gateway. */
const NAME_BYTES_MAX = 64;
/** Bytes of a line that are enough to recognize data, and to read an event name. */
const LINE_START_BYTES = BOM.length + EVENT.length + NAME_BYTES_MAX + 1;

const UNKNOWN_LINE = 0;
const DATA_LINE = 1;
const OTHER_LINE = 2;

export class SseParser implements RawEventSink {
  readonly #sink: SseSink;
  readonly #splitter = new SseSplitter(EVENT_BYTES_MAX, this);
  #isFirstLine = true;
  /** The data of an event with several data lines. */
  readonly #joined = new BoundedBuffer(EVENT_BYTES_MAX);
  // State of an event in pieces:
  #kind: SseEventKind = EVENT_PLAIN;
  #dataLines = 0;
  #line: typeof UNKNOWN_LINE | typeof DATA_LINE | typeof OTHER_LINE = UNKNOWN_LINE;
  /** The beginning of an unknown line. */
  readonly #lineStart = new BoundedBuffer(LINE_START_BYTES);
  /** The piece ended in CR. */
  #expectsLf = false;

  constructor(sink: SseSink) {
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    this.#splitter.push(chunk);
  }

  /** Ends the stream. Also reports an event without its closing blank line, because it may contain the usage. */
  end(): void {
    this.#splitter.end();
  }

  onRawEvent(bytes: Buffer, from: number, to: number, lineEnds: readonly number[], lines: number): void {
    let data = bytes;
    let dataFrom = 0;
    let dataTo = 0;
    let dataLines = 0;
    let kind: SseEventKind = EVENT_PLAIN;
    let at = from;
    for (let line = 0; line < lines; line++) {
      const end = from + lineEnds[line]!;
      const start = line === 0 ? this.#skipBom(bytes, at) : at;
      const value = findDataValue(bytes, start, end);
      if (value < 0) {
        if (fieldIs(EVENT, bytes, start, end)) kind = classifyEvent(bytes, start + EVENT.length, end);
      } else if (dataLines++ === 0) {
        dataFrom = value;
        dataTo = end;
      } else if (to - from > EVENT_BYTES_MAX) {
        this.onRawPiece(bytes, from, to); // one chunk can contain an event of any length
        this.onRawPiecesEnd();
        return;
      } else {
        if (dataLines === 2) {
          this.#joined.clear();
          this.#joined.append(bytes, dataFrom, dataTo);
        }
        this.#joined.append(NEWLINE, 0, 1);
        this.#joined.append(bytes, value, end);
        data = this.#joined.bytes;
        dataFrom = 0;
        dataTo = this.#joined.length;
      }
      at = skipLineEnd(bytes, end);
    }
    this.#isFirstLine = false;
    if (dataLines > 0) this.#sink.onEvent(kind, data, dataFrom, dataTo);
  }

  onRawPiece(bytes: Buffer, from: number, to: number): void {
    let at = this.#expectsLf && bytes[from] === LF ? from + 1 : from;
    const lineEnds = new LineEnds(bytes);
    while (at < to) {
      const end = Math.min(to, lineEnds.find(at));
      this.#readLinePiece(bytes, at, end, end < to);
      at = end < to ? skipLineEnd(bytes, end) : to;
    }
    if (from < to) this.#expectsLf = bytes[to - 1] === CR;
  }

  onRawPiecesEnd(): void {
    if (this.#line !== UNKNOWN_LINE || this.#lineStart.length > 0) this.#readLinePiece(NEWLINE, 0, 0, true);
    if (this.#dataLines > 0) this.#sink.onLongDataEnd(this.#kind);
    this.#dataLines = 0;
    this.#kind = EVENT_PLAIN;
    this.#expectsLf = false;
  }

  onLateLf(): void {}

  /** Reads the next bytes of a line of an event in pieces. Only data is passed on. */
  #readLinePiece(bytes: Buffer, from: number, end: number, isLineEnd: boolean): void {
    let rest = from;
    if (this.#line === UNKNOWN_LINE) {
      rest = Math.min(end, from + LINE_START_BYTES - this.#lineStart.length);
      this.#lineStart.append(bytes, from, rest);
      if (isLineEnd || this.#lineStart.length === LINE_START_BYTES) this.#readLineStart();
    }
    if (this.#line === DATA_LINE) this.#sink.onLongData(bytes, rest, end);
    if (isLineEnd) this.#line = UNKNOWN_LINE;
  }

  #readLineStart(): void {
    const { bytes, length } = this.#lineStart;
    const start = this.#skipBom(bytes, 0);
    const value = findDataValue(bytes, start, length);
    this.#isFirstLine = false;
    this.#line = value < 0 ? OTHER_LINE : DATA_LINE;
    if (value >= 0) {
      if (this.#dataLines++ > 0) this.#sink.onLongData(NEWLINE, 0, 1);
      this.#sink.onLongData(bytes, value, length);
    } else if (fieldIs(EVENT, bytes, start, length)) this.#kind = classifyEvent(bytes, start + EVENT.length, length);
    this.#lineStart.clear();
  }

  /** Only the first line of a stream can begin with a BOM. */
  #skipBom(bytes: Buffer, at: number): number {
    return this.#isFirstLine && BOM.every((byte, i) => bytes[at + i] === byte) ? at + BOM.length : at;
  }
}

function fieldIs(name: Buffer, bytes: Buffer, from: number, end: number): boolean {
  if (end - from < name.length) return false;
  for (let i = 0; i < name.length; i++) if (bytes[from + i] !== name[i]) return false;
  return end - from === name.length || bytes[from + name.length] === 0x3a;
}

/** Start of the value when the line is a `data` field, else -1. */
function findDataValue(bytes: Buffer, from: number, end: number): number {
  if (!fieldIs(DATA, bytes, from, end)) return -1;
  const value = from + DATA.length + 1; // after the colon
  if (value >= end) return end;
  return bytes[value] === 0x20 ? value + 1 : value;
}

function classifyEvent(bytes: Buffer, from: number, end: number): SseEventKind {
  if (end - from > NAME_BYTES_MAX) return EVENT_PLAIN;
  const last = bytes[end - 1];
  if (last === 0x61 && endsWith(DELTA, bytes, from, end)) {
    return endsWith(MESSAGE_DELTA, bytes, from, end) ? EVENT_PLAIN : EVENT_DELTA;
  }
  if (last === 0x72 && endsWith(ERROR, bytes, from, end)) return EVENT_ERROR;
  if (last === 0x64 && endsWith(FAILED, bytes, from, end)) return EVENT_ERROR;
  return EVENT_PLAIN;
}

const DELTA = Buffer.from('delta');
const MESSAGE_DELTA = Buffer.from('message_delta');
const ERROR = Buffer.from('error');
const FAILED = Buffer.from('.failed');

function endsWith(tail: Buffer, bytes: Buffer, from: number, end: number): boolean {
  const start = end - tail.length;
  if (start < from) return false;
  for (let i = 0; i < tail.length; i++) if (bytes[start + i] !== tail[i]) return false;
  return true;
}
