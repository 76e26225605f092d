/** The upstream request of one exchange: target, headers, credential and body (docs/contract.md#forwarding). */
import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Transform, type TransformCallback } from 'node:stream';
import type { SigV4Injection } from '../context/agent-context.js';
import type { UpstreamRequest } from '../http1/upstream-request-interface.js';
import { AwsChunkedDecoder } from '../s3/aws-chunked-decoder.js';
import type { ObjectRequest } from '../s3/plan-object-request.js';
import { findStatedBodyHash, removeSigningHeaders, signRequest } from '../s3/sigv4.js';
import { injectAccountHeaders, injectCredential } from '../upstream/credentials/inject-credential.js';
import { filterRequestHeaders } from '../upstream/filter-request-headers.js';
import { createLoopEntry, LOOP_HEADER } from '../upstream/loop-detection.js';
import { joinUpstreamPath } from '../upstream/parse-proxy-request-target.js';
import type { CallMetering } from './call-metering-interface.js';
import type { Exchange, RoutedExchange } from './exchange.js';
import { toMcpServerHeaders } from './mcp-call.js';

type BodyMetering = Pick<CallMetering, 'scanAndEditRequestBody' | 'createRequestScanner' | 'mustDropRangeHeaders'>;

/** The agent's body broke its own framing or checksum. Never counted as the provider's failure. */
export class MalformedBodyError extends Error {}

/** The path is not valid UTF-8, so it cannot be signed. */
export class UnsignableTargetError extends Error {}

/**
 * Consumes the exchange's body, unless the request is sent again.
 *
 * @throws MalformedBodyError, UnsignableTargetError: the agent sent a request that cannot be forwarded.
 */
export function buildUpstreamRequest(exchange: RoutedExchange, metering: BodyMetering): UpstreamRequest {
  const { target, upstream, tokenPosition: position } = exchange.routed;
  const { injection } = upstream;
  if (injection.kind === 'sigv4' && injection.isObjectStorage)
    return buildObjectRequest(exchange, injection, exchange.admission.objectRequest!);
  const { mcp } = exchange.admission;
  const sent = mcp === null ? exchange.request.headers : toMcpServerHeaders(exchange.request.headers, mcp);
  const headers = filterRequestHeaders(sent, injection, metering.mustDropRangeHeaders(exchange));
  const query = injectCredential(headers, target.query, injection, position);
  const { repeatable } = exchange.upstreamCall;
  const body = repeatable === null ? toMeteredUpstreamBody(exchange, metering) : repeatable.body;
  if (injection.kind === 'sigv4') return buildSignedRequest(exchange, injection, headers, query, body);
  return assembleRequest(exchange, headers, query, body, exchange.request.contentLength);
}

/** A request to another AWS service than S3. A body that streams has the hash that the client states. */
function buildSignedRequest(
  exchange: RoutedExchange,
  injection: SigV4Injection,
  headers: readonly string[],
  query: string | null,
  body: Buffer | Readable | null,
): UpstreamRequest {
  const kept = removeSigningHeaders(headers);
  const bytes = body === null ? EMPTY_BODY : body;
  const bodyHash = Buffer.isBuffer(bytes)
    ? hash('sha256', bytes, 'hex')
    : findStatedBodyHash(exchange.request.headers)!;
  kept.push('x-amz-content-sha256', bodyHash);
  const call = assembleRequest(exchange, kept, query, body, exchange.request.contentLength);
  sign(exchange, call, injection);
  return call;
}

const EMPTY_BODY = Buffer.alloc(0);

function sign({ routed: { upstream } }: RoutedExchange, call: UpstreamRequest, injection: SigV4Injection): void {
  const host = upstream.origin.slice(upstream.origin.indexOf('//') + 2);
  if (!signRequest(call.method, host, call.path, call.headers, injection, Date.now()))
    throw new UnsignableTargetError();
}

function assembleRequest(
  exchange: RoutedExchange,
  headers: string[],
  query: string | null,
  body: Buffer | Readable | null,
  contentLength: number,
): UpstreamRequest {
  const { upstream, target } = exchange.routed;
  const path = joinUpstreamPath(upstream.basePath, target.providerPath);
  if (body !== null && !Buffer.isBuffer(body) && contentLength >= 0) {
    headers.push('content-length', String(contentLength));
  }
  if (upstream.isTenantAddress) headers.push(LOOP_HEADER, createLoopEntry(upstream.accountId));
  return {
    method: exchange.request.method as UpstreamRequest['method'],
    path: query === null ? path : `${path}?${query}`,
    headers,
    body,
  };
}

function toMeteredUpstreamBody(exchange: RoutedExchange, metering: BodyMetering): Buffer | Readable | null {
  const { body } = exchange;
  if (body === null) return null;
  if (body.isComplete) return metering.scanAndEditRequestBody(exchange, body.takeWhole());
  exchange.metering.requestScanner = metering.createRequestScanner(exchange);
  body.observer = exchange.metering.requestScanner;
  return body.toStream();
}

function buildObjectRequest(exchange: RoutedExchange, injection: SigV4Injection, plan: ObjectRequest): UpstreamRequest {
  const headers = [...plan.headers];
  injectAccountHeaders(headers, injection);
  const { repeatable } = exchange.upstreamCall;
  const body = repeatable === null ? decodeAwsChunkedBodyIfNeeded(exchange, plan) : repeatable.body;
  const contentLength = plan.bodyMode === 'as_is' ? exchange.request.contentLength : plan.decodedBytes;
  const call = assembleRequest(exchange, headers, plan.query, body, contentLength);
  sign(exchange, call, injection);
  return call;
}

function decodeAwsChunkedBodyIfNeeded(exchange: Exchange, plan: ObjectRequest): Buffer | Readable | null {
  const { body } = exchange;
  if (body === null) return null;
  if (plan.bodyMode === 'as_is') return body.isComplete ? body.takeWhole() : body.toStream();
  const decoder = new AwsChunkedDecoder(plan.decodedBytes, plan.trailer);
  if (!body.isComplete) return body.toStream().pipe(new AwsChunkedDecodeStream(decoder));
  const parts: Buffer[] = [];
  const emit = (data: Buffer): void => void parts.push(data);
  if (!decoder.push(body.takeWhole(), emit) || !decoder.finish(emit)) throw createMalformedBodyError(decoder);
  return Buffer.concat(parts);
}

/** Decodes a body on its way upstream. A damaged body ends in an error, so it is never complete upstream. */
class AwsChunkedDecodeStream extends Transform {
  readonly #decoder: AwsChunkedDecoder;
  readonly #emit = (data: Buffer): void => void this.push(data);

  constructor(decoder: AwsChunkedDecoder) {
    super();
    this.#decoder = decoder;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    done(this.#decoder.push(chunk, this.#emit) ? null : createMalformedBodyError(this.#decoder));
  }

  override _flush(done: TransformCallback): void {
    done(this.#decoder.finish(this.#emit) ? null : createMalformedBodyError(this.#decoder));
  }
}

const createMalformedBodyError = (decoder: AwsChunkedDecoder): MalformedBodyError =>
  new MalformedBodyError(`aws-chunked body: ${decoder.problem ?? 'incomplete'}`);
