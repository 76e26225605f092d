/**
 * Parses a server-sent event stream into events (WHATWG HTML §9.2.6) at any chunk boundaries. Handles LF, CR and CRLF,
 * data over several lines, and a leading BOM. Copies only events that span chunks. Memory is bounded: data longer than
 * `EVENT_BYTES_MAX` is reported in pieces, any other line of that length is dropped.
 */
import { BoundedBuffer } from './bounded-buffer.js';

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
/** Bytes of a line that are enough to recognize its field: `data: `. */
const FIELD_BYTES = 8;
const DATA = Buffer.from('data');
const EVENT = Buffer.from('event');

export class SseParser {
  readonly #sink: SseSink;
  /** A line that is not complete yet. */
  readonly #line = new BoundedBuffer(EVENT_BYTES_MAX);
  /** Data of the current event, when it has several lines or began in an earlier chunk. */
  readonly #data = new BoundedBuffer(EVENT_BYTES_MAX);
  #kind: SseEventKind = EVENT_PLAIN;
  #dataLines = 0;
  /** The only data line of the event so far, inside the current chunk; null after it was copied to #data. */
  #inPlace: Buffer | null = null;
  #from = 0;
  #to = 0;
  /** The current event is reported by onLongData. */
  #isLong = false;
  /** The rest of the current line: 0 = buffered, 1 = passed to onLongData, 2 = dropped. */
  #overflowMode: 0 | 1 | 2 = 0;
  #skipLf = false;
  #isFirstLine = true;

  constructor(sink: SseSink) {
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    let at = 0;
    if (this.#skipLf && chunk.length > 0) {
      this.#skipLf = false;
      if (chunk[0] === LF) at = 1;
    }
    const hasCr = chunk.indexOf(CR) >= 0;
    while (at < chunk.length) {
      const end = hasCr ? findLineEnd(chunk, at) : chunk.indexOf(LF, at);
      if (end < 0) {
        this.#copyInPlaceData();
        this.#bufferPartialLine(chunk, at, chunk.length);
        return;
      }
      if (this.#overflowMode !== 0) this.#endOverflowedLine(chunk, at, end);
      else if (this.#line.length === 0) this.#parseLine(chunk, at, end);
      else this.#endHeldLine(chunk, at, end);
      at = end + 1;
      if (hasCr && chunk[end] === CR) {
        if (at === chunk.length) this.#skipLf = true;
        else if (chunk[at] === LF) at++;
      }
    }
    this.#copyInPlaceData();
  }

  /** Ends the stream. Also reports an event without its closing blank line, because it may contain the usage. */
  end(): void {
    if (this.#overflowMode === 0 && this.#line.length > 0) this.#parseLine(this.#line.bytes, 0, this.#line.length);
    this.#dispatch();
  }

  #bufferPartialLine(chunk: Buffer, from: number, to: number): void {
    if (this.#overflowMode === 1) this.#sink.onLongData(chunk, from, to);
    if (this.#overflowMode !== 0 || this.#line.append(chunk, from, to)) return;
    // Too long to buffer. Only data lines are passed on. A few more bytes may be needed to recognize the field.
    const rest = this.#line.length >= FIELD_BYTES ? from : Math.min(to, from + FIELD_BYTES);
    this.#line.append(chunk, from, rest);
    const value = findDataValue(this.#line.bytes, 0, this.#line.length);
    this.#overflowMode = value < 0 ? 2 : 1;
    if (value >= 0) {
      const isFurtherLine = this.#dataLines++ > 0;
      this.#switchToLongData();
      if (isFurtherLine) this.#sink.onLongData(NEWLINE, 0, 1);
      this.#sink.onLongData(this.#line.bytes, value, this.#line.length);
      this.#sink.onLongData(chunk, rest, to);
    }
    this.#line.clear();
  }

  #endOverflowedLine(chunk: Buffer, from: number, end: number): void {
    if (this.#overflowMode === 1) this.#sink.onLongData(chunk, from, end);
    this.#overflowMode = 0;
  }

  #endHeldLine(chunk: Buffer, from: number, end: number): void {
    if (this.#line.append(chunk, from, end)) {
      const length = this.#line.length;
      this.#line.clear(); // its bytes stay valid until the next append
      this.#parseLine(this.#line.bytes, 0, length);
      this.#copyInPlaceData();
      return;
    }
    this.#bufferPartialLine(chunk, from, end);
    this.#overflowMode = 0;
  }

  #parseLine(bytes: Buffer, from: number, end: number): void {
    let start = from;
    if (this.#isFirstLine) {
      this.#isFirstLine = false;
      if (bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf) start += 3;
    }
    if (start >= end) {
      this.#dispatch();
      return;
    }
    const value = findDataValue(bytes, start, end);
    if (value >= 0) this.#addDataLine(bytes, value, end);
    else if (fieldIs(EVENT, bytes, start, end)) this.#kind = classifyEvent(bytes, start + EVENT.length, end);
  }

  #addDataLine(bytes: Buffer, from: number, end: number): void {
    if (this.#dataLines++ === 0) {
      this.#inPlace = bytes;
      this.#from = from;
      this.#to = end;
      return;
    }
    this.#copyInPlaceData();
    if (!this.#isLong && this.#data.length + 1 + (end - from) <= EVENT_BYTES_MAX) {
      this.#data.append(NEWLINE, 0, 1);
      this.#data.append(bytes, from, end);
      return;
    }
    this.#switchToLongData();
    this.#sink.onLongData(NEWLINE, 0, 1);
    this.#sink.onLongData(bytes, from, end);
  }

  #copyInPlaceData(): void {
    if (this.#inPlace === null) return;
    const bytes = this.#inPlace;
    this.#inPlace = null;
    this.#data.clear();
    if (this.#data.append(bytes, this.#from, this.#to)) return;
    this.#switchToLongData(); // one chunk can contain a line of any length
    this.#sink.onLongData(bytes, this.#from, this.#to);
  }

  #switchToLongData(): void {
    if (this.#isLong) return;
    this.#isLong = true;
    if (this.#data.length > 0) this.#sink.onLongData(this.#data.bytes, 0, this.#data.length);
    this.#data.clear();
  }

  #dispatch(): void {
    if (this.#dataLines > 0) {
      if (this.#isLong) this.#sink.onLongDataEnd(this.#kind);
      else if (this.#inPlace !== null) this.#sink.onEvent(this.#kind, this.#inPlace, this.#from, this.#to);
      else this.#sink.onEvent(this.#kind, this.#data.bytes, 0, this.#data.length);
    }
    this.#inPlace = null;
    this.#data.clear();
    this.#dataLines = 0;
    this.#isLong = false;
    this.#kind = EVENT_PLAIN;
  }
}

/** Index of the first CR or LF at or after `from`; -1 when there is none. */
function findLineEnd(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) if (bytes[at] === LF || bytes[at] === CR) return at;
  return -1;
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
  if (end - from > 64) return EVENT_PLAIN;
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
