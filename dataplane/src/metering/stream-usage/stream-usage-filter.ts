/**
 * Removes from a chat stream what `include_usage` added, so that the client receives the bytes it would have received
 * without it. Drops the last chunk (empty `choices`, usage) and cuts `"usage":null` from every other chunk. An event is
 * forwarded when its blank line arrives; an incomplete event is buffered. All else passes byte for byte.
 */
import { BoundedBuffer } from '../../scan/bounded-buffer.js';
import { compileJsonPaths } from '../../scan/json-paths.js';
import { JsonScanner, type JsonScanSink } from '../../scan/json-scanner.js';

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
const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const USAGE = 0;
const CHOICES = 1;
const PATHS = compileJsonPaths({ usage: USAGE, choices: CHOICES });

export class StreamUsageFilter implements JsonScanSink {
  /** The incomplete event from earlier chunks. */
  readonly #openEvent = new BoundedBuffer(EVENT_BYTES_MAX);
  readonly #scanner = new JsonScanner(PATHS, this);
  /** The current line has bytes already. */
  #isInLine = false;
  #skipLf = false;
  /** The previous event ended in CR and was dropped: an LF right after it is dropped, too. */
  #dropLf = false;
  /** The current event was too long to buffer and passes through. */
  #isPassingThrough = false;
  // Range to cut from the current event.
  #cutFrom = 0;
  #cutTo = 0;
  // Members found in the current event.
  #usages = 0;
  #usageIsNull = false;
  #usageStart = 0;
  #usageEnd = 0;
  #choicesEmpty = false;
  // Output of the current push.
  #out: Buffer = EMPTY;
  #outLength = 0;

  /** Returns the bytes to forward now (possibly none); may be `chunk` itself or a part of it. */
  push(chunk: Buffer): Buffer {
    let keepFrom = 0;
    let eventFrom = 0;
    this.#out = EMPTY;
    this.#outLength = 0;
    const hadOpenEvent = this.#openEvent.length > 0;
    let at = this.#skipFirstLf(chunk);
    if (at === 1) {
      if (this.#dropLf) keepFrom = 1;
      if (!hadOpenEvent && !this.#isPassingThrough) eventFrom = 1; // the LF ends the previous event
    }
    if (chunk.length > 0) this.#dropLf = false;
    const hasCr = chunk.indexOf(CR) >= 0;
    while (at < chunk.length) {
      const lineEnd = hasCr ? findLineEnd(chunk, at) : chunk.indexOf(LF, at);
      if (lineEnd < 0) {
        this.#isInLine = true;
        break;
      }
      const isBlank = lineEnd === at && !this.#isInLine;
      this.#isInLine = false;
      at = this.#skipNewline(chunk, lineEnd);
      if (!isBlank) continue;
      if (this.#isPassingThrough) this.#isPassingThrough = false;
      else if (this.#openEvent.length > 0) keepFrom = this.#completeOpenEvent(chunk, keepFrom, at);
      else if (this.#findCut(chunk, eventFrom, at)) {
        this.#emit(chunk, keepFrom, this.#cutFrom);
        keepFrom = this.#cutTo;
        this.#dropLf = this.#skipLf && keepFrom === at;
      }
      eventFrom = at;
    }
    return this.#bufferOpenEvent(chunk, keepFrom, eventFrom, hadOpenEvent);
  }

  /** Returns the buffered bytes at the end of the stream. */
  flush(): Buffer {
    const length = this.#openEvent.length;
    if (length === 0) return EMPTY;
    const bytes = this.#openEvent.bytes.subarray(0, length);
    this.#openEvent.clear();
    if (!this.#findCut(bytes, 0, length)) return bytes;
    return Buffer.concat([bytes.subarray(0, this.#cutFrom), bytes.subarray(this.#cutTo)]);
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

  #skipFirstLf(chunk: Buffer): number {
    if (!this.#skipLf || chunk.length === 0) return 0;
    this.#skipLf = false;
    return chunk[0] === LF ? 1 : 0;
  }

  #skipNewline(chunk: Buffer, lineEnd: number): number {
    if (chunk[lineEnd] === CR) {
      if (lineEnd + 1 === chunk.length) this.#skipLf = true;
      else if (chunk[lineEnd + 1] === LF) return lineEnd + 2;
    }
    return lineEnd + 1;
  }

  /**
   * Completes the buffered event, which ends at `to` of this chunk. Returns where the chunk's remaining bytes start.
   */
  #completeOpenEvent(chunk: Buffer, from: number, to: number): number {
    if (!this.#openEvent.append(chunk, from, to)) {
      this.#emitOpenEvent(0, this.#openEvent.length);
      this.#openEvent.clear();
      return from;
    }
    const length = this.#openEvent.length;
    if (this.#findCut(this.#openEvent.bytes, 0, length)) {
      this.#dropLf = this.#skipLf && this.#cutTo === length;
      this.#emitOpenEvent(0, this.#cutFrom);
      this.#emitOpenEvent(this.#cutTo, length);
    } else this.#emitOpenEvent(0, length);
    this.#openEvent.clear();
    return to;
  }

  /** Buffers the incomplete event and returns the output before it. */
  #bufferOpenEvent(chunk: Buffer, keepFrom: number, eventFrom: number, hadOpenEvent: boolean): Buffer {
    let keepTo = chunk.length;
    if (!this.#isPassingThrough && eventFrom < chunk.length) {
      const from = this.#openEvent.length > 0 ? keepFrom : eventFrom;
      if (this.#openEvent.append(chunk, from, chunk.length)) keepTo = from;
      else {
        this.#isPassingThrough = true;
        this.#emitOpenEvent(0, this.#openEvent.length);
        this.#openEvent.clear();
      }
    }
    if (this.#outLength === 0 && !hadOpenEvent) return chunk.subarray(keepFrom, Math.max(keepFrom, keepTo));
    this.#emit(chunk, keepFrom, keepTo);
    return this.#out.subarray(0, this.#outLength);
  }

  #emitOpenEvent(from: number, to: number): void {
    this.#emit(this.#openEvent.bytes, from, to);
  }

  #emit(bytes: Buffer, from: number, to: number): void {
    if (to <= from) return;
    const length = this.#outLength + (to - from);
    if (length > this.#out.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, this.#out.length * 2, 4096));
      this.#out.copy(grown, 0, 0, this.#outLength);
      this.#out = grown;
    }
    bytes.copy(this.#out, this.#outLength, from, to);
    this.#outLength = length;
  }

  /** Whether to cut anything from the event `bytes[from, to)`. Sets #cutFrom and #cutTo. */
  #findCut(bytes: Buffer, from: number, to: number): boolean {
    const start = findDataStart(bytes, from, to);
    if (start < 0) return false;
    const end = findEventLineEnd(bytes, start, to);
    const nullAt = findNullUsage(bytes, start, end);
    if (nullAt >= 0) {
      this.#cutFrom = nullAt;
      this.#cutTo = nullAt + NULL_MEMBER_BYTES;
      return true;
    }
    const data = bytes.subarray(start, end);
    if (data.indexOf(USAGE_KEY) < 0 || hasMoreLines(bytes, end, to)) return false;
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

function findLineEnd(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) if (bytes[at] === LF || bytes[at] === CR) return at;
  return -1;
}

/** End of the line that starts at `from`, in an event that ends (with its blank line) at `to`. */
function findEventLineEnd(bytes: Buffer, from: number, to: number): number {
  if (bytes[to - 1] !== LF) {
    let at = from;
    while (at < to && bytes[at] !== CR && bytes[at] !== LF) at++;
    return at;
  }
  const end = bytes.indexOf(LF, from);
  return bytes[end - 1] === CR ? end - 1 : end;
}

function hasMoreLines(bytes: Buffer, end: number, to: number): boolean {
  for (let at = end; at < to; at++) if (bytes[at] !== LF && bytes[at] !== CR) return true;
  return false;
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
