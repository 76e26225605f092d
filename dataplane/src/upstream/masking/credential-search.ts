/**
 * Finds every occurrence of one credential form in a stream, in time linear in its bytes. A tenant chooses both the
 * credential and what its provider echoes, so no pair may be slow. `Buffer.indexOf` is quadratic for periodic patterns.
 *
 *   bitap over the form's first 24 bytes, 8 bytes of text a step ──whole prefix──▶ Knuth-Morris-Pratt
 *                                                 ◀──fewer than 8 bytes match──
 */

/** Bytes of the form that bitap tracks. Together with the 8 history bits of a step they fit into 31 bits. */
const PREFIX_MAX = 24;
const STEP = 8;
/**
 * With fewer matched bytes than this, the search returns to bitap. Far below the prefix length, so that no text
 * switches the mode at every byte.
 */
const BITAP_BELOW = 8;
/** Longest form whose failure table fits into 16 bits. */
const INT16_TABLE_BYTES_MAX = 0x7fff;
const NONE_ALIVE = -1;

/** One compiled form; immutable and shared by all searches. */
export class CredentialPattern {
  readonly bytes: Buffer;
  readonly prefixLength: number;
  /**
   * KMP failure table. Index: matched bytes. Value: how many bytes still match when the next byte differs, or -1.
   * Strong failure function: the byte after the shorter match differs, too. Null for a form that fits into the bitap
   * prefix.
   */
  readonly failureTable: Int16Array | Int32Array | null;
  /** Index: matched bytes. Value: the equivalent bitap state. */
  readonly bitapStates: Int32Array;

  /** Throws nothing; `form` must not be empty. */
  constructor(form: string) {
    this.bytes = Buffer.from(form, 'utf8');
    this.prefixLength = Math.min(this.bytes.length, PREFIX_MAX);
    const borders = computeBorders(this.bytes);
    this.bitapStates = computeBitapStates(borders, Math.min(BITAP_BELOW, this.prefixLength));
    this.failureTable = this.bytes.length <= PREFIX_MAX ? null : computeFailureTable(this.bytes, borders);
  }

  get length(): number {
    return this.bytes.length;
  }
}

/**
 * Bitap masks by byte value: bit j is 0 where byte j of the prefix has that value. All forms with the same prefix
 * length share one table, which is loaded for the current form. A table for each form would take 1 KiB.
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

  loadPattern(bytes: Buffer): void {
    if (bytes === this.#bytes) return;
    for (let j = 0; j < this.#bytes.length && j < this.#length; j++) this.byByte[this.#bytes[j]!] = this.#none;
    for (let j = 0; j < this.#length; j++) this.byByte[bytes[j]!]! &= ~(1 << j);
    this.#bytes = bytes;
  }
}

const MASKS = Array.from({ length: PREFIX_MAX + 1 }, (_, prefixLength) => new BitapMasks(prefixLength));

/** Far before every range. */
const BEFORE_ALL_RANGES = -(2 ** 30);

/**
 * Reusable list of byte ranges. Overlapping or touching ranges of one search are merged. Has no branches that depend on
 * the text, so that many short occurrences cost little more than none.
 */
export class ByteRangeList {
  /** `start, end` of each range, after one unused pair. */
  #bounds = new Int32Array(64);
  /** Index of the last range's start. */
  #lastIndex = 0;
  #lastEnd = BEFORE_ALL_RANGES;

  get count(): number {
    return this.#lastIndex / 2;
  }

  start(index: number): number {
    return this.#bounds[2 * index + 2]!;
  }

  end(index: number): number {
    return this.#bounds[2 * index + 3]!;
  }

  clear(): void {
    this.#lastIndex = 0;
    this.#lastEnd = BEFORE_ALL_RANGES;
  }

  /** Starts the next search. Its ranges are not merged with those of the previous search. */
  startNewMergeGroup(): void {
    this.#lastEnd = BEFORE_ALL_RANGES;
  }

  /** Adds a range. Call in the order of the ends. */
  addOrMerge(start: number, end: number): void {
    if (this.#lastIndex + 4 > this.#bounds.length) this.#growCapacity();
    const isApart = (this.#lastEnd - start) >> 31; // All bits set when the range does not touch the last one, else 0.
    const last = this.#lastIndex + (2 & isApart);
    this.#bounds[last] = (start & isApart) | (this.#bounds[last]! & ~isApart);
    this.#lastIndex = last;
    this.extendLast(end);
  }

  /** Extends the end of the last range. */
  extendLast(end: number): void {
    this.#bounds[this.#lastIndex + 1] = end;
    this.#lastEnd = end;
  }

  #growCapacity(): void {
    const wider = new Int32Array(2 * this.#bounds.length);
    wider.set(this.#bounds);
    this.#bounds = wider;
  }
}

const NO_RANGES = new ByteRangeList();

/** Searches one stream for one form. */
export class CredentialSearch {
  readonly #pattern: CredentialPattern;
  readonly #masks: BitapMasks;
  /** Bytes of the form. */
  readonly #length: number;
  /** Bitap state: bit j is 0 where the text ends in the form's first j + 1 bytes. Only valid while `#matched` is 0. */
  #bitapState = NONE_ALIVE;
  /** Bytes of the form that the text ends with, while Knuth-Morris-Pratt runs; else 0. */
  #matched = 0;
  #ranges = NO_RANGES;

  constructor(pattern: CredentialPattern) {
    this.#pattern = pattern;
    this.#masks = MASKS[pattern.prefixLength]!;
    this.#length = pattern.length;
  }

  /** Forgets the text so far. The next chunk starts a new text. */
  reset(): void {
    this.#bitapState = NONE_ALIVE;
    this.#matched = 0;
  }

  /**
   * Adds all occurrences that end in `text`, the next chunk of the stream. Overlapping occurrences become one range. A
   * negative start counts back from the beginning of the chunk.
   */
  findInto(text: Buffer, ranges: ByteRangeList): void {
    this.#ranges = ranges;
    ranges.startNewMergeGroup();
    this.#masks.loadPattern(this.#pattern.bytes);
    let at = 0;
    while (at < text.length) at = this.#matched > 0 ? this.#scanWithKmp(text, at) : this.#scanWithBitap(text, at);
  }

  /** Bitap. Returns the next position: the end of the text, or the position after the prefix of a longer form. */
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
        return at - indexOfHighestBit(ends);
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
      this.#ranges.addOrMerge(at - this.#length, at);
    }
    this.#bitapState = alive;
    return at;
  }

  /** Runs Knuth-Morris-Pratt until fewer than {@link BITAP_BELOW} bytes match. Returns the next position. */
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
      if (matched === length) this.#ranges.addOrMerge(at - this.#length, at);
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

  /** Adds the occurrences that bit b of `endBits` marks as ending at `at - b`. */
  #addMatches(endBits: number, at: number): void {
    const length = this.#length;
    if (length >= STEP) {
      // All of them overlap or touch.
      this.#ranges.addOrMerge(at - indexOfHighestBit(endBits) - length, at - indexOfHighestBit(endBits & -endBits));
      return;
    }
    for (let back = STEP - 1; back >= 0; back--) {
      if (((endBits >>> back) & 1) !== 0) this.#ranges.addOrMerge(at - back - length, at - back);
    }
  }
}

const indexOfHighestBit = (bits: number): number => 31 - Math.clz32(bits);

/**
 * KMP borders. Index: number of bytes. Value: length of the longest proper prefix of them that is also their suffix; -1
 * for 0 bytes.
 */
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

function computeBitapStates(borders: Int32Array, count: number): Int32Array {
  const states = new Int32Array(count).fill(NONE_ALIVE);
  for (let matched = 1; matched < count; matched++) {
    for (let length = matched; length > 0; length = borders[length]!) states[matched]! &= ~(1 << (length - 1));
  }
  return states;
}
