/**
 * Masks an echoed credential in an answer (DESIGN §5): every occurrence of every form becomes `*` of the same length,
 * also across chunk borders. Bytes are held back only while they could be the beginning of a form, and never more of
 * them than that beginning has.
 */
import { partialSuffix } from './partial-match.js';

const ASTERISK = 0x2a;
const EMPTY = Buffer.alloc(0);

/** A header value (latin1 text) with every form masked; the same string when it holds none. */
export function maskValue(value: string, secretForms: readonly string[]): string {
  let masked = value;
  for (let f = 0; f < secretForms.length; f++) {
    const form = secretForms[f]!;
    // Searched in the original: a form that overlaps an already masked one must still be found.
    for (let at = value.indexOf(form); at !== -1 && form !== ''; at = value.indexOf(form, at + 1)) {
      masked = masked.slice(0, at) + '*'.repeat(form.length) + masked.slice(at + form.length);
    }
  }
  return masked;
}

/** The byte patterns of an account's `secretForms`, made once per context. */
export function maskPatterns(secretForms: readonly string[]): readonly Buffer[] {
  return secretForms.filter((form) => form !== '').map((form) => Buffer.from(form, 'utf8'));
}

/** Masks one body stream. Not for compressed bodies. */
export class BodyMask {
  readonly #patterns: readonly Buffer[];
  /** Bytes that were not given out yet: the beginning of a possible occurrence. */
  #held: Buffer = EMPTY;
  /** How many leading bytes of `#held` belong to an occurrence that was found already. */
  #heldMasked = 0;

  constructor(patterns: readonly Buffer[]) {
    this.#patterns = patterns;
  }

  /**
   * Masks `chunk` in place and returns the bytes to send now: usually the chunk itself, shorter by a held-back tail,
   * or longer by the tail of the chunk before. May be empty. The caller must own `chunk`.
   */
  push(chunk: Buffer): Buffer {
    let bytes = chunk;
    let masked = 0;
    if (this.#held.length > 0) {
      bytes = Buffer.concat([this.#held, chunk]);
      masked = this.#heldMasked;
      this.#held = EMPTY;
      this.#heldMasked = 0;
    }
    let held = 0;
    for (let p = 0; p < this.#patterns.length; p++) held = Math.max(held, partialSuffix(bytes, this.#patterns[p]!));
    const end = bytes.length - held;
    const ranges = this.#occurrences(bytes);
    if (held > 0) this.#hold(bytes, end, ranges, masked);
    this.#mask(bytes, ranges, masked);
    return held > 0 ? bytes.subarray(0, end) : bytes;
  }

  /** The held-back bytes at the end of the body: no occurrence was completed. */
  flush(): Buffer {
    const rest = this.#held;
    if (rest.length === 0) return rest;
    this.#mask(rest, this.#occurrences(rest), this.#heldMasked);
    this.#held = EMPTY;
    this.#heldMasked = 0;
    return rest;
  }

  /** `[start, end, start, end …]` of every occurrence, or null. */
  #occurrences(bytes: Buffer): number[] | null {
    let ranges: number[] | null = null;
    for (let p = 0; p < this.#patterns.length; p++) {
      const pattern = this.#patterns[p]!;
      for (let at = bytes.indexOf(pattern); at !== -1; at = bytes.indexOf(pattern, at + 1)) {
        ranges ??= [];
        ranges.push(at, at + pattern.length);
      }
    }
    return ranges;
  }

  #mask(bytes: Buffer, ranges: readonly number[] | null, leading: number): void {
    if (leading > 0) bytes.fill(ASTERISK, 0, leading);
    if (ranges === null) return;
    for (let r = 0; r < ranges.length; r += 2) bytes.fill(ASTERISK, ranges[r]!, ranges[r + 1]!);
  }

  #hold(bytes: Buffer, from: number, ranges: readonly number[] | null, masked: number): void {
    this.#held = Buffer.from(bytes.subarray(from)); // a copy of the original bytes, before they are masked
    this.#heldMasked = Math.max(0, masked - from);
    if (ranges === null) return;
    // Occurrences that begin inside the held bytes are found again with the next chunk.
    for (let r = 0; r < ranges.length; r += 2) {
      if (ranges[r]! < from) this.#heldMasked = Math.max(this.#heldMasked, ranges[r + 1]! - from);
    }
  }
}
