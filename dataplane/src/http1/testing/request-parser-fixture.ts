/** For tests: a request as node's own parser (llhttp) reads it. */
import { createRequire } from 'node:module';

interface NodeParser {
  [callback: number]: unknown;
  initialize(type: number, resource: object, headBytesMax: number, leniency: number): void;
  execute(bytes: Buffer): number | Error;
}

const { HTTPParser } = createRequire(import.meta.url)('_http_common') as {
  HTTPParser: { new (): NodeParser; REQUEST: number; kOnBody: number; kOnMessageComplete: number };
};

interface RequestReading {
  readonly body: Buffer;
  /** True of exactly one request: the parser begins another one with the next byte. */
  readonly ended: boolean;
}

/** Throws what the parser says of bytes that are no request. */
export function parseRequestWithNode(bytes: Buffer): RequestReading {
  const parser = new HTTPParser();
  parser.initialize(HTTPParser.REQUEST, {}, 65_536, 0);
  const pieces: Buffer[] = [];
  let ends = 0;
  parser[HTTPParser.kOnBody] = (piece: Buffer) => void pieces.push(Buffer.from(piece));
  parser[HTTPParser.kOnMessageComplete] = () => void ends++;
  const result = bytes.length === 0 ? 0 : parser.execute(bytes);
  if (result instanceof Error) throw result;
  return { body: Buffer.concat(pieces), ended: ends === 1 };
}
