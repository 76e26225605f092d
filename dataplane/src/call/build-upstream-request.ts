/** The upstream request of one exchange: target, headers, credential and body (docs/contract.md#forwarding). */
import type { Readable } from 'node:stream';
import { Transform, type TransformCallback } from 'node:stream';
import type { SigV4Injection } from '../context/agent-context.js';
import type { UpstreamRequest } from '../http1/upstream-request-interface.js';
import { AwsChunkedDecoder } from '../s3/aws-chunked-decoder.js';
import type { ObjectRequest } from '../s3/plan-object-request.js';
import { signObjectRequest } from '../s3/sigv4.js';
import { injectCredential } from '../upstream/credentials/inject-credential.js';
import { filterRequestHeaders } from '../upstream/filter-request-headers.js';
import { createLoopEntry, LOOP_HEADER } from '../upstream/loop-detection.js';
import { joinUpstreamPath } from '../upstream/parse-proxy-request-target.js';
import type { CallMetering } from './call-metering-interface.js';
import type { Exchange, RoutedExchange } from './exchange.js';

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
  if (injection.kind === 'sigv4') return buildObjectRequest(exchange, injection, exchange.admission.objectRequest!);
  const headers = filterRequestHeaders(
    exchange.request.headers,
    position,
    injection,
    metering.mustDropRangeHeaders(exchange),
  );
  const query = injectCredential(headers, target.query, injection, position);
  return assembleRequest(
    exchange,
    headers,
    query,
    exchange.upstreamCall.repeatable === null
      ? toMeteredUpstreamBody(exchange, metering)
      : exchange.upstreamCall.repeatable.body,
    exchange.request.contentLength,
  );
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
  const { upstream } = exchange.routed;
  const headers = [...plan.headers];
  for (const [name, value] of injection.extraHeaders) headers.push(name, value);
  const { repeatable } = exchange.upstreamCall;
  const body = repeatable === null ? decodeAwsChunkedBodyIfNeeded(exchange, plan) : repeatable.body;
  const contentLength = plan.bodyMode === 'as_is' ? exchange.request.contentLength : plan.decodedBytes;
  const call = assembleRequest(exchange, headers, plan.query, body, contentLength);
  const host = upstream.origin.slice(upstream.origin.indexOf('//') + 2);
  const signed = signObjectRequest(call.method, host, call.path, call.headers, injection, Date.now());
  if (!signed) throw new UnsignableTargetError();
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
