/**
 * Anthropic's usage. Unstreamed: one `usage`. Streamed: message_start has the input figures, each message_delta the
 * output so far (cumulative): merged, never added. count_tokens is free. The results of a message batch (one JSON
 * document a line) are counted when they are fetched, each line once for ever.
 */

import { startsLikeDelta, startsLikeError } from '../scan/event-data.js';
import { asObject, parseObject, parseString } from '../scan/json-text.js';
import { compilePaths, type ScanNode } from '../scan/scan-paths.js';
import { EVENT_DELTA, EVENT_ERROR, EVENT_PLAIN, type EventKind } from '../scan/sse-framer.js';
import { encodedEventTokens, encodedTextTokens, plainPath, requestTokens, textTokens } from './estimate.js';
import type { MeterOptions, UsageReading } from './meter.js';
import { emptyCounts, mergeAnthropicCounts } from './usage-fields.js';
import { type BodyFacts, errorName, linesReading, readingOf, type UsageReader } from './usage-reader.js';

const USAGE = 0;
const MODEL = 1;
const TYPE = 2;
const ERROR = 3;
const CUSTOM_ID = 4;

const PATHS = compilePaths({
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

/** What surrounds a piece of text. */
const DELTA_ENVELOPE_BYTES = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}'.length;

export class AnthropicReader implements UsageReader {
  readonly paths: ScanNode = PATHS;
  #counts = emptyCounts();
  #hasInput = false;
  #hasFinalOutput = false;
  /** Content seen since the last cumulative figure. */
  #deltas = 0;
  #deltaBytes = 0;
  /** Output before that. */
  #outBefore = 0;
  #documents = 0;
  #model: string | null = null;
  #tier: string | null = null;
  #speed: string | null = null;
  #geo: string | null = null;
  #streamError: string | null = null;
  #type: string | null = null;
  #error: string | null = null;
  #usage: boolean = false;
  #customId: string | null = null;
  #lines = 0;
  #counted = false;

  wants(kind: EventKind, mentionsUsage: boolean, bytes: Buffer, from: number, to: number): boolean {
    if (kind === EVENT_PLAIN && !mentionsUsage && startsLikeError(bytes, from, to)) return true;
    if (kind === EVENT_DELTA || (kind === EVENT_PLAIN && !mentionsUsage && startsLikeDelta(bytes, from, to))) {
      this.#deltas++;
      this.#deltaBytes += Math.max(0, to - from - DELTA_ENVELOPE_BYTES);
      return false;
    }
    return mentionsUsage || kind === EVENT_ERROR || this.#documents === 0;
  }

  value(slot: number, text: string | null): void {
    if (slot === MODEL) this.#model ??= parseString(text);
    else if (slot === TYPE) this.#type = parseString(text, 64);
    else if (slot === ERROR && text !== 'null') this.#error = errorName(asObject(parseObject(text))?.type);
    else if (slot === USAGE) this.#merge(text);
    else if (slot === CUSTOM_ID) this.#customId = parseString(text);
  }

  #merge(text: string | null): void {
    const usage = parseObject(text);
    if (usage === null || !mergeAnthropicCounts(this.#counts, usage)) return;
    this.#usage = true;
    this.#tier = stringOr(usage.service_tier, this.#tier);
    this.#speed = stringOr(usage.speed, this.#speed);
    this.#geo = stringOr(usage.inference_geo, this.#geo);
  }

  documentEnd(kind: EventKind): void {
    if (this.#usage) {
      this.#hasInput = true;
      if (this.#type !== 'message_start') {
        this.#hasFinalOutput = true;
        this.#outBefore += this.#deltas;
        this.#deltas = 0;
        this.#deltaBytes = 0;
      }
    }
    if (kind === EVENT_ERROR || this.#type === 'error') this.#streamError = this.#error ?? 'error';
    this.#documents++;
    this.#usage = false;
    this.#type = null;
    this.#error = null;
  }

  /** One line of a batch's results has ended. A line that failed has no usage. */
  lineEnd({ path, countOnce }: MeterOptions): void {
    this.#lines++;
    if (this.#hasInput && countOnce !== null) {
      const more = { serviceTier: 'batch', speed: this.#speed, inferenceGeo: this.#geo };
      this.#counted = true;
      countOnce({
        sourceId: batchOf(plainPath(path)),
        lineId: this.#customId ?? `#${this.#lines}`,
        partial: false,
        reading: readingOf(this.#counts, 'reported', this.#model, more),
      });
    }
    this.#counts = emptyCounts();
    this.#hasInput = false;
    this.#hasFinalOutput = false;
    this.#customId = null;
    this.#model = null;
    this.#speed = null;
    this.#geo = null;
  }

  tokensOutSeen({ tokensOutMax }: MeterOptions): number {
    if (this.#deltas === 0) return this.#outBefore;
    const before = this.#hasFinalOutput ? Math.max(this.#outBefore, this.#counts.out) : this.#outBefore;
    return before + this.#deltaTokens(tokensOutMax);
  }

  /** Each piece is a token at least; what bytes say is a guess, which the request's own maximum overrules. */
  #deltaTokens(tokensOutMax: number | null): number {
    const byBytes = textTokens(this.#deltaBytes);
    return Math.max(this.#deltas, Math.min(byBytes, tokensOutMax ?? byBytes));
  }

  reading(facts: BodyFacts): UsageReading {
    const { options } = facts;
    if (facts.kind === 'lines') return linesReading(facts, this.#counted);
    const path = plainPath(options.path);
    const model = this.#model ?? options.requestModel;
    const more = {
      streamError: facts.kind === 'events' ? this.#streamError : null,
      serviceTier: this.#tier,
      speed: this.#speed,
      inferenceGeo: this.#geo,
    };
    const isGenerating = path.endsWith('/messages') || path.endsWith('/complete') || facts.kind === 'events';
    if (options.method !== 'POST' || !isGenerating) return readingOf(emptyCounts(), 'none', model, more);
    if (this.#hasFinalOutput && (facts.complete || this.#deltas === 0)) {
      return readingOf(this.#counts, 'reported', model, more);
    }
    if (!this.#hasInput && this.#streamError !== null && this.#deltas === 0) {
      return readingOf(emptyCounts(), 'none', model, more);
    }
    return this.#estimated(facts, model, more);
  }

  #estimated(facts: BodyFacts, model: string | null, more: Parameters<typeof readingOf>[3]): UsageReading {
    const counts = this.#counts;
    if (!this.#hasInput) counts.inUncached = requestTokens(facts.options.requestBytes, facts.options.requestBlobBytes);
    const { tokensOutMax } = facts.options;
    const deltaTokens = this.#deltaTokens(tokensOutMax) + encodedEventTokens(facts.encodedBytes);
    if (facts.kind !== 'events') {
      const tokens = textTokens(facts.bytes) + encodedTextTokens(facts.encodedBytes);
      counts.out = Math.min(tokens, tokensOutMax ?? tokens);
    } else if (this.#hasFinalOutput) counts.out += deltaTokens;
    else counts.out = Math.max(counts.out, deltaTokens);
    return readingOf(counts, this.#hasInput ? 'partial' : 'estimated', model, more);
  }
}

const stringOr = (value: unknown, otherwise: string | null): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, 32) : otherwise;

/** `msgbatch_…` of `/v1/messages/batches/msgbatch_…/results`. */
const batchOf = (path: string): string => path.split('/').at(-2) ?? '';
