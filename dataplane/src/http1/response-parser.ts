/**
 * Parses the responses of one HTTP/1.1 connection (RFC 9112) at any read boundaries. Strict where a lenient parser and
 * the provider could disagree about the end of a response. Accepts one `Content-Length` of plain digits, never beside
 * `Transfer-Encoding`; CRLF line ends; no folded headers; nothing after the response.
 *
 *   head ─▶ fixed ────────────────────────────▶ idle
 *     │ ├─▶ size ─▶ chunk ─▶ size … ─▶ trailer ─▶ idle
 *     │ └─▶ until_close ──────────────── end() ─▶ idle
 *     └───────── no body ─────────────────────▶ idle
 */

import {
  type FramingFields,
  MalformedResponseError,
  parseHeaderLine,
  parseResponseHead,
  validateHeadStart,
} from './parse-response-head.js';
import { PartialTextBuffer } from './partial-text-buffer.js';

/** Receives the parsed response. May call {@link ResponseParser.stop} from within. */
export interface ResponseSink {
  /** Also called for informational responses (below 200), which have no body; another head follows. */
  onHead(status: number, rawHeaders: string[]): void;
  /** A decoded piece of the body. The receiver owns the bytes. */
  onBody(bytes: Buffer): void;
  onEnd(): void;
}

/** Bytes of a head together with the informational responses before it, and bytes of a trailer section. */
const HEAD_BYTES_MAX = 64 * 1024;
/** Bytes of a chunk size line with its extensions. */
const SIZE_LINE_BYTES_MAX = 1024;
const CR = 0x0d;
const LF = 0x0a;
const HEAD_END = Buffer.from('\r\n\r\n');
const EMPTY = Buffer.alloc(0);

type State =
  | 'idle'
  | 'head'
  | 'fixed'
  | 'until_close'
  | 'size'
  | 'chunk'
  | 'chunk_cr'
  | 'chunk_lf'
  | 'trailer'
  | 'stopped';

export class ResponseParser {
  readonly #sink: ResponseSink;
  #state: State = 'idle';
  /** The request was HEAD: its response has no body, whatever its head declares. */
  #isHeadRequest = false;
  /** The beginning of an incomplete head, size line or trailer line. */
  readonly #partial = new PartialTextBuffer();
  /** Bytes of the fixed body or the current chunk that are still to come. */
  #bodyBytesLeft = 0;
  #headBytes = 0;
  #allowsReuse = true;
  #hasExcessBytes = false;
  /** Seconds from `Keep-Alive: timeout=`; -1 when the provider sends none. */
  keepAliveSec = -1;

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  /** Starts the response to a request that is sent now. */
  begin(method: string): void {
    this.#state = 'head';
    this.#isHeadRequest = method === 'HEAD';
    this.#headBytes = 0;
    this.#partial.clear();
  }

  /** Whether another request may use this connection. */
  get isConnectionReusable(): boolean {
    return this.#allowsReuse && this.#state === 'idle' && !this.#hasExcessBytes;
  }

  /** Ignores all further bytes. */
  stop(): void {
    this.#state = 'stopped';
    this.#partial.clear();
  }

  /** Parses `bytes[0, length)`, which the caller may overwrite afterwards. Throws {@link MalformedResponseError}. */
  push(bytes: Buffer, length: number): void {
    let at = 0;
    while (at < length) {
      switch (this.#state) {
        case 'head':
          at = this.#readHead(bytes, at, length);
          break;
        case 'fixed':
          at = this.#readFixed(bytes, at, length);
          break;
        case 'until_close':
          this.#sink.onBody(copyBytes(bytes, at, length));
          return;
        case 'idle':
          this.#hasExcessBytes = true;
          return;
        case 'stopped':
          return;
        default:
          at = this.#readChunks(bytes, at, length);
      }
    }
  }

  /** Ends the connection. Returns false in the middle of a response, or before it. */
  end(): boolean {
    this.#allowsReuse = false;
    if (this.#state !== 'until_close') return this.#state === 'idle';
    this.#finish(false);
    return true;
  }

  /** `more`: bytes follow that belong to no request, so the connection must not be reused. */
  #finish(hasExcessBytes: boolean): void {
    this.#state = 'idle';
    if (hasExcessBytes) this.#hasExcessBytes = true;
    this.#sink.onEnd();
  }

  #readHead(bytes: Buffer, from: number, length: number): number {
    if (this.#partial.length > 0) return this.#readMoreOfHead(bytes, from, length);
    const found = bytes.indexOf(HEAD_END, from);
    const end = found + HEAD_END.length;
    if (found === -1 || end > length) {
      this.#checkHeadBytes(length - from);
      validateHeadStart(bytes, from, from, length);
      this.#partial.append(bytes, from, length);
      return length;
    }
    this.#countHeadBytes(end - from);
    this.#onHead(bytes.toString('latin1', from, found), end < length);
    return end;
  }

  /** Continues a head that began in an earlier read. */
  #readMoreOfHead(bytes: Buffer, from: number, length: number): number {
    const partial = this.#partial;
    const before = partial.length;
    partial.append(bytes, from, length);
    const soFar = partial.bytes;
    const found = soFar.indexOf(HEAD_END, Math.max(0, before - HEAD_END.length + 1));
    if (found === -1) {
      this.#checkHeadBytes(soFar.length);
      validateHeadStart(soFar, 0, before, soFar.length);
      return length;
    }
    const end = found + HEAD_END.length;
    this.#countHeadBytes(end);
    const next = from + end - before;
    this.#onHead(partial.take(found), next < length);
    return next;
  }

  #checkHeadBytes(more: number): void {
    if (this.#headBytes + more > HEAD_BYTES_MAX) throw new MalformedResponseError('the response head is too long');
  }

  #countHeadBytes(more: number): void {
    this.#checkHeadBytes(more);
    this.#headBytes += more;
  }

  #onHead(text: string, hasExcessBytes: boolean): void {
    const { status: code, rawHeaders, fields } = parseResponseHead(text);
    if (code === 101) throw new MalformedResponseError('a protocol upgrade without a request for it');
    if (code < 200) {
      this.#sink.onHead(code, rawHeaders);
      return;
    }
    const next = this.#chooseFraming(code, fields);
    this.#allowsReuse = fields.isKeepAlive && !this.#isHeadRequest && next !== 'until_close';
    this.keepAliveSec = fields.keepAliveSec;
    this.#state = next;
    this.#sink.onHead(code, rawHeaders);
    if (next === 'idle' && (this.#state as State) === 'idle') this.#finish(hasExcessBytes);
  }

  /** Chooses the framing by RFC 9112 §6.3. */
  #chooseFraming(status: number, fields: FramingFields): State {
    if (fields.transferEncoding !== '' && fields.contentLength !== -1)
      throw new MalformedResponseError('Content-Length beside Transfer-Encoding');
    if (this.#isHeadRequest || status === 204 || status === 304) return 'idle';
    if (fields.transferEncoding !== '') return fields.isChunked ? 'size' : 'until_close';
    if (fields.contentLength === -1) return 'until_close';
    this.#bodyBytesLeft = fields.contentLength;
    return fields.contentLength === 0 ? 'idle' : 'fixed';
  }

  #readFixed(bytes: Buffer, from: number, length: number): number {
    const end = Math.min(length, from + this.#bodyBytesLeft);
    this.#bodyBytesLeft -= end - from;
    const last = this.#bodyBytesLeft === 0;
    this.#sink.onBody(copyBytes(bytes, from, end));
    if (last && this.#state === 'fixed') this.#finish(end < length);
    return end;
  }

  /** Emits the data of all chunks in these bytes as one piece. */
  #readChunks(bytes: Buffer, from: number, length: number): number {
    let out = EMPTY;
    let used = 0;
    let at = from;
    let ended = false;
    while (at < length && !ended) {
      switch (this.#state) {
        case 'size':
          at = this.#readSize(bytes, at, length);
          break;
        case 'chunk': {
          const end = Math.min(length, at + this.#bodyBytesLeft);
          if (out.length === 0) out = Buffer.allocUnsafe(length - at);
          used += bytes.copy(out, used, at, end);
          this.#bodyBytesLeft -= end - at;
          at = end;
          if (this.#bodyBytesLeft === 0) this.#state = 'chunk_cr';
          break;
        }
        case 'chunk_cr':
        case 'chunk_lf':
          this.#readChunkEnd(bytes[at++]!);
          break;
        default:
          at = this.#readTrailer(bytes, at, length);
          ended = this.#state === 'idle';
      }
    }
    if (used > 0) this.#sink.onBody(out.subarray(0, used));
    if (ended && this.#state === 'idle') this.#finish(at < length);
    return at;
  }

  #readSize(bytes: Buffer, from: number, length: number): number {
    const [line, at] = this.#takeLine(bytes, from, length, SIZE_LINE_BYTES_MAX);
    if (line === null) return at;
    const size = parseChunkSize(line);
    if (size === -1) throw new MalformedResponseError('invalid chunk size');
    this.#bodyBytesLeft = size;
    this.#state = size === 0 ? 'trailer' : 'chunk';
    this.#headBytes = 0;
    return at;
  }

  /** Reads CR and LF after a chunk, which may arrive separately. */
  #readChunkEnd(byte: number): void {
    const cr = this.#state === 'chunk_cr';
    if (byte !== (cr ? CR : LF)) throw new MalformedResponseError('missing CRLF after a chunk');
    this.#state = cr ? 'chunk_lf' : 'size';
  }

  /** Trailers are not forwarded. They are parsed only to find their end. */
  #readTrailer(bytes: Buffer, from: number, length: number): number {
    const [line, at] = this.#takeLine(bytes, from, length, HEAD_BYTES_MAX);
    this.#countHeadBytes(at - from);
    if (line === '') this.#state = 'idle';
    else if (line !== null) parseHeaderLine(line, 0, line.length, null, null);
    return at;
  }

  /** Returns the line without its CRLF, or null when it is incomplete, and the next position. */
  #takeLine(bytes: Buffer, from: number, length: number, bytesMax: number): [line: string | null, next: number] {
    const feed = bytes.indexOf(LF, from);
    const complete = feed !== -1 && feed < length;
    const end = complete ? feed + 1 : length;
    if (this.#partial.length + end - from > bytesMax) throw new MalformedResponseError('a framing line is too long');
    if (!complete) {
      this.#partial.append(bytes, from, end);
      return [null, end];
    }
    let text = bytes.toString('latin1', from, end);
    if (this.#partial.length > 0) text = this.#partial.take(this.#partial.length) + text;
    if (text.length < 2 || text.charCodeAt(text.length - 2) !== CR) throw new MalformedResponseError('bare line feed');
    return [text.slice(0, -2), end];
  }
}

/** Parses hexadecimal digits and ignores chunk extensions. Returns -1 for an invalid size. */
function parseChunkSize(line: string): number {
  const size = /^([0-9a-fA-F]{1,12})(?:;[\t\x20-\x7e\x80-\xff]*)?$/.exec(line);
  return size === null ? -1 : Number.parseInt(size[1]!, 16);
}

function copyBytes(bytes: Buffer, from: number, to: number): Buffer {
  const copy = Buffer.allocUnsafe(to - from);
  bytes.copy(copy, 0, from, to);
  return copy;
}
