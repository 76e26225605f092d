/** Parses the head of an HTTP/1.1 response (RFC 9112 §4, §5): status, header lines, and framing. */

/** The provider's response violates HTTP/1.1. The message contains no part of the response. */
export class MalformedResponseError extends Error {}

const CR = 0x0d;
const LF = 0x0a;
const VERSION_PREFIX = 'HTTP/1.';
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const LENGTH = /^\d{1,15}$/;
const KEEP_ALIVE_TIMEOUT = /(?:^|[,;\s])timeout=(\d{1,9})(?:$|[,;\s])/;
const NAMES_MAX = 2_000;

/** The framing and connection information of a head. */
export class FramingFields {
  /** Bytes; -1 when missing. */
  contentLength = -1;
  /** Lower case, all lines joined. */
  transferEncoding = '';
  isKeepAlive: boolean;
  keepAliveSec = -1;

  constructor(http11: boolean) {
    this.isKeepAlive = http11;
  }

  /** Whether chunked is the last transfer coding. */
  get isChunked(): boolean {
    return this.transferEncoding === 'chunked' || /,[ \t]*chunked$/.test(this.transferEncoding);
  }

  apply(name: string, value: string): void {
    switch (name) {
      case 'content-length':
        if (this.contentLength !== -1 || !LENGTH.test(value))
          throw new MalformedResponseError('invalid or duplicate Content-Length');
        this.contentLength = Number(value);
        return;
      case 'transfer-encoding':
        if (value === '') throw new MalformedResponseError('empty Transfer-Encoding');
        this.transferEncoding += this.transferEncoding === '' ? value.toLowerCase() : `, ${value.toLowerCase()}`;
        return;
      case 'connection': {
        const listed = value.toLowerCase().split(',');
        for (const option of listed) {
          const token = option.trim();
          if (token === 'close') this.isKeepAlive = false;
        }
        return;
      }
      case 'keep-alive': {
        const timeout = KEEP_ALIVE_TIMEOUT.exec(value.toLowerCase());
        if (timeout !== null) this.keepAliveSec = Number(timeout[1]);
      }
    }
  }
}

/**
 * Parses one head: `HTTP/1.x NNN`, then header lines, without the empty line. Throws {@link MalformedResponseError}.
 */
export function parseResponseHead(text: string): { status: number; rawHeaders: string[]; fields: FramingFields } {
  const lineEnd = text.indexOf('\r\n');
  const status = STATUS_LINE.exec(lineEnd === -1 ? text : text.slice(0, lineEnd));
  if (status === null) throw new MalformedResponseError('invalid HTTP/1.1 status line');
  const fields = new FramingFields(status[1] === '1');
  const rawHeaders = lineEnd === -1 ? [] : parseHeaderLines(text, lineEnd + 2, fields);
  return { status: Number(status[2]), rawHeaders, fields };
}

/**
 * Checks `bytes[start, to)`, the beginning of an incomplete head; `[start, from)` was checked before. Rejects another
 * protocol or other line ends now, because such a head may never end.
 */
export function validateHeadStart(bytes: Buffer, start: number, from: number, to: number): void {
  const known = Math.min(to, start + VERSION_PREFIX.length);
  for (let i = start; i < known; i++) {
    if (bytes[i] !== VERSION_PREFIX.charCodeAt(i - start))
      throw new MalformedResponseError('invalid HTTP/1.1 status line');
  }
  for (let i = Math.max(start + 1, from); i < to; i++) {
    if (bytes[i] === LF && bytes[i - 1] !== CR) throw new MalformedResponseError('bare line feed');
  }
}

/**
 * Cache of header names: framing and connection names map to lower case, all others to `""`. Providers use few
 * different names.
 */
const knownNames = new Map<string, string>();
const FRAMING_NAMES: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'connection', 'keep-alive']);

function parseHeaderLines(text: string, from: number, fields: FramingFields): string[] {
  const rawHeaders: string[] = [];
  let at = from;
  while (at <= text.length) {
    let end = text.indexOf('\r\n', at);
    if (end === -1) end = text.length;
    parseHeaderLine(text, at, end, rawHeaders, fields);
    at = end + 2;
  }
  return rawHeaders;
}

/** Checks the header line `text[from, end)` and appends it to `out`. For trailers both `out` and `fields` are null. */
export function parseHeaderLine(
  text: string,
  from: number,
  end: number,
  out: string[] | null,
  fields: FramingFields | null,
): void {
  const colon = text.indexOf(':', from);
  if (colon === -1 || colon >= end) throw new MalformedResponseError('header line without a colon');
  const written = text.slice(from, colon);
  let name = knownNames.get(written);
  if (name === undefined) {
    if (!NAME.test(written)) throw new MalformedResponseError('invalid header name');
    const lower = written.toLowerCase();
    name = FRAMING_NAMES.has(lower) ? lower : '';
    if (knownNames.size < NAMES_MAX && written.length <= 64) knownNames.set(copyString(written), name);
  }
  const value = trimFieldValue(text, colon + 1, end);
  if (BAD_VALUE.test(value)) throw new MalformedResponseError('control byte in a header');
  if (out !== null) out.push(written, value);
  if (fields === null || name === '') return;
  // Node's parser does not recognize a coding that a tab follows, and would read until the connection closes.
  if (
    name === 'transfer-encoding' &&
    text
      .slice(colon + 1, end)
      .trimStart()
      .includes('\t')
  ) {
    throw new MalformedResponseError('tab in Transfer-Encoding');
  }
  fields.apply(name, value);
}

/** Copies a string. A slice would keep the complete head in memory. */
const copyString = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/** The value without blanks around it. */
function trimFieldValue(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const isBlank = (unit: number): boolean => unit === 0x20 || unit === 0x09;
