/**
 * Splits an AWS event stream (application/vnd.amazon.eventstream) into frames, at any chunk boundaries:
 *
 *   total length u32 | headers length u32 | CRC32 of both | headers | payload | CRC32 of all bytes before
 *
 * Reports only frames whose CRCs are right. A wrong CRC or length, or an unreadable header, ends the reading
 * (`isBroken`), because nothing tells where the next frame begins. Memory is bounded by FRAME_BYTES_MAX.
 */
import { crc32 } from 'node:zlib';
import { BoundedBuffer } from './bounded-buffer.js';

/** Receives the frames. The bytes are valid only during the call. */
export interface EventStreamSink {
  /** `name`: type of the event or exception; `''` without one. `bytes[from, to)`: the payload. */
  onFrame(isError: boolean, name: string, bytes: Buffer, from: number, to: number): void;
}

export const AWS_EVENT_STREAM_TYPE = 'application/vnd.amazon.eventstream';

/** A longer frame counts as one with a wrong length. Text models send some hundred bytes. */
export const FRAME_BYTES_MAX = 1_048_576;
const PRELUDE_BYTES = 12;
const CRC_BYTES = 4;
const STRING_HEADER = 7;
const BYTES_HEADER = 6;
/** Bytes of a header's value by its type: booleans, byte, short, integer, long; then timestamp and UUID. */
const VALUE_BYTES: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];

export class AwsEventStreamParser {
  /** Nothing more is read. */
  isBroken = false;
  readonly #sink: EventStreamSink;
  /** The beginning of a frame that continues in the next chunk. */
  readonly #held = new BoundedBuffer(FRAME_BYTES_MAX);

  constructor(sink: EventStreamSink) {
    this.#sink = sink;
  }

  /** The stream has ended inside a frame. */
  get isInFrame(): boolean {
    return this.#held.length > 0;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.isBroken)
      at = this.#held.length === 0 ? this.#readFrame(chunk, at) : this.#continueFrame(chunk, at);
  }

  /**
   * Offset behind the frame that contains `chunk[at]`, the next byte to push; -1 when it does not end in the chunk.
   * After a broken frame it is the end of the chunk, because nothing tells where frames end.
   */
  frameEnd(chunk: Buffer, at: number): number {
    if (this.isBroken) return chunk.length;
    const { bytes, length: held } = this.#held;
    let total = 0;
    for (let i = 0; i < 4; i++) {
      if (i >= held && at + i - held >= chunk.length) return -1;
      total = total * 256 + (i < held ? bytes[i]! : chunk[at + i - held]!);
    }
    const end = at + total - held;
    return end > chunk.length ? -1 : Math.max(at + 1, end);
  }

  /** Reads a frame without a copy, or holds its beginning. Returns the offset of the next byte to read. */
  #readFrame(chunk: Buffer, at: number): number {
    const available = chunk.length - at;
    const length = available < PRELUDE_BYTES ? PRELUDE_BYTES : this.#readLength(chunk, at);
    if (available < length) return this.#hold(chunk, at, length);
    this.#endFrame(chunk, at, at + length);
    return at + length;
  }

  #continueFrame(chunk: Buffer, at: number): number {
    const next = this.#hold(chunk, at, PRELUDE_BYTES);
    if (this.#held.length < PRELUDE_BYTES) return next;
    const length = this.#readLength(this.#held.bytes, 0);
    const end = this.#hold(chunk, next, length);
    if (this.#held.length < length) return end;
    this.#endFrame(this.#held.bytes, 0, length);
    this.#held.clear();
    return end;
  }

  /** Appends bytes until `length` are held. Returns the offset of the first byte that was not taken. */
  #hold(chunk: Buffer, at: number, length: number): number {
    const end = Math.max(at, Math.min(chunk.length, at + length - this.#held.length));
    this.#held.append(chunk, at, end);
    return end;
  }

  /** Reads a prelude. Returns the bytes of the frame, or of the prelude alone when it is wrong. */
  #readLength(bytes: Buffer, at: number): number {
    const length = bytes.readUInt32BE(at);
    const headersLength = bytes.readUInt32BE(at + 4);
    const isRight = crc32(bytes.subarray(at, at + 8)) === bytes.readUInt32BE(at + 8);
    if (isRight && length <= FRAME_BYTES_MAX && length >= PRELUDE_BYTES + headersLength + CRC_BYTES) return length;
    this.isBroken = true;
    return PRELUDE_BYTES;
  }

  #endFrame(bytes: Buffer, from: number, to: number): void {
    if (this.isBroken) return;
    const end = to - CRC_BYTES;
    const headersEnd = from + PRELUDE_BYTES + bytes.readUInt32BE(from + 4);
    const headers =
      crc32(bytes.subarray(from, end)) === bytes.readUInt32BE(end)
        ? readStringHeaders(bytes.subarray(from + PRELUDE_BYTES, headersEnd))
        : null;
    if (headers === null) {
      this.isBroken = true;
      return;
    }
    const isError = (headers.get(':message-type') ?? 'event') !== 'event';
    const name = headers.get(':event-type') ?? headers.get(':exception-type') ?? headers.get(':error-code') ?? '';
    this.#sink.onFrame(isError, name, bytes, headersEnd, end);
  }
}

/** The headers that are strings. Null: the bytes are no headers. */
function readStringHeaders(bytes: Buffer): Map<string, string> | null {
  const headers = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const nameEnd = at + 1 + bytes[at]!;
    const type = bytes[nameEnd] ?? -1;
    const isSized = type === STRING_HEADER || type === BYTES_HEADER;
    if (isSized && nameEnd + 3 > bytes.length) return null;
    const valueStart = nameEnd + (isSized ? 3 : 1);
    const valueEnd = valueStart + (isSized ? bytes.readUInt16BE(nameEnd + 1) : (VALUE_BYTES[type] ?? Number.NaN));
    if (!(valueEnd <= bytes.length)) return null;
    if (type === STRING_HEADER)
      headers.set(bytes.toString('utf8', at + 1, nameEnd), bytes.toString('utf8', valueStart, valueEnd));
    at = valueEnd;
  }
  return headers;
}

/** Encodes one frame; `headers`: flat `[name, value, …]`. */
export function encodeEventStreamFrame(headers: readonly string[], payload: string): Buffer {
  const parts: Buffer[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = Buffer.from(headers[i]!);
    const value = Buffer.from(headers[i + 1]!);
    const sizes = Buffer.from([STRING_HEADER, value.length >> 8, value.length & 0xff]);
    parts.push(Buffer.from([name.length]), name, sizes, value);
  }
  const head = Buffer.concat(parts);
  const prelude = Buffer.alloc(PRELUDE_BYTES);
  prelude.writeUInt32BE(PRELUDE_BYTES + head.length + Buffer.byteLength(payload) + CRC_BYTES, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, head, Buffer.from(payload)]);
  const crc = Buffer.alloc(CRC_BYTES);
  crc.writeUInt32BE(crc32(message));
  return Buffer.concat([message, crc]);
}
