/** Text whose end has not arrived. Room grows by doubling: also where every byte comes alone, each is copied a few times. */
export class PartialTextBuffer {
  #bytes: Buffer = EMPTY;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What is here; overwritten by the next `add`. */
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

  /** The first `length` bytes as latin1; the rest is forgotten. */
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
