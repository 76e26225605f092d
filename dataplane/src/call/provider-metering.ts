/** The stages' metering: which bodies are edited, which meter reads a response, what a call costs. */

import { formatMonth } from '../limits/calendar-month.js';
import { estimateAbortedCall } from '../metering/aborted-call-usage.js';
import { createMeter, needsWholeResponse } from '../metering/create-meter.js';
import { isImagePath, isSpeechPath, normalizePath } from '../metering/reading/token-estimates.js';
import type { DeferredUsageReading, UsageReading } from '../metering/reading/usage-meter.js';
import {
  addIncludeUsage,
  canRequestStreamUsage,
  shouldRequestStreamUsage,
} from '../metering/stream-usage/request-stream-usage.js';
import { StreamUsageFilter } from '../metering/stream-usage/stream-usage-filter.js';
import type { MaxCostInput } from '../pricing/max-cost.js';
import type { CallCost, PriceTable } from '../pricing/price-table.js';
import { type RequestFacts, RequestScanner, scanRequest } from '../scan/request-scanner.js';
import type { ResponseHead } from '../upstream/response-headers.js';
import type { CallMetering } from './call-metering.js';
import { DeferredUsageBatcher, type DeferredUsageSink } from './deferred-usage.js';
import type { Exchange, RoutedExchange } from './exchange.js';
import type { BodyEdit } from './response-plan.js';

export class ProviderMetering implements CallMetering {
  readonly #prices: PriceTable;
  readonly #deferredUsageSink: DeferredUsageSink;
  readonly #editedBodyBytesMax: number;

  /** `editedBodyBytesMax`: a longer chat body streams unedited, and its usage is estimated where it is not reported. */
  constructor(prices: PriceTable, lines: DeferredUsageSink, editedBodyBytesMax: number) {
    this.#prices = prices;
    this.#deferredUsageSink = lines;
    this.#editedBodyBytesMax = editedBodyBytesMax;
  }

  bufferBytesWanted(x: RoutedExchange): number {
    return canAddUsageOption(x) ? this.#editedBodyBytesMax : 0;
  }

  prepareRequestBody(x: RoutedExchange, body: Buffer): Buffer {
    if (canAddUsageOption(x)) {
      const { facts, edited } = addIncludeUsage(body);
      x.requestModel = facts.model;
      x.requestBlobBytes = facts.blobBytes;
      x.addedUsageOption = edited !== null;
      return edited ?? body;
    }
    if (needsRequestScan(x)) {
      storeRequestFacts(x, scanRequest(body, findHeader(x, 'content-type'), isBilledByRequest(x)));
    }
    return body;
  }

  createRequestScanner(x: RoutedExchange): RequestScanner | null {
    return needsRequestScan(x) ? new RequestScanner(findHeader(x, 'content-type'), isBilledByRequest(x)) : null;
  }

  mustFetchWhole({ request, routed: { target, upstream } }: RoutedExchange): boolean {
    const { usageFormat } = upstream;
    const isMetered = usageFormat === 'openai' || usageFormat === 'anthropic';
    return isMetered && needsWholeResponse(request.method, target.providerPath);
  }

  openResponseMeter(x: RoutedExchange, head: ResponseHead): BodyEdit | null {
    if (x.requestScanner !== null) storeRequestFacts(x, x.requestScanner.facts());
    const { target, upstream } = x.routed;
    x.meter = createMeter({
      usageFormat: upstream.usageFormat,
      method: x.request.method,
      path: target.providerPath,
      requestBytes: x.body?.bytes ?? 0,
      requestBlobBytes: x.requestBlobBytes,
      requestModel: x.requestModel,
      requestItemCount: x.requestItems,
      requestedOutput: x.requestedOutput,
      status: x.upstreamStatus,
      contentType: head.mediaType,
      contentEncoding: head.contentEncoding,
      tokensOutMax: x.reservedOutput?.isStatedByRequest ? x.reservedOutput.tokens : null,
      onDeferredUsage: mayReportUsageAgain(x) ? (line) => this.#addDeferredUsage(x, line) : null,
    });
    // A compressed answer cannot be cut: the caller then sees the usage that it did not ask for.
    const isCut = x.addedUsageOption && head.mediaType === 'text/event-stream' && head.contentEncoding === '';
    return isCut ? new StreamUsageFilter() : null;
  }

  estimateUnanswered(x: RoutedExchange): UsageReading | null {
    if (x.requestScanner !== null) storeRequestFacts(x, x.requestScanner.facts());
    return estimateAbortedCall({
      usageFormat: x.routed.upstream.usageFormat,
      method: x.request.method,
      path: x.routed.target.providerPath,
      requestBytes: x.body?.bytes ?? 0,
      requestBlobBytes: x.requestBlobBytes,
      requestModel: x.requestModel,
      requestedOutput: x.requestedOutput,
    });
  }

  #addDeferredUsage(x: RoutedExchange, line: DeferredUsageReading): void {
    x.deferredUsage ??= new DeferredUsageBatcher(toDeferredUsageFetch(x), this.#deferredUsageSink);
    // What a request costs by itself is due for the call that fetches, not for each of its lines.
    const { costNanos, source } = this.#prices.calculateUsageCost({
      upstream: x.routed.upstream,
      reading: line.reading,
    });
    x.deferredUsage.add(line, costNanos, source);
  }

  maxCostNanos(x: RoutedExchange, call: MaxCostInput): number {
    return this.#prices.calculateMaxCostNanos(x.routed.upstream, call);
  }

  priceUsage(x: RoutedExchange, reading: UsageReading): CallCost {
    return this.#prices.calculateCost({ upstream: x.routed.upstream, reading });
  }
}

function storeRequestFacts(
  x: Exchange,
  { model, itemCount: items, requestedOutput: order, blobBytes }: RequestFacts,
): void {
  x.requestModel = model;
  x.requestItems = items;
  x.requestedOutput = order;
  x.requestBlobBytes = blobBytes;
}

/** Calls that some models bill by what is asked for. */
function isBilledByRequest({ routed: { target, upstream } }: RoutedExchange): boolean {
  if (upstream.usageFormat !== 'openai') return false;
  const path = normalizePath(target.providerPath);
  return isSpeechPath(path) || isImagePath(path);
}

/** Whether the answer may hold usage that another call brings again: results of a batch, a background answer, a run. */
function mayReportUsageAgain({ request, routed: { target } }: RoutedExchange): boolean {
  return request.method === 'GET' || /\/(?:responses|runs)/.test(target.providerPath);
}

function toDeferredUsageFetch({ request, admission, routed: { context, upstream } }: RoutedExchange) {
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
function needsRequestScan(x: RoutedExchange): boolean {
  const { usageFormat } = x.routed.upstream;
  return x.request.method === 'POST' && usageFormat !== 'none' && usageFormat !== 's3';
}

function canAddUsageOption(x: RoutedExchange): boolean {
  const { target, upstream } = x.routed;
  if (!shouldRequestStreamUsage(upstream.providerSlug)) return false;
  const { method } = x.request;
  return canRequestStreamUsage(
    method,
    target.providerPath,
    findHeader(x, 'content-type'),
    findHeader(x, 'content-encoding'),
  );
}

function findHeader(x: Exchange, name: string): string | null {
  const { headers } = x.request;
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1]!;
  return null;
}
