/**
 * Upper bound for what a PDF makes a model read: its pages and the bytes of text on them. The file size is no bound,
 * because text is compressed. Measures only plain files: page content uncompressed or deflated, without reusable forms.
 * Null for all others, which may contain any amount of text.
 *
 * A text operator draws at most one glyph for each byte of a string. A glyph stands for as many bytes of text as the
 * font's tables map it to. So the strings of the content bound the text.
 */
import { inflateSync } from 'node:zlib';

interface PdfSize {
  readonly pages: number;
  /** UTF-8 bytes. */
  readonly textBytes: number;
}

/** Larger files are not read, because reading blocks the event loop. */
const FILE_BYTES_MAX = 4_194_304;
/** For all streams of all files of one request. */
const INFLATED_BYTES_MAX = 4_194_304;
/**
 * A few kilobytes can contain megabytes of deflated text, and reading costs 20 ms per megabyte. So the inflate budget
 * grows with the request: real pages deflate to a tenth, a thirtieth at best.
 */
const INFLATED_BYTES_MIN = 262_144;
const INFLATED_PER_BYTE = 32;
const INFLATED_STREAMS_MAX = 2_000;
const OBJECTS_MAX = 20_000;
/** For each kind: pages, contents, tables. An object stream has room for hundreds of thousands. */
const REFERENCES_MAX = 20_000;
/** A glyph without a table stands for at most one character of three bytes, or a ligature of three letters. */
const GLYPH_BYTES = 3;
/** UTF-16 in hex: four digits per unit, each unit at most three bytes of UTF-8. */
const HEX_DIGITS_PER_UNIT = 4;
const UTF8_BYTES_PER_UNIT = 3;
/**
 * Forms can be drawn repeatedly, encryption and attachments hide text, `#` spells names in another way, and glyph names
 * (`uni00660069`, `f_f_i`) can stand for several characters.
 */
const NOT_PLAIN =
  /\/(?:(?:Form|Encrypt|EmbeddedFiles?|XFA|AcroForm|ActualText)(?![A-Za-z0-9])|u(?:ni)?[0-9A-Fa-f]{5}|[A-Za-z0-9]*[#_])/;
const OBJECT = /(?<![0-9])(\d{1,10})\s{1,8}(\d{1,5})\s{1,8}obj(?![A-Za-z])/g;
const ANY_OBJECT = /(?<![A-Za-z])obj(?![A-Za-z])/g;
const STREAM = />>\s{0,8}stream(?:\r\n|\n)/;
const DEFLATED = /\/Filter\s{0,8}(?:\/(?:FlateDecode|Fl)(?![A-Za-z0-9])|\[\s{0,8}\/(?:FlateDecode|Fl)\s{0,8}\])/;
const REFERENCE = /(\d{1,10})\s{1,8}(\d{1,5})\s{1,8}R/g;

interface PdfStream {
  readonly dictionary: string;
  /** Index of the first byte of the stream's data. */
  readonly start: number;
}

/** Bytes and streams that may still be inflated for the files of one request. */
export class InflateBudget {
  bytes: number;
  streams = INFLATED_STREAMS_MAX;

  /** `bodyBytes`: length of the request body. */
  constructor(bodyBytes: number) {
    this.bytes = Math.min(INFLATED_BYTES_MAX, INFLATED_BYTES_MIN + INFLATED_PER_BYTE * bodyBytes);
  }
}

/** Returns the upper bound, or null when there is none. Spends `budget`. */
export function measurePdf(file: Buffer, budget: InflateBudget): PdfSize | null {
  if (file.length > FILE_BYTES_MAX || file.toString('latin1', 0, 5) !== '%PDF-') return null;
  return new PdfReader(file, budget).read();
}

class PdfReader {
  readonly #file: Buffer;
  readonly #text: string;
  readonly #streams = new Map<string, PdfStream>();
  readonly #contents = new Map<string, Buffer | null>();
  /** Dictionaries and arrays of the file and of its object streams. */
  #objects = '';
  readonly #inflateBudget: InflateBudget;

  constructor(file: Buffer, budget: InflateBudget) {
    this.#file = file;
    this.#inflateBudget = budget;
    this.#text = file.toString('latin1');
  }

  read(): PdfSize | null {
    if (!this.#readObjects() || NOT_PLAIN.test(this.#objects)) return null;
    const pages = this.#countPages();
    if (pages === 0) return null;
    const drawn = this.#listDrawnStreams();
    if (drawn === null) return null;
    const glyphBytes = this.#maxGlyphBytes();
    if (glyphBytes === null) return null;
    const sizes = new Map<string, number>();
    let textBytes = 0;
    for (const id of drawn) {
      let bytes = sizes.get(id);
      if (bytes === undefined) {
        const content = this.#readStream(id);
        if (content === null) return null;
        bytes = countStringBytes(content);
        sizes.set(id, bytes);
      }
      textBytes += bytes * glyphBytes;
    }
    return { pages, textBytes };
  }

  /** Returns false when an object could be read in more than one way. */
  #readObjects(): boolean {
    const objects = countMatches(this.#text, ANY_OBJECT);
    if (objects > OBJECTS_MAX) return false;
    const found = [...this.#text.matchAll(OBJECT)];
    if (found.length !== objects) return false;
    for (const [at, match] of found.entries()) {
      const from = match.index + match[0].length;
      const section = this.#text.slice(from, found[at + 1]?.index ?? this.#text.length);
      const stream = STREAM.exec(section);
      const dictionary = stream === null ? section : section.slice(0, stream.index + 2);
      this.#objects += `${dictionary}\n`;
      if (stream === null) continue;
      const id = objectId(match[1]!, match[2]!);
      if (this.#streams.has(id) || /[(%]/.test(dictionary)) return false;
      this.#streams.set(id, { dictionary, start: from + stream.index + stream[0].length });
    }
    for (const [id, { dictionary }] of this.#streams) {
      if (!/\/First(?![A-Za-z0-9])/.test(dictionary)) continue; // not an object stream
      const content = this.#readStream(id);
      if (content === null) return false;
      this.#objects += `${content.toString('latin1')}\n`;
    }
    return true;
  }

  /** Number of pages that the page tree refers to. 0 when it cannot be read, has too many, or has a page twice. */
  #countPages(): number {
    const kids = new Set<string>();
    for (const [, list] of this.#objects.matchAll(/\/Kids\s{0,8}(\[[^[\]]*\])?/g)) {
      if (list === undefined) return 0;
      for (const [, number, generation] of list.matchAll(REFERENCE)) {
        const id = objectId(number!, generation!);
        if (kids.has(id) || kids.size === REFERENCES_MAX) return 0;
        kids.add(id);
      }
    }
    return kids.size;
  }

  /** Streams that pages draw, one entry for each drawing; null when they cannot be read or are too many. */
  #listDrawnStreams(): string[] | null {
    const ids: string[] = [];
    const lists = /\/Contents\s{0,8}(?:(\d{1,10}\s{1,8}\d{1,5}\s{1,8}R)|\[([^[\]]*)\])?/g;
    for (const [, direct, list] of this.#objects.matchAll(lists)) {
      const references = direct ?? list;
      if (references === undefined) return null;
      for (const [, number, generation] of references.matchAll(REFERENCE)) {
        if (ids.push(objectId(number!, generation!)) > REFERENCES_MAX) return null;
      }
    }
    return ids;
  }

  /** Most bytes of text for one glyph; null when the tables cannot be read. */
  #maxGlyphBytes(): number | null {
    let bytes = GLYPH_BYTES;
    const tables = new Set<string>();
    for (const [, number, generation] of this.#objects.matchAll(
      /\/ToUnicode\s{0,8}(?:(\d{1,10})\s{1,8}(\d{1,5})\s{1,8}R)?/g,
    )) {
      if (number === undefined) return null;
      tables.add(objectId(number, generation!));
      if (tables.size > REFERENCES_MAX) return null;
    }
    for (const id of tables) {
      const table = this.#readStream(id);
      if (table === null) return null;
      const units = Math.ceil(countLongestHexDigits(table) / HEX_DIGITS_PER_UNIT);
      bytes = Math.max(bytes, units * UTF8_BYTES_PER_UNIT);
    }
    return bytes;
  }

  /** Content of a stream; null when it is missing, over the budget, or has an unsupported filter. */
  #readStream(id: string): Buffer | null {
    let content = this.#contents.get(id);
    if (content === undefined) {
      content = this.#inflateBudget.streams-- > 0 ? this.#decode(this.#streams.get(id)) : null;
      this.#contents.set(id, content);
    }
    return content;
  }

  #decode(stream: PdfStream | undefined): Buffer | null {
    if (stream === undefined || /\/(?:DecodeParms|DP)(?![A-Za-z0-9])/.test(stream.dictionary)) return null;
    const { dictionary, start } = stream;
    const filters = countMatches(dictionary, /\/Filter(?![A-Za-z0-9])/g);
    if (filters > 0) return filters === 1 && DEFLATED.test(dictionary) ? this.#inflate(start) : null;
    const length = Number(/\/Length\s{1,8}(\d{1,10})(?!\d|\s+\d+\s+R)/.exec(dictionary)?.[1] ?? Number.NaN);
    const end = start + length;
    return /^\s{0,2}endstream/.test(this.#text.slice(end, end + 11)) ? this.#file.subarray(start, end) : null;
  }

  #inflate(start: number): Buffer | null {
    const budget = this.#inflateBudget;
    if (budget.bytes < 1) return null;
    try {
      const content = inflateSync(this.#file.subarray(start), { maxOutputLength: budget.bytes });
      budget.bytes -= content.length;
      return content;
    } catch {
      budget.bytes = 0; // the inflated size is unknown
      return null;
    }
  }
}

const objectId = (number: string, generation: string): string => `${Number(number)} ${Number(generation)}`;

/** Number of digits of the longest string in angle brackets. */
function countLongestHexDigits(table: Buffer): number {
  let longest = 0;
  let digits = 0;
  for (let at = 0; at < table.length; at++) {
    const byte = table[at]!;
    if (byte === 0x3c) digits = 0;
    else if (byte === 0x3e) {
      longest = Math.max(longest, digits);
      digits = 0;
    } else if (byte > 0x20) digits++;
  }
  return longest;
}

function countMatches(text: string, pattern: RegExp): number {
  let found = 0;
  for (const _ of text.matchAll(pattern)) found++;
  return found;
}

/** Bytes in strings. All bytes when the content contains an inline image, because its data can look like anything. */
function countStringBytes(content: Buffer): number {
  if (/\bBI\b/.test(content.toString('latin1'))) return content.length;
  let bytes = 0;
  let depth = 0;
  let isHex = false;
  for (let at = 0; at < content.length; at++) {
    const byte = content[at]!;
    if (depth > 0) {
      bytes++;
      if (byte === 0x5c) at++;
      else if (byte === 0x28) depth++;
      else if (byte === 0x29) depth--;
    } else if (byte === 0x28) depth = 1;
    else if (byte === 0x3c) isHex = true;
    else if (byte === 0x3e) isHex = false;
    else if (isHex) bytes++;
  }
  return bytes;
}
