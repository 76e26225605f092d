/**
 * Removes from a chat stream what `include_usage` added, so that the client receives the bytes it would have received
 * without it. Drops the last chunk (empty `choices`, usage) and cuts `"usage":null` from every other chunk. An event is
 * forwarded when its blank line arrives; an incomplete event is buffered. All else passes byte for byte.
 */
import { compileJsonPaths } from '../../scan/json-paths.js';
import { JsonScanner, type JsonScanSink } from '../../scan/json-scanner.js';
import { type RawEventSink, SseSplitter } from '../../scan/sse-splitter.js';

/** A longer event passes unedited. */
const EVENT_BYTES_MAX = 1_048_576;
const EMPTY = Buffer.alloc(0);
const USAGE_KEY = Buffer.from('"usage"');
/** End of a chunk as OpenAI writes it. At the end of a document this can only be a member of the outermost object. */
const NULL_TAIL = Buffer.from(',"usage":null}');
/** The same with OpenAI's padding after it: `,"usage":null,"obfuscation":"aBc3"}`. */
const PADDED_TAIL = Buffer.from(',"usage":null,"obfuscation":');
const NULL_MEMBER_BYTES = NULL_TAIL.length - 1;
const PADDING_BYTES_MAX = 64;
const DATA = Buffer.from('data:');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const USAGE = 0;
const CHOICES = 1;
const PATHS = compileJsonPaths({ usage: USAGE, choices: CHOICES });

export class StreamUsageFilter implements RawEventSink, JsonScanSink {
  readonly #splitter = new SseSplitter(EVENT_BYTES_MAX, this);
  readonly #scanner = new JsonScanner(PATHS, this);
  /** The previous event was dropped: a late LF of it is dropped, too. */
  #isDropped = false;
  // Range to cut from the current event.
  #cutFrom = 0;
  #cutTo = 0;
  // Members found in the current event.
  #usages = 0;
  #usageIsNull = false;
  #usageStart = 0;
  #usageEnd = 0;
  #choicesEmpty = false;
  // Output of the current push: `#out`, then the range of the chunk that is forwarded without a copy.
  #out: Buffer = EMPTY;
  #outLength = 0;
  #chunk: Buffer = EMPTY;
  #keptFrom = 0;
  #keptTo = 0;

  /** Returns the bytes to forward now (possibly none); may be `chunk` itself or a part of it. */
  push(chunk: Buffer): Buffer {
    this.#chunk = chunk;
    this.#splitter.push(chunk);
    return this.#takeOutput();
  }

  /** Returns the buffered bytes at the end of the stream. */
  flush(): Buffer {
    this.#splitter.end();
    return this.#takeOutput();
  }

  onRawEvent(bytes: Buffer, from: number, to: number, lineEnds: readonly number[], lines: number): void {
    const isCut = lines > 0 && this.#findCut(bytes, from, to, from + lineEnds[0]!, lines > 1);
    this.#emit(bytes, from, isCut ? this.#cutFrom : to);
    if (isCut) this.#emit(bytes, this.#cutTo, to);
    this.#isDropped = isCut && this.#cutFrom === from && this.#cutTo === to;
  }

  onRawPiece(bytes: Buffer, from: number, to: number): void {
    this.#emit(bytes, from, to);
  }

  onRawPiecesEnd(): void {
    this.#isDropped = false;
  }

  onLateLf(chunk: Buffer): void {
    if (!this.#isDropped) this.#emit(chunk, 0, 1);
  }

  onValue(slot: number, text: string | null): void {
    if (slot === CHOICES) this.#choicesEmpty = text !== null && text.length < 64 && /^\[\s*\]$/.test(text);
    else {
      this.#usages++;
      this.#usageIsNull = text === 'null';
      this.#usageStart = this.#scanner.valueStart;
      this.#usageEnd = this.#scanner.valueEnd;
    }
  }

  #emit(bytes: Buffer, from: number, to: number): void {
    if (from === to) return;
    if (bytes !== this.#chunk) {
      this.#copyKept();
      this.#copy(bytes, from, to);
      return;
    }
    if (from !== this.#keptTo) {
      this.#copyKept();
      this.#keptFrom = from;
    }
    this.#keptTo = to;
  }

  #copyKept(): void {
    this.#copy(this.#chunk, this.#keptFrom, this.#keptTo);
    this.#keptFrom = this.#keptTo;
  }

  #copy(bytes: Buffer, from: number, to: number): void {
    const length = this.#outLength + (to - from);
    if (length > this.#out.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, this.#out.length * 2, 4096));
      this.#out.copy(grown, 0, 0, this.#outLength);
      this.#out = grown;
    }
    bytes.copy(this.#out, this.#outLength, from, to);
    this.#outLength = length;
  }

  #takeOutput(): Buffer {
    if (this.#outLength > 0) this.#copyKept();
    const output =
      this.#outLength > 0 ? this.#out.subarray(0, this.#outLength) : this.#chunk.subarray(this.#keptFrom, this.#keptTo);
    this.#out = EMPTY;
    this.#outLength = 0;
    this.#chunk = EMPTY;
    this.#keptFrom = 0;
    this.#keptTo = 0;
    return output;
  }

  /** Whether to cut anything from the event `bytes[from, to)`, whose first line ends at `end`. Sets #cutFrom and #cutTo. */
  #findCut(bytes: Buffer, from: number, to: number, end: number, hasMoreLines: boolean): boolean {
    const start = findDataStart(bytes, from, to);
    if (start < 0) return false;
    const nullAt = findNullUsage(bytes, start, end);
    if (nullAt >= 0) {
      this.#cutFrom = nullAt;
      this.#cutTo = nullAt + NULL_MEMBER_BYTES;
      return true;
    }
    const data = bytes.subarray(start, end);
    if (data.indexOf(USAGE_KEY) < 0 || hasMoreLines) return false;
    this.#usages = 0;
    this.#choicesEmpty = false;
    this.#scanner.reset();
    this.#scanner.push(data, 0, data.length);
    if (!this.#scanner.isDone || this.#usages !== 1) return false;
    if (!this.#usageIsNull && this.#choicesEmpty) {
      this.#cutFrom = from;
      this.#cutTo = to;
      return true;
    }
    return this.#cutMember(bytes, start);
  }

  /** Sets the cut to the member and its comma. */
  #cutMember(bytes: Buffer, start: number): boolean {
    const keyEnd = skipBlanksBackward(bytes, skipBlanksBackward(bytes, start + this.#usageStart) - 1); // before the colon
    const keyStart = keyEnd - USAGE_KEY.length;
    if (bytes.compare(USAGE_KEY, 0, USAGE_KEY.length, keyStart, keyEnd) !== 0) return false;
    const before = skipBlanksBackward(bytes, keyStart);
    const valueEnd = start + this.#usageEnd;
    if (bytes[before - 1] === 0x2c) {
      this.#cutFrom = before - 1;
      this.#cutTo = valueEnd;
      return true;
    }
    const after = skipBlanksForward(bytes, valueEnd);
    this.#cutFrom = keyStart;
    this.#cutTo = bytes[after] === 0x2c ? skipBlanksForward(bytes, after + 1) : valueEnd;
    return true;
  }
}

/** Start of the value when the event starts with its data line (chat streams have no other fields), else -1. */
function findDataStart(bytes: Buffer, from: number, to: number): number {
  let at = from;
  if (to - at < DATA.length) return -1;
  for (let i = 0; i < DATA.length; i++) if (bytes[at + i] !== DATA[i]) return -1;
  at += DATA.length;
  return bytes[at] === 0x20 ? at + 1 : at;
}

/** Offset of `,"usage":null` in a chunk as OpenAI writes it, else -1. */
function findNullUsage(bytes: Buffer, start: number, end: number): number {
  if (endsWith(NULL_TAIL, bytes, start, end)) return end - NULL_TAIL.length;
  if (bytes[end - 1] !== 0x7d || bytes[end - 2] !== QUOTE) return -1;
  const stop = Math.max(start, end - 2 - PADDING_BYTES_MAX);
  for (let at = end - 3; at >= stop; at--) {
    if (bytes[at] === BACKSLASH) return -1;
    if (bytes[at] === QUOTE) return endsWith(PADDED_TAIL, bytes, start, at) ? at - PADDED_TAIL.length : -1;
  }
  return -1;
}

function endsWith(tail: Buffer, bytes: Buffer, start: number, end: number): boolean {
  const from = end - tail.length;
  if (from <= start) return false;
  for (let i = tail.length - 1; i >= 0; i--) if (bytes[from + i] !== tail[i]) return false;
  return true;
}

/** Index after the last non-blank byte before `at`. */
function skipBlanksBackward(bytes: Buffer, at: number): number {
  let end = at;
  while (end > 0 && bytes[end - 1]! <= 0x20) end--;
  return end;
}

function skipBlanksForward(bytes: Buffer, at: number): number {
  let start = at;
  while (bytes[start]! <= 0x20) start++;
  return start;
}
