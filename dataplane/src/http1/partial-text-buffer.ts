/**
 * Text that is not complete yet. The buffer grows by doubling, so that appending single bytes copies each only a few
 * times.
 */
export class PartialTextBuffer {
  #bytes: Buffer = EMPTY;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The bytes so far; overwritten by the next `append`. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  append(source: Buffer, from: number, to: number): void {
    const length = this.#length + to - from;
    if (length > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(ROOM_MIN, length * 2));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    source.copy(this.#bytes, this.#length, from, to);
    this.#length = length;
  }

  /** Returns the first `length` bytes as latin1 and discards the rest. */
  take(length: number): string {
    const text = this.#bytes.toString('latin1', 0, length);
    this.clear();
    return text;
  }

  clear(): void {
    this.#bytes = EMPTY;
    this.#length = 0;
  }
}

const ROOM_MIN = 128;
const EMPTY = Buffer.alloc(0);
