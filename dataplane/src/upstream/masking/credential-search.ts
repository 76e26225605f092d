/**
 * Finds every occurrence of one credential form in a stream, in time linear in its bytes: a tenant chooses both the
 * credential and what its provider echoes, so no pair may be slow. `Buffer.indexOf` is quadratic for periodic ones.
 *
 *   bitap over the form's first 24 bytes, 8 bytes of text a step ──whole prefix──▶ Knuth-Morris-Pratt
 *                                                 ◀──fewer than 8 bytes match──
 */

/** Bitap tracks this many bytes of the form: with the 8 history bits of a step they fit into 31 bits. */
const PREFIX_MAX = 24;
const STEP = 8;
/** Below this many matched bytes bitap goes on. Far below the prefix, so that no text changes the mode at every byte. */
const BITAP_BELOW = 8;
/** Longest form whose failure table fits into 16 bits. */
const INT16_TABLE_BYTES_MAX = 0x7fff;
const NONE_ALIVE = -1;

/** One form, prepared; immutable and shared by all searches for it. */
export class CredentialPattern {
  readonly bytes: Buffer;
  readonly prefixLength: number;
  /**
   * By number of matched bytes: how many still match when the next byte differs (strong failure function: the byte after
   * them differs, too), -1: none. Null for a form that bitap tracks whole.
   */
  readonly failureTable: Int16Array | Int32Array | null;
  /** By number of matched bytes: the bitap state that says the same. */
  readonly bitapStates: Int32Array;

  /** `form` is not empty. */
  constructor(form: string) {
    this.bytes = Buffer.from(form, 'utf8');
    this.prefixLength = Math.min(this.bytes.length, PREFIX_MAX);
    const borders = computeBorders(this.bytes);
    this.bitapStates = aliveStates(borders, Math.min(BITAP_BELOW, this.prefixLength));
    this.failureTable = this.bytes.length <= PREFIX_MAX ? null : computeFailureTable(this.bytes, borders);
  }

  get length(): number {
    return this.bytes.length;
  }
}

/**
 * Bitap masks by byte value: bit j is 0 where byte j of the prefix has that value. One table for all forms with prefixes of
 * one length, loaded for the form that is searched for: a table of its own for each form would take 1 KiB.
 */
class BitapMasks {
  readonly byByte = new Int32Array(256);
  readonly #none: number;
  #bytes: Buffer = Buffer.alloc(0);
  readonly #length: number;

  constructor(prefixLength: number) {
    this.#length = prefixLength;
    this.#none = (1 << prefixLength) - 1;
    this.byByte.fill(this.#none);
  }

  load(bytes: Buffer): void {
    if (bytes === this.#bytes) return;
    for (let j = 0; j < this.#bytes.length && j < this.#length; j++) this.byByte[this.#bytes[j]!] = this.#none;
    for (let j = 0; j < this.#length; j++) this.byByte[bytes[j]!]! &= ~(1 << j);
    this.#bytes = bytes;
  }
}

const MASKS = Array.from({ length: PREFIX_MAX + 1 }, (_, prefixLength) => new BitapMasks(prefixLength));

/** Far before every range. */
const NOWHERE = -(2 ** 30);

/**
 * Ranges of bytes; those of one search that overlap or touch are one. Without branches that depend on the text, and reused:
 * a text full of short occurrences costs little more than another one.
 */
export class ByteRangeList {
  /** `start, end` of each, behind one pair that is none. */
  #bounds = new Int32Array(64);
  /** Index of the last range's start. */
  #last = 0;
  #lastEnd = NOWHERE;

  get count(): number {
    return this.#last / 2;
  }

  start(index: number): number {
    return this.#bounds[2 * index + 2]!;
  }

  end(index: number): number {
    return this.#bounds[2 * index + 3]!;
  }

  clear(): void {
    this.#last = 0;
    this.#lastEnd = NOWHERE;
  }

  /** Starts the next search: its ranges are not merged with those of the search before. */
  beginSearch(): void {
    this.#lastEnd = NOWHERE;
  }

  /** In the order of their ends. */
  add(start: number, end: number): void {
    if (this.#last + 4 > this.#bounds.length) this.#widen();
    const isApart = (this.#lastEnd - start) >> 31; // all bits or none
    const last = this.#last + (2 & isApart);
    this.#bounds[last] = (start & isApart) | (this.#bounds[last]! & ~isApart);
    this.#last = last;
    this.extendLast(end);
  }

  /** The last range ends later. */
  extendLast(end: number): void {
    this.#bounds[this.#last + 1] = end;
    this.#lastEnd = end;
  }

  #widen(): void {
    const wider = new Int32Array(2 * this.#bounds.length);
    wider.set(this.#bounds);
    this.#bounds = wider;
  }
}

const NO_RANGES = new ByteRangeList();

/** The search for one form in one stream. */
export class CredentialSearch {
  readonly #pattern: CredentialPattern;
  readonly #masks: BitapMasks;
  /** Of the form, bytes. */
  readonly #length: number;
  /** Bitap state: bit j is 0 where the text ends in the form's first j + 1 bytes. Only valid where `#matched` is 0. */
  #bitapState = NONE_ALIVE;
  /** Bytes of the form that the text ends with, while Knuth-Morris-Pratt runs. */
  #matched = 0;
  #ranges = NO_RANGES;

  constructor(pattern: CredentialPattern) {
    this.#pattern = pattern;
    this.#masks = MASKS[pattern.prefixLength]!;
    this.#length = pattern.length;
  }

  /** Forgets the text so far: the next piece begins a new text. */
  reset(): void {
    this.#bitapState = NONE_ALIVE;
    this.#matched = 0;
  }

  /**
   * Adds all occurrences that end in `text`, the next piece of the stream; those that overlap are one range. A start below 0 counts back from the piece's begin.
   */
  findInto(text: Buffer, ranges: ByteRangeList): void {
    this.#ranges = ranges;
    ranges.beginSearch();
    this.#masks.load(this.#pattern.bytes);
    let at = 0;
    while (at < text.length) at = this.#matched > 0 ? this.#scanWithKmp(text, at) : this.#scanWithBitap(text, at);
  }

  /** Bitap. Returns where to go on: the end, or behind a prefix of a form that is longer. */
  #scanWithBitap(text: Buffer, from: number): number {
    const masks = this.#masks.byByte;
    const last = this.#pattern.prefixLength - 1;
    const isLonger = this.#pattern.failureTable !== null;
    const hits = 0xff << last;
    const stop = text.length - STEP;
    let alive = this.#bitapState;
    let at = from;
    while (at <= stop) {
      alive =
        (alive << STEP) |
        (masks[text[at]!]! << 7) |
        (masks[text[at + 1]!]! << 6) |
        (masks[text[at + 2]!]! << 5) |
        (masks[text[at + 3]!]! << 4) |
        (masks[text[at + 4]!]! << 3) |
        (masks[text[at + 5]!]! << 2) |
        (masks[text[at + 6]!]! << 1) |
        masks[text[at + 7]!]!;
      at += STEP;
      if ((alive & hits) === hits) continue;
      const ends = (~alive & hits) >>> last; // bit b: an occurrence ends b bytes before `at`
      if (isLonger) {
        this.#matched = PREFIX_MAX;
        return at - highestBit(ends);
      }
      this.#addMatches(ends, at);
    }
    const hit = 1 << last;
    while (at < text.length) {
      alive = (alive << 1) | masks[text[at++]!]!;
      if ((alive & hit) !== 0) continue;
      if (isLonger) {
        this.#matched = PREFIX_MAX;
        return at;
      }
      this.#ranges.add(at - this.#length, at);
    }
    this.#bitapState = alive;
    return at;
  }

  /** Runs Knuth-Morris-Pratt until fewer than {@link BITAP_BELOW} bytes match. Returns where to go on. */
  #scanWithKmp(text: Buffer, from: number): number {
    const { bytes, bitapStates: states } = this.#pattern;
    const failures = this.#pattern.failureTable!;
    const length = this.#length;
    let matched = this.#matched;
    let at = from;
    while (matched >= BITAP_BELOW) {
      const stop = Math.min(text.length, at + length - matched);
      while (at < stop && text[at] === bytes[matched]) {
        at++;
        matched++;
      }
      if (matched === length) this.#ranges.add(at - this.#length, at);
      if (at === text.length) {
        if (matched === length) matched = failures[length]!;
        if (matched < BITAP_BELOW) break;
        this.#matched = matched;
        return at;
      }
      let rest = failures[matched]!;
      while (rest >= 0 && bytes[rest] !== text[at]) rest = failures[rest]!;
      if (rest < 0) {
        matched = 0;
        at++;
        break;
      }
      // Periodic text repeats the same fallback. This loop handles it with one comparison a byte.
      const top = matched;
      let wrappedAt = -1;
      matched = rest;
      while (at < text.length && text[at] === bytes[matched]) {
        at++;
        if (++matched !== top) continue;
        matched = rest;
        wrappedAt = at;
      }
      if (wrappedAt !== -1 && top === length) this.#ranges.extendLast(wrappedAt);
      if (matched === rest) matched = top;
    }
    this.#matched = 0;
    this.#bitapState = states[matched]!;
    return at;
  }

  /** Bit b of `ends`: an occurrence ends at `at - b`. */
  #addMatches(ends: number, at: number): void {
    const length = this.#length;
    if (length >= STEP) {
      // They all overlap or touch.
      this.#ranges.add(at - highestBit(ends) - length, at - highestBit(ends & -ends));
      return;
    }
    for (let back = STEP - 1; back >= 0; back--) {
      if (((ends >>> back) & 1) !== 0) this.#ranges.add(at - back - length, at - back);
    }
  }
}

const highestBit = (bits: number): number => 31 - Math.clz32(bits);

/** By number of bytes: the longest proper prefix of them that is also their end; -1 for none at all. */
function computeBorders(bytes: Buffer): Int32Array {
  const borders = new Int32Array(bytes.length + 1);
  let border = -1;
  borders[0] = -1;
  for (let i = 0; i < bytes.length; i++) {
    while (border >= 0 && bytes[border] !== bytes[i]) border = borders[border]!;
    borders[i + 1] = ++border;
  }
  return borders;
}

function computeFailureTable(bytes: Buffer, borders: Int32Array): Int16Array | Int32Array {
  const failures =
    bytes.length > INT16_TABLE_BYTES_MAX ? new Int32Array(borders.length) : new Int16Array(borders.length);
  failures[0] = -1;
  for (let i = 1; i < bytes.length; i++) {
    const border = borders[i]!;
    failures[i] = bytes[border] === bytes[i] ? failures[border]! : border;
  }
  failures[bytes.length] = borders[bytes.length]!;
  return failures;
}

function aliveStates(borders: Int32Array, count: number): Int32Array {
  const states = new Int32Array(count).fill(NONE_ALIVE);
  for (let matched = 1; matched < count; matched++) {
    for (let length = matched; length > 0; length = borders[length]!) states[matched]! &= ~(1 << (length - 1));
  }
  return states;
}
