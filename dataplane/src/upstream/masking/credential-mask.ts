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
import { ByteRangeList, CredentialPattern, CredentialSearch } from './credential-search.js';

const ASTERISK = 0x2a;
const EMPTY = Buffer.alloc(0);
/** Room for a header's value. */
const scratch = Buffer.allocUnsafeSlow(4 * 1024);
const FIRST_GRAPH = 0x21;
const LAST_GRAPH = 0x7e;
/** Above this many bytes the native call is faster than a loop. */
const NATIVE_FILL_BYTES = 64;
/** Long texts are masked in slices, so that the list of occurrences stays short. */
const SLICE_BYTES = 16 * 1024;
/** What waits is a multiple of this less one, so that not even its length tells the secret's. */
const HELD_STEP = 64;

/** What is searched for, prepared once per context. */
export interface CredentialMaskPatterns {
  readonly patterns: readonly CredentialPattern[];
  /** Bytes of the shortest form; a shorter text holds none. */
  readonly shortestPatternBytes: number;
  /** As long as any occurrence that is not complete yet can be. */
  readonly heldBytesMax: number;
  /** For texts that are there as a whole. */
  readonly searches: readonly CredentialSearch[];
  /** The same forms in lower case, as a header's name would show them. */
  readonly lowerCaseSearches: readonly CredentialSearch[];
}

export function compileMaskPatterns(secretForms: readonly string[]): CredentialMaskPatterns {
  const forms = secretForms.filter((form) => form !== '');
  const patterns = forms.map((form) => new CredentialPattern(form));
  const lengths = patterns.map((pattern) => pattern.length);
  const longest = Math.max(0, ...lengths);
  return {
    patterns,
    shortestPatternBytes: Math.min(...lengths),
    heldBytesMax: Math.max(0, Math.ceil(longest / HELD_STEP) * HELD_STEP - 1),
    searches: createSearches(patterns),
    lowerCaseSearches: createSearches(
      forms.map((form, i) => (form === form.toLowerCase() ? patterns[i]! : new CredentialPattern(form.toLowerCase()))),
    ),
  };
}

/** A text of latin1 bytes with every form masked; the same string when it holds none. */
export function maskHeaderValue(value: string, forms: CredentialMaskPatterns): string {
  if (value.length < forms.shortestPatternBytes) return value;
  const bytes = toScratchBytes(value);
  return maskComplete(bytes, forms.searches) ? bytes.toString('latin1') : value;
}

/** Masks a text that is there as a whole, in place. */
export function maskBuffer(bytes: Buffer, forms: CredentialMaskPatterns): void {
  if (bytes.length >= forms.shortestPatternBytes) maskComplete(bytes, forms.searches);
}

/** Whether a header's lower-case name holds a form, in any case: it cannot be masked without becoming another header. */
export const headerNameContainsCredential = (name: string, forms: CredentialMaskPatterns): boolean =>
  name.length >= forms.shortestPatternBytes && maskComplete(toScratchBytes(name), forms.lowerCaseSearches);

/** The text's latin1 bytes, until the next call. */
function toScratchBytes(text: string): Buffer {
  if (text.length > scratch.length) return Buffer.from(text, 'latin1');
  return scratch.subarray(0, scratch.write(text, 'latin1'));
}

/** Without the run at its end that may be a piece of a form: for a text that was cut off. */
export function cutPartialCredential(text: string, forms: CredentialMaskPatterns): string {
  let end = text.length;
  const stop = Math.max(0, end - forms.heldBytesMax);
  while (end > stop && isPrintableNonSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Masks one body stream. */
export class BodyMasker {
  /** What was held back and leaves now, before the bytes that {@link push} returns. Whoever takes it owns it. */
  released: Buffer = EMPTY;
  readonly #searches: readonly CredentialSearch[];
  readonly #heldBytesMax: number;
  /** The bytes that wait, as the agent will see them. */
  #held: Buffer = EMPTY;
  /** Where `#held` lies with room behind it; empty until a chunk joins what waits already. */
  #room: Buffer = EMPTY;

  constructor(forms: CredentialMaskPatterns) {
    this.#searches = createSearches(forms.patterns);
    this.#heldBytesMax = forms.heldBytesMax;
  }

  /** Bytes wait, and leave with the next chunk, at the end, or after a silence. */
  get hasHeldBytes(): boolean {
    return this.#held.length > 0;
  }

  /**
   * Masks `chunk`, which the caller must own, in place; returns what of it leaves now, behind {@link released}. `isLast`:
   * nothing follows, so nothing waits.
   */
  push(chunk: Buffer, isLast = false): Buffer {
    const heldBefore = this.#held;
    maskChunk(heldBefore, chunk, this.#searches);
    const run = isLast ? 0 : countTrailingPrintable(chunk, this.#heldBytesMax);
    if (!isLast && run === chunk.length && heldBefore.length > 0) return this.#join(chunk);
    this.released = heldBefore;
    this.#room = EMPTY;
    const leaving = chunk.length - run;
    this.#held = run === 0 ? EMPTY : Buffer.from(chunk.subarray(leaving));
    return run === 0 ? chunk : chunk.subarray(0, leaving);
  }

  /** `chunk` goes on with the run that waits. So that short pieces are not copied again and again, twice as much may. */
  #join(chunk: Buffer): Buffer {
    const held = this.#held;
    const length = held.length + chunk.length;
    if (length <= this.#room.length) {
      this.released = EMPTY;
    } else {
      const kept = length > 2 * this.#heldBytesMax ? this.#heldBytesMax - chunk.length : held.length;
      this.released = held.subarray(0, held.length - kept);
      this.#room = Buffer.allocUnsafeSlow(2 * this.#heldBytesMax);
      this.#held = this.#room.subarray(0, held.copy(this.#room, 0, held.length - kept));
    }
    const joined = this.#held.length + chunk.copy(this.#room, this.#held.length);
    this.#held = this.#room.subarray(0, joined);
    return EMPTY;
  }

  /** The bytes that waited: at the end of the body, or after a silence; then what follows begins anew. */
  flush(): Buffer {
    const rest = this.#held;
    this.discardHeld();
    return rest;
  }

  /** Forgets the bytes that waited: the body was cut off, and they may be the beginning of a form. */
  discardHeld(): void {
    this.#held = EMPTY;
    this.#room = EMPTY;
    for (const search of this.#searches) search.reset();
  }
}

const createSearches = (patterns: readonly CredentialPattern[]): readonly CredentialSearch[] =>
  patterns.map((pattern) => new CredentialSearch(pattern));

/** False: nothing was masked. */
function maskComplete(bytes: Buffer, searches: readonly CredentialSearch[]): boolean {
  for (let s = 0; s < searches.length; s++) searches[s]!.reset();
  return maskChunk(EMPTY, bytes, searches);
}

/** Occurrences in the slice that is masked now. */
const foundRanges = new ByteRangeList();

/** Masks what ends in `chunk`, in place, and begins there or in `held`, which came before it. False: nothing does. */
function maskChunk(held: Buffer, chunk: Buffer, searches: readonly CredentialSearch[]): boolean {
  let masked = false;
  for (let from = 0; from < chunk.length; from += SLICE_BYTES) {
    const slice = chunk.length <= SLICE_BYTES ? chunk : chunk.subarray(from, from + SLICE_BYTES);
    foundRanges.clear();
    // All are found before any is masked: a form that overlaps a masked one must still be found.
    for (let s = 0; s < searches.length; s++) searches[s]!.findInto(slice, foundRanges);
    for (let r = 0; r < foundRanges.count; r++) {
      const start = from + foundRanges.start(r);
      if (start < 0) held.fill(ASTERISK, Math.max(0, held.length + start));
      fill(chunk, Math.max(0, start), from + foundRanges.end(r));
      masked = true;
    }
  }
  return masked;
}

function fill(bytes: Buffer, start: number, end: number): void {
  const length = end - start;
  if (length < 8) {
    for (let at = start; at < end; at++) bytes[at] = ASTERISK;
  } else if (length > NATIVE_FILL_BYTES) {
    bytes.fill(ASTERISK, start, end);
  } else {
    // The last eight may overlap those before, so that no length needs a loop of its own.
    fillEightAsterisks(bytes, start);
    for (let at = start + 8; at < end - 8; at += 8) fillEightAsterisks(bytes, at);
    fillEightAsterisks(bytes, end - 8);
  }
}

function fillEightAsterisks(bytes: Buffer, at: number): void {
  bytes[at] = ASTERISK;
  bytes[at + 1] = ASTERISK;
  bytes[at + 2] = ASTERISK;
  bytes[at + 3] = ASTERISK;
  bytes[at + 4] = ASTERISK;
  bytes[at + 5] = ASTERISK;
  bytes[at + 6] = ASTERISK;
  bytes[at + 7] = ASTERISK;
}

function countTrailingPrintable(bytes: Buffer, lengthMax: number): number {
  const stop = Math.max(0, bytes.length - lengthMax);
  let at = bytes.length;
  while (at > stop && isPrintableNonSpace(bytes[at - 1]!)) at--;
  return bytes.length - at;
}

const isPrintableNonSpace = (byte: number): boolean => byte >= FIRST_GRAPH && byte <= LAST_GRAPH;
