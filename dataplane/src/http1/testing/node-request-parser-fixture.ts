/** Test helper: parses a request with node's own parser (llhttp). */
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
  /** Exactly one request is complete. */
  readonly ended: boolean;
}

/** Throws the parser's error for bytes that are not a request. */
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
