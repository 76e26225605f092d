/** Reads protobuf fields from bytes without creating objects for skipped fields. */

/** The bytes are not a protobuf message: truncated, or with an unknown wire type. */
export class MalformedMessage extends Error {
  constructor() {
    super('invalid protobuf message');
    this.name = 'MalformedMessage';
  }
}

export const WIRE_VARINT = 0;
const WIRE_FIXED64 = 1;
export const WIRE_LENGTH_DELIMITED = 2;
const WIRE_FIXED32 = 5;
const VARINT_BYTES_MAX = 10;

/** A read position in a buffer. Reading past `end` throws {@link MalformedMessage}. */
export class WireReader {
  at = 0;
  readonly end: number;

  constructor(readonly bytes: Buffer) {
    this.end = bytes.length;
  }

  /** Reads an unsigned number. Above 2^53 the result loses precision, never its magnitude. */
  readVarint(): number {
    const { bytes } = this;
    let byte = this.at < this.end ? bytes[this.at++]! : this.#fail();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 0x80;
    for (let read = 1; read < VARINT_BYTES_MAX; read++) {
      byte = this.at < this.end ? bytes[this.at++]! : this.#fail();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    return this.#fail();
  }

  /** Reads the length of a string or message. Returns the index of its end. */
  readDelimitedEnd(): number {
    const length = this.readVarint();
    const end = this.at + length;
    return end <= this.end ? end : this.#fail();
  }

  skip(wireType: number): void {
    if (wireType === WIRE_VARINT) this.readVarint();
    else if (wireType === WIRE_LENGTH_DELIMITED) this.at = this.readDelimitedEnd();
    else if (wireType === WIRE_FIXED64 || wireType === WIRE_FIXED32) this.at += wireType === WIRE_FIXED64 ? 8 : 4;
    else this.#fail();
    if (this.at > this.end) this.#fail();
  }

  #fail(): never {
    throw new MalformedMessage();
  }
}

const SLOTS = 1_024;

interface Slot {
  readonly bytes: Buffer;
  readonly at: number;
  readonly length: number;
  readonly value: string;
}

/**
 * Interns strings by their bytes. A batch repeats the same few ids and names: comparing bytes is cheaper than creating
 * the string again, and equal strings become one object. Keeps at most one string per slot.
 */
export class StringInterner {
  readonly #slots: (Slot | undefined)[] = new Array(SLOTS);

  intern(bytes: Buffer, at: number, end: number): string {
    const length = end - at;
    if (length === 0) return '';
    // The ends of ids differ most.
    const hash =
      ((bytes[end - 1]! * 31 + bytes[Math.max(at, end - 2)]!) * 31 + bytes[Math.max(at, end - 3)]!) * 31 + length;
    const index = hash % SLOTS;
    const slot = this.#slots[index];
    if (slot !== undefined && slot.length === length && hasSameBytes(slot, bytes, at)) return slot.value;
    const value = bytes.toString('utf8', at, end);
    this.#slots[index] = { bytes, at, length, value };
    return value;
  }
}

function hasSameBytes(slot: Slot, bytes: Buffer, at: number): boolean {
  const { bytes: known, at: start, length } = slot;
  for (let i = length - 1; i >= 0; i--) if (known[start + i] !== bytes[at + i]) return false;
  return true;
}
