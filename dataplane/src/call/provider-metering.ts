/** The stages' metering: which bodies are edited, which meter reads a response, what a call costs. */

import { formatMonth } from '../counters/calendar-month.js';
import { createMeter, isFetchedWhole } from '../metering/create-meter.js';
import { isDrawing, isSpeech, plainPath } from '../metering/estimate.js';
import { asksForUsage, editChatRequest, mayIncludeUsage } from '../metering/include-usage.js';
import type { LineReading, UsageReading } from '../metering/meter.js';
import { unansweredReading } from '../metering/unanswered.js';
import { UsageFilter } from '../metering/usage-filter.js';
import type { BoundedCall } from '../pricing/cost-bound.js';
import type { Price, PriceTable } from '../pricing/price.js';
import { type RequestFacts, RequestScanner, scanRequest } from '../scan/request-scanner.js';
import type { ResponseHead } from '../upstream/response-headers.js';
import type { CallMetering } from './call-metering.js';
import type { Exchange, RoutedExchange } from './exchange.js';
import { LineBooking, type LineSink } from './line-booking.js';
import type { BodyEdit } from './response-plan.js';

export class ProviderMetering implements CallMetering {
  readonly #prices: PriceTable;
  readonly #lines: LineSink;
  readonly #editedBodyBytesMax: number;

  /** `editedBodyBytesMax`: a longer chat body streams unedited, and its usage is estimated where it is not reported. */
  constructor(prices: PriceTable, lines: LineSink, editedBodyBytesMax: number) {
    this.#prices = prices;
    this.#lines = lines;
    this.#editedBodyBytesMax = editedBodyBytesMax;
  }

  bodyBytesWanted(x: RoutedExchange): number {
    return isEditable(x) ? this.#editedBodyBytesMax : 0;
  }

  request(x: RoutedExchange, body: Buffer): Buffer {
    if (isEditable(x)) {
      const { facts, edited } = editChatRequest(body);
      x.requestModel = facts.model;
      x.requestBlobBytes = facts.blobBytes;
      x.usageAsked = edited !== null;
      return edited ?? body;
    }
    if (isRead(x)) {
      keepFacts(x, scanRequest(body, headerOf(x, 'content-type'), isOrder(x)));
    }
    return body;
  }

  requestObserver(x: RoutedExchange): RequestScanner | null {
    return isRead(x) ? new RequestScanner(headerOf(x, 'content-type'), isOrder(x)) : null;
  }

  fetchedWhole({ request, routed: { target, upstream } }: RoutedExchange): boolean {
    const { usageFormat } = upstream;
    const isMetered = usageFormat === 'openai' || usageFormat === 'anthropic';
    return isMetered && isFetchedWhole(request.method, target.rest);
  }

  response(x: RoutedExchange, head: ResponseHead): BodyEdit | null {
    if (x.requestScanner !== null) keepFacts(x, x.requestScanner.facts());
    const { target, upstream } = x.routed;
    x.meter = createMeter({
      usageFormat: upstream.usageFormat,
      method: x.request.method,
      path: target.rest,
      requestBytes: x.body?.bytes ?? 0,
      requestBlobBytes: x.requestBlobBytes,
      requestModel: x.requestModel,
      requestItems: x.requestItems,
      requestOrder: x.requestOrder,
      status: x.upstreamStatus,
      contentType: head.mediaType,
      contentEncoding: head.contentEncoding,
      tokensOutMax: x.heldOutput?.stated ? x.heldOutput.tokens : null,
      countOnce: mayComeAgain(x) ? (line) => this.#countOnce(x, line) : null,
    });
    // A compressed answer cannot be cut: the caller then sees the usage that it did not ask for.
    const isCut = x.usageAsked && head.mediaType === 'text/event-stream' && head.contentEncoding === '';
    return isCut ? new UsageFilter() : null;
  }

  unanswered(x: RoutedExchange): UsageReading | null {
    if (x.requestScanner !== null) keepFacts(x, x.requestScanner.facts());
    return unansweredReading({
      usageFormat: x.routed.upstream.usageFormat,
      method: x.request.method,
      path: x.routed.target.rest,
      requestBytes: x.body?.bytes ?? 0,
      requestBlobBytes: x.requestBlobBytes,
      requestModel: x.requestModel,
      requestOrder: x.requestOrder,
    });
  }

  #countOnce(x: RoutedExchange, line: LineReading): void {
    x.lines ??= new LineBooking(fetchOf(x), this.#lines);
    // What a request costs by itself is due for the call that fetches, not for each of its lines.
    const { costNanos, source } = this.#prices.tokensCostOf({ upstream: x.routed.upstream, reading: line.reading });
    x.lines.add(line, costNanos, source);
  }

  bound(x: RoutedExchange, call: BoundedCall): number {
    return this.#prices.boundOf(x.routed.upstream, call);
  }

  price(x: RoutedExchange, reading: UsageReading): Price {
    return this.#prices.costOf({ upstream: x.routed.upstream, reading });
  }
}

function keepFacts(x: Exchange, { model, items, order, blobBytes }: RequestFacts): void {
  x.requestModel = model;
  x.requestItems = items;
  x.requestOrder = order;
  x.requestBlobBytes = blobBytes;
}

/** Calls that some models bill by what is asked for. */
function isOrder({ routed: { target, upstream } }: RoutedExchange): boolean {
  if (upstream.usageFormat !== 'openai') return false;
  const path = plainPath(target.rest);
  return isSpeech(path) || isDrawing(path);
}

/** Whether the answer may hold usage that another call brings again: results of a batch, a background answer, a run. */
function mayComeAgain({ request, routed: { target } }: RoutedExchange): boolean {
  return request.method === 'GET' || /\/(?:responses|runs)/.test(target.rest);
}

function fetchOf({ request, admission, routed: { context, upstream } }: RoutedExchange) {
  return {
    recordId: request.id,
    orgId: context.orgId,
    projectId: context.projectId,
    agentId: context.agentId,
    keyId: context.keyId,
    providerSlug: upstream.providerSlug,
    startedAtMs: request.startedAtMs,
    month: formatMonth(admission!.month),
  };
}

/** Formats whose requests say something that their answers may not. */
function isRead(x: RoutedExchange): boolean {
  const { usageFormat } = x.routed.upstream;
  return x.request.method === 'POST' && usageFormat !== 'none' && usageFormat !== 's3';
}

function isEditable(x: RoutedExchange): boolean {
  const { target, upstream } = x.routed;
  if (!asksForUsage(upstream.providerSlug)) return false;
  const { method } = x.request;
  return mayIncludeUsage(method, target.rest, headerOf(x, 'content-type'), headerOf(x, 'content-encoding'));
}

function headerOf(x: Exchange, name: string): string | null {
  const { headers } = x.request;
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1]!;
  return null;
}
