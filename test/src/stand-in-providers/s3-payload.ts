/** Reads the object from an S3 upload and verifies length, hash and checksum that the client declared. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ReceivedRequest } from '@acg/stand-in-provider/stand-in-provider';
import { hmac, type S3Problem, sha256, type VerifiedSignature } from './s3-signature.js';

const EMPTY_SHA256 = sha256('');

/** The object's bytes, or the error that S3 responds with. */
export function readPayload(request: ReceivedRequest, verified: VerifiedSignature): Buffer | S3Problem {
  const { payload } = verified;
  const framed = payload.startsWith('STREAMING-');
  const hasBody = request.method === 'PUT' || request.method === 'POST';
  if (hasBody && !framed && request.headers['content-length'] === undefined) {
    return ['NotImplemented', 'A header you provided implies functionality that is not implemented'];
  }
  const object = framed ? readAwsChunkedPayload(request, verified) : request.body;
  if (!Buffer.isBuffer(object)) return object;
  if (/^[0-9a-f]{64}$/.test(payload) && sha256(object) !== payload) {
    return ['XAmzContentSHA256Mismatch', "The provided 'x-amz-content-sha256' header does not match"];
  }
  const md5 = request.headers['content-md5'];
  if (md5 !== undefined && md5 !== createHash('md5').update(object).digest('base64')) return ['BadDigest', 'MD5'];
  const crc = request.headers['x-amz-checksum-crc32'];
  if (crc !== undefined && crc !== base64Crc32(object)) return ['BadDigest', 'The CRC32 you specified did not match'];
  return object;
}

export function base64Crc32(bytes: Buffer): string {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(crc32(bytes));
  return out.toString('base64');
}

function readAwsChunkedPayload(request: ReceivedRequest, verified: VerifiedSignature): Buffer | S3Problem {
  const frames = parseAwsChunks(request.body);
  if (frames === null) return ['IncompleteBody', 'The aws-chunked framing is broken'];
  const object = Buffer.concat(frames.chunks.map(({ data }) => data));
  if (String(object.length) !== request.headers['x-amz-decoded-content-length']) {
    return ['IncompleteBody', 'x-amz-decoded-content-length does not match'];
  }
  if (
    verified.payload.startsWith('STREAMING-AWS4-HMAC-SHA256-PAYLOAD') &&
    !areChunkSignaturesValid(frames.chunks, verified)
  ) {
    return ['SignatureDoesNotMatch', 'a chunk signature is wrong'];
  }
  const announced = request.headers['x-amz-trailer'];
  if (announced === undefined) return object;
  const trailer = frames.trailers.get(announced);
  if (trailer === undefined) return ['MalformedTrailerError', `the trailer ${announced} is missing`];
  if (announced === 'x-amz-checksum-crc32' && trailer !== base64Crc32(object)) return ['BadDigest', 'trailing CRC32'];
  return object;
}

interface Chunk {
  readonly data: Buffer;
  readonly signature: string;
}

/** `<hex>[;chunk-signature=…]\r\n<data>\r\n … 0…\r\n[trailer: value\r\n]\r\n`; null when it is anything else. */
function parseAwsChunks(body: Buffer): { chunks: Chunk[]; trailers: Map<string, string> } | null {
  const chunks: Chunk[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = body.indexOf('\r\n', at);
    if (lineEnd === -1) return null;
    const line = /^([0-9a-f]+)(?:;chunk-signature=([0-9a-f]{64}))?$/i.exec(body.toString('latin1', at, lineEnd));
    if (line === null) return null;
    const size = Number.parseInt(line[1]!, 16);
    const start = lineEnd + 2;
    chunks.push({ data: body.subarray(start, start + size), signature: line[2] ?? '' });
    at = start + size;
    if (size === 0) break;
    if (body.toString('latin1', at, at + 2) !== '\r\n') return null;
    at += 2;
  }
  const trailers = new Map<string, string>();
  const rest = body.toString('latin1', at);
  if (!rest.endsWith('\r\n')) return null;
  for (const line of rest.split('\r\n').filter((text) => text !== '')) {
    const colon = line.indexOf(':');
    if (colon === -1) return null;
    trailers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return { chunks, trailers };
}

function areChunkSignaturesValid(chunks: readonly Chunk[], verified: VerifiedSignature): boolean {
  let previous = verified.signature;
  for (const { data, signature } of chunks) {
    const toSign = ['AWS4-HMAC-SHA256-PAYLOAD', verified.date, verified.scope, previous, EMPTY_SHA256, sha256(data)];
    previous = hmac(verified.signingKey, toSign.join('\n')).toString('hex');
    if (previous !== signature) return false;
  }
  return true;
}
