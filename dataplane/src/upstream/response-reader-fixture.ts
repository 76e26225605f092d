/** For tests: answers as bytes, and how this reader and node's own parser (llhttp) read them. */
import { createRequire } from 'node:module';
import { MalformedResponse } from './response-head.js';
import { ResponseReader, type ResponseSink } from './response-reader.js';

export interface Reading {
  /** Informational ones first. */
  readonly heads: [status: number, rawHeaders: string[]][];
  /** Of the final answer, latin1. */
  readonly body: string;
  /** The final answer is complete. */
  readonly ended: boolean;
  readonly refused: boolean;
  /** Another request may follow on the connection. */
  readonly reusable: boolean;
  /** Why node refused; `""` otherwise. */
  readonly reason: string;
}

/** What a read leaves behind in the shared buffer: ends of heads and of lines, and digits. */
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
 * Reads one answer out of `pieces`, each in a buffer that holds stale bytes behind them and is overwritten afterwards.
 * `closes`: the connection ends after the last piece.
 */
export function readByUs(pieces: readonly Buffer[], method: string, closes: boolean): Reading {
  const sink = new Recorder();
  const reader = new ResponseReader(sink);
  const longest = pieces.reduce((bytes, piece) => Math.max(bytes, piece.length), 0);
  const buffer = Buffer.alloc(longest + STALE.length);
  reader.begin(method);
  let refused = false;
  let reusable = false;
  try {
    for (const piece of pieces) {
      buffer.fill(STALE);
      piece.copy(buffer);
      reader.push(buffer, piece.length);
      buffer.fill(0xff);
    }
    reusable = reader.reusable;
    if (closes) reader.end();
  } catch (error) {
    if (!(error instanceof MalformedResponse)) throw error;
    refused = true;
  }
  if (sink.ends > 1) throw new Error('ended twice');
  const body = Buffer.concat(sink.pieces).toString('latin1');
  return { heads: sink.heads, body, ended: sink.ends === 1, refused, reusable, reason: '' };
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

/** The same by node's own parser; what follows the final answer is left out. */
export function readByNode(pieces: readonly Buffer[], method: string, closes: boolean): Reading {
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
  return { heads, body, ended: over(), refused: reason !== '', reusable: keepsAlive && over(), reason };
}

/** Cuts `bytes` at the given places, which may repeat and come in any order. */
export function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  const pieces: Buffer[] = [];
  let from = 0;
  for (const to of [...sorted, bytes.length]) {
    if (to > from) pieces.push(bytes.subarray(from, to));
    from = to;
  }
  return pieces;
}
