/**
 * Reads Anthropic's usage. Unstreamed: one `usage` object. Streamed: message_start has the input figures, each
 * message_delta cumulative output; they are merged, never added. count_tokens is free. Results of a message batch (one
 * JSON document per line) are counted when fetched, each line once for ever.
 */

import { compileJsonPaths, type JsonPathNode } from '../../scan/json-paths.js';
import { asJsonObject, parseJsonObject, parseJsonString } from '../../scan/parse-json-text.js';
import { looksLikeDeltaEvent, looksLikeErrorEvent } from '../../scan/sse-delta-and-error-detection.js';
import { EVENT_DELTA, EVENT_ERROR, EVENT_PLAIN, type SseEventKind } from '../../scan/sse-parser.js';
import { createEmptyCounts, mergeAnthropicUsage } from '../reading/provider-usage-to-token-counts.js';
import type { MeterOptions, UsageReading } from '../reading/response-usage-meter-interface.js';
import {
  estimateCompressedEventTokens,
  estimateCompressedTextTokens,
  estimateRequestTokens,
  estimateTextTokens,
  isMessagePath,
  normalizePath,
} from '../reading/token-estimates.js';
import {
  createJsonlReading,
  createUsageReading,
  type ObservedBody,
  sanitizeErrorName,
  type UsageReader,
} from '../reading/usage-reader-interface.js';

const USAGE = 0;
const MODEL = 1;
const TYPE = 2;
const ERROR = 3;
const CUSTOM_ID = 4;

const PATHS = compileJsonPaths({
  usage: USAGE,
  'message.usage': USAGE,
  'result.message.usage': USAGE,
  model: MODEL,
  'message.model': MODEL,
  'result.message.model': MODEL,
  type: TYPE,
  error: ERROR,
  custom_id: CUSTOM_ID,
});

/** Bytes around a piece of text. */
const DELTA_ENVELOPE_BYTES = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}'.length;

export class AnthropicUsageReader implements UsageReader {
  readonly paths: JsonPathNode = PATHS;
  #counts = createEmptyCounts();
  #hasInput = false;
  #hasFinalOutput = false;
  /** Content deltas seen since the last cumulative figure. */
  #deltas = 0;
  #deltaBytes = 0;
  /** Output before those deltas. */
  #outBeforeDeltas = 0;
  #documents = 0;
  #model: string | null = null;
  #tier: string | null = null;
  #speed: string | null = null;
  #geo: string | null = null;
  #streamError: string | null = null;
  #type: string | null = null;
  #error: string | null = null;
  #hasUsage: boolean = false;
  #customId: string | null = null;
  #lineCount = 0;
  #hasDeferredUsage = false;

  shouldScan(kind: SseEventKind, mentionsUsage: boolean, bytes: Buffer, from: number, to: number): boolean {
    if (kind === EVENT_PLAIN && !mentionsUsage && looksLikeErrorEvent(bytes, from, to)) return true;
    if (kind === EVENT_DELTA || (kind === EVENT_PLAIN && !mentionsUsage && looksLikeDeltaEvent(bytes, from, to))) {
      this.#deltas++;
      this.#deltaBytes += Math.max(0, to - from - DELTA_ENVELOPE_BYTES);
      return false;
    }
    return mentionsUsage || kind === EVENT_ERROR || this.#documents === 0;
  }

  onValue(slot: number, text: string | null): void {
    if (slot === MODEL) this.#model ??= parseJsonString(text);
    else if (slot === TYPE) this.#type = parseJsonString(text, 64);
    else if (slot === ERROR && text !== 'null')
      this.#error = sanitizeErrorName(asJsonObject(parseJsonObject(text))?.type);
    else if (slot === USAGE) this.#mergeUsage(text);
    else if (slot === CUSTOM_ID) this.#customId = parseJsonString(text);
  }

  #mergeUsage(text: string | null): void {
    const usage = parseJsonObject(text);
    if (usage === null || !mergeAnthropicUsage(this.#counts, usage)) return;
    this.#hasUsage = true;
    this.#tier = stringOrDefault(usage.service_tier, this.#tier);
    this.#speed = stringOrDefault(usage.speed, this.#speed);
    this.#geo = stringOrDefault(usage.inference_geo, this.#geo);
  }

  onDocumentEnd(kind: SseEventKind): void {
    if (this.#hasUsage) {
      this.#hasInput = true;
      if (this.#type !== 'message_start') {
        this.#hasFinalOutput = true;
        this.#outBeforeDeltas += this.#deltas;
        this.#deltas = 0;
        this.#deltaBytes = 0;
      }
    }
    if (kind === EVENT_ERROR || this.#type === 'error') this.#streamError = this.#error ?? 'error';
    this.#documents++;
    this.#hasUsage = false;
    this.#type = null;
    this.#error = null;
  }

  /** One line of a batch's results has ended. A failed line has no usage. */
  onLineEnd({ path, onDeferredUsage }: MeterOptions): void {
    this.#lineCount++;
    if (this.#hasInput && onDeferredUsage !== null) {
      const details = { serviceTier: 'batch', speed: this.#speed, inferenceGeo: this.#geo };
      this.#hasDeferredUsage = true;
      onDeferredUsage({
        sourceId: extractBatchId(normalizePath(path)),
        lineId: this.#customId ?? `#${this.#lineCount}`,
        isPartial: false,
        reading: createUsageReading(this.#counts, 'reported', this.#model, details),
      });
    }
    this.#counts = createEmptyCounts();
    this.#hasInput = false;
    this.#hasFinalOutput = false;
    this.#customId = null;
    this.#model = null;
    this.#speed = null;
    this.#geo = null;
  }

  tokensOutSeen({ tokensOutMax }: MeterOptions): number {
    if (this.#deltas === 0) return this.#outBeforeDeltas;
    const before = this.#hasFinalOutput ? Math.max(this.#outBeforeDeltas, this.#counts.out) : this.#outBeforeDeltas;
    return before + this.#estimateDeltaTokens(tokensOutMax);
  }

  /**
   * Estimates tokens of the deltas. Each delta is at least one token; the byte estimate is capped by the request's
   * maximum.
   */
  #estimateDeltaTokens(tokensOutMax: number | null): number {
    const byBytes = estimateTextTokens(this.#deltaBytes);
    return Math.max(this.#deltas, Math.min(byBytes, tokensOutMax ?? byBytes));
  }

  createReading(body: ObservedBody): UsageReading {
    const { options } = body;
    if (body.kind === 'jsonl') return createJsonlReading(body, this.#hasDeferredUsage);
    const path = normalizePath(options.path);
    const model = this.#model ?? options.requestModel;
    const details = {
      streamError: body.kind === 'events' ? this.#streamError : null,
      serviceTier: this.#tier,
      speed: this.#speed,
      inferenceGeo: this.#geo,
    };
    const isGenerating = isMessagePath(path) || body.kind === 'events';
    if (options.method !== 'POST' || !isGenerating)
      return createUsageReading(createEmptyCounts(), 'none', model, details);
    if (this.#hasFinalOutput && (body.isComplete || this.#deltas === 0)) {
      return createUsageReading(this.#counts, 'reported', model, details);
    }
    if (!this.#hasInput && this.#streamError !== null && this.#deltas === 0) {
      return createUsageReading(createEmptyCounts(), 'none', model, details);
    }
    return this.#createEstimate(body, model, details);
  }

  #createEstimate(
    body: ObservedBody,
    model: string | null,
    details: Parameters<typeof createUsageReading>[3],
  ): UsageReading {
    const counts = this.#counts;
    if (!this.#hasInput)
      counts.inUncached = estimateRequestTokens(body.options.requestBytes, body.options.requestBlobBytes);
    const { tokensOutMax } = body.options;
    const deltaTokens = this.#estimateDeltaTokens(tokensOutMax) + estimateCompressedEventTokens(body.encodedBytes);
    if (body.kind !== 'events') {
      const tokens = estimateTextTokens(body.bytes) + estimateCompressedTextTokens(body.encodedBytes);
      counts.out = Math.min(tokens, tokensOutMax ?? tokens);
    } else if (this.#hasFinalOutput) counts.out += deltaTokens;
    else counts.out = Math.max(counts.out, deltaTokens);
    return createUsageReading(counts, this.#hasInput ? 'partial' : 'estimated', model, details);
  }
}

const stringOrDefault = (value: unknown, fallback: string | null): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, 32) : fallback;

/** Extracts `msgbatch_…` from `/v1/messages/batches/msgbatch_…/results`. */
const extractBatchId = (path: string): string => path.split('/').at(-2) ?? '';
