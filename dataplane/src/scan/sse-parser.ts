/**
 * Cuts a server-sent event stream into events (WHATWG HTML §9.2.6) on any chunk boundaries: LF, CR and CRLF, data over
 * several lines, a leading BOM. Works on the caller's bytes where an event lies within one chunk, copies otherwise.
 * Memory is bounded: data longer than `HOLD_BYTES_MAX` is handed on piecemeal, any other endless line is dropped.
 */
import { BoundedBuffer } from './bounded-buffer.js';

export type SseEventKind = typeof EVENT_PLAIN | typeof EVENT_DELTA | typeof EVENT_ERROR;
/** No `event:` line, or one that says nothing of what follows. */
export const EVENT_PLAIN = 0;
/** `…delta`: a piece of generated content (`content_block_delta`, `response.output_text.delta`). */
export const EVENT_DELTA = 1;
/** `error`, `response.failed`. */
export const EVENT_ERROR = 2;

/** Bytes handed over are valid only during the call. */
export interface SseSink {
  /** One whole event's data, lines joined by LF. */
  onEvent(kind: SseEventKind, bytes: Buffer, from: number, to: number): void;
  /** An event too long to hold: its data in pieces, then `longDataEnd`. */
  onLongData(bytes: Buffer, from: number, to: number): void;
  onLongDataEnd(kind: SseEventKind): void;
}

export const EVENT_BYTES_MAX = 65_536;

const LF = 0x0a;
const CR = 0x0d;
const NEWLINE = Buffer.from('\n');
/** Enough of a line to tell its field: `data: `. */
const FIELD_BYTES = 8;
const DATA = Buffer.from('data');
const EVENT = Buffer.from('event');

export class SseParser {
  readonly #sink: SseSink;
  /** A line whose end has not come yet. */
  readonly #line = new BoundedBuffer(EVENT_BYTES_MAX);
  /** Data of the current event that no longer lies in the current chunk, or has several lines. */
  readonly #data = new BoundedBuffer(EVENT_BYTES_MAX);
  #kind: SseEventKind = EVENT_PLAIN;
  #dataLines = 0;
  /** The event's only data line so far, still in place; null once it was copied to #data. */
  #inPlace: Buffer | null = null;
  #from = 0;
  #to = 0;
  /** This event went over to longData. */
  #long = false;
  /** The rest of the current line: 0 = not cut, 1 = goes to longData, 2 = is dropped. */
  #cut: 0 | 1 | 2 = 0;
  #skipLf = false;
  #first = true;

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
        this.#keepInPlace();
        this.#partial(chunk, at, chunk.length);
        return;
      }
      if (this.#cut !== 0) this.#endCutLine(chunk, at, end);
      else if (this.#line.length === 0) this.#lineAt(chunk, at, end);
      else this.#endHeldLine(chunk, at, end);
      at = end + 1;
      if (hasCr && chunk[end] === CR) {
        if (at === chunk.length) this.#skipLf = true;
        else if (chunk[at] === LF) at++;
      }
    }
    this.#keepInPlace();
  }

  /** The stream has ended: an event without its closing blank line is handed on too (it may be the one with usage). */
  end(): void {
    if (this.#cut === 0 && this.#line.length > 0) this.#lineAt(this.#line.bytes, 0, this.#line.length);
    this.#dispatch();
  }

  #partial(chunk: Buffer, from: number, to: number): void {
    if (this.#cut === 1) this.#sink.onLongData(chunk, from, to);
    if (this.#cut !== 0 || this.#line.append(chunk, from, to)) return;
    // Too long to hold; only data is worth following further. A few bytes more may be needed to tell the field.
    const rest = this.#line.length >= FIELD_BYTES ? from : Math.min(to, from + FIELD_BYTES);
    this.#line.append(chunk, from, rest);
    const value = findDataValue(this.#line.bytes, 0, this.#line.length);
    this.#cut = value < 0 ? 2 : 1;
    if (value >= 0) {
      const isFurtherLine = this.#dataLines++ > 0;
      this.#goLong();
      if (isFurtherLine) this.#sink.onLongData(NEWLINE, 0, 1);
      this.#sink.onLongData(this.#line.bytes, value, this.#line.length);
      this.#sink.onLongData(chunk, rest, to);
    }
    this.#line.clear();
  }

  #endCutLine(chunk: Buffer, from: number, end: number): void {
    if (this.#cut === 1) this.#sink.onLongData(chunk, from, end);
    this.#cut = 0;
  }

  #endHeldLine(chunk: Buffer, from: number, end: number): void {
    if (this.#line.append(chunk, from, end)) {
      const length = this.#line.length;
      this.#line.clear(); // its bytes stay until the next append
      this.#lineAt(this.#line.bytes, 0, length);
      this.#keepInPlace();
      return;
    }
    this.#partial(chunk, from, end);
    this.#cut = 0;
  }

  #lineAt(bytes: Buffer, from: number, end: number): void {
    let start = from;
    if (this.#first) {
      this.#first = false;
      if (bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf) start += 3;
    }
    if (start >= end) {
      this.#dispatch();
      return;
    }
    const value = findDataValue(bytes, start, end);
    if (value >= 0) this.#dataLine(bytes, value, end);
    else if (fieldIs(EVENT, bytes, start, end)) this.#kind = classifyEvent(bytes, start + EVENT.length, end);
  }

  #dataLine(bytes: Buffer, from: number, end: number): void {
    if (this.#dataLines++ === 0) {
      this.#inPlace = bytes;
      this.#from = from;
      this.#to = end;
      return;
    }
    this.#keepInPlace();
    if (!this.#long && this.#data.length + 1 + (end - from) <= EVENT_BYTES_MAX) {
      this.#data.append(NEWLINE, 0, 1);
      this.#data.append(bytes, from, end);
      return;
    }
    this.#goLong();
    this.#sink.onLongData(NEWLINE, 0, 1);
    this.#sink.onLongData(bytes, from, end);
  }

  #keepInPlace(): void {
    if (this.#inPlace === null) return;
    const bytes = this.#inPlace;
    this.#inPlace = null;
    this.#data.clear();
    if (this.#data.append(bytes, this.#from, this.#to)) return;
    this.#goLong(); // one chunk can hold a line of any length
    this.#sink.onLongData(bytes, this.#from, this.#to);
  }

  #goLong(): void {
    if (this.#long) return;
    this.#long = true;
    if (this.#data.length > 0) this.#sink.onLongData(this.#data.bytes, 0, this.#data.length);
    this.#data.clear();
  }

  #dispatch(): void {
    if (this.#dataLines > 0) {
      if (this.#long) this.#sink.onLongDataEnd(this.#kind);
      else if (this.#inPlace !== null) this.#sink.onEvent(this.#kind, this.#inPlace, this.#from, this.#to);
      else this.#sink.onEvent(this.#kind, this.#data.bytes, 0, this.#data.length);
    }
    this.#inPlace = null;
    this.#data.clear();
    this.#dataLines = 0;
    this.#long = false;
    this.#kind = EVENT_PLAIN;
  }
}

/** Index of the first CR or LF at or after `from`; -1 without one. */
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
  const value = from + DATA.length + 1; // past the colon
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
