/**
 * Reads OpenAI's usage: chat, completions, responses, embeddings, images, audio. The last total above 0 wins.
 *
 * A queued background response has no usage; it is counted once by its id when a response brings its usage. Each line
 * of a batch's result file is counted the same way. Every other GET of a stored response is free, because it was
 * counted when created. A background stream truncated before its usage costs what was seen; a later fetch adds the
 * rest.
 */

import { compileJsonPaths, type JsonPathNode } from '../../scan/json-paths.js';
import { asJsonObject, type JsonObject, parseJsonObject, parseJsonString } from '../../scan/parse-json-text.js';
import { looksLikeDeltaEvent, looksLikeErrorEvent, startsWithType } from '../../scan/sse-delta-and-error-detection.js';
import { EVENT_DELTA, EVENT_ERROR, EVENT_PLAIN, type SseEventKind } from '../../scan/sse-parser.js';
import {
  createEmptyCounts,
  parseCount,
  parseOpenAiUsage,
  parseStatedCostNanos,
  type UsageCounts,
} from '../reading/provider-usage-to-token-counts.js';
import type { MeterOptions, UsageReading } from '../reading/response-usage-meter-interface.js';
import { AUDIO_IN_TOKENS_PER_SECOND, isVideoPath, normalizePath } from '../reading/token-estimates.js';
import {
  createJsonlReading,
  createUsageReading,
  type ObservedBody,
  sanitizeErrorName,
  type UsageReader,
} from '../reading/usage-reader-interface.js';
import { extractFileId, findDeferredCompletionId, isRunPath } from './openai-deferred-usage-paths.js';
import { HostedToolUsage } from './openai-hosted-tool-usage.js';
import {
  estimateUsage,
  isBillablePath,
  isLargeVideo,
  isTranscriptionPath,
  parseSeconds,
} from './openai-usage-estimate.js';

const USAGE = 0;
const MODEL = 1;
const TIER = 2;
const ERROR = 3;
const TYPE = 4;
const CODE = 5;
const BACKGROUND = 6;
const ID = 7;
const OUTPUT_TYPE = 8;
const CUSTOM_ID = 9;
const CONTAINER_ID = 10;
const MEMORY = 11;
const TOOL_MODEL = 12;
const TOOL_USAGE = 13;
const SECONDS = 14;
const SIZE = 15;
const ITEM = 16;
const DURATION = 17;
const STATUS = 18;
const MODEL_USAGE = 19;
const PAGES = 20;
const REQUEST_ID = 21;

const PATHS = compileJsonPaths({
  usage: USAGE,
  'response.usage': USAGE,
  'response.body.usage': USAGE, // one line of batch results
  'x_groq.usage': USAGE, // Groq, when include_usage was not requested
  'choices[].usage': USAGE, // Moonshot, in the last event of a stream
  usage_info: PAGES, // Mistral, documents read
  model: MODEL,
  'response.model': MODEL,
  'response.body.model': MODEL,
  service_tier: TIER,
  'response.service_tier': TIER,
  error: ERROR,
  'response.error': ERROR,
  type: TYPE,
  code: CODE,
  background: BACKGROUND,
  'response.background': BACKGROUND,
  id: ID,
  'response.id': ID,
  'output[].type': OUTPUT_TYPE,
  'response.output[].type': OUTPUT_TYPE,
  'response.body.output[].type': OUTPUT_TYPE,
  custom_id: CUSTOM_ID,
  request_id: REQUEST_ID, // of a deferred completion (xAI)
  'output[].container_id': CONTAINER_ID,
  'response.output[].container_id': CONTAINER_ID,
  'response.body.output[].container_id': CONTAINER_ID,
  'tools[].container.memory_limit': MEMORY,
  'response.tools[].container.memory_limit': MEMORY,
  'tools[].model': TOOL_MODEL,
  'response.tools[].model': TOOL_MODEL,
  tool_usage: TOOL_USAGE,
  'response.tool_usage': TOOL_USAGE,
  'response.body.tool_usage': TOOL_USAGE,
  seconds: SECONDS, // of a video
  size: SIZE,
  duration: DURATION, // of the audio input
  status: STATUS,
  'per_model_usage[]': MODEL_USAGE, // of an evaluation run
  'data[].url': ITEM, // images
  'data[].b64_json': ITEM,
});

const IMAGES_MAX = 100;
/** Maximum models in one evaluation run. */
const MODELS_MAX = 100;
/** Final statuses of a run; its usage does not change afterwards. */
const ENDED_STATUSES: ReadonlySet<string> = new Set([
  'completed',
  'failed',
  'canceled',
  'cancelled',
  'expired',
  'incomplete',
]);

export class OpenAiUsageReader implements UsageReader {
  readonly paths: JsonPathNode = PATHS;
  #counts: UsageCounts | null = null;
  /** Content deltas seen since the last usage. */
  #deltas = 0;
  /** Output before those deltas: deltas counted, or a usage report followed by more output. */
  #outBeforeDeltas = 0;
  #documents = 0;
  #model: string | null = null;
  #tier: string | null = null;
  #streamError: string | null = null;
  #background = false;
  #id: string | null = null;
  #requestId: string | null = null;
  #customId: string | null = null;
  #lineCount = 0;
  #hasDeferredUsage = false;
  // State of the current document:
  #hasUsage = false;
  #statedCostNanos: number | null = null;
  #type: string | null = null;
  #code: string | null = null;
  #error: string | null = null;
  readonly #tools = new HostedToolUsage();
  #videoSeconds = 0;
  #largeVideo = false;
  #audioInputSeconds = 0;
  #images = 0;
  #status: string | null = null;
  /** `per_model_usage` entries of an evaluation run, as JSON texts. */
  #modelUsage: string[] = [];

  shouldScan(kind: SseEventKind, mentionsUsage: boolean, bytes: Buffer, from: number, to: number): boolean {
    if (mentionsUsage || kind === EVENT_ERROR || this.#documents === 0) return true;
    if (from === to || bytes[from] !== 0x7b) return false; // [DONE]
    if (kind === EVENT_PLAIN && looksLikeErrorEvent(bytes, from, to)) return true;
    // Every chat chunk is content. Of the typed events only `….delta` is.
    if (kind === EVENT_DELTA || !startsWithType(bytes, from, to) || looksLikeDeltaEvent(bytes, from, to))
      this.#deltas++;
    return false;
  }

  onValue(slot: number, text: string | null): void {
    switch (slot) {
      case USAGE:
        this.#mergeUsage(text);
        return;
      case MODEL:
        this.#model = parseJsonString(text) ?? this.#model;
        return;
      case TIER:
        this.#tier = parseJsonString(text, 32) ?? this.#tier;
        return;
      case ERROR:
        if (text !== 'null') this.#error = parseErrorName(text);
        return;
      case TYPE:
        this.#type = parseJsonString(text, 64);
        return;
      case CODE:
        this.#code = parseJsonString(text, 64);
        return;
      case BACKGROUND:
        this.#background = text === 'true';
        return;
      case ID:
        this.#id = parseJsonString(text, 128);
        return;
      case REQUEST_ID:
        this.#requestId = parseJsonString(text, 128);
        return;
      case CONTAINER_ID:
        this.#tools.onContainer(text);
        return;
      case MEMORY:
        this.#tools.onMemoryLimit(text);
        return;
      case TOOL_MODEL:
        this.#tools.onToolModel(text);
        return;
      case TOOL_USAGE:
        this.#tools.onReportedUsage(text);
        return;
      case SECONDS:
        this.#videoSeconds = parseSeconds(text);
        return;
      case DURATION:
        this.#audioInputSeconds = parseSeconds(text);
        return;
      case SIZE:
        this.#largeVideo = isLargeVideo(parseJsonString(text, 32));
        return;
      case ITEM:
        if (text !== 'null') this.#images = Math.min(IMAGES_MAX, this.#images + 1);
        return;
      case STATUS:
        this.#status = parseJsonString(text, 32);
        return;
      case MODEL_USAGE:
        if (text !== null && this.#modelUsage.length < MODELS_MAX) this.#modelUsage.push(text);
        return;
      case PAGES:
        this.#addPages(parseJsonObject(text));
        return;
      case CUSTOM_ID:
        this.#customId = parseJsonString(text, 256);
        return;
      default:
        this.#tools.onOutputType(text);
    }
  }

  #mergeUsage(text: string | null): void {
    const usage = parseJsonObject(text);
    this.#statedCostNanos = (usage === null ? null : parseStatedCostNanos(usage)) ?? this.#statedCostNanos;
    const counts = usage === null ? null : parseOpenAiUsage(usage);
    if (counts === null || (this.#counts !== null && isEmpty(counts))) return;
    this.#outBeforeDeltas = Math.max(this.#outBeforeDeltas + this.#deltas, this.#counts?.out ?? 0);
    this.#counts = counts;
    this.#hasUsage = true;
    this.#deltas = 0;
  }

  #addPages(usage: JsonObject | null): void {
    const pages = parseCount(usage?.pages_processed);
    if (pages === null) return;
    this.#counts ??= createEmptyCounts();
    this.#counts.pages = pages;
    this.#hasUsage = true;
  }

  onDocumentEnd(kind: SseEventKind): void {
    if (this.#hasUsage && this.#counts !== null) {
      this.#tools.addTo(this.#counts);
    } else if (this.#documents > 0 && kind !== EVENT_ERROR && this.#error === null && this.#type === null) {
      this.#deltas++; // a chat chunk that only looked as if it had usage
    }
    if (this.#error !== null) this.#streamError = this.#error;
    else if (kind === EVENT_ERROR || this.#type === 'error') this.#streamError = sanitizeErrorName(this.#code);
    this.#documents++;
    this.#hasUsage = false;
    this.#type = null;
    this.#code = null;
    this.#error = null;
    this.#tools.reset();
  }

  /** One line of a batch's results has ended. A failed line has no usage. */
  onLineEnd({ path, onDeferredUsage }: MeterOptions): void {
    this.#lineCount++;
    if (this.#counts !== null && onDeferredUsage !== null) {
      this.#hasDeferredUsage = true;
      onDeferredUsage({
        sourceId: extractFileId(normalizePath(path)),
        lineId: this.#id ?? this.#customId ?? `#${this.#lineCount}`,
        isPartial: false,
        reading: createUsageReading(this.#counts, 'reported', this.#model, { serviceTier: 'batch' }),
      });
    }
    this.#counts = null;
    this.#model = null;
    this.#id = null;
    this.#customId = null;
  }

  tokensOutSeen(): number {
    if (this.#deltas === 0) return this.#outBeforeDeltas;
    return Math.max(this.#outBeforeDeltas, this.#counts?.out ?? 0) + this.#deltas;
  }

  createReading(body: ObservedBody): UsageReading {
    const { options } = body;
    const model = this.#model ?? options.requestModel;
    const streamError = body.kind === 'events' ? this.#streamError : null;
    // A stored response that is fetched was counted when it was created.
    const statedCostNanos = options.method === 'POST' ? this.#statedCostNanos : null;
    const details = { streamError, serviceTier: this.#tier, statedCostNanos };
    if (body.kind === 'jsonl') return createJsonlReading(body, this.#hasDeferredUsage);
    const { onDeferredUsage } = options;
    const path = normalizePath(options.path);
    if (onDeferredUsage !== null && isRunPath(path)) return this.#createRunReading(onDeferredUsage, model, details);
    const requestId = this.#id === null && this.#counts === null ? this.#requestId : null;
    const sourceId = this.#background ? (this.#id ?? path) : findDeferredCompletionId(path, options.method, requestId);
    if (sourceId !== null && onDeferredUsage !== null) {
      const source = this.#counts !== null ? 'reported' : 'estimated';
      const counts = this.#counts ?? (this.#background ? this.#estimatePartialBackground(body) : this.#estimate(body));
      if (counts === null) return createUsageReading(createEmptyCounts(), 'none', model, { streamError });
      const reading = createUsageReading(counts, source, model, details);
      onDeferredUsage({ sourceId, lineId: '', isPartial: source === 'estimated', reading });
      return createUsageReading(createEmptyCounts(), source, model, { streamError });
    }
    if (options.method !== 'POST') return createUsageReading(createEmptyCounts(), 'none', model, details);
    if (this.#counts !== null) {
      if (body.isComplete || this.#deltas === 0) return createUsageReading(this.#counts, 'reported', model, details);
      this.#counts.out += this.#deltas;
      return createUsageReading(this.#counts, 'partial', model, details);
    }
    if (options.method === 'POST' && this.#isBilledBySeconds(path)) {
      return createUsageReading(this.#createSecondsCounts(), 'reported', model, details);
    }
    const estimate = this.#estimate(body);
    return createUsageReading(
      estimate ?? createEmptyCounts(),
      estimate === null ? 'none' : 'estimated',
      model,
      details,
    );
  }

  /**
   * Reading of an assistant or evaluation run. Every fetch of an ended run reports its usage, so it is deferred usage.
   */
  #createRunReading(
    onDeferredUsage: NonNullable<MeterOptions['onDeferredUsage']>,
    model: string | null,
    details: Parameters<typeof createUsageReading>[3],
  ): UsageReading {
    const sourceId = this.#id;
    const report = (lineId: string, counts: UsageCounts, model: string | null): void => {
      const reading = createUsageReading(counts, 'reported', model, details);
      onDeferredUsage({ sourceId: sourceId!, lineId, isPartial: false, reading });
    };
    let hasUsage = false;
    if (sourceId !== null && this.#status !== null && ENDED_STATUSES.has(this.#status)) {
      // Steps of a run report usage, too, which is part of the run's usage.
      if (this.#counts !== null && sourceId.startsWith('run_')) {
        report('', this.#counts, model);
        hasUsage = true;
      }
      for (const text of this.#modelUsage) {
        const usage = parseJsonObject(text);
        const counts = usage === null ? null : parseOpenAiUsage(usage);
        if (counts === null) continue;
        const name = typeof usage!.model_name === 'string' ? usage!.model_name.slice(0, 256) : '';
        report(name, counts, name || null);
        hasUsage = true;
      }
    }
    return createUsageReading(createEmptyCounts(), hasUsage ? 'reported' : 'none', model, details);
  }

  /** Estimates a background response without usage. Null: it is still queued, or it generated nothing. */
  #estimatePartialBackground(body: ObservedBody): UsageCounts | null {
    return body.kind === 'events' && this.#deltas > 0
      ? estimateUsage(normalizePath(body.options.path), body, this.#deltas, 0)
      : null;
  }

  #estimate(body: ObservedBody): UsageCounts | null {
    const path = normalizePath(body.options.path);
    const isEvents = body.kind === 'events';
    if (!isEvents && !isBillablePath(path)) return null;
    if (isEvents && this.#streamError !== null && this.#deltas === 0) return null; // failed before any output
    return estimateUsage(path, body, this.#deltas, this.#images);
  }

  /** Whether the response states the length of the video or of the audio input. */
  #isBilledBySeconds(path: string): boolean {
    return isVideoPath(path) ? this.#videoSeconds > 0 : isTranscriptionPath(path) && this.#audioInputSeconds > 0;
  }

  #createSecondsCounts(): UsageCounts {
    const counts = createEmptyCounts();
    counts.videoSeconds = this.#videoSeconds;
    counts.largeVideo = this.#largeVideo;
    counts.audioSeconds = this.#audioInputSeconds;
    // For models with a price per token instead.
    counts.inUncached = counts.audioIn = Math.ceil(this.#audioInputSeconds * AUDIO_IN_TOKENS_PER_SECOND);
    return counts;
  }
}

/** Whether the totals are 0: some servers send such usage after the real one. */
const isEmpty = ({ inUncached, cacheRead, cacheWrite, out, audioSeconds }: UsageCounts): boolean =>
  inUncached + cacheRead + cacheWrite + out + audioSeconds === 0;

function parseErrorName(text: string | null): string {
  const error = asJsonObject(parseJsonObject(text));
  return sanitizeErrorName(error?.type ?? error?.code ?? parseJsonString(text));
}
