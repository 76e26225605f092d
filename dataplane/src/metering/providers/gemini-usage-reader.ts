/**
 * Reads Google's usage (`usageMetadata`), of the Gemini API and of Vertex AI: documents, SSE streams, and streams that
 * are one JSON array. Each event of a stream repeats the totals so far. Token counting is free.
 */
import { compileJsonPaths, type JsonPathNode } from '../../scan/json-paths.js';
import { asJsonObject, type JsonObject, parseJsonObject, parseJsonString } from '../../scan/parse-json-text.js';
import { CumulativeUsageReader } from '../reading/cumulative-usage-reader.js';
import {
  isImpossibleCount,
  parseCount,
  parsePart,
  SEARCHES_MAX,
  type UsageCounts,
} from '../reading/provider-usage-to-token-counts.js';
import type { MeterOptions } from '../reading/response-usage-meter-interface.js';
import { IMAGE_TOKENS_OUT } from '../reading/token-estimates.js';
import { findResponseHeader, type ObservedBody } from '../reading/usage-reader-interface.js';

const USAGE = 0;
const MODEL = 1;
const ERROR = 2;
const TEXT = 3;
const SEARCHES = 4;
const MAPS = 5;
const IMAGE = 6;
const EMBEDDED_TOKENS = 7;
const MEMBERS: readonly (readonly [path: string, slot: number])[] = [
  ['usageMetadata', USAGE],
  ['modelVersion', MODEL],
  ['error', ERROR],
  ['candidates[].content.parts[].text', TEXT],
  ['candidates[].content.parts[].functionCall', TEXT],
  ['candidates[].groundingMetadata.webSearchQueries[]', SEARCHES],
  ['candidates[].groundingMetadata.groundingChunks[].maps', MAPS],
  ['predictions[].bytesBase64Encoded', IMAGE],
  ['predictions[].embeddings.statistics.token_count', EMBEDDED_TOKENS],
];
const PATHS = compileJsonPaths(
  Object.fromEntries(
    MEMBERS.flatMap(([path, slot]) => [
      [path, slot],
      [`[].${path}`, slot],
    ]),
  ),
);

/** Gemini 2 bills a prompt that searched once, later models each query. */
const BILLED_BY_PROMPT = /^gemini-(?:[12]|pro)/;
const FREE_METHODS: ReadonlySet<string> = new Set(['counttokens', 'computetokens', 'cancel']);
const TIER_PREFIX = /^(?:service_tier_|on_demand_)/;
const SERVER_ERRORS: ReadonlySet<string> = new Set(['INTERNAL', 'UNAVAILABLE', 'DEADLINE_EXCEEDED', 'UNKNOWN']);
/** The longest video of one request, whose cost no response states. */
const VEO_SECONDS = 8;

export class GeminiUsageReader extends CumulativeUsageReader {
  readonly paths: JsonPathNode = PATHS;
  readonly #queries = new Set<string>();
  #usesMaps = false;

  constructor(options: MeterOptions) {
    super();
    this.#setTier(findResponseHeader(options, 'x-gemini-service-tier'));
  }

  onValue(slot: number, text: string | null): void {
    if (slot === USAGE) this.#mergeUsageText(text);
    else if (slot === MODEL) this.model = parseJsonString(text) ?? this.model;
    else if (slot === ERROR) this.#setError(parseJsonObject(text));
    else if (slot === TEXT) {
      if (text !== '""') this.addOutput(text); // in the last event
    } else if (slot === MAPS) this.#usesMaps = true;
    else if (slot === IMAGE) this.counts.images = Math.min(SEARCHES_MAX, this.counts.images + 1);
    else if (slot === SEARCHES) {
      const query = parseJsonString(text);
      if (query !== null && this.#queries.size < SEARCHES_MAX) this.#queries.add(query);
    } else {
      const tokens = parseCount(Number(text)) ?? 0;
      this.mergeUsage((counts) => {
        counts.inUncached += tokens;
        return tokens > 0;
      });
    }
  }

  #mergeUsageText(text: string | null): void {
    const usage = parseJsonObject(text);
    if (usage === null) return;
    this.mergeUsage((counts) => mergeGeminiUsage(counts, usage), statesOutput(usage));
    this.#setTier(usage.serviceTier ?? usage.trafficType);
  }

  #setTier(tier: unknown): void {
    if (typeof tier === 'string' && tier !== '')
      this.serviceTier = tier.toLowerCase().replace(TIER_PREFIX, '').slice(0, 32);
  }

  #setError(error: JsonObject | null): void {
    if (error === null) return;
    const status = typeof error.status === 'string' ? error.status : '';
    this.setError(SERVER_ERRORS.has(status) ? 'server_error' : status);
  }

  protected readonly isBilled = isBilledGeminiPath;

  protected override completeCounts({ options }: ObservedBody, path: string): void {
    const { counts } = this;
    const queries = BILLED_BY_PROMPT.test(this.model ?? options.requestModel ?? '')
      ? Math.min(1, this.#queries.size)
      : this.#queries.size;
    counts.webSearches = queries + (this.#usesMaps ? 1 : 0);
    if (counts.images > 0) {
      counts.imageKind = '1024x1024';
      counts.out = counts.imageOut = counts.images * IMAGE_TOKENS_OUT;
    }
    if (path.endsWith(':predictlongrunning')) counts.videoSeconds = VEO_SECONDS;
  }
}

/** Whether a POST to this normalized path costs money. */
export function isBilledGeminiPath(path: string): boolean {
  const colon = path.lastIndexOf(':');
  if (colon > path.lastIndexOf('/')) return !FREE_METHODS.has(path.slice(colon + 1));
  return path.endsWith('/interactions') || path.endsWith('/cachedcontents');
}

/**
 * Merges a usage object. The prompt contains cached tokens; results of tools and thoughts come on top. What the total
 * has beyond the known parts counts as output. Returns false when the object has no figure.
 */
function mergeGeminiUsage(counts: UsageCounts, usage: JsonObject): boolean {
  const generatedFigure = usage.candidatesTokenCount ?? usage.responseTokenCount;
  const figures = [usage.promptTokenCount, generatedFigure, usage.thoughtsTokenCount, usage.toolUsePromptTokenCount];
  if (figures.some(isImpossibleCount)) return false;
  const prompt = parseCount(usage.promptTokenCount);
  const candidates = parseCount(generatedFigure);
  const total = parseCount(usage.totalTokenCount);
  if (prompt === null && candidates === null && total === null) return false;
  const thoughts = parseCount(usage.thoughtsTokenCount) ?? 0;
  const generated = (candidates ?? 0) + thoughts;
  const toolResults = parseCount(usage.toolUsePromptTokenCount) ?? 0;
  const tokensIn = prompt === null ? Math.max(0, (total ?? 0) - generated) : prompt + toolResults;
  counts.cacheRead = parsePart(usage.cachedContentTokenCount, tokensIn);
  counts.inUncached = tokensIn - counts.cacheRead;
  const cached = usage.cacheTokensDetails;
  counts.cacheReadAudio = Math.min(sumTokens(cached, AUDIO), counts.cacheRead);
  const uncached = (modality: ReadonlySet<string>): number =>
    sumTokens(usage.promptTokensDetails, modality) +
    sumTokens(usage.toolUsePromptTokensDetails, modality) -
    sumTokens(cached, modality);
  counts.audioIn = parsePart(uncached(AUDIO), counts.inUncached);
  counts.imageIn = parsePart(uncached(IMAGES), counts.inUncached - counts.audioIn);
  counts.videoIn = parsePart(uncached(VIDEO), counts.inUncached - counts.audioIn - counts.imageIn);
  if (!statesOutput(usage)) return true;
  counts.out = Math.max(generated, (total ?? 0) - tokensIn);
  counts.reasoning = Math.min(thoughts, counts.out);
  const details = usage.candidatesTokensDetails ?? usage.responseTokensDetails;
  const media = counts.out - counts.reasoning;
  counts.audioOut = parsePart(sumTokens(details, AUDIO), media);
  counts.imageOut = parsePart(sumTokens(details, IMAGES), media - counts.audioOut);
  counts.videoOut = parsePart(sumTokens(details, VIDEO), media - counts.audioOut - counts.imageOut);
  return true;
}

/** Whether it has more than the prompt: some events of a stream state only that. */
const statesOutput = ({
  promptTokenCount,
  totalTokenCount,
  candidatesTokenCount,
  responseTokenCount,
  thoughtsTokenCount,
}: JsonObject): boolean =>
  [candidatesTokenCount, responseTokenCount, thoughtsTokenCount].some((figure) => parseCount(figure) !== null) ||
  (parseCount(totalTokenCount) ?? 0) > (parseCount(promptTokenCount) ?? 0);

const AUDIO: ReadonlySet<string> = new Set(['AUDIO']);
/** Pages of documents are read as images. */
const IMAGES: ReadonlySet<string> = new Set(['IMAGE', 'DOCUMENT']);
const VIDEO: ReadonlySet<string> = new Set(['VIDEO']);

/** Sum of `[{"modality":"AUDIO","tokenCount":7}]` over the given modalities. */
function sumTokens(details: unknown, modalities: ReadonlySet<string>): number {
  let sum = 0;
  for (const entry of Array.isArray(details) ? details : []) {
    const { modality, tokenCount } = asJsonObject(entry) ?? {};
    if (typeof modality === 'string' && modalities.has(modality)) sum += parseCount(tokenCount) ?? 0;
  }
  return sum;
}
