import { JsonDocumentMeter } from './json-document-meter.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b]);
const CLOSING: ReadonlySet<number> = new Set([0x7d, 0x5d]);

/** Meter of a stream that is one JSON array, of which each item is an event (Google's streams without `alt=sse`). */
export class JsonArrayMeter extends JsonDocumentMeter {
  protected override readonly kind = 'events';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  override get tokensOutSeen(): number {
    return this.reader.tokensOutSeen(this.options);
  }

  /** Reads each byte once, in order: the bytes up to the result count as forwarded. */
  readonly findBoundary = (chunk: Buffer, at: number): number => {
    for (let i = at; i < chunk.length; i++) {
      const byte = chunk[i]!;
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === QUOTE) this.#isInString = !this.#isInString;
      else if (this.#isInString) this.#isEscaped = byte === BACKSLASH;
      else if (OPENING.has(byte)) this.#depth++;
      else if (CLOSING.has(byte) && --this.#depth === 1) return i + 1;
    }
    return -1;
  };
}
