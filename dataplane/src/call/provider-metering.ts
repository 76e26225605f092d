/** Metering for all providers: which bodies are edited, which meter reads a response, what a call costs. */

import { locateCallModel } from '@acg/base/policy/call-rules';
import { parseModelFromPath } from '@acg/base/policy/parse-model-from-path';
import { calendarWindowAt } from '../limits/calendar-window.js';
import { estimateAbortedCall } from '../metering/aborted-call-usage.js';
import { createMeter, needsWholeResponse } from '../metering/create-meter.js';
import type {
  DeferredUsageReading,
  PricedToolCall,
  UsageReading,
} from '../metering/reading/response-usage-meter-interface.js';
import { isImagePath, isSpeechPath, normalizePath } from '../metering/reading/token-estimates.js';
import { StreamUsageFilter } from '../metering/stream-usage/remove-added-usage-event.js';
import {
  addIncludeUsage,
  canRequestStreamUsage,
  shouldRequestStreamUsage,
} from '../metering/stream-usage/request-stream-usage.js';
import { type CallCost, type CallCostCalculator, toPerRequestCost } from '../pricing/call-cost-calculator.js';
import type { MaxCostInput } from '../pricing/max-cost.js';
import { type RequestFacts, RequestScanner, scanRequest } from '../scan/request-scanner.js';
import type { ResponseHead } from '../upstream/filter-response-head.js';
import type { CallMetering } from './call-metering-interface.js';
import { DeferredUsageCollector, type DeferredUsageSink } from './deferred-usage-collector.js';
import type { Exchange, RoutedExchange } from './exchange.js';
import { findCalledTool } from './mcp-call.js';
import type { BodyEdit } from './response-plan-types.js';

export class ProviderMetering implements CallMetering {
  readonly #prices: CallCostCalculator;
  readonly #deferredUsageSink: DeferredUsageSink;
  readonly #editedBodyBytesMax: number;

  /**
   * `editedBodyBytesMax`: a longer chat body streams unedited; its usage is estimated when the response does not report
   * it.
   */
  constructor(prices: CallCostCalculator, deferredUsageSink: DeferredUsageSink, editedBodyBytesMax: number) {
    this.#prices = prices;
    this.#deferredUsageSink = deferredUsageSink;
    this.#editedBodyBytesMax = editedBodyBytesMax;
  }

  requestBytesToBufferForEdit(exchange: RoutedExchange): number {
    return canAddUsageOption(exchange) ? this.#editedBodyBytesMax : 0;
  }

  scanAndEditRequestBody(exchange: RoutedExchange, body: Buffer): Buffer {
    if (canAddUsageOption(exchange)) {
      const { facts, edited } = addIncludeUsage(body);
      exchange.metering.requestModel = facts.model;
      exchange.metering.requestBlobBytes = facts.blobBytes;
      exchange.metering.addedUsageOption = edited !== null;
      return edited ?? body;
    }
    if (needsRequestScan(exchange)) {
      storeRequestFacts(
        exchange,
        scanRequest(body, findHeader(exchange, 'content-type'), isSpeechOrImageCall(exchange)),
      );
    }
    return body;
  }

  createRequestScanner(exchange: RoutedExchange): RequestScanner | null {
    return needsRequestScan(exchange)
      ? new RequestScanner(findHeader(exchange, 'content-type'), isSpeechOrImageCall(exchange))
      : null;
  }

  mustDropRangeHeaders({ request, routed: { target, upstream } }: RoutedExchange): boolean {
    const { usageFormat } = upstream;
    const fetchesUsage = usageFormat === 'openai' || usageFormat === 'anthropic';
    return fetchesUsage && needsWholeResponse(request.method, target.providerPath);
  }

  createMeterAndBodyEdit(exchange: RoutedExchange, head: ResponseHead): BodyEdit | null {
    if (exchange.metering.requestScanner !== null)
      storeRequestFacts(exchange, exchange.metering.requestScanner.facts());
    const { target, upstream } = exchange.routed;
    exchange.metering.meter = createMeter({
      usageFormat: upstream.usageFormat,
      method: exchange.request.method,
      path: target.providerPath,
      requestBytes: exchange.body?.bytes ?? 0,
      requestBlobBytes: exchange.metering.requestBlobBytes,
      requestModel: nameRequestModel(exchange),
      requestItemCount: exchange.metering.requestItemCount,
      requestedOutput: exchange.metering.requestedOutput,
      status: exchange.upstreamCall.status,
      contentType: head.mediaType,
      contentEncoding: head.contentEncoding,
      responseHeaders: head.headers,
      tokensOutMax: exchange.admission.reservedOutput?.isStatedByRequest
        ? exchange.admission.reservedOutput.tokens
        : null,
      toolCall: this.#findPricedToolCall(exchange),
      onDeferredUsage: mayHoldDeferredUsage(exchange) ? (line) => this.#addDeferredUsage(exchange, line) : null,
    });
    // A compressed response cannot be edited, so the caller sees the usage event that it did not ask for.
    const isCut =
      exchange.metering.addedUsageOption && head.mediaType === 'text/event-stream' && head.contentEncoding === '';
    return isCut ? new StreamUsageFilter() : null;
  }

  estimateUnanswered(exchange: RoutedExchange): UsageReading | null {
    if (exchange.metering.requestScanner !== null)
      storeRequestFacts(exchange, exchange.metering.requestScanner.facts());
    return estimateAbortedCall({
      usageFormat: exchange.routed.upstream.usageFormat,
      method: exchange.request.method,
      path: exchange.routed.target.providerPath,
      requestBytes: exchange.body?.bytes ?? 0,
      requestBlobBytes: exchange.metering.requestBlobBytes,
      requestModel: nameRequestModel(exchange),
      requestedOutput: exchange.metering.requestedOutput,
    });
  }

  #addDeferredUsage(exchange: RoutedExchange, line: DeferredUsageReading): void {
    exchange.metering.deferredUsage ??= new DeferredUsageCollector(
      toDeferredUsageCallFields(exchange),
      this.#deferredUsageSink,
    );
    // The price per request is charged for the call that fetches, not for each line.
    const { costNanos, source } = this.#prices.calculateUsageCost({
      upstream: exchange.routed.upstream,
      reading: line.reading,
    });
    exchange.metering.deferredUsage.add(line, costNanos, source);
  }

  /** Null: the call names no tool of an MCP server, or one without a price. */
  #findPricedToolCall(exchange: RoutedExchange): PricedToolCall | null {
    const tool = findCalledTool(exchange.admission.mcp);
    const price = tool === '' ? null : this.#prices.findToolPrice(exchange.routed.upstream.providerSlug, tool);
    const idText = exchange.admission.mcp?.message?.idText ?? null;
    return price === null || idText === null ? null : { idText, chargesErrors: price.chargesErrors };
  }

  maxCostNanos(exchange: RoutedExchange, call: MaxCostInput): number {
    if (exchange.admission.mcp !== null) return this.#toolNanos(exchange) ?? this.#requestNanos(exchange, call);
    return this.#prices.calculateMaxCostNanos(exchange.routed.upstream, call);
  }

  /** Null: no price for the tool that the call names. */
  #toolNanos(exchange: RoutedExchange): number | null {
    const tool = findCalledTool(exchange.admission.mcp);
    return tool === ''
      ? null
      : (this.#prices.findToolPrice(exchange.routed.upstream.providerSlug, tool)?.nanos ?? null);
  }

  /** A request to an MCP server is one unit. */
  #requestNanos({ routed: { upstream } }: RoutedExchange, call: MaxCostInput): number {
    return this.#prices.calculateMaxCostNanos(upstream, { ...call, units: 1 });
  }

  priceUsage(exchange: RoutedExchange, reading: UsageReading): CallCost {
    const toolNanos = this.#toolNanos(exchange);
    if (toolNanos !== null) return toPerRequestCost(toolNanos * reading.extras.units);
    return this.#prices.calculateCost({ upstream: exchange.routed.upstream, reading });
  }
}

/** Formats whose calls name their model in the path, whatever the body says. */
const NAMED_BY_PATH: ReadonlySet<string> = new Set(['gemini', 'bedrock']);

/** The model that the request names. Stored in the exchange, because the usage record of a failed call names it, too. */
function nameRequestModel({ request, metering, routed: { target, upstream } }: RoutedExchange): string | null {
  if (metering.requestModel !== null && !NAMED_BY_PATH.has(upstream.usageFormat)) return metering.requestModel;
  if (upstream.modelCalls.length === 0) return metering.requestModel;
  const location = locateCallModel(upstream, request.method, target.providerPath);
  if (location.startsWith('path'))
    metering.requestModel = parseModelFromPath(target.providerPath, location) ?? metering.requestModel;
  return metering.requestModel;
}

function storeRequestFacts(exchange: Exchange, { model, itemCount, requestedOutput, blobBytes }: RequestFacts): void {
  exchange.metering.requestModel = model;
  exchange.metering.requestItemCount = itemCount;
  exchange.metering.requestedOutput = requestedOutput;
  exchange.metering.requestBlobBytes = blobBytes;
}

/** Calls that some models bill by the request. */
function isSpeechOrImageCall({ routed: { target, upstream } }: RoutedExchange): boolean {
  if (upstream.usageFormat !== 'openai') return false;
  const path = normalizePath(target.providerPath);
  return isSpeechPath(path) || isImagePath(path);
}

/** True when the response may hold deferred usage: results of a batch, a background response, a deferred one, a run. */
function mayHoldDeferredUsage({ request, routed: { target } }: RoutedExchange): boolean {
  return request.method === 'GET' || /\/(?:responses|runs|chat\/completions)/.test(target.providerPath);
}

function toDeferredUsageCallFields({ request, admission, routed: { context, upstream } }: RoutedExchange) {
  return {
    recordId: request.id,
    orgId: context.orgId,
    projectId: context.projectId,
    agentId: context.agentId,
    keyId: context.keyId,
    providerSlug: upstream.providerSlug,
    startedAtMs: request.startedAtMs,
    month: calendarWindowAt('month', admission.result!.admittedAtSec).name,
    day: calendarWindowAt('day', admission.result!.admittedAtSec).name,
    runId: context.runIds[0] ?? '',
    tags: admission.tags.join(),
  };
}

/** True for formats whose requests state facts that the responses may lack. */
function needsRequestScan(exchange: RoutedExchange): boolean {
  const { usageFormat } = exchange.routed.upstream;
  return exchange.request.method === 'POST' && usageFormat !== 'none' && usageFormat !== 's3' && usageFormat !== 'mcp';
}

function canAddUsageOption(exchange: RoutedExchange): boolean {
  const { target, upstream } = exchange.routed;
  if (!shouldRequestStreamUsage(upstream.providerSlug)) return false;
  const { method } = exchange.request;
  return canRequestStreamUsage(
    method,
    target.providerPath,
    findHeader(exchange, 'content-type'),
    findHeader(exchange, 'content-encoding'),
  );
}

function findHeader(exchange: Exchange, name: string): string | null {
  const { headers } = exchange.request;
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1]!;
  return null;
}
