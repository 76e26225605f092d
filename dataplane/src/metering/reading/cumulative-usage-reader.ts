/**
 * Base of the readers for formats whose usage objects hold totals so far, so that the last one counts (Gemini, Bedrock,
 * Cohere). A response without usage is estimated: a stream by the output seen, a document by its bytes. A subclass knows
 * the members to read and the calls that are billed.
 */
import type { JsonPathNode } from '../../scan/json-paths.js';
import { VALUE_BYTES_MAX } from '../../scan/json-scanner.js';
import { EVENT_ERROR, type SseEventKind } from '../../scan/sse-parser.js';
import { createEmptyCounts, type UsageCounts } from './provider-usage-to-token-counts.js';
import type { MeterOptions, UsageReading } from './response-usage-meter-interface.js';
import {
  estimateCompressedEventTokens,
  estimateCompressedTextTokens,
  estimateRequestTokens,
  estimateTextTokens,
  normalizePath,
} from './token-estimates.js';
import {
  createUsageReading,
  type ObservedBody,
  sanitizeErrorName,
  type UsageReader,
} from './usage-reader-interface.js';

const OPEN_BRACE = 0x7b;
/** Calls that generate no text. */
const NO_TEXT_OUTPUT = /(?:embed\w*|rerank|predict|predictlongrunning)$/;

export abstract class CumulativeUsageReader implements UsageReader {
  abstract readonly paths: JsonPathNode;
  readonly reportsTotals = true;
  protected readonly counts: UsageCounts = createEmptyCounts();
  protected model: string | null = null;
  protected serviceTier: string | null = null;
  protected speed: string | null = null;
  #error: string | null = null;
  #hasUsage = false;
  /** Output in events without usage, since the last usage: number and bytes of its pieces. */
  #pieces = 0;
  #pieceBytes = 0;
  /** Output that was seen before the last usage. */
  #outBefore = 0;
  // State of the current document:
  #isUsageRead = false;
  #textBytes = 0;

  abstract onValue(slot: number, text: string | null): void;

  /** Whether a POST to this normalized path costs money. */
  protected abstract readonly isBilled: (path: string) => boolean;

  shouldScan(_kind: SseEventKind, _mentionsUsage: boolean, bytes: Buffer, from: number, _to: number): boolean {
    return bytes[from] === OPEN_BRACE;
  }

  /**
   * Merges a usage object into the counts with `merge`, which returns false when the object has no usable figure.
   * `statesOutput` false: output is counted by its pieces until another object states it.
   */
  protected mergeUsage(merge: (counts: UsageCounts) => boolean, statesOutput = true): void {
    const outSeen = this.#countOutput(null);
    if (!merge(this.counts)) return;
    this.#hasUsage = true;
    if (!statesOutput) return;
    this.#outBefore = outSeen;
    this.#isUsageRead = true;
    this.#pieces = 0;
    this.#pieceBytes = 0;
  }

  /** `text`: JSON string or object with generated output; null when it is too long to be read. */
  protected addOutput(text: string | null): void {
    this.#textBytes += text === null ? VALUE_BYTES_MAX : Math.max(1, Buffer.byteLength(text) - 2);
  }

  /** Adds a piece of output with `bytes` of text. */
  protected countPiece(bytes: number): void {
    this.#pieces++;
    this.#pieceBytes += bytes;
  }

  protected setError(name: string | null): void {
    this.#error = sanitizeErrorName(name);
  }

  onDocumentEnd(kind: SseEventKind): void {
    if (this.#textBytes > 0 && !this.#isUsageRead) this.countPiece(this.#textBytes);
    if (kind === EVENT_ERROR && this.#error === null) this.setError(null);
    this.#isUsageRead = false;
    this.#textBytes = 0;
  }

  onLineEnd(): void {}

  tokensOutSeen({ tokensOutMax }: MeterOptions): number {
    return this.#pieces === 0 ? this.#outBefore : this.#countOutput(tokensOutMax);
  }

  /** Reported output and the pieces since. A piece has at least one token; the request's maximum bounds the rest. */
  #countOutput(tokensOutMax: number | null): number {
    const byBytes = estimateTextTokens(this.#pieceBytes);
    const pieces = Math.max(this.#pieces, Math.min(byBytes, tokensOutMax ?? byBytes));
    return Math.max(this.#outBefore, this.#hasUsage ? this.counts.out : 0) + pieces;
  }

  createReading(body: ObservedBody): UsageReading {
    const { options } = body;
    const isStream = body.kind === 'events';
    const path = normalizePath(options.path);
    this.completeCounts(body, path);
    const model = this.chooseModel(options.requestModel);
    const details = {
      streamError: isStream ? this.#error : null,
      serviceTier: this.serviceTier,
      speed: this.speed,
    };
    const hasFailed = isStream && this.#error !== null && !this.#hasUsage && this.#pieces === 0;
    if (options.method !== 'POST' || hasFailed || !(isStream || this.isBilled(path)))
      return createUsageReading(createEmptyCounts(), 'none', model, details);
    if (this.#hasUsage && this.#pieces === 0 && body.encodedBytes === 0)
      return createUsageReading(this.counts, body.isComplete ? 'reported' : 'partial', model, details);
    return this.#createEstimate(body, path, model, details);
  }

  /** Adds to the counts what is known at the end of the response. */
  protected completeCounts(_body: ObservedBody, _path: string): void {}

  /** The model that decides the price: the response's, else the request's. */
  protected chooseModel(requestModel: string | null): string | null {
    return this.model ?? requestModel;
  }

  #createEstimate(
    { kind, bytes, encodedBytes, options }: ObservedBody,
    path: string,
    model: string | null,
    details: Parameters<typeof createUsageReading>[3],
  ): UsageReading {
    const { counts } = this;
    const { tokensOutMax } = options;
    if (!this.#hasUsage) counts.inUncached = estimateRequestTokens(options.requestBytes, options.requestBlobBytes);
    if (kind === 'events') counts.out = this.#countOutput(tokensOutMax) + estimateCompressedEventTokens(encodedBytes);
    else if (counts.imageOut === 0 && !NO_TEXT_OUTPUT.test(path)) {
      const tokens = estimateTextTokens(bytes) + estimateCompressedTextTokens(encodedBytes);
      counts.out = Math.min(tokens, tokensOutMax ?? tokens);
    }
    return createUsageReading(counts, this.#hasUsage ? 'partial' : 'estimated', model, details);
  }
}
