/**
 * Masks an echoed credential in an answer: every occurrence of every form in which it was injected becomes `*` of the
 * same length, also across chunk borders.
 *
 *   … "text": "one two thr│   ─▶  the trailing run of bytes 0x21–0x7E waits, at most `heldBytesMax` of it
 *
 * What waits at the end of a chunk must not depend on the secret: were it only what a secret might begin with, the
 * borders of the chunks would tell a caller who makes the provider echo guesses how much of a guess is right, and so
 * spell the secret out. Credentials have no other bytes (they are refused when they are assigned), so whatever ends in
 * another byte, as every event of a stream does, leaves at once.
 */

const ASTERISK = 0x2a;
const EMPTY = Buffer.alloc(0);
const FIRST_GRAPH = 0x21;
const LAST_GRAPH = 0x7e;
/** What waits is a multiple of this less one, so that not even its length tells the secret's. */
const HELD_STEP = 64;

/** What is looked for, made once per context. */
export interface MaskForms {
  readonly patterns: readonly Buffer[];
  /** As long as any occurrence that is not complete yet can be. */
  readonly heldBytesMax: number;
}

export function maskForms(secretForms: readonly string[]): MaskForms {
  const patterns = secretForms.filter((form) => form !== '').map((form) => Buffer.from(form, 'utf8'));
  const longest = patterns.reduce((length, pattern) => Math.max(length, pattern.length), 0);
  return { patterns, heldBytesMax: Math.max(0, Math.ceil(longest / HELD_STEP) * HELD_STEP - 1) };
}

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

/** Masks a text that is there as a whole, in place. */
export function maskBytes(bytes: Buffer, forms: MaskForms): void {
  const ranges: number[] = [];
  findAll(bytes, forms.patterns, ranges);
  fillAll(bytes, ranges);
}

/** Without the run at its end that may be a piece of a form: for a text that was cut off. */
export function withoutOpenEnd(text: string, forms: MaskForms): string {
  let end = text.length;
  const stop = Math.max(0, end - forms.heldBytesMax);
  while (end > stop && isGraph(text.charCodeAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Masks one body stream. */
export class BodyMask {
  /** What was held back and leaves now, before the bytes that {@link push} returns. Whoever takes it owns it. */
  released: Buffer = EMPTY;
  readonly #patterns: readonly Buffer[];
  readonly #heldBytesMax: number;
  /** The bytes that wait, as the agent will see them. */
  #held: Buffer = EMPTY;
  /** The same bytes as they came, and behind them room for the beginning of the next chunk. */
  #original: Buffer = EMPTY;
  readonly #ranges: number[] = [];

  constructor(forms: MaskForms) {
    this.#patterns = forms.patterns;
    this.#heldBytesMax = forms.heldBytesMax;
  }

  /** Bytes wait, and leave with the next chunk, at the end, or after a silence. */
  get holding(): boolean {
    return this.#held.length > 0;
  }

  /**
   * Masks `chunk`, which the caller must own, in place; returns what of it leaves now, behind {@link released}. `isLast`:
   * nothing follows, so nothing waits.
   */
  push(chunk: Buffer, isLast = false): Buffer {
    const heldBefore = this.#held;
    const ranges = this.#ranges;
    ranges.length = 0;
    // All are found before any is masked: a form that overlaps a masked one must still be found.
    if (heldBefore.length > 0) this.#findAcross(heldBefore.length, chunk);
    findAll(chunk, this.#patterns, ranges);
    const run = isLast ? 0 : trailingRun(chunk, this.#heldBytesMax);
    const fromHeld = !isLast && run === chunk.length ? Math.min(heldBefore.length, this.#heldBytesMax - run) : 0;
    if (run > 0 || fromHeld > 0) this.#keepOriginal(heldBefore.length, fromHeld, chunk, run);
    maskAcross(heldBefore, chunk, ranges);
    this.released = heldBefore.length === 0 ? EMPTY : heldBefore.subarray(0, heldBefore.length - fromHeld);
    const leaving = chunk.length - run;
    if (fromHeld > 0) {
      this.#held = Buffer.concat([heldBefore.subarray(heldBefore.length - fromHeld), chunk.subarray(leaving)]);
    } else {
      this.#held = run === 0 ? EMPTY : Buffer.from(chunk.subarray(leaving));
    }
    return run === 0 ? chunk : chunk.subarray(0, leaving);
  }

  /** The bytes that waited: at the end of the body, or after a silence; then what follows begins anew. */
  flush(): Buffer {
    const rest = this.#held;
    this.#held = EMPTY;
    return rest;
  }

  /** Occurrences that begin in the held bytes and end in `chunk`, counted from the chunk's start (so from below 0). */
  #findAcross(heldLength: number, chunk: Buffer): void {
    const ahead = Math.min(chunk.length, this.#heldBytesMax);
    chunk.copy(this.#original, heldLength, 0, ahead);
    const seam = this.#original.subarray(0, heldLength + ahead);
    for (let p = 0; p < this.#patterns.length; p++) {
      const pattern = this.#patterns[p]!;
      const from = Math.max(0, heldLength - pattern.length + 1);
      for (let at = seam.indexOf(pattern, from); at !== -1 && at < heldLength; at = seam.indexOf(pattern, at + 1)) {
        this.#ranges.push(at - heldLength, at - heldLength + pattern.length);
      }
    }
  }

  /** Before anything is masked: what was held and still is, and the chunk's end. */
  #keepOriginal(heldLength: number, fromHeld: number, chunk: Buffer, run: number): void {
    if (this.#original.length === 0) this.#original = Buffer.allocUnsafeSlow(2 * this.#heldBytesMax);
    if (fromHeld > 0) this.#original.copy(this.#original, 0, heldLength - fromHeld, heldLength);
    chunk.copy(this.#original, fromHeld, chunk.length - run);
  }
}

/** Appends `start, end` of every occurrence. */
function findAll(bytes: Buffer, patterns: readonly Buffer[], ranges: number[]): void {
  for (let p = 0; p < patterns.length; p++) {
    const pattern = patterns[p]!;
    for (let at = bytes.indexOf(pattern); at !== -1; at = bytes.indexOf(pattern, at + 1)) {
      ranges.push(at, at + pattern.length);
    }
  }
}

function fillAll(bytes: Buffer, ranges: readonly number[]): void {
  for (let r = 0; r < ranges.length; r += 2) bytes.fill(ASTERISK, ranges[r]!, ranges[r + 1]!);
}

/** `ranges` count from the start of `chunk`; what is below 0 lies in `held`. */
function maskAcross(held: Buffer, chunk: Buffer, ranges: readonly number[]): void {
  for (let r = 0; r < ranges.length; r += 2) {
    const start = ranges[r]!;
    const end = ranges[r + 1]!;
    if (start < 0) held.fill(ASTERISK, held.length + start);
    chunk.fill(ASTERISK, Math.max(0, start), end);
  }
}

function trailingRun(bytes: Buffer, lengthMax: number): number {
  const stop = Math.max(0, bytes.length - lengthMax);
  let at = bytes.length;
  while (at > stop && isGraph(bytes[at - 1]!)) at--;
  return bytes.length - at;
}

const isGraph = (byte: number): boolean => byte >= FIRST_GRAPH && byte <= LAST_GRAPH;
