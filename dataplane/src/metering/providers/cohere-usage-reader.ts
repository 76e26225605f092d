/**
 * Reads Cohere's usage: chat, embeddings and rankings, version 2 and the documents of version 1. `billed_units` is what
 * Cohere bills; `tokens` also has what the models read beyond it, and counts only where the first is missing.
 */
import { compileJsonPaths, type JsonPathNode } from '../../scan/json-paths.js';
import { asJsonObject, type JsonObject, parseJsonObject } from '../../scan/parse-json-text.js';
import { looksLikeDeltaEvent } from '../../scan/sse-delta-and-error-detection.js';
import { EVENT_DELTA, type SseEventKind } from '../../scan/sse-parser.js';
import { CumulativeUsageReader } from '../reading/cumulative-usage-reader.js';
import {
  isImpossibleCount,
  parseCount,
  parsePart,
  SEARCHES_MAX,
  type UsageCounts,
} from '../reading/provider-usage-to-token-counts.js';
import type { ObservedBody } from '../reading/usage-reader-interface.js';

const USAGE = 0;
const FINISH = 1;
/** Output in an event of a stream of version 1. */
const TEXT = 2;
const PATHS = compileJsonPaths({
  usage: USAGE,
  'delta.usage': USAGE,
  meta: USAGE,
  'response.meta': USAGE,
  'delta.finish_reason': FINISH,
  finish_reason: FINISH,
  text: TEXT,
});
const DELTA_ENVELOPE_BYTES = '{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":""}}}}'.length;
const FREE_CALLS =
  /\/(?:tokenize|detokenize|check-api-key)$|\/(?:datasets|connectors|models|embed-jobs|finetuning)(?:\/|$)/;
/** For an image whose tokens are not reported. */
const IMAGE_TOKENS = 4_000;

export class CohereUsageReader extends CumulativeUsageReader {
  readonly paths: JsonPathNode = PATHS;

  override shouldScan(kind: SseEventKind, mentionsUsage: boolean, bytes: Buffer, from: number, to: number): boolean {
    if (mentionsUsage || !(kind === EVENT_DELTA || looksLikeDeltaEvent(bytes, from, to)))
      return super.shouldScan(kind, mentionsUsage, bytes, from, to);
    this.countPiece(Math.max(0, to - from - DELTA_ENVELOPE_BYTES));
    return false;
  }

  onValue(slot: number, text: string | null): void {
    if (slot === FINISH) {
      if (text === '"ERROR"') this.setError('server_error');
      return;
    }
    if (slot === TEXT) {
      this.addOutput(text);
      return;
    }
    const usage = parseJsonObject(text);
    if (usage !== null) this.mergeUsage((counts) => mergeCohereUsage(counts, usage));
  }

  protected readonly isBilled = isBilledCoherePath;

  protected override completeCounts(_body: ObservedBody, path: string): void {
    if (path.endsWith('/rerank')) this.counts.webSearches = Math.max(1, this.counts.webSearches);
  }
}

/** Whether a POST to this normalized path costs money. */
export const isBilledCoherePath = (path: string): boolean => !FREE_CALLS.test(path);

function mergeCohereUsage(counts: UsageCounts, usage: JsonObject): boolean {
  const billed = asJsonObject(usage.billed_units);
  const tokens = asJsonObject(usage.tokens);
  const figureIn = billed?.input_tokens ?? tokens?.input_tokens;
  const figureOut = billed?.output_tokens ?? tokens?.output_tokens;
  if (isImpossibleCount(figureIn) || isImpossibleCount(figureOut)) return false;
  const text = parseCount(figureIn);
  const out = parseCount(figureOut);
  const searches = parseCount(billed?.search_units);
  const images = parseCount(billed?.images);
  const imageTokens = parseCount(billed?.image_tokens) ?? (images ?? 0) * IMAGE_TOKENS;
  if (text === null && out === null && searches === null && imageTokens === 0) return false;
  const tokensIn = (text ?? 0) + imageTokens;
  counts.out = out ?? 0;
  counts.cacheRead = parsePart(usage.cached_tokens, text ?? 0);
  counts.inUncached = tokensIn - counts.cacheRead;
  counts.imageIn = imageTokens;
  counts.webSearches = parsePart(searches, SEARCHES_MAX);
  return true;
}
