/**
 * Reads one request off the server before its handler returns, by strict rules
 * (docs/contract.md#request-framing). The server's parser is lenient, so this file rejects everything that
 * the next hop could understand differently.
 */

import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { uuidv7 } from '@acg/base/uuidv7';
import { RequestBody } from '../../listener/buffered-or-streamed-request-body.js';
import { REJECTIONS, type Rejection } from '../../rejection/rejections.js';
import { TARGET_BYTES_MAX } from '../../upstream/parse-proxy-request-target.js';
import { Exchange, type ExchangeObserver } from '../exchange.js';
import type { InflightCalls } from '../inflight-call-admission-and-drain.js';

export interface AcceptOptions {
  readonly headerBytesMax: number;
  readonly headerCountMax: number;
  readonly bufferedBodyBytesMax: number;
}

const ALLOWED_METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);
const CONTENT_LENGTH = /^(?:0|[1-9]\d{0,14})$/;
const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;
/** Control bytes, or bytes that are not UTF-8 (the server passes them as U+FFFD). */
const INVALID_HEADER_VALUE = /[\0-\x08\x0a-\x1f\x7f\ufffd]/;

/** Accepts requests; one per process. */
export class RequestAcceptor {
  readonly #options: AcceptOptions;
  readonly #calls: Pick<InflightCalls, 'checkCapacity' | 'isDraining'> & ExchangeObserver;
  readonly #gcPacer: { onBytesAllocated(bytes: number): void };
  readonly #onAborted: (exchange: Exchange) => void;
  readonly #scan = new HeaderScan();

  constructor(
    options: AcceptOptions,
    calls: Pick<InflightCalls, 'checkCapacity' | 'isDraining'> & ExchangeObserver,
    gcPacer: { onBytesAllocated(bytes: number): void },
    onAborted: (exchange: Exchange) => void,
  ) {
    this.#options = options;
    this.#calls = calls;
    this.#gcPacer = gcPacer;
    this.#onAborted = onAborted;
  }

  /** Returns the exchange, which may be rejected already; null when the connection was closed instead. */
  accept(res: HttpResponse, req: HttpRequest): Exchange | null {
    const startedTick = performance.now();
    // The gateway does not speak the PROXY protocol; the server would trust a client's claim about its address.
    if (res.getProxiedRemoteAddress().byteLength > 0) {
      res.close();
      return null;
    }
    const scan = this.#scan;
    scan.reset();
    req.forEach(scan.addHeader);
    const method = req.getCaseSensitiveMethod();
    // Undefined without a `?`, whatever the typings say; a bare `?` is an empty query and is forwarded as one.
    const query = (req.getQuery() as string | undefined) ?? null;
    const contentLength =
      scan.contentLengthCount === 0 || !CONTENT_LENGTH.test(scan.contentLength) ? -1 : Number(scan.contentLength);
    const startedAtMs = Date.now();
    const exchange = new Exchange(
      res as unknown as Exchange['res'],
      {
        id: uuidv7(startedAtMs),
        startedAtMs,
        startedAtPerfMs: startedTick,
        method,
        rawPath: req.getUrl(),
        query,
        headers: scan.headers,
        contentLength,
        host: scan.host,
        closesConnectionAfter: scan.mustCloseAfterResponse(method) || this.#calls.isDraining,
      },
      this.#calls,
    );
    res.onAborted(() => this.#onAborted(exchange));
    const rejection = this.#validate(exchange, scan) ?? this.#calls.checkCapacity();
    if (rejection !== null) exchange.reject(rejection);
    else if (scan.hasTransferEncoding || contentLength > 0) this.#receiveBody(exchange, res);
    return exchange;
  }

  #validate(exchange: Exchange, scan: HeaderScan): Rejection | null {
    const { method, rawPath, query } = exchange.request;
    if (!ALLOWED_METHODS.has(method)) return REJECTIONS.methodNotAllowed;
    const targetBytes = rawPath.length + (query?.length ?? 0);
    if (targetBytes > TARGET_BYTES_MAX) return REJECTIONS.targetTooLong;
    if (scan.bytes + targetBytes > this.#options.headerBytesMax || scan.count > this.#options.headerCountMax) {
      return REJECTIONS.headersTooLarge;
    }
    if (scan.hostCount !== 1 || !HOST.test(scan.host)) return REJECTIONS.malformedRequest;
    if (
      scan.contentLengthCount > 1 ||
      scan.transferEncodingCount > 1 ||
      scan.authorizationCount > 1 ||
      scan.hasBadValue
    )
      return REJECTIONS.malformedRequest;
    if (scan.contentLengthCount === 1 && exchange.request.contentLength === -1) return REJECTIONS.malformedRequest;
    if (scan.transferEncodingCount === 1) {
      if (scan.transferEncoding !== 'chunked') return REJECTIONS.unsupportedTransferEncoding;
      if (scan.contentLengthCount === 1 || method === 'HEAD') return REJECTIONS.malformedRequest;
    }
    if (scan.expect !== '' && scan.expect !== '100-continue') return REJECTIONS.expectationFailed;
    return null;
  }

  /**
   * The server loses `onData` for bodies of length 0 (docs/contract.md#request-framing), so this is called
   * only when a body follows.
   */
  #receiveBody(exchange: Exchange, res: HttpResponse): void {
    const body = new RequestBody(exchange.res, this.#options.bufferedBodyBytesMax);
    exchange.body = body;
    res.onData((chunk, last) => {
      this.#gcPacer.onBytesAllocated(chunk.byteLength);
      body.push(chunk, last);
    });
  }
}

/** Reads the headers in one pass. Reused, so that a request costs no closure. */
class HeaderScan {
  headers: string[] = [];
  count = 0;
  bytes = 0;
  hostCount = 0;
  host = '';
  contentLengthCount = 0;
  contentLength = '';
  transferEncodingCount = 0;
  /** Lower case. */
  transferEncoding = '';
  authorizationCount = 0;
  /** Lower case, all lines joined. */
  connection = '';
  expect = '';
  hasBadValue = false;

  reset(): void {
    this.headers = [];
    this.count = 0;
    this.bytes = 0;
    this.hostCount = 0;
    this.host = '';
    this.contentLengthCount = 0;
    this.contentLength = '';
    this.transferEncodingCount = 0;
    this.transferEncoding = '';
    this.authorizationCount = 0;
    this.connection = '';
    this.expect = '';
    this.hasBadValue = false;
  }

  get hasTransferEncoding(): boolean {
    return this.transferEncodingCount > 0;
  }

  readonly addHeader = (name: string, value: string): void => {
    this.count++;
    this.bytes += name.length + value.length + 4;
    if (INVALID_HEADER_VALUE.test(value)) this.hasBadValue = true;
    switch (name) {
      case 'host':
        this.hostCount++;
        this.host = value;
        return;
      case 'content-length':
        this.contentLengthCount++;
        this.contentLength = value;
        return;
      case 'transfer-encoding':
        this.transferEncodingCount++;
        this.transferEncoding = value.toLowerCase();
        return;
      case 'expect':
        this.expect = value.toLowerCase();
        return;
      case 'authorization':
        this.authorizationCount++;
        break;
      case 'connection':
        this.connection += `,${value.toLowerCase()}`;
        break;
    }
    this.headers.push(name, value);
  };

  /**
   * True for chunked bodies, whose trailers the parser would read as a request, and for bodies whose length may be
   * hidden from the gateway (docs/contract.md#request-framing).
   */
  mustCloseAfterResponse(method: string): boolean {
    if (this.transferEncodingCount > 0) return true;
    if (this.contentLengthCount === 0 && method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS') return true;
    return this.connection !== '' && /(?:^|,)\s*close\s*(?:,|$)/.test(this.connection);
  }
}
