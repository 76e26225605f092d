/**
 * OpenAI's usage: chat, completions, responses, embeddings, images, audio; streamed and not. The last total seen wins.
 *
 * A background response has no usage when it is queued; it is counted when an answer brings it, once for ever by its id;
 * so is each line of a batch's results when their file is fetched. Any other GET of a stored answer is free: it was
 * counted when it was made. A background stream that is cut off before its usage costs what was seen of it, and a fetch
 * of it the rest.
 */

import { startsLikeDelta, startsLikeError, startsWithType } from '../scan/event-data.js';
import { asObject, parseObject, parseString } from '../scan/json-text.js';
import { compilePaths, type ScanNode } from '../scan/scan-paths.js';
import { EVENT_DELTA, EVENT_ERROR, EVENT_PLAIN, type EventKind } from '../scan/sse-framer.js';
import { HEARD_TOKENS_PER_SECOND, isVideo, plainPath } from './estimate.js';
import { HostedTools } from './hosted-tools.js';
import type { MeterOptions, UsageReading } from './meter.js';
import { estimateOf, isGenerating, isHearing } from './openai-estimate.js';
import { type Counts, emptyCounts, openaiCounts, partOf, TOKENS_MAX } from './usage-fields.js';
import { type BodyFacts, errorName, linesReading, readingOf, type UsageReader } from './usage-reader.js';

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

const PATHS = compilePaths({
  usage: USAGE,
  'response.usage': USAGE,
  'response.body.usage': USAGE, // a line of a batch's results
  'x_groq.usage': USAGE, // Groq, where include_usage was not asked for
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
  duration: DURATION, // of what was heard
  status: STATUS,
  'per_model_usage[]': MODEL_USAGE, // of a run of an evaluation
  'data[].url': ITEM, // images
  'data[].b64_json': ITEM,
});

const LARGE_VIDEO_PIXELS = 1_024 * 1_024;
const IMAGES_MAX = 100;
/** That one run of an evaluation uses. */
const MODELS_MAX = 100;
/** A run that has ended: its usage does not change any more. */
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'canceled', 'cancelled', 'expired', 'incomplete']);

export class OpenAiReader implements UsageReader {
  readonly paths: ScanNode = PATHS;
  #counts: Counts | null = null;
  /** Pieces of content seen since the last usage. */
  #deltas = 0;
  /** Output before those: pieces, or a report that more came after. */
  #outBefore = 0;
  #documents = 0;
  #model: string | null = null;
  #tier: string | null = null;
  #streamError: string | null = null;
  #background = false;
  #id: string | null = null;
  #customId: string | null = null;
  #lines = 0;
  #counted = false;
  // Of the current document:
  #hasUsage = false;
  #type: string | null = null;
  #code: string | null = null;
  #error: string | null = null;
  readonly #tools = new HostedTools();
  #videoSeconds = 0;
  #largeVideo = false;
  #heardSeconds = 0;
  #images = 0;
  #status: string | null = null;
  /** Of a run of an evaluation, as it stands there. */
  #modelUsage: string[] = [];

  wants(kind: EventKind, mentionsUsage: boolean, bytes: Buffer, from: number, to: number): boolean {
    if (mentionsUsage || kind === EVENT_ERROR || this.#documents === 0) return true;
    if (bytes[from] !== 0x7b) return false; // [DONE]
    if (kind === EVENT_PLAIN && startsLikeError(bytes, from, to)) return true;
    // Every chat chunk is content; of the typed events only `….delta` is.
    if (kind === EVENT_DELTA || !startsWithType(bytes, from, to) || startsLikeDelta(bytes, from, to)) this.#deltas++;
    return false;
  }

  value(slot: number, text: string | null): void {
    switch (slot) {
      case USAGE:
        this.#usage(text);
        return;
      case MODEL:
        this.#model = parseString(text) ?? this.#model;
        return;
      case TIER:
        this.#tier = parseString(text, 32) ?? this.#tier;
        return;
      case ERROR:
        if (text !== 'null') this.#error = errorOf(text);
        return;
      case TYPE:
        this.#type = parseString(text, 64);
        return;
      case CODE:
        this.#code = parseString(text, 64);
        return;
      case BACKGROUND:
        this.#background = text === 'true';
        return;
      case ID:
        this.#id = parseString(text, 128);
        return;
      case CONTAINER_ID:
        this.#tools.container(text);
        return;
      case MEMORY:
        this.#tools.memory(text);
        return;
      case TOOL_MODEL:
        this.#tools.toolModel(text);
        return;
      case TOOL_USAGE:
        this.#tools.usage(text);
        return;
      case SECONDS:
        this.#videoSeconds = secondsOf(text);
        return;
      case DURATION:
        this.#heardSeconds = secondsOf(text);
        return;
      case SIZE:
        this.#largeVideo = isLarge(parseString(text, 32));
        return;
      case ITEM:
        if (text !== 'null') this.#images = Math.min(IMAGES_MAX, this.#images + 1);
        return;
      case STATUS:
        this.#status = parseString(text, 32);
        return;
      case MODEL_USAGE:
        if (text !== null && this.#modelUsage.length < MODELS_MAX) this.#modelUsage.push(text);
        return;
      case CUSTOM_ID:
        this.#customId = parseString(text, 256);
        return;
      default:
        this.#tools.outputType(text);
    }
  }

  #usage(text: string | null): void {
    const usage = parseObject(text);
    const counts = usage === null ? null : openaiCounts(usage);
    if (counts === null) return;
    this.#outBefore = Math.max(this.#outBefore + this.#deltas, this.#counts?.out ?? 0);
    this.#counts = counts;
    this.#hasUsage = true;
    this.#deltas = 0;
  }

  documentEnd(kind: EventKind): void {
    if (this.#hasUsage && this.#counts !== null) {
      this.#tools.addTo(this.#counts);
    } else if (this.#documents > 0 && kind !== EVENT_ERROR && this.#error === null && this.#type === null) {
      this.#deltas++; // a chat chunk that only looked as if it had usage
    }
    if (this.#error !== null) this.#streamError = this.#error;
    else if (kind === EVENT_ERROR || this.#type === 'error') this.#streamError = errorName(this.#code);
    this.#documents++;
    this.#hasUsage = false;
    this.#type = null;
    this.#code = null;
    this.#error = null;
    this.#tools.clear();
  }

  /** One line of a batch's results has ended. A line that failed has no usage. */
  lineEnd({ path, countOnce }: MeterOptions): void {
    this.#lines++;
    if (this.#counts !== null && countOnce !== null) {
      this.#counted = true;
      countOnce({
        sourceId: fileOf(plainPath(path)),
        lineId: this.#id ?? this.#customId ?? `#${this.#lines}`,
        partial: false,
        reading: readingOf(this.#counts, 'reported', this.#model, { serviceTier: 'batch' }),
      });
    }
    this.#counts = null;
    this.#model = null;
    this.#id = null;
    this.#customId = null;
  }

  tokensOutSeen(): number {
    if (this.#deltas === 0) return this.#outBefore;
    return Math.max(this.#outBefore, this.#counts?.out ?? 0) + this.#deltas;
  }

  reading(facts: BodyFacts): UsageReading {
    const { options } = facts;
    const model = this.#model ?? options.requestModel;
    const streamError = facts.kind === 'events' ? this.#streamError : null;
    const more = { streamError, serviceTier: this.#tier };
    if (facts.kind === 'lines') return linesReading(facts, this.#counted);
    const { countOnce } = options;
    if (countOnce !== null && isRun(plainPath(options.path))) return this.#runReading(countOnce, model, more);
    if (this.#background && countOnce !== null) {
      const source = this.#counts !== null ? 'reported' : 'estimated';
      const counts = this.#counts ?? this.#seenOf(facts);
      if (counts === null) return readingOf(emptyCounts(), 'none', model, { streamError });
      const reading = readingOf(counts, source, model, more);
      const sourceId = this.#id ?? plainPath(options.path);
      countOnce({ sourceId, lineId: '', partial: source === 'estimated', reading });
      return readingOf(emptyCounts(), source, model, { streamError });
    }
    if (options.method !== 'POST') return readingOf(emptyCounts(), 'none', model, more);
    if (this.#counts !== null) {
      if (facts.complete || this.#deltas === 0) return readingOf(this.#counts, 'reported', model, more);
      this.#counts.out += this.#deltas;
      return readingOf(this.#counts, 'partial', model, more);
    }
    if (options.method === 'POST' && this.#bySeconds(plainPath(options.path))) {
      return readingOf(this.#secondsCounts(), 'reported', model, more);
    }
    const estimate = this.#estimate(facts);
    return readingOf(estimate ?? emptyCounts(), estimate === null ? 'none' : 'estimated', model, more);
  }

  /** Runs of assistants and evaluations: what they used is stated when they have ended, to whoever fetches them. */
  #runReading(
    countOnce: NonNullable<MeterOptions['countOnce']>,
    model: string | null,
    more: Parameters<typeof readingOf>[3],
  ): UsageReading {
    const sourceId = this.#id;
    const count = (lineId: string, counts: Counts, model: string | null): void => {
      const reading = readingOf(counts, 'reported', model, more);
      countOnce({ sourceId: sourceId!, lineId, partial: false, reading });
    };
    let counted = false;
    if (sourceId !== null && this.#status !== null && ENDED.has(this.#status)) {
      // Steps of a run have usage, too: it is part of the run's.
      if (this.#counts !== null && sourceId.startsWith('run_')) {
        count('', this.#counts, model);
        counted = true;
      }
      for (const text of this.#modelUsage) {
        const usage = parseObject(text);
        const counts = usage === null ? null : openaiCounts(usage);
        if (counts === null) continue;
        counts.cacheRead = partOf(usage!.cached_tokens, counts.inUncached);
        counts.inUncached -= counts.cacheRead;
        const name = typeof usage!.model_name === 'string' ? usage!.model_name.slice(0, 256) : '';
        count(name, counts, name || null);
        counted = true;
      }
    }
    return readingOf(emptyCounts(), counted ? 'reported' : 'none', model, more);
  }

  /** Of a background answer that has not come to its usage; null: it waits, or nothing was made. */
  #seenOf(facts: BodyFacts): Counts | null {
    return facts.kind === 'events' && this.#deltas > 0
      ? estimateOf(plainPath(facts.options.path), facts, this.#deltas, 0)
      : null;
  }

  #estimate(facts: BodyFacts): Counts | null {
    const path = plainPath(facts.options.path);
    const isEvents = facts.kind === 'events';
    if (!isEvents && !isGenerating(path)) return null;
    if (isEvents && this.#streamError !== null && this.#deltas === 0) return null; // it failed before anything was made
    return estimateOf(path, facts, this.#deltas, this.#images);
  }

  /** The answer itself says how long a video will be, or how long was listened to. */
  #bySeconds(path: string): boolean {
    return isVideo(path) ? this.#videoSeconds > 0 : isHearing(path) && this.#heardSeconds > 0;
  }

  #secondsCounts(): Counts {
    const counts = emptyCounts();
    counts.videoSeconds = this.#videoSeconds;
    counts.largeVideo = this.#largeVideo;
    counts.audioSeconds = this.#heardSeconds;
    // Where the model has a price by the token instead.
    counts.inUncached = counts.audioIn = Math.ceil(this.#heardSeconds * HEARD_TOKENS_PER_SECOND);
    return counts;
  }
}

/** A run itself, fetched or streamed; not the list of runs, nor its steps. */
const isRun = (path: string): boolean =>
  /\/threads\/(?:[^/]+\/)?runs(?:\/[^/]+(?:\/submit_tool_outputs)?)?$/.test(path) ||
  /\/evals\/[^/]+\/runs\/[^/]+$/.test(path);

/** `text`: JSON, a number or a string of one. */
function secondsOf(text: string | null): number {
  const seconds = Number(parseString(text, 32) ?? text);
  return seconds > 0 && seconds <= TOKENS_MAX ? Math.ceil(seconds) : 0;
}

/** `1792x1024`. */
function isLarge(size: string | null): boolean {
  const [width, height] = (size ?? '').split('x').map(Number);
  return (width ?? 0) * (height ?? 0) > LARGE_VIDEO_PIXELS;
}

function errorOf(text: string | null): string {
  const error = asObject(parseObject(text));
  return errorName(error?.type ?? error?.code ?? parseString(text));
}

/** `file-…` of `/v1/files/file-…/content`. */
const fileOf = (path: string): string => path.split('/').at(-2) ?? '';
