/** A growing byte buffer with a hard cap. Appending is amortised O(n), so a body that arrives byte by byte stays linear. */
export class BoundedBuffer {
  readonly bytesMax: number;
  length = 0;
  #bytes: Buffer;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.#bytes = EMPTY;
  }

  /** The store's own memory: valid up to `length`, until the next append or clear. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Copies `source[from, to)` to the end. False, and nothing copied, when the cap would be passed. */
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
