/** Collects one loop turn's encoded messages as sealed frames in one reusable buffer, ready for one write call. */
import { encodeUsageRecord } from '@acg/proto/generated/usage-record';
import type { IUsageRecord } from '@acg/proto/messages';
import { FRAME_HEADER_BYTES, FRAME_PAYLOAD_BYTES_MAX, sealFrame } from './segment-format.js';

const BUFFER_BYTES = 256 * 1024;
/** A frame is closed once its payload passes this, so that one batch can hold many and damage costs little. */
const FRAME_PAYLOAD_BYTES = 32 * 1024;
const FIELD_HEADER_BYTES_MAX = 6;
/** Larger messages are refused: they would break the frame bound. */
export const MESSAGE_BYTES_MAX = FRAME_PAYLOAD_BYTES_MAX - FRAME_PAYLOAD_BYTES - FIELD_HEADER_BYTES_MAX;
/** Of nearly all records: their tag and a length of two bytes. */
const RECORD_HEADER_BYTES = 3;

const fieldHeaderBytes = (messageBytes: number): number => (messageBytes < 0x80 ? 2 : messageBytes < 0x4000 ? 3 : 4);

export class FrameBuffer {
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #frameAt = 0;
  #used = FRAME_HEADER_BYTES;
  #frameRecords = 0;
  /** Of the message added last, with its field header. */
  lastMessageBytes = 0;

  /** Adds one message as field `tag` (field number << 3 | 2). False: no room, take the bytes and add again. */
  add(tag: number, message: Uint8Array): boolean {
    if (!this.#makeRoom(message.length)) return false;
    const at = this.#writeFieldHeader(this.#used, tag, message.length);
    this.#buffer.set(message, at);
    this.#finishMessage(at + message.length);
    return true;
  }

  /** Like {@link add}, encoding the record in place. `bytesMax` is its {@link usageRecordBytesMax}. */
  addRecord(tag: number, record: IUsageRecord, bytesMax: number): boolean {
    if (!this.#makeRoom(bytesMax)) return false;
    const buffer = this.#buffer;
    const guess = this.#used + RECORD_HEADER_BYTES;
    const end = encodeUsageRecord(record, buffer, guess);
    const length = end - guess;
    const headerBytes = fieldHeaderBytes(length);
    if (headerBytes !== RECORD_HEADER_BYTES) buffer.copyWithin(this.#used + headerBytes, guess, end);
    this.#finishMessage(this.#writeFieldHeader(this.#used, tag, length) + length);
    return true;
  }

  #makeRoom(messageBytes: number): boolean {
    if (this.#used + messageBytes + FIELD_HEADER_BYTES_MAX > BUFFER_BYTES) return false;
    if (this.#used - this.#frameAt - FRAME_HEADER_BYTES < FRAME_PAYLOAD_BYTES) return true;
    this.#sealOpenFrame();
    return this.#used + messageBytes + FIELD_HEADER_BYTES_MAX <= BUFFER_BYTES;
  }

  #writeFieldHeader(start: number, tag: number, messageBytes: number): number {
    const buffer = this.#buffer;
    let at = start;
    buffer[at++] = tag;
    let rest = messageBytes;
    while (rest > 0x7f) {
      buffer[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    buffer[at++] = rest;
    return at;
  }

  #finishMessage(end: number): void {
    this.lastMessageBytes = end - this.#used;
    this.#used = end;
    this.#frameRecords++;
  }

  /** The sealed frames since the last call; the bytes are valid until the next {@link add}. */
  takeFrames(): Buffer {
    this.#sealOpenFrame();
    const bytes = this.#buffer.subarray(0, this.#frameAt);
    this.#frameAt = 0;
    this.#used = FRAME_HEADER_BYTES;
    return bytes;
  }

  #sealOpenFrame(): void {
    if (this.#frameRecords === 0) return;
    sealFrame(this.#buffer, this.#frameAt, this.#used - this.#frameAt - FRAME_HEADER_BYTES, this.#frameRecords);
    this.#frameAt = this.#used;
    this.#used += FRAME_HEADER_BYTES;
    this.#frameRecords = 0;
  }
}
