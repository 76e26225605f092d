/**
 * Collects the encoded messages of one event-loop tick as sealed frames in one reusable buffer, ready for one write
 * call.
 */
import { encodeUsageRecord } from '@acg/proto/generated/usage-record';
import type { IUsageRecord } from '@acg/proto/messages';
import { FRAME_HEADER_BYTES, FRAME_PAYLOAD_BYTES_MAX, sealFrame } from './segment-format.js';

const BUFFER_BYTES = 256 * 1024;
/** A frame is sealed once its payload exceeds this. So a batch can have many frames, and damage costs few records. */
const FRAME_PAYLOAD_BYTES = 32 * 1024;
const FIELD_HEADER_BYTES_MAX = 6;
/** Larger messages are rejected, because they would exceed the frame bound. */
export const MESSAGE_BYTES_MAX = FRAME_PAYLOAD_BYTES_MAX - FRAME_PAYLOAD_BYTES - FIELD_HEADER_BYTES_MAX;
/** Header size of nearly all records: the tag and a length of two bytes. */
const RECORD_HEADER_BYTES = 3;

const fieldHeaderBytes = (messageBytes: number): number => (messageBytes < 0x80 ? 2 : messageBytes < 0x4000 ? 3 : 4);

export class FrameBuffer {
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #frameStart = 0;
  #used = FRAME_HEADER_BYTES;
  #frameRecords = 0;
  /** Bytes of the last added message, including its field header. */
  lastMessageBytes = 0;

  /**
   * Adds one message as field `tag` (field number << 3 | 2). Returns false when the buffer is full: take the frames and
   * add again.
   */
  add(tag: number, message: Uint8Array): boolean {
    if (!this.#ensureCapacity(message.length)) return false;
    const at = this.#writeFieldHeader(this.#used, tag, message.length);
    this.#buffer.set(message, at);
    this.#finishMessage(at + message.length);
    return true;
  }

  /** Like {@link add}, but encodes the record in place. `bytesMax` is its {@link usageRecordBytesMax}. */
  addRecord(tag: number, record: IUsageRecord, bytesMax: number): boolean {
    if (!this.#ensureCapacity(bytesMax)) return false;
    const buffer = this.#buffer;
    const recordStart = this.#used + RECORD_HEADER_BYTES;
    const end = encodeUsageRecord(record, buffer, recordStart);
    const length = end - recordStart;
    const headerBytes = fieldHeaderBytes(length);
    if (headerBytes !== RECORD_HEADER_BYTES) buffer.copyWithin(this.#used + headerBytes, recordStart, end);
    this.#finishMessage(this.#writeFieldHeader(this.#used, tag, length) + length);
    return true;
  }

  #ensureCapacity(messageBytes: number): boolean {
    if (this.#used + messageBytes + FIELD_HEADER_BYTES_MAX > BUFFER_BYTES) return false;
    if (this.#used - this.#frameStart - FRAME_HEADER_BYTES < FRAME_PAYLOAD_BYTES) return true;
    this.#sealOpenFrame();
    return this.#used + messageBytes + FIELD_HEADER_BYTES_MAX <= BUFFER_BYTES;
  }

  #writeFieldHeader(start: number, tag: number, messageBytes: number): number {
    const buffer = this.#buffer;
    let at = start;
    buffer[at++] = tag;
    let remaining = messageBytes;
    while (remaining > 0x7f) {
      buffer[at++] = (remaining & 0x7f) | 0x80;
      remaining >>>= 7;
    }
    buffer[at++] = remaining;
    return at;
  }

  #finishMessage(end: number): void {
    this.lastMessageBytes = end - this.#used;
    this.#used = end;
    this.#frameRecords++;
  }

  /** Returns the sealed frames since the last call. The bytes are valid until the next {@link add}. */
  takeFrames(): Buffer {
    this.#sealOpenFrame();
    const bytes = this.#buffer.subarray(0, this.#frameStart);
    this.#frameStart = 0;
    this.#used = FRAME_HEADER_BYTES;
    return bytes;
  }

  #sealOpenFrame(): void {
    if (this.#frameRecords === 0) return;
    sealFrame(this.#buffer, this.#frameStart, this.#used - this.#frameStart - FRAME_HEADER_BYTES, this.#frameRecords);
    this.#frameStart = this.#used;
    this.#used += FRAME_HEADER_BYTES;
    this.#frameRecords = 0;
  }
}
