/**
 * A growing byte buffer with a hard cap. Appending is amortized O(n), so that a body that arrives byte by byte takes
 * linear time.
 */
export class BoundedBuffer {
  readonly bytesMax: number;
  length = 0;
  #bytes: Buffer;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.#bytes = EMPTY;
  }

  /** Internal memory. Valid up to `length`, until the next append or clear. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Copies `source[from, to)` to the end. Returns false and copies nothing when the cap would be exceeded. */
  append(source: Buffer, from: number, to: number): boolean {
    const length = this.length + (to - from);
    if (length > this.bytesMax) return false;
    if (length > this.#bytes.length) this.#grow(length);
    source.copy(this.#bytes, this.length, from, to);
    this.length = length;
    return true;
  }

  clear(): void {
    this.length = 0;
  }

  #grow(lengthMin: number): void {
    const grown = Buffer.allocUnsafe(Math.min(this.bytesMax, Math.max(lengthMin, this.#bytes.length * 2, 512)));
    this.#bytes.copy(grown, 0, 0, this.length);
    this.#bytes = grown;
  }
}

const EMPTY = Buffer.alloc(0);
