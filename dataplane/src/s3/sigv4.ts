/**
 * AWS Signature Version 4 by header for object storage, with the account's real keys. The client's own signature covers
 * the proxy's path and host, so every call is signed from scratch (docs/contract.md#what-the-providers-do). aws4 keeps
 * the day's signing key in its cache and canonicalises `encode(decode(segment))`, so raw and encoded paths sign alike.
 */
import aws4 from 'aws4';
import type { SigV4Injection } from '../context/agent-context.js';

/** Signed beside `host`: what changes the meaning of the call. S3 refuses an unsigned `x-amz-*`. */
const isSignedHeader = (name: string): boolean =>
  name.startsWith('x-amz-') || name === 'content-type' || name === 'content-md5' || name === 'range';

/** aws4 leaves `range` out unless it is told. */
const ALSO_SIGNED = { range: true };

/**
 * Appends `x-amz-date`, `x-amz-security-token` (where the account has one) and `authorization` to `headers`, which must
 * hold `x-amz-content-sha256` already. `path` is the whole upstream path with query, byte for byte as it is sent.
 * Returns false when the path cannot be signed (an escape that is no UTF-8 text).
 */
export function signObjectRequest(
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
    // A raw `+` of a path is a plus sign here, while aws4 would read it as a space.
    path: encodePlusInPath(path),
    service: injection.service,
    region: injection.region,
    headers: signed,
    extraHeadersToInclude: ALSO_SIGNED,
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

function encodePlusInPath(path: string): string {
  if (!path.includes('+')) return path;
  const question = path.indexOf('?');
  if (question === -1) return path.replaceAll('+', '%2B');
  return path.slice(0, question).replaceAll('+', '%2B') + path.slice(question);
}

let lastSecond = -1;
let lastDate = '';

/** `YYYYMMDDTHHMMSSZ`, formatted once a second. */
export function formatAmzDate(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastDate = `${new Date(second * 1000).toISOString().slice(0, 19).replaceAll('-', '').replaceAll(':', '')}Z`;
  }
  return lastDate;
}
