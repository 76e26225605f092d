/**
 * Plans how an object-storage call goes upstream (docs/contract.md#provider-specific-rules): the signed payload hash,
 * whether to keep the body's aws-chunked framing, and the headers and query of the re-signed request. Pure.
 */

import { decodeParamValue, editQueryParams } from '../upstream/credentials/edit-query-params-byte-preserving.js';
import { AUTH_QUERY_PARAM, type TokenPosition } from '../upstream/credentials/find-gateway-token.js';
import { isPresignedSignatureParam, removeAuthParams } from '../upstream/credentials/inject-credential.js';
import { SIGNING_HEADERS } from './sigv4.js';

/**
 * - as_is: forward the bytes unchanged.
 * - strip_signatures: decode the signed chunks with an AwsChunkedDecoder and send the bare object of `decodedBytes`.
 */
type BodyMode = 'as_is' | 'strip_signatures';

export interface ObjectRequest {
  /** Flat array without the client's signing headers, with `x-amz-content-sha256`. */
  readonly headers: string[];
  readonly query: string | null;
  readonly bodyMode: BodyMode;
  /** For strip_signatures: length of the object, sent as content-length. -1 otherwise. */
  readonly decodedBytes: number;
  /** For strip_signatures: name of the announced trailing checksum (`x-amz-checksum-crc32`); `""` without one. */
  readonly trailer: string;
}

const UNSIGNED = 'UNSIGNED-PAYLOAD';
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const HEX_SHA256 = /^[0-9a-f]{64}$/;
const BYTES = /^\d{1,15}$/;

/** Returns the plan, or the error text for a 400 response. `hasBody`: whether the client's request has a body. */
export function planObjectRequest(
  forwarded: readonly string[],
  query: string | null,
  position: TokenPosition,
  hasBody: boolean,
): ObjectRequest | string {
  const payload = findHeader(forwarded, 'x-amz-content-sha256');
  const signed = payload.startsWith('STREAMING-AWS4-HMAC-SHA256-PAYLOAD');
  const headers: string[] = [];
  for (let i = 0; i < forwarded.length; i += 2) {
    const name = forwarded[i]!;
    if (SIGNING_HEADERS.has(name) || (signed && FRAMING_HEADERS.has(name))) continue;
    headers.push(
      name,
      signed && name === 'content-encoding' ? removeAwsChunkedEncoding(forwarded[i + 1]!) : forwarded[i + 1]!,
    );
  }
  if (signed) removeEmptyEncoding(headers);
  const presigned = position.form === 'presigned' && query !== null;
  const hoisted = presigned ? moveAmzParamsToHeaders(query, headers) : query;
  if (hoisted === UNUSABLE_PARAM) return 'an x-amz-* parameter of the presigned URL is not a valid header';
  const kept = removeAuthParams(hoisted, position, AUTH_QUERY_PARAM);
  if (!signed) {
    headers.push('x-amz-content-sha256', choosePayloadHash(payload, hasBody));
    return { headers, query: kept, bodyMode: 'as_is', decodedBytes: -1, trailer: '' };
  }
  const decoded = findHeader(forwarded, 'x-amz-decoded-content-length');
  if (!BYTES.test(decoded)) return 'x-amz-decoded-content-length is missing or not a number';
  headers.push('x-amz-content-sha256', UNSIGNED);
  const trailer = findHeader(forwarded, 'x-amz-trailer').trim().toLowerCase();
  return { headers, query: kept, bodyMode: 'strip_signatures', decodedBytes: Number(decoded), trailer };
}

const PRESIGNED_DATE = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/;
const EXPIRES_SECONDS_MAX = 604_800;

/** Unix time in ms at which a presigned URL expires; null when its date or lifetime is missing or malformed. */
export function parsePresignedExpiryMs(query: string): number | null {
  let date = '';
  let seconds = '';
  editQueryParams(query, (name, pair) => {
    const lower = name.toLowerCase();
    if (lower === 'x-amz-date') date = decodeParamValue(pair);
    else if (lower === 'x-amz-expires') seconds = decodeParamValue(pair);
    return true;
  });
  const part = PRESIGNED_DATE.exec(date);
  if (part === null || !BYTES.test(seconds) || Number(seconds) > EXPIRES_SECONDS_MAX) return null;
  const [, year, month, day, hour, minute, second] = part;
  return Date.UTC(+year!, +month! - 1, +day!, +hour!, +minute!, +second!) + Number(seconds) * 1000;
}

const FRAMING_HEADERS: ReadonlySet<string> = new Set(['x-amz-decoded-content-length', 'x-amz-trailer']);

/** Value of `x-amz-content-sha256`: the client's own hash where it matches the bytes to send. */
function choosePayloadHash(payload: string, hasBody: boolean): string {
  if (HEX_SHA256.test(payload) || payload === 'STREAMING-UNSIGNED-PAYLOAD-TRAILER') return payload;
  return hasBody ? UNSIGNED : EMPTY_SHA256;
}

/**
 * Converts a presigned URL to a request signed by header. Drops signature parameters, turns other `x-amz-*` parameters
 * (metadata, ACL, checksum mode) into the headers that they stand for, and keeps the rest byte for byte.
 */
function moveAmzParamsToHeaders(query: string, headers: string[]): string | null | typeof UNUSABLE_PARAM {
  const emptyChecksum = EMPTY_CHECKSUM.test(query);
  let usable = true;
  const kept = editQueryParams(query, (name, pair) => {
    if (isPresignedSignatureParam(name)) return false;
    const lower = name.toLowerCase();
    if (!lower.startsWith('x-amz-')) return true;
    // SDKs presign an upload with the checksum of the empty body at hand, which matches no object.
    if (emptyChecksum && (lower === 'x-amz-checksum-crc32' || lower === 'x-amz-sdk-checksum-algorithm')) return false;
    const value = decodeParamValue(pair);
    if (HOISTED_NAME.test(lower) && HOISTED_VALUE.test(value)) headers.push(lower, value);
    else usable = false;
    return false;
  });
  return usable ? kept : UNUSABLE_PARAM;
}

const UNUSABLE_PARAM = Symbol('unusable parameter');
const HOISTED_NAME = /^x-amz-[a-z0-9-]{1,100}$/;
const HOISTED_VALUE = /^[\t\x20-\x7e]*$/;

const EMPTY_CHECKSUM = /(?:^|&)x-amz-checksum-crc32=AAAAAA(?:%3D%3D|==)(?:&|$)/i;

/** Removes only the name of the framing: `content-encoding: aws-chunked,gzip` is a gzip object. */
function removeAwsChunkedEncoding(value: string): string {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && part.toLowerCase() !== 'aws-chunked')
    .join(',');
}

function removeEmptyEncoding(headers: string[]): void {
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    if (headers[i] === 'content-encoding' && headers[i + 1] === '') headers.splice(i, 2);
  }
}

function findHeader(headers: readonly string[], name: string): string {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === name) return headers[i + 1]!;
  }
  return '';
}
