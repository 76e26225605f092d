/** Reads the head of an HTTP/1.1 answer (RFC 9112 §4, §5): its status, its header lines, what it says about framing. */

/** The provider's answer breaks the protocol; the message holds nothing of it. */
export class MalformedResponse extends Error {}

const CR = 0x0d;
const LF = 0x0a;
const BEGIN = 'HTTP/1.';
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const LENGTH = /^\d{1,15}$/;
const KEEP_ALIVE_TIMEOUT = /(?:^|[,;\s])timeout=(\d{1,9})(?:$|[,;\s])/;
const NAMES_MAX = 2_000;

/** What a head says about its framing and its connection. */
export class HeadFields {
  /** -1: none. */
  length = -1;
  /** Lower case, all lines joined. */
  coding = '';
  keepsAlive: boolean;
  keepAliveSec = -1;

  constructor(http11: boolean) {
    this.keepsAlive = http11;
  }

  /** Chunked is the last coding. */
  get chunked(): boolean {
    return this.coding === 'chunked' || /,[ \t]*chunked$/.test(this.coding);
  }

  take(name: string, value: string): void {
    switch (name) {
      case 'content-length':
        if (this.length !== -1 || !LENGTH.test(value)) throw new MalformedResponse('a bad Content-Length');
        this.length = Number(value);
        return;
      case 'transfer-encoding':
        if (value === '') throw new MalformedResponse('an empty Transfer-Encoding');
        this.coding += this.coding === '' ? value.toLowerCase() : `, ${value.toLowerCase()}`;
        return;
      case 'connection': {
        const listed = value.toLowerCase().split(',');
        for (const option of listed) {
          const token = option.trim();
          if (token === 'close') this.keepsAlive = false;
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

/** One head: `HTTP/1.x NNN`, then header lines; without the empty line. Throws {@link MalformedResponse}. */
export function readHead(text: string): { status: number; rawHeaders: string[]; fields: HeadFields } {
  const lineEnd = text.indexOf('\r\n');
  const status = STATUS_LINE.exec(lineEnd === -1 ? text : text.slice(0, lineEnd));
  if (status === null) throw new MalformedResponse('no HTTP/1.1 status line');
  const fields = new HeadFields(status[1] === '1');
  const rawHeaders = lineEnd === -1 ? [] : readHeaders(text, lineEnd + 2, fields);
  return { status: Number(status[2]), rawHeaders, fields };
}

/**
 * Looks at `bytes[start, to)`, the begin of a head whose end has not arrived; `[start, from)` was looked at before. What
 * speaks another protocol, or ends its lines otherwise, is refused now: its head might never end.
 */
export function checkBegin(bytes: Buffer, start: number, from: number, to: number): void {
  const known = Math.min(to, start + BEGIN.length);
  for (let i = start; i < known; i++) {
    if (bytes[i] !== BEGIN.charCodeAt(i - start)) throw new MalformedResponse('no HTTP/1.1 status line');
  }
  for (let i = Math.max(start + 1, from); i < to; i++) {
    if (bytes[i] === LF && bytes[i - 1] !== CR) throw new MalformedResponse('a bare line feed');
  }
}

/** Names that concern the reader → lower case; other names → `""`. Providers use few, and the same. */
const names = new Map<string, string>();
const CONCERNING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'connection', 'keep-alive']);

function readHeaders(text: string, from: number, fields: HeadFields): string[] {
  const rawHeaders: string[] = [];
  let at = from;
  while (at <= text.length) {
    let end = text.indexOf('\r\n', at);
    if (end === -1) end = text.length;
    readHeader(text, at, end, rawHeaders, fields);
    at = end + 2;
  }
  return rawHeaders;
}

/** Checks the header line `text[from, end)` and appends it to `out`. Trailers are only checked. */
export function readHeader(
  text: string,
  from: number,
  end: number,
  out: string[] | null,
  fields: HeadFields | null,
): void {
  const colon = text.indexOf(':', from);
  if (colon === -1 || colon >= end) throw new MalformedResponse('a header without a colon');
  const written = text.slice(from, colon);
  let name = names.get(written);
  if (name === undefined) {
    if (!NAME.test(written)) throw new MalformedResponse('a header without a proper name');
    const lower = written.toLowerCase();
    name = CONCERNING.has(lower) ? lower : '';
    if (names.size < NAMES_MAX && written.length <= 64) names.set(flat(written), name);
  }
  const value = fieldValue(text, colon + 1, end);
  if (BAD_VALUE.test(value)) throw new MalformedResponse('a control byte in a header');
  if (out !== null) out.push(written, value);
  if (fields === null || name === '') return;
  // Node's parser takes a coding before a tab for another one, and would read on until the connection ends.
  if (
    name === 'transfer-encoding' &&
    text
      .slice(colon + 1, end)
      .trimStart()
      .includes('\t')
  ) {
    throw new MalformedResponse('a tab in Transfer-Encoding');
  }
  fields.take(name, value);
}

/** A slice keeps the whole head in memory; this does not. */
const flat = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/** Without white space around it. */
function fieldValue(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const isBlank = (unit: number): boolean => unit === 0x20 || unit === 0x09;
