/** Collects one loop turn's encoded messages as sealed frames in one reusable buffer, ready for one write call. */
import { FRAME_HEADER_BYTES, FRAME_PAYLOAD_BYTES_MAX, sealFrame } from './segment-format.js';

const BUFFER_BYTES = 256 * 1024;
/** A frame is closed once its payload passes this, so that one batch can hold many and damage costs little. */
const FRAME_PAYLOAD_BYTES = 32 * 1024;
const FIELD_HEADER_BYTES_MAX = 6;
/** Larger messages are refused: they would break the frame bound. */
export const MESSAGE_BYTES_MAX = FRAME_PAYLOAD_BYTES_MAX - FRAME_PAYLOAD_BYTES - FIELD_HEADER_BYTES_MAX;

export class FrameBuffer {
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #frameAt = 0;
  #used = FRAME_HEADER_BYTES;
  #frameRecords = 0;

  /** Adds one message as field `tag` (field number << 3 | 2). False: no room, take the bytes and add again. */
  add(tag: number, message: Uint8Array): boolean {
    if (this.#used + message.length + FIELD_HEADER_BYTES_MAX > BUFFER_BYTES) return false;
    if (this.#used - this.#frameAt - FRAME_HEADER_BYTES >= FRAME_PAYLOAD_BYTES) {
      this.#sealOpenFrame();
      if (this.#used + message.length + FIELD_HEADER_BYTES_MAX > BUFFER_BYTES) return false;
    }
    const buffer = this.#buffer;
    let at = this.#used;
    buffer[at++] = tag;
    let rest = message.length;
    while (rest > 0x7f) {
      buffer[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    buffer[at++] = rest;
    buffer.set(message, at);
    this.#used = at + message.length;
    this.#frameRecords++;
    return true;
  }

  /** The sealed frames since the last call; the bytes are valid until the next {@link add}. */
  take(): Buffer {
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
