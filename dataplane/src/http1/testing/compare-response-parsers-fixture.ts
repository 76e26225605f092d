/** Test helpers: generated responses, and how ResponseParser and node's own parser (llhttp) read them. */
import { createRequire } from 'node:module';
import { MalformedResponseError } from '@acg/dataplane/http1/parse-response-head';
import { ResponseParser, type ResponseSink } from '@acg/dataplane/http1/response-parser';
import fc from 'fast-check';

export interface Reading {
  /** Informational heads first. */
  readonly heads: [status: number, rawHeaders: string[]][];
  /** Body of the final response, latin1. */
  readonly body: string;
  /** The final response is complete. */
  readonly ended: boolean;
  readonly rejected: boolean;
  /** Another request may use the connection. */
  readonly reusable: boolean;
  /** Why node rejected the bytes; `""` otherwise. */
  readonly reason: string;
}

/** Stale bytes as earlier reads leave them in the shared buffer: ends of heads and lines, and digits. */
const STALE = Buffer.from('\r\n\r\n0\r\n\r\n7\r\n\nHTTP/1.1 200 OK\r\n\r\n:', 'latin1');

class Recorder implements ResponseSink {
  readonly heads: Reading['heads'] = [];
  readonly pieces: Buffer[] = [];
  ends = 0;

  onHead(status: number, rawHeaders: string[]): void {
    this.heads.push([status, rawHeaders]);
  }
  onBody(bytes: Buffer): void {
    if (bytes.length === 0) throw new Error('an empty piece');
    this.pieces.push(bytes);
  }
  onEnd(): void {
    this.ends++;
  }
}

/**
 * Parses one response from `pieces`. Each piece lies in a buffer with stale bytes after it, which is overwritten
 * afterwards. `closes`: the connection ends after the last piece.
 */
export function parseWithGateway(pieces: readonly Buffer[], method: string, closes: boolean): Reading {
  const sink = new Recorder();
  const reader = new ResponseParser(sink);
  const longest = pieces.reduce((bytes, piece) => Math.max(bytes, piece.length), 0);
  const buffer = Buffer.alloc(longest + STALE.length);
  reader.begin(method);
  let rejected = false;
  let reusable = false;
  try {
    for (const piece of pieces) {
      buffer.fill(STALE);
      piece.copy(buffer);
      reader.push(buffer, piece.length);
      buffer.fill(0xff);
    }
    reusable = reader.isConnectionReusable;
    if (closes) reader.end();
  } catch (error) {
    if (!(error instanceof MalformedResponseError)) throw error;
    rejected = true;
  }
  if (sink.ends > 1) throw new Error('ended twice');
  const body = Buffer.concat(sink.pieces).toString('latin1');
  return { heads: sink.heads, body, ended: sink.ends === 1, rejected, reusable, reason: '' };
}

interface NodeParser {
  [callback: number]: unknown;
  initialize(type: number, resource: object, headBytesMax: number, leniency: number): void;
  execute(bytes: Buffer): number | Error;
  finish(): number | Error | undefined;
}

const { HTTPParser } = createRequire(import.meta.url)('_http_common') as {
  HTTPParser: {
    new (): NodeParser;
    RESPONSE: number;
    kOnHeaders: number;
    kOnHeadersComplete: number;
    kOnBody: number;
    kOnMessageComplete: number;
  };
};

/** Older parsers accept bare line feeds and more. Their results are no reference for damaged bytes. */
export const NODE_IS_STRICT = Number.parseInt(process.versions.llhttp ?? '', 10) >= 9;

/** The same with node's own parser. Ignores everything after the final response. */
export function parseWithNode(pieces: readonly Buffer[], method: string, closes: boolean): Reading {
  const heads: Reading['heads'] = [];
  let early: string[] = [];
  let body = '';
  let ends = 0;
  let keepsAlive = false;
  const over = (): boolean => ends > 0;
  const parser = new HTTPParser();
  parser.initialize(HTTPParser.RESPONSE, {}, 65_536, 0);
  parser[HTTPParser.kOnHeaders] = (rawHeaders: string[]) => {
    if (!over() && (heads.length === 0 || heads.at(-1)![0] < 200)) early.push(...rawHeaders); // else trailers
  };
  parser[HTTPParser.kOnHeadersComplete] = (
    ...[, , rawHeaders, , , status, , , keepAlive]: [
      number,
      number,
      string[] | undefined,
      unknown,
      unknown,
      number,
      string,
      boolean,
      boolean,
    ]
  ) => {
    if (over()) return 0;
    heads.push([status, [...early, ...(rawHeaders ?? [])]]);
    early = [];
    keepsAlive = keepAlive;
    return method === 'HEAD' ? 1 : 0;
  };
  parser[HTTPParser.kOnBody] = (bytes: Buffer) => {
    if (!over()) body += bytes.toString('latin1');
  };
  parser[HTTPParser.kOnMessageComplete] = () => {
    if (heads.at(-1)![0] >= 200) ends++;
  };
  let reason = '';
  const note = (result: number | Error | undefined): void => {
    if (result instanceof Error && !over()) reason = (result as Error & { reason: string }).reason;
  };
  for (const piece of pieces) if (!over() && reason === '') note(parser.execute(piece));
  if (reason === '' && closes && !over()) note(parser.finish());
  return { heads, body, ended: over(), rejected: reason !== '', reusable: keepsAlive && over(), reason };
}

/** Splits `bytes` at the given positions, which may repeat and be unsorted. */
export function splitAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  const pieces: Buffer[] = [];
  let from = 0;
  for (const to of [...sorted, bytes.length]) {
    if (to > from) pieces.push(bytes.subarray(from, to));
    from = to;
  }
  return pieces;
}

/** A well-formed response with preceding informational ones, and its meaning. */
interface Answer {
  readonly bytes: Buffer;
  readonly method: string;
  readonly status: number;
  readonly heads: Reading['heads'];
  readonly body: string;
  /** Only the end of the connection ends the body. */
  readonly untilClose: boolean;
}

const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/);
const headerName = token.filter(
  (name) => !/^(content-length|transfer-encoding|connection|proxy-connection|upgrade|keep-alive)$/i.test(name),
);
const headerValue = fc
  .stringMatching(/^[\t\x20-\x7e\x80-\xff]{0,30}$/)
  .map((value) => value.replace(/^[ \t]+|[ \t]+$/g, ''));
const blank = fc.constantFrom('', ' ', '\t', '  ');
const header = fc.tuple(headerName, blank, headerValue, blank);
const headers = fc.array(header, { maxLength: 6 });
const bodyBytes = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }).map((text) => Buffer.from(text, 'utf8').toString('latin1')),
  fc.constantFrom('\r\n\r\n', '0\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n', '\r', '\n'),
);
const informational = fc.tuple(fc.constantFrom(100, 102, 103), headers);
const extension = fc.stringMatching(/^(;[a-z0-9]{1,5}(=[a-z0-9]{1,5}|="[a-z ]{0,5}")?){0,2}$/);
const hex = fc.constantFrom('lower', 'upper', 'padded');

const rendered = (lines: [string, string, string, string][]): string =>
  lines.map(([name, before, value, after]) => `${name}:${before}${value}${after}\r\n`).join('');
const raw = (lines: [string, string, string, string][]): string[] => lines.flatMap(([name, , value]) => [name, value]);

function sizeLine(bytes: number, how: string): string {
  const text = bytes.toString(16);
  if (how === 'padded') return text.padStart(8, '0');
  return how === 'upper' ? text.toUpperCase() : text;
}

export const arbitraryResponses: fc.Arbitrary<Answer> = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'HEAD'),
    version: fc.constantFrom('1.1', '1.1', '1.0'),
    status: fc.constantFrom(200, 201, 204, 304, 404, 503, 299, 999),
    reason: fc.constantFrom(' OK', ' ', '', ' Not \xe9 Found'),
    framing: fc.constantFrom('fixed', 'chunked', 'close'),
    before: fc.array(informational, { maxLength: 2 }),
    headers,
    more: headers,
    chunks: fc.array(fc.tuple(bodyBytes, extension, hex), { maxLength: 5 }),
    trailers: headers,
  })
  .map((made) => {
    const chunks = made.chunks.filter(([text]) => text !== '');
    const body = chunks.map(([text]) => text).join('');
    const bodiless = made.method === 'HEAD' || made.status === 204 || made.status === 304;
    let framing: [string, string, string, string][] = [];
    let wire = body;
    if (made.framing === 'fixed') framing = [['Content-Length', ' ', String(body.length), '']];
    if (made.framing === 'chunked') {
      framing = [['transfer-Encoding', ' ', 'chunked', '']];
      wire = chunks.map(([text, ext, how]) => `${sizeLine(text.length, how)}${ext}\r\n${text}\r\n`).join('');
      wire += `0\r\n${rendered(made.trailers)}\r\n`;
    }
    const head = [...made.headers, ...framing, ...made.more];
    const first = made.before.map(([status, lines]) => `HTTP/1.1 ${status} Info\r\n${rendered(lines)}\r\n`).join('');
    const text = `${first}HTTP/${made.version} ${made.status}${made.reason}\r\n${rendered(head)}\r\n${bodiless ? '' : wire}`;
    return {
      bytes: Buffer.from(text, 'latin1'),
      method: made.method,
      status: made.status,
      heads: [
        ...made.before.map(([status, lines]): [number, string[]] => [status, raw(lines)]),
        [made.status, raw(head)] as [number, string[]],
      ],
      body: bodiless ? '' : body,
      untilClose: !bodiless && made.framing === 'close',
    };
  });

const MUTANTS = [
  '\r',
  '\n',
  '\r\n',
  '\0',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '0',
  '1',
  'f',
  '-',
  '+',
  'x',
  '\x80',
  '\x7f',
  'chunked',
  'Content-Length: 3\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: close\r\n',
  '\r\n ',
  'a: b\r\n',
];
/** One position where bytes are removed and others inserted. */
export const mutation = fc.record({
  at: fc.nat(2_000),
  remove: fc.nat(4),
  insert: fc.oneof(fc.constantFrom(...MUTANTS), fc.constant(''), fc.string({ unit: 'binary-ascii', maxLength: 2 })),
});

export function mutateBytes(bytes: Buffer, changes: readonly { at: number; remove: number; insert: string }[]): Buffer {
  let text = bytes.toString('latin1');
  for (const { at, remove, insert } of changes) {
    const place = at % (text.length + 1);
    text = text.slice(0, place) + insert + text.slice(place + remove);
  }
  return Buffer.from(text, 'latin1');
}
