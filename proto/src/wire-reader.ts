/** Reads protobuf from bytes without making anything of what it passes. */

/** The bytes are no message: cut, or of a form that protobuf does not have. */
export class MalformedMessage extends Error {
  constructor() {
    super('the bytes are no protobuf message');
    this.name = 'MalformedMessage';
  }
}

export const VARINT = 0;
const FIXED64 = 1;
export const DELIMITED = 2;
const FIXED32 = 5;
const VARINT_BYTES_MAX = 10;

/** A position in a buffer; reading past `end` throws {@link MalformedMessage}. */
export class WireReader {
  at = 0;
  readonly end: number;

  constructor(readonly bytes: Buffer) {
    this.end = bytes.length;
  }

  /** An unsigned number. Above 2^53 it loses precision, never its magnitude. */
  varint(): number {
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

  /** Reads the length of a string or message; returns where it ends. */
  delimited(): number {
    const length = this.varint();
    const end = this.at + length;
    return end <= this.end ? end : this.#fail();
  }

  skip(wireType: number): void {
    if (wireType === VARINT) this.varint();
    else if (wireType === DELIMITED) this.at = this.delimited();
    else if (wireType === FIXED64 || wireType === FIXED32) this.at += wireType === FIXED64 ? 8 : 4;
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
 * Strings by their bytes. A batch repeats the same few ids and names: comparing bytes is cheaper than making the
 * string anew, and equal strings are then one object. Holds at most one string per slot.
 */
export class StringMemo {
  readonly #slots: (Slot | undefined)[] = new Array(SLOTS);

  get(bytes: Buffer, at: number, end: number): string {
    const length = end - at;
    if (length === 0) return '';
    // The ends of ids differ most.
    const hash =
      ((bytes[end - 1]! * 31 + bytes[Math.max(at, end - 2)]!) * 31 + bytes[Math.max(at, end - 3)]!) * 31 + length;
    const index = hash % SLOTS;
    const slot = this.#slots[index];
    if (slot !== undefined && slot.length === length && same(slot, bytes, at)) return slot.value;
    const value = bytes.toString('utf8', at, end);
    this.#slots[index] = { bytes, at, length, value };
    return value;
  }
}

function same(slot: Slot, bytes: Buffer, at: number): boolean {
  const { bytes: known, at: start, length } = slot;
  for (let i = length - 1; i >= 0; i--) if (known[start + i] !== bytes[at + i]) return false;
  return true;
}
