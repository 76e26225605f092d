/**
 * Signs requests to S3 and other AWS services with AWS Signature Version 4 by header and the account's real keys. The
 * client's own signature covers the proxy's path and host, so the gateway signs every call itself
 * (docs/contract.md#provider-specific-rules). aws4 caches the day's signing key and canonicalizes
 * `encode(decode(segment))`, so raw and encoded paths get the same signature.
 */
import aws4 from 'aws4';
import type { SigV4Injection } from '../context/agent-context.js';

/** Headers signed beside `host`: those that change the meaning of the call. S3 rejects an unsigned `x-amz-*`. */
const isSignedHeader = (name: string): boolean =>
  name.startsWith('x-amz-') || name === 'content-type' || name === 'content-md5' || name === 'range';

/** aws4 does not sign `range` by default. */
const EXTRA_SIGNED_HEADERS = { range: true };

/**
 * Appends `x-amz-date`, `x-amz-security-token` (where the account has one) and `authorization` to `headers`, which must
 * already contain `x-amz-content-sha256`. `path` is the complete upstream path with query, byte for byte as sent.
 * Returns false when the path cannot be signed (an escape that is not UTF-8).
 */
export function signRequest(
  method: string,
  host: string,
  path: string,
  headers: string[],
  injection: SigV4Injection,
  nowMs: number,
): boolean {
  const date = formatAmzDate(nowMs);
  headers.push('x-amz-date', date);
  if (injection.sessionToken !== null) headers.push('x-amz-security-token', injection.sessionToken);
  const signed: Record<string, string> = { host };
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    if (!isSignedHeader(name)) continue;
    const earlier = signed[name];
    signed[name] = earlier === undefined ? headers[i + 1]! : `${earlier},${headers[i + 1]!}`;
  }
  const request = {
    method,
    host,
    path: escapeForSigner(path, injection.isObjectStorage),
    service: injection.service,
    region: injection.region,
    headers: signed,
    extraHeadersToInclude: EXTRA_SIGNED_HEADERS,
  };
  let authorization: unknown;
  try {
    const keys = { accessKeyId: injection.accessKeyId, secretAccessKey: injection.secretAccessKey };
    authorization = aws4.sign(request, keys).headers?.Authorization;
  } catch {
    return false;
  }
  if (typeof authorization !== 'string') return false;
  headers.push('authorization', authorization);
  return true;
}

const HEX_SHA256 = /^[0-9a-f]{64}$/;

/** Hash of the body that the client states for its own signature; null when it states none. */
export function findStatedBodyHash(headers: readonly string[]): string | null {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === 'x-amz-content-sha256' && HEX_SHA256.test(headers[i + 1]!)) return headers[i + 1]!;
  }
  return null;
}

/** Only S3 accepts an unsigned payload. Elsewhere the gateway hashes a body whose hash the client does not state. */
export const mustHashBody = (headers: readonly string[]): boolean => findStatedBodyHash(headers) === null;

/** Headers of the client's own signature. */
export const SIGNING_HEADERS: ReadonlySet<string> = new Set([
  'x-amz-date',
  'x-amz-security-token',
  'x-amz-content-sha256',
  'date',
]);

/** Removes the headers of the client's own signature. */
export function removeSigningHeaders(headers: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (!SIGNING_HEADERS.has(headers[i]!)) kept.push(headers[i]!, headers[i + 1]!);
  }
  return kept;
}

/** Printable characters that are not allowed raw in a URL. aws4 would encode the whole target again for one of them. */
const RAW_CHARACTERS = /["<>[\]^`{|}]/g;
const percentEncode = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

/**
 * The target as aws4 has to read it. Escapes in a query, and in the path of an object, do not change the signature. The
 * path of another service is signed as it is sent: encoded once more (`%3A` as `%253A`). S3 reads a raw `+` in a path
 * as a plus sign, but aws4 would read it as a space.
 */
function escapeForSigner(target: string, isObjectStorage: boolean): string {
  const question = target.indexOf('?');
  const path = question === -1 ? target : target.slice(0, question);
  const query = question === -1 ? '' : target.slice(question).replace(RAW_CHARACTERS, percentEncode);
  return isObjectStorage ? path.replaceAll('+', '%2B').replace(RAW_CHARACTERS, percentEncode) + query : path + query;
}

let lastSecond = -1;
let lastDate = '';

/** `YYYYMMDDTHHMMSSZ`; formatted at most once per second. */
export function formatAmzDate(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastDate = `${new Date(second * 1000).toISOString().slice(0, 19).replaceAll('-', '').replaceAll(':', '')}Z`;
  }
  return lastDate;
}
