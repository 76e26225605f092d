/**
 * Masks a provider credential that the provider echoes. Every occurrence of every form in which the gateway injected it
 * becomes `*` of the same length, also across chunk borders.
 *
 *   … "text": "one two thr│   ─▶  holds back the trailing run of bytes 0x21–0x7E, at most `heldBytesMax`
 *
 * The held length must not depend on the secret. Otherwise a caller who lets the provider echo guesses could read from
 * the chunk borders how much of a guess is right. Credentials contain only these bytes (assignment rejects others). So
 * a chunk that ends in another byte, as every SSE event does, is released at once.
 */
import { ByteRangeList, CredentialPattern, CredentialSearch } from './credential-search.js';

const ASTERISK = 0x2a;
const EMPTY = Buffer.alloc(0);
/** Bytes of one header value; longer values get a buffer of their own. */
const scratch = Buffer.allocUnsafeSlow(4 * 1024);
const FIRST_GRAPH = 0x21;
const LAST_GRAPH = 0x7e;
/** Above this length in bytes, `Buffer.fill` is faster than a loop. */
const NATIVE_FILL_BYTES = 64;
/** Long texts are masked in slices of this many bytes, so that the list of occurrences stays short. */
const SLICE_BYTES = 16 * 1024;
/** `heldBytesMax` is a multiple of this minus 1, so that the held length does not reveal the length of the secret. */
const HELD_STEP = 64;

/** Compiled credential forms of one agent context. */
export interface CredentialMaskPatterns {
  readonly patterns: readonly CredentialPattern[];
  /** Length in bytes of the shortest form. A shorter text cannot contain any. */
  readonly shortestPatternBytes: number;
  /** Upper bound in bytes for an incomplete occurrence at the end of a chunk. */
  readonly heldBytesMax: number;
  /** For complete texts. */
  readonly searches: readonly CredentialSearch[];
  /** The same forms in lower case, for header names. */
  readonly lowerCaseSearches: readonly CredentialSearch[];
}

export function compileMaskPatterns(credentialForms: readonly string[]): CredentialMaskPatterns {
  const forms = credentialForms.filter((form) => form !== '');
  const patterns = forms.map((form) => new CredentialPattern(form));
  const lengths = patterns.map((pattern) => pattern.length);
  const longest = Math.max(0, ...lengths);
  return {
    patterns,
    shortestPatternBytes: Math.min(...lengths),
    heldBytesMax: Math.max(0, Math.ceil(longest / HELD_STEP) * HELD_STEP - 1),
    searches: createCredentialSearches(patterns),
    lowerCaseSearches: createCredentialSearches(
      forms.map((form, i) => (form === form.toLowerCase() ? patterns[i]! : new CredentialPattern(form.toLowerCase()))),
    ),
  };
}

/** Masks every form in a text of latin1 bytes. Returns the same string when it contains none. */
export function maskHeaderValue(value: string, maskPatterns: CredentialMaskPatterns): string {
  if (value.length < maskPatterns.shortestPatternBytes) return value;
  const bytes = toScratchBytes(value);
  return maskCompleteText(bytes, maskPatterns.searches) ? bytes.toString('latin1') : value;
}

/** Masks a complete text in place. */
export function maskBuffer(bytes: Buffer, maskPatterns: CredentialMaskPatterns): void {
  if (bytes.length >= maskPatterns.shortestPatternBytes) maskCompleteText(bytes, maskPatterns.searches);
}

/** Whether a lower-case header name contains a form, in any case. Masking would turn it into another header. */
export const headerNameContainsCredential = (name: string, maskPatterns: CredentialMaskPatterns): boolean =>
  name.length >= maskPatterns.shortestPatternBytes &&
  maskCompleteText(toScratchBytes(name), maskPatterns.lowerCaseSearches);

/** Latin1 bytes of the text, valid until the next call. */
function toScratchBytes(text: string): Buffer {
  if (text.length > scratch.length) return Buffer.from(text, 'latin1');
  return scratch.subarray(0, scratch.write(text, 'latin1'));
}

/** For a text that was cut off: removes the trailing run that may be a part of a form. */
export function cutPartialCredential(text: string, maskPatterns: CredentialMaskPatterns): string {
  let end = text.length;
  const stop = Math.max(0, end - maskPatterns.heldBytesMax);
  while (end > stop && isPrintableNonSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Masks one body stream. */
export class BodyMasker {
  /**
   * Bytes held back before and released by the last {@link push}. The caller sends them before the bytes that `push`
   * returns, and owns them.
   */
  released: Buffer = EMPTY;
  readonly #searches: readonly CredentialSearch[];
  readonly #heldBytesMax: number;
  /** Held bytes, already masked. */
  #held: Buffer = EMPTY;
  /** Buffer that contains `#held`, with spare capacity behind it. Empty until a chunk is appended to held bytes. */
  #heldBuffer: Buffer = EMPTY;

  constructor(maskPatterns: CredentialMaskPatterns) {
    this.#searches = createCredentialSearches(maskPatterns.patterns);
    this.#heldBytesMax = maskPatterns.heldBytesMax;
  }

  /** Whether bytes are held. They are released with the next chunk, at the end, or by the idle flush. */
  get hasHeldBytes(): boolean {
    return this.#held.length > 0;
  }

  /**
   * Masks `chunk` in place; the caller must own it. Returns the part to send now, after {@link released}. `isLast`: no
   * chunk follows, so nothing is held.
   */
  push(chunk: Buffer, isLast = false): Buffer {
    const heldBefore = this.#held;
    maskChunk(heldBefore, chunk, this.#searches);
    const heldLength = isLast ? 0 : countTrailingPrintable(chunk, this.#heldBytesMax);
    if (!isLast && heldLength === chunk.length && heldBefore.length > 0) return this.#appendToHeld(chunk);
    this.released = heldBefore;
    this.#heldBuffer = EMPTY;
    const leaving = chunk.length - heldLength;
    this.#held = heldLength === 0 ? EMPTY : Buffer.from(chunk.subarray(leaving));
    return heldLength === 0 ? chunk : chunk.subarray(0, leaving);
  }

  /**
   * Appends `chunk` to the held run. Holds up to twice `heldBytesMax`, so that short chunks are not copied repeatedly.
   */
  #appendToHeld(chunk: Buffer): Buffer {
    const held = this.#held;
    const length = held.length + chunk.length;
    if (length <= this.#heldBuffer.length) {
      this.released = EMPTY;
    } else {
      const kept = length > 2 * this.#heldBytesMax ? this.#heldBytesMax - chunk.length : held.length;
      this.released = held.subarray(0, held.length - kept);
      this.#heldBuffer = Buffer.allocUnsafeSlow(2 * this.#heldBytesMax);
      this.#held = this.#heldBuffer.subarray(0, held.copy(this.#heldBuffer, 0, held.length - kept));
    }
    const joined = this.#held.length + chunk.copy(this.#heldBuffer, this.#held.length);
    this.#held = this.#heldBuffer.subarray(0, joined);
    return EMPTY;
  }

  /** Returns the held bytes, at the end of the body or after a pause. The search state is reset. */
  flush(): Buffer {
    const rest = this.#held;
    this.discardHeld();
    return rest;
  }

  /**
   * Returns what a body that is cut off ends with: `last`, bytes of the gateway's own, behind the held bytes. These may be
   * the beginning of a credential whose end will not arrive, so they are released only if `last` begins with a byte that
   * no credential contains, as the provider's next event would have.
   */
  endWith(last: Buffer): Buffer {
    if (last[0]! < FIRST_GRAPH) {
      const leaving = this.push(Buffer.from(last), true); // a copy, because it is masked in place
      return Buffer.concat([this.released, leaving]);
    }
    this.discardHeld();
    return last;
  }

  /** Discards the held bytes. For a body that was cut off: they may be the beginning of a credential. */
  discardHeld(): void {
    this.#held = EMPTY;
    this.#heldBuffer = EMPTY;
    for (const search of this.#searches) search.reset();
  }
}

const createCredentialSearches = (patterns: readonly CredentialPattern[]): readonly CredentialSearch[] =>
  patterns.map((pattern) => new CredentialSearch(pattern));

/** Returns false when nothing was masked. */
function maskCompleteText(bytes: Buffer, searches: readonly CredentialSearch[]): boolean {
  for (let s = 0; s < searches.length; s++) searches[s]!.reset();
  return maskChunk(EMPTY, bytes, searches);
}

/** Occurrences in the current slice; reused. */
const foundRanges = new ByteRangeList();

/**
 * Masks in place every occurrence that ends in `chunk`; it may begin in `held`, the bytes before it. Returns false when
 * there is none.
 */
function maskChunk(held: Buffer, chunk: Buffer, searches: readonly CredentialSearch[]): boolean {
  let masked = false;
  for (let from = 0; from < chunk.length; from += SLICE_BYTES) {
    const slice = chunk.length <= SLICE_BYTES ? chunk : chunk.subarray(from, from + SLICE_BYTES);
    foundRanges.clear();
    // Finds all occurrences before it masks any, because a form may overlap a masked one.
    for (let s = 0; s < searches.length; s++) searches[s]!.findInto(slice, foundRanges);
    for (let r = 0; r < foundRanges.count; r++) {
      const start = from + foundRanges.start(r);
      if (start < 0) held.fill(ASTERISK, Math.max(0, held.length + start));
      fillWithAsterisks(chunk, Math.max(0, start), from + foundRanges.end(r));
      masked = true;
    }
  }
  return masked;
}

function fillWithAsterisks(bytes: Buffer, start: number, end: number): void {
  const length = end - start;
  if (length < 8) {
    for (let at = start; at < end; at++) bytes[at] = ASTERISK;
  } else if (length > NATIVE_FILL_BYTES) {
    bytes.fill(ASTERISK, start, end);
  } else {
    // The last eight bytes may overlap the previous ones, so that no length needs a separate loop.
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
