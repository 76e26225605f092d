/** The upstream request of one exchange: target, headers, credential and body (docs/contract.md#forwarding). */
import type { Readable } from 'node:stream';
import { Transform, type TransformCallback } from 'node:stream';
import type { SigV4Injection } from '../context/agent-context.js';
import type { UpstreamCall } from '../http1/upstream-call.js';
import { AwsChunkedDecoder } from '../s3/aws-chunked.js';
import type { ObjectRequest } from '../s3/object-request.js';
import { signObjectRequest } from '../s3/sigv4.js';
import { injectCredential } from '../upstream/inject.js';
import { LOOP_HEADER, loopEntry } from '../upstream/loop.js';
import { forwardedHeaders } from '../upstream/request-headers.js';
import { upstreamPath } from '../upstream/target.js';
import type { CallMetering } from './call-metering.js';
import type { Exchange, RoutedExchange } from './exchange.js';

type BodyMetering = Pick<CallMetering, 'request' | 'requestObserver' | 'fetchedWhole'>;

/** The agent's body broke its own framing or checksum: not the provider's failure. */
export class DamagedBody extends Error {}

/** A path that is no UTF-8 cannot be signed. */
export class UnsignableTarget extends Error {}

/** Consumes the exchange's body. Throws what the agent must be told of a request that cannot be sent. */
export function buildCall(x: RoutedExchange, metering: BodyMetering): UpstreamCall {
  const { target, upstream, position } = x.routed;
  const { injection } = upstream;
  if (injection.kind === 'sigv4') return objectCall(x, injection, x.objectRequest!);
  const headers = forwardedHeaders(x.request.headers, position, injection, metering.fetchedWhole(x));
  const query = injectCredential(headers, target.query, injection, position);
  return callOf(x, headers, query, bodyOf(x, metering), x.request.contentLength);
}

function callOf(
  x: RoutedExchange,
  headers: string[],
  query: string | null,
  body: Buffer | Readable | null,
  contentLength: number,
): UpstreamCall {
  const { upstream, target } = x.routed;
  const path = upstreamPath(upstream.basePath, target.rest);
  if (body !== null && !Buffer.isBuffer(body) && contentLength >= 0) {
    headers.push('content-length', String(contentLength));
  }
  if (upstream.tenantAddress) headers.push(LOOP_HEADER, loopEntry(upstream.accountId));
  return {
    method: x.request.method as UpstreamCall['method'],
    path: query === null ? path : `${path}?${query}`,
    headers,
    body,
  };
}

function bodyOf(x: RoutedExchange, metering: BodyMetering): Buffer | Readable | null {
  const { body } = x;
  if (body === null) return null;
  if (body.complete) return metering.request(x, body.take());
  x.requestScanner = metering.requestObserver(x);
  body.observer = x.requestScanner;
  return body.stream();
}

function objectCall(x: RoutedExchange, injection: SigV4Injection, plan: ObjectRequest): UpstreamCall {
  const { upstream } = x.routed;
  for (const [name, value] of injection.extraHeaders) plan.headers.push(name, value);
  const body = objectBody(x, plan);
  const contentLength = plan.body === 'as_is' ? x.request.contentLength : plan.decodedBytes;
  const call = callOf(x, plan.headers, plan.query, body, contentLength);
  const host = upstream.origin.slice(upstream.origin.indexOf('//') + 2);
  const signed = signObjectRequest(call.method, host, call.path, call.headers, injection, Date.now());
  if (!signed) throw new UnsignableTarget();
  return call;
}

function objectBody(x: Exchange, plan: ObjectRequest): Buffer | Readable | null {
  const { body } = x;
  if (body === null) return null;
  if (plan.body === 'as_is') return body.complete ? body.take() : body.stream();
  const decoder = new AwsChunkedDecoder(plan.decodedBytes, plan.trailer);
  if (!body.complete) return body.stream().pipe(new DecodedBody(decoder));
  const parts: Buffer[] = [];
  const emit = (data: Buffer): void => void parts.push(data);
  if (!decoder.push(body.take(), emit) || !decoder.finish(emit)) throw damaged(decoder);
  return Buffer.concat(parts);
}

/** A body that turns out damaged ends in an error: it is never complete upstream. */
class DecodedBody extends Transform {
  readonly #decoder: AwsChunkedDecoder;
  readonly #emit = (data: Buffer): void => void this.push(data);

  constructor(decoder: AwsChunkedDecoder) {
    super();
    this.#decoder = decoder;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    done(this.#decoder.push(chunk, this.#emit) ? null : damaged(this.#decoder));
  }

  override _flush(done: TransformCallback): void {
    done(this.#decoder.finish(this.#emit) ? null : damaged(this.#decoder));
  }
}

const damaged = (decoder: AwsChunkedDecoder): DamagedBody =>
  new DamagedBody(`aws-chunked body: ${decoder.problem ?? 'incomplete'}`);
