/**
 * Verifies AWS Signature Version 4 as S3 and other services do, written from the specification and independent of the gateway's signer:
 * by header and presigned, with every `x-amz-*` header signed, a fresh date, the right scope and secret.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { ReceivedRequest } from '@acg/stand-in-provider/stand-in-provider';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  readonly sessionToken?: string;
  /** Default `s3`. Other services sign the path as it is sent, encoded once more. */
  readonly service?: string;
}

/** What the body check needs from a verified signature. */
export interface VerifiedSignature {
  readonly payload: string;
  readonly signature: string;
  readonly date: string;
  readonly scope: string;
  readonly signingKey: Buffer;
}

/** An S3 error code with a message. */
export type S3Problem = readonly [code: string, message: string];

const SKEW_MS = 15 * 60 * 1000;

export const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
export const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();

export function verifySignature(
  request: ReceivedRequest,
  keys: S3Credentials,
  nowMs: number,
): VerifiedSignature | S3Problem {
  const given =
    request.headers.authorization === undefined
      ? parseQuerySignature(request)
      : parseHeaderSignature(request, keys.service ?? 's3');
  if (given === null) return ['AccessDenied', 'Access Denied'];
  const [accessKeyId, day, region, service, end] = given.credential.split('/');
  if (accessKeyId !== keys.accessKeyId) return ['InvalidAccessKeyId', 'The AWS Access Key Id does not exist'];
  const scope = `${day}/${region}/${service}/${end}`;
  if (
    region !== keys.region ||
    service !== (keys.service ?? 's3') ||
    end !== 'aws4_request' ||
    !given.date.startsWith(day ?? '?')
  ) {
    return ['AuthorizationHeaderMalformed', `the scope ${scope} is wrong`];
  }
  if (!(Math.abs(parseAmzDateMs(given.date) - nowMs) <= SKEW_MS + given.lifetimeMs))
    return ['RequestTimeTooSkewed', 'too old'];
  if (keys.sessionToken !== undefined && request.headers['x-amz-security-token'] !== keys.sessionToken) {
    return ['InvalidToken', 'The provided token is malformed'];
  }
  const unsigned = listRequiredSignedHeaders(request).filter((name) => !given.signedHeaders.includes(name));
  if (unsigned.length > 0) return ['AccessDenied', `There were headers present which were not signed: ${unsigned}`];
  const signingKey = hmac(hmac(hmac(hmac(`AWS4${keys.secretAccessKey}`, day!), region), service), end);
  const toSign = [
    'AWS4-HMAC-SHA256',
    given.date,
    scope,
    sha256(canonicalRequest(request, given, service === 's3')),
  ].join('\n');
  const expected = hmac(signingKey, toSign);
  const actual = Buffer.from(given.signature, 'hex');
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) {
    return ['SignatureDoesNotMatch', 'The request signature we calculated does not match the signature you provided.'];
  }
  return { payload: given.payload, signature: given.signature, date: given.date, scope, signingKey };
}

interface GivenSignature {
  readonly credential: string;
  readonly date: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly payload: string;
  readonly lifetimeMs: number;
  readonly inQuery: boolean;
}

function parseHeaderSignature(request: ReceivedRequest, service: string): GivenSignature | null {
  const parts = /^AWS4-HMAC-SHA256 Credential=([^, ]+), ?SignedHeaders=([^, ]+), ?Signature=([0-9a-f]{64})$/.exec(
    request.headers.authorization ?? '',
  );
  const date = request.headers['x-amz-date'];
  // S3 requires the header; other services compute the hash themselves.
  const payload = request.headers['x-amz-content-sha256'] ?? (service === 's3' ? undefined : sha256(request.body));
  if (parts === null || date === undefined || payload === undefined) return null;
  const signedHeaders = parts[2]!.split(';');
  return { credential: parts[1]!, date, signedHeaders, signature: parts[3]!, payload, lifetimeMs: 0, inQuery: false };
}

function parseQuerySignature(request: ReceivedRequest): GivenSignature | null {
  const query = new URLSearchParams(request.query);
  const credential = query.get('X-Amz-Credential');
  const date = query.get('X-Amz-Date');
  const signature = query.get('X-Amz-Signature');
  if (credential === null || date === null || signature === null) return null;
  return {
    credential,
    date,
    signedHeaders: (query.get('X-Amz-SignedHeaders') ?? '').split(';'),
    signature,
    payload: query.get('X-Amz-Content-Sha256') ?? 'UNSIGNED-PAYLOAD',
    lifetimeMs: Number(query.get('X-Amz-Expires')) * 1000,
    inQuery: true,
  };
}

function listRequiredSignedHeaders(request: ReceivedRequest): string[] {
  const present = Object.keys(request.headers);
  return present.filter((name) => name === 'host' || name.startsWith('x-amz-'));
}

function canonicalRequest(request: ReceivedRequest, given: GivenSignature, isObjectKey: boolean): string {
  const headers = given.signedHeaders.map(
    (name) => `${name}:${(request.headers[name] ?? '').trim().replaceAll(/ +/g, ' ')}\n`,
  );
  return [
    request.method,
    request.path
      .split('/')
      .map((segment) =>
        isObjectKey ? encodeRfc3986(decodeURIComponent(segment)).replaceAll('%2F', '/') : encodeRfc3986(segment),
      )
      .join('/'),
    canonicalQuery(request.query, given.inQuery),
    headers.join(''),
    given.signedHeaders.join(';'),
    given.payload,
  ].join('\n');
}

function canonicalQuery(query: string, inQuery: boolean): string {
  if (query === '') return '';
  const pairs = query.split('&').map((pair) => {
    const equals = pair.indexOf('=');
    const name = equals === -1 ? pair : pair.slice(0, equals);
    const value = equals === -1 ? '' : pair.slice(equals + 1);
    return [encodeRfc3986(decodeURIComponent(name)), encodeRfc3986(decodeURIComponent(value))] as const;
  });
  const kept = pairs.filter(([name]) => !(inQuery && name === 'X-Amz-Signature'));
  kept.sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1));
  return kept.map(([name, value]) => `${name}=${value}`).join('&');
}

/** RFC 3986: everything but the unreserved characters is escaped. */
const encodeRfc3986 = (value: string): string =>
  encodeURIComponent(value).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

function parseAmzDateMs(date: string): number {
  const part = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date);
  if (part === null) return Number.NaN;
  const [year, month, day, hour, minute, second] = part.slice(1).map(Number);
  return Date.UTC(year!, month! - 1, day, hour, minute, second);
}
